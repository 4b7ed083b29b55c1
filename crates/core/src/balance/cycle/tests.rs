//! What every rotation promises: the exact order up to 64 candidates, the bound of one turn above,
//! each weight exactly in each cycle, and fairness through changes.

mod cases;

use std::thread;

use super::*;

fn new(weights: &[u32]) -> Rotation {
    Rotation::new(weights).unwrap()
}

/// After a change of weights alone.
fn reweigh(old: &Rotation, weights: &[u32]) -> Rotation {
    Rotation::succeed(old, Some, weights).unwrap()
}

fn take(rotation: &Rotation, turns: usize) -> Vec<usize> {
    (0..turns).map(|_| rotation.next()).collect()
}

/// As letters: position 0 is A.
fn letters(rotation: &Rotation, turns: usize) -> String {
    take(rotation, turns).into_iter().map(|p| char::from(b'A' + p as u8)).collect()
}

fn counts(rotation: &Rotation, turns: usize) -> Vec<u64> {
    let mut counts = vec![0; rotation.weights().len()];
    for _ in 0..turns {
        counts[rotation.next()] += 1;
    }
    counts
}

fn cycle_of(weights: &[u32]) -> u64 {
    Drawn::new(weights).unwrap().total
}

/// Takes `turns` and requires, after each, everyone strictly within one turn of its share; exactly
/// at it at the end of a cycle.
fn assert_within_one_turn(rotation: &Rotation, turns: u64) {
    let drawn = Drawn::new(rotation.weights()).unwrap();
    let total = i128::from(drawn.total);
    let mut weight = vec![0; rotation.weights().len()];
    for (position, turns) in drawn.at.iter().zip(&drawn.weight) {
        weight[*position as usize] = i128::from(*turns);
    }
    let mut served = vec![0_i128; weight.len()];
    for now in 1..=i128::from(turns) {
        served[rotation.next()] += 1;
        // Looking at everyone after every turn is quadratic; long runs look now and then, at a
        // step that meets every phase.
        if turns > 20_000 && now % 101 != 0 && now % total != 0 {
            continue;
        }
        for (position, (weight, served)) in weight.iter().zip(&served).enumerate() {
            let owed = now * weight - served * total;
            assert!(owed.abs() < total, "{position} is owed {owed}/{total} after {now}");
            assert!(now % total != 0 || owed == 0, "{position} after a cycle: {owed}/{total}");
        }
    }
}

/// Weight vectors of many shapes, `n` candidates each.
fn random_weights(rng: &mut fastrand::Rng, n: usize) -> Vec<u32> {
    let shape = rng.u32(0..7);
    let mut weights: Vec<u32> = (0..n)
        .map(|_| match shape {
            0 => 7,
            1 => rng.choice([1, 2, 3, 5, 10]).unwrap(),
            2 => rng.u32(0..4),
            3 => rng.u32(37..=100),
            4 => {
                if rng.u32(0..20) == 0 {
                    rng.u32(100..1000)
                } else {
                    rng.u32(1..3)
                }
            }
            5 => 1 << rng.u32(0..8),
            _ => rng.u32(1..=100),
        })
        .collect();
    if rng.bool() {
        weights[rng.usize(0..n)] = rng.u32(0..2000);
    }
    weights
}

mod smooth_order {
    use super::*;
    use serde_json::Value;

    const VECTORS: &str =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/smooth-round-robin.json");

    fn rows() -> Vec<Value> {
        let vectors = std::fs::read_to_string(VECTORS).unwrap();
        let vectors: Value = serde_json::from_str(&vectors).unwrap();
        vectors["static"].as_array().unwrap().clone()
    }

    fn numbers(value: &Value) -> Vec<i64> {
        value.as_array().unwrap().iter().map(|v| v.as_i64().unwrap()).collect()
    }

