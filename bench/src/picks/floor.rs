//! Floors: for each strategy only the operations that nothing with its rule can do without. Those
//! of load-aware strategies do not search at all, so nothing can be below them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use arc_swap::{ArcSwap, Cache};
use quanta::Clock;

use super::check::Expect;
use super::{Kind, Row, ring};
use crate::harness::Contender;
use crate::world::{Key, World};

/// A value on a pair of cache lines of its own.
#[repr(align(128))]
#[derive(Default)]
pub(super) struct Alone<T>(pub(super) T);

/// A snapshot that each thread keeps at hand, with a generator.
struct Hand<T> {
    snapshot: Cache<Arc<ArcSwap<T>>, Arc<T>>,
    rng: fastrand::Rng,
}

fn hand<T>(shared: &Arc<ArcSwap<T>>) -> Hand<T> {
    Hand { snapshot: Cache::new(shared.clone()), rng: fastrand::Rng::new() }
}

#[inline(always)]
pub(super) fn below(bits: u64, n: usize) -> usize {
    ((u128::from(bits) * n as u128) >> 64) as usize
}

/// Two numbers below `n`, which is at least 2, that differ.
#[inline(always)]
fn pair(bits: u64, n: usize) -> (usize, usize) {
    let a = below(bits, n);
    let b = (((bits & 0xffff_ffff) * (n as u64 - 1)) >> 32) as usize;
    (a, b + usize::from(b >= a))
}

/// One draw, one read of an alias table.
struct Draw(Arc<ArcSwap<Vec<(u32, u32)>>>);

impl Draw {
    fn new(world: &World) -> Self {
        let (n, total) = (world.n() as u64, world.total());
        let mut share: Vec<u64> = world.weights.iter().map(|w| u64::from(*w) * n).collect();
        let mut table: Vec<(u32, u32)> = (0..n as u32).map(|i| (u32::MAX, i)).collect();
        let (mut poor, mut rich): (Vec<_>, Vec<_>) =
            (0..world.n()).partition(|i| share[*i] < total);
        while let (Some(small), Some(large)) = (poor.pop(), rich.last().copied()) {
            let keep = (u128::from(share[small]) << 32) / u128::from(total);
            table[small] = (keep as u32, large as u32);
            share[large] -= total - share[small];
            if share[large] < total {
                rich.pop();
                poor.push(large);
            }
        }
        Self(Arc::new(ArcSwap::from_pointee(table)))
    }
}

impl Contender for Draw {
    type Local = Hand<Vec<(u32, u32)>>;
    type Held = usize;

    fn local(&self) -> Self::Local {
        hand(&self.0)
    }

    #[inline(always)]
    fn pick(&self, hand: &mut Self::Local, _: Key) -> usize {
        let table = hand.snapshot.load();
        let bits = hand.rng.u64(..);
        let at = (((bits >> 32) * table.len() as u64) >> 32) as usize;
        let (keep, other) = table[at];
        // Without a branch, which could not be predicted.
        let own = usize::from((bits as u32) < keep).wrapping_neg();
        (at & own) | (other as usize & !own)
    }

    fn provider(&self, held: &usize) -> usize {
        *held
    }
}

/// One shared counter, one read of a table of turns.
struct Turn(Arc<ArcSwap<Vec<u32>>>, Alone<AtomicU64>);

impl Turn {
    fn new(world: &World) -> Self {
        // The k-th of w turns is due at (k + 1/2) / w.
        let mut turns: Vec<(f64, u32)> = Vec::new();
        for (i, weight) in world.weights.iter().enumerate() {
            let due = |k| (f64::from(k) + 0.5) / f64::from(*weight);
            turns.extend((0..*weight).map(|k| (due(k), i as u32)));
        }
        turns.sort_by(|a, b| a.0.total_cmp(&b.0));
        let turns = turns.into_iter().map(|(_, i)| i).collect();
        Self(Arc::new(ArcSwap::from_pointee(turns)), Alone::default())
    }
}

impl Contender for Turn {
    type Local = Hand<Vec<u32>>;
    type Held = usize;

    fn local(&self) -> Self::Local {
        hand(&self.0)
    }

    #[inline(always)]
    fn pick(&self, hand: &mut Self::Local, _: Key) -> usize {
        let turns = hand.snapshot.load();
        // 32 bits: the division is then short, and nothing else about it matters here.
        let at = self.1.0.fetch_add(1, Relaxed) as u32 % turns.len() as u32;
        turns[at as usize] as usize
    }

