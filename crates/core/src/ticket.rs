//! The ticket of one attempt: counts it in when it starts and out when it ends, exactly once,
//! also when its future is dropped or panics. Carries the outcome back to the endpoint.

use std::sync::Arc;

use crate::candidates::Candidate;
use crate::clock::Clock;
use crate::endpoint::Endpoint;
use crate::measure::adaptive::Token;
use crate::measure::{AdaptiveMeasures, Measurements};
use crate::outcome::Outcome;

/// One attempt in flight. Dropping it says that the caller gave up.
#[must_use = "an attempt that is not finished counts as given up"]
pub struct Ticket {
    measurements: Arc<Measurements>,
    started_ns: u64,
    timeout_ns: u64,
    /// Wall clock, where `adaptive` measures.
    started_ms: i64,
    /// Its place among the attempts in flight, where `adaptive` measures.
    token: Option<Token>,
    /// Cleared by `finish`, so that the drop that follows counts nothing.
    open: bool,
}

impl Ticket {
    /// Counts an attempt in.
    #[inline]
    pub fn start(candidate: &Candidate, clock: &dyn Clock) -> Self {
        let started_ns = clock.nanos();
        candidate.measurements().started();
        Self::counted(candidate, started_ns, clock)
    }

    /// Counts an attempt in unless `most` are in flight already. The count never exceeds `most`,
    /// not even for a moment, so nobody is refused by another's failed try.
    pub fn try_start(candidate: &Candidate, most: u32, clock: &dyn Clock) -> Option<Self> {
        let started_ns = clock.nanos();
        let admitted = candidate.measurements().try_started(most);
        admitted.then(|| Self::counted(candidate, started_ns, clock))
    }

    #[inline]
    fn counted(candidate: &Candidate, started_ns: u64, clock: &dyn Clock) -> Self {
        let (started_ms, token) = if candidate.feeds_adaptive() {
            let now_ms = clock.wall_ms();
            (now_ms, Some(picked(candidate.endpoint(), now_ms)))
        } else {
            (0, None)
        };
        Self {
            measurements: candidate.measurements().clone(),
            started_ns,
            timeout_ns: candidate.timeout_ns(),
            started_ms,
            token,
            open: true,
        }
    }

    /// Whom the attempt goes to.
    #[inline]
    pub fn endpoint(&self) -> &Arc<Endpoint> {
        self.measurements.endpoint()
    }

    /// Counts the attempt out with its outcome.
    #[inline]
    pub fn finish(mut self, outcome: Outcome, clock: &dyn Clock) {
        self.open = false;
        let now_ns = clock.nanos();
        let elapsed = now_ns.saturating_sub(self.started_ns);
        self.measurements.ended(outcome, now_ns, elapsed, self.timeout_ns);
        self.end(outcome);
    }

    /// Takes the provider's own report of its load (`curTime:..,load:..`), which came with the
    /// answer. Only `adaptive` listens.
    pub fn report(&self, text: &str, clock: &dyn Clock) {
        if self.token.is_some() {
            let now_ms = clock.wall_ms();
            let elapsed_ms = now_ms.saturating_sub(self.started_ms).max(0);
            let adaptive = self.endpoint().adaptive(self.started_ms);
            adaptive.state.report(text, elapsed_ms, now_ms);
            adaptive.compat.report(text, elapsed_ms);
        }
    }

    /// Tells `adaptive`, where it measures.
    #[inline]
    fn end(&mut self, outcome: Outcome) {
        if let Some(token) = self.token.take() {
            ended(self.endpoint().adaptive(self.started_ms), token, outcome);
        }
    }
}

impl Drop for Ticket {
    #[inline]
    fn drop(&mut self) {
        if self.open {
            self.measurements.abandoned(self.started_ns);
            self.end(Outcome::Cancelled);
        }
    }
}

#[inline(never)]
fn picked(endpoint: &Endpoint, now_ms: i64) -> Token {
    let adaptive = endpoint.adaptive(now_ms);
    adaptive.state.picked(now_ms);
    adaptive.compat.picked(now_ms);
    adaptive.outstanding.start(now_ms)
}

#[inline(never)]
fn ended(adaptive: &AdaptiveMeasures, token: Token, outcome: Outcome) {
    adaptive.outstanding.finish(token);
    match outcome {
        Outcome::Success | Outcome::Business => {
            adaptive.state.succeeded();
            adaptive.compat.succeeded();
        }
        Outcome::Failure(_) => {
            adaptive.state.failed();
            adaptive.compat.failed();
        }
        // The pick is undone: it says nothing about the provider.
        Outcome::Cancelled => {
            adaptive.state.undone();
            adaptive.compat.undone();
        }
    }
}

#[cfg(all(test, loom))]
mod model;
