//! One round of a pick by index: the members whose keys are at most a level, found along the
//! bounds. Raises the bounds that it finds too low.

use super::Board;
use super::members::{Admits, Members, below, stir};
use super::node::{NOTHING, Node};
use super::order::{Order, Rank};
use super::tree::{Below, FAN};

/// A round, and what it has found so far.
pub(super) struct Search<'a> {
    members: &'a Members,
    admits: Admits<'a>,
    chance: u64,
    /// Whether all slots in use may be taken, as far as known.
    whole: bool,
    /// Keys above are not looked for.
    level: u64,
    /// The least key above the level that a member may have.
    next: u64,
    /// Weight of the members found.
    total: u64,
    /// Weight from which on drawing is cheaper than to go on.
    many: u64,
    /// The group that was drawn among those with members found: its first slot, their lanes, their
    /// weight.
    drawn: (usize, u16, u64),
}

/// How a round ended.
pub(super) enum Found {
    /// Members with this key, which is the least.
    Some(u64),
    /// So many with the least key that the round was broken off.
    Many,
    /// No member. The least key that one may have.
    None(u64),
}

impl<'a> Search<'a> {
    pub(super) fn new(
        members: &'a Members,
        level: u64,
        chance: u64,
        admits: Admits<'a>,
        whole: bool,
    ) -> Self {
        let (next, total, many, drawn) = (NOTHING, 0, 0, (0, 0, 0));
        Self { members, admits, chance, whole, level, next, total, many, drawn }
    }

    pub(super) fn run<R: Rank>(&mut self, board: &Board, many: u64) -> Found {
        self.many = many;
        let level = self.level;
        for (block, from) in board.blocks() {
            if self.row(&R::order(board, block), from, 0).is_none() {
                break;
            }
        }
        if self.total == 0 {
            // If all may be taken, all that was found too low has been raised.
            Found::None(if self.whole { board.floor::<R>() } else { self.next })
        } else if self.total >= many && self.level == level {
            Found::Many
        } else {
            Found::Some(self.level)
        }
    }

    /// One of the members found, drawn by weight.
    pub(super) fn chosen(&mut self) -> Option<usize> {
        let (first, ties, weight) = self.drawn;
        let single = ties.is_power_of_two();
        let mut left = if single { 0 } else { below(stir(&mut self.chance), weight) };
        bits(ties).map(|lane| self.members.position(first + lane)).find(|position| {
            let weight = self.members.weight(*position);
            let hit = left < weight;
            left = left.wrapping_sub(weight);
            hit
        })
    }

    /// Chance that has not been used.
    pub(super) fn chance(&self) -> u64 {
        self.chance
    }

    /// Looks at all groups below a row that may have a key within the level, and raises the bounds
    /// of those that have none. Says whether there is one; `None` to stop.
    fn row<O: Order>(&mut self, order: &O, from: usize, row: usize) -> Option<bool> {
        let tree = order.tree();
        let nodes = tree.row(row);
        let (level, mut open) = (self.level, 0_u16);
        for (lane, node) in nodes.iter().enumerate() {
            open |= u16::from(node.bound() <= level) << lane;
        }
        if !self.whole {
            self.note_bounds(nodes);
        }
        let mut any = false;
        for lane in bits(open) {
            let seen = nodes[lane].bound();
            let below = tree.below(row, lane);
            let within = match below {
                Below::Group(group) => self.group(order, from, group)?,
                Below::Row(below) => self.row(order, from, below)?,
            };
            any |= within;
            if !within {
                nodes[lane].raise(seen, || match below {
                    Below::Group(group) => order.least(group),
                    Below::Row(below) => tree.least(below),
                });
            }
        }
        Some(any)
    }

    /// Looks at a group of slots. Says whether a key is within the level; `None` to stop.
    #[inline(always)]
    fn group<O: Order>(&mut self, order: &O, from: usize, group: usize) -> Option<bool> {
        let (least, within) = order.look(group, self.level);
        if least > self.level {
            self.next = self.next.min(least);
            return Some(false);
        }
        let first = from + group * FAN;
        let ties = self.admitted(first, within & self.members.lanes(first / FAN));
        if ties == 0 {
            self.note_keys(order, group);
        } else if least < self.level {
            self.sink(order, group, first, ties);
        } else {
            self.add(first, ties);
        }
        (self.total < self.many).then_some(true)
    }

    #[inline(always)]
    fn admitted(&self, first: usize, mut lanes: u16) -> u16 {
        if let Some(admits) = self.admits {
            for lane in bits(lanes) {
                let admitted = admits(self.members.position(first + lane));
                lanes &= !(u16::from(!admitted) << lane);
            }
        }
        lanes
    }

    /// Draws between what was found before and the members of one more group.
    #[inline(always)]
    fn add(&mut self, first: usize, ties: u16) {
        let members = self.members;
        let weight = if members.is_even() {
            u64::from(ties.count_ones())
        } else {
            bits(ties).map(|lane| members.weight(members.position(first + lane))).sum()
        };
        self.total += weight;
        if self.total == weight || below(stir(&mut self.chance), self.total) < weight {
            self.drawn = (first, ties, weight);
        }
    }

    /// Goes down to the least key of these, since one fell after the level had been read.
    #[cold]
    fn sink<O: Order>(&mut self, order: &O, group: usize, first: usize, ties: u16) {
        let key = |lane| order.key(group * FAN + lane);
        let level = bits(ties).map(key).fold(self.level, u64::min);
        if level < self.level {
            (self.level, self.total, self.many) = (level, 0, u64::MAX);
        }
        let ties =
            bits(ties).filter(|lane| key(*lane) <= level).fold(0, |all, lane| all | 1 << lane);
        if ties != 0 {
            self.add(first, ties);
        }
    }

    /// Remembers the least bound above the level.
    fn note_bounds(&mut self, nodes: &[Node; FAN]) {
        let above = nodes.iter().map(Node::bound).filter(|bound| *bound > self.level);
        self.next = above.fold(self.next, u64::min);
    }

    /// Remembers the least key above the level, in a group where only others are within it.
    #[cold]
    fn note_keys<O: Order>(&mut self, order: &O, group: usize) {
        let keys = (0..FAN).map(|lane| order.key(group * FAN + lane));
        self.next = keys.filter(|key| *key > self.level).fold(self.next, u64::min);
    }
}

/// The bits that are set, from the lowest.
#[inline(always)]
fn bits(mut set: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (lane < FAN).then_some(lane)
    })
}
