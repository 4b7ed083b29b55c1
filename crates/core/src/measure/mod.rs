//! What is measured of one endpoint and one method, in one place. Counts are the truth that
//! load-aware strategies compare; nothing here knows a view, a policy or a clock.

pub mod adaptive;
pub(crate) mod board;
pub mod ewma;
pub mod histogram;
pub mod total;
pub mod window;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::endpoint::Endpoint;
use crate::methods::MethodId;
use crate::outcome::{FailureKind, Outcome};

use adaptive::{AdaptiveState, CompatState, Outstanding};
use board::{Board, SlotId};
use ewma::PeakEwma;
use histogram::Histogram;
pub(crate) use total::MethodTotal;
pub use total::Total;
use window::{Window, WindowSum};

/// Period of the response-time window: Dubbo's `shortestResponseSlidePeriod`.
pub const WINDOW: Duration = Duration::from_secs(30);

/// What `adaptive` keeps per endpoint, over all methods of the service.
#[derive(Debug)]
pub struct AdaptiveMeasures {
    /// Scored by default.
    pub state: AdaptiveState,
    /// Scored with `adaptive.compat=java`.
    pub compat: CompatState,
    /// Attempts that have not been answered.
    pub outstanding: Outstanding,
}

impl AdaptiveMeasures {
    /// Nothing known; `now_ms` counts as the last pick.
    pub fn new(now_ms: i64) -> Self {
        Self {
            state: AdaptiveState::new(now_ms),
            compat: CompatState::new(now_ms),
            outstanding: Outstanding::new(),
        }
    }
}

/// Nanoseconds per bucket of the windows.
const BUCKET_NS: u64 = WINDOW_NS / window::BUCKETS;
const WINDOW_NS: u64 = WINDOW.as_nanos() as u64;

/// All that is measured of one endpoint and one method.
///
/// In this order in memory: the first cache line has what every attempt touches, and the two that
/// follow what an answer does; what is seldom needed comes last.
#[repr(C, align(64))]
pub struct Measurements {
    board: Arc<Board>,
    total: Option<Arc<MethodTotal>>,
    slot: SlotId,
    wants_ewma: AtomicBool,
    wants_average: AtomicBool,
    method: MethodId,
    last_ns: AtomicU64,
    success: AtomicU64,
    micros: AtomicU64,
    ewma: PeakEwma,
    successes: Window,
    times: Histogram,
    failures: Window,
    seldom: Seldom,
    endpoint: Arc<Endpoint>,
    first_ns: AtomicU64,
}

/// Counts of what is not the rule.
#[derive(Default)]
struct Seldom {
    business: AtomicU64,
    cancelled: AtomicU64,
    failed: [AtomicU64; FailureKind::ALL.len()],
}

impl Measurements {
    /// Nothing measured yet. `now_ns` is the stopwatch reading.
    pub(crate) fn new(
        endpoint: Arc<Endpoint>,
        method: MethodId,
        board: Arc<Board>,
        total: Option<Arc<MethodTotal>>,
        now_ns: u64,
    ) -> Arc<Self> {
        if let Some(total) = &total {
            total.join();
        }
        let slot = board.join();
        Arc::new(Self {
            board,
            total,
            slot,
            wants_ewma: AtomicBool::new(false),
            wants_average: AtomicBool::new(false),
            method,
            last_ns: AtomicU64::new(now_ns),
            success: AtomicU64::new(0),
            micros: AtomicU64::new(0),
            ewma: PeakEwma::new(),
            successes: Window::new(WINDOW_NS),
            times: Histogram::new(WINDOW_NS),
            failures: Window::new(WINDOW_NS),
            seldom: Seldom::default(),
            endpoint,
            first_ns: AtomicU64::new(now_ns),
        })
    }

    /// Whose they are.
    #[inline]
    pub fn endpoint(&self) -> &Arc<Endpoint> {
        &self.endpoint
    }

    /// Of which method.
    pub fn method(&self) -> MethodId {
        self.method
    }

