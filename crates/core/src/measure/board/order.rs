//! What is compared: the two keys that a slot has, and the index that goes with each.

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
    /// The counts of the block.
    fn counts(&self) -> &[AtomicU32];
    /// The key that a slot would have with this count.
    fn key_with(&self, at: usize, count: u32) -> u64;
    /// The least key of a group.
    fn least(&self, group: usize) -> u64;
    /// The least key of a group and, if that is at most `level`, which slots have such a key.
    fn look(&self, group: usize, level: u64) -> (u64, u16);

    /// The key of a slot, for whoever has changed something before.
    #[inline(always)]
    fn key(&self, at: usize) -> u64 {
        self.key_with(at, self.counts()[at].load(Ordering::SeqCst))
    }

    /// The key of a slot, for a pick; `None` when the slot is in another block.
    #[inline(always)]
    fn glance(&self, at: usize) -> Option<u64> {
        Some(self.key_with(at, self.counts().get(at)?.load(Ordering::Relaxed)))
    }
}

/// Names an order without a block.
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
    fn counts(&self) -> &[AtomicU32] {
        self.counts
    }

    #[inline(always)]
    fn key_with(&self, _: usize, count: u32) -> u64 {
        u64::from(count)
    }

    #[inline(always)]
    fn least(&self, group: usize) -> u64 {
        // In two chains, since each comparison waits for the one before.
        let (mut even, mut odd) = (u32::MAX, u32::MAX);
        for pair in chunk(self.counts, group).chunks_exact(2) {
            even = even.min(pair[0].load(Ordering::SeqCst));
            odd = odd.min(pair[1].load(Ordering::SeqCst));
        }
        u64::from(even.min(odd))
    }

    #[inline(always)]
    fn look(&self, group: usize, level: u64) -> (u64, u16) {
        let (least, mut within) = (self.least(group), 0);
        if least <= level {
            for (lane, count) in chunk(self.counts, group).iter().enumerate() {
                let count = u64::from(count.load(Ordering::SeqCst));
                within |= u16::from(count <= level) << lane;
            }
        }
        (least, within)
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

/// Mean response time (microseconds) x (attempts in flight + 1): what the next attempt takes if
/// they are served one after another. Without a mean, an idle slot has 0 and a busy one counts with
/// the mean of the others.
pub(super) struct Estimate<'a> {
    pub(super) counts: &'a [AtomicU32],
    pub(super) averages: &'a [AtomicU64],
    pub(super) tree: &'a Tree,
    pub(super) mean: &'a AtomicU64,
}

/// The longest average that is told from longer ones, in microseconds: 203 days.
pub(super) const LONGEST: u64 = (1 << 44) - 1;
/// More attempts in flight count as one less than this. The product with [`LONGEST`] is a key.
const CROWDED: u64 = 1 << 17;

impl Estimate<'_> {
    /// Lets the bounds know that the estimates of slots without an average may have fallen.
    pub(super) fn lower_unknown(&self) {
        for (at, average) in self.averages.iter().enumerate() {
            if average.load(Ordering::SeqCst) == UNKNOWN {
                self.tree.lower(at / FAN, self.key(at));
            }
        }
    }

    #[inline(always)]
    fn keys(&self, group: usize) -> [u64; FAN] {
        let (counts, averages) = (chunk(self.counts, group), chunk(self.averages, group));
        let mean = self.mean.load(Ordering::SeqCst);
        let mut keys = [NOTHING; FAN];
        for ((key, count), average) in keys.iter_mut().zip(counts).zip(averages) {
            let average = average.load(Ordering::SeqCst);
            *key = estimate(average, count.load(Ordering::SeqCst), mean);
        }
        keys
    }
}

impl Order for Estimate<'_> {
    const UNUSED: u64 = NOTHING;

    #[inline(always)]
    fn tree(&self) -> &Tree {
        self.tree
    }

    #[inline(always)]
    fn counts(&self) -> &[AtomicU32] {
        self.counts
    }

    #[inline(always)]
    fn key_with(&self, at: usize, count: u32) -> u64 {
        let average = self.averages[at].load(Ordering::SeqCst);
        estimate(average, count, self.mean.load(Ordering::SeqCst))
    }

    #[inline(always)]
    fn least(&self, group: usize) -> u64 {
        self.keys(group).into_iter().fold(NOTHING, u64::min)
    }

    #[inline(always)]
    fn look(&self, group: usize, level: u64) -> (u64, u16) {
        let (mut least, mut within) = (NOTHING, 0);
        for (lane, key) in self.keys(group).into_iter().enumerate() {
            least = least.min(key);
            within |= u16::from(key <= level) << lane;
        }
        (least, within)
    }
}

/// Written to need no branch, since with many endpoints none could be foreseen, and no check for
/// overflow.
#[inline(always)]
fn estimate(average: u64, count: u32, mean: u64) -> u64 {
    let mean = if count == 0 { 0 } else { mean };
    let average = if average == UNKNOWN { mean } else { average };
    let key = average * (u64::from(count) + 1).min(CROWDED);
    if count < VACANT { key } else { NOTHING }
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

/// The part of a block's cells that belongs to a group.
#[inline(always)]
fn chunk<T>(cells: &[T], group: usize) -> &[T; FAN] {
    match cells[group * FAN..].first_chunk() {
        Some(chunk) => chunk,
        None => unreachable!("a block is made of whole groups"),
    }
}
