//! Reported faults of load-aware strategies: counts that leak, exact minima, response times.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod support;

use equipoise_core::call::Tried;
use equipoise_core::outcome::{FailureKind, Outcome};
use equipoise_core::ticket::Ticket;
use equipoise_sim::scene::{Scene, providers};
use support::*;

/// So many attempts in flight at each place.
fn held(scene: &Scene, counts: &[usize]) -> Vec<Ticket> {
    let places = counts.iter().enumerate().flat_map(|(place, n)| std::iter::repeat_n(place, *n));
    places.map(|place| scene.start_at(&CALL, place)).collect()
}

#[test]
fn case_034_failures_do_not_drive_a_count_below_zero() {
    let mut scene = scene("leastactive", &[100, 100]);
    for outcome in [Outcome::Business, Outcome::TIMEOUT, Outcome::NETWORK] {
        for _ in 0..100 {
            scene.attempt(&CALL, 0, 5, outcome);
            assert_eq!(scene.active(&CALL, 0), 0);
        }
    }
    let seen = counts(&mut scene, 10_000);
    assert_weights(&seen, &[1, 1]);
    assert_percent(&seen, 0, 50.0, 2.0);
}

/// A refusal that comes from the provider frees its place like any other end.
#[test]
fn case_035_a_limit_that_the_provider_reports_frees_the_place() {
    let scene = Scene::new("leastactive", &with(&["actives=2"])).unwrap();
    assert_eq!(scene.candidate(&CALL, 0, |c| c.actives()), 2);
    let start = || scene.candidate(&CALL, 0, |c| Ticket::try_start(c, c.actives(), &*scene.clock));
    let (first, second) = (start().unwrap(), start().unwrap());
    assert!(start().is_none());
    assert_eq!(scene.active(&CALL, 0), 2);
    for ticket in [first, second] {
        ticket.finish(Outcome::Failure(FailureKind::LimitExceeded), &*scene.clock);
    }
    assert_eq!(scene.active(&CALL, 0), 0);
    assert!(start().is_some());
}

#[test]
fn case_036_counting_does_not_depend_on_a_limit() {
    let mut scene = scene("leastactive", &[100, 100]);
    let open = held(&scene, &[3]);
    assert_eq!(served(&mut scene, 20, 1, Outcome::Success), [0, 20]);
    assert_eq!([0, 1].map(|place| scene.active(&CALL, place)), [3, 0]);
    drop(open);
}

#[test]
fn case_037_dropped_and_panicking_calls_are_counted_out() {
    for strategy in ["leastactive", "adaptive"] {
        let mut scene = scene(strategy, &[100, 100]);
        let open = held(&scene, &[50]);
        scene.clock.advance_ms(10);
        assert_eq!(scene.active(&CALL, 0), 50);
        drop(open);
        assert_eq!(scene.active(&CALL, 0), 0);
        std::thread::scope(|scope| {
            for _ in 0..50 {
                let ticket = scene.start_at(&CALL, 0);
                let handler = scope.spawn(move || {
                    let _open = ticket;
                    std::panic::resume_unwind(Box::new("the handler of a response panics"));
                });
                assert!(handler.join().is_err());
            }
        });
        assert_eq!(scene.active(&CALL, 0), 0);
        let seen = served(&mut scene, 10_000, 0, Outcome::Success);
        assert_percent(&seen, 0, 50.0, 5.0);
    }
}

#[test]
fn case_041_ties_are_drawn_by_the_weight_of_the_moment() {
    let young = format!("timestamp={}", equipoise_sim::scene::START_MS - 60_000);
    let mut scene = Scene::new("leastactive", &with(&[&young, ""])).unwrap();
    let seen = counts(&mut scene, 100_000);
    assert_weights(&seen, &[10, 100]);
    assert_percent(&seen, 0, 9.09, 0.5);
    let mut scene = support::scene("leastactive", &[1, 3]);
    assert_weights(&counts(&mut scene, 100_000), &[1, 3]);
}

