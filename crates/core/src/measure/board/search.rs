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
            let done = self.row(&R::order(board, block), from, 0).is_none();
            if done {
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

    /// Looks through a row of nodes; returns the least key that may be below it, `None` to stop.
    fn row<O: Order>(&mut self, order: &O, from: usize, row: usize) -> Option<u64> {
        let tree = order.tree();
        let nodes = tree.row(row);
        let (mut least, mut open) = (NOTHING, 0_u16);
        for (lane, node) in nodes.iter().enumerate() {
            let bound = node.bound();
            let inside = bound <= self.level;
            open |= u16::from(inside) << lane;
            least = least.min(if inside { NOTHING } else { bound });
        }
        self.next = self.next.min(least);
        for lane in bits(open) {
            let node = &nodes[lane];
            let bound = node.bound();
            let found = match tree.below(row, lane) {
                Below::Group(group) => {
                    let found = self.group(order, from, group)?;
                    if found > bound {
                        node.raise(bound, || order.keys(group).into_iter().fold(NOTHING, u64::min));
                    }
                    found
                }
                Below::Row(below) => {
                    let found = self.row(order, from, below)?;
                    if found > bound {
                        node.raise(bound, || tree.least(below));
                    }
                    found
                }
            };
            least = least.min(found);
        }
        Some(least)
    }

    /// Looks at a group of slots; returns its least key.
    fn group<O: Order>(&mut self, order: &O, from: usize, group: usize) -> Option<u64> {
        let keys = order.keys(group);
        let (mut least, mut ties) = (NOTHING, 0_u16);
        for (lane, key) in keys.iter().enumerate() {
            least = least.min(*key);
            ties |= u16::from(*key <= self.level) << lane;
        }
        let first = from + group * FAN;
        let members = self.members.lanes(first / FAN);
        ties &= members;
        if let Some(admits) = self.admits {
            for lane in bits(ties) {
                if !admits(self.members.position(first + lane)) {
                    ties &= !(1 << lane);
                }
            }
        }
        if ties == 0 {
            for lane in bits(members) {
                if keys[lane] > self.level {
                    self.next = self.next.min(keys[lane]);
                }
            }
            return Some(least);
        }
        self.add(&keys, first, ties);
        (self.total < self.crowd).then_some(least)
    }

    /// Draws between what was found before and the ties of one more group.
    fn add(&mut self, keys: &[u64; FAN], first: usize, mut ties: u16) {
        let low = bits(ties).map(|lane| keys[lane]).fold(self.level, u64::min);
        if low < self.level {
            self.level = low;
            self.total = 0;
            self.crowd = u64::MAX;
        }
        for lane in bits(ties) {
            if keys[lane] > low {
                ties &= !(1 << lane);
            }
        }
        let weight = self.weigh(first, ties);
        self.total += weight;
        if self.total == weight || below(stir(&mut self.chance), self.total) < weight {
            self.drawn = (first, ties, weight);
        }
    }

    fn weigh(&self, first: usize, lanes: u16) -> u64 {
        if self.members.weights.is_empty() {
            return u64::from(lanes.count_ones());
        }
        bits(lanes).map(|lane| self.members.weight(self.members.position(first + lane))).sum()
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
