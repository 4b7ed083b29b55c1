//! Exactness, fairness and stress of the board, against a plain scan.

use super::{Board, Members, SlotId};
use crate::rng::{Rng, SeededRng, below};

/// What a scan finds: the positions that share the least count, by weight.
fn least(board: &Board, slots: &[SlotId], weights: &[u32], admits: impl Fn(usize) -> bool) -> Vec<usize> {
    let open = |p: &usize| admits(*p);
    let positive = (0..slots.len()).filter(open).any(|p| weights[p] > 0);
    let all: Vec<usize> =
        (0..slots.len()).filter(open).filter(|p| !positive || weights[*p] > 0).collect();
    let fewest = all.iter().map(|p| board.active(slots[*p])).min();
    all.into_iter().filter(|p| Some(board.active(slots[*p])) == fewest).collect()
}

/// Random starts, finishes, joins and leaves; after each few a pick is compared with a scan.
fn explore(n: usize, seed: u64, weight: impl Fn(usize) -> u32) {
    let mut rng = SeededRng::new(seed);
    let board = Board::new(n / 2);
    let mut slots: Vec<SlotId> = (0..n).map(|_| board.join()).collect();
    let weights: Vec<u32> = (0..n).map(weight).collect();
    let mut members = Members::new(&slots, &weights);
    let mut running: Vec<usize> = Vec::new();
    for step in 0..4000 {
        match below(rng.next_u64(), 100) {
            0..50 => {
                let chance = rng.next_u64();
                let picked = members.least_active(&board, chance, None).unwrap();
                let least = least(&board, &slots, &weights, |_| true);
                assert!(least.contains(&picked), "step {step}: {picked} is not of {least:?}");
                board.start(slots[picked]);
                running.push(picked);
            }
            50..55 => {
                let odd = |p: usize| p % 3 != 1;
                let picked = members.least_active(&board, rng.next_u64(), Some(&odd));
                let least = least(&board, &slots, &weights, odd);
                // A weight of 0 is not looked for where a greater one is not admitted.
                assert!(picked.is_none_or(|p| least.contains(&p)), "step {step}");
            }
            55..99 if !running.is_empty() => {
                let done = running.swap_remove(below(rng.next_u64(), running.len()));
                board.finish(slots[done]);
            }
            _ => {
                // One leaves while idle, and another takes its place.
                let at = below(rng.next_u64(), n);
                if !running.contains(&at) {
                    board.leave(slots[at]);
                    slots[at] = board.join();
                    members = Members::new(&slots, &weights);
                }
            }
        }
    }
}

#[test]
fn the_least_is_exact_alone() {
    for n in [1, 2, 3, 16, 31, 32, 33, 64, 100, 300, 1000] {
        explore(n, 1, |_| 100);
        explore(n, 2, |p| [1, 2, 3, 5, 10][p % 5]);
        explore(n, 3, |p| if p % 4 == 0 { 0 } else { 7 });
    }
}

#[test]
fn a_subset_of_the_board_is_exact_too() {
    let board = Board::new(400);
    let mut rng = SeededRng::new(5);
    let all: Vec<SlotId> = (0..400).map(|_| board.join()).collect();
    for keep in [3, 8, 20] {
        let slots: Vec<SlotId> = all.iter().copied().step_by(keep).collect();
        let weights = vec![1; slots.len()];
        let members = Members::new(&slots, &weights);
        for _ in 0..2000 {
            let slot = all[below(rng.next_u64(), all.len())];
            if rng.next_u64() >> 63 == 0 || board.active(slot) == 0 {
                board.start(slot);
            } else {
                board.finish(slot);
            }
            let picked = members.least_active(&board, rng.next_u64(), None).unwrap();
            assert!(least(&board, &slots, &weights, |_| true).contains(&picked));
        }
    }
}

