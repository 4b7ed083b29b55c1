//! A table of turns with one shared position. The only atomic of a rotation.

use std::sync::Arc;

use crate::sync::{AtomicU64, Ordering};

/// Short cycles are repeated up to this many turns, so that the position seldom wraps. The model
/// checks the wrap, so there they stay short.
const REPEATED_TO: usize = if cfg!(loom) { 1 } else { 512 };

/// Turns laid out in a table: a lead that is taken once, then a cycle that is taken for ever.
#[derive(Debug)]
pub(super) struct Wheel {
    /// Turns taken since the start, less whole rounds of the table.
    position: Line,
    /// The lead, then the cycle, maybe several times.
    turns: Arc<[u32]>,
    lead: usize,
    /// Turns of one cycle.
    cycle: usize,
}

/// Alone in its cache lines: what a pick only reads stays in every core's cache while the position
/// moves between them.
#[derive(Debug)]
#[repr(align(128))]
struct Line(AtomicU64);

impl Wheel {
    /// `turns` is the lead and one cycle; the cycle must not be empty.
    pub(super) fn new(mut turns: Vec<u32>, lead: usize) -> Self {
        let cycle = turns.len() - lead;
        debug_assert!(cycle > 0, "a cycle without turns");
        while turns.len() - lead < REPEATED_TO {
            turns.extend_from_within(lead..lead + cycle);
        }
        Self { position: Line(AtomicU64::new(0)), turns: turns.into(), lead, cycle }
    }

    /// The same table from its start.
    pub(super) fn restart(&self) -> Self {
        let position = Line(AtomicU64::new(0));
        Self { position, turns: self.turns.clone(), lead: self.lead, cycle: self.cycle }
    }

    #[inline]
    pub(super) fn next(&self) -> u32 {
        // Nothing else is published through the position, so no order with other memory is needed.
        let position = self.position.0.fetch_add(1, Ordering::Relaxed);
        let turn = usize::try_from(position).ok().and_then(|at| self.turns.get(at));
        turn.copied().unwrap_or_else(|| self.wrap(position))
    }

    /// A position beyond the table: takes it modulo the rounds and tries once to turn the shared
    /// one back by whole rounds. Losing that race costs the next pick this path, nothing else: whole
    /// rounds never change whose turn a position means.
    #[cold]
    fn wrap(&self, position: u64) -> u32 {
        let now = self.position.0.load(Ordering::Relaxed);
        if now >= self.turns.len() as u64 {
            let back = self.within_round(now) as u64;
            let relaxed = Ordering::Relaxed;
            let _ = self.position.0.compare_exchange(now, back, relaxed, relaxed);
        }
        self.turns[self.within_round(position)]
    }

    fn within_round(&self, position: u64) -> usize {
        let (lead, round) = (self.lead as u64, (self.turns.len() - self.lead) as u64);
        let at = if position < lead { position } else { lead + (position - lead) % round };
        at as usize
    }

    /// The lead and one cycle.
    pub(super) fn turns(&self) -> &[u32] {
        &self.turns[..self.lead + self.cycle]
    }

    /// How many turns were taken since the start, whole cycles left out, and how many of them by
    /// each of `n` positions.
    pub(super) fn served(&self, n: usize) -> (u64, Vec<u64>) {
        let mut taken = self.within_round(self.position.0.load(Ordering::Relaxed));
        if taken >= self.lead {
            taken = self.lead + (taken - self.lead) % self.cycle;
        }
        let mut served = vec![0; n];
        for position in &self.turns[..taken] {
            served[*position as usize] += 1;
        }
        (taken as u64, served)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_position_turns_back_by_whole_rounds() {
        let wheel = Wheel::new(vec![9, 8, 0, 1, 2], 2);
        let first: Vec<u32> = (0..5).map(|_| wheel.next()).collect();
        assert_eq!(first, [9, 8, 0, 1, 2]);
        let round = wheel.turns.len() as u64 - 2;
        // As if pickers had been held up for long between taking a position and turning it back.
        for rounds in [1, 2, 1000, u64::MAX / round - 2] {
            wheel.position.0.store(2 + rounds * round + 1, Ordering::Relaxed);
            assert_eq!([wheel.next(), wheel.next(), wheel.next()], [1, 2, 0]);
            assert_eq!(wheel.position.0.load(Ordering::Relaxed), 2 + 4);
            assert_eq!(wheel.served(10).0, 3);
        }
    }
}
