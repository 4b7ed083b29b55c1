//! Storage of some slots: their counts, their averages once these are used, and the index over
//! each of the two orders.

use super::order::{Active, Estimate, Order};
use super::tree::{FAN, Tree};
use crate::sync::{AtomicU32, AtomicU64, OnceLock, Ordering, settle};

/// A count from here on says that the slot is not in use.
pub(super) const VACANT: u32 = 1 << 31;
/// No average is known.
pub(super) const UNKNOWN: u64 = u64::MAX;

pub(super) struct Block {
    counts: Lined<AtomicU32>,
    by_active: Tree,
    estimates: OnceLock<(Lined<AtomicU64>, Tree)>,
}

impl Block {
    /// `slots` is a multiple of [`FAN`].
    pub(super) fn new(slots: usize) -> Self {
        Self {
            counts: Lined::new(slots, || AtomicU32::new(VACANT)),
            by_active: Tree::new(slots / FAN),
            estimates: OnceLock::new(),
        }
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.counts.len
    }

    #[inline(always)]
    pub(super) fn count(&self, at: usize) -> &AtomicU32 {
        &self.counts.cells[self.counts.from + at]
    }

    /// The order by count.
    #[inline(always)]
    pub(super) fn active(&self) -> Active<'_> {
        Active { counts: self.counts.all(), tree: &self.by_active }
    }

    /// The order by estimate.
    #[inline(always)]
    pub(super) fn estimate<'a>(&'a self, mean: &'a AtomicU64) -> Estimate<'a> {
        let (averages, tree) = self.estimates.get_or_init(|| {
            let slots = self.len();
            (Lined::new(slots, || AtomicU64::new(UNKNOWN)), Tree::new(slots / FAN))
        });
        Estimate { counts: self.counts.all(), averages: averages.all(), tree, mean }
    }

    /// The order by estimate, if it has been asked for before.
    #[inline(always)]
    pub(super) fn known_estimate<'a>(&'a self, mean: &'a AtomicU64) -> Option<Estimate<'a>> {
        let (averages, tree) = self.estimates.get()?;
        Some(Estimate { counts: self.counts.all(), averages: averages.all(), tree, mean })
    }

    /// Counts one out, unless there is none.
    #[inline(always)]
    pub(super) fn finish(&self, at: usize, mean: &AtomicU64) -> u32 {
        let bound = self.by_active.bound_of(at / FAN);
        let guess = (bound as u32 & (VACANT - 1)) + 1;
        let cell = self.count(at);
        if self.estimates.get().is_none() {
            match cell.compare_exchange(guess, guess - 1, Ordering::SeqCst, Ordering::Relaxed) {
                Ok(_) => {
                    settle();
                    self.by_active.lower(at / FAN, u64::from(guess - 1));
                    return guess - 1;
                }
                Err(count) => return self.finish_from(at, mean, count),
            }
        }
        self.finish_from(at, mean, cell.load(Ordering::Relaxed))
    }

    #[inline(never)]
    fn finish_from(&self, at: usize, mean: &AtomicU64, mut count: u32) -> u32 {
        let cell = self.count(at);
        let estimate = self.known_estimate(mean);
        loop {
            debug_assert!(count > 0 && count < VACANT, "more attempts finished than started");
            if count == 0 || count >= VACANT {
                return 0;
            }
            let left = count - 1;
            self.by_active.prepare(at / FAN, u64::from(left));
            if let Some(estimate) = &estimate {
                estimate.tree().prepare(at / FAN, estimate.key_with(at, left));
            }
            match cell.compare_exchange(count, left, Ordering::SeqCst, Ordering::Relaxed) {
                Ok(_) => {
                    settle();
                    self.by_active.lower(at / FAN, u64::from(left));
                    if let Some(estimate) = &estimate {
                        estimate.tree().lower(at / FAN, estimate.key_with(at, left));
                    }
                    return left;
                }
                Err(now) => count = now,
            }
        }
    }
}

/// A slice that begins at the beginning of a cache line.
struct Lined<T> {
    cells: Box<[T]>,
    from: usize,
    len: usize,
}

impl<T> Lined<T> {
    fn new(len: usize, cell: impl FnMut() -> T) -> Self {
        let line = 64_usize.div_ceil(size_of::<T>());
        let cells: Box<[T]> = std::iter::repeat_with(cell).take(len + line - 1).collect();
        let over = (cells.as_ptr() as usize / size_of::<T>()) % line;
        Self { cells, from: (line - over) % line, len }
    }

    #[inline(always)]
    fn all(&self) -> &[T] {
        &self.cells[self.from..][..self.len]
    }
}
