//! One round of a pick by index: everything whose key is at most a level, found along the bounds.
//! Raises the bounds that it finds too low.

use super::members::{Admits, Members, below, stir};
use super::node::NOTHING;
use super::order::{Order, Rank};
use super::tree::{Below, FAN};
use super::Board;

/// A round, and what it has found so far.
pub(super) struct Search<'a> {
    members: &'a Members,
    admits: Admits<'a>,
    chance: u64,
    /// Keys above are not looked for.
    level: u64,
    /// The least key above the level that a member may have.
    next: u64,
    /// Weight of all that were found.
    total: u64,
    /// Weight from which on drawing is cheaper than going on.
    crowd: u64,
    /// The group that was drawn among those with a tie: its first slot, the lanes, their weight.
    drawn: (usize, u16, u64),
}

/// How a round ended.
pub(super) enum Found {
    /// Members with this key, the least.
    Some(u64),
    /// So many that the round was broken off.
    Many,
    /// No member; the least key that one may have.
    None(u64),
}

impl<'a> Search<'a> {
    pub(super) fn new(members: &'a Members, level: u64, chance: u64, admits: Admits<'a>) -> Self {
        Self {
            members,
            admits,
            chance,
            level,
            next: NOTHING,
            total: 0,
            crowd: 0,
            drawn: (0, 0, 0),
        }
    }

    pub(super) fn run<R: Rank>(&mut self, board: &Board, crowd: u64) -> Found {
        self.crowd = crowd;
        let level = self.level;
        for (block, from) in board.blocks() {
            if self.row(&R::order(board, block), from, 0).is_none() {
                break;
            }
        }
        if self.total == 0 {
            return Found::None(self.next);
        }
        // A key below the level was written after the level was read: then there is no crowd.
        if self.total >= crowd && self.level == level { Found::Many } else { Found::Some(self.level) }
    }

    /// Random bits that have not been used.
    pub(super) fn chance(&self) -> u64 {
        self.chance
    }

    /// Looks at all groups below a row that may have a key within the level, and raises the bounds
    /// of those that have none. Says whether there is one, `None` to stop.
    fn row<O: Order>(&mut self, order: &O, from: usize, row: usize) -> Option<bool> {
        let nodes = order.tree().row(row);
        let (mut next, mut open) = (self.next, 0_u16);
        for (lane, node) in nodes.iter().enumerate() {
            let bound = node.bound();
            let inside = bound <= self.level;
            open |= u16::from(inside) << lane;
            next = next.min(if inside { NOTHING } else { bound });
        }
        self.next = next;
        let mut any = false;
        for lane in bits(open) {
            let seen = nodes[lane].bound();
            let (below, within) = match order.tree().below(row, lane) {
                Below::Group(group) => (Below::Group(group), self.group(order, from, group)?),
                Below::Row(below) => (Below::Row(below), self.row(order, from, below)?),
            };
            any |= within;
            if !within {
                nodes[lane].raise(seen, || match below {
                    Below::Group(group) => order.least(group),
                    Below::Row(below) => order.tree().least(below),
                });
            }
        }
        Some(any)
    }

    /// Looks at a group of slots. Says whether a key is within the level, `None` to stop.
    #[inline(always)]
    fn group<O: Order>(&mut self, order: &O, from: usize, group: usize) -> Option<bool> {
        let least = order.least(group);
        if least > self.level {
            self.next = self.next.min(least);
            return Some(false);
        }
        let first = from + group * FAN;
        let within = order.within(group, self.level);
        let ties = self.admitted(first, within & self.members.lanes(first / FAN));
        if ties == 0 {
            self.note_next(order, group);
        } else if least < self.level {
            self.sink(order, group, first, ties);
        } else {
            self.add(first, ties);
        }
        (self.total < self.crowd).then_some(true)
    }

    #[inline(always)]
    fn admitted(&self, first: usize, mut lanes: u16) -> u16 {
        if let Some(admits) = self.admits {
            for lane in bits(lanes) {
                if !admits(self.members.position(first + lane)) {
                    lanes &= !(1 << lane);
                }
            }
        }
        lanes
    }

    /// Of a group in which only others are within the level: the least key above it.
    #[cold]
    fn note_next<O: Order>(&mut self, order: &O, group: usize) {
        for lane in 0..FAN {
            let key = order.key(group * FAN + lane);
            if key > self.level {
                self.next = self.next.min(key);
            }
        }
    }

    /// Takes the level down to the least of these, since a key fell below it after it was read.
    #[cold]
    fn sink<O: Order>(&mut self, order: &O, group: usize, first: usize, ties: u16) {
        let key = |lane| order.key(group * FAN + lane);
        let level = bits(ties).map(key).fold(self.level, u64::min);
        if level < self.level {
            (self.level, self.total, self.crowd) = (level, 0, u64::MAX);
        }
        let ties = bits(ties).filter(|lane| key(*lane) <= level).fold(0, |set, lane| set | 1 << lane);
        if ties != 0 {
            self.add(first, ties);
        }
    }

    /// Draws between what was found before and the ties of one more group.
    #[inline(always)]
    fn add(&mut self, first: usize, ties: u16) {
        let weight = self.weigh(first, ties);
        self.total += weight;
        if self.total == weight || below(stir(&mut self.chance), self.total) < weight {
            self.drawn = (first, ties, weight);
        }
    }

    #[inline(always)]
    fn weigh(&self, first: usize, lanes: u16) -> u64 {
        bits(lanes).map(|lane| self.members.weight_at(first + lane)).sum()
    }

    /// One of the ties that were found, drawn by weight.
    pub(super) fn chosen(&mut self) -> Option<usize> {
        let (first, ties, weight) = self.drawn;
        let mut left = if ties.is_power_of_two() { 0 } else { below(stir(&mut self.chance), weight) };
        bits(ties).map(|lane| self.members.position(first + lane)).find(|position| {
            let weight = self.members.weight(*position);
            let hit = left < weight;
            left = left.wrapping_sub(weight);
            hit
        })
    }
}

/// The bits that are set, from the lowest.
pub(super) fn bits(mut set: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (lane < FAN).then_some(lane)
    })
}
