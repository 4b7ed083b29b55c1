//! `p2c`: draws two, takes the one with fewer calls in flight for its weight.
//!
//! # Rule
//!
//! Two different candidates are drawn, every pair equally likely. The one with the smaller
//! (active + 1) / weight serves; equal: a coin weighted by their weights. A weight of 0 is not drawn
//! while another is positive; all zero: weights do not count. Where both drawn providers have
//! reported `adaptive-service.remaining`, the larger remaining capacity wins instead.
//!
//! # When to use it
//!
//! Many candidates of different or changing speed, many consumers: two draws avoid the herd that
//! an exact minimum causes. Not when shares must follow weights exactly (`random`, `roundrobin`).
//!
//! # Cost
//!
//! One draw and two reads per pick, whatever the number of candidates. 16 bytes per candidate.
//!
//! # State
//!
//! None; active counts live in the endpoints and survive a change of the list.
//!
//! # Dubbo
//!
//! No such name in Java. dubbo-go's `p2c` compares reported remaining capacity only, and lets one
//! that never reported win; that comparison is used here when both have reported.
//!
//! # References
//!
//! M. Mitzenmacher, *The Power of Two Choices in Randomized Load Balancing*, IEEE TPDS 12(10), 2001.

use std::any::Any;
use std::sync::Arc;

use super::{About, Ask, Picker, Prepare, Shortcut, Strategy, Weights};
use crate::candidates::Candidate;
use crate::endpoint::Service;
use crate::measure::board::{Board, SlotId};
use crate::rng::below;

/// The row.
pub(super) struct P2c;

impl Strategy for P2c {
    fn about(&self) -> About {
        About {
            use_for: "many providers of changing speed, many consumers",
            needs: "nothing; uses remaining capacity where dubbo-go reports it",
            cost: "two draws, O(1)",
            weights: Weights::Bias,
            avoids_busy: true,
            asks: &[("adaptive-service.enabled", "1")],
            ..About::named("p2c", "of two drawn, fewer calls in flight by weight")
        }
    }

    fn prepare(&self, prepare: &Prepare<'_>) -> Box<dyn Picker> {
        let drawable = Drawable::new(prepare.candidates);
        let two = TwoByActive::new(prepare.candidates, &drawable).map(Arc::new);
        Box::new(P2cPicker { drawable, two })
    }
}

struct P2cPicker {
    drawable: Drawable,
    /// `None` where there are not two to draw.
    two: Option<Arc<TwoByActive>>,
}

impl Picker for P2cPicker {
    #[inline]
    fn pick(&self, ask: &mut Ask<'_>) -> Option<usize> {
        self.drawable.better_of_two(ask, |a, b| {
            if let (Some(a), Some(b)) = (a.endpoint().remaining(), b.endpoint().remaining())
                && a != b
            {
                return if a > b { Order::First } else { Order::Second };
            }
            by_cost(a, b, |c| f64::from(c.measurements().active() + 1))
        })
    }

    fn shortcut(&self) -> Option<Shortcut> {
        self.two.clone().map(Shortcut::two)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The rule while everybody is admitted and no provider reports remaining capacity, with all that
/// it reads close together: 12 bytes per candidate, and their counts.
pub(super) struct TwoByActive {
    drawn: Box<[Drawn]>,
    board: Arc<Board>,
    service: Arc<Service>,
}

#[derive(Clone, Copy)]
struct Drawn {
    position: u32,
    slot: SlotId,
    weight: u32,
}

impl TwoByActive {
    fn new(candidates: &[Candidate], drawable: &Drawable) -> Option<Self> {
        let drawn = |position: usize| {
            let candidate = candidates.get(position)?;
            let slot = candidate.measurements().slot();
            // All are 0 where one is: then weights do not count.
            Some(Drawn { position: position as u32, slot, weight: candidate.weight().max(1) })
        };
        let drawn: Box<[Drawn]> = drawable.positions().filter_map(drawn).collect();
        let first = candidates.first().filter(|_| drawn.len() >= 2)?;
        let board = first.measurements().board().clone();
        Some(Self { drawn, board, service: first.endpoint().service().clone() })
    }

    /// The better of two by `pair`, 64 random bits, and for equal ones by `coin`, 64 more.
    #[inline]
    pub(super) fn take(&self, pair: u64, coin: u64) -> Option<usize> {
        // What was reported hangs on the endpoints: the picker looks there.
        if self.service.reports_remaining() {
            return None;
        }
        let (i, j) = two_of(pair, self.drawn.len());
        let (a, b) = (self.drawn.get(i)?, self.drawn.get(j)?);
        let active = |it: &Drawn| u64::from(self.board.active(it.slot)) + 1;
        let (left, right) = (active(a) * u64::from(b.weight), active(b) * u64::from(a.weight));
        let first = (left < right) | ((left == right) & heads(coin, a.weight, b.weight));
        // Without a branch: which of the two it is could not be predicted.
        Some(if first { a.position } else { b.position } as usize)
    }
}

/// Whether the first of two serves for these weights, when nothing else decides.
#[inline]
pub(super) fn heads(coin: u64, first: u32, second: u32) -> bool {
    below(coin, first as usize + second as usize) < first as usize
}

/// Two different numbers below `n`, which is at least 2, every pair equally likely. One draw serves
/// both: its halves are independent.
#[inline]
pub(super) fn two_of(bits: u64, n: usize) -> (usize, usize) {
    let i = below(bits, n);
    let j = (((bits & u64::from(u32::MAX)) * (n as u64 - 1)) >> 32) as usize;
    // Step over the first: the two differ and no pair is favoured.
    (i, j + usize::from(j >= i))
}

/// Which of two candidates is better.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Order {
    First,
    Second,
    /// Decided by a coin weighted by their weights.
    Equal,
}

/// Compares cost / weight without dividing; weights of 0 do not count.
#[inline]
pub(super) fn by_cost(a: &Candidate, b: &Candidate, cost: impl Fn(&Candidate) -> f64) -> Order {
    let (wa, wb) = match (a.weight(), b.weight()) {
        (0, 0) => (1, 1),
        weights => weights,
    };
    let (left, right) = (cost(a) * f64::from(wb), cost(b) * f64::from(wa));
    if left < right {
        Order::First
    } else if right < left {
        Order::Second
    } else {
        Order::Equal
    }
}

/// The positions that may be drawn in pairs: all of positive weight, or all when none is.
pub(super) struct Drawable(Box<[u32]>);

impl Drawable {
    /// Their positions, ascending.
    pub(super) fn positions(&self) -> impl Iterator<Item = usize> {
        self.0.iter().map(|position| *position as usize)
    }

