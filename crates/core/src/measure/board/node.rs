//! One node of the index: a lower bound that falls at once and rises only while nothing below
//! falls.

use crate::sync::{AtomicU64, Ordering, settle};

/// Somebody looks at what is below, to raise the bound. Both marks are above every bound, so that
/// one comparison tells a bound that is low enough and has no mark.
const RAISING: u64 = 1 << 63;
/// Something below fell meanwhile: what was seen does not count.
const SPOILT: u64 = 1 << 62;

/// The greatest bound: above every key of a slot in use.
pub(super) const NOTHING: u64 = SPOILT - 1;

/// A lower bound of the keys below.
///
/// Whoever lets a key fall writes the key, then looks at the bound. Whoever raises the bound marks
/// it, then looks at the keys. All four are sequentially consistent, so one of the two sees the
/// other: either the fallen key is seen, or the mark is found and spoilt, and the raise is given up.
/// Only who set the mark takes it away, so a bound that was marked, spoilt and marked again is not
/// taken for an untouched one. A thread that is stopped in between keeps one bound low; that costs
/// the others time and no accuracy.
pub(super) struct Node(AtomicU64);

impl Node {
    pub(super) fn new(bound: u64) -> Self {
        Self(AtomicU64::new(bound))
    }

    #[inline(always)]
    pub(super) fn bound(&self) -> u64 {
        self.0.load(Ordering::SeqCst) & NOTHING
    }

    /// Whether [`Node::lower`] would have something to do.
    #[inline(always)]
    pub(super) fn is_above(&self, key: u64) -> bool {
        self.0.load(Ordering::SeqCst) > key
    }

    /// Makes the bound at most `key`; says whether it was above.
    pub(super) fn lower(&self, key: u64) -> bool {
        let mut word = self.0.load(Ordering::SeqCst);
        loop {
            let bound = word & NOTHING;
            let marks = if word & RAISING == 0 { 0 } else { RAISING | SPOILT };
            let next = bound.min(key) | marks;
            if next == word {
                return false;
            }
            match self.0.compare_exchange(word, next, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => {
                    settle();
                    return bound > key;
                }
                Err(now) => word = now,
            }
        }
    }

    /// Raises the bound from `seen` to the least that `below` finds, unless something falls or
    /// somebody else is at it.
    #[inline]
    pub(super) fn raise(&self, seen: u64, below: impl FnOnce() -> u64) {
        let swap = |from, to| self.0.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst);
        if swap(seen, seen | RAISING).is_err() {
            return;
        }
        settle();
        if swap(seen | RAISING, below().max(seen)).is_err() {
            self.0.fetch_and(NOTHING, Ordering::SeqCst);
        }
    }
}
