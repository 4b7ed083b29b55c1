//! The system's clock and generator, for those who hand in none.

use std::sync::OnceLock;
#[cfg(not(feature = "tsc"))]
use std::time::Instant;
use std::time::{SystemTime, UNIX_EPOCH};

use equipoise_core::clock::Clock;
use equipoise_core::rng::{Rng, RngSource};

/// The machine's clocks. The stopwatch counts from the first reading in this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl SystemClock {
    /// The machine's clocks.
    pub fn new() -> Self {
        Self
    }
}

impl Clock for SystemClock {
    fn wall_ms(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    #[inline]
    fn nanos(&self) -> u64 {
        nanos()
    }
}

#[cfg(not(feature = "tsc"))]
#[inline]
fn nanos() -> u64 {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    let since = ORIGIN.get_or_init(Instant::now).elapsed();
    // The sum fits for 584 years.
    since.as_secs().wrapping_mul(1_000_000_000).wrapping_add(u64::from(since.subsec_nanos()))
}

/// The processor's counter, calibrated once; the system's clock where it has none that is steady.
#[cfg(feature = "tsc")]
#[inline]
fn nanos() -> u64 {
    static CLOCK: OnceLock<quanta::Clock> = OnceLock::new();
    let clock = CLOCK.get_or_init(quanta::Clock::new);
    clock.delta_as_nanos(0, clock.raw())
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
