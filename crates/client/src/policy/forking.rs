//! `forking`: several attempts at once; the first answer counts.
//!
//! # Rule
//!
//! `forks` (2) different candidates, all when `forks` is not positive or more than there are. The
//! first success is returned and the others are withdrawn and counted out.
//!
//! # When it gives up
//!
//! When all have failed: the last failure, with all causes. A business error of one branch ends
//! only that branch. When the time of all is up: a timeout that names them.
//!
//! # Dubbo
//!
//! `forking`. There losers run on, and a timeout returns an empty result.

use std::sync::Arc;

use equipoise_core::call::Tried;
use equipoise_core::port::{BoxFuture, Reply};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::{Policy, PolicyAbout};
use crate::error::CallError;
use crate::flow::{Choice, Flow};

/// The row.
pub(super) struct Forking;

impl Policy for Forking {
    fn about(&self) -> PolicyAbout {
        PolicyAbout {
            name: "forking",
            aliases: &[],
            summary: "several attempts at once, the first answer counts",
        }
    }

    fn run<'a>(&'a self, flow: Arc<Flow>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async move {
            let all = flow.candidates();
            let forks = usize::try_from(flow.plan().forks).unwrap_or(0);
            let forks = if forks == 0 { all } else { forks.min(all) }.max(1);
            let mut tried = Tried::new();
            let mut chosen = Vec::with_capacity(forks);
            for _ in 0..forks {
                let before = tried.len();
                match flow.choose(&mut Choice::ByStrategy, &mut tried) {
                    Ok(one) if tried.len() > before => chosen.push(one),
                    // Somebody for the second time: nobody else is up.
                    Ok(_) => break,
                    Err(failure) if chosen.is_empty() => return Err(flow.error(failure)),
                    Err(_) => break,
                }
            }
            let mut running: FuturesUnordered<_> =
                chosen.into_iter().map(|one| flow.attempt_at(one, tried.clone())).collect();
            let mut last = None;
            while let Some(result) = running.next().await {
                match result {
                    // Dropping `running` withdraws the others.
                    Ok(reply) => return Ok(reply),
                    Err(failure) => last = Some(failure),
                }
            }
            let last = last.unwrap_or_else(|| flow.nobody());
            Err(flow.error(last))
        })
    }
}
