//! What most picks come down to. While nobody was tried and everybody is available, some strategies
//! need nothing but chance or a turn; asking their picker then takes longer than deciding. Holds
//! parts of pickers, decides nothing of its own.

use std::sync::Arc;

use super::alias::Alias;
use super::consistent_hash::SharedRing;
use super::cycle::Rotation;
use super::least_active::Minimum;
use super::p2c::TwoByActive;
use super::peak_ewma::TwoByLatency;
use super::shortest_response::Soonest;
use crate::call::Key;
use crate::clock::{Clock, OneReading};
use crate::hash::key::hash_of_key;
use crate::rng::Rng;

/// What a picker does while everybody is admitted.
#[derive(Clone)]
pub struct Shortcut(Way);

#[derive(Clone)]
enum Way {
    Draw(Arc<Alias>),
    Turn(Arc<Rotation>),
    Two(Arc<TwoByActive>),
    TwoTimed(Arc<TwoByLatency>),
    Fewest(Arc<Minimum>),
    Soonest(Arc<Soonest>),
    Owner(Arc<SharedRing>),
}

/// The ways that take no longer than a call: decided wherever a call chooses.
pub(crate) enum Spot {
    Draw(Arc<Alias>),
    Turn(Arc<Rotation>),
    None,
}

impl Spot {
    #[inline(always)]
    pub(crate) fn take(&self, rng: &mut dyn Rng) -> Option<usize> {
        match self {
            Spot::Draw(alias) => Some(alias.draw(rng.next_u64())),
            Spot::Turn(rotation) => Some(rotation.next()),
            Spot::None => None,
        }
    }
}

impl Shortcut {
    /// Draws by weight.
    pub fn draw(alias: Arc<Alias>) -> Self {
        Self(Way::Draw(alias))
    }

    /// Takes the next turn.
    pub fn turn(rotation: Arc<Rotation>) -> Self {
        Self(Way::Turn(rotation))
    }

    pub(super) fn two(two: Arc<TwoByActive>) -> Self {
        Self(Way::Two(two))
    }

    pub(super) fn two_timed(two: Arc<TwoByLatency>) -> Self {
        Self(Way::TwoTimed(two))
    }

    pub(super) fn owner(ring: Arc<SharedRing>) -> Self {
        Self(Way::Owner(ring))
    }

    pub(super) fn soonest(soonest: Arc<Soonest>) -> Self {
        Self(Way::Soonest(soonest))
    }

    pub(super) fn fewest(minimum: Arc<Minimum>) -> Self {
        Self(Way::Fewest(minimum))
    }

    /// The part that is worth taking without a call, if it is one.
    pub(crate) fn spot(&self) -> Spot {
        match &self.0 {
            Way::Draw(alias) => Spot::Draw(alias.clone()),
            Way::Turn(rotation) => Spot::Turn(rotation.clone()),
            _ => Spot::None,
        }
    }

    /// The position of the one that serves. Where the picker must be asked after all, the clock
    /// for that, since one pick reads it once.
    #[inline]
    pub(crate) fn take<'c>(
        &self,
        key: Key<'_>,
        rng: &mut dyn Rng,
        clock: &'c dyn Clock,
    ) -> Result<usize, OneReading<'c>> {
        let unread = || OneReading::of(clock);
        match &self.0 {
            Way::Draw(alias) => Ok(alias.draw(rng.next_u64())),
            Way::Turn(rotation) => Ok(rotation.next()),
            Way::Two(two) => {
                // Drawn here, where the generator's type is known: a dynamic call each would take
                // as long as the choice itself.
                let (pair, coin) = (rng.next_u64(), rng.next_u64());
                two.take(pair, coin).ok_or_else(unread)
            }
            Way::TwoTimed(two) => {
                let (pair, coin) = (rng.next_u64(), rng.next_u64());
                let now_ns = clock.nanos();
                two.take(pair, coin, now_ns).ok_or_else(|| OneReading::at(clock, now_ns))
            }
            Way::Fewest(minimum) => minimum.least_active(rng.next_u64()).ok_or_else(unread),
            Way::Owner(ring) => {
                let hash = match key {
                    Key::Hashed(hash) => hash,
                    Key::Text(text) => hash_of_key(text),
                    Key::Missing | Key::Arguments(_) => return Err(unread()),
                };
                ring.ring.owner(hash).ok_or_else(unread)
            }
            Way::Soonest(soonest) => {
                let now_ns = clock.nanos();
                let chosen = soonest.take(rng.next_u64(), now_ns);
                chosen.ok_or_else(|| OneReading::at(clock, now_ns))
            }
        }
    }
}
