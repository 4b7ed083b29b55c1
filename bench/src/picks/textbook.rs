//! The algorithms as Dubbo documents them, written down as they are: a list of shared providers
//! that every call walks. They return an index and hand out nothing, so that ratios to them are on
//! the careful side. Here those that walk the whole list; see also `two` and `ring`.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use super::check::Expect;
use super::{Kind, Row};
use crate::harness::{Contender, Function};
use crate::world::{Key, World};

/// One provider, with what a consumer keeps of it.
pub(super) struct Provider {
    weight: u32,
    started_ms: u64,
    warmup_ms: u64,
    pub(super) active: AtomicU32,
    answered: AtomicU64,
    spent_ns: AtomicU64,
}

impl Provider {
    pub(super) fn all(world: &World) -> Vec<Arc<Self>> {
        let started_ms = now_ms() - 3_600_000;
        let provider = |(i, weight): (usize, &u32)| {
            Arc::new(Self {
                weight: *weight * 100,
                started_ms,
                warmup_ms: 600_000,
                active: AtomicU32::new(World::at_rest(i)),
                answered: AtomicU64::new(10),
                spent_ns: AtomicU64::new(10 * World::answer_ns(i)),
            })
        };
        world.weights.iter().enumerate().map(provider).collect()
    }

    /// The configured weight, or less of it while the provider warms up.
    pub(super) fn weight(&self, now_ms: u64) -> u32 {
        let up = now_ms.saturating_sub(self.started_ms);
        if up >= self.warmup_ms {
            return self.weight;
        }
        let part = up as f32 / (self.warmup_ms as f32 / self.weight as f32);
        (part as u32).clamp(1, self.weight)
    }

    fn active(&self) -> u64 {
        u64::from(self.active.load(Relaxed))
    }

    /// Mean answer time x (calls in flight + 1).
    fn estimate(&self) -> u64 {
        let mean = self.spent_ns.load(Relaxed) / self.answered.load(Relaxed).max(1);
        mean * (self.active() + 1)
    }
}

pub(super) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// Running sums of the weights, worked out for each call, and a draw among them.
fn draw_by_sums(list: &[Arc<Provider>]) -> usize {
    let now = now_ms();
    let mut sums = Vec::with_capacity(list.len());
    let (mut total, mut all_same) = (0, true);
    for provider in list {
        let weight = provider.weight(now);
        total += weight;
        sums.push(total);
        all_same &= total == weight * sums.len() as u32;
    }
    if all_same || total == 0 {
        return fastrand::usize(..list.len());
    }
    let drawn = fastrand::u32(..total);
    sums.partition_point(|sum| *sum <= drawn)
}

/// The shortest form: two passes over weights that never change.
fn draw_by_scan(list: &[Arc<Provider>]) -> usize {
    let total: u32 = list.iter().map(|p| p.weight).sum();
    let mut left = fastrand::u32(..total);
    for (i, provider) in list.iter().enumerate() {
        if left < provider.weight {
            return i;
        }
        left -= provider.weight;
    }
    0
}

/// Smooth weighted round robin behind a lock.
struct Smooth(Vec<Arc<Provider>>, Mutex<Vec<i64>>);

impl Smooth {
    fn next(&self) -> usize {
        let now = now_ms();
        let mut credits = self.1.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut best, mut most, mut total) = (0, i64::MIN, 0);
        for (i, (provider, credit)) in self.0.iter().zip(credits.iter_mut()).enumerate() {
            let weight = i64::from(provider.weight(now));
            total += weight;
            *credit += weight;
            if *credit > most {
                (best, most) = (i, *credit);
            }
        }
        credits[best] -= total;
        best
    }
}

