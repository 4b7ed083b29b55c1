//! Single operations, to see what a pick is made of.

use std::sync::Arc;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Relaxed, Release},
};
use std::time::Instant;

use super::check::Expect;
use super::floor::Alone;
use super::{Kind, Row};
use crate::harness::{Contender, Function};
use crate::world::Key;

/// Every table starts with these.
pub(super) const STRATEGY: &str = "single operation";
/// The harness itself.
pub(super) const NOTHING: &str = "nothing (the harness)";
/// The one shared addition that two-thread times of round robin are compared with.
pub(super) const SHARED_ADD: &str = "atomic addition, shared";
/// Counting in and out where nobody else does.
pub(super) const UP_AND_DOWN: &str = "atomic addition and subtraction, own line";
/// The cheapest clock.
pub(super) const STAMP: &str = "clock: time stamp counter (quanta)";
/// How far apart the two cores lie.
pub(super) const DISTANCE: &str = "addition on the own line, read of the other's";

/// An operation on a line of the thread's own.
struct Own<F>(F, Arc<[Alone<AtomicU64>; 2]>, AtomicU64);

impl<F: Fn(&AtomicU64, &AtomicU64) -> u64 + Send + Sync + 'static> Contender for Own<F> {
    type Local = usize;
    type Held = u64;

    fn local(&self) -> usize {
        self.2.fetch_add(1, Relaxed) as usize % 2
    }

    #[inline(always)]
    fn pick(&self, own: &mut usize, _: Key) -> u64 {
        (self.0)(&self.1[*own].0, &self.1[1 - *own].0)
    }

    fn provider(&self, _: &u64) -> usize {
        0
    }
}

fn own<F>(name: &'static str, operation: F) -> Row
where
    F: Fn(&AtomicU64, &AtomicU64) -> u64 + Copy + Send + Sync + 'static,
{
    Row::new(STRATEGY, Kind::Operation, name, Expect::Nothing, move |_| {
        Own(operation, Arc::default(), AtomicU64::new(0))
    })
}

fn shared<F>(name: &'static str, make: impl Fn() -> F + 'static) -> Row
where
    F: Fn() -> u64 + Send + Sync + 'static,
{
    Row::new(STRATEGY, Kind::Operation, name, Expect::Nothing, move |_| {
        let operation = make();
        Function(move |_: Key| operation() as usize)
    })
}

pub(super) fn rows() -> Vec<Row> {
    vec![
        shared(NOTHING, || || 0),
        own("atomic addition, own line", |own, _| own.fetch_add(1, Relaxed)),
        shared(SHARED_ADD, || {
            let shared = Alone(AtomicU64::new(0));
            move || shared.0.fetch_add(1, Relaxed)
        }),
        own(UP_AND_DOWN, |own, _| {
            own.fetch_add(1, Relaxed);
            own.fetch_sub(1, Relaxed)
        }),
        own("atomic store, own line", |own, _| {
            own.store(1, Release);
            0
        }),
        own(DISTANCE, |own, other| own.fetch_add(1, Relaxed) + other.load(Relaxed)),
        shared("clone and drop of an Arc, shared", || {
            let shared = Arc::new(1_u64);
            move || *Arc::clone(std::hint::black_box(&shared))
        }),
        shared("clock: Instant", || {
            || {
                let now = Instant::now();
                std::hint::black_box(now);
                0
            }
        }),
        shared(STAMP, || {
            let clock = quanta::Clock::new();
            move || clock.raw()
        }),
        shared("clock: quanta, scaled to nanoseconds", || {
            let clock = quanta::Clock::new();
            move || clock.delta_as_nanos(0, clock.raw())
        }),
    ]
}
