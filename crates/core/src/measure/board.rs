//! Attempts in flight at all endpoints of one method, and the exact least of them without a lock.
//!
//! One [`Board`] serves one method of one service and outlives views. Each endpoint has a slot on
//! it. The slot's count is the truth; all else here is a hint that is corrected when it is read.
//! [`Members`] is one set of candidates, prepared for picking, and belongs to a view. Nothing here
//! knows an endpoint, a strategy or a clock.
//!
//! # Rule
//!
//! `leastactive` takes a member whose count is least, `shortestresponse` one whose estimate is: its
//! mean response time x (count + 1). Among equals one is drawn by weight, without bias. Alone on one
//! thread the least is exact. While other threads start and finish attempts, the one taken has at
//! most one attempt more than the least at some moment of the pick; only where several attempts end
//! at one endpoint within nanoseconds, and one begins there too, can it be one more for each.
//!
//! # The index
//!
//! Sixteen slots make a group, sixteen groups a row, sixteen rows lie below a row above, and so on.
//! Each group and each row has a node with a **lower bound** of the keys below it. The two
//! directions are treated differently, and that is what makes it cheap:
//!
//! - A key that rises (an attempt starts) touches nothing but the count. The bounds that are too low
//!   now cost whoever finds them a detour, and that reader raises them.
//! - A key that falls (an attempt finishes) lowers the bounds above it at once. Usually they are low
//!   enough already, and a look at one of them is all.
//!
//! So the least bound is never above the least key, and a pick may stop at the first member whose
//! key equals it. While many members share the least key, a few draws by weight find one; rejecting
//! the others leaves the shares exact. Where few do, the bounds lead to them.
//!
//! Raising and lowering meet in a node, under the protocol told there: a bound is raised only to
//! what was seen below it while nothing below fell. A finish looks at the bounds twice: before it
//! lowers the count, so that no pick overlooks more than one finished attempt, and after, since
//! somebody may have raised them in between.
//!
//! # Cost
//!
//! Up to 32 members a pick looks at each of them; above, it is flat in their number. Start: one
//! atomic addition. Finish: one compare-and-swap and a few loads. These allocate nothing, take no
//! lock and wait for nobody; `join` and `leave` take a lock.
//!
//! # State
//!
//! A count per slot, a mean response time per slot once [`Board::set_average`] or a pick by
//! estimate asks for it, and an eighth of a count or a fifteenth of a mean for the index. It never
//! shrinks: at most twice the slots that were in use at one time, or that were asked for.

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
#[cfg(test)]
#[cfg(not(loom))]
mod tests;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::sync::PoisonError;

use crate::sync::{AtomicU32, AtomicU64, Mutex, OnceLock, Ordering, settle};

use block::{Block, UNKNOWN, VACANT};
pub(crate) use members::{Admits, Members};
use order::{LONGEST, Order, Rank};
use tree::FAN;

/// Up to so many members every one of them is looked at.
const FEW: usize = if cfg!(loom) { 1 } else { 32 };
/// How often a board can double.
const MORE: usize = 24;

/// The place of one endpoint on a [`Board`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash)]
pub(crate) struct SlotId(u32);

/// Counts of one method at all its endpoints.
pub(crate) struct Board {
    first: Block,
    /// Later slots. Nothing is ever moved: each block is as large as all before it together.
    more: [OnceLock<Box<Block>>; MORE],
    blocks: AtomicU32,
    /// Slots in use.
    live: AtomicU32,
    /// What counts as the average of a busy slot that has none, in microseconds.
    mean: AtomicU64,
    slots: Mutex<Slots>,
}

/// Which slots are free. The lowest is used first, so that those in use lie close together.
#[derive(Default)]
struct Slots {
    free: BinaryHeap<Reverse<u32>>,
    next: u32,
}

impl Board {
    /// A board that is fastest for up to `capacity` endpoints and can take more.
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
        block.open(at, &self.mean);
        self.live.fetch_add(1, Ordering::Relaxed);
        slot
    }

    /// Gives a slot back: it wins no pick any more, and another endpoint may get it. Whoever had it
    /// must not start or finish anything on it from now on.
    pub(crate) fn leave(&self, slot: SlotId) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let (block, at) = self.place(slot);
        let count = block.count(at).swap(VACANT, Ordering::SeqCst);
        debug_assert!(count < VACANT, "a slot was given back twice");
        if count < VACANT {
            self.live.fetch_sub(1, Ordering::Relaxed);
            slots.free.push(Reverse(slot.0));
        }
    }

    /// Slots in use.
    #[inline]
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
        if self.first.len() <= FEW && self.blocks.load(Ordering::Relaxed) == 1 {
            block.finish_unindexed(at, &self.mean)
        } else {
            block.finish(at, &self.mean)
        }
    }

    /// Tells the mean response time of a slot, in microseconds (200 days at most); `None` when it
    /// is not known. An idle slot without one has the estimate 0.
    pub(crate) fn set_average(&self, slot: SlotId, average: Option<u64>) {
        let (block, at) = self.place(slot);
        let estimate = block.estimate(&self.mean);
        let average = average.map_or(UNKNOWN, |micros| micros.min(LONGEST));
        estimate.averages[at].store(average, Ordering::SeqCst);
        settle();
        estimate.tree().lower(at / FAN, estimate.key(at));
    }

    /// Tells what counts as the average of busy slots that have none, in microseconds: the mean of
    /// the known averages, 0 when there are none. Where it falls this walks over all slots, so it is
    /// for changes of view and for once in a while, not for every attempt.
    pub(crate) fn set_mean(&self, micros: u64) {
        let micros = micros.min(LONGEST);
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

    /// All blocks, each with its first slot.
    fn blocks(&self) -> impl Iterator<Item = (&Block, usize)> {
        let more = self.blocks.load(Ordering::SeqCst) as usize - 1;
        let more = self.more.iter().take(more).enumerate();
        let more = more.filter_map(|(n, block)| Some((&**block.get()?, self.first.len() << n)));
        std::iter::once((&self.first, 0)).chain(more)
    }

    /// Makes the block in which a slot lies. Slots are first handed out in order, so the blocks
    /// before it are there.
    fn make_room(&self, slot: SlotId) {
        let n = slot.0 as usize / self.first.len();
        if let Some(n) = n.checked_ilog2() {
            self.more[n as usize].get_or_init(|| Box::new(Block::new(self.first.len() << n)));
            self.blocks.fetch_max(n + 2, Ordering::SeqCst);
        }
    }

    /// The block of a slot, and its place there.
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

    /// A lower bound of the keys of all slots.
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
