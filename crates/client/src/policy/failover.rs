//! `failover`: on failure the next provider is tried.
//!
//! # Rule
//!
//! 1 + `retries` attempts (default 2; negative: 0) one after the other, each on the newest view and
//! at a provider not tried yet, while there is one. A business error, a refusal by name and a call
//! that is wrong in itself are returned at once. Once everybody has been tried, a call that was not
//! sent waits 10 ms before it asks again, so that refusing providers and many retries do not make a
//! loop without time.
//!
//! # When it gives up
//!
//! After the last attempt, when nobody is listed, when the call's deadline is over or when the
//! retry budget is spent. The last real failure is returned, with every attempt.
//!
//! # Dubbo
//!
//! `failover`. Asynchronous calls are retried like others, and every attempt has the timeout of its
//! own provider.

use std::sync::Arc;
use std::time::Duration;

use equipoise_core::call::Tried;
use equipoise_core::outcome::Sent;
use equipoise_core::port::{BoxFuture, Reply};

use super::{Policy, PolicyAbout};
use crate::error::CallError;
use crate::flow::{Choice, Flow};

/// Attempts after the first one where nothing is configured.
const DEFAULT_RETRIES: i64 = 2;

/// Between two attempts once everybody has been tried in vain and nothing was sent.
const PAUSE: Duration = Duration::from_millis(10);

/// The row.
pub(super) struct Failover;

impl Policy for Failover {
    fn about(&self) -> PolicyAbout {
        PolicyAbout {
            name: "failover",
            aliases: &[],
            summary: "the next provider is tried, 1 + retries times in all",
        }
    }

    fn run<'a>(&'a self, flow: Arc<Flow>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async move {
            let mut left = flow.retries().unwrap_or(DEFAULT_RETRIES).max(0);
            let mut tried = Tried::new();
            loop {
                let failure = match flow.attempt(Choice::ByStrategy, &mut tried).await {
                    Ok(reply) => return Ok(reply),
                    Err(failure) => failure,
                };
                if left == 0 || !failure.retryable() || !flow.may_retry() {
                    return Err(flow.error(failure));
                }
                left -= 1;
                if failure.sent == Sent::No && flow.all_tried(&tried) {
                    flow.pause(PAUSE).await;
                }
            }
        })
    }
}
