//! The peak-sensitive moving average of `peakewma`: jumps to a slow sample at once, comes down
//! slowly. Reading changes nothing. Knows no clock.

use crate::sync::{AtomicU64, Ordering::Relaxed};

/// Decay time: a fast sample after this long counts for 1 - 1/e. Finagle's and Linkerd's default.
const TAU_NS: f64 = 10e9;

/// Three times the decay time: by then a sample has lost 95 % of its weight.
pub const FRESH_NS: u64 = 30_000_000_000;

/// Moving average of response times, in nanoseconds.
#[derive(Debug)]
pub struct PeakEwma {
    /// Bits of an f64; 0 means no sample yet.
    cost: AtomicU64,
    updated: AtomicU64,
}

impl PeakEwma {
    /// No sample yet.
    pub fn new() -> Self {
        Self { cost: AtomicU64::new(0), updated: AtomicU64::new(0) }
    }

    /// Adds one sample. Two samples at the same moment may see each other's instant: the weight of
    /// one is then that of a moment, never negative and never more than 1.
    pub fn record(&self, now_ns: u64, elapsed_ns: u64) {
        let last = self.updated.swap(now_ns, Relaxed);
        let sample = (elapsed_ns.max(1)) as f64;
        let decay = (-(now_ns.saturating_sub(last) as f64) / TAU_NS).exp();
        let mut seen = self.cost.load(Relaxed);
        loop {
            let cost = f64::from_bits(seen);
            let next = if seen == 0 || sample > cost {
                sample
            } else {
                cost * decay + sample * (1.0 - decay)
            };
            match self.cost.compare_exchange(seen, next.to_bits(), Relaxed, Relaxed) {
                Ok(_) => return,
                Err(other) => seen = other,
            }
        }
    }

    /// Nanoseconds; `None` without a sample.
    #[inline]
    pub fn nanos(&self) -> Option<f64> {
        match self.cost.load(Relaxed) {
            0 => None,
            bits => Some(f64::from_bits(bits)),
        }
    }

    /// The same, `None` also where the last sample is older than [`FRESH_NS`]: an endpoint that was
    /// slow once and lost every draw since would otherwise never be asked again.
    #[inline]
    pub fn fresh_nanos(&self, now_ns: u64) -> Option<f64> {
        let age = now_ns.saturating_sub(self.updated.load(Relaxed));
        self.nanos().filter(|_| age <= FRESH_NS)
    }
}

impl Default for PeakEwma {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn jumps_up_and_comes_down_by_the_formula() {
        let e = PeakEwma::new();
        assert_eq!(e.nanos(), None);
        e.record(SECOND, 100);
        assert_eq!(e.nanos(), Some(100.0));
        e.record(2 * SECOND, 900);
        assert_eq!(e.nanos(), Some(900.0));
        e.record(12 * SECOND, 100);
        let expected = 900.0 * (-1.0_f64).exp() + 100.0 * (1.0 - (-1.0_f64).exp());
        assert!((e.nanos().unwrap() - expected).abs() < 1e-9);
    }

    #[test]
    fn case_068_a_clock_that_steps_back_leaves_the_value() {
        let e = PeakEwma::new();
        e.record(10 * SECOND, 500);
        e.record(10 * SECOND - 5_000_000, 100);
        assert_eq!(e.nanos(), Some(500.0));
    }
}
