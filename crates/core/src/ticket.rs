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
    /// Cleared by `finish`, so that the drop that follows counts nothing.
    open: bool,
    started_ns: u64,
    timeout_ns: u64,
    adaptive: Option<(Arc<AdaptiveMeasures>, Token, i64)>,
}

impl Ticket {
    /// Counts an attempt in.
    pub fn start(candidate: &Candidate, clock: &dyn Clock) -> Self {
        let started_ns = clock.nanos();
        candidate.measurements().started(started_ns);
        Self::counted(candidate, started_ns, clock)
    }

    /// Counts an attempt in unless `most` are in flight already. The count never exceeds `most`,
    /// not even for a moment, so nobody is refused by another's failed try.
    pub fn try_start(candidate: &Candidate, most: u32, clock: &dyn Clock) -> Option<Self> {
        let started_ns = clock.nanos();
        let admitted = candidate.measurements().try_started(most, started_ns);
        admitted.then(|| Self::counted(candidate, started_ns, clock))
    }

    fn counted(candidate: &Candidate, started_ns: u64, clock: &dyn Clock) -> Self {
        let adaptive = candidate.feeds_adaptive().then(|| {
            let now_ms = clock.wall_ms();
            let measures = candidate.endpoint().adaptive(now_ms).clone();
            measures.state.picked(now_ms);
            measures.compat.picked(now_ms);
            let token = measures.outstanding.start(now_ms);
            (measures, token, now_ms)
        });
        Self {
            measurements: candidate.measurements().clone(),
            open: true,
            started_ns,
            timeout_ns: u64::try_from(candidate.timeout().as_nanos()).unwrap_or(u64::MAX),
            adaptive,
        }
    }

    /// Whom the attempt goes to.
    #[inline]
    pub fn endpoint(&self) -> &Arc<Endpoint> {
        self.measurements.endpoint()
    }

    /// Counts the attempt out with its outcome.
    pub fn finish(mut self, outcome: Outcome, clock: &dyn Clock) {
        self.open = false;
        let now_ns = clock.nanos();
        let elapsed = now_ns.saturating_sub(self.started_ns);
        self.measurements.ended(outcome, now_ns, elapsed, self.timeout_ns);
        if let Some((adaptive, token, _)) = self.adaptive.take() {
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
    }

    /// Takes the provider's own report of its load (`curTime:..,load:..`), which came with the
    /// answer. Only `adaptive` listens.
    pub fn report(&self, text: &str, clock: &dyn Clock) {
        if let Some((adaptive, _, started_ms)) = &self.adaptive {
            let now_ms = clock.wall_ms();
            let elapsed_ms = now_ms.saturating_sub(*started_ms).max(0);
            adaptive.state.report(text, elapsed_ms, now_ms);
            adaptive.compat.report(text, elapsed_ms);
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.open {
            self.measurements.abandoned();
            if let Some((adaptive, token, _)) = self.adaptive.take() {
                adaptive.outstanding.finish(token);
                adaptive.state.undone();
                adaptive.compat.undone();
            }
        }
    }
}

#[cfg(all(test, loom))]
mod model;
