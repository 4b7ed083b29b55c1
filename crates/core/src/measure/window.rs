//! A sliding window of response times in ten buckets: what `shortestresponse` averages. One atomic
//! word per bucket, so that a reader never sees a count without its sum. Knows no clock.

use crate::sync::{AtomicU64, Ordering::Relaxed};

/// Buckets per window.
pub(crate) const BUCKETS: u64 = 10;

/// Bits of a bucket's word: tick, number of samples, sum of microseconds.
const COUNT_BITS: u32 = 18;
const SUM_BITS: u32 = 32;
const MAX_COUNT: u64 = (1 << COUNT_BITS) - 1;
const MAX_SUM: u64 = (1 << SUM_BITS) - 1;
const TICKS: u64 = 1 << (64 - COUNT_BITS - SUM_BITS);

/// Number and sum of the samples of the last period.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct WindowSum {
    /// How many samples.
    pub count: u64,
    /// Their sum, in microseconds.
    pub micros: u64,
}

impl WindowSum {
    /// Mean in microseconds, truncated; `None` without a sample.
    pub fn average(self) -> Option<u64> {
        self.micros.checked_div(self.count)
    }
}

/// Samples of the last period, per bucket.
#[derive(Debug)]
pub struct Window {
    buckets: [AtomicU64; BUCKETS as usize],
    /// Nanoseconds per bucket.
    width: u64,
}

impl Window {
    /// A window over the last `period_ns` nanoseconds (at least ten).
    pub fn new(period_ns: u64) -> Self {
        Self {
            buckets: std::array::from_fn(|_| AtomicU64::new(0)),
            width: (period_ns / BUCKETS).max(1),
        }
    }

    /// Nanoseconds after which the oldest bucket is dropped.
    pub fn bucket_width(&self) -> u64 {
        self.width
    }

    /// Adds one sample. A bucket that is full (262 143 samples or 71 minutes of them) takes no
    /// more, which leaves its mean as it is.
    pub fn record(&self, now_ns: u64, micros: u64) {
        self.record_in(now_ns / self.width, micros);
    }

    /// The same in the bucket with this number: for callers that know the width while they are
    /// compiled, since the division is the dearest part of a record.
    #[inline]
    pub(crate) fn record_in(&self, bucket: u64, micros: u64) {
        let tick = bucket + 1;
        let Some(bucket) = self.buckets.get((tick % BUCKETS) as usize) else { return };
        let micros = micros.min(MAX_SUM);
        let mut seen = bucket.load(Relaxed);
        loop {
            let (old_tick, count, sum) = unpack(seen);
            let (count, sum) = if old_tick == tick % TICKS { (count, sum) } else { (0, 0) };
            if count == MAX_COUNT || sum + micros > MAX_SUM {
                return;
            }
            let next = pack(tick, count + 1, sum + micros);
            match bucket.compare_exchange(seen, next, Relaxed, Relaxed) {
                Ok(_) => return,
                Err(other) => seen = other,
            }
        }
    }

    /// What the window holds at `now_ns`.
    pub fn sum(&self, now_ns: u64) -> WindowSum {
        let now = now_ns / self.width + 1;
        let mut total = WindowSum::default();
        for bucket in &self.buckets {
            let (tick, count, sum) = unpack(bucket.load(Relaxed));
            // Ticks are kept modulo TICKS; how long ago a bucket was filled is what counts.
            if (now % TICKS + TICKS - tick) % TICKS < BUCKETS {
                total.count += count;
                total.micros += sum;
            }
        }
        total
    }
}

fn pack(tick: u64, count: u64, sum: u64) -> u64 {
    (tick % TICKS) << (COUNT_BITS + SUM_BITS) | count << SUM_BITS | sum
}

fn unpack(word: u64) -> (u64, u64, u64) {
    (word >> (COUNT_BITS + SUM_BITS), (word >> SUM_BITS) & MAX_COUNT, word & MAX_SUM)
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn samples_leave_after_the_period() {
        let window = Window::new(30 * SECOND);
        window.record(0, 100);
        window.record(SECOND, 300);
        assert_eq!(window.sum(2 * SECOND).average(), Some(200));
        window.record(29 * SECOND, 500);
        assert_eq!(window.sum(29 * SECOND).average(), Some(300));
        assert_eq!(window.sum(31 * SECOND).average(), Some(500));
        assert_eq!(window.sum(60 * SECOND).average(), None);
    }

    #[test]
    fn a_full_bucket_keeps_its_mean() {
        let window = Window::new(10);
        window.record(5, MAX_SUM - 1);
        window.record(5, 100);
        assert_eq!(window.sum(5), WindowSum { count: 1, micros: MAX_SUM - 1 });
    }

    #[test]
    fn a_clock_that_steps_back_does_no_harm() {
        let window = Window::new(30 * SECOND);
        window.record(100 * SECOND, 7);
        window.record(95 * SECOND, 9);
        assert_eq!(window.sum(100 * SECOND).count, 2);
        assert_eq!(window.sum(0).count, 0);
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    #[test]
    fn model_no_sample_is_lost_or_torn() {
        loom::model(|| {
            let window = Arc::new(Window::new(10));
            let other = window.clone();
            let writer = thread::spawn(move || other.record(5, 10));
            window.record(5, 30);
            let seen = window.sum(5);
            assert!(
                seen == WindowSum { count: 1, micros: 30 }
                    || seen == WindowSum { count: 2, micros: 40 }
            );
            writer.join().unwrap();
            assert_eq!(window.sum(5), WindowSum { count: 2, micros: 40 });
        });
    }
}
