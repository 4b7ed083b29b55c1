//! The HTTP side of the server: what a request of `tri` is, who answers it and how. The port, its
//! connections and the services are [`crate::server`]'s.

pub(crate) mod body;
pub(crate) mod builtin;
pub(crate) mod descriptors;
pub(crate) mod dispatch;
pub(crate) mod grpc;
pub(crate) mod health;
mod json;
pub(crate) mod reflection;
pub(crate) mod stream;
pub(crate) mod streaming;
