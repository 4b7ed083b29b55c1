//! Attempts in flight are counted in and out exactly once, however they end.

use equipoise_client::Consumer;
use equipoise_core::outcome::FailureKind;
use tokio::task::JoinSet;

use crate::common::*;

fn alone(net: &Network, strategy: &str) -> Consumer {
    net.consumer([A]).strategy(strategy).retries(0).build().unwrap()
}

/// With both idle the calls go evenly.
async fn assert_fair(net: &Network, consumer: &Consumer) {
    consumer.update([A, B]).await.unwrap();
    net.at(A).always(answers(1));
    settle().await;
    net.forget();
    ask_all(consumer, 2000).await;
    assert_even(net.at(A).asked(), net.at(B).asked());
}

#[tokio::test(start_paused = true)]
async fn case_034_the_count_is_zero_after_each_call_without_any_limit() {
    fastrand::seed(34);
    let net = Network::new();
    let consumer = alone(&net, "leastactive");
    settle().await;
    for step in [fails(FailureKind::Business, 1), silence()] {
        net.at(A).always(step);
        for _ in 0..100 {
            ask(&consumer).await.unwrap_err();
            assert_eq!(of(&consumer, A).active, 0);
        }
    }
    net.at(A).dies();
    settle().await;
    for _ in 0..100 {
        ask(&consumer).await.unwrap_err();
        assert_eq!(of(&consumer, A).active, 0);
    }
    let a = of(&consumer, A);
    assert_eq!((a.business, a.errors["timeout"], a.success), (100, 100, 0));
    assert!(a.errors["network"] >= 100);
    net.at(A).returns();
    pass(40_000).await;
    assert_fair(&net, &consumer).await;
}

#[tokio::test(start_paused = true)]
async fn case_036_counting_does_not_depend_on_a_limit() {
    let net = Network::new();
    net.at(A).always(silence());
    let builder = net.consumer([A]).strategy("leastactive").retries(0);
    let consumer = builder.timeout(ms(3_600_000)).build().unwrap();
    let mut held = JoinSet::new();
    for _ in 0..3 {
        let consumer = consumer.clone();
        held.spawn(async move { ask(&consumer).await });
    }
    settle().await;
    consumer.update([A, B]).await.unwrap();
    assert_eq!(of(&consumer, A).active, 3, "counts survive a change of the list");
    assert_eq!(ask_all(&consumer, 20).await, [B; 20]);
    assert_eq!((of(&consumer, A).active, of(&consumer, B).active), (3, 0));
    held.abort_all();
    while held.join_next().await.is_some() {}
    assert_eq!(of(&consumer, A).active, 0);
}

#[tokio::test(start_paused = true)]
async fn case_037_dropped_and_panicking_calls_are_counted_out() {
    fastrand::seed(37);
    for strategy in ["leastactive", "adaptive"] {
        let net = Network::new();
        net.at(A).always(answers(1000));
        let builder = net.consumer([A]).strategy(strategy).retries(0);
        let consumer = builder.timeout(ms(3_600_000)).build().unwrap();
        settle().await;
        let mut dropped = JoinSet::new();
        for _ in 0..50 {
            let consumer = consumer.clone();
            dropped.spawn(async move { tokio::time::timeout(ms(10), ask(&consumer)).await });
        }
        pass(5).await;
        assert_eq!(of(&consumer, A).active, 50);
        while let Some(given_up) = dropped.join_next().await {
            assert!(given_up.unwrap().is_err());
        }
        assert_eq!(of(&consumer, A).active, 0);

        let mut handlers = JoinSet::new();
        for _ in 0..50 {
            let consumer = consumer.clone();
            handlers.spawn(async move {
                let call = ask(&consumer);
                tokio::select! {
                    answer = call => panic!("scripted panic of a handler: {answer:?}"),
                    () = pass(5) => panic!("scripted panic while a call is in flight"),
                }
            });
        }
        while let Some(end) = handlers.join_next().await {
            assert!(end.unwrap_err().is_panic());
        }
        let a = of(&consumer, A);
        assert_eq!((a.active, a.cancelled, a.picks), (0, 100, 100), "{strategy}");
        assert_fair(&net, &consumer).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_inside_the_protocol_is_counted_out() {
    let net = Network::new();
    net.at(A).next(panics(0));
    net.at(A).next(panics(5));
    let consumer = alone(&net, "random");
    settle().await;
    for _ in 0..2 {
        let caller = consumer.clone();
        let end = tokio::spawn(async move { ask(&caller).await }).await;
        assert!(end.unwrap_err().is_panic());
        assert_eq!(of(&consumer, A).active, 0);
    }
    assert_eq!(ask(&consumer).await.unwrap(), A);
    assert_eq!((of(&consumer, A).cancelled, of(&consumer, A).success), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn every_end_of_a_call_is_counted_under_its_own_name() {
    for policy in ["failover", "failfast", "forking", "broadcast", "available"] {
        let net = Network::new();
        for step in [
            answers(1),
            fails(FailureKind::Business, 1),
            fails(FailureKind::LimitExceeded, 1),
            silence(),
            fails(FailureKind::Cancelled, 1),
        ] {
            net.at(A).next(step);
        }
        let consumer = net.consumer([A]).policy(policy).retries(0).build().unwrap();
        settle().await;
        let mut ends = Vec::new();
        for _ in 0..5 {
            ends.push(ask(&consumer).await.map_err(|e| e.failure.kind));
            assert_eq!(active(&consumer), 0, "{policy}");
        }
        assert_eq!(ends[0], Ok(A.to_owned()), "{policy}");
        let kinds: Vec<_> = ends[1..].iter().map(|end| end.clone().unwrap_err()).collect();
        let expected = [
            FailureKind::Business,
            FailureKind::LimitExceeded,
            FailureKind::Timeout,
            FailureKind::Cancelled,
        ];
        assert_eq!(kinds, expected, "{policy}");
        let a = of(&consumer, A);
        assert_eq!((a.picks, a.success, a.business, a.cancelled), (5, 1, 1, 1), "{policy}");
        assert_eq!((a.errors["limit"], a.errors["timeout"], a.errors.len()), (1, 1, 2), "{policy}");
        assert_eq!(a.error_rate, 0.5, "{policy}: two of the four that ended");
    }
}

/// A caller that times out gets one error, and nothing of its call is left anywhere.
#[tokio::test(start_paused = true)]
async fn case_151_calls_that_time_out_leave_nothing_pending() {
    let net = Network::new();
    net.at(A).always(answers(60_000));
    let consumer = alone(&net, "leastactive");
    settle().await;
    let mut calls = JoinSet::new();
    for _ in 0..1000 {
        let consumer = consumer.clone();
        calls.spawn(async move { consumer.call("echo").timeout(ms(50)).json::<()>(&()).await });
    }
    let mut errors = 0;
    while let Some(result) = calls.join_next().await {
        assert_eq!(result.unwrap().unwrap_err().failure.kind, FailureKind::Timeout);
        errors += 1;
    }
    assert_eq!((errors, net.at(A).withdrawn()), (1000, 1000));
    assert_eq!((net.at(A).in_flight(), active(&consumer)), (0, 0));
    // The late answers would have come by now.
    pass(60_000).await;
    assert_eq!(of(&consumer, A).errors["timeout"], 1000);
}
