//! `shortestresponse`: the candidate that is expected to answer first.
//!
//! # Rule
//!
//! The exact minimum of (average response time of the last 30 s) x (active + 1). The average is of
//! successes; of failures where there are only those, each at least its timeout, so that a provider
//! does not look fast by failing. No sample: 0 while nothing is in flight, else the mean average of
//! the sampled candidates x (active + 1). Ties are drawn by weight; weights of 0 do not take part
//! while another is positive.
//!
//! # When to use it
//!
//! Providers whose speed differs by hardware or load, few consumers. With very many consumers all
//! run after the same fast provider: then `p2c` or `peakewma`.
//!
//! # Cost
//!
//! As `leastactive`, with 64-bit estimates. An answer updates one average (ten buckets). Once per
//! bucket (3 s) one pick refreshes the averages of all, since samples leave the window by time
//! alone; that pick is a change.
//!
//! # State
//!
//! Ten buckets per endpoint and method; they survive a change of the list.
//!
//! # Dubbo
//!
//! `shortestresponse`. There the window is one global offset, reset late, times are whole
//! milliseconds (a call below 1 ms costs nothing), and failures do not count at all.
//!
//! # References
//!
//! `ShortestResponseLoadBalance.java` (3.3).

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::least_active::{Minimum, SHORTEST};
use super::{About, Ask, Picker, Prepare, Shortcut, Strategy, Weights};
use crate::candidates::Candidate;
use crate::measure::WINDOW;

/// The row.
pub(super) struct ShortestResponse;

impl Strategy for ShortestResponse {
    fn about(&self) -> About {
        About {
            origin: "Dubbo",
            use_for: "providers of differing speed, few consumers",
            cost: "exact minimum, sub-linear; one clock read",
            weights: Weights::Ties,
            avoids_busy: true,
            avoids_slow: true,
            reads_clock: true,
            ..About::named("shortestresponse", "least expected response time, ties by weight")
        }
    }

    fn prepare(&self, prepare: &Prepare<'_>) -> Box<dyn Picker> {
        Box::new(ShortestResponsePicker(Arc::new(Soonest {
            minimum: Minimum::new(prepare.candidates),
            refresh_at: AtomicU64::new(0),
        })))
    }
}

struct ShortestResponsePicker(Arc<Soonest>);

/// The candidates by estimate, and when their averages are out of date.
pub(super) struct Soonest {
    minimum: Minimum,
    /// Stopwatch reading at which some bucket may leave the window.
    refresh_at: AtomicU64,
}

/// Nanoseconds per bucket of the window.
const BUCKET_NS: u64 = WINDOW.as_nanos() as u64 / 10;

impl Soonest {
    /// The position with the smallest estimate, while everybody is admitted; `None` where averages
    /// have to be brought up to date first.
    #[inline]
    pub(super) fn take(&self, chance: u64, now_ns: u64) -> Option<usize> {
        if now_ns >= self.refresh_at.load(Relaxed) {
            return None;
        }
        self.minimum.shortest_response(chance)
    }

    /// Brings all averages up to date, at most once per bucket; one pick does it.
    #[inline]
    fn refresh(&self, ask: &Ask<'_>) {
        let now = ask.clock.nanos();
        let due = self.refresh_at.load(Relaxed);
        if now >= due {
            // Buckets change at multiples of their width.
            let next = (now / BUCKET_NS + 1) * BUCKET_NS;
            if self.refresh_at.compare_exchange(due, next, Relaxed, Relaxed).is_ok() {
                self.refresh_all(ask.candidates, now);
            }
        }
    }

    #[cold]
    fn refresh_all(&self, candidates: &[Candidate], now_ns: u64) {
        let Some(board) = self.minimum.board() else { return };
        let (mut sum, mut sampled) = (0_u128, 0_u128);
        for candidate in candidates {
            let measurements = candidate.measurements();
            let average = measurements.average_micros(now_ns);
            board.set_average(measurements.slot(), average);
            if let Some(micros) = average {
                sum += u128::from(micros);
                sampled += 1;
            }
        }
        let mean = sum.checked_div(sampled).unwrap_or(0);
        board.set_mean(u64::try_from(mean).unwrap_or(u64::MAX));
    }
}

impl Picker for ShortestResponsePicker {
    #[inline]
    fn pick(&self, ask: &mut Ask<'_>) -> Option<usize> {
        self.0.refresh(ask);
        self.0.minimum.pick::<SHORTEST>(ask)
    }

    fn shortcut(&self) -> Option<Shortcut> {
        Some(Shortcut::soonest(self.0.clone()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
