//! Time: `timeout` bounds one attempt, `deadline` all of them, and a call whose time is up asks
//! nobody.

use std::time::Duration;

use equipoise_core::outcome::{FailureKind, Sent};
use tokio::time::Instant;

use crate::common::*;

fn timeouts(net: &Network) -> Vec<Duration> {
    net.seen().iter().map(|s| s.timeout.expect("every attempt has one")).collect()
}

#[tokio::test(start_paused = true)]
async fn the_deadline_bounds_all_attempts_together() {
    let net = Network::new();
    for address in [A, B, C] {
        net.at(address).always(silence());
    }
    let consumer = net.consumer([A, B, C]).retries(9).deadline(ms(2500)).build().unwrap();
    settle().await;
    let started = Instant::now();
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(started.elapsed(), ms(2500));
    assert_eq!(timeouts(&net), [ms(1000), ms(1000), ms(500)]);
    assert_eq!(error.failure.kind, FailureKind::Timeout);
    let kinds: Vec<_> = error.attempts.iter().map(|a| a.failure.kind).collect();
    use FailureKind::{Deadline, Timeout};
    assert_eq!(kinds, [Timeout, Timeout, Timeout, Deadline], "nobody was asked after it");
}

#[tokio::test(start_paused = true)]
async fn the_calls_own_times_win_over_the_configured_ones() {
    let net = Network::new();
    for address in [A, B] {
        net.at(address).always(silence());
    }
    let consumer =
        net.consumer([A, B]).timeout(ms(300)).deadline(ms(10_000)).retries(1).build().unwrap();
    settle().await;
    let call = consumer.call("echo").timeout(ms(70)).deadline(ms(100));
    let started = Instant::now();
    call.json::<String>(&["x"]).await.unwrap_err();
    assert_eq!(started.elapsed(), ms(100));
    assert_eq!(timeouts(&net), [ms(70), ms(30)]);
    net.forget();
    ask(&consumer).await.unwrap_err();
    assert_eq!(timeouts(&net), [ms(300), ms(300)]);
}

#[tokio::test(start_paused = true)]
async fn every_attempt_has_the_timeout_of_its_own_provider() {
    let net = Network::new();
    for address in [A, B, C] {
        net.at(address).always(silence());
    }
    let list =
        [format!("{A}?timeout=100"), format!("{B}?echo.timeout=200&timeout=9"), C.to_owned()];
    let consumer =
        net.consumer(list.iter().map(String::as_str)).strategy("roundrobin").build().unwrap();
    settle().await;
    ask(&consumer).await.unwrap_err();
    assert_eq!(net.asked(), [A, B, C]);
    assert_eq!(timeouts(&net), [ms(100), ms(200), ms(1000)]);
}

