//! equipoise
