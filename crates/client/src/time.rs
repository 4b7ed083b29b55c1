//! The clock of a consumer that runs on tokio: its stopwatch is the runtime's, so that a test with
//! paused time moves everything at once.

use std::time::{SystemTime, UNIX_EPOCH};

use equipoise_core::clock::Clock;
use tokio::time::Instant;

/// Reads tokio's clock. The wall reading is that of the start plus the time since then, so it does
/// not jump when the machine's clock is set.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    started: Instant,
    wall_ms: i64,
}

impl TokioClock {
    /// A clock that agrees with the machine's now.
    pub fn new() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::at(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    /// A clock whose wall reading is `wall_ms` (ms since the epoch) now.
    pub fn at(wall_ms: i64) -> Self {
        Self { started: Instant::now(), wall_ms }
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TokioClock {
    fn wall_ms(&self) -> i64 {
        let passed = i64::try_from(self.started.elapsed().as_millis()).unwrap_or(i64::MAX);
        self.wall_ms.saturating_add(passed)
    }

    fn nanos(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// The calling thread's generator (wyrand), handed to one pick.
pub(crate) struct ThreadRng;

/// The calling thread's generator.
pub(crate) fn thread_rng() -> ThreadRng {
    ThreadRng
}

impl equipoise_core::rng::Rng for ThreadRng {
    fn next_u64(&mut self) -> u64 {
        fastrand::u64(..)
    }
}
