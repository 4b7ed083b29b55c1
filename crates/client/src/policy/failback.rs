//! `failback`: one attempt; a failure is answered with an empty result and tried again later.
//!
//! # Rule
//!
//! After a failed attempt the call is run again in the background, 5 s after each failure, at most
//! `retries` times (default 3; negative: 3; 0: never), at a provider other than the last one where
//! there is one, on the newest view.
//!
//! # When it gives up
//!
//! After the last background run; when `failbacktasks` (100) runs are pending the next one is
//! dropped with a log line; when the consumer is dropped.
//!
//! # Dubbo
//!
//! `failback`. There the runs see the providers of the first attempt, here the newest.

use std::sync::Arc;
use std::time::Duration;

use equipoise_core::call::Tried;
use equipoise_core::port::{BoxFuture, Reply};

use super::failsafe::is_the_callers;
use super::{Policy, PolicyAbout};
use crate::error::CallError;
use crate::flow::{Choice, Flow};

/// Background runs where nothing is configured.
const DEFAULT_RETRIES: i64 = 3;

/// Between a failure and the next run.
const PAUSE: Duration = Duration::from_secs(5);

/// The row.
pub(super) struct Failback;

impl Policy for Failback {
    fn about(&self) -> PolicyAbout {
        PolicyAbout {
            name: "failback",
            aliases: &[],
            summary: "one attempt, then again in the background every 5 s",
        }
    }

    fn run<'a>(&'a self, flow: Arc<Flow>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async move {
            let mut tried = Tried::new();
            match flow.attempt(Choice::ByStrategy, &mut tried).await {
                Ok(reply) => Ok(reply),
                Err(failure) => {
                    let error = flow.error(failure);
                    if is_the_callers(error.failure.kind) {
                        return Err(error);
                    }
                    tracing::warn!(%error, "failback: tried again in the background");
                    schedule(&flow, tried);
                    Ok(flow.empty_reply())
                }
            }
        })
    }
}

fn schedule(flow: &Arc<Flow>, tried: Tried) {
    let runs = match flow.retries() {
        Some(runs) if runs >= 0 => runs,
        _ => DEFAULT_RETRIES,
    };
    if runs == 0 {
        return;
    }
    let again = flow.again();
    let method = again.request.method.clone();
    // The background task holds nothing of the consumer while it waits: it lives in the consumer's
    // own set of tasks and dies with it.
    let work = again.in_background(PAUSE, runs, tried);
    if !flow.shared.background.spawn(flow.plan.failback_tasks, work) {
        tracing::warn!(
            method = &*method,
            tasks = flow.plan.failback_tasks,
            "failback: too many runs are pending, this one is dropped"
        );
    }
}

impl Flow {
    async fn in_background(self, pause: Duration, runs: i64, mut tried: Tried) {
        for run in 1..=runs {
            tokio::time::sleep(pause).await;
            let mut last = last_of(&tried);
            match self.attempt(Choice::ByStrategy, &mut last).await {
                Ok(_) => return,
                Err(failure) => {
                    let error = self.error(failure);
                    tracing::warn!(%error, run, runs, "failback: run failed");
                }
            }
            tried = last;
        }
        tracing::error!(method = &*self.request.method, "failback: given up");
    }
}

/// Only the last provider is avoided: a run that fails everywhere may come back to the first.
fn last_of(tried: &Tried) -> Tried {
    let mut last = Tried::new();
    if let Some(endpoint) = tried.iter().last() {
        last.add(endpoint.clone());
    }
    last
}
