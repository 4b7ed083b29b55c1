//! Reported faults of state that outlives a list, or ought to: counts over pushes, stale positions,
//! what is left behind.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod support;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, RwLock, Weak};

use equipoise_core::balance::Strategies;
use equipoise_core::call::{Call, Tried};
use equipoise_core::config::{Config, Place};
use equipoise_core::endpoint::Service;
use equipoise_core::outcome::Outcome;
use equipoise_core::rng::{Rng, SeededRng};
use equipoise_core::service::ServiceKey;
use equipoise_core::ticket::Ticket;
use equipoise_core::url::Url;
use equipoise_core::view::{Build, View};
use equipoise_sim::scene::{START_MS, Scene, providers, strategy_names};
use support::*;

#[test]
fn case_012_a_push_that_changes_weights_only_is_a_change() {
    let mut turns = scene("roundrobin", &[100, 100]);
    assert_eq!(counts(&mut turns, 100), [50, 50]);
    turns.push(&weighted(&[100, 300])).unwrap();
    let after = counts(&mut turns, 400);
    assert!(after[0].abs_diff(100) <= 1 && after[1].abs_diff(300) <= 1, "{after:?}");

    let mut drawn = scene("random", &[100, 100]);
    counts(&mut drawn, 100);
    drawn.push(&weighted(&[100, 300])).unwrap();
    let after = counts(&mut drawn, 100_000);
    assert_weights(&after, &[100, 300]);
    assert_percent(&after, 1, 75.0, 0.5);
}

#[test]
fn case_014_calls_in_flight_survive_a_push() {
    let mut scene = scene("leastactive", &[100, 100, 100]);
    let mut open: Vec<Ticket> = Vec::new();
    for place in (0..3).flat_map(|place| [place; 5]) {
        open.push(scene.start_at(&CALL, place));
    }
    for _ in 0..3 {
        scene.push(&weighted(&[100, 100, 100])).unwrap();
        assert_eq!([0, 1, 2].map(|place| scene.active(&CALL, place)), [5, 5, 5]);
    }
    scene.push(&weighted(&[100, 100, 100, 100])).unwrap();
    for held in 1..=5 {
        let ticket = scene.start(&CALL).unwrap();
        assert_eq!(scene.place_of(ticket.endpoint()), Some(3));
        assert_eq!(scene.active(&CALL, 3), held);
        open.push(ticket);
    }
    drop(open);
    assert_eq!([0, 1, 2, 3].map(|place| scene.active(&CALL, place)), [0; 4]);
}

#[test]
fn case_015_positions_of_a_longer_list_are_not_used_on_a_shorter_one() {
    for strategy in ["roundrobin", "random", "shortestresponse"] {
        let (long, short) = (weighted(&[1, 1, 8]), weighted(&[1, 1]));
        let mut scene = Scene::new(strategy, &long).unwrap();
        counts(&mut scene, 1000);
        scene.push(&short).unwrap();
        assert_weights(&counts(&mut scene, 1000), &[1, 1]);

        let current = RwLock::new(scene.view().clone());
        let (over, of_short) = (AtomicBool::new(false), Mutex::new([0_u64; 2]));
        let (clock, ab) = (scene.clock.clone(), [0, 1].map(|place| scene.endpoint(place).clone()));
        std::thread::scope(|scope| {
            for seed in 0..4 {
                let (current, over, of_short) = (&current, &over, &of_short);
                let (clock, ab) = (&clock, &ab);
                scope.spawn(move || {
                    let mut rng = SeededRng::new(seed);
                    while !over.load(Relaxed) || of_short.lock().unwrap().iter().sum::<u64>() < 4000
                    {
                        let view = current.read().unwrap().clone();
                        let mut mine = [0; 2];
                        for _ in 0..250 {
                            let chosen = view.choose(&CALL, &Tried::new(), &mut rng, &**clock);
                            let endpoint = chosen.unwrap().endpoint().clone();
                            let place = ab.iter().position(|e| Arc::ptr_eq(e, &endpoint));
                            if view.entries().len() == 2 {
                                mine[place.expect("C is not in this list")] += 1;
                            }
                        }
                        let mut all = of_short.lock().unwrap();
                        (all[0], all[1]) = (all[0] + mine[0], all[1] + mine[1]);
                    }
                });
            }
            let _over = Over(&over);
            for flip in 0..400 {
                scene.push(if flip % 2 == 0 { &long } else { &short }).unwrap();
                *current.write().unwrap() = scene.view().clone();
            }
        });
        assert_percent(&*of_short.lock().unwrap(), 0, 50.0, 5.0);
    }
}

