//! What every rotation promises: the exact order up to 64 candidates, the bound of one turn above,
//! each weight exactly in each cycle, and fairness through changes.

use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use super::*;
use crate::balance::cycle::credit::TURN;

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
            4 => if rng.u32(0..20) == 0 { rng.u32(100..1000) } else { rng.u32(1..3) },
            5 => 1 << rng.u32(0..8),
            _ => rng.u32(1..=100),
        })
        .collect();
    if rng.bool() {
        weights[rng.usize(0..n)] = rng.u32(0..2000);
    }
    weights
}

mod cases {
    use super::*;

    #[test]
    fn case_007_a_newcomer_in_warmup_gets_its_share() {
        // Run 1: no call while it warms up; then every one of the 101 gets exactly one.
        let mut weights = vec![100; 101];
        weights[100] = 1;
        let mut rotation = new(&weights);
        for weight in 2..=100 {
            weights[100] = weight;
            rotation = reweigh(&rotation, &weights);
        }
        assert_eq!(counts(&rotation, 101), vec![1; 101]);

        // Run 2: one call a second for 600 s; the weight grows by one every 6 s.
        weights[100] = 1;
        let mut rotation = new(&weights);
        let mut served = vec![0; 101];
        for second in 0..600 {
            let weight = (second / 6).clamp(1, 100);
            if weight != weights[100] {
                weights[100] = weight;
                rotation = reweigh(&rotation, &weights);
            }
            served[rotation.next()] += 1;
        }
        assert!((1..=6).contains(&served[100]), "newcomer: {}", served[100]);
        assert!(served[..100].iter().all(|s| (5..=6).contains(s)), "{served:?}");
    }

    #[test]
    fn case_008_a_light_candidate_shows_up_in_the_first_cycle() {
        for _ in 0..1000 {
            assert_eq!(letters(&new(&[100, 10]), 11), "AAAAABAAAAA");
        }
    }

    #[test]
    fn case_010_equal_newcomers_share_evenly_while_they_warm_up() {
        // Rebuilt at every second, and only when a weight changes.
        for every_second in [true, false] {
            let mut weights = vec![100, 100, 1, 1, 1, 1, 1, 1];
            let mut rotation = new(&weights);
            let mut served = [0_u32; 8];
            for second in 0..300 {
                let weight = (second / 6).max(1);
                if every_second || weight != weights[2] {
                    weights[2..].fill(weight);
                    rotation = reweigh(&rotation, &weights);
                }
                served[rotation.next()] += 1;
            }
            let newcomers = &served[2..];
            let (least, most) = (newcomers.iter().min().unwrap(), newcomers.iter().max().unwrap());
            assert!(most - least <= 2, "{served:?}");
            assert!((112..=118).contains(&newcomers.iter().sum::<u32>()), "{served:?}");
        }
    }

    #[test]
    fn case_011_turns_interleave() {
        assert_eq!(letters(&new(&[5, 1, 1]), 14), "AABACAAAABACAA");
        assert_eq!(letters(&new(&[1, 2, 3]), 12), "CBACBCCBACBC");
        assert_eq!(letters(&new(&[4, 1]), 5), "AABAA");
        assert_eq!(letters(&new(&[80, 20]), 5), "AABAA");
        assert_eq!(letters(&new(&[3, 0, 1]), 8), "AACAAACA");
    }

    #[test]
    fn case_012_new_weights_count_at_once() {
        let before = new(&[100, 100]);
        assert_eq!(counts(&before, 100), [50, 50]);
        let after = counts(&reweigh(&before, &[100, 300]), 400);
        assert!(after[0].abs_diff(100) <= 1 && after[1].abs_diff(300) <= 1, "{after:?}");
    }

    #[test]
    fn case_013_the_schedule_has_no_end() {
        assert_eq!(counts(&new(&[1, 1000]), 2002), [2, 2000]);
        let weights: Vec<u32> = (1..=97).collect();
        let expected: Vec<u64> = (1..=97).collect();
        assert_eq!(counts(&new(&weights), 4753), expected);
    }

