//! Reported faults of warmup, end to end: provider parameters in, weights of candidates out.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod support;

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

use equipoise_core::call::{Call, Tried};
use equipoise_core::clock::Clock;
use equipoise_core::rng::Rng;
use equipoise_core::view::{Build, View};
use equipoise_core::weight::effective;
use equipoise_sim::scene::{START_MS, Scene};
use support::*;

/// URLs of A, B, .. that started this long ago, in ms.
fn started(ages_ms: &[i64]) -> Vec<String> {
    let parameters: Vec<String> =
        ages_ms.iter().map(|age| format!("timestamp={}", START_MS - age)).collect();
    with(&parameters.iter().map(String::as_str).collect::<Vec<_>>())
}

fn weights(scene: &Scene) -> Vec<u32> {
    (0..scene.list().len()).map(|place| scene.weight(&CALL, place)).collect()
}

#[test]
fn case_001_the_start_time_of_the_consumer_does_not_count() {
    for consumer in [START_MS - 3_600_000, START_MS - 1000] {
        let mut scene = Scene::new("random", &started(&[60_000, 3_600_000])).unwrap();
        scene.set("timestamp", &consumer.to_string()).unwrap();
        assert_eq!(weights(&scene), [10, 100]);
        assert_weights(&counts(&mut scene, 100_000), &[10, 100]);
    }
}

#[test]
fn case_002_a_clock_ahead_of_ours_and_uptimes_beyond_32_bits() {
    let ages = [-5000, 60_000, (1 << 31) + 60_000, (1 << 32) + 60_000];
    let mut scene = Scene::new("random", &started(&ages)).unwrap();
    assert_eq!(weights(&scene), [1, 10, 100, 100]);
    counts(&mut scene, 1);
    scene.advance_ms(5001).unwrap();
    assert_eq!(weights(&scene)[0], 1);
    scene.advance_ms(59_999).unwrap();
    assert_eq!(weights(&scene)[0], 10);
}

/// Moves by itself on every reading.
struct Leaping {
    wall_ms: AtomicI64,
    reads: AtomicU64,
}

impl Leaping {
    fn read(&self) -> i64 {
        self.reads.fetch_add(1, Relaxed);
        self.wall_ms.fetch_add(6000, Relaxed)
    }
}

impl Clock for Leaping {
    fn wall_ms(&self) -> i64 {
        self.read()
    }

    fn nanos(&self) -> u64 {
        self.read() as u64 * 1_000_000
    }
}

/// Always draws the last of whatever is drawn from.
struct Last;

impl Rng for Last {
    fn next_u64(&mut self) -> u64 {
        u64::MAX
    }
}

/// Scripted chance maps to the last of the drawn range here, not to the last offset of a walk.
#[test]
fn case_004_weights_are_read_once_however_the_clock_moves() {
    for strategy in ["random", "leastactive"] {
        let scene = Scene::new(strategy, &started(&[59_999, 59_998, 59_997])).unwrap();
        let clock = Leaping { wall_ms: AtomicI64::new(START_MS), reads: AtomicU64::new(0) };
        let strategies = equipoise_core::balance::Strategies::built_in();
        let view = View::build(&Build {
            service: scene.service(),
            list: scene.list(),
            config: scene.view().config(),
            strategies: &strategies,
            previous: None,
            clock: &clock,
        })
        .unwrap();
        view.candidates(&CALL, &clock);
        let prepared = clock.reads.load(Relaxed);
        for _ in 0..1000 {
            let chosen = view.choose(&CALL, &Tried::new(), &mut Last, &clock).unwrap();
            assert!(scene.place_of(chosen.endpoint()).is_some());
        }
        assert_eq!(clock.reads.load(Relaxed), prepared, "{strategy} reads the clock in a pick");
        let all = view.candidates(&CALL, &clock).all();
        let now = |c: &equipoise_core::candidates::Candidate| c.weight();
        assert!(all.iter().all(|c| now(c) == now(&all[0])), "one clock value for all of them");
    }
}

/// Dubbo gives the full weight for the millisecond of the start itself; here it is 1.
#[test]
fn derived_4_a_start_time_equal_to_now() {
    let mut scene = Scene::new("random", &started(&[0, 1])).unwrap();
    assert_eq!(weights(&scene), [1, 1]);
    counts(&mut scene, 1);
    // The ramp, and the second by which a prepared weight may lag.
    scene.advance_ms(601_000).unwrap();
    assert_eq!(weights(&scene), [100, 100]);
}

#[test]
fn derived_5_a_method_has_a_weight_of_its_own() {
    let young = format!("getUser.weight=10&weight=100&timestamp={}", START_MS - 300_000);
    let list = with(&["getUser.weight=10&weight=100", "weight=100", &young]);
    let scene = Scene::new("random", &list).unwrap();
    let weight = |method, place| scene.weight(&Call::new(method), place);
    assert_eq!((weight("getUser", 0), weight("getUser", 1)), (10, 100));
    assert_eq!((weight("listUser", 0), weight("listUser", 1)), (100, 100));
    // The ramp applies to each of them.
    let half = |weight| effective(weight, START_MS - 300_000, 600_000, START_MS);
    assert_eq!((weight("getUser", 2), weight("listUser", 2)), (half(10), half(100)));
    assert_eq!(half(100), 50);
}