/// The least by `score`; ties are gathered in lists and drawn by weight.
fn least(list: &[Arc<Provider>], score: impl Fn(&Provider) -> u64) -> usize {
    let now = now_ms();
    let (mut tied, mut weights) = (vec![0_usize; list.len()], vec![0_u32; list.len()]);
    let (mut lowest, mut ties, mut total, mut all_same) = (u64::MAX, 0, 0, true);
    for (i, provider) in list.iter().enumerate() {
        let value = score(provider);
        weights[i] = provider.weight(now);
        if value < lowest {
            (lowest, ties, total, all_same) = (value, 0, 0, true);
        }
        if value == lowest {
            tied[ties] = i;
            ties += 1;
            total += weights[i];
            all_same &= weights[i] == weights[tied[0]];
        }
    }
    if ties > 1 && !all_same && total > 0 {
        let mut left = fastrand::u32(..total);
        for i in &tied[..ties] {
            if left < weights[*i] {
                return *i;
            }
            left -= weights[*i];
        }
    }
    tied[if ties > 1 { fastrand::usize(..ties) } else { 0 }]
}

/// The fewest calls in flight, counted in and out where `COUNT` says so.
struct Fewest<const COUNT: bool>(Vec<Arc<Provider>>);

impl<const COUNT: bool> Contender for Fewest<COUNT> {
    type Local = ();
    type Held = usize;

    fn local(&self) {}

    fn pick(&self, (): &mut (), _: Key) -> usize {
        let i = least(&self.0, Provider::active);
        if COUNT {
            self.0[i].active.fetch_add(1, Relaxed);
        }
        i
    }

    fn end(&self, (): &mut (), i: usize) {
        if COUNT {
            self.0[i].active.fetch_sub(1, Relaxed);
        }
    }

    fn provider(&self, held: &usize) -> usize {
        *held
    }
}

/// The least estimate, measured where `COUNT` says so.
struct Soonest<const COUNT: bool>(Vec<Arc<Provider>>);

impl<const COUNT: bool> Contender for Soonest<COUNT> {
    type Local = ();
    type Held = (usize, Option<Instant>);

    fn local(&self) {}

    fn pick(&self, (): &mut (), _: Key) -> (usize, Option<Instant>) {
        let i = least(&self.0, Provider::estimate);
        if !COUNT {
            return (i, None);
        }
        self.0[i].active.fetch_add(1, Relaxed);
        (i, Some(Instant::now()))
    }

    fn end(&self, (): &mut (), (i, start): (usize, Option<Instant>)) {
        if let Some(start) = start {
            let provider = &self.0[i];
            provider.active.fetch_sub(1, Relaxed);
            let spent = start.elapsed().as_nanos() as u64 + World::answer_ns(i);
            provider.spent_ns.fetch_add(spent, Relaxed);
            provider.answered.fetch_add(1, Relaxed);
        }
    }

    fn provider(&self, held: &(usize, Option<Instant>)) -> usize {
        held.0
    }
}

pub(super) fn rows() -> Vec<Row> {
    use Kind::{Textbook, TextbookCounted, Variant};
    let scan = "textbook: scan, ties by weight";
    let counted = "textbook: scan, counted in and out";
    let fewest = |counted| Expect::Fewest { counted };
    let soonest = |counted| Expect::Soonest { counted };
    vec![
        Row::new("random", Textbook, "textbook: two passes over the weights", Expect::Drawn, |w| {
            let list = Provider::all(w);
            Function(move |_| draw_by_scan(&list))
        }),
        Row::new("random", Variant, "textbook: sums with warmup, per call", Expect::Drawn, |w| {
            let list = Provider::all(w);
            Function(move |_| draw_by_sums(&list))
        }),
        Row::new("roundrobin", Textbook, "textbook: smooth, behind a lock", Expect::Turns, |w| {
            let smooth = Smooth(Provider::all(w), Mutex::new(vec![0; w.n()]));
            Function(move |_| smooth.next())
        }),
        Row::new("leastactive", Textbook, scan, fewest(false), |w| {
            Fewest::<false>(Provider::all(w))
        }),
        Row::new("leastactive", TextbookCounted, counted, fewest(true), |w| {
            Fewest::<true>(Provider::all(w))
        }),
        Row::new("shortestresponse", Textbook, scan, soonest(false), |w| {
            Soonest::<false>(Provider::all(w))
        }),
        Row::new("shortestresponse", TextbookCounted, counted, soonest(true), |w| {
            Soonest::<true>(Provider::all(w))
        }),
    ]
}
