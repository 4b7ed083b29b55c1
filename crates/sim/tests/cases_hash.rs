//! Reported faults of consistent hashing, end to end: a call in, a provider out.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod support;

use equipoise_core::call::{Call, Tried};
use equipoise_core::hash::key::Argument;
use equipoise_core::hash::ring::Ring;
use equipoise_core::ticket::Ticket;
use equipoise_sim::scene::{Scene, providers};
use support::*;

fn hashing(n: usize) -> Scene {
    Scene::new("consistenthash", &ABCD[..n]).unwrap()
}

/// Where a call with these arguments goes.
fn home(scene: &mut Scene, arguments: &[Argument]) -> char {
    letter(scene.pick(&Call::new("find").arguments(arguments)).unwrap())
}

/// Where calls with these keys go.
fn homes<K: AsRef<str>>(scene: &mut Scene, keys: impl Iterator<Item = K>) -> String {
    keys.map(|key| letter(scene.pick(&CALL.key(key.as_ref())).unwrap())).collect()
}

fn users() -> impl Iterator<Item = String> {
    (1..=8).map(|n| format!("user-{n}"))
}

fn k(n: usize) -> impl Iterator<Item = String> {
    (0..n).map(|k| format!("k{k}"))
}

#[test]
fn case_049_the_key_is_the_text_of_the_arguments() {
    let mut scene = hashing(3);
    for (key, expected) in [("u1", 'A'), ("u2", 'B'), ("user-4", 'C')] {
        assert_eq!(home(&mut scene, &[key.into()]), expected, "{key}");
        let echo = Call::new("echo").key(key);
        assert_eq!(letter(scene.pick(&echo).unwrap()), expected, "{key}");
    }
}

#[test]
fn case_050_no_argument_is_the_empty_key() {
    let mut three = hashing(3);
    assert!((0..100).all(|_| home(&mut three, &[]) == 'A'));
    let mut four = hashing(4);
    assert!((0..100).all(|_| home(&mut four, &[]) == 'D'));
    three.set("hash.arguments", "5").unwrap();
    assert_eq!(home(&mut three, &["u2".into()]), 'A');
    // Nothing said about arguments is no key at all.
    assert!(three.pick(&Call::new("ping")).is_err());
}

#[test]
fn case_051_arguments_of_every_type_have_their_java_text() {
    let mut scene = hashing(3);
    let list = Argument::List(vec![1_i64.into(), 2_i64.into()]);
    for (argument, expected) in [
        (42_i64.into(), 'B'),
        (7_i64.into(), 'C'),
        (true.into(), 'A'),
        (1.0_f64.into(), 'C'),
        (list, 'C'),
        (Argument::Null, 'B'),
    ] {
        assert_eq!(home(&mut scene, std::slice::from_ref(&argument)), expected, "{argument:?}");
    }
    assert_eq!(home(&mut scene, &[]), 'A');
}

#[test]
fn case_052_the_chosen_arguments_make_the_key() {
    let call = |number: &str| [Argument::from("tenantA"), Argument::from(number)];
    for (indexes, numbers, expected) in [
        ("1", ["43", "7"], ['A', 'C']),
        ("0", ["43", "7"], ['B', 'B']),
        ("0,1", ["42", "7"], ['A', 'A']),
    ] {
        let mut scene = hashing(3);
        scene.set("hash.arguments", indexes).unwrap();
        assert_eq!(numbers.map(|n| home(&mut scene, &call(n))), expected, "{indexes}");
    }
    let mut scene = hashing(3);
    scene.set("hash.arguments", "0").unwrap();
    scene.set("find.hash.arguments", "1").unwrap();
    assert_eq!(["43", "7"].map(|n| home(&mut scene, &call(n))), ['A', 'C']);
}

#[test]
fn case_055_a_bad_parameter_is_refused_and_poisons_nothing() {
    let mut scene = hashing(3);
    for (key, values) in
        [("hash.nodes", &["3", "0", "-1", "x"][..]), ("hash.arguments", &["a", "0,a"])]
    {
        for value in values {
            let error = scene.set(key, value).unwrap_err().to_string();
            assert!(error.contains(key) && error.contains(value), "{error}");
            assert_eq!(homes(&mut scene, ["u1", "u2"].iter()), "AB");
        }
    }
    // A provider's value is ignored, its default applies, and the provider stays.
    let odd = with(&["hash.nodes=3", "hash.nodes=3", "hash.nodes=3"]);
    let mut scene = Scene::new("consistenthash", &odd).unwrap();
    assert_eq!(homes(&mut scene, ["u1", "u2"].iter()), "AB");
    scene.push(&ABCD[..3]).unwrap();
    assert_eq!(homes(&mut scene, ["u1", "u2"].iter()), "AB");
}

