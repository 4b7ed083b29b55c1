//! A handle for one thread: it keeps candidates at hand, and must still see every change at the
//! next pick.
#![allow(clippy::unwrap_used)] // also in what the tests share

use std::collections::BTreeSet;
use std::sync::Arc;

use equipoise::core::call::Method;
use equipoise::core::clock::ManualClock;
use equipoise::{Balancer, Call, Local, Outcome, STRATEGIES, Tried};

const CALL: Call<'static> = Call::new("m").key("k");

/// Addresses that a number of picks reach.
fn reached(local: &mut Local, call: &Call<'_>, picks: usize) -> BTreeSet<String> {
    let each = |_| {
        let ticket = local.pick(call).unwrap();
        let address = ticket.endpoint().address().to_owned();
        ticket.finish(Outcome::Success);
        address
    };
    (0..picks).map(each).collect()
}

fn set(addresses: &[&str]) -> BTreeSet<String> {
    addresses.iter().map(|a| (*a).to_owned()).collect()
}

#[test]
fn a_new_list_is_seen_at_the_next_pick_whatever_the_strategy() {
    for strategy in STRATEGIES {
        let name = strategy.about().name;
        let balancer = Balancer::new(name, ["a:1", "b:1", "c:1"]).unwrap();
        let mut local = balancer.local();
        assert!(reached(&mut local, &CALL, 40).is_subset(&set(&["a:1", "b:1", "c:1"])), "{name}");
        balancer.update(["d:1"]).unwrap();
        assert_eq!(reached(&mut local, &CALL, 1), set(&["d:1"]), "{name}");
        balancer.update(["d:1", "e:1"]).unwrap();
        assert!(reached(&mut local, &CALL, 40).is_subset(&set(&["d:1", "e:1"])), "{name}");
    }
}

#[test]
fn who_becomes_unavailable_gets_no_further_pick_whatever_the_strategy() {
    for strategy in STRATEGIES {
        let name = strategy.about().name;
        let balancer = Balancer::new(name, ["a:1", "b:1", "c:1"]).unwrap();
        let mut local = balancer.local();
        reached(&mut local, &CALL, 10);
        let ticket = local.pick(&CALL).unwrap();
        let (endpoint, address) = (ticket.endpoint().clone(), ticket.endpoint().address());
        // Told to the endpoint alone: no view is built for it.
        endpoint.set_available(false);
        assert!(!reached(&mut local, &CALL, 40).contains(address), "{name}");
        balancer.set_available(&endpoint, true).unwrap();
        balancer.set_available(&endpoint, false).unwrap();
        assert!(!reached(&mut local, &CALL, 40).contains(address), "{name}");
    }
}

#[test]
fn tagged_calls_and_other_methods_are_not_mixed_up() {
    let list = ["a:1", "b:1?dubbo.tag=gray", "c:1"];
    let balancer =
        Balancer::builder().endpoints(list).set("m.loadbalance", "roundrobin").build().unwrap();
    let mut local = balancer.local();
    let by_index = Call::of(balancer.view().method(Method::Name("m")));
    for _ in 0..3 {
        assert_eq!(reached(&mut local, &Call::new("m"), 2), set(&["a:1", "c:1"]));
        assert_eq!(reached(&mut local, &by_index, 2), set(&["a:1", "c:1"]));
        assert_eq!(reached(&mut local, &Call::new("m").tag("gray"), 2), set(&["b:1"]));
        assert_eq!(reached(&mut local, &by_index.tag("gray").force_tag(true), 2), set(&["b:1"]));
        assert!(local.pick(&Call::new("m").tag("blue").force_tag(true)).is_err());
        assert_eq!(reached(&mut local, &Call::new("other"), 60), set(&["a:1", "c:1"]));
    }
}

#[test]
fn tried_endpoints_are_avoided_though_candidates_are_at_hand() {
    let balancer = Balancer::new("random", ["a:1", "b:1"]).unwrap();
    let mut local = balancer.local();
    let mut tried = Tried::new();
    tried.add(local.choose(&CALL, &Tried::new()).unwrap().endpoint().clone());
    for _ in 0..20 {
        let other = local.choose(&CALL, &tried).unwrap();
        assert!(!tried.contains(other.endpoint()));
    }
}

#[test]
fn weights_that_grow_with_time_are_followed() {
    const NOW: i64 = 1_700_000_000_000;
    let clock = Arc::new(ManualClock::at(NOW));
    let list = [format!("a:1?timestamp={NOW}&warmup=100000"), "b:1".to_owned()];
    let balancer = Balancer::builder()
        .endpoints(list)
        .strategy("roundrobin")
        .clock(clock.clone())
        .build()
        .unwrap();
    let mut local = balancer.local();
    let mut of_a = |picks: usize| {
        let is_a =
            |_: &usize| local.choose(&CALL, &Tried::new()).unwrap().endpoint().address() == "a:1";
        (0..picks).filter(is_a).count()
    };
    assert_eq!(of_a(101), 1, "a weight of 1 beside one of 100");
    clock.advance_ms(50_000);
    assert_eq!(of_a(150), 50, "half the weight after half the time");
    clock.advance_ms(50_000);
    assert!(matches!(of_a(200), 99..=101), "then as much as the other");
}

#[test]
fn a_ticket_reads_one_clock_for_its_pick_and_its_start() {
    let clock = Arc::new(ManualClock::at(1_700_000_000_000));
    let balancer = Balancer::builder()
        .endpoints(["a:1", "b:1"])
        .strategy("peakewma")
        .clock(clock.clone())
        .build()
        .unwrap();
    let mut local = balancer.local();
    let ticket = local.pick(&CALL).unwrap();
    clock.advance_ms(7);
    ticket.finish(Outcome::Success);
    let report = balancer.report();
    let means: Vec<f64> = report.methods[0].endpoints.iter().filter_map(|e| e.mean_ms).collect();
    assert_eq!(means, [7.0]);
}