    #[test]
    fn follows_the_vectors() {
        assert!(rows().len() >= 17);
        for row in rows() {
            let weights: Vec<u32> = numbers(&row["weights"]).iter().map(|w| *w as u32).collect();
            let ids: Vec<&str> =
                row["ids"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
            let rotation = new(&weights);
            for (turn, id) in row["sequence"].as_array().unwrap().iter().enumerate() {
                assert_eq!(ids[rotation.next()], id.as_str().unwrap(), "{weights:?}, {turn}");
            }
        }
    }

    #[test]
    fn owes_what_the_vectors_say() {
        for row in rows() {
            let weights: Vec<u32> = numbers(&row["weights"]).iter().map(|w| *w as u32).collect();
            let total: u64 = weights.iter().map(|w| u64::from(*w)).sum();
            let rotation = new(&weights);
            if total == 0 {
                continue;
            }
            let mut steps =
                row["current_after_each_pick_of_first_cycle"].as_array().unwrap().iter();
            // A whole cycle owes nothing, as at the start.
            for _ in 1..cycle_of(&weights) {
                rotation.next();
                let expected = numbers(steps.next().unwrap());
                let (_, credits) = rotation.credits();
                for (credit, expected) in credits.into_iter().zip(expected) {
                    let turns = credit.unwrap_or(0) as f64 / TURN as f64;
                    assert_eq!((turns * total as f64).round() as i64, expected, "{weights:?}");
                }
            }
        }
    }

    /// The rule itself, turn by turn.
    fn by_the_rule(weights: &[u32], turns: usize) -> Vec<usize> {
        let total: i64 = weights.iter().map(|w| i64::from(*w)).sum();
        let mut current = vec![0_i64; weights.len()];
        let turn = |_| {
            let mut best: Option<usize> = None;
            for (i, weight) in weights.iter().enumerate() {
                current[i] += i64::from(*weight);
                if *weight > 0 && best.is_none_or(|b| current[i] > current[b]) {
                    best = Some(i);
                }
            }
            current[best.unwrap()] -= total;
            best.unwrap()
        };
        (0..turns).map(turn).collect()
    }

    #[test]
    fn follows_the_rule_for_random_weights() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..300 {
            let n = rng.usize(1..=64);
            let mut weights = random_weights(&mut rng, n);
            weights[0] += 1;
            let turns = 3000;
            assert_eq!(take(&new(&weights), turns), by_the_rule(&weights, turns), "{weights:?}");
        }
        // Too long for a table.
        let weights = [65_537, 40_000, 3];
        assert!(new(&weights).turns().is_none());
        assert_eq!(take(&new(&weights), 9000), by_the_rule(&weights, 9000));
    }

    #[test]
    fn each_cycle_holds_each_weight() {
        let mut rng = fastrand::Rng::with_seed(2);
        for _ in 0..100 {
            let n = rng.usize(1..=64);
            let mut weights = random_weights(&mut rng, n);
            weights[0] += 1;
            let (rotation, cycle) = (new(&weights), cycle_of(&weights));
            let unit = weights.iter().map(|w| u64::from(*w)).sum::<u64>() / cycle;
            for _ in 0..3 {
                let expected: Vec<u64> = weights.iter().map(|w| u64::from(*w) / unit).collect();
                assert_eq!(counts(&rotation, cycle as usize), expected, "{weights:?}");
            }
        }
    }

    #[test]
    fn a_change_that_changes_nothing_goes_unnoticed() {
        let mut rng = fastrand::Rng::with_seed(3);
        for weights in [&[5, 1, 1][..], &[1, 2, 3], &[100, 50, 25], &[1; 9], &[65_537, 40_000, 3]] {
            let expected = by_the_rule(weights, 2000);
            let (mut rotation, mut turns) = (new(weights), Vec::new());
            while turns.len() < 2000 {
                turns.extend(take(&rotation, rng.usize(0..7)));
                rotation = reweigh(&rotation, weights);
            }
            assert!(turns[..2000] == expected, "{weights:?}");
        }
    }

