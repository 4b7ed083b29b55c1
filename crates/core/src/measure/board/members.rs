//! members
use super::block::Order;
use super::node::NOTHING;
use super::search::Search;
use super::tree::FAN;
use super::{Board, ByActive, ByEstimate, Rank, SlotId};
use crate::balance::alias::Alias;
use crate::sync::{AtomicU64, Ordering};

/// Up to here all candidates are looked at.
const SCAN: usize = 32;
const NONE: u32 = u32::MAX;

pub(crate) struct Members {
    slots: Box<[SlotId]>,
    alias: Alias,
    /// Empty when all are equal.
    weights: Box<[u32]>,
    positions: Box<[u32]>,
    masks: Box<[u16]>,
    dense: AtomicU64,
}

pub(crate) type Admits<'a> = Option<&'a dyn Fn(usize) -> bool>;

impl Members {
    pub(crate) fn new(slots: &[SlotId], weights: &[u32]) -> Self {
        let alias = Alias::new(weights.iter().copied());
        let span = slots.iter().map(|s| s.0 as usize + 1).max().unwrap_or(0);
        let mut positions = vec![NONE; span];
        let mut masks = vec![0_u16; span.div_ceil(FAN)];
        for (position, slot) in slots.iter().enumerate() {
            let at = slot.0 as usize;
            positions[at] = position as u32;
            if alias.total() == 0 || weights[position] > 0 {
                masks[at / FAN] |= 1 << (at % FAN);
            }
        }
        Self {
            slots: slots.into(),
            weights: if alias.is_uniform() { Box::default() } else { weights.into() },
            alias,
            positions: positions.into(),
            masks: masks.into(),
            dense: AtomicU64::new(0),
        }
    }

    pub(super) fn mask(&self, group: usize) -> u16 {
        self.masks.get(group).copied().unwrap_or(0)
    }
    pub(super) fn position(&self, slot: usize) -> usize {
        self.positions[slot] as usize
    }
    pub(super) fn weight(&self, position: usize) -> u64 {
        self.weights.get(position).map_or(1, |w| u64::from(*w))
    }
    pub(super) fn weigh(&self, first: usize, lanes: u16) -> u64 {
        if self.weights.is_empty() {
            return u64::from(lanes.count_ones());
        }
        super::search::lanes(lanes).map(|l| self.weight(self.position(first + l))).sum()
    }

    #[inline]
    pub(crate) fn pick_least_active<D: FnMut() -> u64 + ?Sized>(
        &self,
        board: &Board,
        draw: &mut D,
        admits: Admits<'_>,
    ) -> Option<usize> {
        self.pick::<ByActive, D>(board, draw, admits)
    }

    #[inline]
    pub(crate) fn pick_shortest<D: FnMut() -> u64 + ?Sized>(
        &self,
        board: &Board,
        draw: &mut D,
        admits: Admits<'_>,
    ) -> Option<usize> {
        self.pick::<ByEstimate, D>(board, draw, admits)
    }

    #[inline]
    fn pick<R: Rank, D: FnMut() -> u64 + ?Sized>(
        &self,
        board: &Board,
        draw: &mut D,
        admits: Admits<'_>,
    ) -> Option<usize> {
        let n = self.alias.drawable();
        if n <= SCAN || n * 8 < board.live.load(Ordering::Relaxed) as usize {
            if n <= SCAN && admits.is_none() {
                return self.scan_few::<R>(board, draw());
            }
            return self.scan::<R, D>(board, draw, admits);
        }
        let level = board.floor::<R>();
        if level == self.dense.load(Ordering::Relaxed) {
            if let Some(p) = self.draw_at::<R>(board, level, draw(), admits) {
                return Some(p);
            }
        }
        self.search::<R, D>(board, level, draw, admits)
    }

