//! board (prototype doc)

mod block;
mod limit;
mod members;
mod node;
mod search;
#[cfg(test)]
mod tests;
mod tree;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

use crate::sync::{AtomicU32, AtomicU64, Mutex, OnceLock, Ordering, settle};

use block::{Active, Block, Estimate, Order, UNKNOWN, VACANT};
pub(crate) use members::Members;
use tree::FAN;

/// Place of one endpoint on a [`Board`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash)]
pub(crate) struct SlotId(u32);

/// Blocks after the first; each doubles what there is.
const MORE: usize = 24;

/// Board.
pub(crate) struct Board {
    first: Block,
    /// Slots of the first block: a power of two.
    capacity: usize,
    more: [OnceLock<Box<Block>>; MORE],
    blocks: AtomicU32,
    live: AtomicU32,
    mean: AtomicU64,
    free: Mutex<Free>,
}

#[derive(Default)]
struct Free {
    slots: BinaryHeap<Reverse<u32>>,
    next: u32,
}

impl Board {
    pub(crate) fn new(capacity: usize) -> Self {
        let capacity = capacity.max(FAN).next_power_of_two();
        Self {
            first: Block::new(capacity),
            capacity,
            more: std::array::from_fn(|_| OnceLock::new()),
            blocks: AtomicU32::new(1),
            live: AtomicU32::new(0),
            mean: AtomicU64::new(0),
            free: Mutex::new(Free::default()),
        }
    }

    pub(crate) fn join(&self) -> SlotId {
        let mut free = self.free.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let slot = match free.slots.pop() {
            Some(Reverse(slot)) => slot,
            None => {
                free.next += 1;
                free.next - 1
            }
        };
        if let Some(n) = self.later(slot as usize) {
            self.more[n].get_or_init(|| Box::new(Block::new(self.capacity << n)));
            self.blocks.fetch_max(n as u32 + 2, Ordering::SeqCst);
        }
        let (block, at) = self.place(SlotId(slot));
        if let Some(estimate) = block.estimate_if_known(&self.mean) {
            estimate.average(at).store(UNKNOWN, Ordering::SeqCst);
        }
        block.count(at).store(0, Ordering::SeqCst);
        settle();
        block.active().tree().lower(at / FAN, 0);
        if let Some(estimate) = block.estimate_if_known(&self.mean) {
            estimate.tree().lower(at / FAN, 0);
        }
        self.live.fetch_add(1, Ordering::Relaxed);
        SlotId(slot)
    }

    pub(crate) fn leave(&self, slot: SlotId) {
        let (block, at) = self.place(slot);
        let before = block.count(at).swap(VACANT, Ordering::SeqCst);
        debug_assert!(before < VACANT, "left twice");
        self.live.fetch_sub(1, Ordering::Relaxed);
        let mut free = self.free.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        free.slots.push(Reverse(slot.0));
    }

    #[inline(always)]
    pub(crate) fn active(&self, slot: SlotId) -> u32 {
        let (block, at) = self.place(slot);
        let count = block.count(at).load(Ordering::Relaxed);
        if count >= VACANT { 0 } else { count }
    }

    #[inline(always)]
    pub(crate) fn start(&self, slot: SlotId) -> u32 {
        let (block, at) = self.place(slot);
        block.count(at).fetch_add(1, Ordering::Relaxed) + 1
    }

    #[inline(always)]
    pub(crate) fn finish(&self, slot: SlotId) -> u32 {
        let (block, at) = self.place(slot);
        let left = leave_one(block.count(at), &block.active(), at);
        if let Some(estimate) = block.estimate_if_known(&self.mean) {
            estimate.tree().lower(at / FAN, estimate.key_with(at, left));
        }
        left
    }

    pub(crate) fn set_average(&self, slot: SlotId, average: Option<u64>) {
        let (block, at) = self.place(slot);
        let estimate = block.estimate(&self.mean);
        let average = average.map_or(UNKNOWN, |a| a.min(UNKNOWN - 1));
        estimate.average(at).store(average, Ordering::SeqCst);
        settle();
        estimate.tree().lower(at / FAN, estimate.key(at));
    }

    pub(crate) fn set_mean_hint(&self, mean: u64) {
        self.mean.store(mean, Ordering::SeqCst);
    }

    fn later(&self, slot: usize) -> Option<usize> {
        (slot >= self.capacity).then(|| (slot / self.capacity).ilog2() as usize)
    }

    #[inline(always)]
    fn place(&self, slot: SlotId) -> (&Block, usize) {
        let at = slot.0 as usize;
        if at < self.capacity { (&self.first, at) } else { self.place_later(at) }
    }

    #[cold]
    #[inline(never)]
    fn place_later(&self, at: usize) -> (&Block, usize) {
        let n = (at / self.capacity).ilog2() as usize;
        match self.more[n].get() {
            Some(block) => (block, at - (self.capacity << n)),
            None => unreachable!("slot was handed out by another board"),
        }
    }
}

#[inline(always)]
fn leave_one(cell: &AtomicU32, order: &impl Order, at: usize) -> u32 {
    let mut count = cell.load(Ordering::Relaxed);
    loop {
        debug_assert!(count > 0 && count < VACANT, "finished more often than started");
        if count == 0 || count >= VACANT {
            return 0;
        }
        let key = order.key_with(at, count - 1);
        order.tree().lower_all(at / FAN, key);
        match cell.compare_exchange(count, count - 1, Ordering::SeqCst, Ordering::Relaxed) {
            Ok(_) => {
                settle();
                order.tree().lower(at / FAN, key);
                return count - 1;
            }
            Err(now) => count = now,
        }
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Board").finish_non_exhaustive()
    }
}

trait Rank {
    /// Keys fit in 32 bits.
    const SMALL: bool;
    type Order<'a>: Order;
    fn order<'a>(board: &'a Board, block: &'a Block) -> Self::Order<'a>;
}
struct ByActive;
impl Rank for ByActive {
    const SMALL: bool = true;
    type Order<'a> = Active<'a>;
    #[inline(always)]
    fn order<'a>(_: &'a Board, block: &'a Block) -> Active<'a> {
        block.active()
    }
}
struct ByEstimate;
impl Rank for ByEstimate {
    const SMALL: bool = false;
    type Order<'a> = Estimate<'a>;
    #[inline(always)]
    fn order<'a>(board: &'a Board, block: &'a Block) -> Estimate<'a> {
        block.estimate(&board.mean)
    }
}
