//! `available`: one attempt at the first available provider, in list order.
//!
//! # When it gives up
//!
//! At once. No strategy is asked, so the first provider of the list gets everything while it is
//! up: for a main provider with spares.
//!
//! # Dubbo
//!
//! `available`.

use std::sync::Arc;

use equipoise_core::call::Tried;
use equipoise_core::port::{BoxFuture, Reply};

use super::{Policy, PolicyAbout};
use crate::error::CallError;
use crate::flow::{Choice, Flow};

/// The row.
pub(super) struct Available;

impl Policy for Available {
    fn about(&self) -> PolicyAbout {
        PolicyAbout {
            name: "available",
            aliases: &[],
            summary: "the first available provider in list order",
        }
    }

    fn run<'a>(&'a self, flow: Arc<Flow>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async move {
            let result = flow.attempt(Choice::FirstAvailable, &mut Tried::new()).await;
            result.map_err(|failure| flow.error(failure))
        })
    }
}
