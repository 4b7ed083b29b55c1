//! The virtual-time world: what it reports follows from its endpoints, and nothing else.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

use equipoise_sim::chi_square::fit;
use equipoise_sim::scene::{START_MS, strategy_names};
use equipoise_sim::world::{Model, Report, World};

/// Eight fast endpoints and two that stand still for a quarter of every second.
fn with_pauses(seed: u64) -> World {
    let mut world = World::new(seed).calls(20_000).per_second(1000);
    for host in 1..=10 {
        let model = Model::between_ms(2, 8);
        let model = if host > 8 { model.pausing_ms(1000, 250) } else { model };
        world = world.endpoint(&format!("10.0.0.{host}:20880"), model);
    }
    world
}

fn p99(seed: u64, strategy: &str) -> u64 {
    with_pauses(seed).run(strategy).unwrap().p99_micros
}

#[test]
fn load_aware_strategies_keep_out_of_pauses() {
    for seed in [1, 2, 3] {
        let random = p99(seed, "random");
        // A call in fifty meets a pause, of 125 ms on average.
        assert!(random > 100_000, "{random}");
        for strategy in ["leastactive", "p2c", "peakewma", "shortestresponse"] {
            let aware = p99(seed, strategy);
            assert!(aware < random, "seed {seed}: {strategy} {aware}, random {random}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_report_byte_for_byte() {
    for strategy in strategy_names() {
        let run = |seed| with_pauses(seed).calls(3000).run(strategy).unwrap().to_string();
        assert_eq!(run(7), run(7), "{strategy}");
        assert_ne!(run(7), run(8), "{strategy}");
    }
}

#[test]
fn weights_are_shares() {
    for strategy in ["random", "roundrobin"] {
        let report = World::new(5)
            .endpoint("10.0.0.1:20880?weight=100", Model::constant_ms(5))
            .endpoint("10.0.0.2:20880?weight=300", Model::constant_ms(50))
            .endpoint("10.0.0.3:20880?weight=0", Model::constant_ms(5))
            .run(strategy)
            .unwrap();
        let picks: Vec<u64> = report.endpoints.iter().map(|e| e.picks).collect();
        assert!(fit(&picks, &[0.25, 0.75, 0.0]).is_good(), "{report}");
        let times = |e: usize| (report.endpoints[e].mean_micros, report.endpoints[e].p99_micros);
        assert_eq!((times(0), times(1), times(2)), ((5000, 5000), (50_000, 50_000), (0, 0)));
        assert_eq!(report.errors, 0);
    }
}

#[test]
fn a_provider_that_fails_at_once_attracts_nobody_who_looks() {
    let world = |seed| {
        World::new(seed)
            .endpoint("10.0.0.1:20880", Model::constant_ms(10))
            .endpoint("10.0.0.2:20880", Model::constant_ms(10))
            .endpoint("10.0.0.3:20880", Model::failing_ms(1))
    };
    let share = |strategy: &str| world(9).run(strategy).unwrap().endpoints[2].share;
    assert!((share("random") - 1.0 / 3.0).abs() < 0.02);
    for strategy in ["shortestresponse", "peakewma"] {
        assert!(share(strategy) < 0.05, "{strategy}: {}", share(strategy));
    }
}

#[test]
fn late_answers_are_errors_and_end_with_the_timeout() {
    let report = World::new(3)
        .calls(1000)
        .endpoint("10.0.0.1:20880?timeout=30", Model::constant_ms(50))
        .run("random")
        .unwrap();
    assert_eq!((report.errors, report.endpoints[0].picks), (1000, 1000));
    assert_eq!((report.mean_micros, report.p99_micros), (30_000, 30_000));
}

#[test]
fn a_provider_warms_up() {
    // Started when the world does, full weight after 10 s; 20 000 calls take 20 s.
    let report = World::new(4)
        .endpoint("10.0.0.1:20880", Model::constant_ms(1))
        .endpoint(
            &format!("10.0.0.2:20880?timestamp={START_MS}&warmup=10000"),
            Model::constant_ms(1),
        )
        .run("random")
        .unwrap();
    // Share w / (100 + w), w rising to 100: 1 - ln 2 = 0.307 on average in the first half, then 0.5.
    let share = report.endpoints[1].share;
    assert!((share - 0.403).abs() < 0.02, "{share}");
}

#[test]
fn nobody_is_counted_as_nobody() {
    let report = World::new(1).calls(10).run("random").unwrap();
    assert_eq!((report.calls, report.nobody), (10, 10));
    assert!(World::new(1).endpoint("10.0.0.1:99999", Model::constant_ms(1)).run("random").is_err());
    assert!(World::new(1).run("nothing").is_err());
}

#[test]
fn every_strategy_runs_with_a_thousand_endpoints() {
    let mut world = World::new(2).calls(5000).per_second(20_000);
    for host in 0..1000 {
        let url = format!("10.0.{}.{}:20880", host / 250, host % 250);
        world = world.endpoint(&url, Model::between_ms(1, 20).workers(4));
    }
    let reports = world.run_all().unwrap();
    assert_eq!(reports.len(), strategy_names().count());
    for report in reports {
        let Report { calls, nobody, errors, .. } = report;
        assert_eq!((calls, nobody, errors), (5000, 0, 0), "{}", report.strategy);
        let answered: u64 = report.endpoints.iter().map(|e| e.picks).sum();
        assert_eq!(answered, 5000);
    }
}
