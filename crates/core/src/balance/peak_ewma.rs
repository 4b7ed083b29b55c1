//! `peakewma`: draws two, takes the one with the lower peak-sensitive cost.
//!
//! # Rule
//!
//! Two different candidates are drawn, every pair equally likely. Cost = average x (active + 1) /
//! weight; the average jumps to a slow sample at once and decays with a time constant of 10 s. One
//! without a sample of the last 30 s counts as the mean of the sampled candidates (above 64
//! candidates: of 64 drawn ones), so one that was slow once is asked again; when none is sampled only
//! active and weight count. A failed attempt is a sample of at
//! least its timeout. Equal cost: a coin weighted by their weights. A weight of 0 is not drawn while
//! another is positive.
//!
//! # When to use it
//!
//! Providers that stall now and then (garbage collection, noisy neighbours): the calls move away
//! within one slow answer. Where all are equal it costs more than `p2c` and gains nothing.
//!
//! # Cost
//!
//! One draw, one clock read and six reads per pick; an exponential per answer.
//!
//! # State
//!
//! The averages, per endpoint and method; they survive a change of the list.
//!
//! # Dubbo
//!
//! Not in Dubbo itself; an extension package has the name, without weights.
//!
//! # References
//!
//! Finagle's `PeakEwma`; Linkerd, *Beyond Round Robin* (2016), for the decay time.

use std::any::Any;
use std::cell::OnceCell;
use std::sync::Arc;

use super::p2c::{Drawable, by_cost, heads, two_of};
use super::{About, Ask, Picker, Prepare, Shortcut, Strategy, Weights};
use crate::candidates::Candidate;
use crate::measure::Measurements;
use crate::rng::{Rng, SeededRng, below};

/// The row.
pub(super) struct PeakEwma;

impl Strategy for PeakEwma {
    fn about(&self) -> About {
        About {
            use_for: "providers that stall now and then",
            cost: "two draws and one clock read, O(1)",
            weights: Weights::Bias,
            avoids_busy: true,
            avoids_slow: true,
            reads_clock: true,
            ..About::named("peakewma", "of two drawn, lower peak-sensitive latency x load")
        }
    }

    fn prepare(&self, prepare: &Prepare<'_>) -> Box<dyn Picker> {
        let drawable = Drawable::new(prepare.candidates);
        let two = TwoByLatency::new(prepare.candidates, &drawable).map(Arc::new);
        Box::new(PeakEwmaPicker { drawable, two })
    }
}

struct PeakEwmaPicker {
    drawable: Drawable,
    /// `None` where there are not two to draw.
    two: Option<Arc<TwoByLatency>>,
}

/// Up to this many candidates the mean of the sampled ones is exact.
const EXACT: usize = 64;

impl Picker for PeakEwmaPicker {
    #[inline]
    fn pick(&self, ask: &mut Ask<'_>) -> Option<usize> {
        let candidates = ask.candidates;
        let salt = ask.rng.next_u64();
        let now_ns = ask.clock.nanos();
        let mean = OnceCell::new();
        self.drawable.better_of_two(ask, |a, b| {
            by_cost(a, b, |c| {
                let m = c.measurements();
                let average = m
                    .fresh_ewma_nanos(now_ns)
                    .unwrap_or_else(|| *mean.get_or_init(|| mean_of(candidates, salt, now_ns)));
                average * f64::from(m.active() + 1)
            })
        })
    }

    fn shortcut(&self) -> Option<Shortcut> {
        self.two.clone().map(Shortcut::two_timed)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The rule while everybody is admitted and both that are drawn have a sample.
pub(super) struct TwoByLatency(Box<[Drawn]>);

struct Drawn {
    measurements: Arc<Measurements>,
    position: u32,
    weight: u32,
}

impl TwoByLatency {
    fn new(candidates: &[Candidate], drawable: &Drawable) -> Option<Self> {
        let drawn = |position: usize| {
            let candidate = candidates.get(position)?;
            let measurements = candidate.measurements().clone();
            // All are 0 where one is: then weights do not count.
            let weight = candidate.weight().max(1);
            Some(Drawn { measurements, position: position as u32, weight })
        };
        let drawn: Box<[Drawn]> = drawable.positions().filter_map(drawn).collect();
        (drawn.len() >= 2).then_some(Self(drawn))
    }

    /// The better of two by `pair`, 64 random bits, and for equal ones by `coin`, 64 more; `None`
    /// where one of them has no sample.
    #[inline]
    pub(super) fn take(&self, pair: u64, coin: u64, now_ns: u64) -> Option<usize> {
        let (i, j) = two_of(pair, self.0.len());
        let (a, b) = (self.0.get(i)?, self.0.get(j)?);
        let cost = |it: &Drawn| {
            let average = it.measurements.fresh_ewma_nanos(now_ns)?;
            Some(average * f64::from(it.measurements.active() + 1))
        };
        let (left, right) = (cost(a)? * f64::from(b.weight), cost(b)? * f64::from(a.weight));
        let first = (left < right) | ((left == right) & heads(coin, a.weight, b.weight));
        Some(if first { a.position } else { b.position } as usize)
    }
}

/// Mean over the sampled candidates, or over some of them when there are many; 1 without any, so
/// that active counts and weights still decide.
#[cold]
fn mean_of(candidates: &[Candidate], salt: u64, now_ns: u64) -> f64 {
    let mut rng = SeededRng::new(salt);
    let n = candidates.len();
    let mut drawn = |i: usize| match n {
        n if n <= EXACT => i,
        n => below(rng.next_u64(), n),
    };
    let (mut sum, mut count) = (0.0, 0_u32);
    for i in (0..n.min(EXACT)).map(&mut drawn) {
        if let Some(nanos) =
            candidates.get(i).and_then(|c| c.measurements().fresh_ewma_nanos(now_ns))
        {
            sum += nanos;
            count += 1;
        }
    }
    if count == 0 { 1.0 } else { sum / f64::from(count) }
}
