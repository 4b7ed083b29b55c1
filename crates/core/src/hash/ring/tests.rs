//! The ring against the reference vectors, a textbook ring and itself.

use std::collections::BTreeMap;
use std::fmt::Write;

use md5::{Digest, Md5};
use serde_json::Value;
use sha2::Sha256;

use super::*;
use crate::hash::key::{
    Argument, DEFAULT_NODES, hash_of_arguments, hash_of_key, parse_arguments, parse_nodes,
};

const A: &str = "10.0.0.1:20880";
const B: &str = "10.0.0.2:20880";
const C: &str = "10.0.0.3:20880";
const D: &str = "10.0.0.4:20880";
const ABC: [&str; 3] = [A, B, C];

fn vectors() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/consistent-hash.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

fn build_row(row: &Value) -> Ring {
    Ring::build(&texts(&row["addresses"]), row["hash_nodes"].as_u64().unwrap() as u32)
}

/// The address that a key belongs to.
fn find<'a>(ring: &Ring, addresses: &[&'a str], key: &str) -> &'a str {
    addresses[ring.owner(hash_of_key(key)).unwrap()]
}

/// How many of the keys each endpoint gets.
fn split(ring: &Ring, keys: impl Iterator<Item = String>) -> Vec<u64> {
    let mut counts = vec![0; ring.endpoints()];
    keys.for_each(|key| counts[ring.owner(hash_of_key(&key)).unwrap()] += 1);
    counts
}

fn k(range: std::ops::Range<u32>) -> impl Iterator<Item = String> {
    range.map(|i| format!("k{i}"))
}

/// All owners of each point, in canonical order, the plain way.
fn textbook(addresses: &[&str], nodes: u32) -> BTreeMap<u32, Vec<usize>> {
    let mut order: Vec<usize> = (0..addresses.len()).collect();
    order.sort_by_key(|position| addresses[*position].as_bytes());
    let mut ring: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for position in order {
        for i in 0..nodes / 4 {
            let digest = Md5::digest(format!("{}{i}", addresses[position]));
            for word in digest.chunks_exact(4) {
                let owners = ring.entry(u32::from_le_bytes(word.try_into().unwrap())).or_default();
                if owners.last() != Some(&position) {
                    owners.push(position);
                }
            }
        }
    }
    ring
}

/// The owner by the textbook: of the point at or after the hash, the latest admitted.
fn textbook_walk(
    ring: &BTreeMap<u32, Vec<usize>>,
    hash: u32,
    admits: impl Fn(usize) -> bool,
) -> Option<usize> {
    let mut clockwise = ring.range(hash..).chain(ring.range(..hash));
    clockwise.find_map(|(_, owners)| owners.iter().rev().copied().find(|owner| admits(*owner)))
}

#[test]
fn every_ring_of_the_reference_holds() {
    let vectors = vectors();
    let rows = vectors["rings"].as_array().unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        let (ring, addresses) = (build_row(row), texts(&row["addresses"]));
        let points: Vec<(u32, usize)> = ring.points().collect();
        let expected = |entry: &Value| {
            assert_eq!(entry["address"], addresses[entry["index"].as_u64().unwrap() as usize]);
            (entry["point"].as_u64().unwrap() as u32, entry["index"].as_u64().unwrap() as usize)
        };
        let first: Vec<_> = row["first_points"].as_array().unwrap().iter().map(expected).collect();
        assert_eq!(points[..first.len()], first, "{}", row["id"]);
        assert_eq!(*points.last().unwrap(), expected(&row["last_point"]), "{}", row["id"]);
        assert_eq!(ring.len() as u64, row["ring_size"].as_u64().unwrap(), "{}", row["id"]);
        assert_eq!(points.len(), ring.len());

        let mut owned = vec![0; addresses.len()];
        let mut digest = Sha256::new();
        for (point, owner) in points {
            owned[owner] += 1;
            digest.update(format!("{point}:{}\n", addresses[owner]));
        }
        assert_eq!(Value::from(owned), row["points_owned_by_index"], "{}", row["id"]);
        let hex = digest.finalize().iter().fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").unwrap();
            hex
        });
        assert_eq!(row["sha256_of_ring"], hex, "{}", row["id"]);
        let counts = split(&ring, (0..10_000).map(|i| i.to_string()));
        assert_eq!(Value::from(counts), row["distribution_of_keys_0_to_9999_by_index"]);
    }
}

