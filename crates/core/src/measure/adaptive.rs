//! What `adaptive` knows of one endpoint: the load and the time of day that the provider reports,
//! measured response times, and counts of calls. Pure arithmetic on atomics; knows no clock, no
//! view and no draw.
//!
//! # Rule
//!
//! The score of an endpoint with weight `w` is
//! `load × (√latency + 1) × (in flight + 1) ÷ (successes ÷ (requests + 1) × w + 1)`; less is better.
//! Latency is a moving average in ms in which every report counts half. An endpoint whose oldest
//! unanswered attempt is older than its timeout T, or whose newest report is older than 2T, is
//! taken to need at least 2T for as long as that holds. One that was not picked for more than 2T
//! scores 0 until it is picked. One that never reported a load has no score of its own and ties
//! with any other.
//!
//! # State
//!
//! Changed by picks, ends of attempts and reports; reading a score changes nothing. Times are ms of
//! the consumer's wall clock unless they are called the provider's. A clock that steps back makes
//! ages 0 or negative and nothing else.
//!
//! # Dubbo
//!
//! `AdaptiveMetrics` (3.3) has the same formula, but each reading replaces the measured latency by
//! 2T and then halves it, and an endpoint that never reported beats all that did (apache/dubbo
//! #15810). [`CompatState`] is that arithmetic to the bit, for `adaptive.compat=java`.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

mod compat;
mod outstanding;
mod report;

pub use compat::CompatState;
pub use outstanding::{Outstanding, Token};
pub use report::Report;

/// How much a new report counts in the moving average. Dubbo has no setting for it either.
const BETA: f64 = 0.5;

/// What a reading of an endpoint says about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Score {
    /// Nothing reported yet: it takes the score of whatever it is compared with.
    Neutral,
    /// Finite and not negative; the smaller is the better.
    Measured(f64),
}

impl Score {
    /// `Less` if this one is better than `other`.
    pub fn compare(self, other: Score) -> Ordering {
        match (self, other) {
            (Score::Measured(own), Score::Measured(other)) => compare_bits(own, other),
            _ => Ordering::Equal,
        }
    }
}

/// Compares scores as Dubbo does: by their 64-bit patterns as signed integers. On numbers that are
/// not negative this is the order of the numbers.
pub fn compare_bits(first: f64, second: f64) -> Ordering {
    first.to_bits().cast_signed().cmp(&second.to_bits().cast_signed())
}

/// Whether the first of two candidates is chosen: the better one, and of equal ones each in
/// proportion to its weight. `draw` gives an integer that is uniform below its argument; it is
/// asked at most once, and only about a tie. Two weights of 0 are drawn evenly.
pub fn first_wins(
    order: Ordering,
    first_weight: u32,
    second_weight: u32,
    draw: impl FnOnce(u64) -> u64,
) -> bool {
    match (order, u64::from(first_weight) + u64::from(second_weight)) {
        (Ordering::Less, _) => true,
        (Ordering::Greater, _) => false,
        (Ordering::Equal, 0) => draw(2) == 0,
        (Ordering::Equal, total) => draw(total) < u64::from(first_weight),
    }
}

/// What is known of one endpoint, over all methods of its service. The fields are separate relaxed
/// atomics: a score read while an attempt ends may count it half, which the next reading corrects.
#[derive(Debug)]
pub struct AdaptiveState {
    /// Bits of the newest usable load; not a number until there is one.
    load: AtomicU64,
    /// Bits of the moving average of response times, ms.
    ewma: AtomicU64,
    provider_time: AtomicI64,
    reported_at: AtomicI64,
    picked_at: AtomicI64,
    requests: AtomicI64,
    successes: AtomicI64,
    errors: AtomicI64,
}

