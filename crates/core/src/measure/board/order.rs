//! What is compared: the two keys a slot can have, and the index that goes with each.

use super::Board;
use super::block::{Block, UNKNOWN, VACANT};
use super::node::NOTHING;
use super::tree::{FAN, Tree};
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// One order of the slots of a block.
pub(super) trait Order {
    /// Keys from here on are those of slots that are not in use.
    const UNUSED: u64;

    fn tree(&self) -> &Tree;
    /// The key that a slot would have with this count.
    fn key_with(&self, at: usize, count: u32) -> u64;
    /// Counts of the block's slots.
    fn counts(&self) -> &[AtomicU32];

    /// The key of a slot, for whoever compares it after changing something.
    #[inline(always)]
    fn key(&self, at: usize) -> u64 {
        self.key_with(at, self.counts()[at].load(Ordering::SeqCst))
    }

    /// The key of a slot, for a pick; `None` when it is in another block.
    #[inline(always)]
    fn glance(&self, at: usize) -> Option<u64> {
        Some(self.key_with(at, self.counts().get(at)?.load(Ordering::Relaxed)))
    }

    /// The least key of a group.
    fn least(&self, group: usize) -> u64;
    /// Which slots of a group have a key of at most `level`.
    fn within(&self, group: usize, level: u64) -> u16;
}

/// Names an order before it is known of which block.
pub(super) trait Rank {
    /// Keys are less than 2^32.
    const SHORT: bool;
    type Order<'a>: Order;
    fn order<'a>(board: &'a Board, block: &'a Block) -> Self::Order<'a>;
}

/// Attempts in flight.
pub(super) struct Active<'a> {
    pub(super) counts: &'a [AtomicU32],
    pub(super) tree: &'a Tree,
}

impl Order for Active<'_> {
    const UNUSED: u64 = VACANT as u64;

    #[inline(always)]
    fn tree(&self) -> &Tree {
        self.tree
    }
    #[inline(always)]
    fn key_with(&self, _: usize, count: u32) -> u64 {
        u64::from(count)
    }
    #[inline(always)]
    fn counts(&self) -> &[AtomicU32] {
        self.counts
    }
    #[inline(always)]
    fn least(&self, group: usize) -> u64 {
        // Two chains: each comparison waits for the one before.
        let (mut even, mut odd) = (u32::MAX, u32::MAX);
        for pair in chunk(self.counts, group).chunks_exact(2) {
            even = even.min(pair[0].load(Ordering::SeqCst));
            odd = odd.min(pair[1].load(Ordering::SeqCst));
        }
        u64::from(even.min(odd))
    }
    #[inline(always)]
    fn within(&self, group: usize, level: u64) -> u16 {
        let mut within = 0;
        for (lane, count) in chunk(self.counts, group).iter().enumerate() {
            within |= u16::from(u64::from(count.load(Ordering::SeqCst)) <= level) << lane;
        }
        within
    }
}

/// See [`Active`].
pub(super) struct ByActive;

impl Rank for ByActive {
    const SHORT: bool = true;
    type Order<'a> = Active<'a>;

    #[inline(always)]
    fn order<'a>(_: &'a Board, block: &'a Block) -> Active<'a> {
        block.active()
    }
}

/// Mean response time (microseconds) x (attempts in flight + 1): how long the next attempt is going
/// to take if they are served one after another. An idle slot without an average has 0, a busy one
/// counts with the mean of the others.
pub(super) struct Estimate<'a> {
    pub(super) counts: &'a [AtomicU32],
    pub(super) averages: &'a [AtomicU64],
    pub(super) tree: &'a Tree,
    pub(super) mean: &'a AtomicU64,
}

impl Estimate<'_> {
    pub(super) fn average(&self, at: usize) -> &AtomicU64 {
        &self.averages[at]
    }

    #[inline(always)]
    fn key_of(&self, average: &AtomicU64, count: u32) -> u64 {
        if count >= VACANT {
            return NOTHING;
        }
        let mut average = average.load(Ordering::SeqCst);
        if average == UNKNOWN {
            average = if count == 0 { 0 } else { self.mean.load(Ordering::SeqCst) };
        }
        average.saturating_mul(u64::from(count) + 1).min(NOTHING - 1)
    }

    /// Lets the bounds know that the estimates of slots without an average fell.
    pub(super) fn lower_unknown(&self) {
        for (at, average) in self.averages.iter().enumerate() {
            if average.load(Ordering::SeqCst) == UNKNOWN {
                self.tree.lower(at / FAN, self.key(at));
            }
        }
    }
}

impl Order for Estimate<'_> {
    const UNUSED: u64 = NOTHING;

    #[inline(always)]
    fn tree(&self) -> &Tree {
        self.tree
    }
    #[inline(always)]
    fn key_with(&self, at: usize, count: u32) -> u64 {
        self.key_of(&self.averages[at], count)
    }
    #[inline(always)]
    fn counts(&self) -> &[AtomicU32] {
        self.counts
    }
    #[inline(always)]
    fn least(&self, group: usize) -> u64 {
        let averages = chunk(self.averages, group);
        let mut least = NOTHING;
        for (lane, count) in chunk(self.counts, group).iter().enumerate() {
            least = least.min(self.key_of(&averages[lane], count.load(Ordering::SeqCst)));
        }
        least
    }
    #[inline(always)]
    fn within(&self, group: usize, level: u64) -> u16 {
        let averages = chunk(self.averages, group);
        let mut within = 0;
        for (lane, count) in chunk(self.counts, group).iter().enumerate() {
            let key = self.key_of(&averages[lane], count.load(Ordering::SeqCst));
            within |= u16::from(key <= level) << lane;
        }
        within
    }
}

/// The part of a slice that belongs to a group.
#[inline(always)]
fn chunk<T>(all: &[T], group: usize) -> &[T; FAN] {
    match all[group * FAN..].first_chunk() {
        Some(chunk) => chunk,
        None => unreachable!("blocks are made of whole groups"),
    }
}

/// See [`Estimate`].
pub(super) struct ByEstimate;

impl Rank for ByEstimate {
    const SHORT: bool = false;
    type Order<'a> = Estimate<'a>;

    #[inline(always)]
    fn order<'a>(board: &'a Board, block: &'a Block) -> Estimate<'a> {
        block.estimate(&board.mean)
    }
}
