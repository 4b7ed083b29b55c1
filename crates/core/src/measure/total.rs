//! How many attempts of a method are in flight in all, for `boundedconsistenthash`. One shared
//! counter, kept only for methods whose strategy asks for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::candidates::Candidate;

/// Up to this many candidates their counts are simply added.
const SCAN: usize = 32;

/// Attempts of one method, over all endpoints that were first measured while it was kept.
#[derive(Debug, Default)]
pub(crate) struct MethodTotal {
    active: AtomicU64,
    members: AtomicU64,
}

impl MethodTotal {
    pub(super) fn join(&self) {
        self.members.fetch_add(1, Relaxed);
    }

    /// A member leaves with nothing in flight: its tickets keep it alive.
    pub(super) fn leave(&self) {
        self.members.fetch_sub(1, Relaxed);
    }

    pub(super) fn started(&self) {
        self.active.fetch_add(1, Relaxed);
    }

    pub(super) fn ended(&self) {
        self.active.fetch_sub(1, Relaxed);
    }
}

/// The total over one set of candidates.
pub struct Total(
    /// `None` where adding is cheaper, or where the counter counts others than these.
    Option<Arc<MethodTotal>>,
);

impl Total {
    /// For these candidates.
    pub(crate) fn of(candidates: &[Candidate]) -> Self {
        let mut counters = candidates.iter().map(|c| c.measurements().total());
        let first = counters.next().flatten().filter(|_| candidates.len() > SCAN);
        let whole = first.filter(|total| {
            let same =
                |other: Option<&Arc<MethodTotal>>| other.is_some_and(|o| Arc::ptr_eq(o, total));
            counters.all(same) && total.members.load(Relaxed) == candidates.len() as u64
        });
        Self(whole.cloned())
    }

    /// Attempts in flight.
    #[inline]
    pub(crate) fn active(&self, candidates: &[Candidate]) -> u64 {
        match &self.0 {
            Some(total) => total.active.load(Relaxed),
            None => candidates.iter().map(|c| u64::from(c.measurements().active())).sum(),
        }
    }
}
