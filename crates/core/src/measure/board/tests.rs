//! What the board promises: the exact least alone, unbiased ties, and an index that is right again
//! as soon as nobody changes anything.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Barrier;

use super::node::{NOTHING, Node};
use super::order::{ByActive, ByEstimate};
use super::tree::{Below, Tree};
use super::*;
use crate::rng::{Rng, SeededRng, below};

/// What the board should say, kept the plain way.
#[derive(Clone, Copy)]
struct Plain {
    slot: SlotId,
    count: u32,
    average: Option<u64>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum By {
    Active,
    Estimate,
}

impl By {
    fn pick(
        self,
        members: &Members,
        board: &Board,
        chance: u64,
        admits: Admits<'_>,
    ) -> Option<usize> {
        match self {
            By::Active => members.least_active(board, chance, admits),
            By::Estimate => members.shortest_response(board, chance, admits),
        }
    }

    fn key(self, plain: &Plain, mean: u64) -> u64 {
        let count = u64::from(plain.count);
        match (self, plain.average) {
            (By::Active, _) => count,
            (By::Estimate, Some(average)) => average * (count + 1),
            (By::Estimate, None) if count == 0 => 0,
            (By::Estimate, None) => mean * (count + 1),
        }
    }
}

/// A board with `n` slots in use, the counts given by position.
fn board(n: usize, count: impl Fn(usize) -> u32) -> (Board, Vec<SlotId>) {
    let board = Board::new(n);
    let slots: Vec<_> = (0..n).map(|_| board.join()).collect();
    for (i, slot) in slots.iter().enumerate() {
        for _ in 0..count(i) {
            board.start(*slot);
        }
    }
    (board, slots)
}

/// Every bound is at most as great as all that lies below it.
fn assert_bounds<R: Rank>(board: &Board) {
    fn walk<O: Order>(order: &O, row: usize) -> u64 {
        let tree: &Tree = order.tree();
        let nodes: &[Node] = tree.row(row);
        let mut least = NOTHING;
        for (lane, node) in nodes.iter().enumerate() {
            if node.bound() == NOTHING {
                continue;
            }
            let below = match tree.below(row, lane) {
                Below::Group(group) => order.least(group),
                Below::Row(below) => walk(order, below),
            };
            assert!(node.bound() <= below, "row {row} lane {lane}: {} > {below}", node.bound());
            assert!(!node.is_above(NOTHING), "a mark was left");
            least = least.min(below);
        }
        least
    }
    for (block, _) in board.blocks() {
        walk(&R::order(board, block), 0);
    }
}

/// Standard score of a chi-square statistic (Wilson and Hilferty 1931): above 5 by chance in less
/// than one of three million runs.
fn chi_square_z(counts: &[u64], shares: &[f64]) -> f64 {
    let (total, sum) = (counts.iter().sum::<u64>() as f64, shares.iter().sum::<f64>());
    let (mut chi, mut free) = (0.0, -1.0);
    for (count, share) in counts.iter().zip(shares) {
        let due = share / sum * total;
        if due > 0.0 {
            chi += (*count as f64 - due).powi(2) / due;
            free += 1.0;
        } else {
            assert_eq!(*count, 0, "picked what may not be picked");
        }
    }
    if free < 1.0 {
        return 0.0;
    }
    let v: f64 = 2.0 / (9.0 * free);
    ((chi / free).cbrt() - (1.0 - v)) / v.sqrt()
}

/// Picks without starting anything and compares shares with weights.
fn assert_fair(by: By, board: &Board, members: &Members, shares: &[f64], admits: Admits<'_>) {
    let mut rng = SeededRng::new(7 + shares.len() as u64);
    let mut counts = vec![0; shares.len()];
    let busy = shares.iter().filter(|share| **share > 0.0).count() as u64;
    for _ in 0..(100 * busy).max(20_000) {
        let position = by.pick(members, board, rng.next_u64(), admits).unwrap();
        counts[position] += 1;
    }
    let z = chi_square_z(&counts, shares);
    assert!(z < 5.0, "{by:?}, {} members, {busy} tied: z = {z}", shares.len());
}

/// What may be chosen, by the plain rule: least key among those with a weight, else among the rest.
fn plain_least(
    keys: &[u64],
    weights: &[u32],
    admits: impl Fn(usize) -> bool,
) -> Option<(u64, bool)> {
    let all_zero = weights.iter().all(|w| *w == 0);
    let least = |heavy: bool| {
        let of = |i: &usize| admits(*i) && (all_zero || (weights[*i] > 0) == heavy);
        (0..keys.len()).filter(of).map(|i| keys[i]).min()
    };
    least(true).map(|key| (key, true)).or_else(|| least(false).map(|key| (key, false)))
}

/// Steps of a walk.
const STEPS: usize = 2500;

/// Random starts, finishes, averages, joins, leaves and picks on one thread against the plain rule.
fn wander(by: By, n: usize, capacity: usize, weigh: impl Fn(usize) -> u32, seed: u64) {
    let mut rng = SeededRng::new(seed);
    let mut draw = move |n: usize| below(rng.next_u64(), n);
    let board = Board::new(capacity);
    let mut mean = 0;
    let mut list: Vec<_> =
        (0..n).map(|_| Plain { slot: board.join(), count: 0, average: None }).collect();
    let mut view = Vec::new();
    let mut weights = Vec::new();
    let mut members = Members::new(&[], &[]);
    for step in 0..STEPS {
        if step % 250 == 0 {
            // A new view: some leave, some join, a part of all are candidates, in a new order.
            for _ in 0..draw(4) {
                if list.len() > 1 {
                    board.leave(list.swap_remove(draw(list.len())).slot);
                }
            }
            for _ in 0..draw(4) {
                list.push(Plain { slot: board.join(), count: 0, average: None });
            }
            let part = if step % 500 == 0 { list.len() } else { 1 + draw(list.len()) };
            view = (0..list.len()).collect();
            for i in (1..view.len()).rev() {
                view.swap(i, draw(i + 1));
            }
            view.truncate(part);
            weights = view.iter().map(|i| weigh(*i)).collect();
            let slots: Vec<_> = view.iter().map(|i| list[*i].slot).collect();
            members = Members::new(&slots, &weights);
            assert_eq!(board.live(), list.len());
        }
        let any = draw(list.len());
        match draw(8) {
            0 | 1 if list[any].count > 0 => {
                list[any].count -= 1;
                assert_eq!(board.finish(list[any].slot), list[any].count);
            }
            2 => {
                list[any].count += 1;
                assert_eq!(board.start(list[any].slot), list[any].count);
            }
            3 if by == By::Estimate => {
                list[any].average = (draw(10) > 0).then(|| 1 + draw(9) as u64);
                board.set_average(list[any].slot, list[any].average);
            }
            4 if by == By::Estimate && step % 7 == 0 => {
                mean = draw(12) as u64;
                board.set_mean(mean);
            }
            _ => {}
        }
        let tried = [draw(view.len()), draw(view.len())];
        let only = step % 11 == 0;
        let admits = |position: usize| !tried.contains(&position);
        let keys: Vec<_> = view.iter().map(|i| by.key(&list[*i], mean)).collect();
        let chosen = if only {
            by.pick(&members, &board, draw(usize::MAX) as u64, Some(&admits))
        } else {
            by.pick(&members, &board, draw(usize::MAX) as u64, None)
        };
        let due = plain_least(&keys, &weights, |position| !only || admits(position));
        assert_eq!(chosen.is_some(), due.is_some(), "{by:?} {n} step {step}");
        let (Some(position), Some((key, heavy))) = (chosen, due) else { continue };
        assert!(!only || admits(position));
        assert_eq!(keys[position], key, "{by:?} {n} step {step}");
        let all_zero = weights.iter().all(|w| *w == 0);
        assert!(all_zero || (weights[position] > 0) == heavy, "{by:?} {n} step {step}");
        // Most picks are used, so that the least level runs out again and again.
        if step % 3 != 0 {
            let plain = &mut list[view[position]];
            plain.count += 1;
            assert_eq!(board.start(plain.slot), plain.count);
        }
        if step % 97 == 0 {
            assert_bounds::<ByActive>(&board);
            assert_bounds::<ByEstimate>(&board);
        }
    }
}

#[test]
fn alone_the_least_is_exact() {
    for by in [By::Active, By::Estimate] {
        for (seed, n) in [1, 2, 7, 16, 17, 32, 33, 100, 300].into_iter().enumerate() {
            let seed = seed as u64;
            wander(by, n, n, |_| 100, seed);
            wander(by, n, n, |i| [1, 3, 10, 1, 2, 5, 2][i % 7], 100 + seed);
            wander(by, n, n, |i| [0, 3, 0, 1][i % 4], 200 + seed);
        }
    }
}

#[test]
fn alone_the_least_is_exact_on_a_board_that_has_grown() {
    for by in [By::Active, By::Estimate] {
        for (seed, n) in [17, 33, 100, 700].into_iter().enumerate() {
            wander(by, n, 16, |i| 1 + i as u32 % 3, 300 + seed as u64);
            wander(by, n, n / 2, |_| 0, 400 + seed as u64);
        }
    }
}

#[test]
fn ten_thousand_slots_fill_level_by_level() {
    let (board, slots) = board(10_000, |i| i as u32 % 3);
    let members = Members::new(&slots, &vec![1; slots.len()]);
    let mut rng = SeededRng::new(1);
    let mut level = 0;
    for _ in 0..40_000 - 9_999 {
        let position = members.least_active(&board, rng.next_u64(), None).unwrap();
        let count = board.start(slots[position]) - 1;
        assert!(count >= level, "{count} after {level}");
        level = count;
    }
    assert!(slots.iter().all(|slot| board.active(*slot) == 4));
    assert_bounds::<ByActive>(&board);
    for slot in slots.iter().step_by(7) {
        board.finish(*slot);
        let position = members.least_active(&board, rng.next_u64(), None).unwrap();
        assert_eq!(slots[position], *slot, "the only one with 3");
        board.start(*slot);
    }
}

#[test]
fn ties_are_drawn_by_weight() {
    let kinds: [&dyn Fn(usize) -> u32; 2] = [&|_| 1, &|i| [1, 2, 3, 5, 10][i % 5]];
    for by in [By::Active, By::Estimate] {
        for n in [2, 10, 17, 33, 100, 600] {
            // Every member, about half, a few and one of them share the least count.
            for part in [1, 2, 9, n] {
                for weigh in kinds {
                    if part / 2 >= n {
                        continue;
                    }
                    let tied = |i: usize| i % part == part / 2;
                    let (board, slots) = board(n, |i| if tied(i) { 1 } else { 2 });
                    for slot in &slots {
                        board.set_average(*slot, Some(1000));
                    }
                    let weights: Vec<_> = (0..n).map(weigh).collect();
                    let members = Members::new(&slots, &weights);
                    let share = |i: usize| if tied(i) { f64::from(weights[i]) } else { 0.0 };
                    let shares: Vec<_> = (0..n).map(share).collect();
                    assert_fair(by, &board, &members, &shares, None);
                }
            }
        }
    }
}

#[test]
fn ties_among_thousands_are_drawn_by_weight() {
    for by in [By::Active, By::Estimate] {
        // More and fewer ties than make drawing worth while.
        for part in [25, 400] {
            let tied = |i: usize| i % part == 3;
            let (board, slots) = board(6000, |i| if tied(i) { 1 } else { 2 });
            for slot in &slots {
                board.set_average(*slot, Some(1000));
            }
            let weights: Vec<_> = (0..6000).map(|i| [1, 2, 3, 5, 10][i / part % 5]).collect();
            let members = Members::new(&slots, &weights);
            let share = |i: usize| if tied(i) { f64::from(weights[i]) } else { 0.0 };
            let shares: Vec<_> = (0..6000).map(share).collect();
            assert_fair(by, &board, &members, &shares, None);
        }
    }
}

#[test]
fn ties_of_a_part_and_of_the_admitted_are_drawn_by_weight() {
    for by in [By::Active, By::Estimate] {
        for (n, every) in [(200, 2), (200, 5), (400, 9), (90, 2)] {
            // Others on the board have less, so the bounds lead to them first.
            let (board, slots) = board(n, |i| if i % every == 0 { 3 + i as u32 % 2 } else { 1 });
            for slot in &slots {
                board.set_average(*slot, Some(10));
            }
            let chosen: Vec<_> = (0..n).step_by(every).collect();
            let weights: Vec<_> = chosen.iter().map(|i| [4, 1, 0, 2][i / every % 4]).collect();
            let members =
                Members::new(&chosen.iter().map(|i| slots[*i]).collect::<Vec<_>>(), &weights);
            let low = |position: usize| chosen[position] % 2 == 0;
            let share = |p: usize| if low(p) { f64::from(weights[p]) } else { 0.0 };
            let shares: Vec<_> = (0..chosen.len()).map(share).collect();
            assert_fair(by, &board, &members, &shares, None);
            let admits = |position: usize| !position.is_multiple_of(3);
            let share = |p: usize| if admits(p) { share(p) } else { 0.0 };
            let shares: Vec<_> = (0..chosen.len()).map(share).collect();
            assert_fair(by, &board, &members, &shares, Some(&admits));
        }
    }
}

#[test]
fn ties_across_blocks_are_drawn_by_weight() {
    let board = Board::new(16);
    let slots: Vec<_> = (0..300).map(|_| board.join()).collect();
    for (i, slot) in slots.iter().enumerate() {
        for _ in 0..1 + u32::from(i % 20 > 0) {
            board.start(*slot);
        }
    }
    let weights: Vec<_> = (0..300).map(|i| 1 + i / 20 % 4).collect();
    let members = Members::new(&slots, &weights);
    let share = |i: usize| if i.is_multiple_of(20) { f64::from(weights[i]) } else { 0.0 };
    assert_fair(By::Active, &board, &members, &(0..300).map(share).collect::<Vec<_>>(), None);
}

#[test]
fn weight_zero_waits_until_nothing_else_is_admitted() {
    for n in [3, 20, 60, 200] {
        let (board, slots) = board(n, |i| u32::from(i > 0) * 5);
        let mut weights = vec![0; n];
        (weights[1], weights[2]) = (7, 7);
        let members = Members::new(&slots, &weights);
        for chance in 0..200 {
            // The idle one has no weight.
            let position = members.least_active(&board, chance << 40, None).unwrap();
            assert!([1, 2].contains(&position));
            let rest = |position: usize| ![1, 2].contains(&position);
            assert_eq!(members.least_active(&board, chance << 40, Some(&rest)), Some(0));
        }
        assert_eq!(members.least_active(&board, 1, Some(&|_| false)), None);
        // All of weight 0: as if all had the same.
        let members = Members::new(&slots, &vec![0; n]);
        assert_eq!(members.least_active(&board, 5, None), Some(0));
    }
}

#[test]
fn a_slot_that_was_given_back_is_never_picked() {
    for n in [1, 10, 33, 200] {
        let (board, slots) = board(n, |_| 1);
        let members = Members::new(&slots, &vec![1; n]);
        for (left, slot) in slots.iter().enumerate() {
            for chance in 0..20 {
                let by_count = members.least_active(&board, chance << 50, None).unwrap();
                let by_estimate = members.shortest_response(&board, chance << 50, None).unwrap();
                assert!(by_count >= left && by_estimate >= left);
            }
            board.finish(*slot);
            board.leave(*slot);
            assert_eq!(board.active(*slot), 0);
        }
        assert_eq!(members.least_active(&board, 1, None), None);
        assert_eq!(members.shortest_response(&board, 1, None), None);
        assert_eq!(Members::new(&[], &[]).least_active(&board, 1, None), None);
    }
}

#[test]
fn a_view_that_lags_behind_still_finds_the_least() {
    let (board, slots) = board(100, |i| 2 + i as u32 % 7);
    let members = Members::new(&slots, &[1; 100]);
    for slot in &slots {
        board.set_average(*slot, Some(100));
    }
    // As many idle ones come as leave, so that it looks as if all in use were members.
    for _ in 0..15 {
        board.join();
    }
    for slot in slots.iter().step_by(7) {
        board.leave(*slot);
    }
    assert_eq!(board.live(), 100);
    for chance in 0..300 {
        for by in [By::Active, By::Estimate] {
            let position = by.pick(&members, &board, chance << 54, None).unwrap();
            assert_eq!(position % 7, 1, "{by:?}: those with 3, since those with 2 have left");
        }
    }
}

#[test]
fn slots_are_used_again_from_the_lowest() {
    let board = Board::new(2);
    let slots: Vec<_> = (0..100).map(|_| board.join()).collect();
    assert_eq!(slots.iter().map(|slot| slot.0).collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
    assert_eq!(board.blocks().count(), 4);
    for slot in &slots {
        board.set_average(*slot, Some(5));
    }
    for round in 0..1000 {
        let slot = slots[round * 7 % 100];
        board.start(slot);
        board.finish(slot);
        board.leave(slot);
        assert_eq!(board.join(), slot, "nothing grows while the number in use does not");
        // Nothing is left of whoever had it before.
        let members = Members::new(&slots, &[1; 100]);
        assert_eq!(members.shortest_response(&board, 9, None), Some(slot.0 as usize));
        board.set_average(slot, Some(5));
    }
    assert_eq!(board.blocks().count(), 4);
}

#[test]
fn estimates_follow_the_rule() {
    for n in [3, 40] {
        let (board, slots) = board(n, |i| [2, 1, 0][i.min(2)] + u32::from(i > 2) * 90);
        let members = Members::new(&slots, &vec![1; n]);
        let pick = || members.shortest_response(&board, 3, None);
        for slot in &slots[3..] {
            board.set_average(*slot, Some(1000));
        }
        // 0 is 100 x 3, 1 is 140 x 2, 2 is idle and unknown: 0.
        board.set_average(slots[0], Some(100));
        board.set_average(slots[1], Some(140));
        assert_eq!(pick(), Some(2));
        // Busy and unknown: 0 as long as no mean is known, then the mean x 2.
        board.start(slots[2]);
        assert_eq!(pick(), Some(2));
        board.set_mean(150);
        assert_eq!(pick(), Some(1));
        board.set_mean(120);
        assert_eq!(pick(), Some(2));
        board.set_mean(141);
        assert_eq!(pick(), Some(1));
        board.start(slots[1]);
        assert_eq!(pick(), Some(2));
        board.start(slots[2]);
        assert_eq!(pick(), Some(0));
        board.set_average(slots[0], None);
        board.set_average(slots[1], Some(u64::MAX));
        board.set_mean(u64::MAX);
        board.finish(slots[0]);
        board.finish(slots[0]);
        assert_eq!(pick(), Some(0));
    }
}

#[test]
fn averages_may_come_first_or_late() {
    let (board, slots) = board(50, |_| 3);
    let members = Members::new(&slots, &[1; 50]);
    assert!(members.least_active(&board, 1, None).is_some());
    for (i, slot) in slots.iter().enumerate() {
        board.set_average(*slot, Some(100 + (i as u64 * 37) % 50));
    }
    assert_eq!(members.shortest_response(&board, 1, None), Some(0));
    board.start(slots[0]);
    let second = (0..50).position(|i| i * 37 % 50 == 1);
    assert_eq!(members.shortest_response(&board, 1, None), second);
}

#[test]
#[cfg_attr(debug_assertions, should_panic(expected = "more attempts finished than started"))]
fn a_count_never_falls_below_zero_on_a_small_board() {
    let (board, slots) = board(3, |_| 0);
    assert_eq!(board.finish(slots[1]), 0);
    assert_eq!((board.active(slots[1]), board.start(slots[1])), (0, 1));
}

#[test]
#[cfg_attr(debug_assertions, should_panic(expected = "more attempts finished than started"))]
fn a_count_never_falls_below_zero_on_a_large_board() {
    let (board, slots) = board(300, |_| 0);
    assert_eq!(board.finish(slots[1]), 0);
    assert_eq!((board.active(slots[1]), board.start(slots[1])), (0, 1));
}

/// Rounds of three threads that start and finish what they pick while a fourth joins, leaves and
/// tells averages. After each round, when nobody changes anything, every bound is right and the
/// least is found. Short rounds, since a bound that was left too high may be put right by what comes
/// later.
fn crowd(by: By, n: usize, capacity: usize, rounds: usize) {
    let board = Board::new(capacity);
    let slots: Vec<_> = (0..n).map(|_| board.join()).collect();
    let members = Members::new(&slots, &(0..n).map(|i| 1 + i as u32 % 3).collect::<Vec<_>>());
    let gate = Barrier::new(5);
    let work = |seed: u64| {
        let mut rng = SeededRng::new(seed);
        let mut open = Vec::new();
        for round in 0..rounds {
            gate.wait();
            for step in 0..30 {
                let chance = rng.next_u64();
                if open.len() < (round + step) % (n / 2 + 3) {
                    let position = by.pick(&members, &board, chance, None).unwrap();
                    board.start(slots[position]);
                    open.push(position);
                } else if !open.is_empty() {
                    let position = open.swap_remove(below(chance, open.len()));
                    if by == By::Estimate {
                        board.set_average(slots[position], Some(1 + chance % 5));
                    }
                    board.finish(slots[position]);
                }
            }
            gate.wait();
            gate.wait();
        }
        open
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..3).map(|seed| scope.spawn(move || work(seed))).collect();
        scope.spawn(|| {
            for round in 0..rounds {
                gate.wait();
                let slot = board.join();
                board.start(slot);
                board.finish(slot);
                board.leave(slot);
                board.set_mean(round as u64 % 3);
                gate.wait();
                gate.wait();
            }
        });
        let mut failed = None;
        for round in 0..rounds {
            gate.wait();
            gate.wait();
            // Kept until the others have ended: they would wait at the gate for ever.
            let checked = catch_unwind(AssertUnwindSafe(|| {
                assert_bounds::<ByActive>(&board);
                assert_bounds::<ByEstimate>(&board);
                let position = members.least_active(&board, round as u64, None).unwrap();
                let least = slots.iter().map(|slot| board.active(*slot)).min();
                assert_eq!(Some(board.active(slots[position])), least);
            }));
            failed = failed.or(checked.err());
            gate.wait();
        }
        if let Some(failure) = failed {
            resume_unwind(failure);
        }
        let mut left = vec![0; n];
        for position in workers.into_iter().flat_map(|worker| worker.join().unwrap()) {
            left[position] += 1;
        }
        let counts: Vec<_> = slots.iter().map(|slot| board.active(*slot)).collect();
        assert_eq!(counts, left, "every start has its finish");
    });
}

#[test]
fn after_a_crowd_everything_is_exact_again() {
    for by in [By::Active, By::Estimate] {
        crowd(by, 2, 2, 300);
        crowd(by, 33, 64, 3000);
        crowd(by, 40, 16, 1000);
        crowd(by, 300, 300, 500);
    }
}
