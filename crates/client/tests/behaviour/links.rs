//! Connections: one per provider, kept while it is listed, made again with a growing delay.

use equipoise_client::{Backoff, Consumer};
use equipoise_core::outcome::FailureKind;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::common::*;

fn exact() -> Backoff {
    Backoff { jitter: 0.0, ..Backoff::default() }
}

fn alone(net: &Network) -> Consumer {
    net.consumer([A]).backoff(exact()).retries(0).build().unwrap()
}

/// Seconds after `start` at which connections were attempted.
fn seconds(net: &Network, address: &str, start: Instant) -> Vec<f64> {
    let after = |at: &Instant| at.saturating_duration_since(start).as_secs_f64();
    net.at(address).connects().iter().filter(|at| **at >= start).map(after).collect()
}

#[tokio::test(start_paused = true)]
async fn first_calls_wait_for_the_connection() {
    let net = Network::new();
    net.at(A).door(Door::Slow(300));
    let consumer = alone(&net);
    let started = Instant::now();
    let (one, two) = tokio::join!(ask(&consumer), ask(&consumer));
    assert_eq!((one.unwrap().as_str(), two.unwrap().as_str()), (A, A));
    assert_eq!(started.elapsed(), ms(301));
    assert_eq!(net.at(A).connects().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_are_told_when_the_attempt_fails() {
    let net = Network::new();
    net.at(A).door(Door::Refusing);
    let error = ask(&alone(&net)).await.unwrap_err();
    assert_eq!(error.failure.kind, FailureKind::Network);
    assert!(error.to_string().contains("refuses"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_attempt_to_connect_is_bounded() {
    let net = Network::new();
    net.at(A).door(Door::Silent);
    let consumer = alone(&net);
    let started = Instant::now();
    pass(11_500).await;
    assert!(!is_up(&consumer, A));
    // Three seconds each, with 1 s and 2 s between.
    assert_eq!(seconds(&net, A, started), [0.0, 4.0, 9.0]);
}

#[tokio::test(start_paused = true)]
async fn delays_double_up_to_the_cap_and_start_again_after_a_success() {
    let net = Network::new();
    net.at(A).door(Door::Refusing);
    let _consumer = alone(&net);
    let started = Instant::now();
    pass(130_000).await;
    let at = [0.0, 1.0, 3.0, 7.0, 15.0, 31.0, 61.0, 91.0, 121.0];
    assert_eq!(seconds(&net, A, started), at);
    net.at(A).returns();
    pass(30_000).await;
    assert_eq!(net.at(A).open(), 1);
    net.at(A).dies();
    let lost = Instant::now();
    pass(8_000).await;
    assert_eq!(seconds(&net, A, lost), [0.0, 1.0, 3.0, 7.0], "at once, then as at first");
}

#[tokio::test(start_paused = true)]
async fn case_160_nobody_reconnects_to_a_provider_that_has_left() {
    let net = Network::new();
    let consumer = net.consumer([A, B]).backoff(exact()).build().unwrap();
    settle().await;
    net.at(A).dies();
    pass(5_000).await;
    consumer.update([B]).await.unwrap();
    let pushed = Instant::now();
    pass(120_000).await;
    assert_eq!(seconds(&net, A, pushed), [0.0; 0]);

    consumer.update([A, B]).await.unwrap();
    let added = Instant::now();
    pass(16_000).await;
    assert_eq!(seconds(&net, A, added), [0.0, 1.0, 3.0, 7.0, 15.0], "one sequence of attempts");
    net.at(A).returns();
    pass(20_000).await;
    assert_eq!((net.at(A).open(), net.at(B).connects().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn case_161_a_flapping_connection_has_one_sequence_of_attempts() {
    let net = Network::new();
    let backoff = Backoff { cap: ms(60_000), ..exact() };
    let consumer = net.consumer([A]).backoff(backoff).build().unwrap();
    pass(5_000).await;
    for _ in 0..20 {
        net.at(A).cuts();
        pass(50).await;
    }
    net.at(A).dies();
    let closed = Instant::now();
    pass(30_000).await;
    let after = seconds(&net, A, closed);
    assert!((4..=5).contains(&after.len()), "{after:?}");
    assert!(after.windows(2).skip(1).all(|w| w[1] - w[0] >= 1.9 * (w[0] - after[0]).min(1.0)));
    net.at(A).returns();
    pass(60_000).await;
    assert_eq!(net.at(A).open(), 1);
    assert_eq!(ask(&consumer).await.unwrap(), A);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_hangs_up_at_once_is_not_hammered() {
    let net = Network::new();
    net.at(A).door(Door::HangingUp);
    let consumer = net.consumer([A, B]).backoff(exact()).build().unwrap();
    pass(30_000).await;
    let connects = net.at(A).connects().len();
    assert!(connects <= 7, "{connects} attempts in 30 s");
    assert!(!is_up(&consumer, A));
    assert_eq!(ask_all(&consumer, 10).await, [B; 10]);
    net.at(A).returns();
    pass(60_000).await;
    assert!(is_up(&consumer, A));
}

#[tokio::test(start_paused = true)]
async fn case_162_many_callers_at_once_make_one_connection() {
    let net = Network::new();
    net.at(A).door(Door::Slow(10));
    for _ in 0..100 {
        let consumer = alone(&net);
        let before = net.at(A).connects().len();
        let mut callers = JoinSet::new();
        for i in 0..100 {
            let consumer = consumer.clone();
            callers.spawn(async move {
                let patience = ms(if i % 2 == 0 { 5 } else { 1000 });
                tokio::time::timeout(patience, ask(&consumer)).await
            });
        }
        let mut answered = 0;
        while let Some(end) = callers.join_next().await {
            answered += usize::from(end.unwrap().is_ok_and(|result| result.is_ok()));
        }
        assert_eq!(answered, 50);
        assert_eq!((net.at(A).open(), net.at(A).connects().len()), (1, before + 1));
        assert_eq!(active(&consumer), 0);
        drop(consumer);
        settle().await;
        assert_eq!(net.at(A).open(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn callers_that_find_nobody_up_cause_one_attempt_and_not_within_100_ms_of_the_last() {
    let net = Network::new();
    net.at(A).door(Door::Refusing);
    let consumer = alone(&net);
    let started = Instant::now();
    let callers = async |at: u64| {
        tokio::time::sleep_until(started + ms(at)).await;
        let results = futures_util::future::join_all((0..50).map(|_| ask(&consumer))).await;
        assert!(results.iter().all(Result::is_err));
    };
    callers(50).await;
    assert_eq!(seconds(&net, A, started), [0.0], "the last attempt was a moment ago");
    callers(200).await;
    assert_eq!(seconds(&net, A, started), [0.0, 0.2], "one for all of them");
    // While an attempt is on its way, callers wait for it and leave no wish behind.
    net.at(A).door(Door::Silent);
    callers(400).await;
    pass(2_500).await;
    assert_eq!(seconds(&net, A, started), [0.0, 0.2, 0.4]);
    assert!(!is_up(&consumer, A));
}

#[tokio::test(start_paused = true)]
async fn wishes_of_an_earlier_time_do_not_count_when_a_provider_returns() {
    let net = Network::new();
    net.at(A).door(Door::Refusing);
    // Remembered, so that it is the same endpoint with the same link when it returns.
    let consumer = net.consumer([A]).backoff(exact()).sticky(true).retries(0).build().unwrap();
    for _ in 0..5 {
        pass(200).await;
        ask(&consumer).await.unwrap_err();
    }
    assert!(net.at(A).connects().len() > 5);
    consumer.update([B]).await.unwrap();
    settle().await;
    assert_eq!(net.users(), 3, "the consumer, the link to B and the one remembered");
    consumer.update([A, B]).await.unwrap();
    let added = Instant::now();
    pass(8_000).await;
    assert_eq!(seconds(&net, A, added), [0.0, 1.0, 3.0, 7.0]);
}

#[tokio::test(start_paused = true)]
async fn a_protocol_that_panics_while_connecting_is_a_failed_attempt() {
    let net = Network::new();
    net.at(A).door(Door::Panicking);
    let consumer = alone(&net);
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(error.failure.kind, FailureKind::Network);
    assert!(error.to_string().contains("panicked"), "{error}");
    net.at(A).returns();
    pass(2_000).await;
    assert!(is_up(&consumer, A));
    assert_eq!(ask(&consumer).await.unwrap(), A);
}

#[tokio::test(start_paused = true)]
async fn case_134_a_zone_suffix_makes_no_second_provider() {
    let net = Network::new();
    let (zoned, plain) = ("[2001:db8::1%eth0]:20880", "[2001:db8::1]:20880");
    let consumer = net.consumer([zoned, A]).strategy("consistenthash").build().unwrap();
    let mut owners: Vec<Vec<String>> = Vec::new();
    for list in [[zoned, A], [plain, A], [zoned, A]] {
        consumer.update(list).await.unwrap();
        let mut owner = Vec::new();
        for i in 0..100 {
            owner.push(ask_key(&consumer, &format!("k{i}")).await.unwrap());
        }
        owners.push(owner);
    }
    assert!(owners[0].contains(&plain.to_owned()));
    assert!(owners.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(net.at(plain).connects().len(), 1);
    assert_eq!(net.at(zoned).connects().len(), 0);
    assert_eq!(consumer.report().endpoints.len(), 2);
    assert_eq!(
        of(&consumer, plain).picks,
        owners.concat().iter().filter(|o| *o == plain).count() as u64
    );
}
