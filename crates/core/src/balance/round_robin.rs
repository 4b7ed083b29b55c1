//! `roundrobin`: turns in a fixed order, as many for each candidate as its weight says.
//!
//! # Rule
//!
//! Smooth weighted round robin: see [`cycle`](super::cycle). A tried or unavailable candidate's
//! turn passes to the next one; after eight such turns the rest is decided by weight.
//!
//! # When to use it
//!
//! Exact shares already over few calls, spread evenly in time. Not when providers differ in speed
//! from moment to moment: a slow one still gets its turns.
//!
//! # Cost
//!
//! One shared atomic addition and one table read per pick, whatever the number of candidates.
//!
//! # State
//!
//! One position per service, method and candidate set, shared by all threads. When weights or
//! candidates change, what each was owed is carried over once.
//!
//! # Dubbo
//!
//! `roundrobin`; same order while nothing changes. Differences on change: see
//! [`cycle`](super::cycle).
//!
//! # References
//!
//! `RoundRobinLoadBalance.java` (3.3).

use std::any::Any;
use std::sync::Arc;

use super::cycle::Rotation;
use super::{About, Ask, Picker, Prepare, Shortcut, Strategy, Weights};

/// The row.
pub(super) struct RoundRobin;

impl Strategy for RoundRobin {
    fn about(&self) -> About {
        About {
            origin: "Dubbo",
            aliases: &["interleavedweightedroundrobin"],
            use_for: "exact shares already over few calls",
            cost: "one shared counter, O(1)",
            weights: Weights::Exact,
            ..About::named("roundrobin", "turns by weight, spread evenly")
        }
    }

    fn prepare(&self, prepare: &Prepare<'_>) -> Box<dyn Picker> {
        let weights: Vec<u32> = prepare.candidates.iter().map(|c| c.weight()).collect();
        let before = prepare
            .previous
            .and_then(|(picker, _)| picker.as_any().downcast_ref::<RoundRobinPicker>());
        let rotation = match before.and_then(|b| b.rotation.as_deref()) {
            Some(old) => {
                let places = prepare.previous_positions();
                let place = |position: usize| {
                    let candidate = prepare.candidates.get(position)?;
                    places.get(&Arc::as_ptr(candidate.endpoint())).copied()
                };
                Rotation::succeed(old, place, &weights)
            }
            None => Rotation::new(&weights),
        };
        Box::new(RoundRobinPicker { rotation: rotation.map(Arc::new) })
    }
}

struct RoundRobinPicker {
    /// `None` without candidates.
    rotation: Option<Arc<Rotation>>,
}

impl Picker for RoundRobinPicker {
    #[inline]
    fn pick(&self, ask: &mut Ask<'_>) -> Option<usize> {
        let rotation = self.rotation.as_ref()?;
        ask.redraw(|_| rotation.next(), |ask| ask.scan_by_weight(|_| true))
    }

    fn shortcut(&self) -> Option<Shortcut> {
        self.rotation.clone().map(Shortcut::turn)
    }

    fn expected_share(&self, position: usize) -> Option<f64> {
        Some(self.rotation.as_ref()?.share(position))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
