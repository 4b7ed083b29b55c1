//! The turns of weighted round robin over one set of candidates, shared by all threads. Pure
//! arithmetic on weights: knows no endpoint, no clock and no chance. Positions are those of the
//! candidate list.
//!
//! # Rule
//!
//! Up to 64 candidates: smooth weighted round robin. Each candidate's credit grows by its weight,
//! the first one with the greatest credit is picked and pays the sum of the weights. Above: earliest
//! deadline first among the turns that have begun, which keeps every candidate strictly within one
//! turn of its share at every instant (the smooth rule reaches 1.35 there). In both, a cycle of
//! `sum / gcd` picks gives each candidate exactly its weight. A weight of 0 has no turn while
//! another is positive; all 0 take equal turns.
//!
//! # Cost
//!
//! A pick is one shared atomic addition and one table read, whatever the number of candidates: no
//! lock, no allocation, no waiting. Cycles above 65 536 turns are not laid out as a table: there a
//! pick takes a short lock, for one pass over at most 64 candidates or an amortized O(log d), with
//! d different weights. Building costs O(turns · candidates) up to 64 candidates; above, O(turns), and
//! after a change O(log n) for each of the first 4 096 to 16 384 turns.
//!
//! # State
//!
//! A position in the table. What a candidate is owed follows from it; when weights or candidates
//! change, [`Rotation::succeed`] carries that over once: measured in turns, not more than one either
//! way, never zeroed. A newcomer and a weight of 0 start without.
//!
//! Up to 64 candidates the carried credit is where the smooth rule starts from. Above, the bound of
//! one turn holds anew from the change on, and within it the first turns go where credit asks.
//!
//! # Dubbo
//!
//! `RoundRobinLoadBalance` (3.3) gives the same order while nothing changes. It zeroes the credit of
//! a weight that changes, so that warming providers starve or flood; keeps the credit of one that
//! left for a minute, so that a weight of 0 can win; and gives all turns to the first when all
//! weights are 0.
//!
//! # References
//!
//! The smooth rule is nginx's (`ngx_http_upstream_round_robin`, 2012). The bound: R. Tijdeman, *The
//! chairman assignment problem*, Discrete Mathematics 32, 1980; S. Baruah et al., *Proportionate
//! progress*, Algorithmica 15, 1996.

mod credit;
mod deadline;
mod drawn;
#[cfg(all(test, loom))]
mod model;
mod opening;
mod slack;
mod smooth;
#[cfg(test)]
mod tests;
mod wheel;

use std::sync::{Arc, PoisonError};

use self::credit::TURN;
use self::deadline::Deadlines;
use self::drawn::Drawn;
use self::smooth::Smooth;
use self::wheel::Wheel;
use crate::sync::Mutex;

/// Up to this many candidates the order is that of smooth weighted round robin.
const SMOOTH_UP_TO: usize = 64;

/// The longest cycle that is laid out as a table, in turns (4 bytes each).
const LONGEST_TABLE: u64 = 65_536;

/// Whose turn it is: the shared state of weighted round robin over one list of candidates.
#[derive(Debug)]
pub struct Rotation {
    weights: Arc<[u32]>,
    total: u64,
    /// What each drawn candidate was owed at the start; empty when nobody was owed anything.
    seed: Box<[i64]>,
    order: Order,
}

#[derive(Debug)]
enum Order {
    Wheel(Wheel),
    /// Cycles too long for a table.
    Smooth(Mutex<Smooth>),
    Deadlines(Mutex<Deadlines>),
}

impl Rotation {
    /// A rotation in which nobody is owed anything; `None` without candidates.
    ///
    /// `weights` are the effective ones, in list order; their sum may exceed 32 bits.
    pub fn new(weights: &[u32]) -> Option<Self> {
        let drawn = Drawn::new(weights)?;
        Some(Self::build(weights.into(), &drawn, Box::default(), 0))
    }

    /// The rotation that follows `old` after a change of weights or candidates.
    ///
    /// `previous` maps a position in the new list to the one that the same candidate had in the old
    /// list, `None` for a newcomer. Picks that other threads take from `old` meanwhile are not
    /// counted. `None` without candidates.
    pub fn succeed(
        old: &Self,
        previous: impl Fn(usize) -> Option<usize>,
        weights: &[u32],
    ) -> Option<Self> {
        let drawn = Drawn::new(weights)?;
        let (pace, credits) = old.credits();
        let carried = drawn.at.iter().map(|position| {
            // A turn taken while nothing had a weight says nothing about weights, nor the reverse.
            let comparable = old.is_idle() == drawn.idle;
            let before = previous(*position as usize).filter(|_| comparable)?;
            credits.get(before).copied().flatten()
        });
        // Above, the bound rules out bursts, and up to one turn from before the change may meet one
        // from after it.
        let limit = if weights.len() <= SMOOTH_UP_TO { TURN } else { 2 * TURN };
        let seed = credit::settle(carried.collect(), limit, drawn.total);
        Some(Self::build(weights.into(), &drawn, seed, pace))
    }

