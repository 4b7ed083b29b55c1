//! search
use super::block::Order;
use super::node::NOTHING;
use super::tree::{Below, FAN};
use super::members::{Admits, Members, below, step};
use super::{Board, Rank};
use crate::sync::Ordering;

pub(super) struct Search<'a> {
    pub(super) members: &'a Members,
    pub(super) seed: u64,
    pub(super) admits: Admits<'a>,
    /// Keys above are not looked for.
    pub(super) limit: u64,
    /// The least key above the limit that was seen or can be.
    pub(super) next: u64,
    /// Weight of all found.
    pub(super) total: u64,
    /// First slot of the group that was drawn, which of its slots are tied, and their weight.
    pub(super) drawn: (usize, u16, u64),
}

impl Search<'_> {
    pub(super) fn board<R: Rank>(&mut self, board: &Board) {
        self.block(&R::order(board, &board.first), 0);
        let mut base = board.capacity;
        for more in board.more.iter().take(board.blocks.load(Ordering::SeqCst) as usize - 1) {
            if let Some(block) = more.get() {
                self.block(&R::order(board, block), base / FAN);
            }
            base *= 2;
        }
    }

    fn block<O: Order>(&mut self, order: &O, base: usize) {
        self.row(order, base, 0);
    }

    fn row<O: Order>(&mut self, order: &O, base: usize, row: usize) -> u64 {
        let tree = order.tree();
        let nodes = tree.row(row);
        let (mut least, mut open) = (NOTHING, 0_u16);
        for (lane, node) in nodes.iter().enumerate() {
            let bound = node.bound();
            let inside = bound <= self.limit;
            open |= u16::from(inside) << lane;
            least = least.min(if inside { NOTHING } else { bound });
        }
        self.next = self.next.min(least);
        for lane in lanes(open) {
            let bound = nodes[lane].bound();
            let found = match tree.below(row, lane) {
                Below::Group(group) => {
                    let found = self.group(order, base, group);
                    if found > bound {
                        nodes[lane].raise(bound, || order.keys(group).into_iter().fold(NOTHING, u64::min));
                    }
                    found
                }
                Below::Row(row) => {
                    let found = self.row(order, base, row);
                    if found > bound {
                        nodes[lane].raise(bound, || tree.least(row));
                    }
                    found
                }
            };
            least = least.min(found);
        }
        least
    }

    fn group<O: Order>(&mut self, order: &O, base: usize, group: usize) -> u64 {
        let keys = order.keys(group);
        let least = keys.iter().copied().fold(NOTHING, u64::min);
        let mask = self.members.mask(base + group);
        if least > self.limit {
            if mask == u16::MAX || mask != 0 {
                self.next = self.next.min(least);
            }
            return least;
        }
        let mut ties = 0_u16;
        for (lane, key) in keys.iter().enumerate() {
            ties |= u16::from(*key <= self.limit) << lane;
        }
        ties &= mask;
        let first = (base + group) * FAN;
        if let Some(admits) = self.admits {
            for lane in lanes(ties) {
                if !admits(self.members.position(first + lane)) {
                    ties &= !(1 << lane);
                }
            }
        }
        if ties == 0 {
            for (lane, key) in keys.iter().enumerate() {
                if mask >> lane & 1 == 1 && *key > self.limit {
                    self.next = self.next.min(*key);
                }
            }
            return least;
        }
        let low = lanes(ties).map(|lane| keys[lane]).fold(NOTHING, u64::min);
        if low < self.limit {
            self.limit = low;
            self.total = 0;
            for lane in lanes(ties) {
                if keys[lane] > low {
                    ties &= !(1 << lane);
                }
            }
        }
        let weight = self.members.weigh(first, ties);
        self.total += weight;
        if self.total == weight || below(step(&mut self.seed), self.total) < weight {
            self.drawn = (first, ties, weight);
        }
        least
    }

    pub(super) fn chosen(&mut self) -> Option<usize> {
        if self.total == 0 {
            return None;
        }
        let (first, ties, weight) = self.drawn;
        if ties.is_power_of_two() {
            return Some(self.members.position(first + ties.trailing_zeros() as usize));
        }
        let mut left = below(step(&mut self.seed), weight);
        for lane in lanes(ties) {
            let position = self.members.position(first + lane);
            let w = self.members.weight(position);
            if left < w {
                return Some(position);
            }
            left -= w;
        }
        None
    }
}

pub(super) fn lanes(mut mask: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
    })
}

