//! Which attempt at an endpoint has been waiting longest. Knows no clock and no attempt, only when
//! each began.
//!
//! # Cost
//!
//! Start and finish hold a lock for a few instructions and allocate only when more attempts are in
//! flight than ever since none was; reading the oldest takes no lock. 16 bytes per attempt.
//!
//! # State
//!
//! A list in the order of starts, linked through the slots of one vector, so that an attempt is
//! taken out of its middle at once.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The attempts at one endpoint that have not ended.
#[derive(Debug)]
pub struct Outstanding {
    /// Start of the oldest, for readers; written with the lock held.
    oldest: AtomicI64,
    list: Mutex<List>,
}

/// One attempt that has started. Handed back to the [`Outstanding`] it came from, once: it can be
/// neither copied nor kept.
#[derive(Debug, Eq, PartialEq)]
#[must_use = "an attempt that is never finished stays the oldest for ever"]
pub struct Token(u32);

impl Outstanding {
    /// None.
    pub fn new() -> Self {
        Self { oldest: AtomicI64::new(NEVER), list: Mutex::new(List::default()) }
    }

    /// An attempt starts at `now_ms`. If the clock has stepped back, it counts as started together
    /// with the one before it.
    pub fn start(&self, now_ms: i64) -> Token {
        let mut list = self.lock();
        let token = list.append(now_ms);
        self.oldest.store(list.oldest(), Relaxed);
        token
    }

    /// An attempt has ended, however that was.
    pub fn finish(&self, token: Token) {
        let mut list = self.lock();
        list.remove(token);
        self.oldest.store(list.oldest(), Relaxed);
    }

    /// When the oldest attempt started; `None` if none is in flight.
    pub fn oldest(&self) -> Option<i64> {
        Some(self.oldest.load(Relaxed)).filter(|start| *start != NEVER)
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Outstanding {
    fn default() -> Self {
        Self::new()
    }
}

/// Start of no attempt.
const NEVER: i64 = i64::MAX;

/// The place that no slot has.
const NOWHERE: u32 = u32::MAX;

/// What stands before a slot that holds no attempt.
const FREE: u32 = u32::MAX - 1;

/// Slots that are kept for the next attempts when the last one has ended.
const KEPT: usize = 1024;

#[derive(Debug)]
struct Slot {
    started_ms: i64,
    /// The attempt before this one, [`NOWHERE`], or [`FREE`].
    earlier: u32,
    /// The attempt after this one or, of a free slot, the next free one.
    later: u32,
}

#[derive(Debug)]
struct List {
    slots: Vec<Slot>,
    first: u32,
    last: u32,
    free: u32,
}

impl Default for List {
    fn default() -> Self {
        Self { slots: Vec::new(), first: NOWHERE, last: NOWHERE, free: NOWHERE }
    }
}

impl List {
    fn slot(&mut self, at: u32) -> Option<&mut Slot> {
        self.slots.get_mut(at as usize)
    }

    fn oldest(&self) -> i64 {
        self.slots.get(self.first as usize).map_or(NEVER, |slot| slot.started_ms)
    }

    fn append(&mut self, now_ms: i64) -> Token {
        let before = self.last;
        let latest = self.slot(before).map_or(i64::MIN, |slot| slot.started_ms);
        // One less than what stands for no attempt.
        let started_ms = now_ms.max(latest).min(NEVER - 1);
        let new = Slot { started_ms, earlier: before, later: NOWHERE };
        let at = match self.slots.get_mut(self.free as usize) {
            Some(slot) => {
                let next_free = slot.later;
                *slot = new;
                std::mem::replace(&mut self.free, next_free)
            }
            None => {
                self.slots.push(new);
                self.slots.len() as u32 - 1
            }
        };
        match self.slot(before) {
            Some(slot) => slot.later = at,
            None => self.first = at,
        }
        self.last = at;
        Token(at)
    }

    fn remove(&mut self, Token(at): Token) {
        let free = self.free;
        // A token of another endpoint may name a slot that is not taken here.
        let Some(slot) = self.slot(at).filter(|slot| slot.earlier != FREE) else { return };
        let (earlier, later) = (slot.earlier, slot.later);
        (slot.earlier, slot.later) = (FREE, free);
        self.free = at;
        match self.slot(earlier) {
            Some(slot) => slot.later = later,
            None => self.first = later,
        }
        match self.slot(later) {
            Some(slot) => slot.earlier = earlier,
            None => self.last = earlier,
        }
        if self.first == NOWHERE && self.slots.len() > KEPT {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests;
