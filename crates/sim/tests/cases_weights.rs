//! Reported faults of weights: shares, zero and unset, sums beyond 32 bits, duplicates in a list.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod support;

use equipoise_core::call::{Call, Tried};
use equipoise_core::config::Config;
use equipoise_core::rng::Rng;
use equipoise_sim::scene::{Scene, providers, strategy_names};
use support::*;

/// Strategies that choose without a key.
fn unkeyed() -> impl Iterator<Item = &'static str> {
    strategy_names().filter(|name| !name.contains("consistenthash"))
}

#[test]
fn case_023_the_first_in_the_list_does_not_decide_whether_weights_count() {
    for (list, heavy) in [(with(&["", "weight=300"]), 1), (with(&["weight=300", ""]), 0)] {
        let mut scene = Scene::new("random", &list).unwrap();
        let seen = counts(&mut scene, 100_000);
        assert_weights(&seen, if heavy == 1 { &[100, 300] } else { &[300, 100] });
        assert_percent(&seen, heavy, 75.0, 0.5);
    }
}

#[test]
fn case_024_a_weight_set_to_zero_gets_nothing_from_the_next_call_on() {
    // B is first in this list.
    let list = |b| vec![format!("10.0.0.2:20880?weight={b}"), "10.0.0.1:20880".to_owned()];
    let mut turns = Scene::new("roundrobin", &list(900)).unwrap();
    let order: Vec<usize> = (0..6).map(|_| turns.pick(&CALL).unwrap()).collect();
    assert_eq!(order, [0, 0, 0, 0, 0, 1]);
    turns.push(&list(0)).unwrap();
    assert_eq!(counts(&mut turns, 50), [0, 50]);
    for strategy in unkeyed() {
        let mut scene = Scene::new(strategy, &list(900)).unwrap();
        counts(&mut scene, 1000);
        scene.push(&list(0)).unwrap();
        assert_eq!(counts(&mut scene, 10_000), [0, 10_000], "{strategy}");
    }
}

/// The textbook walk: the first whose cumulative weight is greater than the offset.
fn walk(weights: &[u32], offset: u32) -> usize {
    let mut left = offset;
    for (place, weight) in weights.iter().enumerate() {
        if left < *weight {
            return place;
        }
        left -= weight;
    }
    panic!("{offset} is beyond {weights:?}");
}

/// One prepared draw.
struct Bits(u64);

impl Rng for Bits {
    fn next_u64(&mut self) -> u64 {
        self.0
    }
}

/// Counts over the whole draw space of `random`: each of the n slots of its table with each of
/// `sum of weights` evenly spaced coins. Every weight then comes out n times.
fn whole_draw_space(weights: &[u32]) -> Vec<u64> {
    let scene = Scene::new("random", &providers(weights)).unwrap();
    let (n, coins) = (weights.len() as u64, weights.iter().map(|w| u64::from(*w)).sum::<u64>());
    let mut counts = vec![0; weights.len()];
    for slot in 0..n {
        for coin in 0..coins {
            let bits = (slot << 32).div_ceil(n) << 32 | (coin << 32).div_ceil(coins);
            let chosen =
                scene.view().choose(&CALL, &Tried::new(), &mut Bits(bits), &*scene.clock).unwrap();
            counts[scene.place_of(chosen.endpoint()).unwrap()] += 1;
        }
    }
    counts
}

/// The offsets of the report state the shares; how the draw space maps to endpoints is our own.
#[test]
fn case_025_a_faster_search_gives_what_the_plain_walk_gives() {
    let weights = [1, 2, 3, 4, 5, 6];
    let walked: Vec<usize> = (0..21).map(|offset| walk(&weights, offset)).collect();
    let table = [0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5];
    assert_eq!(walked, table);
    for part in [&weights[..], &weights[..4], &weights[2..]] {
        let total = part.iter().sum();
        let mut by_walk = vec![0; part.len()];
        (0..total).for_each(|offset| by_walk[walk(part, offset)] += part.len() as u64);
        assert_eq!(whole_draw_space(part), by_walk);
    }
}

#[test]
fn case_026_neither_the_first_nor_the_last_is_off_by_one() {
    let mut weights = vec![1; 100];
    weights[50] = 2;
    let expected: Vec<u64> = weights.iter().map(|w| u64::from(*w) * 100).collect();
    assert_eq!(whole_draw_space(&weights), expected);
    assert_eq!(whole_draw_space(&[10, 20, 70]), [30, 60, 210]);
    let mut by_walk = [0; 3];
    (0..100).for_each(|offset| by_walk[walk(&[10, 20, 70], offset)] += 1);
    assert_eq!(by_walk, [10, 20, 70]);
}

