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
//! One draw and two reads per pick, whatever the number of candidates. 4 bytes per candidate.
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

use super::{About, Ask, Picker, Prepare, Strategy, Weights};
use crate::candidates::Candidate;
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
        Box::new(P2cPicker { drawable: Drawable::new(prepare.candidates) })
    }
}

struct P2cPicker {
    drawable: Drawable,
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

    fn as_any(&self) -> &dyn Any {
        self
    }
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
            // One draw serves both: its halves are independent.
            let bits = ask.rng.next_u64();
            let i = below(bits, n);
            let j = (((bits & u64::from(u32::MAX)) * (n as u64 - 1)) >> 32) as usize;
            // Step over the first: the two differ and no pair is favoured.
            let j = j + usize::from(j >= i);
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
