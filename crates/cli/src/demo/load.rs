//! Open-loop load: calls start when their time has come, whether or not earlier ones were answered,
//! as the calls of many independent users do. Times are counted from the moment a call was due, so
//! that a slow answer cannot hide by delaying the next question.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use equipoise::core::rng::{Rng, SeededRng};
use equipoise::{Body, CallError, Consumer, Reply};
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::serve::{CACHE, HIT};

/// Most calls in flight. One that would be the next is not made, and counted as that: a machine
/// that cannot keep up must show it, not grow a queue.
pub(crate) const MOST_IN_FLIGHT: u32 = 2_000;

/// The same arrivals and keys in every run, so that only the strategy differs.
const SEED: u64 = 42;

/// What is called, how often and for how long.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    /// Method.
    pub(crate) method: &'static str,
    /// Calls per second, on average.
    pub(crate) rate: f64,
    /// How long.
    pub(crate) length: Duration,
    /// Number of different keys, all equally likely.
    pub(crate) keys: u32,
    /// What the keys begin with.
    pub(crate) prefix: String,
}

/// What became of the calls.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    micros: Vec<u32>,
    late_micros: Vec<u32>,
    failed: u64,
    not_made: u64,
    hits: u64,
    /// The first error, whole.
    pub(crate) first_error: Option<String>,
}

/// A tally in numbers.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Summary {
    /// Calls made.
    pub(crate) calls: u64,
    /// Calls that failed in the end, after all attempts.
    pub(crate) failed: u64,
    /// Calls that were due but not made, since too many were in flight.
    pub(crate) not_made: u64,
    /// Response times from the moment a call was due, failed ones included.
    pub(crate) mean_ms: f64,
    /// Median.
    pub(crate) p50_ms: f64,
    /// 99 of 100 calls took no longer.
    pub(crate) p99_ms: f64,
    /// The longest one.
    pub(crate) max_ms: f64,
    /// 99 of 100 calls started no later than this after they were due. More than a few ms say that
    /// the machine was busy with something else, and that the times above are too long.
    pub(crate) late_p99_ms: f64,
}

/// Runs a load to its end, and until the last answer.
pub(crate) async fn run(consumer: &Consumer, load: &Load) -> Tally {
    let tally = Arc::new(Mutex::new(Tally::default()));
    let room = Arc::new(Semaphore::new(MOST_IN_FLIGHT as usize));
    let mut rng = SeededRng::new(SEED);
    let start = Instant::now();
    let mut due = Duration::ZERO;
    loop {
        due += gap(&mut rng, load.rate);
        let key =
            format!("{}{}", load.prefix, (&mut rng as &mut dyn Rng).below(load.keys as usize));
        if due >= load.length {
            break;
        }
        let due_at = start + due;
        tokio::time::sleep_until(due_at).await;
        let Ok(place) = room.clone().try_acquire_owned() else {
            lock(&tally).not_made += 1;
            continue;
        };
        lock(&tally).late_micros.push(micros(due_at.elapsed()));
        let call = consumer.call(load.method);
        let tally = tally.clone();
        tokio::spawn(async move {
            let body = format!("[\"{key}\"]").into_bytes();
            let result = call.raw(Body::json(body)).await;
            lock(&tally).add(due_at.elapsed(), &result);
            drop(place);
        });
    }
    // All places are free again once the last call has ended.
    let _ = room.acquire_many(MOST_IN_FLIGHT).await;
    std::mem::take(&mut *lock(&tally))
}

fn lock(tally: &Mutex<Tally>) -> std::sync::MutexGuard<'_, Tally> {
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Time to the next arrival of a Poisson process.
fn gap(rng: &mut SeededRng, rate: f64) -> Duration {
    // From 2^-53 to 1: the logarithm is finite.
    let uniform = ((rng.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    Duration::from_secs_f64(-uniform.ln() / rate)
}

impl Tally {
    fn add(&mut self, elapsed: Duration, result: &Result<Reply, CallError>) {
        self.micros.push(micros(elapsed));
        match result {
            Ok(reply) => self.hits += u64::from(reply.attachments.text(CACHE) == Some(HIT)),
            Err(error) => {
                self.failed += 1;
                self.first_error.get_or_insert_with(|| error.to_string());
            }
        }
    }

    /// Calls whose key was in the cache of the provider, as a part of all.
    pub(crate) fn hit_rate(&self) -> f64 {
        self.hits as f64 / self.micros.len().max(1) as f64
    }

    /// The tally in numbers.
    pub(crate) fn summary(&self) -> Summary {
        let times = Sorted::of(&self.micros);
        Summary {
            calls: self.micros.len() as u64,
            failed: self.failed,
            not_made: self.not_made,
            mean_ms: times.mean_ms(),
            p50_ms: times.quantile_ms(0.5),
            p99_ms: times.quantile_ms(0.99),
            max_ms: times.quantile_ms(1.0),
            late_p99_ms: Sorted::of(&self.late_micros).quantile_ms(0.99),
        }
    }
}

fn micros(time: Duration) -> u32 {
    u32::try_from(time.as_micros()).unwrap_or(u32::MAX)
}

/// Times in ascending order.
struct Sorted(Vec<u32>);

impl Sorted {
    fn of(micros: &[u32]) -> Self {
        let mut sorted = micros.to_vec();
        sorted.sort_unstable();
        Self(sorted)
    }

    fn mean_ms(&self) -> f64 {
        let sum: u64 = self.0.iter().map(|m| u64::from(*m)).sum();
        sum as f64 / self.0.len().max(1) as f64 / 1000.0
    }

    /// The smallest time that this share (0 to 1) of all kept to; 0 where there is none.
    fn quantile_ms(&self, share: f64) -> f64 {
        let rank = (self.0.len() as f64 * share).ceil() as usize;
        f64::from(self.0.get(rank.saturating_sub(1)).copied().unwrap_or(0)) / 1000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_the_smallest_times_that_enough_calls_kept_to() {
        let tally =
            Tally { micros: (1..=200).rev().map(|m| m * 1000).collect(), ..Tally::default() };
        let summary = tally.summary();
        assert_eq!((summary.p50_ms, summary.p99_ms, summary.max_ms), (100.0, 198.0, 200.0));
        assert_eq!((summary.calls, summary.mean_ms), (200, 100.5));
    }

    #[test]
    fn an_empty_tally_has_numbers_too() {
        let summary = Tally::default().summary();
        assert_eq!((summary.calls, summary.mean_ms, summary.p99_ms), (0, 0.0, 0.0));
    }

    #[test]
    fn arrivals_keep_to_their_rate() {
        // The mean of 10 000 exponential gaps is within 6 standard errors of its expectation but
        // for two in a billion, and the seed is fixed.
        let mut rng = SeededRng::new(SEED);
        let sum: Duration = (0..10_000).map(|_| gap(&mut rng, 500.0)).sum();
        assert!((sum.as_secs_f64() - 20.0).abs() < 6.0 * 20.0 / 100.0, "{sum:?}");
    }
}
