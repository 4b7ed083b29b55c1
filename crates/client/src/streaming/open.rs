//! The attempts to open a stream: whom, how often, and when that is over.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use equipoise_core::call::Tried;
use equipoise_core::outcome::{Failure, FailureKind, Sent};
use equipoise_core::port::Body;
use equipoise_core::stream::StreamRequest;

use super::halves::{StreamReceiver, StreamSender, halves};
use crate::error::CallError;
use crate::flow::{Choice, Flow};

/// Attempts after the first one where nothing is configured; `failover`'s.
const DEFAULT_RETRIES: i64 = 2;

/// Between two attempts once everybody has been tried in vain.
const PAUSE: Duration = Duration::from_millis(10);

/// Opens one stream, as often as it takes and may.
pub(crate) struct Opener {
    pub(super) flow: Arc<Flow>,
    request: StreamRequest,
    /// The only message, of a method that takes one.
    first: Option<Body>,
    tried: Tried,
    left: i64,
}

impl Opener {
    pub(crate) fn new(flow: Arc<Flow>, request: StreamRequest, first: Option<Body>) -> Self {
        let failover = flow.plan().policy.trim() == "failover";
        let left = if failover { flow.retries().unwrap_or(DEFAULT_RETRIES).max(0) } else { 0 };
        if let Some(budget) = &flow.shared.budget {
            budget.called();
        }
        Self { flow, request, first, tried: Tried::new(), left }
    }

    /// Opens it at the next one.
    pub(super) async fn open(&mut self) -> Result<(StreamSender, StreamReceiver), CallError> {
        loop {
            match self.attempt().await {
                Ok(open) => return Ok(open),
                Err(failure) => self.may_go_on(failure).await?,
            }
        }
    }

    async fn attempt(&mut self) -> Result<(StreamSender, StreamReceiver), Failure> {
        let mut choice = match self.flow.plan().policy.trim() {
            "available" => Choice::FirstAvailable,
            _ => Choice::ByStrategy,
        };
        let chosen = self.flow.choose(&mut choice, &mut self.tried)?;
        let opened = self.flow.open(&chosen, &self.request, self.first.as_ref()).await?;
        Ok(halves(&self.flow, opened))
    }

    /// Whether somebody else may be asked after this.
    pub(super) async fn may_go_on(&mut self, failure: Failure) -> Result<(), CallError> {
        let unseen = failure.sent == Sent::No && failure.kind == FailureKind::Network;
        if unseen && !self.flow.moved.swap(true, Relaxed) {
            return Ok(());
        }
        if self.left == 0 || !failure.retryable() || !self.flow.may_retry() {
            return Err(self.flow.error(failure));
        }
        self.left -= 1;
        if failure.sent == Sent::No && self.flow.all_tried(&self.tried) {
            self.flow.pause(PAUSE).await;
        }
        Ok(())
    }
}