#[test]
fn every_look_up_of_the_reference_holds() {
    let vectors = vectors();
    let rings: BTreeMap<&str, Ring> = vectors["rings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["id"].as_str().unwrap(), build_row(row)))
        .collect();
    let rows = vectors["vectors"].as_array().unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        let ring = &rings[row["ring"].as_str().unwrap()];
        let hash = row["hash"].as_u64().unwrap() as u32;
        let owner = row["chosen_index"].as_u64().map(|index| index as usize);
        assert_eq!(ring.owner(hash), owner, "row {}", row["id"]);
        assert_eq!(ring.walk(hash, |_| true), owner, "row {}", row["id"]);
        assert_eq!(ring.clockwise(hash).next(), owner, "row {}", row["id"]);
        let point = row["ring_point"].as_u64().unwrap() as u32;
        assert_eq!(ring.owner(point), owner, "row {}", row["id"]);
        assert_eq!(row["wrapped"], point < hash);
    }
}

#[test]
fn case_049_the_key_is_the_chosen_argument() {
    let ring = Ring::build(&ABC, DEFAULT_NODES);
    let find = |argument: &str| {
        let arguments = [argument.into()];
        ABC[ring.owner(hash_of_arguments(&[0], &arguments)).unwrap()]
    };
    assert_eq!(["u1", "u2", "user-4"].map(find), [A, B, C]);
}

#[test]
fn case_050_no_argument_is_the_empty_key() {
    let ring = Ring::build(&ABC, DEFAULT_NODES);
    let four = Ring::build(&[A, B, C, D], DEFAULT_NODES);
    for (indexes, arguments) in [("0", vec![]), ("5", vec![Argument::from("only")])] {
        let hash = hash_of_arguments(&parse_arguments(indexes).unwrap(), &arguments);
        for _ in 0..100 {
            assert_eq!(ring.owner(hash), Some(0));
        }
        assert_eq!(four.owner(hash), Some(3));
    }
}

#[test]
fn case_051_arguments_that_are_no_text() {
    let ring = Ring::build(&ABC, DEFAULT_NODES);
    let list = Argument::List(vec![Argument::Int(1), Argument::Int(2)]);
    let rows: [(&[Argument], &str, &str); 7] = [
        (&[Argument::Int(42)], "42", B),
        (&[Argument::Int(7)], "7", C),
        (&[Argument::Bool(true)], "true", A),
        (&[Argument::Double(1.0)], "1.0", C),
        (&[list], "[1, 2]", C),
        (&[Argument::Null], "null", B),
        (&[], "", A),
    ];
    for (arguments, text, address) in rows {
        assert_eq!(hash_of_arguments(&[0], arguments), hash_of_key(text));
        assert_eq!(find(&ring, &ABC, text), address, "{text:?}");
    }
}

#[test]
fn case_052_other_arguments_than_the_first() {
    let ring = Ring::build(&ABC, DEFAULT_NODES);
    let find = |indexes: &str, second: &str| {
        let arguments = ["tenantA".into(), second.into()];
        let hash = hash_of_arguments(&parse_arguments(indexes).unwrap(), &arguments);
        ABC[ring.owner(hash).unwrap()]
    };
    assert_eq!([find("1", "43"), find("1", "7")], [A, C]);
    assert_eq!([find("0", "43"), find("0", "7")], [B, B]);
    assert_eq!([find("0,1", "42"), find("0,1", "7")], [A, A]);
}

#[test]
fn case_055_bad_settings_are_errors_and_leave_nothing_behind() {
    for text in ["3", "0", "-1", "x"] {
        parse_nodes(text).unwrap_err();
    }
    for text in ["a", "0,a"] {
        parse_arguments(text).unwrap_err();
    }
    assert_eq!(parse_arguments(""), Ok(vec![0]));
    // Whoever builds with such a number all the same gets no owner and no panic.
    for nodes in 0..4 {
        let ring = Ring::build(&ABC, nodes);
        assert!(ring.is_empty());
        assert_eq!((ring.owner(7), ring.walk(7, |_| true)), (None, None));
        assert_eq!((ring.clockwise(7).count(), ring.points().count()), (0, 0));
        assert_eq!(ring.shares(|_| true), [0.0; 3]);
        assert_eq!(ring.rebuild(&ABC, &[A]), Ring::build(&[A], nodes));
    }
    let ring = Ring::build(&ABC, DEFAULT_NODES);
    assert_eq!([find(&ring, &ABC, "u1"), find(&ring, &ABC, "u2")], [A, B]);
}

#[test]
fn case_056_three_hundred_providers_with_two_thousand_points() {
    let all: Vec<String> =
        (0..300).map(|i| format!("10.0.{}.{}:20880", i / 250, i % 250)).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let ring = Ring::build(&all, 2000);
    let reference = textbook(&all, 2000);
    assert_eq!(ring.len(), reference.len());
    assert!((599_800..600_000).contains(&ring.len()));

    let left: Vec<&str> = [&all[..7], &all[8..]].concat();
    let smaller = ring.rebuild(&all, &left);
    assert_eq!(smaller, Ring::build(&left, 2000));
    assert!((597_800..598_000).contains(&smaller.len()));
    assert_eq!(smaller.rebuild(&left, &all), ring);

    // So many points collide a few times. Each owner gets the point when the later ones are out.
    let shared: Vec<_> = reference.iter().filter(|(_, owners)| owners.len() > 1).collect();
    assert!(!shared.is_empty());
    for (point, owners) in shared {
        for allowed in (1..=owners.len()).rev() {
            let admits = |owner| !owners[allowed..].contains(&owner);
            assert_eq!(ring.walk(*point, admits), Some(owners[allowed - 1]));
        }
    }
}