    /// Attempts in flight.
    #[inline]
    pub fn active(&self) -> u32 {
        self.board.active(self.slot)
    }

    /// Where the attempts in flight of all endpoints of this method are counted.
    pub(crate) fn board(&self) -> &Arc<Board> {
        &self.board
    }

    pub(crate) fn total(&self) -> Option<&Arc<MethodTotal>> {
        self.total.as_ref()
    }

    pub(crate) fn slot(&self) -> SlotId {
        self.slot
    }

    /// Mean response time of the window at `now_ns`, in microseconds: of successes, or, where
    /// there was none, of failures; `None` when nothing was answered.
    pub fn average_micros(&self, now_ns: u64) -> Option<u64> {
        self.successes.sum(now_ns).average().or_else(|| self.failures.sum(now_ns).average())
    }

    /// The peak-sensitive average, in nanoseconds. Kept only for strategies that use it.
    #[inline]
    pub fn ewma_nanos(&self) -> Option<f64> {
        self.ewma.nanos()
    }

    /// The same, `None` also where the last sample is older than 30 s.
    #[inline]
    pub fn fresh_ewma_nanos(&self, now_ns: u64) -> Option<f64> {
        self.ewma.fresh_nanos(now_ns)
    }

    /// Keeps the peak-sensitive average from now on.
    pub(crate) fn keep_ewma(&self) {
        self.wants_ewma.store(true, Relaxed);
    }

    /// Tells the board of every new average from now on.
    pub(crate) fn keep_average(&self) {
        self.wants_average.store(true, Relaxed);
    }

    /// Stopwatch reading of the last end of an attempt; of its start, if it was given up.
    pub(crate) fn last_used_ns(&self) -> u64 {
        self.last_ns.load(Relaxed)
    }

    #[inline]
    pub(crate) fn started(&self) {
        self.board.start(self.slot);
        if let Some(total) = &self.total {
            total.started();
        }
    }

    pub(crate) fn try_started(&self, most: u32) -> bool {
        let admitted = self.board.try_start(self.slot, most);
        if admitted && let Some(total) = &self.total {
            total.started();
        }
        admitted
    }

    /// Counts an attempt out. `timeout_ns` is the time it had: the least that a failure is taken to
    /// have cost, since a provider must not look fast by failing.
    #[inline]
    pub(crate) fn ended(&self, outcome: Outcome, now_ns: u64, elapsed_ns: u64, timeout_ns: u64) {
        match outcome {
            Outcome::Success => {
                self.success.fetch_add(1, Relaxed);
                self.answered(now_ns, elapsed_ns);
            }
            other => self.ended_otherwise(other, now_ns, elapsed_ns, timeout_ns),
        }
        self.last_ns.store(now_ns, Relaxed);
        // Last, so that whoever finds this endpoint idle also finds its newest average.
        self.count_out();
    }

    #[inline(never)]
    fn ended_otherwise(&self, outcome: Outcome, now_ns: u64, elapsed_ns: u64, timeout_ns: u64) {
        match outcome {
            Outcome::Success | Outcome::Business => {
                self.seldom.business.fetch_add(1, Relaxed);
                self.answered(now_ns, elapsed_ns);
            }
            Outcome::Failure(kind) => {
                if let Some(count) = self.seldom.failed.get(kind as usize) {
                    count.fetch_add(1, Relaxed);
                }
                let cost = elapsed_ns.max(timeout_ns);
                self.failures.record(now_ns, cost / 1000);
                self.times.record(now_ns, elapsed_ns / 1000);
                self.micros.fetch_add(elapsed_ns / 1000, Relaxed);
                self.feed(now_ns, cost);
            }
            Outcome::Cancelled => {
                self.seldom.cancelled.fetch_add(1, Relaxed);
            }
        }
    }

    /// Counts an attempt out that started at `started_ns` and says nothing about the endpoint.
    pub(crate) fn abandoned(&self, started_ns: u64) {
        self.seldom.cancelled.fetch_add(1, Relaxed);
        self.last_ns.store(started_ns, Relaxed);
        self.count_out();
    }

