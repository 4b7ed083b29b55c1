//! `broadcast`: everybody is called, one after the other.
//!
//! # Rule
//!
//! All candidates in list order, unavailable ones included; each gets its own copy of the call. Any
//! failure at all, a business error included, fails the call with the last failure; else the last
//! result is returned.
//!
//! # When it gives up
//!
//! Early when the number of failures reaches n x `broadcast.fail.percent` / 100, truncated (100:
//! when all have failed; a threshold of 0 never stops).
//!
//! # Dubbo
//!
//! `broadcast`.

use std::sync::Arc;

use equipoise_core::call::Tried;
use equipoise_core::outcome::FailureKind;
use equipoise_core::port::{BoxFuture, Reply};

use super::{Policy, PolicyAbout};
use crate::error::CallError;
use crate::flow::{Choice, Flow};

/// The row.
pub(super) struct Broadcast;

impl Policy for Broadcast {
    fn about(&self) -> PolicyAbout {
        PolicyAbout {
            name: "broadcast",
            aliases: &[],
            summary: "everybody is called, any failure fails the call",
        }
    }

    fn run<'a>(&'a self, flow: Arc<Flow>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async move {
            let mut each = flow.each();
            let threshold = each.count() * flow.plan().fail_percent as usize / 100;
            let (mut reply, mut last, mut failures) = (None, None, 0);
            for _ in 0..each.count() {
                match flow.attempt(Choice::Each(&mut each), &mut Tried::new()).await {
                    Ok(answer) => reply = Some(answer),
                    // Those that were left have gone from the list in the meantime.
                    Err(failure) if failure.kind == FailureKind::NoProvider => break,
                    Err(failure) => {
                        let out_of_time = failure.kind == FailureKind::Deadline;
                        failures += 1;
                        last = Some(failure);
                        if failures == threshold || out_of_time {
                            break;
                        }
                    }
                }
            }
            match (last, reply) {
                (Some(failure), _) => Err(flow.error(failure)),
                (None, Some(reply)) => Ok(reply),
                (None, None) => Err(flow.error(flow.nobody())),
            }
        })
    }
}
