//! One node of the index: a lower bound that falls at once and rises only while nobody objects.

use crate::sync::{AtomicU64, Ordering, settle};

/// Somebody is looking at what is below, to raise the bound.
const RAISING: u64 = 1;
/// Something below fell meanwhile: what was seen does not count.
const SPOILT: u64 = 2;
const SHIFT: u32 = 2;

/// The bound of a node with nothing in use below, and the key of a slot that is not in use.
pub(super) const NOTHING: u64 = u64::MAX >> SHIFT;

/// A lower bound of the keys below, with two marks of the protocol in its lowest bits.
pub(super) struct Node(AtomicU64);

impl Node {
    pub(super) fn new(bound: u64) -> Self {
        Self(AtomicU64::new(bound << SHIFT))
    }

    #[inline(always)]
    pub(super) fn bound(&self) -> u64 {
        self.0.load(Ordering::SeqCst) >> SHIFT
    }

    /// Makes the bound at most `key`, which is at most [`NOTHING`]; says whether it was above.
    #[inline(always)]
    pub(super) fn lower(&self, key: u64) -> bool {
        let word = self.0.load(Ordering::SeqCst);
        // At most `key`, and no mark that would have to be spoilt.
        if word <= key << SHIFT && word & RAISING == 0 { false } else { self.lower_from(word, key) }
    }

    #[cold]
    #[inline(never)]
    fn lower_from(&self, mut word: u64, key: u64) -> bool {
        loop {
            let bound = word >> SHIFT;
            let spoil = if word & RAISING == 0 { 0 } else { RAISING | SPOILT };
            let next = bound.min(key) << SHIFT | spoil;
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
    /// somebody else is at it. Not done is no harm: a bound too low costs time only.
    #[inline]
    pub(super) fn raise(&self, seen: u64, below: impl FnOnce() -> u64) {
        let (clean, marked) = (seen << SHIFT, seen << SHIFT | RAISING);
        let cas = |from, to| self.0.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst);
        if cas(clean, marked).is_err() {
            return;
        }
        settle();
        if cas(marked, below().max(seen) << SHIFT).is_err() {
            self.0.fetch_and(!(RAISING | SPOILT), Ordering::SeqCst);
        }
    }
}