    #[inline(never)]
    fn search<R: Rank, D: FnMut() -> u64 + ?Sized>(
        &self,
        board: &Board,
        mut level: u64,
        draw: &mut D,
        admits: Admits<'_>,
    ) -> Option<usize> {
        for _ in 0..64 {
            if level >= NOTHING {
                return None;
            }
            let mut search = Search {
                members: self,
                seed: draw(),
                admits,
                limit: level,
                next: NOTHING,
                total: 0,
                drawn: (0, 0, 0),
            };
            search.board::<R>(board);
            let (total, limit, next) = (search.total, search.limit, search.next);
            if total > 0 {
                let chosen = search.chosen();
                let all = if self.weights.is_empty() { self.slots.len() as u64 } else { self.alias.total() };
                let dense = total * 16 >= all;
                let was = self.dense.load(Ordering::Relaxed);
                if dense && was != limit {
                    self.dense.store(limit, Ordering::Relaxed);
                } else if !dense && was == limit {
                    self.dense.store(u64::MAX, Ordering::Relaxed);
                }
                return chosen;
            }
            level = next.max(level + 1);
            if level == self.dense.load(Ordering::Relaxed) {
                if let Some(p) = self.draw_at::<R>(board, level, draw(), admits) {
                    return Some(p);
                }
            }
        }
        self.scan::<R, D>(board, draw, admits)
    }

    /// Draws by weight until one is at most at this level.
    #[inline(always)]
    fn draw_at<R: Rank>(&self, board: &Board, level: u64, mut seed: u64, admits: Admits<'_>) -> Option<usize> {
        let order = R::order(board, &board.first);
        if self.alias.is_uniform() {
            let n = self.slots.len() as u64;
            for _ in 0..8 {
                let (a, b) = (step(&mut seed), step(&mut seed));
                let four = [low(a, n), low(a >> 32, n), low(b, n), low(b >> 32, n)];
                if let Some(p) = self.first_of::<R>(board, &order, four, level) {
                    if admits.is_none_or(|a| a(p)) {
                        return Some(p);
                    }
                }
            }
        } else {
            for _ in 0..8 {
                let b = [step(&mut seed), step(&mut seed), step(&mut seed), step(&mut seed)];
                let four = [self.alias.draw(b[0]), self.alias.draw(b[1]), self.alias.draw(b[2]), self.alias.draw(b[3])];
                if let Some(p) = self.first_of::<R>(board, &order, four, level) {
                    if admits.is_none_or(|a| a(p)) {
                        return Some(p);
                    }
                }
            }
        }
        None
    }

    #[inline(always)]
    fn first_of<R: Rank>(&self, board: &Board, order: &R::Order<'_>, p: [usize; 4], level: u64) -> Option<usize> {
        let h = [self.hit::<R>(board, order, p[0], level), self.hit::<R>(board, order, p[1], level), self.hit::<R>(board, order, p[2], level), self.hit::<R>(board, order, p[3], level)];
        let x = if h[2] { p[2] } else { p[3] };
        let x = if h[1] { p[1] } else { x };
        let x = if h[0] { p[0] } else { x };
        (h[0] | h[1] | h[2] | h[3]).then_some(x)
    }

    #[inline(always)]
    fn hit<R: Rank>(&self, board: &Board, order: &R::Order<'_>, p: usize, level: u64) -> bool {
        let at = self.slots[p].0 as usize;
        match order.at_most(at, level) {
            Some(hit) => hit,
            None => board.key_later::<R>(at) <= level,
        }
    }