    #[test]
    fn case_015_a_shorter_list_never_yields_an_old_position() {
        let current = Arc::new(Mutex::new(Arc::new(new(&[1, 1, 8]))));
        let pickers: Vec<_> = (0..4)
            .map(|_| {
                let current = current.clone();
                thread::spawn(move || {
                    let mut short = [0_u32; 2];
                    for _ in 0..250 {
                        let rotation = current.lock().unwrap().clone();
                        let position = rotation.next();
                        assert!(position < rotation.weights().len());
                        if rotation.weights().len() == 2 {
                            short[position] += 1;
                        }
                    }
                    short
                })
            })
            .collect();
        for flip in 0..200 {
            let weights: &[u32] = if flip % 2 == 0 { &[1, 1] } else { &[1, 1, 8] };
            let mut current = current.lock().unwrap();
            let stays = |position: usize| (position < 2).then_some(position);
            *current = Arc::new(Rotation::succeed(&current, stays, weights).unwrap());
        }
        let short = pickers.into_iter().map(|p| p.join().unwrap());
        let short = short.fold([0, 0], |sum, s| [sum[0] + s[0], sum[1] + s[1]]);
        // Every change may leave half a turn behind.
        assert!(short[0].abs_diff(short[1]) <= 100, "{short:?}");
        let last = Rotation::succeed(&current.lock().unwrap(), Some, &[1, 1]).unwrap();
        let last = counts(&last, 1000);
        assert!(last[0].abs_diff(500) <= 1, "{last:?}");
    }

    #[test]
    fn case_019_first_picks_at_once_are_not_lost() {
        for _ in 0..500 {
            let rotation = new(&[1, 1]);
            let start = Barrier::new(2);
            let pick = || {
                start.wait();
                rotation.next()
            };
            let mut served = [0; 2];
            thread::scope(|scope| {
                let (a, b) = (scope.spawn(pick), scope.spawn(pick));
                served[a.join().unwrap()] += 1;
                served[b.join().unwrap()] += 1;
            });
            served[rotation.next()] += 1;
            served[rotation.next()] += 1;
            assert_eq!(served, [2, 2]);
        }
    }

