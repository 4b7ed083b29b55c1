//! Time as an argument. `core` cannot read a clock: the system's lives in the facade, and a test
//! hands in one that it moves itself.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// What time it is, on the wall and on the stopwatch.
pub trait Clock: Send + Sync {
    /// Milliseconds since the Unix epoch; may jump. Warmup compares it with the start times that
    /// providers announce.
    fn wall_ms(&self) -> i64;

    /// Nanoseconds since some fixed instant. Meant to be monotonic, but nothing breaks when it
    /// steps back: an elapsed time is then 0.
    fn nanos(&self) -> u64;
}

/// A clock that is read once at most, however often it is asked: what belongs to one moment.
pub struct OneReading<'a> {
    clock: &'a dyn Clock,
    /// [`NEVER`] until it is read.
    wall_ms: AtomicI64,
    /// The same.
    nanos: AtomicU64,
}

/// A reading that no clock gives.
const NEVER: i64 = i64::MIN;

impl<'a> OneReading<'a> {
    /// Not read yet.
    #[inline]
    pub fn of(clock: &'a dyn Clock) -> Self {
        Self::at(clock, NEVER as u64)
    }

    /// The stopwatch has been read.
    #[inline]
    pub(crate) fn at(clock: &'a dyn Clock, nanos: u64) -> Self {
        Self { clock, wall_ms: AtomicI64::new(NEVER), nanos: AtomicU64::new(nanos) }
    }
}

impl Clock for OneReading<'_> {
    #[inline]
    fn wall_ms(&self) -> i64 {
        let mut reading = self.wall_ms.load(Relaxed);
        if reading == NEVER {
            reading = self.clock.wall_ms();
            self.wall_ms.store(reading, Relaxed);
        }
        reading
    }

    #[inline]
    fn nanos(&self) -> u64 {
        let mut reading = self.nanos.load(Relaxed);
        if reading == NEVER as u64 {
            reading = self.clock.nanos();
            self.nanos.store(reading, Relaxed);
        }
        reading
    }
}

/// A clock that stands still until it is moved.
#[derive(Debug, Default)]
pub struct ManualClock {
    wall_ms: AtomicI64,
    nanos: AtomicU64,
}

impl ManualClock {
    /// A clock that stands at `wall_ms` milliseconds since the epoch.
    pub fn at(wall_ms: i64) -> Self {
        Self { wall_ms: AtomicI64::new(wall_ms), nanos: AtomicU64::new(1_000_000_000) }
    }

    /// Moves both readings forward.
    pub fn advance_ms(&self, ms: u64) {
        self.wall_ms.fetch_add(ms as i64, Relaxed);
        self.nanos.fetch_add(ms * 1_000_000, Relaxed);
    }

    /// Moves the stopwatch alone, by microseconds, also backwards.
    pub fn shift_micros(&self, micros: i64) {
        let by = micros.saturating_mul(1000);
        if by >= 0 {
            self.nanos.fetch_add(by as u64, Relaxed);
        } else {
            self.nanos.fetch_sub(by.unsigned_abs(), Relaxed);
        }
    }

    /// Sets the wall reading.
    pub fn set_wall_ms(&self, ms: i64) {
        self.wall_ms.store(ms, Relaxed);
    }
}

impl Clock for ManualClock {
    fn wall_ms(&self) -> i64 {
        self.wall_ms.load(Relaxed)
    }

    fn nanos(&self) -> u64 {
        self.nanos.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_reading_stays_what_it_was() {
        let clock = ManualClock::at(5_000);
        let moment = OneReading::of(&clock);
        clock.advance_ms(10);
        let read = (moment.wall_ms(), moment.nanos());
        assert_eq!(read, (clock.wall_ms(), clock.nanos()), "read when it is asked first");
        clock.advance_ms(10);
        assert_eq!((moment.wall_ms(), moment.nanos()), read);
    }
}
