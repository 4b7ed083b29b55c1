//! Textbook forms of the strategies that draw two and take the better.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::check::Expect;
use super::textbook::now_ms;
use super::{Kind, Row};
use crate::harness::Contender;
use crate::world::{Key, World};

/// One provider with all that the three rules keep.
struct Provider {
    weight: f64,
    active: AtomicU32,
    /// When the mean was last changed, and the mean in nanoseconds.
    mean: Mutex<(Instant, f64)>,
    load: f64,
    picked_ms: AtomicU64,
    requests: AtomicU64,
    successes: AtomicU64,
}

/// What is compared.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Cost {
    /// Calls in flight for the weight.
    Active,
    /// The same times a mean that jumps to slow answers and decays.
    Latency,
    /// Reported load, latency and calls in flight, by Dubbo's formula.
    Load,
}

/// Draws two; counts in and out where `count` says so.
struct Two {
    list: Vec<Provider>,
    cost: Cost,
    count: bool,
}

impl Two {
    fn new(world: &World, cost: Cost, count: bool) -> Self {
        let provider = |(i, weight): (usize, &u32)| Provider {
            weight: f64::from(*weight),
            active: AtomicU32::new(World::at_rest(i)),
            mean: Mutex::new((Instant::now(), World::answer_ns(i) as f64)),
            load: (20 + i % 40) as f64,
            picked_ms: AtomicU64::new(now_ms()),
            requests: AtomicU64::new(3),
            successes: AtomicU64::new(3),
        };
        Self { list: world.weights.iter().enumerate().map(provider).collect(), cost, count }
    }

    fn mean(&self, i: usize) -> f64 {
        self.list[i].mean.lock().unwrap_or_else(PoisonError::into_inner).1
    }

    fn cost(&self, i: usize, now_ms: u64) -> f64 {
        let provider = &self.list[i];
        let active = f64::from(provider.active.load(Relaxed) + 1);
        match self.cost {
            Cost::Active => active / provider.weight,
            Cost::Latency => self.mean(i) * active / provider.weight,
            Cost::Load => {
                // One that nobody has asked for long is asked.
                if now_ms.saturating_sub(provider.picked_ms.load(Relaxed)) > 2_000 {
                    return 0.0;
                }
                let asked = provider.requests.load(Relaxed) as f64 + 1.0;
                let share = provider.successes.load(Relaxed) as f64 / asked;
                let latency = (self.mean(i) / 1e6).sqrt() + 1.0;
                provider.load * latency * active / (share * provider.weight + 1.0)
            }
        }
    }

    fn observe(&self, i: usize, start: Instant) {
        let now = Instant::now();
        let nanos = (now - start).as_nanos() as f64 + World::answer_ns(i) as f64;
        let mut mean = self.list[i].mean.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, before) = *mean;
        let keep = (-(now.saturating_duration_since(last).as_nanos() as f64) / 10e9).exp();
        *mean = (now, nanos.max(before * keep + nanos * (1.0 - keep)));
    }
}

impl Contender for Two {
    type Local = ();
    type Held = (usize, Option<Instant>);

    fn local(&self) {}

    #[inline(always)]
    fn pick(&self, (): &mut (), _: Key) -> (usize, Option<Instant>) {
        let n = self.list.len();
        let a = fastrand::usize(..n);
        let mut b = fastrand::usize(..n - 1);
        if b >= a {
            b += 1;
        }
        let now = if self.cost == Cost::Load { now_ms() } else { 0 };
        let i = if self.cost(b, now) < self.cost(a, now) { b } else { a };
        if !self.count {
            return (i, None);
        }
        let provider = &self.list[i];
        provider.active.fetch_add(1, Relaxed);
        match self.cost {
            Cost::Active => (i, None),
            Cost::Latency => (i, Some(Instant::now())),
            Cost::Load => {
                provider.picked_ms.store(now, Relaxed);
                provider.requests.fetch_add(1, Relaxed);
                (i, Some(Instant::now()))
            }
        }
    }

    #[inline(always)]
    fn end(&self, (): &mut (), (i, start): (usize, Option<Instant>)) {
        if self.count {
            self.list[i].active.fetch_sub(1, Relaxed);
            if self.cost == Cost::Load {
                self.list[i].successes.fetch_add(1, Relaxed);
            }
        }
        if let Some(start) = start {
            self.observe(i, start);
        }
    }

    fn provider(&self, held: &(usize, Option<Instant>)) -> usize {
        held.0
    }
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let all = [("p2c", Cost::Active), ("peakewma", Cost::Latency), ("adaptive", Cost::Load)];
    for (strategy, cost) in all {
        let row = move |kind, name, count| {
            Row::new(strategy, kind, name, Expect::Spread, move |w| Two::new(w, cost, count))
        };
        rows.push(row(Kind::Textbook, "textbook: two drawn", false));
        rows.push(row(Kind::TextbookCounted, "textbook: two drawn, counted and measured", true));
    }
    rows
}
