//! The first turns after a change, where carried credit has its say. Pure.
//!
//! Credit shifts the windows of a candidate: owed half a turn, its turns begin and are due half a
//! turn earlier. Earliest deadline first in the shifted windows is what would have happened without
//! the change, and levels what everyone is owed. But shifted windows need not fit together, and the
//! bound of one turn counts from the change. So a turn goes where credit asks as long as every window
//! of [`Deadlines`](super::deadline::Deadlines) stays within reach, else to the earliest deadline.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::credit::TURN;
use super::drawn::Drawn;
use super::slack::Slack;

/// The shortest opening, in turns, unless a cycle is shorter.
const SHORTEST: u64 = 4096;

/// The longest. [`Slack`] relies on it.
const LONGEST: u64 = 16_384;

/// The opening, by index into `drawn`; empty without credit.
///
/// It lasts twice as long as the time between changes, which was `pace` turns last time: what comes
/// after it forgets credit, and forgotten at every change that would be a bias.
pub(super) fn turns(drawn: &Drawn, seed: &[i64], pace: u64) -> Vec<u32> {
    if seed.is_empty() {
        return Vec::new();
    }
    let length = pace.saturating_mul(2).clamp(SHORTEST, LONGEST).min(drawn.total);
    Opening::new(drawn, seed).take(length)
}

struct Opening<'a> {
    drawn: &'a Drawn,
    seed: &'a [i64],
    /// Turns taken by each so far.
    served: Vec<u32>,
    slack: Slack,
    /// By what credit wants.
    wanted: Queue,
    /// By the deadlines of the bound.
    due: Queue,
}

impl<'a> Opening<'a> {
    fn new(drawn: &'a Drawn, seed: &'a [i64]) -> Self {
        let n = drawn.at.len();
        let mut opening = Self {
            drawn,
            seed,
            served: vec![0; n],
            slack: Slack::new(drawn),
            wanted: Queue::default(),
            due: Queue::default(),
        };
        for i in (0_u32..).take(n) {
            opening.queue(i);
        }
        opening
    }

    fn take(mut self, length: u64) -> Vec<u32> {
        let mut turns = Vec::with_capacity(length as usize);
        for now in 0..length {
            let wanted = self.wanted.first(now, &self.served);
            let allowed = |i: &u32| self.slack.allows(now, self.due(*i));
            let Some(i) = wanted.filter(allowed).or_else(|| self.due.first(now, &self.served))
            else {
                break;
            };
            self.slack.take(self.due(i));
            self.served[i as usize] += 1;
            self.queue(i);
            turns.push(i);
        }
        turns
    }

    /// Enters the next turn of a candidate. What stands for its last one is out of date by now.
    fn queue(&mut self, i: u32) {
        let (at, turn) = (i as usize, self.served[i as usize]);
        let (weight, total) = (self.drawn.weight[at], self.drawn.total);
        let begins = (u128::from(turn) * u128::from(total) / u128::from(weight)) as u64;
        let due = self.due(i);
        self.due.push(Entry { begins, by: due, i, turn });

        // A preference only, so rounding is harmless. Conversions to integers saturate: what began
        // before the change begins at 0.
        let apart = total as f64 / f64::from(weight);
        let shifted = f64::from(turn) - self.seed[at] as f64 / TURN as f64;
        let begins = begins.max((shifted * apart) as u64);
        let by = ((shifted + 1.0) * apart * 256.0) as u64;
        self.wanted.push(Entry { begins, by, i, turn });
    }

    /// The instant before which the next turn of a candidate must be taken.
    fn due(&self, i: u32) -> u64 {
        due(self.served[i as usize], self.drawn.weight[i as usize], self.drawn.total)
    }
}

/// The instant before which turn number `turn` must be taken for the bound to hold.
pub(super) fn due(turn: u32, weight: u32, total: u64) -> u64 {
    let end = (u128::from(turn) + 1) * u128::from(total);
    end.div_ceil(u128::from(weight)) as u64
}

/// A turn of a candidate.
#[derive(Clone, Copy)]
struct Entry {
    begins: u64,
    /// When it should be taken; only the order counts.
    by: u64,
    i: u32,
    turn: u32,
}

/// Turns by when they should be taken, once they have begun. Out of date entries are skipped.
#[derive(Default)]
struct Queue {
    waiting: BinaryHeap<Reverse<(u64, u32, u32, u64)>>,
    begun: BinaryHeap<Reverse<(u64, u32, u32)>>,
}

impl Queue {
    fn push(&mut self, entry: Entry) {
        let Entry { begins, by, i, turn } = entry;
        self.waiting.push(Reverse((begins, i, turn, by)));
    }

    /// The first of those begun; stays in the queue.
    fn first(&mut self, now: u64, served: &[u32]) -> Option<u32> {
        while let Some(Reverse((begins, i, turn, by))) = self.waiting.peek().copied()
            && begins <= now
        {
            self.waiting.pop();
            self.begun.push(Reverse((by, i, turn)));
        }
        while let Some(Reverse((_, i, turn))) = self.begun.peek().copied() {
            if served[i as usize] == turn {
                return Some(i);
            }
            self.begun.pop();
        }
        None
    }
}