    #[test]
    fn after_a_change_the_cycle_levels_and_then_holds_each_weight() {
        let mut rng = fastrand::Rng::with_seed(4);
        for _ in 0..300 {
            let n = rng.usize(2..=40);
            let mut weights = random_weights(&mut rng, n);
            weights[0] += 1;
            let old = new(&weights);
            take(&old, rng.usize(0..500));
            let mut weights = random_weights(&mut rng, n);
            weights[0] += 1;
            let rotation = reweigh(&old, &weights);
            let cycle = cycle_of(&weights) as usize;
            let table = rotation.turns().unwrap().len();
            assert!(table <= 2 * cycle, "levels within a cycle: {table} of {cycle}");
            let turns = take(&rotation, 4 * cycle);
            assert_eq!(turns[cycle..2 * cycle], turns[2 * cycle..3 * cycle]);
            assert_eq!(turns[cycle..2 * cycle], turns[3 * cycle..]);
            let unit = weights.iter().map(|w| u64::from(*w)).sum::<u64>() / cycle as u64;
            for (position, weight) in weights.iter().enumerate() {
                let served = turns[cycle..2 * cycle].iter().filter(|p| **p == position).count();
                assert_eq!(served as u64, u64::from(*weight) / unit);
            }
        }
    }
}

mod deadline_order {
    use super::*;

    #[test]
    fn everyone_is_within_one_turn_of_its_share() {
        let mut rng = fastrand::Rng::with_seed(5);
        for _ in 0..60 {
            let n = rng.usize(65..400);
            let weights = random_weights(&mut rng, n);
            let rotation = new(&weights);
            assert_within_one_turn(&rotation, (2 * cycle_of(&weights)).min(20_000));
        }
    }

    #[test]
    fn a_cycle_too_long_for_a_table_keeps_the_bound() {
        let mut rng = fastrand::Rng::with_seed(6);
        let mut weights: Vec<u32> = (0..100).map(|_| rng.u32(1..=2000)).collect();
        weights[0] = 1;
        assert!(new(&weights).turns().is_none());
        assert_within_one_turn(&new(&weights), cycle_of(&weights) + 5000);
        weights.iter_mut().for_each(|w| *w = rng.u32(1_000_000..2_000_000_000));
        assert_within_one_turn(&new(&weights), 20_000);
    }

    #[test]
    fn equal_weights_take_turns_in_list_order() {
        assert_eq!(take(&new(&[3; 70]), 140), (0..70).chain(0..70).collect::<Vec<_>>());
    }

    #[test]
    fn the_bound_holds_from_each_change_on() {
        let mut rng = fastrand::Rng::with_seed(7);
        for round in 0..60 {
            let n = rng.usize(65..200);
            let mut weights = random_weights(&mut rng, n);
            let mut rotation = new(&weights);
            for _ in 0..12 {
                let turns = rng.u64(0..4) * rng.u64(0..2 * n as u64);
                assert_within_one_turn(&rotation, turns);
                if rng.bool() {
                    weights = random_weights(&mut rng, n);
                    // Cycles too long for a table, and turns that are very far apart.
                    let scale = [1, 1, 1777, 100_000][round % 4];
                    weights.iter_mut().filter(|w| **w > 2).for_each(|w| *w = *w * scale + 1);
                }
                let shift = rng.usize(0..3);
                let moved = |p: usize| Some((p + shift) % n).filter(|_| p % 10 != shift);
                rotation = Rotation::succeed(&rotation, moved, &weights).unwrap();
            }
            assert_within_one_turn(&rotation, (2 * cycle_of(&weights)).min(6000));
        }
    }

    #[test]
    fn credit_crosses_from_one_order_to_the_other() {
        let few = new(&[100; 64]);
        take(&few, 32);
        let newcomer = |p: usize| (p < 64).then_some(p);
        let many = Rotation::succeed(&few, newcomer, &[100; 65]).unwrap();
        assert_eq!(take(&many, 33), (32..65).collect::<Vec<_>>());
        let few = Rotation::succeed(&many, Some, &[100; 64]).unwrap();
        assert_eq!(take(&few, 64), (0..64).collect::<Vec<_>>());
    }
}