impl AdaptiveState {
    /// Nothing known; `now_ms` counts as the last pick.
    pub fn new(now_ms: i64) -> Self {
        Self {
            load: AtomicU64::new(f64::NAN.to_bits()),
            ewma: AtomicU64::new(0.0_f64.to_bits()),
            provider_time: AtomicI64::new(0),
            reported_at: AtomicI64::new(now_ms),
            picked_at: AtomicI64::new(now_ms),
            requests: AtomicI64::new(0),
            successes: AtomicI64::new(0),
            errors: AtomicI64::new(0),
        }
    }

    /// An attempt was given to the endpoint.
    pub fn picked(&self, now_ms: i64) {
        self.requests.fetch_add(1, Relaxed);
        self.picked_at.store(now_ms, Relaxed);
    }

    /// An attempt was answered, with a result or with an error of the service.
    pub fn succeeded(&self) {
        self.successes.fetch_add(1, Relaxed);
    }

    /// An attempt failed.
    pub fn failed(&self) {
        self.errors.fetch_add(1, Relaxed);
    }

    /// An attempt was not sent or given up by its caller: it counts as never picked, though the
    /// endpoint is not probed again for it.
    pub fn undone(&self) {
        self.requests.fetch_sub(1, Relaxed);
    }

    /// Takes in the report ([`Report::parse`]) that came with an answer after `elapsed_ms`. One
    /// that is older than another already taken in is ignored; a load that is no number is, too,
    /// while its answer still counts as measured.
    pub fn report(&self, text: &str, elapsed_ms: i64, now_ms: i64) {
        let report = Report::parse(text);
        if self.provider_time.fetch_max(report.provider_time, Relaxed) > report.provider_time {
            return;
        }
        if let Some(load) = report.load {
            self.load.store(load.to_bits(), Relaxed);
        }
        let sample = elapsed_ms.max(0) as f64;
        let mixed = |ewma| (f64::from_bits(ewma) * (1.0 - BETA) + sample * BETA).to_bits();
        self.ewma.update(Relaxed, Relaxed, mixed);
        self.reported_at.store(now_ms, Relaxed);
    }

    /// The score at `now_ms`. A timeout of 0 is taken as 1 ms. `oldest_unanswered_ms` is when the
    /// oldest attempt still in flight started ([`Outstanding::oldest`]).
    pub fn score(
        &self,
        now_ms: i64,
        weight: u32,
        timeout_ms: u32,
        oldest_unanswered_ms: Option<i64>,
    ) -> Score {
        let load = f64::from_bits(self.load.load(Relaxed));
        if load.is_nan() {
            return Score::Neutral;
        }
        let timeout = i64::from(timeout_ms.max(1));
        let older = |than: i64, instant: i64| now_ms.saturating_sub(instant) > than;
        if older(2 * timeout, self.picked_at.load(Relaxed)) {
            return Score::Measured(0.0);
        }
        let overdue = oldest_unanswered_ms.is_some_and(|start| older(timeout, start));
        let stale = older(2 * timeout, self.reported_at.load(Relaxed));
        let floor = if overdue || stale { 2.0 * timeout as f64 } else { 0.0 };
        let latency = f64::from_bits(self.ewma.load(Relaxed)).max(floor);

        let requests = self.requests.load(Relaxed).max(0);
        let successes = self.successes.load(Relaxed);
        // Counts of one attempt may be read apart, so the difference can be off by a few.
        let in_flight = (requests - successes - self.errors.load(Relaxed)).max(0);
        let score = formula(load, latency, in_flight, successes, requests, weight);
        // The largest loads that can be written overflow here.
        Score::Measured(score.min(f64::MAX))
    }
}

/// Dubbo's formula, from left to right as there.
fn formula(
    load: f64,
    latency: f64,
    in_flight: i64,
    successes: i64,
    requests: i64,
    weight: u32,
) -> f64 {
    let success_share = successes as f64 / requests.wrapping_add(1) as f64;
    load * (latency.sqrt() + 1.0) * in_flight.wrapping_add(1) as f64
        / (success_share * f64::from(weight) + 1.0)
}

#[cfg(test)]
mod tests;
