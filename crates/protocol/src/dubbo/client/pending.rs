//! The calls that wait for an answer: one slot each, found by the number that the call travels under.
//! The table is cut into shards with a lock of their own, so that callers rarely meet.
//!
//! A number says where its slot is and how often that slot was used before; a late answer finds a
//! slot that has moved on, and is nobody's.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use crate::dubbo::frame::{FrameError, Header};

const SHARD_BITS: u32 = 4;
const SHARDS: usize = 1 << SHARD_BITS;
const SLOT_BITS: u32 = 12;
/// Slots of one shard.
const SLOTS: usize = 1 << SLOT_BITS;
/// Calls that can wait at once.
pub(crate) const MOST: usize = SHARDS * SLOTS;

/// What came for a call.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Answer {
    /// A response.
    Response(Header, Bytes),
    /// A response that was not read.
    Unread(FrameError),
}

/// The connection was lost before an answer came.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Lost;

/// Why a call cannot wait here.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Refused {
    /// The connection is lost.
    Closed,
    /// [`MOST`] calls wait.
    Full,
}

/// The table of one connection.
#[derive(Debug)]
pub(crate) struct Pending {
    /// Where numbers start: peers and logs should not mix up the calls of two connections.
    base: u64,
    turn: AtomicUsize,
    shards: [Mutex<Shard>; SHARDS],
}

#[derive(Debug, Default)]
#[repr(align(64))] // One per cache line: neighbours must not slow each other down.
struct Shard {
    slots: Vec<Slot>,
    free: Vec<usize>,
    waiting: usize,
    closed: bool,
}

#[derive(Debug)]
struct Slot {
    used: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    Free,
    Waiting(Waker),
    Answered(Answer),
    Lost,
}

impl Pending {
    pub(crate) fn new(base: u64) -> Self {
        Self { base, turn: AtomicUsize::new(0), shards: Default::default() }
    }

    /// A slot for a call that `waker` will wake. The number of the call is the answer.
    pub(crate) fn begin(&self, waker: Waker) -> Result<u64, Refused> {
        let first = self.turn.fetch_add(1, Relaxed);
        for shard in first..first + SHARDS {
            let index = shard % SHARDS;
            let Some(mut shard) = self.lock(index) else { continue };
            if shard.closed {
                return Err(Refused::Closed);
            }
            if let Some((slot, used)) = shard.occupy(waker.clone()) {
                let place = (slot << SHARD_BITS | index) as u64;
                return Ok(self.base.wrapping_add(used << (SLOT_BITS + SHARD_BITS) | place));
            }
        }
        Err(Refused::Full)
    }

    /// The answer to the call `id`, if it is there. Afterwards the slot is free.
    pub(crate) fn poll(&self, id: u64, cx: &mut Context<'_>) -> Poll<Result<Answer, Lost>> {
        let taken = self.with(id, |shard, slot| {
            let state = &mut shard.slots.get_mut(slot)?.state;
            if let State::Waiting(waker) = state {
                waker.clone_from(cx.waker());
                return None;
            }
            shard.vacate(slot)
        });
        match taken {
            // Nobody else takes an answer away.
            None => Poll::Ready(Err(Lost)),
            Some(None) => Poll::Pending,
            Some(Some(State::Answered(answer))) => Poll::Ready(Ok(answer)),
            Some(Some(_)) => Poll::Ready(Err(Lost)),
        }
    }

    /// The call `id` is withdrawn, or has ended.
    pub(crate) fn end(&self, id: u64) {
        // What was there is dropped outside the lock.
        let _ = self.with(id, Shard::vacate);
    }

    /// Hands an answer to the call `id`. Returns whether somebody waits for it.
    pub(crate) fn answer(&self, id: u64, answer: Answer) -> bool {
        let waker = self.with(id, |shard, slot| {
            let state = &mut shard.slots.get_mut(slot)?.state;
            if !matches!(state, State::Waiting(_)) {
                return None;
            }
            shard.waiting -= 1;
            match std::mem::replace(state, State::Answered(answer)) {
                State::Waiting(waker) => Some(waker),
                _ => None,
            }
        });
        match waker.flatten() {
            Some(waker) => {
                waker.wake();
                true
            }
            None => false,
        }
    }

    /// The connection is lost: every call ends now, and none begins.
    pub(crate) fn close(&self) {
        for shard in &self.shards {
            let mut wakers = Vec::new();
            {
                let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
                shard.closed = true;
                shard.waiting = 0;
                for slot in &mut shard.slots {
                    if matches!(slot.state, State::Waiting(_))
                        && let State::Waiting(waker) =
                            std::mem::replace(&mut slot.state, State::Lost)
                    {
                        wakers.push(waker);
                    }
                }
            }
            wakers.into_iter().for_each(Waker::wake);
        }
    }

    /// How many calls wait.
    pub(crate) fn waiting(&self) -> usize {
        (0..SHARDS).filter_map(|index| self.lock(index)).map(|shard| shard.waiting).sum()
    }

    /// Runs `act` on the slot of the call `id`, if that call is still there.
    fn with<R>(&self, id: u64, act: impl FnOnce(&mut Shard, usize) -> R) -> Option<R> {
        let place = id.wrapping_sub(self.base);
        let index = place as usize % SHARDS;
        let slot = (place >> SHARD_BITS) as usize % SLOTS;
        let used = place >> (SLOT_BITS + SHARD_BITS);
        let mut shard = self.lock(index)?;
        let known = shard.slots.get(slot)?;
        if known.used != used || matches!(known.state, State::Free) {
            return None;
        }
        Some(act(&mut shard, slot))
    }

    fn lock(&self, index: usize) -> Option<MutexGuard<'_, Shard>> {
        // Nothing in the critical sections panics half-way.
        Some(self.shards.get(index)?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Shard {
    fn occupy(&mut self, waker: Waker) -> Option<(usize, u64)> {
        let index = match self.free.pop() {
            Some(index) => index,
            None if self.slots.len() < SLOTS => {
                self.slots.push(Slot { used: 0, state: State::Free });
                self.slots.len() - 1
            }
            None => return None,
        };
        let slot = self.slots.get_mut(index)?;
        slot.state = State::Waiting(waker);
        self.waiting += 1;
        Some((index, slot.used))
    }

    fn vacate(&mut self, index: usize) -> Option<State> {
        let slot = self.slots.get_mut(index)?;
        // 48 bits: at a billion calls a second through one slot they last three days, and a repeated
        // number is still one of a call that ended three days ago.
        slot.used = (slot.used + 1) & (u64::MAX >> (SLOT_BITS + SHARD_BITS));
        let state = std::mem::replace(&mut slot.state, State::Free);
        if matches!(state, State::Waiting(_)) {
            self.waiting = self.waiting.saturating_sub(1);
        }
        self.free.push(index);
        Some(state)
    }
}

#[cfg(test)]
#[path = "pending/tests.rs"]
mod tests;