#[test]
fn case_057_a_restart_moves_no_key() {
    let keys = (1..=8).map(|i| format!("user-{i}"));
    let first = Ring::build(&ABC, DEFAULT_NODES);
    let owners: Vec<&str> = keys.map(|key| find(&first, &ABC, &key)).collect();
    assert_eq!(owners, [C, B, A, C, C, B, A, C]);
    // All that a ring knows of a provider is its address, so another start stamp changes nothing.
    assert_eq!(Ring::build(&ABC, DEFAULT_NODES), first);
    assert_eq!(first.rebuild(&ABC, &ABC), first);
}

#[test]
fn case_058_affinity_does_not_depend_on_load() {
    let ring = Ring::build(&ABC, DEFAULT_NODES);
    let hash = hash_of_key("user-2");
    for _ in 0..1000 {
        assert_eq!(ring.owner(hash), Some(1));
    }
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..100).map(|_| scope.spawn(|| ring.owner(hash))).collect();
        assert!(all.into_iter().all(|one| one.join().unwrap() == Some(1)));
    });
    // Nobody admitted: the walk ends, after one question about each.
    let mut asked = 0;
    let nobody = |_| {
        asked += 1;
        false
    };
    assert_eq!(ring.walk(hash, nobody), None);
    assert_eq!(asked, 3);
}

#[test]
fn case_059_the_order_of_the_list_does_not_matter() {
    let orders = [[A, B, C], [A, C, B], [B, A, C], [B, C, A], [C, A, B], [C, B, A]];
    let rings = orders.map(|order| (order, Ring::build(&order, DEFAULT_NODES)));
    for key in k(0..10_000) {
        let owner = find(&rings[0].1, &ABC, &key);
        for (order, ring) in &rings {
            assert_eq!(find(ring, order, &key), owner, "{key} in {order:?}");
        }
    }
    assert_eq!(split(&rings[0].1, k(0..30_000)), [10_132, 10_309, 9559]);
}

#[test]
fn case_060_only_keys_of_the_departed_move() {
    let four = [A, B, C, D];
    let before = Ring::build(&four, DEFAULT_NODES);
    let after = before.rebuild(&four, &ABC);
    let mut moved = 0;
    for key in k(0..10_000) {
        let (was, is) = (find(&before, &four, &key), find(&after, &ABC, &key));
        assert!(was == is || was == D, "{key}");
        moved += usize::from(was != is);
        // Passing over the departed is the same as taking it out.
        assert_eq!(before.walk(hash_of_key(&key), |owner| owner != 3).map(|at| four[at]), Some(is));
    }
    assert_eq!(moved, 2509);

    let two = [A, C];
    let smaller = after.rebuild(&ABC, &two);
    let owners: Vec<&str> = (1..=8).map(|i| find(&smaller, &two, &format!("user-{i}"))).collect();
    assert_eq!(owners, [C, A, A, C, C, A, A, C]);
    assert_eq!(smaller.rebuild(&two, &ABC), after);
    assert_eq!(after.rebuild(&ABC, &four), before);
}

#[test]
fn case_061_long_addresses_and_many_points() {
    let name = format!("{}:20880", "n".repeat(253));
    let addresses = ["[2001:0db8:0000:0000:0000:ff00:0042:8329]:65535", &name];
    let ring = Ring::build(&addresses, 100_000);
    let reference = textbook(&addresses, 100_000);
    assert_eq!(ring.len(), reference.len());
    assert!((199_980..=200_000).contains(&ring.len()));
    for key in k(0..1000) {
        let hash = hash_of_key(&key);
        assert_eq!(ring.owner(hash), textbook_walk(&reference, hash, |_| true));
    }
}

#[test]
fn derived_3_four_points_each_are_valid_though_skewed() {
    let ring = Ring::build(&ABC, 4);
    assert_eq!(ring.len(), 12);
    // Largest first: 14496, 10153, 5351.
    assert_eq!(split(&ring, k(0..30_000)), [10_153, 5351, 14_496]);
}

/// Addresses with a few duplicates, in any order.
fn some_addresses(rng: &mut fastrand::Rng, most: usize) -> Vec<String> {
    let count = rng.usize(0..=most);
    (0..count).map(|_| format!("10.0.0.{}:{}", rng.u8(..), rng.u8(1..3))).collect()
}