/// How far the most favoured and the most wronged candidate are from the sum of their shares, in
/// turns, over `changes` changes each followed by `turns()` picks.
fn drift(
    changes: usize,
    mut weights: impl FnMut(usize) -> Vec<u32>,
    mut turns: impl FnMut() -> usize,
) -> (f64, f64) {
    let mut rotation = new(&weights(0));
    let mut owed = vec![0.0; rotation.weights().len()];
    let (mut low, mut high) = (0.0_f64, 0.0_f64);
    for change in 1..=changes {
        for _ in 0..turns() {
            for (position, owed) in owed.iter_mut().enumerate() {
                *owed += rotation.share(position);
            }
            owed[rotation.next()] -= 1.0;
        }
        low = owed.iter().copied().fold(low, f64::min);
        high = owed.iter().copied().fold(high, f64::max);
        rotation = reweigh(&rotation, &weights(change));
    }
    (low, high)
}

#[test]
fn shares_hold_through_any_number_of_changes() {
    for n in [8, 64, 101] {
        for shape in 0..6 {
            for apart in [1, n / 2, n, 2 * n] {
                let mut rng = fastrand::Rng::with_seed(8);
                let weights = |change: usize| {
                    let climbing = (1 + change as u32 / 2).min(100);
                    let weight = |i: usize| match shape {
                        0 => 100,
                        1 => {
                            if i == 0 {
                                3 * n as u32 / 7
                            } else {
                                1
                            }
                        }
                        2 => {
                            if i < n / 4 {
                                100
                            } else {
                                1
                            }
                        }
                        3 => [1, 2, 3, 5, 10][i % 5],
                        4 => {
                            if i < n - 6 {
                                100
                            } else {
                                climbing
                            }
                        }
                        _ => rng.u32(1..=100),
                    };
                    (0..n).map(weight).collect()
                };
                let mut chance = fastrand::Rng::with_seed(9);
                let turns = || chance.usize(1..=2 * apart - 1);
                let (low, high) = drift((2000 / apart).clamp(20, 100), weights, turns);
                // Two turns, whatever happened: nothing adds up.
                assert!(low > -2.0 && high < 2.0, "{n} {shape} {apart}: {low:.2} {high:.2}");
            }
        }
    }
}

#[test]
fn threads_share_one_order() {
    for weights in [&[5, 1, 1][..], &[40_000, 30_000, 3], &[3; 70]] {
        let (rotation, turns) = (new(weights), 70_000);
        let mut served = vec![0; weights.len()];
        thread::scope(|scope| {
            let pickers = [(); 4].map(|()| scope.spawn(|| counts(&rotation, turns)));
            for picker in pickers {
                let counts = picker.join().unwrap();
                served.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
        });
        assert_eq!(served, counts(&new(weights), 4 * turns), "{weights:?}");
    }
}

#[test]
fn a_restart_starts_anew() {
    for weights in [&[5, 1, 1][..], &[40_000, 30_000, 3], &[3; 70]] {
        let rotation = new(weights);
        take(&rotation, 3);
        let fresh = take(&new(weights), 200);
        assert_eq!(take(&rotation.restart(), 200), fresh);
        let carried = reweigh(&rotation, weights);
        assert_eq!(take(&carried.restart(), 200), fresh);
    }
}

#[test]
fn shares_are_exact() {
    let rotation = new(&[1, 0, 3]);
    assert_eq!([0, 1, 2, 3].map(|p| rotation.share(p)), [0.25, 0.0, 0.75, 0.0]);
    assert_eq!([0, 1, 2].map(|p| new(&[0, 0]).share(p)), [0.5, 0.5, 0.0]);
    assert_eq!(rotation.weights(), [1, 0, 3]);
    assert_eq!(rotation.turns().unwrap(), [2, 0, 2, 2]);
}
