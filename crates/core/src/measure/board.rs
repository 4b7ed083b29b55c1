//! Attempts in flight at every endpoint of one method, and the exact least of them without a lock.
//!
//! One [`Board`] serves one method of one service and outlives views. Each endpoint has a slot on
//! it; the slot's count is the truth, everything else here is a hint that is corrected when read.
//! [`Members`] is one set of candidates, prepared for picking; it belongs to a view. Knows no
//! endpoint, no strategy and no clock.
//!
//! # Rule
//!
//! `leastactive` takes a member whose count is least, `shortestresponse` one whose estimate (mean
//! response time x (count + 1)) is. Among equals one is drawn by weight, without bias. Alone on one
//! thread the least is exact. While other threads start and finish attempts it is at most one
//! attempt off, seen at some moment during the pick.
//!
//! # The index
//!
//! Sixteen slots make a group, sixteen groups a row, sixteen rows a row above and so on. Each group
//! and row has a node with a **lower bound** of the keys below it. The two directions are treated
//! differently, since that is what makes the index cheap:
//!
//! - A key that rises (an attempt starts) touches nothing but the count. Bounds that are too low
//!   now cost whoever finds them a detour, and that reader raises them.
//! - A key that falls (an attempt finishes) lowers the bounds above it at once. Usually they are
//!   low enough already, and the whole way up is two or three loads of lines that nobody writes.
//!
//! So the least bound of all is never above the least key, and a pick can stop at the first member
//! whose count equals it. As long as many members share the least count, a few draws by weight
//! find one (rejection keeps the shares exact); when few do, the bounds lead to them.
//!
//! Lowering and raising meet in [`node`]: whoever raises marks the node first, then looks below;
//! whoever lowers a key does so first, then looks at the node, and spoils the mark it may find.
//! One of the two sees the other, and a spoilt raise does not happen. A finish lowers the bounds
//! before *and* looks at them after it lowers the count: before, so that no pick can overlook more
//! than one finished attempt; after, because somebody may have raised them in between.
//!
//! # Cost
//!
//! Up to 32 members a pick looks at each of them, above it is flat in their number. Start: one
//! atomic addition. Finish: one compare-and-swap and some loads. Nothing allocates, locks or waits;
//! `join` and `leave` lock.
//!
//! # State
//!
//! Per slot a count, and a mean response time once [`Board::set_average`] or a pick by estimate
//! asked for it; 1/15 of that for the index. It never shrinks: bounded by twice the most slots that
//! were in use at one time.

mod block;
mod limit;
mod members;
mod node;
mod order;
mod scan;
mod search;
mod tree;

#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, not(loom)))]
mod tests;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::sync::PoisonError;

use crate::sync::{AtomicU32, AtomicU64, Mutex, OnceLock, Ordering, settle};

use block::{Block, UNKNOWN, VACANT};
pub(crate) use members::Members;
pub(crate) use members::MODE;
use order::{Order, Rank};
use tree::FAN;

/// The place of one endpoint on a [`Board`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash)]
pub(crate) struct SlotId(u32);

/// How often a board can double.
const MORE: usize = 24;

/// Counts of one method at all its endpoints.
pub(crate) struct Board {
    first: Block,
    /// Later slots, never moved: each block is as large as all before it together.
    more: [OnceLock<Box<Block>>; MORE],
    blocks: AtomicU32,
    /// Slots in use.
    live: AtomicU32,
    /// What counts as the average of a slot that has none, in microseconds.
    mean: AtomicU64,
    slots: Mutex<Slots>,
}

/// Which slots are free. The lowest is used first, so that the ones in use lie close together.
#[derive(Default)]
struct Slots {
    free: BinaryHeap<Reverse<u32>>,
    next: u32,
}

