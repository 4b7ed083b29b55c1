//! Time between attempts to connect: exponential, capped, and with jitter after the cap, so that
//! many consumers of one provider do not come back at the same instant.

use std::time::Duration;

/// Base 1 s, doubled up to 30 s, then moved by up to 30 % either way.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// First delay.
    pub base: Duration,
    /// Largest delay before jitter.
    pub cap: Duration,
    /// Largest part of the delay that jitter adds or takes, 0 to 1.
    pub jitter: f64,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { base: Duration::from_secs(1), cap: Duration::from_secs(30), jitter: 0.3 }
    }
}

impl Backoff {
    /// The delay after `failures` failed attempts (0 counts as 1), before jitter.
    pub fn bare(&self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1).min(63);
        let factor = 1_u64 << doublings;
        let nanos = self.base.as_nanos().saturating_mul(u128::from(factor));
        let capped = nanos.min(self.cap.as_nanos());
        Duration::from_nanos(u64::try_from(capped).unwrap_or(u64::MAX))
    }

    /// The delay after `failures` failed attempts; `chance` (0 to 1) places it in its range.
    pub fn delay(&self, failures: u32, chance: f64) -> Duration {
        let factor = 1.0 + self.jitter.clamp(0.0, 1.0) * (2.0 * chance.clamp(0.0, 1.0) - 1.0);
        self.bare(failures).mul_f64(factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_085_the_delay_never_overflows() {
        let backoff = Backoff { cap: Duration::from_secs(60), ..Backoff::default() };
        let delays: Vec<u64> = (1..=100).map(|n| backoff.bare(n).as_secs()).collect();
        assert_eq!(delays[..8], [1, 2, 4, 8, 16, 32, 60, 60]);
        assert!(delays[6..].iter().all(|d| *d == 60));
        assert_eq!(backoff.bare(u32::MAX).as_secs(), 60);
        assert_eq!(backoff.bare(0).as_secs(), 1);
    }

    #[test]
    fn case_163_consumers_do_not_come_back_at_the_same_instant() {
        let backoff = Backoff::default();
        let mut rng = fastrand::Rng::with_seed(7);
        for (failures, most) in [(1, 100), (10, 100)] {
            let mut buckets = std::collections::BTreeMap::<u128, u32>::new();
            for _ in 0..1000 {
                let delay = backoff.delay(failures, rng.f64());
                *buckets.entry(delay.as_millis() / 50).or_default() += 1;
            }
            assert!(buckets.values().all(|n| *n <= most + 30), "{buckets:?}");
            assert!(buckets.len() >= 12);
        }
        assert_eq!(backoff.delay(1, 0.0), Duration::from_millis(700));
        assert_eq!(backoff.delay(1, 1.0), Duration::from_millis(1300));
    }
}