#[test]
fn case_021_many_methods_and_lists_at_once_agree_on_every_key() {
    const METHODS: usize = 64;
    let mut scene = scene("consistenthash", &[100, 100, 100]);
    let names: Vec<String> = (0..METHODS).map(|m| format!("method{m}")).collect();
    let keys: Vec<String> = (0..100).map(|k| format!("k{k}")).collect();
    let alone: Vec<usize> =
        keys.iter().map(|key| scene.pick(&Call::new(&names[0]).key(key)).unwrap()).collect();
    let abc = [0, 1, 2].map(|place| scene.endpoint(place).clone());
    let (current, clock) = (RwLock::new(scene.view().clone()), scene.clock.clone());
    std::thread::scope(|scope| {
        for seed in 0..16 {
            let (names, keys, alone, abc) = (&names, &keys, &alone, &abc);
            let (current, clock) = (&current, &clock);
            scope.spawn(move || {
                let mut rng = SeededRng::new(seed);
                for _ in 0..10_000 {
                    let bits = rng.next_u64() as usize;
                    let (method, key) = (&names[bits % METHODS], (bits >> 32) % keys.len());
                    let view = current.read().unwrap().clone();
                    let call = Call::new(method).key(&keys[key]);
                    let chosen = view.choose(&call, &Tried::new(), &mut rng, &**clock).unwrap();
                    assert!(Arc::ptr_eq(chosen.endpoint(), &abc[alone[key]]));
                }
            });
        }
        for _ in 0..200 {
            scene.push(&weighted(&[100, 100, 100])).unwrap();
            *current.write().unwrap() = scene.view().clone();
        }
    });
    let prepared: usize = scene.view().open_routes().map(|route| route.ready().count()).sum();
    assert!(prepared <= METHODS, "{prepared} prepared");
}

#[test]
fn case_150_what_a_restart_leaves_behind_dies() {
    for strategy in strategy_names() {
        let mut scene = Scene::new(strategy, &[ABCD[0]]).unwrap();
        let calls = |scene: &mut Scene| {
            let ticket = scene.start(&CALL.key("k")).unwrap();
            ticket.finish(Outcome::Success, &*scene.clock);
        };
        for restart in 0..1000 {
            scene.push(&[format!("{}?timestamp={}", ABCD[0], START_MS + restart)]).unwrap();
            calls(&mut scene);
        }
        assert_eq!(scene.service().live_endpoints(), 1);
        let mut seen = Vec::new();
        for (x, y) in (0..4).flat_map(|x| (0..250).map(move |y| (x, y))) {
            scene.push(&[format!("10.0.{x}.{y}:20880")]).unwrap();
            calls(&mut scene);
            seen.push(Arc::downgrade(scene.endpoint(0)));
        }
        assert_eq!(scene.service().live_endpoints(), 1, "{strategy}");
        assert_eq!(seen.iter().filter(|e| e.strong_count() > 0).count(), 1, "{strategy}");
    }
}

