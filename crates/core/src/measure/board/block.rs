//! Storage of some slots: their counts, their averages where these are used, and an index over
//! each of the two orders.

use super::node::NOTHING;
use super::tree::{FAN, Tree};
use crate::sync::{AtomicU32, AtomicU64, OnceLock, Ordering};

/// A count from here on says that the slot is not in use.
pub(super) const VACANT: u32 = 1 << 31;
/// No average is known.
pub(super) const UNKNOWN: u64 = u64::MAX;

/// The counts of sixteen slots, on a cache line of their own.
#[repr(align(64))]
pub(super) struct Counts(pub(super) [AtomicU32; FAN]);

/// The averages of sixteen slots.
#[repr(align(128))]
struct Averages([AtomicU64; FAN]);

pub(super) struct Block {
    counts: Box<[Counts]>,
    by_active: Tree,
    estimates: OnceLock<Estimates>,
}

/// What `shortestresponse` needs beyond the counts.
struct Estimates {
    averages: Box<[Averages]>,
    tree: Tree,
}

impl Block {
    /// `slots` is a multiple of [`FAN`].
    pub(super) fn new(slots: usize) -> Self {
        let group = |_| Counts(std::array::from_fn(|_| AtomicU32::new(VACANT)));
        let counts: Box<[Counts]> = (0..slots / FAN).map(group).collect();
        let by_active = Tree::new(counts.len());
        Self { counts, by_active, estimates: OnceLock::new() }
    }

    #[inline(always)]
    pub(super) fn count(&self, at: usize) -> &AtomicU32 {
        &self.counts[at / FAN].0[at % FAN]
    }

    /// The average of a slot, once any is kept.
    #[inline(always)]
    fn known(&self) -> Option<&Estimates> {
        self.estimates.get()
    }

    #[inline(always)]
    fn estimates(&self) -> &Estimates {
        self.estimates.get_or_init(|| {
            let group = |_| Averages(std::array::from_fn(|_| AtomicU64::new(UNKNOWN)));
            Estimates {
                averages: (0..self.counts.len()).map(group).collect(),
                tree: Tree::new(self.counts.len()),
            }
        })
    }

    #[inline(always)]
    pub(super) fn active(&self) -> Active<'_> {
        Active { counts: &self.counts, tree: &self.by_active }
    }

    #[inline(always)]
    pub(super) fn estimate<'a>(&'a self, mean: &'a AtomicU64) -> Estimate<'a> {
        let Estimates { averages, tree } = self.estimates();
        Estimate { counts: &self.counts, averages, tree, mean }
    }

    /// The order by estimate if anything has asked for it yet.
    #[inline(always)]
    pub(super) fn estimate_if_known<'a>(&'a self, mean: &'a AtomicU64) -> Option<Estimate<'a>> {
        self.known().map(|Estimates { averages, tree }| Estimate {
            counts: &self.counts,
            averages,
            tree,
            mean,
        })
    }
}

/// An order of the slots of a block, with the index that goes with it.
pub(super) trait Order {
    /// The key of a slot; [`NOTHING`] when it is not in use.
    fn key(&self, at: usize) -> u64;
    /// The key that it would have with this count.
    fn key_with(&self, at: usize, count: u32) -> u64;
    fn tree(&self) -> &Tree;
    /// Whether the key is at most `level`; `None` when the slot is in another block.
    fn at_most(&self, at: usize, level: u64) -> Option<bool>;
    /// The key of a slot of this block.
    fn key_here(&self, at: usize) -> Option<u64>;
    fn keys(&self, group: usize) -> [u64; FAN] {
        std::array::from_fn(|lane| self.key(group * FAN + lane))
    }
}

/// By attempts in flight.
pub(super) struct Active<'a> {
    counts: &'a [Counts],
    tree: &'a Tree,
}

impl Order for Active<'_> {
    #[inline(always)]
    fn key(&self, at: usize) -> u64 {
        self.key_with(at, self.counts[at / FAN].0[at % FAN].load(Ordering::SeqCst))
    }
    #[inline(always)]
    fn key_with(&self, _: usize, count: u32) -> u64 {
        if count >= VACANT { NOTHING } else { u64::from(count) }
    }
    #[inline(always)]
    fn tree(&self) -> &Tree {
        self.tree
    }
    #[inline(always)]
    fn at_most(&self, at: usize, level: u64) -> Option<bool> {
        let group = self.counts.get(at / FAN)?;
        Some(u64::from(group.0[at % FAN].load(Ordering::Relaxed)) <= level)
    }
    #[inline(always)]
    fn key_here(&self, at: usize) -> Option<u64> {
        let group = self.counts.get(at / FAN)?;
        Some(u64::from(group.0[at % FAN].load(Ordering::Relaxed)))
    }
}

/// By average x (attempts in flight + 1).
pub(super) struct Estimate<'a> {
    counts: &'a [Counts],
    averages: &'a [Averages],
    tree: &'a Tree,
    mean: &'a AtomicU64,
}

impl Estimate<'_> {
    pub(super) fn average(&self, at: usize) -> &AtomicU64 {
        &self.averages[at / FAN].0[at % FAN]
    }
}

impl Order for Estimate<'_> {
    #[inline(always)]
    fn key(&self, at: usize) -> u64 {
        self.key_with(at, self.counts[at / FAN].0[at % FAN].load(Ordering::SeqCst))
    }
    #[inline(always)]
    fn key_with(&self, at: usize, count: u32) -> u64 {
        if count >= VACANT {
            return NOTHING;
        }
        let mut average = self.average(at).load(Ordering::SeqCst);
        if average == UNKNOWN {
            if count == 0 {
                return 0;
            }
            average = self.mean.load(Ordering::SeqCst);
        }
        average.saturating_mul(u64::from(count) + 1).min(NOTHING - 1)
    }
    #[inline(always)]
    fn tree(&self) -> &Tree {
        self.tree
    }
    #[inline(always)]
    fn at_most(&self, at: usize, level: u64) -> Option<bool> {
        (at / FAN < self.counts.len()).then(|| self.key(at) <= level)
    }
    #[inline(always)]
    fn key_here(&self, at: usize) -> Option<u64> {
        (at / FAN < self.counts.len()).then(|| self.key(at))
    }
}