    #[test]
    fn case_020_weights_that_flip_under_load_leave_no_trace() {
        let current = Mutex::new(Arc::new(new(&[100, 100])));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..5000 {
                        let rotation = current.lock().unwrap().clone();
                        assert!(rotation.next() < 2);
                    }
                });
            }
            for flip in 0..2000 {
                let mut current = current.lock().unwrap();
                *current = Arc::new(reweigh(&current, &[100, if flip % 2 == 0 { 50 } else { 100 }]));
            }
        });
        let last = counts(&reweigh(&current.lock().unwrap(), &[100, 100]), 1000);
        assert!(last[0].abs_diff(500) <= 2, "{last:?}");
    }

    #[test]
    fn case_024_a_weight_set_to_0_never_wins() {
        let rotation = new(&[900, 100]);
        assert_eq!(letters(&rotation, 6), "BBBBBA".replace('A', "x").replace('B', "A").replace('x', "B"));
        assert_eq!(counts(&reweigh(&rotation, &[0, 100]), 50), [0, 50]);
        for n in [3, 64, 65, 200] {
            let mut rng = fastrand::Rng::with_seed(n as u64);
            let mut rotation = new(&vec![10; n]);
            for _ in 0..50 {
                let mut weights: Vec<u32> = (0..n).map(|_| rng.u32(0..4)).collect();
                weights[0] = 1;
                rotation = reweigh(&rotation, &weights);
                for _ in 0..rng.usize(0..2 * n) {
                    assert!(weights[rotation.next()] > 0);
                }
            }
        }
    }

    #[test]
    fn case_028_all_weights_0_rotate() {
        assert_eq!(letters(&new(&[0, 0, 0]), 6), "ABCABC");
        assert_eq!(letters(&new(&[0]), 3), "AAA");
        let many = new(&[0; 100]);
        assert_eq!(take(&many, 200), (0..100).chain(0..100).collect::<Vec<_>>());
        assert!(Rotation::new(&[]).is_none());
        assert!(Rotation::succeed(&many, Some, &[]).is_none());
    }

    #[test]
    fn case_031_case_032_sums_beyond_32_bits() {
        const MOST: u32 = 2_147_483_647;
        assert_eq!(counts(&new(&[MOST, 1]), 10_000), [10_000, 0]);
        let three = counts(&new(&[MOST, MOST, 102]), 100_000);
        assert_eq!(three, [50_000, 50_000, 0]);
        assert_eq!(counts(&new(&[MOST; 3]), 3_000), [1_000; 3]);
        assert_eq!(counts(&new(&[1 << 31; 2]), 1_000), [500; 2]);
        let mut many = vec![MOST; 100];
        many[7] = 1;
        assert_within_one_turn(&new(&many), 5_000);
        assert_within_one_turn(&new(&[u32::MAX, u32::MAX - 1].repeat(50)), 5_000);
    }

    #[test]
    fn derived_1_who_returns_starts_without_old_credit() {
        let all = new(&[1, 5, 1]);
        assert_eq!(letters(&all, 3), "BBA");
        let left = Rotation::succeed(&all, |p| [Some(0), Some(2)][p], &[1, 1]).unwrap();
        let (mut served, turns) = ([0; 2], take(&left, 20));
        turns.iter().for_each(|p| served[*p] += 1);
        assert!(served.iter().all(|s| (8..=12).contains(s)), "{turns:?}");
        let back = Rotation::succeed(&left, |p| [Some(0), None, Some(1)][p], &[1, 5, 1]).unwrap();
        let turns = letters(&back, 7);
        assert!((4..=5).contains(&turns.matches('B').count()), "{turns}");
    }
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
            let mut steps = row["current_after_each_pick_of_first_cycle"].as_array().unwrap().iter();
            // A whole cycle owes nothing, as at the start.
            for _ in 1..cycle_of(&weights) {
                rotation.next();
                let expected = numbers(steps.next().unwrap());
                let credits = rotation.credits();
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
                take(&rotation, rng.usize(0..3 * n));
                if rng.bool() {
                    weights = random_weights(&mut rng, n);
                    if round % 3 == 0 {
                        weights.iter_mut().for_each(|w| *w *= rng.u32(1000..2000));
                    }
                }
                let shift = rng.usize(0..3);
                let moved = |p: usize| Some((p + shift) % n).filter(|_| p % 10 != shift);
                rotation = Rotation::succeed(&rotation, moved, &weights).unwrap();
                let turns = cycle_of(&weights).min(3000);
                assert_within_one_turn(&Rotation::succeed(&rotation, Some, &weights).unwrap(), turns);
                let same_again = Rotation::succeed(&rotation, Some, &weights).unwrap();
                assert_within_one_turn(&same_again, turns);
            }
            assert_within_one_turn(&rotation, 0);
        }
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
fn explore() {
    let mut rng = fastrand::Rng::with_seed(8);
    for n in [64, 70, 101, 300, 1000] {
        for shape in 0..8 {
            for span in [1, 2, 4, n / 10 + 1, n / 2, n, 3 * n / 2, 2 * n, 5 * n] {
                let base: Vec<u32> = (0..n).map(|i| match shape {
                    0 => 100,
                    1 => if i == 0 { 3 * n as u32 / 7 } else { 1 },
                    2 => if i < n / 4 { 100 } else { 1 },
                    3 => [1, 2, 3, 5, 10][i % 5],
                    4 => 37 + (i as u32 * 7) % 64,
                    5 => if i < n - 6 { 100 } else { 1 },
                    6 => 1000 + i as u32 * 17,
                    _ => 100,
                }).collect();
                let mut r2 = fastrand::Rng::with_seed(9);
                let weights = |change: usize| {
                    let mut w = base.clone();
                    if shape == 5 { for x in &mut w[n - 6..] { *x = (1 + change as u32 / 2).min(100); } }
                    if shape == 7 { for x in &mut w { *x = r2.u32(1..=100); } }
                    w
                };
                let changes = (20_000 / span).clamp(50, 500);
                let (low, high) = drift(changes, weights, || rng.usize(1..=2 * span - 1));
                if n == 1000 && span > 1000 || low < -1.5 || high > 1.5 {
                    println!("n {n} shape {shape} span {span}: {low:.2} {high:.2}");
                }
            }
        }
    }
}
