//! `adaptive`: draws two, takes the one whose provider reports less load for what it answers.
//!
//! # Rule
//!
//! Two different candidates are drawn, every pair equally likely. Score = load x (sqrt(latency) + 1)
//! x (in flight + 1) / (successes / (requests + 1) x weight + 1); the smaller one serves, equal: a
//! coin weighted by their weights. The latency is the measured one (moving average, half of it new
//! with each report); while an attempt is unanswered for longer than the timeout T, or the newest
//! report is older than 2T, it counts at least 2T. One that has reported and was not picked for 2T
//! scores 0 once. One that never reported takes the other's score, so the coin decides.
//!
//! # When to use it
//!
//! Providers on machines of differing or shared load that report it (Dubbo providers do, and ours).
//! Without reports it is a weighted coin: then `p2c` or `peakewma`.
//!
//! # Cost
//!
//! Two draws, two scores and one clock read per pick, whatever the number of candidates. Start and
//! end of an attempt take a lock of the one endpoint for a few instructions, to know its oldest
//! unanswered attempt; the pick takes none.
//!
//! # State
//!
//! Per endpoint and service, over all methods; survives a change of the list.
//!
//! # Dubbo
//!
//! `adaptive`. There reading a score changes it, a fresh report is overwritten by a penalty on the
//! next read, and a provider that never reported wins against every other. `adaptive.compat=java`
//! has that arithmetic.
//!
//! # References
//!
//! `AdaptiveLoadBalance.java`, `AdaptiveMetrics.java` (3.3).

use std::any::Any;
use std::cmp::Ordering;

use super::p2c::{Drawable, Order};
use super::{About, Ask, Picker, Prepare, Strategy, Weights};
use crate::candidates::Candidate;
use crate::measure::adaptive::compare_bits;

/// The row.
pub(super) struct Adaptive;

impl Strategy for Adaptive {
    fn about(&self) -> About {
        About {
            origin: "Dubbo",
            use_for: "providers of differing load that report it",
            needs: "load reports of the provider (attachment `lb_adaptive`)",
            cost: "two draws and one clock read, O(1)",
            weights: Weights::Bias,
            avoids_busy: true,
            reads_clock: true,
            asks: &[("lb_adaptive", "mem,load")],
            adaptive: true,
            ..About::named("adaptive", "of two drawn, less reported load x latency x in flight")
        }
    }

    fn prepare(&self, prepare: &Prepare<'_>) -> Box<dyn Picker> {
        // Made now, so that no pick has to.
        for candidate in prepare.candidates {
            candidate.endpoint().adaptive(prepare.now_ms);
        }
        Box::new(AdaptivePicker {
            drawable: Drawable::new(prepare.candidates),
            compat: prepare.plan.adaptive_compat,
        })
    }
}

struct AdaptivePicker {
    drawable: Drawable,
    compat: bool,
}

impl Picker for AdaptivePicker {
    fn pick(&self, ask: &mut Ask<'_>) -> Option<usize> {
        let now_ms = ask.clock.wall_ms();
        let compat = self.compat;
        self.drawable.better_of_two(ask, |a, b| {
            let order = if compat {
                let load = |c: &Candidate| {
                    c.endpoint().adaptive(now_ms).compat.load(now_ms, c.weight(), timeout_ms(c))
                };
                compare_bits(load(a), load(b))
            } else {
                let score = |c: &Candidate| {
                    let measures = c.endpoint().adaptive(now_ms);
                    let oldest = measures.outstanding.oldest();
                    measures.state.score(now_ms, c.weight(), timeout_ms(c), oldest)
                };
                score(a).compare(score(b))
            };
            match order {
                Ordering::Less => Order::First,
                Ordering::Greater => Order::Second,
                Ordering::Equal => Order::Equal,
            }
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn timeout_ms(candidate: &Candidate) -> u32 {
    u32::try_from(candidate.timeout().as_millis()).unwrap_or(u32::MAX)
}
