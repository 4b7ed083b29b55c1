//! Reported faults of weighted round robin: order, state over changes of weight and membership, and
//! nodes that warm up.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod support;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Barrier, RwLock};

use equipoise_core::call::Tried;
use equipoise_core::clock::ManualClock;
use equipoise_core::rng::SeededRng;
use equipoise_core::view::View;
use equipoise_sim::scene::{START_MS, Scene, providers};
use support::*;

/// `warm` providers of weight 100 and `new` ones that start now.
fn warm_and_new(warm: usize, new: usize) -> Vec<String> {
    let mut list = providers(&vec![100; warm + new]);
    for url in &mut list[warm..] {
        url.push_str(&format!("&timestamp={START_MS}"));
    }
    list
}

/// One call a second for so many seconds, each on a view that is up to date.
fn one_a_second(scene: &mut Scene, seconds: u64) -> Vec<u64> {
    let mut counts = vec![0; scene.list().len()];
    for _ in 0..seconds {
        let ticket = scene.start(&CALL).unwrap();
        counts[scene.place_of(ticket.endpoint()).unwrap()] += 1;
        ticket.finish(equipoise_core::outcome::Outcome::Success, &*scene.clock);
        scene.advance_ms(1000).unwrap();
    }
    counts
}

#[test]
fn case_007_a_new_one_is_not_stuck_where_it_began() {
    let mut idle = Scene::new("roundrobin", &warm_and_new(100, 1)).unwrap();
    idle.advance_ms(600_000).unwrap();
    assert_eq!(counts(&mut idle, 101), [1; 101]);

    // The same if the list was in use when the new one came.
    let mut used = Scene::new("roundrobin", &warm_and_new(100, 1)).unwrap();
    counts(&mut used, 1);
    used.advance_ms(600_000).unwrap();
    counts(&mut used, 101);
    assert_eq!(counts(&mut used, 101), [1; 101]);

    let mut busy = Scene::new("roundrobin", &warm_and_new(100, 1)).unwrap();
    let served = one_a_second(&mut busy, 600);
    assert!((1..=6).contains(&served[100]), "the new one got {}", served[100]);
    assert!(served[..100].iter().all(|n| (5..=6).contains(n)), "{served:?}");
}

#[test]
fn case_008_a_light_one_appears_within_the_first_cycle() {
    for _ in 0..1000 {
        let mut scene = scene("roundrobin", &[100, 10]);
        assert_eq!(letters(&mut scene, 11), "AAAAABAAAAA");
    }
}

#[test]
fn case_010_new_ones_share_fairly_while_their_weights_change() {
    let mut scene = Scene::new("roundrobin", &warm_and_new(2, 6)).unwrap();
    let served = one_a_second(&mut scene, 300);
    let new = &served[2..];
    let (total, least, most) =
        (new.iter().sum::<u64>(), new.iter().min().unwrap(), new.iter().max().unwrap());
    assert!((112..=118).contains(&total), "{served:?}");
    assert!(most - least <= 2, "{served:?}");
}

#[test]
fn case_011_turns_are_spread() {
    for (weights, order) in [
        (&[5, 1, 1][..], "AABACAAAABACAA"),
        (&[1, 2, 3], "CBACBCCBACBC"),
        (&[4, 1], "AABAA"),
        (&[80, 20], "AABAA"),
        (&[3, 0, 1], "AACAAACA"),
    ] {
        let mut scene = scene("roundrobin", weights);
        assert_eq!(letters(&mut scene, order.len()), order, "{weights:?}");
    }
}

#[test]
fn case_013_no_call_is_without_an_answer_and_each_weight_is_exact() {
    let mut two = scene("roundrobin", &[1, 1000]);
    assert_eq!(counts(&mut two, 2002), [2, 2000]);

    let weights: Vec<u32> = (1..=97).collect();
    let mut many = Scene::new("roundrobin", &providers(&weights)).unwrap();
    let expected: Vec<u64> = weights.iter().map(|w| u64::from(*w)).collect();
    assert_eq!(counts(&mut many, 4753), expected);
}

#[test]
fn case_019_two_first_calls_at_once_share_one_state() {
    for round in 0..10_000 {
        let mut scene = scene("roundrobin", &[1, 1]);
        let (view, clock, start) = (scene.view().clone(), scene.clock.clone(), Barrier::new(2));
        let first = || {
            start.wait();
            let chosen = view.choose(&CALL, &Tried::new(), &mut SeededRng::new(0), &*clock);
            chosen.unwrap().endpoint().clone()
        };
        let endpoints: Vec<_> = std::thread::scope(|scope| {
            let both = [scope.spawn(first), scope.spawn(first)];
            both.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let mut picked = counts(&mut scene, 2);
        endpoints.iter().for_each(|endpoint| picked[scene.place_of(endpoint).unwrap()] += 1);
        assert_eq!(picked, [2, 2], "round {round}");
        assert_eq!(scene.service().live_endpoints(), 2);
        assert_eq!(scene.view().open_routes().map(|route| route.ready().count()).sum::<usize>(), 1);
    }
}

/// One thread that publishes views, four that pick.
#[test]
fn case_020_a_weight_that_flips_under_picks_is_never_torn() {
    let mut scene = scene("roundrobin", &[100, 100]);
    let current: RwLock<Arc<View>> = RwLock::new(scene.view().clone());
    let (clock, over): (Arc<ManualClock>, _) = (scene.clock.clone(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (current, clock, over) = (&current, &clock, &over);
            scope.spawn(move || {
                let mut rng = SeededRng::new(seed);
                while !over.load(Relaxed) {
                    let view = current.read().unwrap().clone();
                    view.choose(&CALL, &Tried::new(), &mut rng, &**clock).unwrap();
                    let all = view.candidates(&CALL, &**clock).all();
                    assert_eq!(all[0].weight(), 100);
                    assert!([50, 100].contains(&all[1].weight()));
                }
            });
        }
        let _over = Over(&over);
        for flip in 0..2000 {
            scene.push(&weighted(&[100, if flip % 2 == 0 { 50 } else { 100 }])).unwrap();
            *current.write().unwrap() = scene.view().clone();
        }
    });
    let after = counts(&mut scene, 1000);
    assert!(after.iter().all(|n| n.abs_diff(500) <= 2), "{after:?}");
}

/// Dubbo keeps the counter of the one that left, so that the next four are CCCC; here it starts
/// anew, and the others go on with what they were owed.
#[test]
fn derived_1_one_leaves_and_returns() {
    let all = weighted(&[1, 5, 1]);
    let mut scene = Scene::new("roundrobin", &all).unwrap();
    assert_eq!(letters(&mut scene, 3), "BBA");
    scene.push(&[&all[0], &all[2]]).unwrap();
    let apart = counts(&mut scene, 20);
    assert!(apart.iter().all(|n| (8..=12).contains(n)), "{apart:?}");
    scene.push(&all).unwrap();
    let together = counts(&mut scene, 7);
    assert!((4..=5).contains(&together[1]), "{together:?}");
    assert_eq!(together.iter().sum::<u64>(), 7);
}