    /// Up to 32
    #[inline(never)]
    fn scan_few<R: Rank>(&self, board: &Board, mut seed: u64) -> Option<usize> {
        let order = R::order(board, &board.first);
        let key = |slot: &SlotId| {
            let at = slot.0 as usize;
            order.key_here(at).unwrap_or_else(|| board.key_later::<R>(at))
        };
        if self.weights.is_empty() && R::SMALL && self.slots.len() <= 16 {
            let mut pairs = self.slots.chunks_exact(2);
            let (mut a, mut b) = (u64::MAX, u64::MAX);
            let mut p = 0;
            for pair in &mut pairs {
                let bits = step(&mut seed);
                a = a.min(key(&pair[0]) << 32 | bits & 0xffff_ffe0 | p);
                b = b.min(key(&pair[1]) << 32 | bits >> 32 & 0xffff_ffe0 | (p + 1));
                p += 2;
            }
            for slot in pairs.remainder() {
                a = a.min(key(slot) << 32 | step(&mut seed) & 0xffff_ffe0 | p);
            }
            let best = a.min(b);
            return (best < 1 << 63).then_some((best & 31) as usize);
        }
        let (mut least, mut ties) = (NOTHING - 1, 0_u32);
        for (p, slot) in self.slots.iter().enumerate() {
            if self.weight(p) == 0 {
                continue;
            }
            let key = key(slot);
            ties = if key < least { 0 } else { ties };
            least = least.min(key);
            ties |= u32::from(key == least) << (p & 31);
        }
        if ties == 0 {
            return None;
        }
        let mut p = ties.trailing_zeros() as usize;
        if ties & (ties - 1) != 0 {
            let mut rest = ties;
            let mut total = 0;
            while rest != 0 {
                total += self.weight(rest.trailing_zeros() as usize);
                rest &= rest - 1;
            }
            let mut left = below(step(&mut seed), total);
            rest = ties;
            loop {
                p = rest.trailing_zeros() as usize;
                let w = self.weight(p);
                if left < w {
                    break;
                }
                left -= w;
                rest &= rest - 1;
            }
        }
        Some(p)
    }

    #[inline(never)]
    fn scan<R: Rank, D: FnMut() -> u64 + ?Sized>(
        &self,
        board: &Board,
        draw: &mut D,
        admits: Admits<'_>,
    ) -> Option<usize> {
        let (mut least, mut total, mut chosen) = (NOTHING - 1, 0, None);
        for (p, slot) in self.slots.iter().enumerate() {
            let key = board.key::<R>(*slot);
            let w = self.weight(p);
            if key > least || w == 0 || admits.is_some_and(|a| !a(p)) {
                continue;
            }
            if key < least {
                least = key;
                total = 0;
            }
            total += w;
            if total == w || below(draw(), total) < w {
                chosen = Some(p);
            }
        }
        chosen
    }
}

#[inline(always)]
pub(super) fn below(bits: u64, n: u64) -> u64 {
    ((u128::from(bits) * u128::from(n)) >> 64) as u64
}
#[inline(always)]
fn low(bits: u64, n: u64) -> usize {
    ((bits & 0xffff_ffff) * n >> 32) as usize
}
#[inline(always)]
pub(super) fn step(s: &mut u64) -> u64 { *s = s.wrapping_add(0xa076_1d64_78bd_642f); let w = (*s as u128) * ((*s ^ 0xe703_7ed1_a0b4_28db) as u128); (w >> 64) as u64 ^ w as u64 }
impl Board {
    #[cold]
    #[inline(never)]
    fn key_later<R: Rank>(&self, at: usize) -> u64 {
        self.key::<R>(SlotId(at as u32))
    }
    #[inline(always)]
    pub(super) fn key<R: Rank>(&self, slot: SlotId) -> u64 {
        let (block, at) = self.place(slot);
        R::order(self, block).key(at)
    }
    #[inline(always)]
    pub(super) fn floor<R: Rank>(&self) -> u64 {
        let floor = R::order(self, &self.first).tree().floor();
        if self.blocks.load(Ordering::Relaxed) > 1 { self.floor_later::<R>(floor) } else { floor }
    }
    #[cold]
    #[inline(never)]
    fn floor_later<R: Rank>(&self, floor: u64) -> u64 {
        let more = self.more.iter().map_while(|m| m.get());
        more.map(|b| R::order(self, b).tree().floor()).fold(floor, u64::min)
    }
}
