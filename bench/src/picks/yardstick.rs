//! What tickets are compared with: they hand out an owned handle, count an attempt in and out and
//! measure it, whatever the strategy.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use quanta::Clock;

use super::check::Expect;
use super::floor::{Alone, below};
use super::{Kind, Row};
use crate::harness::Contender;
use crate::world::{Key, World};

/// What a ticket is compared with: a count up and down, and one handle that is owned meanwhile.
struct Owned(Vec<Arc<Alone<AtomicU32>>>);

impl Contender for Owned {
    type Local = fastrand::Rng;
    type Held = Arc<Alone<AtomicU32>>;

    fn local(&self) -> fastrand::Rng {
        fastrand::Rng::new()
    }

    #[inline(always)]
    fn pick(&self, rng: &mut fastrand::Rng, _: Key) -> Self::Held {
        let it = &self.0[below(rng.u64(..), self.0.len())];
        it.0.fetch_add(1, Relaxed);
        it.clone()
    }

    #[inline(always)]
    fn end(&self, _: &mut fastrand::Rng, held: Self::Held) {
        held.0.fetch_sub(1, Relaxed);
    }

    fn provider(&self, _: &Self::Held) -> usize {
        0
    }
}

/// The same, measured as a report and a window need it: two clock reads, a window's bucket (number
/// and sum in one word), a count of successes, a sum of times and a count by duration.
struct Measured(Vec<Arc<Alone<Kept>>>, Clock);

#[derive(Default)]
struct Kept {
    active: AtomicU32,
    successes: AtomicU64,
    micros: AtomicU64,
    bucket: AtomicU64,
    by_duration: [AtomicU32; 32],
}

impl Contender for Measured {
    type Local = fastrand::Rng;
    type Held = (Arc<Alone<Kept>>, u64);

    fn local(&self) -> fastrand::Rng {
        fastrand::Rng::new()
    }

    #[inline(always)]
    fn pick(&self, rng: &mut fastrand::Rng, _: Key) -> Self::Held {
        let it = &self.0[below(rng.u64(..), self.0.len())];
        it.0.active.fetch_add(1, Relaxed);
        (it.clone(), self.1.raw())
    }

    #[inline(always)]
    fn end(&self, _: &mut fastrand::Rng, (held, start): Self::Held) {
        let it = &held.0;
        let micros = self.1.delta_as_nanos(start, self.1.raw()) / 1_000;
        it.successes.fetch_add(1, Relaxed);
        it.micros.fetch_add(micros, Relaxed);
        let _ = it.bucket.fetch_update(Relaxed, Relaxed, |b| Some(b + (1 << 32) + micros));
        it.by_duration[(micros | 1).ilog2() as usize % 32].fetch_add(1, Relaxed);
        it.active.fetch_sub(1, Relaxed);
    }

    fn provider(&self, _: &Self::Held) -> usize {
        0
    }
}

pub(super) fn rows() -> Vec<Row> {
    let owned = "yardstick: count up and down, one owned handle";
    let measured = "yardstick, measured: two clock reads, five counts";
    vec![
        Row::new("random", Kind::Yardstick, owned, Expect::Nothing, |w: &World| {
            Owned((0..w.n()).map(|_| Arc::default()).collect())
        }),
        Row::new("random", Kind::Measured, measured, Expect::Nothing, |w| {
            Measured((0..w.n()).map(|_| Arc::default()).collect(), Clock::new())
        }),
    ]
}
