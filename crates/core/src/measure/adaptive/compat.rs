//! `adaptive.compat=java`: the status that Dubbo keeps for an endpoint, quirks included. Pure
//! arithmetic on atomics.
//!
//! # Rule
//!
//! [`CompatState::load`] is the score, and reading it writes: when the last report or reading lies
//! in the past, the last latency becomes 2T if the newest thing known is a report, else it is
//! halved once for every timeout that has passed since (modulo 64), and then counts half in the
//! moving average. An endpoint that was not picked for more than 2T scores 0, and so does one that
//! never reported.
//!
//! # Dubbo
//!
//! `AdaptiveMetrics` (3.3). Its fields are plain ones of a shared object, which threads overwrite
//! as they come; here each is an atomic of its own, with the same result for readings one after
//! another. Kept out: 2T is not cut to 32 bits, a timeout of 0 counts as 1 ms instead of dividing
//! by it, and a pick that was not sent can be taken back.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

use super::{BETA, Report, formula};

/// What Dubbo keeps of one endpoint.
#[derive(Debug)]
pub struct CompatState {
    provider_time: AtomicI64,
    cpu_load: AtomicU64,
    last_latency: AtomicI64,
    current_time: AtomicI64,
    picked_at: AtomicI64,
    requests: AtomicI64,
    successes: AtomicI64,
    errors: AtomicI64,
    ewma: AtomicU64,
}

impl CompatState {
    /// Nothing known; `now_ms` counts as the last pick.
    pub fn new(now_ms: i64) -> Self {
        Self {
            provider_time: AtomicI64::new(0),
            cpu_load: AtomicU64::new(0),
            last_latency: AtomicI64::new(0),
            current_time: AtomicI64::new(0),
            picked_at: AtomicI64::new(now_ms),
            requests: AtomicI64::new(0),
            successes: AtomicI64::new(0),
            errors: AtomicI64::new(0),
            ewma: AtomicU64::new(0),
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

    /// An attempt was not sent, or given up by its caller.
    pub fn undone(&self) {
        self.requests.fetch_sub(1, Relaxed);
    }

    /// Takes in the report ([`Report::parse`]) that came with an answer after `elapsed_ms`. One
    /// that is older than the last is ignored. A load that is no number counts as 0.
    pub fn report(&self, text: &str, elapsed_ms: i64) {
        let report = Report::parse(text);
        if report.provider_time < self.provider_time.load(Relaxed) {
            return;
        }
        self.provider_time.store(report.provider_time, Relaxed);
        self.current_time.store(report.provider_time, Relaxed);
        self.cpu_load.store(report.load.unwrap_or(0.0).to_bits(), Relaxed);
        self.take_latency(elapsed_ms);
    }

    /// The score at `now_ms`, by which the smaller is the better; negative if more attempts ended
    /// than began. Compare with [`compare_bits`](super::compare_bits).
    pub fn load(&self, now_ms: i64, weight: u32, timeout_ms: u32) -> f64 {
        let timeout = i64::from(timeout_ms.max(1));
        if now_ms.saturating_sub(self.picked_at.load(Relaxed)) > 2 * timeout {
            return 0.0;
        }
        let current_time = self.current_time.load(Relaxed);
        if current_time > 0 {
            self.penalize(now_ms, current_time, timeout);
        }
        let requests = self.requests.load(Relaxed);
        let successes = self.successes.load(Relaxed);
        let in_flight = requests - successes - self.errors.load(Relaxed);
        let cpu_load = f64::from_bits(self.cpu_load.load(Relaxed));
        let ewma = f64::from_bits(self.ewma.load(Relaxed));
        formula(cpu_load, ewma, in_flight, successes, requests, weight)
    }

    /// What a reading does to the latency.
    fn penalize(&self, now_ms: i64, current_time: i64, timeout: i64) {
        let multiple = now_ms.saturating_sub(current_time) / timeout + 1;
        if multiple <= 0 {
            return;
        }
        let latency = if self.provider_time.load(Relaxed) == current_time {
            2 * timeout
        } else {
            // Java takes the distance of a shift modulo 64, and so does this.
            self.last_latency.load(Relaxed).wrapping_shr(multiple as u32)
        };
        self.take_latency(latency);
        self.current_time.store(now_ms, Relaxed);
    }

    fn take_latency(&self, latency: i64) {
        self.last_latency.store(latency, Relaxed);
        let ewma = f64::from_bits(self.ewma.load(Relaxed));
        let mixed = BETA * ewma + (1.0 - BETA) * latency as f64;
        self.ewma.store(mixed.to_bits(), Relaxed);
    }
}

#[cfg(test)]
mod tests;
