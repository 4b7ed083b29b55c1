//! Smooth weighted round robin over few candidates: one pass per turn. Pure.

use super::credit::{self, TURN};
use super::drawn::Drawn;

/// How much a unit of weight counts. Fine enough for carried credit, and 64 weights of 32 bits stay
/// below 2^60.
const UNIT: i64 = 1 << 22;

/// Credit begins within one turn, so that one cycle levels it in practice; beyond this many the
/// rule is followed turn by turn instead of from a table.
const CYCLES_TO_LEVEL: usize = 4;

/// The running state of the rule.
#[derive(Clone, Debug)]
pub(super) struct Smooth {
    each: Box<[Each]>,
    /// The sum of all weights, which a pick costs.
    total: i64,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Each {
    current: i64,
    weight: i64,
    at: u32,
}

impl Smooth {
    /// Starts from the credits in `seed`, which may be empty.
    pub(super) fn new(drawn: &Drawn, seed: &[i64]) -> Self {
        let each = drawn.at.iter().zip(&drawn.weight).enumerate();
        let each = each.map(|(i, (at, weight))| Each {
            current: seed.get(i).map_or(0, |credit| current(*credit, drawn.total)),
            weight: i64::from(*weight) * UNIT,
            at: *at,
        });
        Self { each: each.collect(), total: drawn.total as i64 * UNIT }
    }

    /// Takes a turn: the position that has it.
    pub(super) fn next(&mut self) -> u32 {
        let (mut winner, mut most) = (0, i64::MIN);
        for (i, each) in self.each.iter_mut().enumerate() {
            each.current += each.weight;
            if each.current > most {
                (winner, most) = (i, each.current);
            }
        }
        let Some(winner) = self.each.get_mut(winner) else { return 0 };
        winner.current -= self.total;
        winner.at
    }

    /// The turns until the order repeats, followed by one cycle, and how many come before it.
    ///
    /// Without carried credit it repeats from the start. `None` if it does not repeat soon.
    pub(super) fn lay_out(&self) -> Option<(Vec<u32>, usize)> {
        let cycle = usize::try_from(self.total / UNIT).ok()?;
        let (mut turns, mut state) = (Vec::with_capacity(cycle), self.clone());
        for _ in 0..CYCLES_TO_LEVEL {
            let before = state.each.clone();
            turns.extend((0..cycle).map(|_| state.next()));
            if state.each == before {
                return Some(trim(turns, cycle));
            }
        }
        None
    }

    /// What each is owed now.
    pub(super) fn credits(&self) -> Vec<i64> {
        let owed = |each: &Each| credit::ratio(i128::from(each.current), self.total as u64);
        self.each.iter().map(owed).collect()
    }
}

/// Cuts `turns`, whose last cycle repeats for ever, to the shortest lead and one cycle.
fn trim(mut turns: Vec<u32>, cycle: usize) -> (Vec<u32>, usize) {
    let mut lead = turns.len() - cycle;
    while lead > 0 && turns[lead - 1] == turns[lead - 1 + cycle] {
        lead -= 1;
    }
    turns.truncate(lead + cycle);
    (turns, lead)
}

/// A credit in units of weight times [`UNIT`].
fn current(credit: i64, total: u64) -> i64 {
    match credit::weights(credit, total) {
        Some(weights) => weights * UNIT,
        None => (i128::from(credit) * i128::from(total) / i128::from(TURN / UNIT)) as i64,
    }
}