#[test]
fn case_056_a_ring_is_made_per_list_and_not_per_call() {
    const NODES: u32 = 2000;
    let all: Vec<String> =
        (0..300).map(|i| format!("10.0.{}.{}:20880", i / 250, i % 250)).collect();
    let addresses: Vec<&str> = all.iter().map(String::as_str).collect();
    let (ring, smaller) = (Ring::build(&addresses, NODES), Ring::build(&addresses[1..], NODES));
    // 600 000 points on 2^32 places: 42 meet another on average, never more than 100.
    assert!((599_900..=600_000).contains(&ring.len()), "{}", ring.len());
    assert!((597_900..=598_000).contains(&smaller.len()), "{}", smaller.len());

    let mut scene = Scene::new("consistenthash", &all).unwrap();
    scene.set("hash.nodes", &NODES.to_string()).unwrap();
    let hash = |n: u32| n.wrapping_mul(0x9e37_79b9);
    let call = |n| Call { key: equipoise_core::call::Key::Hashed(hash(n)), ..CALL };
    for n in 0..200 {
        // A fresh list object of equal content, now and then: one for each call costs as much.
        if n % 20 == 0 {
            scene.push(&all).unwrap();
        }
        assert_eq!(scene.pick(&call(n)).ok(), ring.owner(hash(n)));
    }
    let prepared = scene.view().candidates(&CALL, &*scene.clock).clone();
    for n in 0..200 {
        assert_eq!(scene.pick(&call(n)).ok(), ring.owner(hash(n)));
        assert!(std::sync::Arc::ptr_eq(&prepared, scene.view().candidates(&CALL, &*scene.clock)));
    }
    scene.push(&all[1..]).unwrap();
    for n in 0..200 {
        assert_eq!(scene.pick(&call(n)).ok(), smaller.owner(hash(n)));
    }
}

#[test]
fn case_057_points_depend_on_the_address_alone() {
    const EXPECTED: &str = "CBACCBAC";
    let mut first = hashing(3);
    assert_eq!(homes(&mut first, users()), EXPECTED);
    first.push(&with(&["", "timestamp=1700000000001&pid=77&revision=2.0", ""])).unwrap();
    assert_eq!(homes(&mut first, users()), EXPECTED);
    let list = with(&["side=provider&pid=1", "application=x&pid=2", "dubbo=2.0.2&pid=3"]);
    let mut second = Scene::new("consistenthash", &list).unwrap();
    assert_eq!(homes(&mut second, users()), EXPECTED);
}

#[test]
fn case_058_affinity_beats_load() {
    let mut scene = hashing(3);
    let call = CALL.key("user-2");
    for _ in 0..1000 {
        let ticket = scene.start(&call).unwrap();
        assert_eq!(scene.place_of(ticket.endpoint()), Some(1));
        ticket.finish(equipoise_core::outcome::Outcome::Success, &*scene.clock);
    }
    let mut open: Vec<Ticket> = (0..100).map(|_| scene.start(&call).unwrap()).collect();
    assert!(open.iter().all(|ticket| scene.place_of(ticket.endpoint()) == Some(1)));
    open.extend((0..1000).map(|_| scene.start_at(&call, 1)));
    assert_eq!(scene.pick(&call).ok(), Some(1));
    drop(open);
}

/// Caps are ceil(1.25 x (total + 1) / n): nobody holds more than that, and somebody has room.
#[test]
fn case_058_the_bounded_one_ends_also_when_all_are_full() {
    for n in [3, 40_usize] {
        let list = providers(&vec![100; n]);
        let mut scene = Scene::new("boundedconsistenthash", &list).unwrap();
        let call = CALL.key("user-2");
        let home = scene.pick(&call).unwrap();
        let mut open = Vec::new();
        for total in 0..3000_usize {
            let ticket = scene.start(&call).unwrap();
            let place = scene.place_of(ticket.endpoint()).unwrap();
            let cap = (5 * (total + 1)).div_ceil(4 * n);
            assert!(scene.active(&call, place) as usize <= cap, "{total} among {n}: {place}");
            open.push(ticket);
        }
        // One leaves, with what it holds; the others go on by their own total.
        scene.push(&list[..n - 1]).unwrap();
        let held = |scene: &Scene, place| scene.active(&call, place) as usize;
        let total: usize = (0..n - 1).map(|place| held(&scene, place)).sum();
        let place = scene.pick(&call).unwrap();
        assert!(held(&scene, place) < (5 * (total + 1)).div_ceil(4 * (n - 1)));
        scene.push(&list).unwrap();
        drop(open);
        assert!((0..n).all(|place| held(&scene, place) == 0));
        assert_eq!(scene.pick(&call).ok(), Some(home));
        let ticket = scene.start(&call).unwrap();
        // With one call in flight the cap is 1, and its home holds it.
        assert_ne!(scene.pick(&call).ok(), Some(home), "{n}");
        ticket.finish(equipoise_core::outcome::Outcome::NETWORK, &*scene.clock);
        assert_eq!(scene.pick(&call).ok(), Some(home));
    }
}