    fn provider(&self, held: &usize) -> usize {
        *held
    }
}

/// A provider that is counted and timed.
#[derive(Default)]
struct Counted {
    active: AtomicU32,
    mean_ns: AtomicU64,
}

/// What is done at a provider that is drawn: one of `TWO` if so, counted, timed if so.
struct Count<const TWO: bool, const TIMED: bool> {
    list: Vec<Alone<Counted>>,
    snapshot: Arc<ArcSwap<usize>>,
    clock: Clock,
}

impl<const TWO: bool, const TIMED: bool> Count<TWO, TIMED> {
    fn new(world: &World) -> Self {
        let counted = |i| {
            Alone(Counted {
                active: AtomicU32::new(World::at_rest(i)),
                mean_ns: AtomicU64::new(World::answer_ns(i)),
            })
        };
        Self {
            list: (0..world.n()).map(counted).collect(),
            snapshot: Arc::new(ArcSwap::from_pointee(world.n())),
            clock: Clock::new(),
        }
    }

    #[inline(always)]
    fn cost(&self, i: usize) -> u64 {
        let it = &self.list[i].0;
        let active = u64::from(it.active.load(Relaxed)) + 1;
        if TIMED { it.mean_ns.load(Relaxed) * active } else { active }
    }
}

impl<const TWO: bool, const TIMED: bool> Contender for Count<TWO, TIMED> {
    type Local = Hand<usize>;
    type Held = (usize, u64);

    fn local(&self) -> Self::Local {
        hand(&self.snapshot)
    }

    #[inline(always)]
    fn pick(&self, hand: &mut Self::Local, _: Key) -> (usize, u64) {
        let n = **hand.snapshot.load();
        let bits = hand.rng.u64(..);
        let i = if TWO {
            let (a, b) = pair(bits, n);
            if self.cost(b) < self.cost(a) { b } else { a }
        } else {
            below(bits, n)
        };
        self.list[i].0.active.fetch_add(1, Relaxed);
        (i, if TIMED { self.clock.raw() } else { 0 })
    }

    #[inline(always)]
    fn end(&self, _: &mut Self::Local, (i, start): (usize, u64)) {
        let it = &self.list[i].0;
        if TIMED {
            let took = self.clock.delta_as_nanos(start, self.clock.raw()) + World::answer_ns(i);
            let mean = it.mean_ns.load(Relaxed);
            it.mean_ns.store(mean - mean / 16 + took / 16, Relaxed);
        }
        it.active.fetch_sub(1, Relaxed);
    }

    fn provider(&self, held: &(usize, u64)) -> usize {
        held.0
    }
}

/// One MD5 of the key: a ring that agrees with Dubbo's cannot do without.
struct Digest(Arc<ArcSwap<usize>>);

impl Contender for Digest {
    type Local = Hand<usize>;
    type Held = usize;

    fn local(&self) -> Self::Local {
        hand(&self.0)
    }

    #[inline(always)]
    fn pick(&self, hand: &mut Self::Local, key: Key) -> usize {
        let n = **hand.snapshot.load();
        ((u64::from(ring::hash(key)) * n as u64) >> 32) as usize
    }

    fn provider(&self, held: &usize) -> usize {
        *held
    }
}

pub(super) fn rows() -> Vec<Row> {
    use Kind::Floor;
    let nothing = Expect::Nothing;
    let count = "floor: count up and down, no search";
    let timed = "floor: the same, two clock reads, mean";
    let two = "floor: one draw, two reads, count up and down";
    let digest = "floor: snapshot and MD5 of the key";
    let mut rows = vec![
        Row::new("random", Floor, "floor: snapshot, draw, table", Expect::Drawn, Draw::new),
        Row::new("roundrobin", Floor, "floor: shared counter, table", Expect::Turns, Turn::new),
        Row::new("leastactive", Floor, count, nothing, Count::<false, false>::new),
        Row::new("shortestresponse", Floor, timed, nothing, Count::<false, true>::new),
        Row::new("p2c", Floor, two, Expect::Spread, Count::<true, false>::new),
        Row::new("peakewma", Floor, timed, Expect::Spread, Count::<true, true>::new),
        Row::new("adaptive", Floor, timed, Expect::Spread, Count::<true, true>::new),
    ];
    for strategy in ["consistenthash", "boundedconsistenthash"] {
        rows.push(Row::new(strategy, Floor, digest, nothing, |w| {
            Digest(Arc::new(ArcSwap::from_pointee(w.n())))
        }));
    }
    rows
}
