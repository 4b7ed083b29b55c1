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

use super::p2c::{Drawable, by_cost};
use super::{About, Ask, Picker, Prepare, Strategy, Weights};
use crate::candidates::Candidate;
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
        Box::new(PeakEwmaPicker { drawable: Drawable::new(prepare.candidates) })
    }
}

struct PeakEwmaPicker {
    drawable: Drawable,
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

    fn as_any(&self) -> &dyn Any {
        self
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
        if let Some(nanos) = candidates.get(i).and_then(|c| c.measurements().fresh_ewma_nanos(now_ns)) {
            sum += nanos;
            count += 1;
        }
    }
    if count == 0 { 1.0 } else { sum / f64::from(count) }
}
