//! `consistenthash`: the same key goes to the same candidate.
//!
//! # Rule
//!
//! Every candidate owns `hash.nodes` (160) points on a ring of 2^32: the four little-endian words of
//! MD5(address + index). The key's first word belongs to the owner of the next point clockwise. A
//! tried or unavailable candidate is passed over clockwise. Weights, load and health do not matter.
//!
//! # When to use it
//!
//! Caches and sessions at the provider. Not for spreading load: a hot key stays hot
//! (`boundedconsistenthash` spills over).
//!
//! # Cost
//!
//! One MD5 of the key per call and one look-up, expected O(1). 8 bytes per point; a change of one
//! candidate merges its own points into the ring.
//!
//! # State
//!
//! None: the ring is a function of the addresses, so two consumers always agree.
//!
//! # Dubbo
//!
//! `consistenthash` (Go: `consistenthashing`), bit for bit. A point that two candidates share keeps
//! both, and `hash.nodes` below 4 is refused when it is read instead of failing every call.
//!
//! # References
//!
//! `ConsistentHashLoadBalance.java` (3.3); D. Karger et al., *Consistent Hashing and Random Trees*,
//! STOC 1997.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use super::{About, Ask, Picker, Prepare, Shortcut, Strategy};
use crate::hash::ring::Ring;

/// The row.
pub(super) struct ConsistentHash;

impl Strategy for ConsistentHash {
    fn about(&self) -> About {
        About {
            origin: "Dubbo",
            aliases: &["consistenthashing"],
            use_for: "caches and sessions at the provider",
            needs: "a key (`hash.arguments`, or given with the call)",
            cost: "one MD5 per call, O(1) look-up",
            keyed: true,
            ..About::named("consistenthash", "same key, same provider")
        }
    }

    fn prepare(&self, prepare: &Prepare<'_>) -> Box<dyn Picker> {
        Box::new(ConsistentHashPicker { ring: SharedRing::of(prepare) })
    }
}

/// The ring of one route and number of points, shared by all methods that use it.
pub(super) struct SharedRing {
    pub(super) ring: Ring,
    addresses: Vec<String>,
    /// Worked out when a report first asks.
    shares: OnceLock<Vec<f64>>,
}

impl SharedRing {
    /// The ring of the candidates: made of the one before, where there is one.
    pub(super) fn of(prepare: &Prepare<'_>) -> Arc<Self> {
        let nodes = prepare.plan.hash_nodes;
        prepare.shared.part(&format!("ring/{nodes}"), |old: Option<&SharedRing>| {
            let addresses: Vec<String> =
                prepare.candidates.iter().map(|c| c.endpoint().address().to_owned()).collect();
            let new: Vec<&str> = addresses.iter().map(String::as_str).collect();
            let ring = match old {
                Some(old) => {
                    let before: Vec<&str> = old.addresses.iter().map(String::as_str).collect();
                    old.ring.rebuild(&before, &new)
                }
                None => Ring::build(&new, nodes),
            };
            SharedRing { ring, addresses, shares: OnceLock::new() }
        })
    }
}

struct ConsistentHashPicker {
    ring: Arc<SharedRing>,
}

impl Picker for ConsistentHashPicker {
    #[inline]
    fn pick(&self, ask: &mut Ask<'_>) -> Option<usize> {
        let hash = ask.key?;
        if ask.is_open() {
            return self.ring.ring.owner(hash);
        }
        self.ring.ring.walk(hash, |position| ask.admits(position))
    }

    fn shortcut(&self) -> Option<Shortcut> {
        Some(Shortcut::owner(self.ring.clone()))
    }

    fn expected_share(&self, position: usize) -> Option<f64> {
        self.ring.shares.get_or_init(|| self.ring.ring.shares(|_| true)).get(position).copied()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
