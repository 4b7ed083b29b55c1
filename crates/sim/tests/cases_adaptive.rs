//! Reported faults of adaptive, two-choices and moving-average strategies, driven by tickets.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod support;

use equipoise_core::clock::Clock;
use equipoise_core::measure::adaptive::Score;
use equipoise_core::outcome::Outcome;
use equipoise_core::ticket::Ticket;
use equipoise_sim::scene::{Scene, strategy_names};
use support::*;

/// Ends an attempt with a report of this load.
fn end(scene: &Scene, ticket: Ticket, load: &str) {
    let text = format!("curTime:{},load:{load}", scene.clock.wall_ms());
    ticket.report(&text, &*scene.clock);
    ticket.finish(Outcome::Success, &*scene.clock);
}

/// One attempt that is answered after `ms` with a report of this load.
fn answered(scene: &Scene, place: usize, ms: u64, load: &str) {
    let ticket = scene.start_at(&CALL, place);
    scene.clock.advance_ms(ms);
    end(scene, ticket, load);
}

fn score(scene: &Scene, place: usize, timeout_ms: u32) -> Score {
    let now = scene.clock.wall_ms();
    let measures = scene.endpoint(place).adaptive(now).clone();
    let oldest = measures.outstanding.oldest();
    measures.state.score(now, scene.weight(&CALL, place), timeout_ms, oldest)
}

#[track_caller]
fn assert_score(score: Score, expected: f64) {
    let Score::Measured(score) = score else { panic!("{score:?}") };
    assert!((score - expected).abs() < 0.001, "{score}");
}

#[test]
fn case_065_a_fresh_answer_is_no_silence() {
    let mut scene = scene("adaptive", &[100, 100]);
    scene.set("timeout", "100").unwrap();
    // B: ten answers, average 100 ms (nine in no time, the last after 200); A meanwhile: ten
    // answers, average 5 ms, and one attempt still in flight.
    (0..9).for_each(|_| answered(&scene, 1, 0, "50"));
    let late = scene.start_at(&CALL, 1);
    scene.clock.advance_ms(190);
    (0..9).for_each(|_| answered(&scene, 0, 0, "50"));
    answered(&scene, 0, 10, "50");
    end(&scene, late, "50");
    let open = scene.start_at(&CALL, 0);
    assert_score(score(&scene, 0, 100), 3.837);
    assert_score(score(&scene, 1, 100), 5.984);
    assert_eq!(counts(&mut scene, 1000), [1000, 0]);
    end(&scene, open, "50");

    // B is silent: it is asked now and then, and never takes over.
    let mut served = [0; 2];
    let began = scene.clock.wall_ms();
    for _ in 0..400 {
        let ticket = scene.start(&CALL).unwrap();
        let place = scene.place_of(ticket.endpoint()).unwrap();
        served[place] += 1;
        scene.clock.advance_ms(if place == 0 { 5 } else { 100 });
        end(&scene, ticket, "50");
    }
    // One probe each time that it was left alone for twice the timeout, and no more.
    let periods = (scene.clock.wall_ms() - began) / 200;
    assert!((1..=periods + 1).contains(&served[1]), "{served:?} in {periods} periods");
}

#[test]
fn case_066_each_candidate_is_stale_by_its_own_timeout() {
    for [quick, patient] in [[0, 1], [1, 0]] {
        let mut parameters = ["timeout=5000"; 2];
        parameters[quick] = "timeout=1000";
        let mut scene = Scene::new("adaptive", &with(&parameters)).unwrap();
        let only = |place: usize, n: u64| [0, 1].map(|p| if p == place { n } else { 0 }).to_vec();
        answered(&scene, patient, 0, "100");
        scene.clock.advance_ms(2900);
        answered(&scene, quick, 0, "50");
        scene.clock.advance_ms(100);
        // Last picked 3000 ms ago: not older than 2 x 5000, though than 2 x 1000.
        assert_eq!(counts(&mut scene, 1000), only(quick, 1000));
        scene.clock.advance_ms(6901);
        answered(&scene, quick, 0, "50");
        scene.clock.advance_ms(100);
        assert_eq!(counts(&mut scene, 1000), only(patient, 1000));
        answered(&scene, patient, 0, "100");
        assert_eq!(counts(&mut scene, 1000), only(quick, 1000));
    }
}

