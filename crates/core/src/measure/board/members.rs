//! One set of candidates, prepared for picking from a board.

use super::order::{ByActive, ByEstimate, Order, Rank};
use super::search::{Found, Search};
use super::tree::FAN;
use super::{Board, FEW, SlotId};
use crate::balance::alias::Alias;
use crate::sync::{AtomicU64, Ordering, settle};

/// Where the members are less than one of so many slots, the index shows mostly others.
const PART: usize = 8;
/// Rounds of a search before all members are looked at: with nobody else changing the counts it
/// needs two or three.
const ROUNDS: usize = 64;
/// There is no key that many members have.
const NONE: u64 = u64::MAX;

/// Which members a pick may take, by position; `None`: all.
pub(crate) type Admits<'a> = Option<&'a dyn Fn(usize) -> bool>;

/// Candidates in their order, with slots on one board and weights.
///
/// A member of weight 0 is taken only where no member with a weight is admitted and on the board.
/// If all weights are 0 they count as equal.
pub(crate) struct Members {
    pub(super) slots: Box<[SlotId]>,
    /// Weights by position; empty when they count as equal.
    weights: Box<[u32]>,
    by_weight: Alias,
    /// Sum of the weights.
    total: u64,
    /// Positions by slot.
    positions: Box<[u32]>,
    /// For each group, which of its slots are members with a weight.
    lanes: Box<[u16]>,
    /// Draws, by four, after which a search is cheaper.
    tries: u32,
    /// The key that so many members had when last seen that drawing finds one. A hint.
    crowd: AtomicU64,
}

impl Members {
    /// Slots of different candidates, and as many weights.
    pub(crate) fn new(slots: &[SlotId], weights: &[u32]) -> Self {
        debug_assert_eq!(slots.len(), weights.len());
        let by_weight = Alias::new(weights.iter().copied());
        let equal = by_weight.is_uniform();
        let span = slots.iter().map(|slot| slot.0 as usize + 1).max().unwrap_or(0);
        let mut positions = vec![0; span].into_boxed_slice();
        let mut lanes = vec![0; span.div_ceil(FAN)].into_boxed_slice();
        for (position, (slot, weight)) in slots.iter().zip(weights).enumerate() {
            let at = slot.0 as usize;
            positions[at] = position as u32;
            lanes[at / FAN] |= u16::from(equal || *weight > 0) << (at % FAN);
        }
        Self {
            slots: slots.into(),
            weights: if equal { Box::default() } else { weights.into() },
            total: if equal { slots.len() as u64 } else { by_weight.total() },
            by_weight,
            positions,
            lanes,
            // A search that finds k of n costs about 10 k times what a draw costs, n / k draws find
            // one of them: they are even where k is the root of n / 10.
            tries: (slots.len() * 10).isqrt().div_ceil(4).max(1) as u32,
            crowd: AtomicU64::new(0),
        }
    }

    /// Position of a member with the fewest attempts in flight, drawn by weight among equals;
    /// `None` when no admitted member is on the board. `chance` is 64 random bits.
    #[inline]
    pub(crate) fn least_active(
        &self,
        board: &Board,
        chance: u64,
        admits: Admits<'_>,
    ) -> Option<usize> {
        self.pick::<ByActive>(board, chance, admits)
    }

    /// The same for the smallest estimate: mean response time x (attempts in flight + 1).
    #[inline]
    pub(crate) fn shortest_response(
        &self,
        board: &Board,
        chance: u64,
        admits: Admits<'_>,
    ) -> Option<usize> {
        self.pick::<ByEstimate>(board, chance, admits)
    }

    #[inline(always)]
    fn pick<R: Rank>(&self, board: &Board, chance: u64, admits: Admits<'_>) -> Option<usize> {
        settle();
        let n = self.slots.len();
        let found = if n <= FEW && admits.is_none() {
            self.least_of_few::<R>(board, chance)
        } else if n <= FEW || n * PART < board.live() {
            self.least_of_all::<R>(board, chance, admits)
        } else {
            self.least_by_index::<R>(board, chance, admits)
        };
        // Only members of weight 0 may be left.
        if found.is_none() { self.least_weightless::<R>(board, chance, admits) } else { found }
    }

    #[inline(never)]
    pub(super) fn least_by_index<R: Rank>(
        &self,
        board: &Board,
        mut chance: u64,
        admits: Admits<'_>,
    ) -> Option<usize> {
        let level = board.floor::<R>();
        if level == self.crowd.load(Ordering::Relaxed) {
            let drawn = self.draw::<R>(board, level, &mut chance, admits);
            if drawn.is_some() {
                return drawn;
            }
        }
        self.search::<R>(board, level, chance, admits)
    }

