//! Picks that look at every member: the best way for few, and the way out where the index does not
//! help.

use super::Board;
use super::members::{Admits, FEW, Members, below, stir};
use super::order::{Order, Rank};

/// Up to here equal members get a random number each, which needs no guess of the processor.
const PAIRS: usize = 16;
/// Of a random number, what does not name the member.
const NUMBER: u64 = u32::MAX as u64 & !(FEW as u64 - 1);

impl Members {
    /// A least member out of at most [`FEW`].
    #[inline(never)]
    pub(super) fn least_of_few<R: Rank>(&self, board: &Board, chance: u64) -> Option<usize> {
        if R::SHORT && self.weights.is_empty() && self.slots.len() <= PAIRS {
            return self.least_pair::<R>(board, chance);
        }
        let order = R::order(board, &board.first);
        let (mut least, mut ties) = (R::Order::UNUSED - 1, 0_u32);
        for (position, slot) in self.slots.iter().enumerate() {
            let at = slot.0 as usize;
            let key = order.glance(at).unwrap_or_else(|| board.key_later::<R>(at));
            let drawable = u32::from(self.weight(position) > 0);
            let key = if drawable == 0 { u64::MAX } else { key };
            ties = if key < least { 0 } else { ties };
            least = least.min(key);
            ties |= u32::from(key == least) << (position % FEW);
        }
        if ties.is_power_of_two() {
            return Some(ties.trailing_zeros() as usize);
        }
        if ties == 0 { None } else { Some(self.one_of(ties, chance)) }
    }

    /// One of these positions, drawn by weight.
    fn one_of(&self, ties: u32, mut chance: u64) -> usize {
        let (mut rest, mut total) = (ties, 0);
        while rest != 0 {
            total += self.weight(rest.trailing_zeros() as usize);
            rest &= rest - 1;
        }
        let (mut rest, mut left) = (ties, below(stir(&mut chance), total));
        loop {
            let position = rest.trailing_zeros() as usize;
            let weight = self.weight(position);
            if left < weight {
                return position;
            }
            left -= weight;
            rest &= rest - 1;
        }
    }

    /// The least pair of key and random number, in two chains, since each comparison waits for the
    /// one before.
    #[inline(always)]
    fn least_pair<R: Rank>(&self, board: &Board, mut chance: u64) -> Option<usize> {
        let order = R::order(board, &board.first);
        let (mut even, mut odd, mut position) = (u64::MAX, u64::MAX, 0);
        let mut pairs = self.slots.chunks_exact(2);
        for pair in &mut pairs {
            let numbers = stir(&mut chance);
            let (a, b) = (pair[0].0 as usize, pair[1].0 as usize);
            let a = order.glance(a).unwrap_or_else(|| board.key_later::<R>(a));
            let b = order.glance(b).unwrap_or_else(|| board.key_later::<R>(b));
            even = even.min(a << 32 | numbers & NUMBER | position);
            odd = odd.min(b << 32 | numbers >> 32 & NUMBER | (position + 1));
            position += 2;
        }
        for slot in pairs.remainder() {
            let at = slot.0 as usize;
            let key = order.glance(at).unwrap_or_else(|| board.key_later::<R>(at));
            even = even.min(key << 32 | stir(&mut chance) & NUMBER | position);
        }
        let least = even.min(odd);
        (least >> 32 < R::Order::UNUSED).then_some((least & !NUMBER) as usize & (FEW - 1))
    }

    /// A least admitted member; one of weight 0 only when there is no other.
    #[inline(never)]
    pub(super) fn least_of_all<R: Rank>(
        &self,
        board: &Board,
        chance: u64,
        admits: Admits<'_>,
    ) -> Option<usize> {
        self.least_where::<R>(board, chance, admits, |weight| weight)
    }

    fn least_where<R: Rank>(
        &self,
        board: &Board,
        mut chance: u64,
        admits: Admits<'_>,
        weigh: impl Fn(u64) -> u64,
    ) -> Option<usize> {
        let order = R::order(board, &board.first);
        let (mut least, mut total, mut chosen) = (R::Order::UNUSED - 1, 0, None);
        for (position, slot) in self.slots.iter().enumerate() {
            let at = slot.0 as usize;
            let key = order.glance(at).unwrap_or_else(|| board.key_later::<R>(at));
            if key > least {
                continue;
            }
            let weight = weigh(self.weight(position));
            if weight == 0 || admits.is_some_and(|admits| !admits(position)) {
                continue;
            }
            total = if key < least { weight } else { total + weight };
            least = key;
            if below(stir(&mut chance), total) < weight {
                chosen = Some(position);
            }
        }
        chosen
    }
}
