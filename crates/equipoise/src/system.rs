//! The system's clock and generator, for those who hand in none.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use equipoise_core::clock::Clock;
use equipoise_core::rng::{Rng, RngSource};

/// The machine's clocks.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock(Instant);

impl SystemClock {
    /// A stopwatch that starts now.
    pub fn new() -> Self {
        Self(Instant::now())
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn wall_ms(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    fn nanos(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// A generator per thread (wyrand), seeded by the system. Not for secrets.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRng;

impl RngSource for SystemRng {
    #[inline]
    fn next_u64(&self) -> u64 {
        fastrand::u64(..)
    }
}

/// One thread's own generator.
pub(crate) struct OwnRng(pub(crate) fastrand::Rng);

impl Rng for OwnRng {
    #[inline]
    fn next_u64(&mut self) -> u64 {
        self.0.u64(..)
    }
}