    /// Draws by weight until a key is at most `level`, below which there is none: what is drawn in
    /// vain leaves the shares of the others as they are. Four at once, since nobody can foresee
    /// which one hits, and a wrong guess costs the processor more than four draws.
    #[inline(always)]
    fn draw<R: Rank>(
        &self,
        board: &Board,
        level: u64,
        chance: &mut u64,
        admits: Admits<'_>,
    ) -> Option<usize> {
        let order = R::order(board, &board.first);
        let hit = |position: usize| {
            u32::from(self.key_of::<R>(board, &order, self.slots[position]) <= level)
        };
        for _ in 0..self.tries {
            let [a, b, c, d] = if self.weights.is_empty() {
                let (a, b) = (stir(chance), stir(chance));
                [self.even(a), self.even(a >> 32), self.even(b), self.even(b >> 32)]
            } else {
                let bits = [stir(chance), stir(chance), stir(chance), stir(chance)];
                let draw = &self.by_weight;
                [draw.draw(bits[0]), draw.draw(bits[1]), draw.draw(bits[2]), draw.draw(bits[3])]
            };
            let hits = hit(a) | hit(b) << 1 | hit(c) << 2 | hit(d) << 3;
            if hits != 0 {
                let position = [a, b, c, d][hits.trailing_zeros() as usize % 4];
                if admits.is_none_or(|admits| admits(position)) {
                    return Some(position);
                }
            }
        }
        None
    }

    /// Goes where the bounds lead, round by round from one level to the next that can be the least.
    #[inline(never)]
    fn search<R: Rank>(
        &self,
        board: &Board,
        mut level: u64,
        mut chance: u64,
        admits: Admits<'_>,
    ) -> Option<usize> {
        let mut whole = admits.is_none() && self.by_weight.drawable() == board.live();
        let mut many = self.total.div_ceil(u64::from(self.tries) * 4);
        for _ in 0..ROUNDS {
            if level >= R::Order::UNUSED {
                break;
            }
            let mut search = Search::new(self, level, chance, admits, whole);
            match search.run::<R>(board, many) {
                Found::Some(key) => {
                    if self.crowd.load(Ordering::Relaxed) == key {
                        self.crowd.store(NONE, Ordering::Relaxed);
                    }
                    return search.chosen();
                }
                Found::Many => {
                    self.crowd.store(level, Ordering::Relaxed);
                    many = u64::MAX;
                }
                Found::None(next) => {
                    whole &= next > level;
                    level = next.max(level + 1);
                }
            }
            chance = search.chance();
            if level == self.crowd.load(Ordering::Relaxed) {
                let drawn = self.draw::<R>(board, level, &mut chance, admits);
                if drawn.is_some() {
                    return drawn;
                }
            }
        }
        self.least_of_all::<R>(board, chance, admits)
    }

    /// A position from 32 random bits, all equally likely.
    #[inline(always)]
    fn even(&self, bits: u64) -> usize {
        ((u64::from(bits as u32) * self.slots.len() as u64) >> 32) as usize
    }

    /// The key of a member's slot. `order` is the first block's.
    #[inline(always)]
    pub(super) fn key_of<R: Rank>(&self, board: &Board, order: &R::Order<'_>, slot: SlotId) -> u64 {
        let at = slot.0 as usize;
        order.glance(at).unwrap_or_else(|| board.key_later::<R>(at))
    }

    /// The position of a member's slot.
    #[inline(always)]
    pub(super) fn position(&self, slot: usize) -> usize {
        self.positions[slot] as usize
    }

    /// Which slots of a group are members with a weight.
    #[inline(always)]
    pub(super) fn lanes(&self, group: usize) -> u16 {
        self.lanes.get(group).copied().unwrap_or(0)
    }

    /// Whether the weights count as equal.
    #[inline(always)]
    pub(super) fn is_even(&self) -> bool {
        self.weights.is_empty()
    }

    /// All bits for a member of weight 0 beside others, else none.
    #[inline(always)]
    pub(super) fn weightless(&self, position: usize) -> u64 {
        u64::from(self.weights.get(position) == Some(&0)).wrapping_neg()
    }

    /// The weight of a member; 1 when all count as equal.
    #[inline(always)]
    pub(super) fn weight(&self, position: usize) -> u64 {
        self.weights.get(position).map_or(1, |weight| u64::from(*weight))
    }
}

/// The next 64 bits that a pick makes of its chance: a step of Wang Yi's wyrand.
#[inline(always)]
pub(super) fn stir(chance: &mut u64) -> u64 {
    *chance = chance.wrapping_add(0xa076_1d64_78bd_642f);
    let wide = u128::from(*chance) * u128::from(*chance ^ 0xe703_7ed1_a0b4_28db);
    (wide >> 64) as u64 ^ wide as u64
}

/// Scales 64 random bits to `0..n`.
#[inline(always)]
pub(super) fn below(bits: u64, n: u64) -> u64 {
    ((u128::from(bits) * u128::from(n)) >> 64) as u64
}
