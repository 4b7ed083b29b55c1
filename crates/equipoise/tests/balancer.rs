//! The runtime-free way in, as an embedder uses it.
#![allow(clippy::unwrap_used)] // also in what the tests share

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};

use equipoise::core::clock::ManualClock;
use equipoise::core::rng::SharedSeededRng;
use equipoise::{Balancer, Call, FailureKind, Outcome, Tried};

const NOW: i64 = 1_700_000_000_000;

fn counts(balancer: &Balancer, picks: usize) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for _ in 0..picks {
        let ticket = balancer.pick(&Call::new("m")).unwrap();
        *counts.entry(ticket.endpoint().address().to_owned()).or_default() += 1;
        ticket.finish(Outcome::Success);
    }
    counts
}

#[test]
fn weights_decide_and_change_at_run_time() {
    let balancer = Balancer::new("roundrobin", ["a:1?weight=3", "b:1"]).unwrap();
    assert_eq!(counts(&balancer, 103), [("a:1".into(), 3), ("b:1".into(), 100)].into());
    balancer.update(["a:1?weight=0", "b:1"]).unwrap();
    assert_eq!(counts(&balancer, 50), [("b:1".into(), 50)].into());
}

#[test]
fn a_warming_endpoint_ramps_up_without_a_runtime() {
    let clock = Arc::new(ManualClock::at(NOW));
    let balancer = Balancer::builder()
        .strategy("roundrobin")
        .endpoints(["a:1".to_owned(), format!("b:1?timestamp={NOW}&warmup=100000")])
        .clock(clock.clone())
        .build()
        .unwrap();
    assert_eq!(counts(&balancer, 101)["b:1"], 1);
    for (seconds, weight) in [(10, 10), (40, 50), (50, 100)] {
        clock.advance_ms(seconds * 1000);
        // The first pick that sees the instant rebuilds; then shares are those of the formula.
        counts(&balancer, 1);
        let picks = counts(&balancer, 100 + weight);
        assert!(picks["b:1"].abs_diff(weight) <= 1, "{picks:?} at weight {weight}");
    }
    assert_eq!(balancer.view().next_change_ms(), None);
}

#[test]
fn an_unavailable_endpoint_is_left_out_until_it_is_back() {
    let balancer = Balancer::new("random", ["a:1", "b:1"]).unwrap();
    let a = balancer.view().entries()[0].endpoint().clone();
    counts(&balancer, 10);
    balancer.set_available(&a, false).unwrap();
    assert_eq!(counts(&balancer, 100)["b:1"], 100);
    // What was measured of it is still shown, and kept for when it is back.
    let method = &balancer.report().methods[0];
    let shown: Vec<_> =
        method.endpoints.iter().map(|e| (e.address.as_str(), e.available)).collect();
    assert_eq!(shown, [("b:1", true), ("a:1", false)]);
    let picks: u64 = method.endpoints.iter().map(|e| e.picks).sum();
    assert_eq!(picks, 110);
    balancer.set_available(&a, true).unwrap();
    assert!(counts(&balancer, 100).contains_key("a:1"));
}

#[test]
fn tried_endpoints_are_avoided_while_there_are_others() {
    let balancer = Balancer::new("random", ["a:1", "b:1"]).unwrap();
    let mut tried = Tried::new();
    let first = balancer.pick(&Call::new("m")).unwrap();
    tried.add(first.endpoint().clone());
    for _ in 0..100 {
        let next = balancer.pick_except(&Call::new("m"), &tried).unwrap();
        assert_ne!(next.endpoint().address(), first.endpoint().address());
    }
    tried.add(balancer.pick_except(&Call::new("m"), &tried).unwrap().endpoint().clone());
    assert!(balancer.pick_except(&Call::new("m"), &tried).is_ok());
}

