//! Pauses in which the world stands still, as during a long garbage collection: whoever arrives in
//! one, or would finish in one, waits for its end.

use std::time::Duration;

use tokio::time::Instant;

/// A pause at the end of every period.
pub(crate) struct Pauses {
    start: Instant,
    every: Duration,
    length: Duration,
}

impl Pauses {
    /// One of `length` in every period of `every`, which is longer; the first one `early` before
    /// its time.
    pub(crate) fn new(every: Duration, length: Duration, early: Duration) -> Self {
        let now = Instant::now();
        Self { start: now.checked_sub(early).unwrap_or(now), every, length }
    }

    /// Waits until the world moves.
    pub(crate) async fn pass(&self) {
        while let Some(left) = self.left(self.start.elapsed()) {
            tokio::time::sleep(left).await;
        }
    }

    /// What is left of the pause in progress.
    fn left(&self, since_start: Duration) -> Option<Duration> {
        let period = self.every.as_nanos().max(1);
        let at = since_start.as_nanos() % period;
        let begins = period.saturating_sub(self.length.as_nanos());
        let left = (at >= begins).then(|| period - at)?;
        Some(Duration::from_nanos(u64::try_from(left).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_the_end_of_a_period() {
        let ms = Duration::from_millis;
        let pauses = Pauses::new(ms(600), ms(200), Duration::ZERO);
        for (at, left) in [(0, None), (399, None), (400, Some(200)), (599, Some(1)), (600, None)] {
            assert_eq!(pauses.left(ms(at)), left.map(ms), "{at}");
        }
    }
}