#[test]
fn the_least_estimate_is_exact_alone() {
    for n in [2, 10, 32, 33, 200, 1000] {
        let board = Board::new(n);
        let mut rng = SeededRng::new(n as u64);
        let slots: Vec<SlotId> = (0..n).map(|_| board.join()).collect();
        let weights = vec![100; n];
        let members = Members::new(&slots, &weights);
        let mut averages: Vec<Option<u64>> = vec![None; n];
        let mut mean = 0;
        for step in 0..4000 {
            let at = below(rng.next_u64(), n);
            match below(rng.next_u64(), 10) {
                0..4 => {
                    board.start(slots[at]);
                },
                4..7 if board.active(slots[at]) > 0 => {
                    board.finish(slots[at]);
                },
                7..9 => {
                    averages[at] = Some(below(rng.next_u64(), 1000) as u64);
                    board.set_average(slots[at], averages[at]);
                }
                _ => {
                    mean = below(rng.next_u64(), 500) as u64;
                    board.set_mean(mean);
                }
            }
            let estimate = |p: usize| {
                let active = u64::from(board.active(slots[p]));
                match averages[p] {
                    Some(average) => average * (active + 1),
                    None if active == 0 => 0,
                    None => mean * (active + 1),
                }
            };
            let picked = members.shortest_response(&board, rng.next_u64(), None).unwrap();
            let fewest = (0..n).map(estimate).min().unwrap();
            assert_eq!(estimate(picked), fewest, "n {n}, step {step}");
        }
    }
}

#[test]
fn ties_are_drawn_by_weight() {
    // Dense, in between, sparse: how many of the members share the least count.
    for (n, tied) in [(10, 10), (10, 3), (100, 100), (100, 20), (100, 3), (1000, 400), (1000, 30)] {
        let board = Board::new(n);
        let slots: Vec<SlotId> = (0..n).map(|_| board.join()).collect();
        let weights: Vec<u32> = (0..n).map(|p| [1, 2, 3, 5, 10][p % 5]).collect();
        let members = Members::new(&slots, &weights);
        let is_tied = |p: usize| p * 7 % n < tied;
        for p in (0..n).filter(|p| !is_tied(*p)) {
            board.start(slots[p]);
        }
        let total: u64 = (0..n).filter(|p| is_tied(*p)).map(|p| u64::from(weights[p])).sum();
        let draws = 400 * total.max(250);
        let mut counts = vec![0_u64; n];
        let mut rng = SeededRng::new(11);
        for _ in 0..draws {
            counts[members.least_active(&board, rng.next_u64(), None).unwrap()] += 1;
        }
        let (mut chi, mut cells) = (0.0, 0.0);
        for p in 0..n {
            if !is_tied(p) {
                assert_eq!(counts[p], 0);
                continue;
            }
            let expected = draws as f64 * f64::from(weights[p]) / total as f64;
            chi += (counts[p] as f64 - expected).powi(2) / expected;
            cells += 1.0;
        }
        // Wilson and Hilferty: above this less than once in a million.
        let freedom: f64 = cells - 1.0;
        let spread = 2.0 / (9.0 * freedom);
        let limit = freedom * (1.0 - spread + 4.9 * spread.sqrt()).powi(3);
        assert!(chi < limit, "n {n}, tied {tied}: {chi} above {limit}");
    }
}

#[test]
fn threads_leave_exact_counts_and_bounds_behind() {
    for n in [2, 10, 100] {
        let board = Board::new(n);
        let slots: Vec<SlotId> = (0..n).map(|_| board.join()).collect();
        let members = Members::new(&slots, &vec![1; n]);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (board, slots, members) = (&board, &slots, &members);
                scope.spawn(move || {
                    let mut rng = SeededRng::new(thread);
                    let mut running = std::collections::VecDeque::new();
                    for _ in 0..20_000 {
                        let picked = members.least_active(board, rng.next_u64(), None).unwrap();
                        board.start(slots[picked]);
                        running.push_back(picked);
                        if running.len() > 16 {
                            board.finish(slots[running.pop_front().unwrap()]);
                        }
                    }
                    for p in running {
                        board.finish(slots[p]);
                    }
                });
            }
        });
        assert!(slots.iter().all(|slot| board.active(*slot) == 0));
        // All are equal now, so whatever a stale bound hid would never be found.
        let mut seen = vec![false; n];
        let mut rng = SeededRng::new(99);
        for _ in 0..200 * n {
            seen[members.least_active(&board, rng.next_u64(), None).unwrap()] = true;
        }
        assert!(seen.iter().all(|s| *s), "n {n}");
    }
}

#[test]
fn a_limit_admits_exactly_as_many() {
    let board = Board::new(1);
    let slot = board.join();
    let admitted: usize = std::thread::scope(|scope| {
        let each = || (0..100).filter(|_| board.try_start(slot, 8)).count();
        let all: Vec<_> = (0..4).map(|_| scope.spawn(each)).collect();
        all.into_iter().map(|t| t.join().unwrap()).sum()
    });
    assert_eq!((admitted, board.active(slot)), (8, 8));
}
