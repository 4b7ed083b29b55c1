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

    /// The order by attempts in flight.
    #[inline(always)]
    pub(super) fn active(&self) -> Active<'_> {
        Active { counts: self.counts.all(), tree: &self.by_active }
    }

    /// The order by estimate.
    #[inline(always)]
    pub(super) fn estimate<'a>(&'a self, mean: &'a AtomicU64) -> Estimate<'a> {
        let (averages, tree) = self.estimates.get_or_init(|| {
            let averages = Lined::new(self.len(), || AtomicU64::new(UNKNOWN));
            (averages, Tree::new(self.len() / FAN))
        });
        Estimate { counts: self.counts.all(), averages: averages.all(), tree, mean }
    }

    /// The order by estimate, if it has been asked for before.
    #[inline(always)]
    pub(super) fn known_estimate<'a>(&'a self, mean: &'a AtomicU64) -> Option<Estimate<'a>> {
        let (averages, tree) = self.estimates.get()?;
        Some(Estimate { counts: self.counts.all(), averages: averages.all(), tree, mean })
    }

    /// Takes a slot into use, with a count of 0 and no average.
    pub(super) fn open(&self, at: usize, mean: &AtomicU64) {
        let estimate = self.known_estimate(mean);
        if let Some(estimate) = &estimate {
            estimate.averages[at].store(UNKNOWN, Ordering::SeqCst);
        }
        self.count(at).store(0, Ordering::SeqCst);
        settle();
        self.by_active.lower(at / FAN, 0);
        if let Some(estimate) = &estimate {
            estimate.tree.lower(at / FAN, 0);
        }
    }

    /// Counts one out, unless there is none.
    ///
    /// Most often the count is one above the bound, since picks take from the least: then nothing
    /// has to be read before, and the line of the count comes over from another core only once.
    #[inline(always)]
    pub(super) fn finish(&self, at: usize, mean: &AtomicU64) -> u32 {
        settle();
        let left = self.by_active.bound(at / FAN).min(u64::from(VACANT) - 2) as u32;
        let count = if self.estimates.get().is_none() {
            match self.lower_count(at, left + 1) {
                Ok(left) => return left,
                Err(count) => count,
            }
        } else {
            self.count(at).load(Ordering::Relaxed)
        };
        self.finish_from(at, mean, count)
    }

    #[inline(never)]
    fn finish_from(&self, at: usize, mean: &AtomicU64, mut count: u32) -> u32 {
        let estimate = self.known_estimate(mean);
        loop {
            debug_assert!(count > 0 && count < VACANT, "more attempts finished than started");
            if count == 0 || count >= VACANT {
                return 0;
            }
            let left = count - 1;
            self.by_active.prepare(at / FAN, u64::from(left));
            if let Some(estimate) = &estimate {
                estimate.tree.prepare(at / FAN, estimate.key_with(at, left));
            }
            match self.lower_count(at, count) {
                Ok(left) => {
                    if let Some(estimate) = &estimate {
                        estimate.tree.lower(at / FAN, estimate.key_with(at, left));
                    }
                    return left;
                }
                Err(now) => count = now,
            }
        }
    }

    /// One less than `count`, if that is what it is; else what it is instead.
    #[inline(always)]
    fn lower_count(&self, at: usize, count: u32) -> Result<u32, u32> {
        let left = count - 1;
        self.count(at).compare_exchange(count, left, Ordering::SeqCst, Ordering::Relaxed)?;
        settle();
        self.by_active.lower(at / FAN, u64::from(left));
        Ok(left)
    }

    /// Counts one out where no pick goes by the index. The bounds are looked at nevertheless, for
    /// the case that the board just grew.
    #[inline(always)]
    pub(super) fn finish_unindexed(&self, at: usize, mean: &AtomicU64) -> u32 {
        let count = self.count(at).fetch_sub(1, Ordering::SeqCst);
        if count == 0 || count >= VACANT {
            self.count(at).fetch_add(1, Ordering::SeqCst);
            debug_assert!(false, "more attempts finished than started");
            return 0;
        }
        settle();
        self.by_active.lower(at / FAN, u64::from(count - 1));
        if let Some(estimate) = self.known_estimate(mean) {
            estimate.tree.lower(at / FAN, estimate.key_with(at, count - 1));
        }
        count - 1
    }
}

/// Cells of which the first begins a cache line.
struct Lined<T> {
    cells: Box<[T]>,
    from: usize,
    len: usize,
}

impl<T> Lined<T> {
    fn new(len: usize, cell: impl FnMut() -> T) -> Self {
        let line = 64_usize.div_ceil(size_of::<T>());
        let cells: Box<[T]> = std::iter::repeat_with(cell).take(len + line - 1).collect();
        let over = cells.as_ptr() as usize / size_of::<T>() % line;
        Self { cells, from: (line - over) % line, len }
    }

    #[inline(always)]
    fn all(&self) -> &[T] {
        &self.cells[self.from..][..self.len]
    }
}
