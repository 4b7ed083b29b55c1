//! Response times in buckets of growing width, for the p99 of a report. Two generations of equal
//! length: a report covers the current and the previous one, so old calls lose their influence in
//! bounded time. Knows no clock.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Buckets per doubling: a quantile is off by at most 1/8 of its value.
const PER_DOUBLING: usize = 4;
/// From 1 µs to 67 s; longer ones count in the last bucket.
const DOUBLINGS: usize = 26;
const BUCKETS: usize = PER_DOUBLING * DOUBLINGS;

/// Counts per bucket, in two generations.
#[derive(Debug)]
pub struct Histogram {
    generation: AtomicU64,
    length: u64,
    counts: [[AtomicU32; BUCKETS]; 2],
}

impl Histogram {
    /// Generations of `length_ns` nanoseconds each.
    pub fn new(length_ns: u64) -> Self {
        Self {
            generation: AtomicU64::new(0),
            length: length_ns.max(1),
            counts: [const { [const { AtomicU32::new(0) }; BUCKETS] }; 2],
        }
    }

    /// Adds one sample.
    pub fn record(&self, now_ns: u64, micros: u64) {
        self.record_in(now_ns / self.length, micros);
    }

    /// The same in the generation with this number, for callers that know the length while they
    /// are compiled.
    #[inline]
    pub(crate) fn record_in(&self, generation: u64, micros: u64) {
        let generation = self.turn(generation);
        let [even, odd] = &self.counts;
        let counts = if generation.is_multiple_of(2) { even } else { odd };
        if let Some(count) = counts.get(bucket_of(micros)) {
            count.fetch_add(1, Relaxed);
        }
    }

    /// The smallest response time (µs) that at least `share` (0 to 1) of the recent calls kept to;
    /// `None` without a call.
    pub fn quantile(&self, now_ns: u64, share: f64) -> Option<u64> {
        self.turn(now_ns / self.length);
        let [even, odd] = &self.counts;
        let both = || {
            even.iter()
                .zip(odd)
                .map(|(a, b)| u64::from(a.load(Relaxed)) + u64::from(b.load(Relaxed)))
        };
        let total: u64 = both().sum();
        if total == 0 {
            return None;
        }
        let rank = ((total as f64 * share).ceil() as u64).clamp(1, total);
        let mut below = 0;
        for (bucket, count) in both().enumerate() {
            if below + count >= rank {
                // Samples are taken to be spread evenly within their bucket.
                let (low, high) = (lower_bound(bucket), lower_bound(bucket + 1));
                let part = (rank - below) as f64 / count as f64;
                return Some(low + ((high - low) as f64 * part) as u64);
            }
            below += count;
        }
        None
    }

    /// Empties what a new generation is about to use. Samples that arrive while it is emptied may
    /// be lost; a report can bear that, and a lock on each call it could not.
    #[inline]
    fn turn(&self, now: u64) -> u64 {
        let seen = self.generation.load(Relaxed);
        if now > seen {
            self.turn_from(seen, now);
        }
        now.max(seen)
    }

    #[cold]
    fn turn_from(&self, seen: u64, now: u64) {
        if self.generation.compare_exchange(seen, now, Relaxed, Relaxed).is_ok() {
            for (parity, counts) in (0_u64..).zip(&self.counts) {
                if now % 2 == parity || now - seen > 1 {
                    counts.iter().for_each(|c| c.store(0, Relaxed));
                }
            }
        }
    }
}

fn bucket_of(micros: u64) -> usize {
    let micros = micros.max(1);
    let doubling = micros.ilog2() as usize;
    // The two bits below the leading one tell the quarter.
    let quarter = if doubling >= 2 {
        (micros >> (doubling - 2)) as usize & 3
    } else {
        (micros << (2 - doubling)) as usize & 3
    };
    (doubling * PER_DOUBLING + quarter).min(BUCKETS - 1)
}

fn lower_bound(bucket: usize) -> u64 {
    let (doubling, quarter) = (bucket / PER_DOUBLING, bucket % PER_DOUBLING);
    ((4 + quarter as u64) << doubling) / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn quantiles_are_right_within_an_eighth() {
        let h = Histogram::new(30 * SECOND);
        for micros in 1..=10_000 {
            h.record(0, micros);
        }
        for share in [0.01, 0.5, 0.9, 0.99, 1.0] {
            let exact = 10_000.0 * share;
            let found = h.quantile(0, share).unwrap() as f64;
            assert!((found - exact).abs() <= exact / 8.0 + 1.0, "{share}: {found} for {exact}");
        }
    }

    #[test]
    fn old_generations_are_forgotten() {
        let h = Histogram::new(30 * SECOND);
        h.record(SECOND, 1_000_000);
        h.record(31 * SECOND, 10);
        assert!(h.quantile(31 * SECOND, 1.0).unwrap() > 900_000);
        assert!(h.quantile(61 * SECOND, 1.0).unwrap() < 20);
        assert_eq!(h.quantile(500 * SECOND, 0.99), None);
    }

    #[test]
    fn every_time_has_a_bucket() {
        for micros in [0, 1, 2, 3, 7, 1000, u64::from(u32::MAX), u64::MAX] {
            let b = bucket_of(micros);
            assert!(b < BUCKETS);
            assert!(micros.max(1) >= lower_bound(b), "{micros}");
        }
    }
}
