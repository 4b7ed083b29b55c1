//! `boundedconsistenthash`: the same key goes to the same candidate until that one is full.
//!
//! # Rule
//!
//! The ring of `consistenthash`. Candidate i may hold ceil(1.25 x (total active + 1) x weight_i /
//! sum of weights) attempts; the first candidate clockwise from the key that holds fewer serves.
//! Weights of 0 hold none while another is positive; all zero: equal caps. When every admitted one
//! is full, the first admitted one clockwise serves.
//!
//! # When to use it
//!
//! Affinity that may be given up under load: caches with hot keys. Where a key must never move,
//! `consistenthash`.
//!
//! # Cost
//!
//! One MD5 of the key per call; a look-up and a few steps. The total is one shared counter per
//! method, kept only for methods that use this strategy.
//!
//! # State
//!
//! The active counts; the ring is a function of the addresses.
//!
//! # Dubbo
//!
//! Not in Dubbo under any name now: it was inside `consistenthash` from 3.0.4 to 3.0.9 and was taken
//! out because it changed what the name meant.
//!
//! # References
//!
//! V. Mirrokni, M. Thorup, M. Zadimoghaddam, *Consistent Hashing with Bounded Loads*, SODA 2018.

use std::any::Any;
use std::sync::Arc;

use super::consistent_hash::SharedRing;
use super::{About, Ask, Picker, Prepare, Strategy, Weights};
use crate::measure::Total;

/// The row.
pub(super) struct BoundedConsistentHash;

impl Strategy for BoundedConsistentHash {
    fn about(&self) -> About {
        About {
            use_for: "caches with hot keys",
            needs: "a key (`hash.arguments`, or given with the call)",
            cost: "one MD5 per call, O(1) look-up, one shared counter",
            weights: Weights::Bias,
            avoids_busy: true,
            keyed: true,
            counts_total: true,
            ..About::named("boundedconsistenthash", "same key, same provider, until it is full")
        }
    }

    fn prepare(&self, prepare: &Prepare<'_>) -> Box<dyn Picker> {
        let weights: Vec<u64> = prepare.candidates.iter().map(|c| u64::from(c.weight())).collect();
        let sum: u64 = weights.iter().sum();
        let weights = if sum == 0 { vec![1; weights.len()] } else { weights };
        Box::new(BoundedPicker {
            ring: SharedRing::of(prepare),
            sum: if sum == 0 { weights.len() as u64 } else { sum },
            weights: weights.into(),
            total: Total::of(prepare.candidates),
        })
    }
}

struct BoundedPicker {
    ring: Arc<SharedRing>,
    weights: Box<[u64]>,
    sum: u64,
    total: Total,
}

impl BoundedPicker {
    /// Whether a candidate holds fewer attempts than its cap, given the total.
    fn has_room(&self, ask: &Ask<'_>, position: usize, total: u64) -> bool {
        let weight = self.weights.get(position).copied().unwrap_or(0);
        // ceil(5/4 x (total + 1) x w / sum), in whole numbers.
        let numerator = 5 * (u128::from(total) + 1) * u128::from(weight);
        let cap = numerator.div_ceil(4 * u128::from(self.sum.max(1)));
        let active = ask.candidates.get(position).map_or(u32::MAX, |c| c.measurements().active());
        u128::from(active) < cap
    }
}

impl Picker for BoundedPicker {
    fn pick(&self, ask: &mut Ask<'_>) -> Option<usize> {
        let hash = ask.key?;
        let total = self.total.active(ask.candidates);
        let ask = &*ask;
        let ring = &self.ring.ring;
        ring.walk(hash, |position| ask.admits(position) && self.has_room(ask, position, total))
            .or_else(|| {
                let positive = |p: usize| self.weights.get(p).is_some_and(|w| *w > 0);
                ring.walk(hash, |position| ask.admits(position) && positive(position))
            })
            .or_else(|| ring.walk(hash, |position| ask.admits(position)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