    #[inline]
    fn count_out(&self) {
        self.board.finish(self.slot);
        if let Some(total) = &self.total {
            total.ended();
        }
    }

    #[inline]
    fn answered(&self, now_ns: u64, elapsed_ns: u64) {
        let micros = elapsed_ns / 1000;
        self.successes.record_in(now_ns / BUCKET_NS, micros);
        self.times.record_in(now_ns / WINDOW_NS, micros);
        self.micros.fetch_add(micros, Relaxed);
        self.feed(now_ns, elapsed_ns);
    }

    #[inline]
    fn feed(&self, now_ns: u64, cost_ns: u64) {
        if self.wants_ewma.load(Relaxed) {
            self.ewma.record(now_ns, cost_ns);
        }
        if self.wants_average.load(Relaxed) {
            self.board.set_average(self.slot, self.average_micros(now_ns));
        }
    }

    /// Everything, for a report at stopwatch reading `now_ns`.
    pub fn snapshot(&self, now_ns: u64) -> Snapshot {
        let (answered, failed) = (self.successes.sum(now_ns), self.failures.sum(now_ns));
        let covered =
            now_ns.saturating_sub(self.first_ns.load(Relaxed)).min(WINDOW.as_nanos() as u64);
        let seconds = (covered as f64 / 1e9).max(1e-3);
        let load = |count: &AtomicU64| count.load(Relaxed);
        let (success, business) = (load(&self.success), load(&self.seldom.business));
        let (cancelled, active) = (load(&self.seldom.cancelled), self.active());
        let failures: u64 = self.seldom.failed.iter().map(load).sum();
        Snapshot {
            // Not counted apart: whoever was picked has ended or is in flight.
            picks: success + business + cancelled + failures + u64::from(active),
            success,
            business,
            cancelled,
            failed: FailureKind::ALL
                .into_iter()
                .map(|kind| (kind, self.seldom.failed.get(kind as usize).map_or(0, load)))
                .filter(|(_, count)| *count > 0)
                .collect(),
            active,
            per_second: (answered.count + failed.count) as f64 / seconds,
            recent: answered,
            total_micros: load(&self.micros),
            p99_micros: self.times.quantile(now_ns, 0.99),
        }
    }

    /// The smallest time (µs) that this share (0 to 1) of the recent attempts kept to.
    pub fn quantile_micros(&self, now_ns: u64, share: f64) -> Option<u64> {
        self.times.quantile(now_ns, share)
    }
}

impl Drop for Measurements {
    fn drop(&mut self) {
        self.board.leave(self.slot);
        if let Some(total) = &self.total {
            total.leave();
        }
    }
}

/// What was measured of one endpoint and one method, at one moment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Attempts started.
    pub picks: u64,
    /// Attempts answered with a result.
    pub success: u64,
    /// Attempts answered with an error of the service.
    pub business: u64,
    /// Attempts whose caller gave up.
    pub cancelled: u64,
    /// Attempts that failed, by kind.
    pub failed: Vec<(FailureKind, u64)>,
    /// Attempts in flight.
    pub active: u32,
    /// Attempts ended per second, over the window or since the first one.
    pub per_second: f64,
    /// Answered attempts of the window, with the sum of their times.
    pub recent: WindowSum,
    /// Time of all answered and failed attempts together, in microseconds.
    pub total_micros: u64,
    /// 99th percentile of the time of recent attempts (30 to 60 s), in microseconds.
    pub p99_micros: Option<u64>,
}

impl Snapshot {
    /// Attempts that failed, of all kinds.
    pub fn failures(&self) -> u64 {
        self.failed.iter().map(|(_, n)| n).sum()
    }

    /// Attempts answered or failed.
    pub fn ended(&self) -> u64 {
        self.success + self.business + self.failures()
    }

    /// Mean time of all ended attempts, in microseconds.
    pub fn mean_micros(&self) -> Option<u64> {
        self.total_micros.checked_div(self.ended())
    }
}