#[tokio::test(start_paused = true)]
async fn case_186_an_inner_call_has_what_is_left_of_the_outer_one() {
    let net = Network::new();
    net.at(C).always(silence());
    let consumer = net.consumer([C]).timeout(ms(6000)).retries(0).build().unwrap();
    settle().await;
    // The outer budget is an instant: 3000 ms, of which 1400 have been worked.
    let outer = Instant::now() + ms(3000);
    pass(1400).await;
    let call = consumer.call("echo").deadline(outer - Instant::now());
    let error = call.json::<String>(&["x"]).await.unwrap_err();
    assert_eq!(timeouts(&net), [ms(1600)]);
    assert_eq!(Instant::now(), outer);
    assert_eq!(error.failure.kind, FailureKind::Timeout);
    assert_eq!((active(&consumer), net.at(C).in_flight()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn case_187_each_call_is_given_what_is_left_then_and_others_have_their_own() {
    let net = Network::new();
    net.at(C).always(answers(700));
    let consumer = net.consumer([C]).timeout(ms(6000)).retries(0).build().unwrap();
    settle().await;
    let outer = Instant::now() + ms(2000);
    for _ in 0..2 {
        let call = consumer.call("echo").deadline(outer - Instant::now());
        call.json::<String>(&["x"]).await.unwrap();
    }
    let own = net.consumer([C]).retries(0).build().unwrap();
    ask(&own).await.unwrap();
    assert_eq!(timeouts(&net), [ms(2000), ms(1300), ms(1000)], "nothing of the old call is left");
}

#[tokio::test(start_paused = true)]
async fn case_188_with_nothing_left_nobody_is_asked() {
    for policy in ["failover", "failfast", "forking", "broadcast", "available"] {
        let net = Network::new();
        let consumer = net.consumer([A, B]).policy(policy).build().unwrap();
        settle().await;
        let outer = Instant::now() + ms(1000);
        pass(1200).await;
        let left = outer.saturating_duration_since(Instant::now());
        let started = Instant::now();
        let call = consumer.call("echo").deadline(left);
        let error = call.json::<String>(&["x"]).await.unwrap_err();
        assert_eq!(started.elapsed(), ms(0), "{policy}");
        assert_eq!(error.failure.kind, FailureKind::Deadline, "{policy}");
        assert_eq!((net.seen().len(), error.made), (0, 0), "{policy}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_of_nothing_is_no_time_and_not_endless_time() {
    let net = Network::new();
    let consumer = net.consumer([A]).retries(0).build().unwrap();
    settle().await;
    let call = consumer.call("echo").timeout(Duration::ZERO);
    let error = call.json::<String>(&["x"]).await.unwrap_err();
    assert_eq!((error.failure.kind, error.failure.sent), (FailureKind::Timeout, Sent::No));
    assert_eq!(net.seen().len(), 0);
    assert_eq!(active(&consumer), 0);
}

#[tokio::test(start_paused = true)]
async fn a_place_that_comes_free_with_no_time_left_is_not_used() {
    let net = Network::new();
    net.at(A).always(answers(100));
    let consumer = net.consumer([A]).set("actives", "1").retries(0).build().unwrap();
    settle().await;
    let call = consumer.call("echo").timeout(ms(100));
    let (first, second) = tokio::join!(ask(&consumer), call.json::<String>(&["x"]));
    first.unwrap();
    let kind = second.unwrap_err().failure.kind;
    assert!(matches!(kind, FailureKind::LimitExceeded | FailureKind::Timeout), "{kind}");
    assert_eq!((net.seen().len(), active(&consumer)), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn times_beyond_every_clock_are_as_good_as_none() {
    let net = Network::new();
    let consumer = net.consumer([A]).set("actives", "1").build().unwrap();
    let call = consumer.call("echo").timeout(Duration::MAX).deadline(Duration::MAX);
    assert_eq!(call.json::<String>(&["x"]).await.unwrap(), A);
    let most = format!("{}ms", i64::MAX);
    let consumer =
        net.consumer([A]).set("timeout", most.as_str()).set("deadline", most.as_str()).build();
    assert_eq!(ask(&consumer.unwrap()).await.unwrap(), A);
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_connection_is_part_of_the_attempt() {
    let net = Network::new();
    net.at(A).door(Door::Slow(400));
    net.at(A).always(silence());
    let consumer = net.consumer([A]).retries(0).build().unwrap();
    let started = Instant::now();
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(started.elapsed(), ms(1000));
    assert_eq!(error.failure.kind, FailureKind::Timeout);
    // What the provider is told is what is left when the request is written.
    assert_eq!(timeouts(&net), [ms(600)]);

    let net = Network::new();
    net.at(A).door(Door::Silent);
    let consumer = net.consumer([A]).retries(0).build().unwrap();
    let started = Instant::now();
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(started.elapsed(), ms(1000));
    assert_eq!((error.failure.kind, error.failure.sent), (FailureKind::Timeout, Sent::No));
    assert_eq!((net.seen().len(), active(&consumer)), (0, 0));
}
