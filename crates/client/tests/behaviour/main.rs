//! What a consumer does, seen from outside: public interfaces only, a network in memory, virtual
//! time. One file per subject.
#![allow(clippy::unwrap_used, clippy::expect_used)] // Also in what the tests share.

#[path = "../common/mod.rs"]
mod common;

mod actives;
mod attachments;
mod broadcast;
mod builder;
mod choosing;
mod churn;
mod counting;
mod deadline;
mod directory;
mod errors;
mod failback;
mod failover;
mod forking;
mod interceptors;
mod links;
mod policies;
mod shutdown;
mod sticky;
mod streams;
mod warmup;
