//! Who takes turns at all, and how many in a cycle. Pure.

/// The candidates that have turns, with their weights in lowest terms.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    /// Their positions in the candidate list, ascending.
    pub(super) at: Vec<u32>,
    /// Turns of each in one cycle; at least 1.
    pub(super) weight: Vec<u32>,
    /// Turns in one cycle: the sum of `weight`.
    pub(super) total: u64,
    /// All weights are 0, so that each has one turn.
    pub(super) idle: bool,
}

impl Drawn {
    /// `None` for an empty list.
    pub(super) fn new(weights: &[u32]) -> Option<Self> {
        if weights.is_empty() {
            return None;
        }
        let idle = weights.iter().all(|weight| *weight == 0);
        let divisor = weights.iter().fold(0, |divisor, weight| gcd(*weight, divisor)).max(1);
        let weights = weights.iter().map(|weight| if idle { 1 } else { weight / divisor });
        let turns = weights.clone().map(u64::from).sum();
        let drawn = (0_u32..).zip(weights).filter(|(_, weight)| *weight > 0);
        let (at, weight) = drawn.unzip();
        Some(Self { at, weight, total: turns, idle })
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    let (mut a, mut b) = (a, b);
    while b > 1 {
        (a, b) = (b, a % b);
    }
    // With b = 1 nothing is left to find; b = 0 leaves it in a.
    if b == 1 { 1 } else { a }
}