#[test]
fn a_ring_is_the_textbook_ring() {
    let mut rng = fastrand::Rng::with_seed(5);
    for nodes in [4, 7, 16, 160] {
        for _ in 0..20 {
            let addresses = some_addresses(&mut rng, 30);
            let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
            let (ring, reference) = (Ring::build(&addresses, nodes), textbook(&addresses, nodes));
            let winners = reference.iter().map(|(point, owners)| (*point, *owners.last().unwrap()));
            assert!(ring.points().eq(winners));
            let edges = ring.points().flat_map(|(p, _)| [p.wrapping_sub(1), p, p.wrapping_add(1)]);
            let edges: Vec<u32> = edges.chain([0, 1, u32::MAX]).collect();
            let out: Vec<bool> = addresses.iter().map(|_| rng.u8(..) < 200).collect();
            for hash in edges {
                assert_eq!(ring.owner(hash), textbook_walk(&reference, hash, |_| true));
                let admits = |owner: usize| !out[owner];
                assert_eq!(ring.walk(hash, admits), textbook_walk(&reference, hash, admits));
            }
        }
    }
}

#[test]
fn a_rebuilt_ring_is_a_built_ring() {
    let mut rng = fastrand::Rng::with_seed(6);
    for round in 0..300 {
        let old = some_addresses(&mut rng, 12);
        let mut new = if round % 3 == 0 { some_addresses(&mut rng, 12) } else { old.clone() };
        rng.shuffle(&mut new);
        new.truncate(rng.usize(0..=new.len() + 3));
        if round % 2 == 0 {
            new.extend(some_addresses(&mut rng, 2));
        }
        let old: Vec<&str> = old.iter().map(String::as_str).collect();
        let new: Vec<&str> = new.iter().map(String::as_str).collect();
        let ring = Ring::build(&old, 40);
        assert_eq!(ring.rebuild(&old, &new), Ring::build(&new, 40), "{old:?} to {new:?}");
    }
    // A list that is not the ring's own is noticed by its length.
    let ring = Ring::build(&ABC, 40);
    assert_eq!(ring.rebuild(&[A], &[A, D]), Ring::build(&[A, D], 40));
}

#[test]
fn shares_are_exact() {
    let mut rng = fastrand::Rng::with_seed(8);
    for _ in 0..50 {
        let addresses = some_addresses(&mut rng, 6);
        let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
        let ring = Ring::build(&addresses, 8);
        let reference = textbook(&addresses, 8);
        let out: Vec<bool> = addresses.iter().map(|_| rng.bool()).collect();
        let all = ring.shares(|_| true);
        for (position, share) in all.iter().enumerate() {
            assert_eq!(ring.share_of_circle(position), *share);
        }
        for (shares, admits) in [
            (all, &(|_| true) as &dyn Fn(usize) -> bool),
            (ring.shares(|owner| !out[owner]), &|owner| !out[owner]),
        ] {
            // Each stretch that ends at a point belongs whole to that point's owner.
            let mut lengths = vec![0_u64; addresses.len()];
            let ends: Vec<u32> = reference.keys().copied().collect();
            for (i, end) in ends.iter().enumerate() {
                let start = ends[(i + ends.len() - 1) % ends.len()];
                let length = match u64::from(end.wrapping_sub(start)) {
                    0 => 1 << 32,
                    length => length,
                };
                if let Some(owner) = textbook_walk(&reference, *end, admits) {
                    lengths[owner] += length;
                }
            }
            let exact: Vec<f64> = lengths.iter().map(|l| *l as f64 / 4_294_967_296.0).collect();
            assert_eq!(shares, exact);
        }
    }
}

#[test]
fn questions_of_a_walk_are_bounded() {
    let addresses: Vec<String> =
        (0..1500).map(|i| format!("10.1.{}.{}:1", i / 250, i % 250)).collect();
    let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
    for count in [1, 64, 65, REMEMBERED, 1500] {
        let ring = Ring::build(&addresses[..count], 160);
        let most = if count <= REMEMBERED { count } else { 2 * count };
        let mut asked = 0;
        let nobody = |_| {
            asked += 1;
            false
        };
        assert_eq!(ring.walk(12_345, nobody), None);
        assert!(asked <= most, "{asked} questions about {count}");
        assert_eq!(ring.walk(12_345, |owner| owner == count - 1), Some(count - 1));
    }
}

#[test]
fn going_clockwise_passes_every_point_once() {
    let ring = Ring::build(&ABC, DEFAULT_NODES);
    for hash in [0, 1 << 31, u32::MAX] {
        let mut counts = [0; 3];
        ring.clockwise(hash).for_each(|owner| counts[owner] += 1);
        assert_eq!(counts, [160; 3]);
    }
}