impl Board {
    /// A board that is fastest for up to `capacity` endpoints, but can take more.
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            first: Block::new(capacity.max(FAN).next_power_of_two()),
            more: std::array::from_fn(|_| OnceLock::new()),
            blocks: AtomicU32::new(1),
            live: AtomicU32::new(0),
            mean: AtomicU64::new(0),
            slots: Mutex::new(Slots::default()),
        }
    }

    /// A slot with no attempt in flight and no average.
    pub(crate) fn join(&self) -> SlotId {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = SlotId(slots.free.pop().map_or(slots.next, |Reverse(slot)| slot));
        slots.next = slots.next.max(slot.0 + 1);
        self.make_room(slot);
        let (block, at) = self.place(slot);
        if let Some(estimate) = block.known_estimate(&self.mean) {
            estimate.average(at).store(UNKNOWN, Ordering::SeqCst);
        }
        block.count(at).store(0, Ordering::SeqCst);
        settle();
        block.active().tree().lower(at / FAN, 0);
        if let Some(estimate) = block.known_estimate(&self.mean) {
            estimate.tree().lower(at / FAN, 0);
        }
        self.live.fetch_add(1, Ordering::Relaxed);
        slot
    }

    /// Gives a slot back. From now on it wins no pick, and another endpoint may get it: nothing may
    /// be started or finished on it by whoever had it.
    pub(crate) fn leave(&self, slot: SlotId) {
        let (block, at) = self.place(slot);
        let count = block.count(at).swap(VACANT, Ordering::SeqCst);
        debug_assert!(count < VACANT, "a slot was given back twice");
        if count < VACANT {
            self.live.fetch_sub(1, Ordering::Relaxed);
            self.slots
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .free
                .push(Reverse(slot.0));
        }
    }

    /// Slots in use.
    pub(crate) fn live(&self) -> usize {
        self.live.load(Ordering::Relaxed) as usize
    }

    /// Attempts in flight at a slot.
    #[inline]
    pub(crate) fn active(&self, slot: SlotId) -> u32 {
        let (block, at) = self.place(slot);
        let count = block.count(at).load(Ordering::Relaxed);
        if count < VACANT { count } else { 0 }
    }

    /// Counts an attempt in; returns the new count.
    #[inline]
    pub(crate) fn start(&self, slot: SlotId) -> u32 {
        let (block, at) = self.place(slot);
        block.count(at).fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Counts an attempt out; returns the new count. A count of 0 stays 0.
    #[inline]
    pub(crate) fn finish(&self, slot: SlotId) -> u32 {
        let (block, at) = self.place(slot);
        block.finish(at, &self.mean)
    }

    /// Tells the mean response time of a slot, in microseconds; `None`: not known.
    pub(crate) fn set_average(&self, slot: SlotId, average: Option<u64>) {
        let (block, at) = self.place(slot);
        let estimate = block.estimate(&self.mean);
        let average = average.map_or(UNKNOWN, |micros| micros.min(UNKNOWN - 1));
        estimate.average(at).store(average, Ordering::SeqCst);
        settle();
        estimate.tree().lower(at / FAN, estimate.key(at));
    }

    /// Tells what counts as the average of busy slots that have none, in microseconds: the mean of
    /// the averages known, 0 when there is none. Walks over all slots when it falls, so it is for
    /// changes of view and for every second or so, not for every attempt.
    pub(crate) fn set_mean(&self, micros: u64) {
        if self.mean.swap(micros, Ordering::SeqCst) <= micros {
            return;
        }
        settle();
        for (block, _) in self.blocks() {
            if let Some(estimate) = block.known_estimate(&self.mean) {
                estimate.lower_unknown();
            }
        }
    }

    /// All blocks, with the first slot of each.
    fn blocks(&self) -> impl Iterator<Item = (&Block, usize)> {
        let more = self.blocks.load(Ordering::SeqCst) as usize - 1;
        let more = self.more.iter().take(more).enumerate();
        std::iter::once((&self.first, 0)).chain(
            more.filter_map(|(n, block)| Some((&**block.get()?, self.first.len() << n))),
        )
    }

    /// Makes the block in which a slot lies. Slots are handed out in order, so those before it are
    /// there.
    fn make_room(&self, slot: SlotId) {
        let n = slot.0 as usize / self.first.len();
        if let Some(n) = n.checked_ilog2() {
            self.more[n as usize].get_or_init(|| Box::new(Block::new(self.first.len() << n)));
            self.blocks.fetch_max(n + 2, Ordering::SeqCst);
        }
    }

    /// Block of a slot, and its place there.
    #[inline(always)]
    fn place(&self, slot: SlotId) -> (&Block, usize) {
        let at = slot.0 as usize;
        if at < self.first.len() { (&self.first, at) } else { self.place_later(at) }
    }

    #[cold]
    #[inline(never)]
    fn place_later(&self, at: usize) -> (&Block, usize) {
        let n = (at / self.first.len()).ilog2();
        match self.more[n as usize].get() {
            Some(block) => (block, at - (self.first.len() << n)),
            None => unreachable!("the slot is another board's"),
        }
    }

    /// A key at most as great as those of all slots.
    #[inline(always)]
    fn floor<R: Rank>(&self) -> u64 {
        let floor = R::order(self, &self.first).tree().floor();
        if self.blocks.load(Ordering::Relaxed) == 1 { floor } else { self.floor_of_all::<R>() }
    }

    #[cold]
    #[inline(never)]
    fn floor_of_all<R: Rank>(&self) -> u64 {
        let floors = self.blocks().map(|(block, _)| R::order(self, block).tree().floor());
        floors.fold(node::NOTHING, u64::min)
    }

    /// The key of a slot behind the first block.
    #[cold]
    #[inline(never)]
    fn key_later<R: Rank>(&self, at: usize) -> u64 {
        let (block, at) = self.place_later(at);
        R::order(self, block).key(at)
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Board").field("live", &self.live()).finish_non_exhaustive()
    }
}