#[test]
fn case_042_the_least_busy_one_itself_is_chosen() {
    for (active, least) in
        [(&[3, 1, 2][..], 1), (&[5, 5, 0], 2), (&[0, 1, 1], 0), (&[2, 2, 1, 2, 2], 2)]
    {
        let list: Vec<String> =
            (1..=active.len()).map(|host| format!("10.0.0.{host}:20880")).collect();
        let mut scene = Scene::new("leastactive", &list).unwrap();
        let open = held(&scene, active);
        let seen = counts(&mut scene, 1000);
        assert_eq!(seen[least], 1000, "{active:?}: {seen:?}");
        drop(open);
    }
}

/// The same where not every one is looked at: up to a thousand, whole and in part.
#[test]
fn case_042_the_least_busy_one_among_many() {
    for n in [33, 100, 1000] {
        for strategy in ["leastactive", "shortestresponse"] {
            let mut scene = Scene::new(strategy, &providers(&vec![100; n])).unwrap();
            // All answer in 10 ms, so that only the attempts in flight differ.
            for place in 0..n {
                let ticket = scene.start_at(&CALL, place);
                scene.clock.shift_micros(10_000);
                ticket.finish(Outcome::Success, &*scene.clock);
            }
            let (least, next) = (n * 2 / 3, n / 3);
            let busy = |place| if place == least { 0 } else { 1 + usize::from(place != next) };
            let open = held(&scene, &(0..n).map(busy).collect::<Vec<_>>());
            assert_eq!(counts(&mut scene, 200)[least], 200, "{strategy} among {n}");
            let mut tried = Tried::new();
            tried.add(scene.endpoint(least).clone());
            for _ in 0..200 {
                assert_eq!(scene.pick_after(&CALL, &tried).ok(), Some(next), "{strategy}, {n}");
            }
            scene.endpoint(next).set_available(false);
            for _ in 0..200 {
                let place = scene.pick_after(&CALL, &tried).unwrap();
                assert!(place != least && place != next, "{strategy} among {n}");
            }
            scene.endpoint(next).set_available(true);
            drop(open);
        }
    }
}

#[test]
fn case_045_failing_is_not_fast() {
    let mut two = scene("shortestresponse", &[100, 100]);
    (0..50).for_each(|_| two.attempt(&CALL, 1, 1000, Outcome::TIMEOUT));
    (0..100).for_each(|_| two.attempt(&CALL, 0, 20, Outcome::Success));
    assert_eq!(counts(&mut two, 100), [100, 0]);
    // Nor is failing at once.
    let mut two = scene("shortestresponse", &[100, 100]);
    (0..100).for_each(|_| two.attempt(&CALL, 0, 20, Outcome::Success));
    (0..50).for_each(|_| two.attempt(&CALL, 1, 0, Outcome::NETWORK));
    assert_eq!(counts(&mut two, 100), [100, 0]);
    // One that was never called is tried.
    two.push(&weighted(&[100, 100, 100])).unwrap();
    assert_eq!(counts(&mut two, 100), [0, 0, 100]);
}

#[test]
fn case_046_the_average_forgets() {
    let mut scene = scene("shortestresponse", &[100, 100]);
    (0..1000).for_each(|_| scene.attempt(&CALL, 0, 10, Outcome::Success));
    scene.advance_ms(3_600_000).unwrap();
    (0..50).for_each(|_| scene.attempt(&CALL, 0, 500, Outcome::Success));
    (0..50).for_each(|_| scene.attempt(&CALL, 1, 100, Outcome::Success));
    assert_eq!(counts(&mut scene, 100), [0, 100]);
    // After a window without a call nothing is known of either.
    scene.advance_ms(33_001).unwrap();
    assert_weights(&counts(&mut scene, 10_000), &[1, 1]);
}

#[test]
fn case_047_the_factor_is_active_plus_one() {
    let mut scene = scene("shortestresponse", &[100, 100]);
    (0..10).for_each(|_| scene.attempt(&CALL, 0, 10, Outcome::Success));
    (0..10).for_each(|_| scene.attempt(&CALL, 1, 200, Outcome::Success));
    assert_eq!(counts(&mut scene, 100), [100, 0]);
    let open = held(&scene, &[25]);
    assert_eq!(counts(&mut scene, 100), [0, 100]);
    drop(open);
    let open = held(&scene, &[19]);
    assert_weights(&counts(&mut scene, 10_000), &[1, 1]);
    drop(open);
    let open = held(&scene, &[18]);
    assert_eq!(counts(&mut scene, 100), [100, 0]);
    drop(open);
}