#[test]
fn counts_survive_an_update_and_end_with_the_ticket() {
    let balancer = Balancer::new("leastactive", ["a:1", "b:1"]).unwrap();
    let held: Vec<_> = (0..10).map(|_| balancer.pick(&Call::new("m")).unwrap()).collect();
    balancer.update(["a:1", "b:1", "c:1"]).unwrap();
    for _ in 0..5 {
        let ticket = balancer.pick(&Call::new("m")).unwrap();
        assert_eq!(ticket.endpoint().address(), "c:1");
        std::mem::forget(ticket);
    }
    drop(held);
    let report = balancer.report();
    let active: Vec<u32> = report.methods[0].endpoints.iter().map(|e| e.active).collect();
    assert_eq!(active, [0, 0, 5]);
}

#[test]
fn a_keyed_strategy_without_a_key_is_an_error_that_names_both() {
    let balancer = Balancer::new("consistenthash", ["a:1", "b:1"]).unwrap();
    let error = balancer.pick(&Call::new("getUser")).err().unwrap();
    assert_eq!(error.kind, FailureKind::Invalid);
    assert!(error.message.contains("getUser") && error.message.contains("key"), "{error}");
    assert!(balancer.pick(&Call::new("getUser").key("u1")).is_ok());
}

#[test]
fn nobody_is_an_error_that_counts_the_stages() {
    let balancer = Balancer::new("random", ["a:1?dubbo.tag=gray"]).unwrap();
    let error = balancer.pick(&Call::new("m")).err().unwrap();
    assert_eq!(error.kind, FailureKind::NoProvider);
    assert!(error.message.contains("listed 1, tag 0, available 0"), "{error}");
}

#[test]
fn bad_values_are_refused_and_what_is_in_force_stays() {
    assert!(Balancer::new("nosuch", ["a:1"]).unwrap_err().to_string().contains("nosuch"));
    assert!(Balancer::new("random", ["a:0"]).unwrap_err().to_string().contains("a:0"));
    let balancer = Balancer::new("roundrobin", ["a:1", "b:1"]).unwrap();
    assert!(balancer.set("hash.nodes", "3").is_err());
    assert!(balancer.update(["a:x"]).is_err());
    assert_eq!(counts(&balancer, 10).len(), 2);
}

#[test]
fn a_seed_and_a_clock_make_it_repeatable() {
    let sequence = || {
        let balancer = Balancer::builder()
            .strategy("random")
            .endpoints(["a:1?weight=1", "b:1?weight=2", "c:1?weight=3"])
            .clock(Arc::new(ManualClock::at(NOW)))
            .rng(SharedSeededRng::new(42))
            .build()
            .unwrap();
        let address = |_| balancer.pick(&Call::new("m")).unwrap().endpoint().address().to_owned();
        (0..50).map(address).collect::<Vec<_>>()
    };
    assert_eq!(sequence(), sequence());
}

#[test]
fn threads_pick_while_the_list_changes() {
    for row in equipoise::STRATEGIES {
        let name = row.about().name;
        let balancer = Balancer::new(name, ["a:1", "b:1", "c:1"]).unwrap();
        let (stop, picking) = (AtomicBool::new(false), Barrier::new(3));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut local = balancer.local();
                    let mut pick = || {
                        let ticket = local.pick(&Call::new("m").key("k")).unwrap();
                        ticket.finish(Outcome::Success);
                    };
                    pick();
                    picking.wait();
                    while !stop.load(Ordering::Relaxed) {
                        pick();
                    }
                });
            }
            picking.wait();
            for round in 0..200 {
                let list =
                    if round % 2 == 0 { &["a:1", "b:1"][..] } else { &["a:1", "b:1", "c:1"] };
                balancer.update(list).unwrap();
            }
            stop.store(true, Ordering::Relaxed);
        });
        let report = balancer.report();
        assert!(report.methods[0].endpoints.iter().all(|e| e.active == 0), "{name}");
        assert_eq!(balancer.view().service().live_endpoints(), 3, "{name}");
    }
}