#[test]
fn case_059_the_order_of_the_list_does_not_matter() {
    let mut sorted = hashing(3);
    let expected: Vec<String> =
        k(10_000).map(|key| ABCD[sorted.pick(&CALL.key(&key)).unwrap()].to_owned()).collect();
    for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut scene = Scene::new("consistenthash", &order.map(|place| ABCD[place])).unwrap();
        for (key, expected) in k(10_000).zip(&expected) {
            let place = scene.pick(&CALL.key(&key)).unwrap();
            assert_eq!(scene.endpoint(place).address(), expected, "{key}");
        }
    }
    let mut split = [0; 3];
    k(30_000).for_each(|key| split[sorted.pick(&CALL.key(&key)).unwrap()] += 1);
    assert_eq!(split, [10_132, 10_309, 9559]);
}

#[test]
fn case_060_only_the_keys_of_who_leaves_move() {
    let mut scene = hashing(4);
    let before = homes(&mut scene, k(10_000));
    scene.push(&ABCD[..3]).unwrap();
    let after = homes(&mut scene, k(10_000));
    let moved = |(was, is): (char, char)| was != is;
    assert!(
        before.chars().zip(after.chars()).filter(|pair| moved(*pair)).all(|(was, _)| was == 'D')
    );
    assert_eq!(before.chars().filter(|home| *home == 'D').count(), 2509);
    scene.push(&ABCD).unwrap();
    assert_eq!(homes(&mut scene, k(10_000)), before);

    // The same when one is merely unavailable, in the old view and in the next.
    scene.endpoint(3).set_available(false);
    assert_eq!(homes(&mut scene, k(10_000)), after);
    scene.rebuild().unwrap();
    assert_eq!(homes(&mut scene, k(10_000)), after);
    scene.endpoint(3).set_available(true);
    scene.rebuild().unwrap();
    assert_eq!(homes(&mut scene, k(10_000)), before);

    // And when it was tried: that is what a retry does.
    let mut tried = Tried::new();
    tried.add(scene.endpoint(3).clone());
    let retried: String =
        k(10_000).map(|key| letter(scene.pick_after(&CALL.key(&key), &tried).unwrap())).collect();
    assert_eq!(retried, after);

    let mut scene = hashing(3);
    assert_eq!(homes(&mut scene, users()), "CBACCBAC");
    scene.push(&[ABCD[0], ABCD[2]]).unwrap();
    // Two are left: A and, in second place, C.
    assert_eq!(homes(&mut scene, users()).replace('B', "C"), "CAACCAAC");
}

#[test]
fn case_061_long_addresses_and_many_points() {
    let long = format!("{}:20880", "h".repeat(253));
    let six = "[2001:0db8:0000:0000:0000:ff00:0042:8329]:65535";
    let mut scene = Scene::new("consistenthash", &[six, &long]).unwrap();
    assert_eq!([0, 1].map(|place| scene.endpoint(place).address()), [six, &long]);
    scene.set("hash.nodes", "100000").unwrap();
    let first = scene.pick(&CALL.key("u1")).unwrap();
    scene.push(&[six, &long]).unwrap();
    assert_eq!(scene.pick(&CALL.key("u1")).unwrap(), first);
    for address in [six, &long] {
        // 100 000 points on 2^32 places: one pair meets on average.
        let points = Ring::build(&[address], 100_000).len();
        assert!((99_980..=100_000).contains(&points), "{points}");
    }
}

#[test]
fn derived_3_the_fewest_points() {
    let mut scene = hashing(3);
    scene.set("hash.nodes", "4").unwrap();
    let mut split = [0; 3];
    k(30_000).for_each(|key| split[scene.pick(&CALL.key(&key)).unwrap()] += 1);
    // The report gives the three numbers by size; an independent ring gives them to A, B and C so.
    assert_eq!(split, [10_153, 5351, 14_496]);
}