    pub(super) fn new(candidates: &[Candidate]) -> Self {
        let positive = |keep: bool| {
            (0_u32..).zip(candidates).filter(move |(_, c)| !keep || c.weight() > 0).map(|(i, _)| i)
        };
        let drawn: Box<[u32]> = positive(true).collect();
        Self(if drawn.is_empty() { positive(false).collect() } else { drawn })
    }

    /// Draws two admitted candidates and takes the better. Where one of the first pair is not
    /// admitted the draw is repeated at most eight times; then two of the admitted ones are taken
    /// by counting.
    #[inline]
    pub(super) fn better_of_two(
        &self,
        ask: &mut Ask<'_>,
        mut order: impl FnMut(&Candidate, &Candidate) -> Order,
    ) -> Option<usize> {
        let (a, b) = match self.pair(ask) {
            Some(pair) => pair,
            None => self.pair_by_scan(ask)?,
        };
        let (Some(first), Some(second)) = (ask.candidates.get(a), ask.candidates.get(b)) else {
            return Some(a);
        };
        if a == b {
            return Some(a);
        }
        match order(first, second) {
            Order::First => Some(a),
            Order::Second => Some(b),
            Order::Equal => {
                let weight = |c: &Candidate| u64::from(c.weight());
                let total = weight(first) + weight(second);
                let heads = match total {
                    0 => ask.rng.next_u64() >> 63 == 0,
                    _ => ask.rng.below_u64(total) < weight(first),
                };
                Some(if heads { a } else { b })
            }
        }
    }

    #[inline]
    fn pair(&self, ask: &mut Ask<'_>) -> Option<(usize, usize)> {
        const TRIES: usize = 9;
        let n = self.0.len();
        for _ in 0..if n < 2 { 0 } else { TRIES } {
            let (i, j) = two_of(ask.rng.next_u64(), n);
            if let (Some(a), Some(b)) = (self.0.get(i), self.0.get(j)) {
                let (a, b) = (*a as usize, *b as usize);
                if ask.is_open() || (ask.admits(a) && ask.admits(b)) {
                    return Some((a, b));
                }
            }
        }
        None
    }

    /// Two of the admitted candidates, every pair equally likely; one twice when it is alone. The
    /// ones of weight 0 serve only when no other is admitted.
    #[cold]
    fn pair_by_scan(&self, ask: &mut Ask<'_>) -> Option<(usize, usize)> {
        let drawable = || self.0.iter().map(|p| *p as usize);
        let count = drawable().filter(|p| ask.admits(*p)).count();
        if count == 0 {
            return ask.scan_by_weight(|_| true).map(|only| (only, only));
        }
        let i = ask.rng.below(count);
        let j = ask.rng.below(count - 1);
        let j = if count > 1 { j + usize::from(j >= i) } else { i };
        let find = |k| drawable().filter(|p| ask.admits(*p)).nth(k);
        let a = find(i).or_else(|| find(0))?;
        Some((a, find(j).unwrap_or(a)))
    }
}
