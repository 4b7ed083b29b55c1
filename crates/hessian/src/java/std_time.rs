//! From and to the times of `std`. Ranges differ, so ways back may fail.

use std::time::{Duration as StdDuration, SystemTime, UNIX_EPOCH};

use crate::java::{Date, Duration, Instant, ParseError};

impl From<SystemTime> for Instant {
    fn from(time: SystemTime) -> Self {
        let nanos = match time.duration_since(UNIX_EPOCH) {
            Ok(after) => i128::try_from(after.as_nanos()).unwrap_or(i128::MAX),
            Err(before) => -i128::try_from(before.duration().as_nanos()).unwrap_or(i128::MAX),
        };
        let seconds = nanos.div_euclid(1_000_000_000);
        Self {
            seconds: i64::try_from(seconds).unwrap_or(i64::MAX),
            // A remainder of less than 1 000 000 000.
            nanos: nanos.rem_euclid(1_000_000_000) as i32,
        }
    }
}

impl TryFrom<Instant> for SystemTime {
    type Error = ParseError;

    /// # Errors
    /// The system's times do not reach that far.
    fn try_from(instant: Instant) -> Result<Self, ParseError> {
        let whole = StdDuration::from_secs(instant.seconds.unsigned_abs());
        let start = match instant.seconds < 0 {
            true => UNIX_EPOCH.checked_sub(whole),
            false => UNIX_EPOCH.checked_add(whole),
        };
        let nanos = u64::try_from(instant.nanos).ok().map(StdDuration::from_nanos);
        let time = start.zip(nanos).and_then(|(start, nanos)| start.checked_add(nanos));
        time.ok_or_else(|| ParseError::new(&instant.to_string(), "time of this system"))
    }
}

impl From<SystemTime> for Date {
    fn from(time: SystemTime) -> Self {
        let Instant { seconds, nanos } = time.into();
        Self(seconds.saturating_mul(1000).saturating_add(i64::from(nanos / 1_000_000)))
    }
}

impl TryFrom<Date> for SystemTime {
    type Error = ParseError;

    /// # Errors
    /// The system's times do not reach that far.
    fn try_from(date: Date) -> Result<Self, ParseError> {
        let nanos = (date.0.rem_euclid(1000) * 1_000_000) as i32;
        Instant { seconds: date.0.div_euclid(1000), nanos }.try_into()
    }
}

impl From<StdDuration> for Duration {
    /// Longer than an `i64` of seconds is cut to that.
    fn from(length: StdDuration) -> Self {
        let seconds = i64::try_from(length.as_secs()).unwrap_or(i64::MAX);
        // Below 1 000 000 000.
        Self { seconds, nanos: length.subsec_nanos() as i32 }
    }
}

impl TryFrom<Duration> for StdDuration {
    type Error = ParseError;

    /// # Errors
    /// It is negative.
    fn try_from(length: Duration) -> Result<Self, ParseError> {
        let seconds = u64::try_from(length.seconds).ok();
        let nanos = u32::try_from(length.nanos).ok().filter(|nanos| *nanos < 1_000_000_000);
        let length_of = |(seconds, nanos)| StdDuration::new(seconds, nanos);
        let negative = || ParseError::new(&length.to_string(), "length of time from 0 on");
        seconds.zip(nanos).map(length_of).ok_or_else(negative)
    }
}