#[test]
fn case_027_unset_is_not_zero() {
    let many: Vec<String> = (0..150).map(|i| format!("10.0.0.{}:20880", i + 1)).collect();
    let mut scene = Scene::new("random", &many).unwrap();
    let seen = counts(&mut scene, 300_000);
    assert_weights(&seen, &[100; 150]);
    (0..150).for_each(|place| assert_percent(&seen, place, 100.0 / 150.0, 0.2));

    let scene = Scene::new("random", &with(&["weight=0", "weight=", "", "weight=abc"])).unwrap();
    assert_eq!([0, 1, 2, 3].map(|place| scene.weight(&CALL, place)), [0, 100, 100, 100]);
}

#[test]
fn case_028_all_weights_zero_is_an_even_choice() {
    for strategy in unkeyed() {
        let mut three = scene(strategy, &[0, 0, 0]);
        if strategy == "roundrobin" {
            assert_eq!(letters(&mut three, 6), "ABCABC");
        } else {
            assert_weights(&counts(&mut three, 6000), &[1, 1, 1]);
        }
    }
    for strategy in strategy_names() {
        let mut alone = scene(strategy, &[0]);
        assert!((0..6).all(|_| alone.pick(&CALL.key("k")).unwrap() == 0), "{strategy}");
    }
}

#[test]
fn case_031_sums_beyond_32_bits() {
    const MAX: u32 = i32::MAX as u32;
    let mut two = scene("random", &[MAX, 1]);
    let seen = counts(&mut two, 100_000);
    assert!(seen[0] >= 99_990, "{seen:?}");
    let mut three = scene("random", &[MAX, MAX, 102]);
    let seen = counts(&mut three, 100_000);
    assert_percent(&seen, 0, 50.0, 0.5);
    assert_percent(&seen, 1, 50.0, 0.5);
    assert!(seen[2] <= 10, "{seen:?}");
}

#[test]
fn case_032_weights_whose_sum_wraps_to_nothing() {
    // 2^31 does not fit a Java int: it counts as the largest that does.
    for text in ["2147483648", "4294967296", "2147483647", "99999999999999999999"] {
        let parameters = format!("weight={text}");
        for n in [2, 3] {
            let list = with(&vec![parameters.as_str(); n]);
            for strategy in unkeyed() {
                let mut scene = Scene::new(strategy, &list).unwrap();
                assert_eq!(scene.weight(&CALL, 0), i32::MAX as u32);
                assert_weights(&counts(&mut scene, 20_000), &vec![1; n]);
            }
            for strategy in ["consistenthash", "boundedconsistenthash"] {
                let mut scene = Scene::new(strategy, &list).unwrap();
                assert!(scene.pick(&CALL.key("k")).is_ok());
            }
        }
    }
}

#[test]
fn case_130_an_address_counts_once() {
    let [a, b] = [ABCD[0], ABCD[1]];
    let mut same = Scene::new("random", &[a, b, a, a]).unwrap();
    assert_eq!(same.view().entries().len(), 2);
    assert_weights(&counts(&mut same, 100_000)[..2], &[100, 100]);

    // Its place is the first one, its parameters are the last ones.
    let list = [format!("{a}?weight=100"), format!("{a}?weight=300"), b.to_owned()];
    let mut last = Scene::new("random", &list).unwrap();
    assert_eq!(last.view().entries().len(), 2);
    assert_eq!(last.endpoint(0).address(), a);
    let seen = counts(&mut last, 100_000);
    assert_weights(&seen[..2], &[300, 100]);
}

/// Two protocols at one address are two endpoints.
#[test]
fn case_129_one_address_with_two_protocols() {
    let both = ["dubbo://10.0.0.1:20880/com.ex.Svc", "tri://10.0.0.1:20880/com.ex.Svc"];
    let mut scene = Scene::new("roundrobin", &both).unwrap();
    assert_eq!(scene.view().entries().len(), 2);
    assert_eq!(counts(&mut scene, 10), [5, 5]);
    scene.push(&both[1..]).unwrap();
    assert_eq!(scene.endpoint(0).protocol(), "tri");
    assert_eq!(counts(&mut scene, 10), [10]);
}

/// A weight that the consumer sets for all is one for all, and its limits are checked when set.
#[test]
fn case_032_unusable_weights_of_the_consumer_are_refused() {
    let mut scene = scene("random", &[100, 100]);
    let refused = scene.set("weight", "abc").unwrap_err().to_string();
    assert!(refused.contains("weight") && refused.contains("abc"), "{refused}");
    let before = Config::clone(scene.view().config());
    assert!(before.lookup(METHOD, "weight").is_none());
    scene.set("weight", "2147483648").unwrap();
    assert_eq!(scene.weight(&Call::new(METHOD), 0), i32::MAX as u32);
}
