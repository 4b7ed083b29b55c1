//! What happens when a call fails. One file per cluster policy; a policy sees attempts and their
//! results, never an endpoint or a strategy.
//!
//! To add one: write `policy/<name>.rs`, add its `mod` line and its row in [`POLICIES`].

mod available;
mod broadcast;
mod failback;
mod failfast;
mod failover;
mod failsafe;
mod forking;

use std::sync::Arc;

use equipoise_core::port::{BoxFuture, Reply};

use crate::error::CallError;
use crate::flow::Flow;

/// Every policy we ship.
#[rustfmt::skip] // one row, one line: a new policy is a one-line diff here
pub static POLICIES: &[&dyn Policy] = &[
    &failover::Failover,
    &failfast::Failfast,
    &failsafe::Failsafe,
    &failback::Failback,
    &forking::Forking,
    &broadcast::Broadcast,
    &available::Available,
];

/// A cluster policy.
pub trait Policy: Send + Sync {
    /// Name, spellings and a line for people.
    fn about(&self) -> PolicyAbout;

    /// Runs one call to its end.
    ///
    /// *Cancellation*: dropping the future withdraws every attempt in progress.
    fn run<'a>(&'a self, flow: Arc<Flow>) -> BoxFuture<'a, Result<Reply, CallError>>;
}

/// What a policy is.
#[derive(Clone, Copy, Debug)]
pub struct PolicyAbout {
    /// Name in configuration and in Dubbo URLs.
    pub name: &'static str,
    /// Other spellings.
    pub aliases: &'static [&'static str],
    /// One line for people.
    pub summary: &'static str,
}

/// The policy that a name means.
pub fn find(name: &str) -> Option<&'static dyn Policy> {
    let name = name.trim();
    POLICIES.iter().copied().find(|p| p.about().name == name || p.about().aliases.contains(&name))
}