    /// A rotation over the same candidates and weights that starts anew, for another method; it
    /// shares the table where it can.
    pub fn restart(&self) -> Self {
        let (weights, total, seed) = (self.weights.clone(), self.total, Box::default());
        match &self.order {
            Order::Wheel(wheel) if self.seed.is_empty() => {
                Self { weights, total, seed, order: Order::Wheel(wheel.restart()) }
            }
            _ => {
                let drawn = Drawn::new(&weights).unwrap_or_default();
                Self::build(weights, &drawn, seed, 0)
            }
        }
    }

    /// Takes the next turn: the position of the candidate that has it.
    #[inline]
    pub fn next(&self) -> usize {
        match &self.order {
            Order::Wheel(wheel) => wheel.next() as usize,
            Order::Smooth(smooth) => lock(smooth).next() as usize,
            Order::Deadlines(deadlines) => lock(deadlines).next() as usize,
        }
    }

    /// The weights it was made for.
    pub fn weights(&self) -> &[u32] {
        &self.weights
    }

    /// The exact long-run share (0 to 1) of the candidate at `position`; 0 beyond the list.
    pub fn share(&self, position: usize) -> f64 {
        match self.weights.get(position) {
            Some(_) if self.is_idle() => 1.0 / self.weights.len() as f64,
            Some(weight) => f64::from(*weight) / self.total as f64,
            None => 0.0,
        }
    }

    /// The turns from the start to the end of the first cycle that repeats, when laid out as a
    /// table.
    pub fn turns(&self) -> Option<&[u32]> {
        match &self.order {
            Order::Wheel(wheel) => Some(wheel.turns()),
            _ => None,
        }
    }

    fn build(weights: Arc<[u32]>, drawn: &Drawn, seed: Box<[i64]>, pace: u64) -> Self {
        let order = if weights.len() <= SMOOTH_UP_TO {
            smooth_order(drawn, &seed)
        } else {
            deadline_order(drawn, &seed, pace)
        };
        let total = weights.iter().copied().map(u64::from).sum();
        Self { weights, total, seed, order }
    }

    fn is_idle(&self) -> bool {
        self.total == 0
    }

    /// How many turns were taken since the start of the cycle or the last change, and what each
    /// candidate is owed now, in units of [`TURN`]; `None` for who has no turns.
    fn credits(&self) -> (u64, Vec<Option<i64>>) {
        let drawn = Drawn::new(&self.weights).unwrap_or_default();
        let n = self.weights.len();
        let (taken, owed) = match &self.order {
            Order::Smooth(smooth) => (0, lock(smooth).credits()),
            Order::Wheel(wheel) => self.owed(&drawn, wheel.served(n)),
            Order::Deadlines(deadlines) => self.owed(&drawn, lock(deadlines).served(n)),
        };
        let mut credits = vec![None; n];
        for (position, owed) in drawn.at.iter().zip(owed) {
            credits[*position as usize] = Some(owed);
        }
        (taken, credits)
    }

    /// The credit of each drawn candidate after `taken` turns, of which position p had `served[p]`.
    fn owed(&self, drawn: &Drawn, (taken, served): (u64, Vec<u64>)) -> (u64, Vec<i64>) {
        let each = drawn.at.iter().zip(&drawn.weight).enumerate();
        let owed = each.map(|(i, (position, weight))| {
            let seed = self.seed.get(i).copied().unwrap_or(0);
            let served = served[*position as usize];
            seed.saturating_add(credit::owed(taken, *weight, drawn.total, served))
        });
        (taken, owed.collect())
    }
}

fn smooth_order(drawn: &Drawn, seed: &[i64]) -> Order {
    let smooth = Smooth::new(drawn, seed);
    let short = drawn.total <= LONGEST_TABLE;
    match short.then(|| smooth.lay_out()).flatten() {
        Some((turns, lead)) => Order::Wheel(Wheel::new(turns, lead)),
        None => Order::Smooth(Mutex::new(smooth)),
    }
}

fn deadline_order(drawn: &Drawn, seed: &[i64], pace: u64) -> Order {
    let opening = opening::turns(drawn, seed, pace);
    let deadlines = Deadlines::new(drawn, seed, &opening);
    if drawn.total <= LONGEST_TABLE {
        Order::Wheel(Wheel::new(deadlines.lay_out(), 0))
    } else {
        Order::Deadlines(Mutex::new(deadlines))
    }
}

/// A pick cannot leave the state half changed, so a lock that a panic poisoned is still good.
fn lock<T>(mutex: &Mutex<T>) -> impl std::ops::DerefMut<Target = T> + '_ {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
