//! One set of candidates, prepared for picking from a board.

use super::node::NOTHING;
use super::order::{ByActive, ByEstimate, Order, Rank};
use super::search::{Found, Search};
use super::tree::FAN;
use super::{Board, SlotId};
use crate::balance::alias::Alias;
use crate::sync::{AtomicU64, Ordering, settle};

/// Up to here every member is looked at.
pub(super) const FEW: usize = 32;
/// Below this part of a board's slots the index shows mostly others.
const PART: usize = 8;
/// Rounds of the search before all members are looked at: only others who keep changing the counts
/// can make it need more than two or three.
const ROUNDS: usize = 64;
/// No level is known at which many members are.
const NOWHERE: u64 = u64::MAX;

/// Which members a pick may take, by position; `None`: all.
pub(crate) type Admits<'a> = Option<&'a dyn Fn(usize) -> bool>;

/// Candidates in their order, with slots on one board and weights.
///
/// A member of weight 0 is taken only when no admitted member has a greater one. If all weights are
/// 0 they count as equal.
pub(crate) struct Members {
    pub(super) slots: Box<[SlotId]>,
    /// Weights by position; empty when all are equal.
    pub(super) weights: Box<[u32]>,
    by_weight: Alias,
    total: u64,
    /// Positions by slot.
    positions: Box<[u32]>,
    /// By group: which slots are members that can be drawn.
    lanes: Box<[u16]>,
    /// Draws, four by four, after which a search is cheaper.
    tries: u32,
    /// The key that so many members had when last seen that drawing finds one. A hint.
    crowd: AtomicU64,
}

impl Members {
    /// Slots of different candidates, and as many weights.
    pub(crate) fn new(slots: &[SlotId], weights: &[u32]) -> Self {
        let by_weight = Alias::new(weights.iter().copied());
        let equal = by_weight.is_uniform();
        let span = slots.iter().map(|slot| slot.0 as usize + 1).max().unwrap_or(0);
        let mut positions = vec![u32::MAX; span].into_boxed_slice();
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
            tries: ((10 * slots.len()).isqrt() / 4) as u32,
            by_weight,
            positions,
            lanes,
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

    /// The same with the smallest estimate: mean response time x (attempts in flight + 1).
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
        if self.slots.len() <= FEW && admits.is_none() {
            return self.least_of_few::<R>(board, chance);
        }
        if self.slots.len() <= FEW || self.slots.len() * PART < board.live() {
            return self.least_of_all::<R>(board, chance, admits);
        }
        if MODE.load(std::sync::atomic::Ordering::Relaxed) == 1 { return self.least_of_all::<R>(board, chance, admits); }
        self.least_by_index::<R>(board, chance, admits)
    }

    #[inline(never)]
    fn least_by_index<R: Rank>(
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

    /// Draws by weight until a key is at most `level`, which is at most as great as all keys: the
    /// ones drawn in vain leave the shares of the others as they are. Four at once, since whether
    /// one hits cannot be foreseen and a wrong guess costs the processor more than three draws.
    #[inline(always)]
    fn draw<R: Rank>(
        &self,
        board: &Board,
        level: u64,
        chance: &mut u64,
        admits: Admits<'_>,
    ) -> Option<usize> {
        let order = R::order(board, &board.first);
        let slots = &*self.slots;
        for _ in 0..self.tries {
            let [a, b, c, d] = if self.weights.is_empty() {
                let (a, b) = (stir(chance), stir(chance));
                [low(a, slots), low(a >> 32, slots), low(b, slots), low(b >> 32, slots)]
            } else {
                let draw = &self.by_weight;
                [
                    draw.draw(stir(chance)),
                    draw.draw(stir(chance)),
                    draw.draw(stir(chance)),
                    draw.draw(stir(chance)),
                ]
            };
            let hit = |position| {
                u32::from(self.key_at::<R>(board, &order, position) <= level)
            };
            let hits = hit(a) | hit(b) << 1 | hit(c) << 2 | hit(d) << 3;
            if hits != 0 {
                let hit = [a, b, c, d][hits.trailing_zeros() as usize % 4];
                if admits.is_none_or(|admits| admits(hit)) {
                    return Some(hit);
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
        let crowd = self.total.div_ceil(u64::from(self.tries.max(1)) * 4);
        for _ in 0..ROUNDS {
            if level >= R::Order::UNUSED {
                return None;
            }
            let mut search = Search::new(self, level, chance, admits);
            match search.run::<R>(board, crowd) {
                Found::Some(key) => {
                    if self.crowd.load(Ordering::Relaxed) == key {
                        self.crowd.store(NOWHERE, Ordering::Relaxed);
                    }
                    return search.chosen();
                }
                Found::Many => self.crowd.store(level, Ordering::Relaxed),
                Found::None(next) => level = next.max(level + 1),
            }
            chance = search.chance();
            if self.crowd.load(Ordering::Relaxed) == level {
                let drawn = self.draw::<R>(board, level, &mut chance, admits);
                if drawn.is_some() {
                    return drawn;
                }
            }
        }
        self.least_of_all::<R>(board, chance, admits)
    }

    /// The key of the member at a position. `order` is the first block's.
    #[inline(always)]
    pub(super) fn key_at<R: Rank>(&self, board: &Board, order: &R::Order<'_>, at: usize) -> u64 {
        let slot = self.slots[at].0 as usize;
        order.glance(slot).unwrap_or_else(|| board.key_later::<R>(slot))
    }

    /// Position of a slot that is a member.
    #[inline(always)]
    pub(super) fn position(&self, slot: usize) -> usize {
        self.positions[slot] as usize
    }

    /// Which slots of a group are members that can be drawn.
    #[inline(always)]
    pub(super) fn lanes(&self, group: usize) -> u16 {
        self.lanes.get(group).copied().unwrap_or(0)
    }

    /// The weight of the member with a slot.
    #[inline(always)]
    pub(super) fn weight_at(&self, slot: usize) -> u64 {
        if self.weights.is_empty() { 1 } else { self.weight(self.position(slot)) }
    }

    /// The weight of a member; 1 when all are equal.
    #[inline(always)]
    pub(super) fn weight(&self, position: usize) -> u64 {
        self.weights.get(position).map_or(1, |weight| u64::from(*weight))
    }
}

/// A position from 32 random bits.
#[inline(always)]
fn low(bits: u64, slots: &[SlotId]) -> usize {
    (u64::from(bits as u32) * slots.len() as u64 >> 32) as usize
}

/// The next 64 bits of a pick's own chance: one step of Wang Yi's wyrand.
#[inline(always)]
pub(super) fn stir(chance: &mut u64) -> u64 {
    *chance = chance.wrapping_add(0xa076_1d64_78bd_642f);
    let wide = u128::from(*chance) * u128::from(*chance ^ 0xe703_7ed1_a0b4_28db);
    (wide >> 64) as u64 ^ wide as u64
}

/// Scales 64 random bits to `0..n`.
#[inline(always)]
pub(super) fn below(bits: u64, n: u64) -> u64 {
    (u128::from(bits) * u128::from(n) >> 64) as u64
}
const _: u64 = NOTHING;
pub(crate) static MODE: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
