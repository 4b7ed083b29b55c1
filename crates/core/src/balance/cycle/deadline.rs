//! Earliest deadline first among the turns that have begun. Pure.
//!
//! With w of W turns in a cycle, turn k of a candidate begins at `k W / w` and is due by
//! `(k + 1) W / w`; picks happen at whole instants, so it may be taken at any from the floor of the
//! one up to, but not at, the ceiling of the other. Taken there, the candidate is strictly within
//! one turn of its share after every pick. Unit jobs with whole windows on one machine, for which a
//! fractional schedule exists (everyone at its own rate): earliest deadline first meets them all.
//!
//! Candidates of equal weight have the same windows, so one entry stands for all of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::drawn::Drawn;

/// Soonest first; the number is the class.
type Agenda = BinaryHeap<Reverse<(u64, u32)>>;

/// The running state.
#[derive(Debug)]
pub(super) struct Deadlines {
    /// Turns in a cycle.
    total: u64,
    /// Turns taken so far.
    now: u64,
    /// Taken first, in this order: what carried credit asks for.
    opening: Box<[u32]>,
    /// Positions, class by class.
    members: Box<[u32]>,
    classes: Box<[Class]>,
    /// Classes whose turn has not begun, by its beginning. Every class is in one of the two, and
    /// both have room for all: a pick never allocates.
    waiting: Agenda,
    /// Classes whose turn has begun, by the instant before which all members must have had it.
    begun: Agenda,
}

/// Candidates of one weight. They take a turn one after another, then all begin the next.
#[derive(Debug)]
struct Class {
    weight: u32,
    /// First of its members.
    first: u32,
    /// One past the last.
    end: u32,
    /// The member that is next.
    cursor: u32,
    /// Where the current turn begins, rounded down.
    begins: u64,
    /// What the rounding left out, times `weight`; below `weight`.
    rest: u32,
}

impl Deadlines {
    /// Continues after the turns in `opening`, which must leave every later deadline within reach.
    /// Both are by index into `drawn`; among equals who has more `seed` goes first.
    pub(super) fn new(drawn: &Drawn, seed: &[i64], opening: &[u32]) -> Self {
        let mut served = vec![0_u32; drawn.at.len()];
        for i in opening {
            served[*i as usize] += 1;
        }
        let mut order: Vec<u32> = (0..).take(drawn.at.len()).collect();
        order.sort_by_key(|i| {
            let i = *i as usize;
            // Who has had the turn stands before who has not, and the cursor between them.
            let seed = seed.get(i).copied().unwrap_or(0);
            (Reverse(drawn.weight[i]), Reverse(served[i]), Reverse(seed))
        });
        let equal = |a: &u32, b: &u32| drawn.weight[*a as usize] == drawn.weight[*b as usize];
        let mut first = 0;
        let classes: Box<[Class]> = order
            .chunk_by(equal)
            .map(|members| {
                let turns = members.iter().map(|i| u64::from(served[*i as usize])).sum();
                let weight = drawn.weight[members[0] as usize];
                let class = Class::new(weight, first, members.len() as u32, turns, drawn.total);
                first = class.end;
                class
            })
            .collect();
        let members = order.iter().map(|i| drawn.at[*i as usize]).collect();
        let opening = opening.iter().map(|i| drawn.at[*i as usize]).collect();
        Self::start(drawn.total, opening, members, classes)
    }

    fn start(total: u64, opening: Box<[u32]>, members: Box<[u32]>, classes: Box<[Class]>) -> Self {
        let mut waiting = Agenda::with_capacity(classes.len());
        let number = 0_u32..;
        waiting.extend(number.zip(&classes).map(|(i, class)| Reverse((class.begins, i))));
        let begun = Agenda::with_capacity(classes.len());
        Self { total, now: 0, opening, members, classes, waiting, begun }
    }

    /// Takes a turn: the position that has it.
    pub(super) fn next(&mut self) -> u32 {
        let now = self.now;
        self.now += 1;
        let opening = usize::try_from(now).ok().and_then(|at| self.opening.get(at));
        if let Some(position) = opening {
            return *position;
        }
        while let Some(Reverse((begins, number))) = self.waiting.peek().copied() {
            if begins > now {
                break;
            }
            self.waiting.pop();
            let due = self.classes[number as usize].due(self.total);
            self.begun.push(Reverse((due, number)));
        }
        // Shares sum to one, so somebody is owed a turn and its turn has begun.
        debug_assert!(!self.begun.is_empty(), "nobody's turn has begun");
        let Some(Reverse((due, number))) = self.begun.peek().copied() else { return 0 };
        debug_assert!(due > now, "a turn is late");
        let class = &mut self.classes[number as usize];
        let position = self.members[class.cursor as usize];
        class.cursor += 1;
        if class.cursor == class.end {
            class.advance(self.total);
            self.begun.pop();
            self.waiting.push(Reverse((class.begins, number)));
        }
        position
    }

    /// One cycle from the start.
    pub(super) fn lay_out(mut self) -> Vec<u32> {
        (0..self.total).map(|_| self.next()).collect()
    }

    /// How many turns were taken, and how many of them by each of `n` positions.
    pub(super) fn served(&self, n: usize) -> (u64, Vec<u64>) {
        let mut served = vec![0; n];
        if let Some(opening) = usize::try_from(self.now).ok().and_then(|n| self.opening.get(..n)) {
            for position in opening {
                served[*position as usize] += 1;
            }
            return (self.now, served);
        }
        for class in &self.classes {
            let turn = class.turn(self.total);
            for i in class.first..class.end {
                served[self.members[i as usize] as usize] = turn + u64::from(i < class.cursor);
            }
        }
        (self.now, served)
    }
}

impl Class {
    /// `len` members from `first` on that have had `turns` turns together.
    fn new(weight: u32, first: u32, len: u32, turns: u64, total: u64) -> Self {
        let turn = u128::from(turns / u64::from(len)) * u128::from(total);
        let cursor = first + (turns % u64::from(len)) as u32;
        let begins = (turn / u128::from(weight)) as u64;
        let rest = (turn % u128::from(weight)) as u32;
        Self { weight, first, end: first + len, cursor, begins, rest }
    }

    /// The instant before which the current turn must be taken.
    fn due(&self, total: u64) -> u64 {
        let weight = u64::from(self.weight);
        self.begins + total / weight + (u64::from(self.rest) + total % weight).div_ceil(weight)
    }

    fn advance(&mut self, total: u64) {
        let weight = u64::from(self.weight);
        let rest = u64::from(self.rest) + total % weight;
        self.begins += total / weight + rest / weight;
        self.rest = (rest % weight) as u32;
        self.cursor = self.first;
    }

    /// Turns that every member has had.
    fn turn(&self, total: u64) -> u64 {
        let at = u128::from(self.begins) * u128::from(self.weight) + u128::from(self.rest);
        (at / u128::from(total)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pick_never_allocates() {
        let weights: Vec<u32> = (1..=90).chain(1..=90).collect();
        let mut deadlines = Deadlines::new(&Drawn::new(&weights).unwrap(), &[], &[]);
        let room = (deadlines.waiting.capacity(), deadlines.begun.capacity());
        assert!(room.0 >= 90 && room.1 >= 90);
        for _ in 0..10_000 {
            deadlines.next();
        }
        assert_eq!(room, (deadlines.waiting.capacity(), deadlines.begun.capacity()));
    }
}
