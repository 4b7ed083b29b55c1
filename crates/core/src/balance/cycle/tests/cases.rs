//! The reported cases that concern the order of turns alone.

use std::sync::{Arc, Barrier, Mutex};
use std::thread;

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
    assert_eq!(take(&rotation, 6), [0, 0, 0, 0, 0, 1]);
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
