//! What the suite says about a claim that does not hold. Plain data.

use std::fmt;

use equipoise_core::balance::Weights;

/// What a strategy claims, in its `About` or by being a strategy.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Claim {
    /// A view can be built with it.
    Prepares,
    /// Somebody is chosen whenever there is a candidate, and nobody who was tried or is unavailable
    /// or was left out by a router while another remains.
    Admitted,
    /// Nobody goes without calls while all are equal.
    EverybodyServes,
    /// `weights`, in this form.
    Weights(Weights),
    /// A weight of 0 gets nothing while another is positive, and serves when it alone remains.
    ZeroWeight,
    /// `Picker::expected_share`.
    ExpectedShare,
    /// `avoids_busy`.
    AvoidsBusy,
    /// `avoids_slow`; failing counts as slow, and who was slow once is asked again within minutes.
    AvoidsSlow,
    /// `keyed`.
    Keyed,
    /// `reads_clock`: not at all without the claim, once per pick with it.
    ReadsClock,
    /// Weights that grow with time are followed by the shares.
    Warmup,
    /// Nothing is in flight when every attempt has ended.
    Counts,
}

/// The numbers that contradict a claim. Places are those of the list.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Finding {
    /// No view could be built.
    Refused(String),
    /// Nobody was chosen although there were candidates.
    Nobody {
        /// How often.
        times: u64,
        /// Out of so many.
        picks: u64,
    },
    /// Somebody was chosen who may not be.
    Picked {
        /// Who.
        place: usize,
        /// How often.
        times: u64,
    },
    /// Somebody was chosen who is not in the list of the view.
    Stranger {
        /// How often.
        times: u64,
        /// Out of so many.
        picks: u64,
    },
    /// Somebody was never chosen who ought to be.
    NeverPicked {
        /// Who.
        place: usize,
        /// In so many picks.
        picks: u64,
    },
    /// Counts do not fit the shares that follow from the claim.
    Shares {
        /// Picks per place.
        observed: Vec<u64>,
        /// Shares per place, 0 to 1.
        expected: Vec<f64>,
        /// Pearson's sum.
        chi_square: f64,
        /// How likely it is if the claim holds.
        p: f64,
    },
    /// Somebody was chosen too often.
    TooMuch {
        /// Who.
        place: usize,
        /// Part of all picks, 0 to 1.
        share: f64,
        /// The most that is compatible with the claim.
        most: f64,
    },
    /// The shares it announces are none.
    NoShares {
        /// As announced, per place.
        announced: Vec<f64>,
    },
    /// Equal calls went to different endpoints.
    Moved {
        /// Hash of the key, where the calls had one.
        key: Option<u32>,
        /// The endpoint of one call.
        from: usize,
        /// The endpoint of another.
        to: usize,
    },
    /// Clock readings that are not claimed.
    ClockRead {
        /// How often the clock was read.
        reads: u64,
        /// In so many picks.
        picks: u64,
    },
    /// A prepared weight is not what it was at any moment of the permitted lag.
    Weight {
        /// Who.
        place: usize,
        /// Age of the provider, ms.
        uptime_ms: i64,
        /// As prepared.
        weight: u32,
        /// As it was at the beginning of the lag.
        least: u32,
        /// As it is now.
        most: u32,
    },
    /// Attempts are still counted as in flight.
    InFlight {
        /// Where.
        place: usize,
        /// How many.
        active: u32,
    },
}

/// A claim that does not hold.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{strategy} claims {claim}; with {setting}: {finding}")]
pub struct Violation {
    /// Name of the strategy.
    pub strategy: String,
    /// The claim.
    pub claim: Claim,
    /// In which setting it was tested.
    pub setting: String,
    /// What contradicts it.
    pub finding: Finding,
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Claim::Prepares => f.write_str("to be a strategy"),
            Claim::Admitted => f.write_str("to choose among those it may"),
            Claim::EverybodyServes => f.write_str("to let everybody serve"),
            Claim::Weights(weights) => write!(f, "weights {weights:?}"),
            Claim::ZeroWeight => f.write_str("to leave a weight of 0 out"),
            Claim::ExpectedShare => f.write_str("to know its shares"),
            Claim::AvoidsBusy => f.write_str("avoids_busy"),
            Claim::AvoidsSlow => f.write_str("avoids_slow"),
            Claim::Keyed => f.write_str("keyed"),
            Claim::ReadsClock => f.write_str("reads_clock"),
            Claim::Warmup => f.write_str("to follow weights that grow"),
            Claim::Counts => f.write_str("to count attempts"),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::Refused(reason) => f.write_str(reason),
            Finding::Nobody { times, picks } => {
                write!(f, "nobody was chosen in {times} of {picks} picks")
            }
            Finding::Picked { place, times } => {
                write!(f, "place {place} was chosen {times} times and may not be")
            }
            Finding::Stranger { times, picks } => {
                write!(f, "in {times} of {picks} picks the chosen one is not in the view's list")
            }
            Finding::NeverPicked { place, picks } => {
                write!(f, "place {place} was never chosen in {picks} picks")
            }
            Finding::Shares { observed, expected, chi_square, p } => write!(
                f,
                "{observed:?} does not fit {expected:.4?} (chi-square {chi_square:.1}, p {p:.1e})"
            ),
            Finding::TooMuch { place, share, most } => {
                write!(f, "place {place} got {share:.4} of the picks, at most {most:.4} fits")
            }
            Finding::NoShares { announced } => {
                write!(f, "{announced:?} are no shares that sum to 1")
            }
            Finding::Moved { key: Some(key), from, to } => {
                write!(f, "key {key:#010x} went to place {from} and to place {to}")
            }
            Finding::Moved { key: None, from, to } => {
                write!(f, "the same pick went to place {from} and to place {to}")
            }
            Finding::ClockRead { reads, picks } => {
                write!(f, "{picks} picks read the clock {reads} times")
            }
            Finding::Weight { place, uptime_ms, weight, least, most } => write!(
                f,
                "place {place} weighs {weight} after {uptime_ms} ms, not {least} to {most}"
            ),
            Finding::InFlight { place, active } => {
                write!(f, "{active} attempts at place {place} never ended")
            }
        }
    }
}
