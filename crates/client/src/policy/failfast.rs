//! `failfast`: one attempt; its failure is the call's.
//!
//! # When it gives up
//!
//! At once. For calls that must not run twice. A call that was provably not sent is still moved
//! once, since nobody has run it.
//!
//! # Dubbo
//!
//! `failfast`.

use std::sync::Arc;

use equipoise_core::call::Tried;
use equipoise_core::port::{BoxFuture, Reply};

use super::{Policy, PolicyAbout};
use crate::error::CallError;
use crate::flow::{Choice, Flow};

/// The row.
pub(super) struct Failfast;

impl Policy for Failfast {
    fn about(&self) -> PolicyAbout {
        PolicyAbout {
            name: "failfast",
            aliases: &[],
            summary: "one attempt, its failure is returned",
        }
    }

    fn run<'a>(&'a self, flow: Arc<Flow>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async move {
            let result = flow.attempt(Choice::ByStrategy, &mut Tried::new()).await;
            result.map_err(|failure| flow.error(failure))
        })
    }
}