#[test]
fn case_067_a_load_that_is_no_number_decides_nothing() {
    for compat in ["none", "java"] {
        for load in ["-1", "NaN", "inf", "-inf", "1e400", "", "abc", "1.0E-4"] {
            let mut scene = scene("adaptive", &[100, 100]);
            scene.set("adaptive.compat", compat).unwrap();
            let mut served = [0_u64; 2];
            for _ in 0..10_000 {
                let ticket = scene.start(&CALL).unwrap();
                let place = scene.place_of(ticket.endpoint()).unwrap();
                served[place] += 1;
                scene.clock.advance_ms(1);
                end(&scene, ticket, [load, "50"][place]);
                for place in [0, 1] {
                    match score(&scene, place, 1000) {
                        Score::Measured(score) => assert!(score.is_finite() && score >= 0.0),
                        Score::Neutral => {}
                    }
                }
            }
            assert!(served.iter().all(|n| *n > 0), "{compat} {load:?}: {served:?}");
        }
    }
    // Nothing reported at all, neither as text nor as fields.
    let mut scene = scene("adaptive", &[100, 100]);
    for text in ["", "curTime", "load:50:1", "::", ",,,"] {
        let ticket = scene.start_at(&CALL, 0);
        ticket.report(text, &*scene.clock);
        ticket.finish(Outcome::Success, &*scene.clock);
        answered(&scene, 1, 100, "50");
    }
    assert_weights(&counts(&mut scene, 10_000), &[1, 1]);
}

#[test]
fn case_068_clocks_that_step_back() {
    for strategy in strategy_names() {
        let mut scene = scene(strategy, &[100, 100]);
        let call = CALL.key("k");
        for place in [0, 1] {
            let ticket = scene.start_at(&call, place);
            scene.clock.advance_ms(20);
            end(&scene, ticket, "50");
        }
        let before = |scene: &Scene| scene.candidate(&call, 0, |c| c.measurements().snapshot(0));
        let known = before(&scene).total_micros;
        let ticket = scene.start_at(&call, 0);
        scene.clock.shift_micros(-5000);
        scene.clock.set_wall_ms(scene.clock.wall_ms() - 5);
        scene.pick(&call).unwrap();
        end(&scene, ticket, "50");
        assert_eq!(before(&scene).total_micros, known, "{strategy}: the elapsed time is 0");
        // Between two picks.
        scene.pick(&call).unwrap();
        scene.clock.shift_micros(-5000);
        scene.clock.set_wall_ms(scene.clock.wall_ms() - 5);
        scene.pick(&call).unwrap();
        assert_eq!(scene.active(&call, 0), 0);
    }
}

#[test]
fn case_069_the_only_one_available_is_found() {
    for strategy in strategy_names() {
        let list: Vec<String> = (1..=10).map(|host| format!("10.0.0.{host}:20880")).collect();
        let mut scene = Scene::new(strategy, &list).unwrap();
        let call = CALL.key("k");
        scene.pick(&call).unwrap();
        (0..10).filter(|p| *p != 6).for_each(|p| _ = scene.endpoint(p).set_available(false));
        for _ in 0..2 {
            assert!((0..1000).all(|_| scene.pick(&call).unwrap() == 6), "{strategy}");
            scene.rebuild().unwrap();
        }
    }
}

#[test]
fn case_070_remaining_capacity_is_signed() {
    let mut scene = scene("p2c", &[100, 100]);
    let (limit, in_flight) = ([10_i64, 10], [12_i64, 9]);
    for place in [0, 1] {
        scene.endpoint(place).report_remaining(limit[place] - in_flight[place]);
    }
    assert_eq!(scene.endpoint(0).remaining(), Some(-2));
    assert_eq!(counts(&mut scene, 1000), [0, 1000]);
    scene.endpoint(0).report_remaining(i64::MIN);
    assert_eq!(counts(&mut scene, 1000), [0, 1000]);
}

#[test]
fn derived_2_a_timeout_of_zero() {
    let mut scene = scene("adaptive", &[100, 100]);
    let refused = scene.set("timeout", "0").unwrap_err().to_string();
    assert!(refused.contains("timeout"), "{refused}");
    // A provider's own is not usable either: the default applies.
    let mut scene = Scene::new("adaptive", &with(&["timeout=0", "timeout=0"])).unwrap();
    assert_eq!(scene.candidate(&CALL, 0, |c| c.timeout().as_millis()), 1000);
    answered(&scene, 0, 10, "50");
    answered(&scene, 1, 20, "50");
    for place in [0, 1] {
        let Score::Measured(score) = score(&scene, place, 0) else { panic!("nothing reported") };
        assert!(score.is_finite());
    }
    assert_eq!(counts(&mut scene, 100).iter().sum::<u64>(), 100);
}
