//! What most picks come down to. While nobody was tried and everybody is available, some strategies
//! need nothing but chance or a turn; asking their picker then takes longer than deciding. Holds
//! parts of pickers, decides nothing of its own.

use std::sync::Arc;

use super::alias::Alias;
use super::cycle::Rotation;
use super::least_active::Minimum;
use super::p2c::TwoByActive;
use super::peak_ewma::TwoByLatency;
use super::shortest_response::Soonest;
use crate::clock::{Clock, OneReading};
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

    pub(super) fn soonest(soonest: Arc<Soonest>) -> Self {
        Self(Way::Soonest(soonest))
    }

    pub(super) fn fewest(minimum: Arc<Minimum>) -> Self {
        Self(Way::Fewest(minimum))
    }

    /// The position of the one that serves. Where the picker must be asked after all, the clock
    /// for that, since one pick reads it once.
    #[inline(always)]
    pub(crate) fn take<'c>(
        &self,
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
            Way::Soonest(soonest) => {
                let now_ns = clock.nanos();
                let chosen = soonest.take(rng.next_u64(), now_ns);
                chosen.ok_or_else(|| OneReading::at(clock, now_ns))
            }
        }
    }
}
