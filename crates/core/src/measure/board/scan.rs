//! Picks that look at every member: the best way for few, and the way out where the index does not
//! help.

use super::Board;
use super::members::{Admits, Members, below, stir};
use super::order::{Order, Rank};

/// Up to so many equal members get a random number each: that needs no guess of the processor.
const PAIRS: usize = 16;
/// A random number leaves room for a position below it.
const POSITION: u64 = 31;

impl Members {
    /// A least member out of at most 32.
    #[inline(never)]
    pub(super) fn least_of_few<R: Rank>(&self, board: &Board, chance: u64) -> Option<usize> {
        if R::SHORT && self.is_even() && self.slots.len() <= PAIRS {
            return self.least_pair::<R>(board, chance);
        }
        let order = R::order(board, &board.first);
        let (mut least, mut ties) = (R::Order::UNUSED - 1, 0_u32);
        for (position, slot) in self.slots.iter().enumerate() {
            let key = self.key_of::<R>(board, &order, *slot) | self.weightless(position);
            ties = if key < least { 0 } else { ties };
            least = least.min(key);
            ties |= u32::from(key == least) << (position as u32 % u32::BITS);
        }
        match ties {
            0 => None,
            _ if ties.is_power_of_two() => Some(ties.trailing_zeros() as usize),
            _ => Some(self.one_of(ties, chance)),
        }
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

    /// The least by key and then by a random number. In two chains, since each comparison waits for
    /// the one before.
    #[inline(always)]
    fn least_pair<R: Rank>(&self, board: &Board, mut chance: u64) -> Option<usize> {
        let order = R::order(board, &board.first);
        let (mut even, mut odd) = (u64::MAX, u64::MAX);
        let pack = |position: usize, number: u64| {
            let key = self.key_of::<R>(board, &order, self.slots[position]);
            key << 32 | u64::from(number as u32) & !POSITION | position as u64
        };
        let n = self.slots.len();
        for position in (0..n / 2 * 2).step_by(2) {
            let numbers = stir(&mut chance);
            even = even.min(pack(position, numbers));
            odd = odd.min(pack(position + 1, numbers >> 32));
        }
        if n % 2 == 1 {
            even = even.min(pack(n - 1, stir(&mut chance)));
        }
        let least = even.min(odd);
        (least >> 32 < R::Order::UNUSED).then_some((least & POSITION) as usize)
    }

    /// A least admitted member with a weight, out of any number.
    #[inline(never)]
    pub(super) fn least_of_all<R: Rank>(
        &self,
        board: &Board,
        chance: u64,
        admits: Admits<'_>,
    ) -> Option<usize> {
        self.least_where::<R>(board, chance, admits, |weight| weight)
    }

    /// A least admitted member of weight 0.
    #[cold]
    pub(super) fn least_weightless<R: Rank>(
        &self,
        board: &Board,
        chance: u64,
        admits: Admits<'_>,
    ) -> Option<usize> {
        self.least_where::<R>(board, chance, admits, |weight| u64::from(weight == 0))
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
            let key = self.key_of::<R>(board, &order, *slot);
            let weight = weigh(self.weight(position));
            let worse = key > least || weight == 0;
            if worse || admits.is_some_and(|admits| !admits(position)) {
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
