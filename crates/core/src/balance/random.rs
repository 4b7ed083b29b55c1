//! `random`: draws one candidate, each as often as its weight says.
//!
//! # Rule
//!
//! Each candidate is drawn with probability weight / sum of weights. A weight of 0 is never drawn
//! while another is positive; all zero: every candidate equally. Sums are 64-bit.
//!
//! # When to use it
//!
//! The default. Fair on average and without memory, so it cannot go wrong in a herd. Not when one
//! slow provider must get less (`leastactive`, `p2c`), and not for exact shares of few calls
//! (`roundrobin`).
//!
//! # Cost
//!
//! One draw and one table read per pick, whatever the number of candidates; 8 bytes per candidate
//! where weights differ. An alias table is built when the view or a warmup step changes.
//!
//! # State
//!
//! None.
//!
//! # Dubbo
//!
//! `random`. There the first candidate alone decides whether weights count, and sums wrap at 2^31;
//! here neither.
//!
//! # References
//!
//! `RandomLoadBalance.java` (3.3); the alias method: see [`alias`](super::alias).

use std::any::Any;
use std::sync::Arc;

use super::alias::Alias;
use super::{About, Ask, Picker, Prepare, Shortcut, Strategy, Weights};

/// The row.
pub(super) struct Random;

impl Strategy for Random {
    fn about(&self) -> About {
        About {
            origin: "Dubbo",
            use_for: "the default: fair, without memory, safe in herds",
            cost: "one draw, O(1)",
            weights: Weights::Exact,
            aliases: &["aliasmethod"],
            ..About::named("random", "draws by weight")
        }
    }

    fn prepare(&self, prepare: &Prepare<'_>) -> Box<dyn Picker> {
        let weights = prepare.candidates.iter().map(|c| c.weight());
        let total = weights.clone().map(u64::from).sum();
        Box::new(RandomPicker {
            shares: weights.clone().map(|w| share(w, total, prepare.candidates.len())).collect(),
            alias: Arc::new(Alias::new(weights)),
        })
    }
}

struct RandomPicker {
    alias: Arc<Alias>,
    shares: Box<[f64]>,
}

impl Picker for RandomPicker {
    #[inline]
    fn pick(&self, ask: &mut Ask<'_>) -> Option<usize> {
        ask.redraw(|rng| self.alias.draw(rng.next_u64()), |ask| ask.scan_by_weight(|_| true))
    }

    fn shortcut(&self) -> Option<Shortcut> {
        Some(Shortcut::draw(self.alias.clone()))
    }

    fn expected_share(&self, position: usize) -> Option<f64> {
        self.shares.get(position).copied()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A weight's part of the sum; equal parts when all are 0.
pub(super) fn share(weight: u32, total: u64, n: usize) -> f64 {
    if total == 0 { 1.0 / n as f64 } else { f64::from(weight) / total as f64 }
}