/// What was measured of a method that nobody calls any more dies with the next view, unless one of
/// its calls is still in flight; names are bounded.
#[test]
fn case_150_methods_that_nobody_calls_are_left_behind() {
    let mut scene = scene("leastactive", &[100, 100]);
    let ready = |scene: &Scene| -> usize {
        scene.view().open_routes().map(|route| route.ready().count()).sum()
    };
    for method in 0..1000 {
        let name = format!("method{method}");
        let ticket = scene.start(&Call::new(&name)).unwrap();
        ticket.finish(Outcome::Success, &*scene.clock);
    }
    assert_eq!(ready(&scene), 257);
    let open = scene.start(&Call::new("method7")).unwrap();
    let idle = scene.candidate(&Call::new("method8"), 0, |c| Arc::downgrade(c.measurements()));
    scene.clock.advance_ms(599_999);
    scene.rebuild().unwrap();
    assert_eq!(ready(&scene), 257);
    scene.clock.advance_ms(1);
    scene.rebuild().unwrap();
    assert_eq!(ready(&scene), 1);
    assert_eq!(idle.strong_count(), 0);
    let held = scene.place_of(open.endpoint()).unwrap();
    assert_eq!(scene.active(&Call::new("method7"), held), 1);
    drop(open);
    assert_eq!(scene.active(&Call::new("method7"), held), 0);
}

#[test]
fn case_152_a_destroyed_reference_leaves_nothing() {
    let strategies = Strategies::built_in();
    let mut config = Config::new();
    config.set("loadbalance", "consistenthash", &Place("test".into()));
    let config = Arc::new(config);
    let list: Vec<Arc<Url>> = ABCD.iter().map(|a| Arc::new(Url::parse(a).unwrap())).collect();
    let clock = equipoise_core::clock::ManualClock::at(START_MS);
    let mut left: Vec<(Weak<Service>, Weak<View>)> = Vec::new();
    for group in 0..10_000 {
        let key = ServiceKey::new("com.ex.Svc").group(format!("g{group}"));
        let service = Service::new(key);
        let build = Build {
            service: &service,
            list: &list,
            config: &config,
            strategies: &strategies,
            previous: None,
            clock: &clock,
        };
        let view = Arc::new(View::build(&build).unwrap());
        let call = CALL.key("k");
        let chosen = view.choose(&call, &Tried::new(), &mut SeededRng::new(0), &clock).unwrap();
        Ticket::start(chosen, &clock).finish(Outcome::Success, &clock);
        left.push((Arc::downgrade(&service), Arc::downgrade(&view)));
    }
    let alive = |(service, view): &(Weak<Service>, Weak<View>)| {
        service.strong_count() > 0 || view.strong_count() > 0
    };
    assert_eq!(left.iter().filter(|one| alive(one)).count(), 0);
}

/// Lists and health that flap while threads call, for each strategy.
#[test]
fn case_190_flapping_providers_crash_nobody() {
    for strategy in strategy_names() {
        let all = providers(&[100; 20]);
        let mut scene = Scene::new(strategy, &all).unwrap();
        let (current, clock) = (RwLock::new(scene.view().clone()), scene.clock.clone());
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for seed in 0..8 {
                let (current, clock, over) = (&current, &clock, &over);
                scope.spawn(move || {
                    let mut rng = SeededRng::new(seed);
                    while !over.load(Relaxed) {
                        let view = current.read().unwrap().clone();
                        let mut tried = Tried::new();
                        for _ in 0..3 {
                            let call = CALL.key("k");
                            let chosen = view.choose(&call, &tried, &mut rng, &**clock).unwrap();
                            let ticket = Ticket::start(chosen, &**clock);
                            tried.add(ticket.endpoint().clone());
                            ticket.finish(Outcome::NETWORK, &**clock);
                        }
                    }
                });
            }
            let _over = Over(&over);
            let mut chance = SeededRng::new(190);
            for _ in 0..200 {
                let bits = chance.next_u64();
                let up =
                    |place: &usize| *place == (bits >> 40) as usize % 20 || bits >> place & 1 == 0;
                let list: Vec<&String> = (0..20).filter(up).map(|place| &all[place]).collect();
                scene.push(&list).unwrap();
                scene.endpoint(0).set_available(bits >> 63 == 0);
                scene.clock.advance_ms(1);
                *current.write().unwrap() = scene.view().clone();
            }
        });
        scene.push(&all).unwrap();
        for place in 0..20 {
            scene.endpoint(place).set_available(true);
        }
        scene.rebuild().unwrap();
        for place in 0..20 {
            assert_eq!(scene.active(&CALL.key("k"), place), 0, "{strategy}");
        }
        assert!(scene.pick(&CALL.key("k")).is_ok());
    }
}
