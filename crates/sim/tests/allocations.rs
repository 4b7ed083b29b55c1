//! No pick allocates, and no attempt, once the first call of a method has prepared the view.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use equipoise_core::call::{Call, Key, Tried};
use equipoise_core::outcome::Outcome;
use equipoise_core::rng::{Rng, SeededRng};
use equipoise_core::ticket::Ticket;
use equipoise_sim::scene::{Scene, providers, strategy_names};

/// The allocator of the system, counting what each thread asks of it.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that is ending has no counter any more, and none is needed.
    let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
}

// SAFETY: every function hands its arguments unchanged to the allocator of the system, whose
// promises are therefore ours; counting touches a thread-local number and allocates nothing.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the promises of this very function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the promises of this very function.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the promises of this very function.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

/// A scene with `n` providers without a tag and `n` with one.
fn scene(strategy: &str, n: usize) -> Scene {
    let weights: Vec<u32> = (0..2 * n).map(|place| 100 + (place as u32 * 37) % 300).collect();
    let mut list = providers(&weights);
    for url in &mut list[n..] {
        url.push_str("&dubbo.tag=gray");
    }
    Scene::new(strategy, &list).unwrap()
}

const METHOD: &str = "getUser";

/// The sizes of the lists, and the tags of the calls.
fn settings() -> impl Iterator<Item = (&'static str, usize, Option<&'static str>)> {
    strategy_names().flat_map(|strategy| {
        let sizes = [2, 10, 100, 1000].into_iter();
        sizes.flat_map(move |n| [None, Some("gray")].map(|tag| (strategy, n, tag)))
    })
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
    assert_eq!(allocations(|| ()), 0);
}

#[test]
fn no_pick_allocates() {
    for (strategy, n, tag) in settings() {
        let scene = scene(strategy, n);
        let (view, clock) = (scene.view().clone(), scene.clock.clone());
        let mut rng = SeededRng::new(n as u64);
        let call = |key| Call { key: Key::Hashed(key), tag, ..Call::new(METHOD) };
        let first = view.choose(&call(0), &Tried::new(), &mut rng, &*clock).unwrap();
        let mut one = Tried::new();
        one.add(first.endpoint().clone());
        for tried in [Tried::new(), one] {
            let seen = allocations(|| {
                for _ in 0..200 {
                    let call = call(rng.next_u64() as u32);
                    let chosen = view.choose(&call, &tried, &mut rng, &*clock);
                    assert!(chosen.is_ok());
                }
            });
            let empty = tried.is_empty();
            assert_eq!(seen, 0, "{strategy}, {n} endpoints, tag {tag:?}, none tried: {empty}");
        }
        // Somebody has become unavailable, and no new view is there yet.
        first.endpoint().set_available(false);
        let seen = allocations(|| {
            for _ in 0..200 {
                let call = call(rng.next_u64() as u32);
                assert!(view.choose(&call, &Tried::new(), &mut rng, &*clock).is_ok());
            }
        });
        assert_eq!(seen, 0, "{strategy}, {n} endpoints, tag {tag:?}, one unavailable");
    }
}

/// Hashing a key is part of a call with a keyed strategy.
#[test]
fn no_key_allocates() {
    for strategy in ["consistenthash", "boundedconsistenthash"] {
        let scene = scene(strategy, 10);
        let (view, clock) = (scene.view().clone(), scene.clock.clone());
        let mut rng = SeededRng::new(0);
        let arguments = ["user-1".into(), 42_i64.into(), 1.5_f64.into()];
        let pick = |rng: &mut SeededRng| {
            let text = Call::new(METHOD).key("user-1");
            let arguments = Call::new(METHOD).arguments(&arguments);
            for call in [text, arguments] {
                assert!(view.choose(&call, &Tried::new(), rng, &*clock).is_ok());
            }
        };
        pick(&mut rng);
        assert_eq!(allocations(|| (0..100).for_each(|_| pick(&mut rng))), 0, "{strategy}");
    }
}

#[test]
fn no_attempt_allocates() {
    for (strategy, n, tag) in settings() {
        let scene = scene(strategy, n);
        let (view, clock) = (scene.view().clone(), scene.clock.clone());
        let mut rng = SeededRng::new(n as u64);
        let mut attempt = |times: u64| {
            for time in 0..times {
                let key = Key::Hashed(rng.next_u64() as u32);
                let call = Call { key, tag, ..Call::new(METHOD) };
                let chosen = view.choose(&call, &Tried::new(), &mut rng, &*clock).unwrap();
                let ticket = Ticket::start(chosen, &*clock);
                ticket.report("curTime:1700000000000,load:12.5", &*clock);
                clock.advance_ms(1);
                match time % 5 {
                    0 => drop(ticket),
                    1 => ticket.finish(Outcome::TIMEOUT, &*clock),
                    2 => ticket.finish(Outcome::Business, &*clock),
                    _ => ticket.finish(Outcome::Success, &*clock),
                }
            }
        };
        // What an endpoint and method need for their first attempt is theirs from then on.
        let call = |key| Call { key: Key::Hashed(key), tag, ..Call::new(METHOD) };
        for candidate in view.candidates(&call(0), &*clock).all() {
            Ticket::start(candidate, &*clock).finish(Outcome::Success, &*clock);
        }
        assert_eq!(allocations(|| attempt(200)), 0, "{strategy}, {n} endpoints, tag {tag:?}");
    }
}
