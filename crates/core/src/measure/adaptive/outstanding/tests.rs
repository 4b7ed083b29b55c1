//! The oldest unanswered attempt against a plain list, and what it may cost.

use super::*;

#[test]
fn the_oldest_is_known_whatever_ends_first() {
    let outstanding = Outstanding::new();
    assert_eq!(outstanding.oldest(), None);
    let a = outstanding.start(10);
    let b = outstanding.start(20);
    let c = outstanding.start(30);
    assert_eq!(outstanding.oldest(), Some(10));
    outstanding.finish(b);
    assert_eq!(outstanding.oldest(), Some(10));
    outstanding.finish(a);
    assert_eq!(outstanding.oldest(), Some(30));
    outstanding.finish(c);
    assert_eq!(outstanding.oldest(), None);
}

#[test]
fn any_order_of_starts_and_ends_agrees_with_a_plain_list() {
    let mut rng = fastrand::Rng::with_seed(3);
    let outstanding = Outstanding::new();
    let mut running: Vec<(i64, Token)> = Vec::new();
    let mut most = 0;
    for now in 0..50_000 {
        // Swings between few and many.
        let starts = rng.usize(..100) < if now / 5000 % 2 == 0 { 55 } else { 40 };
        if starts || running.is_empty() {
            running.push((now, outstanding.start(now)));
        } else {
            let (_, token) = running.swap_remove(rng.usize(..running.len()));
            outstanding.finish(token);
        }
        most = most.max(running.len());
        assert_eq!(outstanding.oldest(), running.iter().map(|(start, _)| *start).min());
        assert!(outstanding.lock().slots.len() <= most);
    }
    running.into_iter().for_each(|(_, token)| outstanding.finish(token));
    assert_eq!(outstanding.oldest(), None);
}

#[test]
fn slots_are_used_again_and_a_burst_is_forgotten() {
    let outstanding = Outstanding::new();
    for now in 0..10_000 {
        let tokens = [outstanding.start(now), outstanding.start(now)];
        tokens.into_iter().for_each(|token| outstanding.finish(token));
    }
    assert_eq!(outstanding.lock().slots.len(), 2);
    let burst: Vec<Token> = (0..5000).map(|now| outstanding.start(now)).collect();
    assert_eq!(outstanding.lock().slots.len(), 5000);
    burst.into_iter().rev().for_each(|token| outstanding.finish(token));
    assert_eq!(outstanding.lock().slots.capacity(), 0);
}

#[test]
fn a_clock_that_steps_back_keeps_the_order() {
    let outstanding = Outstanding::new();
    let first = outstanding.start(100);
    let second = outstanding.start(95);
    assert_eq!(outstanding.oldest(), Some(100));
    outstanding.finish(first);
    assert_eq!(outstanding.oldest(), Some(100));
    outstanding.finish(second);
    let last = outstanding.start(i64::MAX);
    assert_eq!(outstanding.oldest(), Some(i64::MAX - 1));
    outstanding.finish(last);
}

#[test]
fn a_token_of_another_endpoint_changes_nothing() {
    let (one, other) = (Outstanding::new(), Outstanding::new());
    let foreign = [other.start(1), other.start(1), other.start(1)];
    let own = one.start(5);
    let ended = one.start(6);
    one.finish(ended);
    // The first names the slot of an attempt that runs here; the rest a free and a missing one.
    let [_, free, missing] = foreign;
    one.finish(free);
    one.finish(missing);
    assert_eq!(one.oldest(), Some(5));
    one.finish(own);
    assert_eq!(one.oldest(), None);
}

#[test]
fn threads_leave_nothing_behind() {
    let outstanding = Outstanding::new();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let outstanding = &outstanding;
            scope.spawn(move || {
                for now in 0..5000 {
                    let token = outstanding.start(now * 4 + thread);
                    assert!(outstanding.oldest().is_some());
                    outstanding.finish(token);
                }
            });
        }
    });
    assert_eq!(outstanding.oldest(), None);
    assert!(outstanding.lock().slots.len() <= 4);
}
