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
pub(super) const LONGEST: u64 = 16_384;

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
    /// By the deadlines of the bound; made when credit is first refused.
    due: Option<Queue>,
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
            due: None,
        };
        for i in opening.all() {
            opening.wanted.push(opening.wanted_window(i), i, 0);
        }
        opening
    }

    fn take(mut self, length: u64) -> Vec<u32> {
        let mut turns = Vec::with_capacity(length as usize);
        for now in 0..length {
            let wanted = self.wanted.first(now, &self.served);
            let allowed = |i: &u32| self.slack.allows(now, self.due_window(*i).1);
            let Some(i) = wanted.filter(allowed).or_else(|| self.first_due(now)) else { break };
            self.slack.take(self.due_window(i).1);
            // What stands for this turn in the queues is out of date from here on.
            self.served[i as usize] += 1;
            let turn = self.served[i as usize];
            self.wanted.push(self.wanted_window(i), i, turn);
            let window = self.due_window(i);
            if let Some(due) = &mut self.due {
                due.push(window, i, turn);
            }
            turns.push(i);
        }
        turns
    }

    fn first_due(&mut self, now: u64) -> Option<u32> {
        let mut due = self.due.take().unwrap_or_else(|| {
            let mut all = Queue::default();
            for i in self.all() {
                all.push(self.due_window(i), i, self.served[i as usize]);
            }
            all
        });
        let first = due.first(now, &self.served);
        self.due = Some(due);
        first
    }

    fn all(&self) -> impl Iterator<Item = u32> + use<> {
        (0..).take(self.served.len())
    }

    /// When the next turn of a candidate begins, and before which instant it must be taken.
    fn due_window(&self, i: u32) -> (u64, u64) {
        let (turn, weight) = (self.served[i as usize], self.drawn.weight[i as usize]);
        let begins = u128::from(turn) * u128::from(self.drawn.total) / u128::from(weight);
        (begins as u64, due(turn, weight, self.drawn.total))
    }

    /// The same as credit wants it; it cannot begin before the bound lets it.
    fn wanted_window(&self, i: u32) -> (u64, u64) {
        let apart = self.drawn.total as f64 / f64::from(self.drawn.weight[i as usize]);
        let owed = self.seed[i as usize] as f64 / TURN as f64;
        let shifted = f64::from(self.served[i as usize]) - owed;
        // A preference only, so rounding is harmless. Conversions to integers saturate: what began
        // before the change begins at 0.
        let begins = self.due_window(i).0.max((shifted * apart) as u64);
        (begins, ((shifted + 1.0) * apart * 256.0) as u64)
    }
}

/// The instant before which turn number `turn` must be taken for the bound to hold.
pub(super) fn due(turn: u32, weight: u32, total: u64) -> u64 {
    let end = (u128::from(turn) + 1) * u128::from(total);
    end.div_ceil(u128::from(weight)) as u64
}

/// Turns by when they should be taken, once they have begun. Out of date entries are skipped.
#[derive(Default)]
struct Queue {
    /// Beginning, candidate, number of the turn, and by when it should be taken.
    waiting: BinaryHeap<Reverse<(u64, u32, u32, u64)>>,
    /// By when it should be taken, candidate, number of the turn.
    begun: BinaryHeap<Reverse<(u64, u32, u32)>>,
}

impl Queue {
    fn push(&mut self, (begins, by): (u64, u64), i: u32, turn: u32) {
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
