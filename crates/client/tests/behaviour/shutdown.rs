//! Leaving: calls in flight end well, and nothing stays behind of what has gone.

use equipoise_core::outcome::{FailureKind, Sent};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::common::*;

fn alive() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

#[tokio::test(start_paused = true)]
async fn case_150_restarts_leave_nothing_behind() {
    let net = Network::new();
    let consumer = net.consumer([A]).strategy("roundrobin").build().unwrap();
    settle().await;
    let tasks = alive();
    for restart in 1..=1000 {
        net.at(A).cuts();
        let again = format!("{A}?timestamp={restart}");
        consumer.update([again.as_str()]).await.unwrap();
        ask(&consumer).await.unwrap();
        assert!(net.at(A).open() <= 1);
        pass(1_100).await;
    }
    assert_eq!((alive(), net.users()), (tasks, 2), "the consumer and one link");

    for i in 0..1000 {
        let address = format!("10.1.{}.{}:20880", i / 250, i % 250);
        consumer.update([address.as_str()]).await.unwrap();
        assert_eq!(ask(&consumer).await.unwrap(), address);
        assert!(net.open() <= 2, "one more while switching");
        assert!(net.users() <= 4);
    }
    settle().await;
    assert_eq!((alive(), net.users(), net.open()), (tasks, 2, 1));
    assert_eq!(consumer.report().endpoints.len(), 1);
    assert!(consumer.report().methods.iter().all(|m| m.endpoints.len() == 1));
}

#[tokio::test(start_paused = true)]
async fn case_152_consumers_that_come_and_go_leave_no_task_and_no_object() {
    let (net, before) = (Network::new(), alive());
    for i in 0..10_000 {
        let consumer = net
            .consumer([A])
            .group(format!("g{}", i % 7))
            .strategy("consistenthash")
            .set("hash.nodes", "4")
            .build()
            .unwrap();
        assert_eq!(ask(&consumer).await.unwrap(), A);
        drop(consumer);
        if i % 100 == 0 {
            settle().await;
            assert_eq!((alive(), net.users(), net.open()), (before, 0, 0), "after {i}");
        }
    }
    settle().await;
    assert_eq!((alive(), net.users(), net.open()), (before, 0, 0));
    assert_eq!(net.seen().len(), 10_000);
}

#[tokio::test(start_paused = true)]
async fn case_154_calls_in_flight_end_well_when_their_provider_leaves_the_list() {
    let net = Network::new();
    net.at(A).always(answers(500));
    let consumer = net.consumer([A]).build().unwrap();
    settle().await;
    let started = Instant::now();
    let mut calls = JoinSet::new();
    for _ in 0..10 {
        let consumer = consumer.clone();
        calls.spawn(async move { ask(&consumer).await });
    }
    pass(100).await;
    consumer.update([B]).await.unwrap();
    assert_eq!(ask_all(&consumer, 20).await, [B; 20], "no new call to it");
    assert_eq!(net.at(A).open(), 1, "still answering");
    while let Some(end) = calls.join_next().await {
        assert_eq!(end.unwrap().unwrap(), A);
    }
    assert_eq!(started.elapsed(), ms(500));
    assert_eq!((net.at(A).open(), net.at(A).asked()), (0, 10), "closed once it was empty");
    settle().await;
    assert_eq!((net.users(), net.abandoned()), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn calls_in_flight_end_well_when_the_consumer_is_dropped() {
    let (net, before) = (Network::new(), alive());
    net.at(A).always(answers(500));
    let consumer = net.consumer([A]).build().unwrap();
    settle().await;
    let mut calls = JoinSet::new();
    for _ in 0..10 {
        let call = consumer.call("echo");
        calls.spawn(async move { call.json::<String>(&["x"]).await });
    }
    pass(100).await;
    drop(consumer);
    while let Some(end) = calls.join_next().await {
        assert_eq!(end.unwrap().unwrap(), A);
    }
    settle().await;
    assert_eq!((alive(), net.users(), net.open()), (before, 0, 0));
    assert_eq!(net.abandoned(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_made_after_its_consumer_is_gone_fails_and_does_not_hang() {
    let net = Network::new();
    let consumer = net.consumer([A]).retries(0).build().unwrap();
    settle().await;
    let call = consumer.call("echo");
    drop(consumer);
    settle().await;
    let started = Instant::now();
    let error = call.json::<String>(&["x"]).await.unwrap_err();
    assert_eq!(error.failure.sent, Sent::No);
    assert_eq!((started.elapsed(), net.seen().len()), (ms(0), 0));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_a_connection_is_told_that_nobody_wants_it_any_more() {
    let net = Network::new();
    net.at(A).door(Door::Silent);
    let consumer = net.consumer([A]).retries(0).build().unwrap();
    let started = Instant::now();
    let moved = async {
        pass(50).await;
        consumer.update([B]).await.unwrap();
    };
    let (result, ()) = tokio::join!(ask(&consumer), moved);
    assert_eq!(result.unwrap(), B, "moved: it was not sent");
    assert!(started.elapsed() < ms(100));

    let call = tokio::spawn(
        net.consumer([A]).retries(0).build().unwrap().call("echo").json::<String>(&["x"]),
    );
    let error = call.await.unwrap().unwrap_err();
    assert_eq!((error.failure.kind, error.failure.sent), (FailureKind::Network, Sent::No));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_comes_back_while_a_call_is_open_is_the_same_one() {
    let net = Network::new();
    net.at(A).always(answers(500));
    let consumer = net.consumer([A]).build().unwrap();
    settle().await;
    let held = tokio::spawn({
        let consumer = consumer.clone();
        async move { ask(&consumer).await }
    });
    pass(50).await;
    consumer.update([B]).await.unwrap();
    settle().await;
    consumer.update([A, B]).await.unwrap();
    assert_eq!(of(&consumer, A).active, 1, "its count has survived");
    net.at(A).always(answers(1));
    assert_eq!(net.at(A).connects().len(), 2, "the old connection is closing");
    held.await.unwrap().unwrap();
    assert_eq!(net.at(A).open(), 1);
    assert_eq!((of(&consumer, A).active, of(&consumer, A).success), (0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn case_155_an_override_between_pick_and_call_fails_nobody() {
    let net = Network::new();
    for address in [A, B] {
        net.at(address).always(answers(0));
    }
    let builder = net.consumer([A, B]).strategy("roundrobin").retries(0);
    let consumer = builder.timeout(ms(3_600_000)).build().unwrap();
    let mut callers = JoinSet::new();
    for _ in 0..8 {
        let consumer = consumer.clone();
        callers.spawn(async move { ask_all(&consumer, 2_000).await.len() });
    }
    for flip in 0.. {
        consumer.set("weight", if flip % 2 == 0 { "50" } else { "100" }).await.unwrap();
        while let Some(end) = callers.try_join_next() {
            assert_eq!(end.unwrap(), 2_000);
        }
        if callers.is_empty() {
            break;
        }
    }
    assert!(consumer.generation() > 1);
    assert_eq!((active(&consumer), net.open()), (0, 2));
}

#[tokio::test(start_paused = true)]
async fn case_156_a_call_that_was_not_sent_is_moved_free_of_charge() {
    for policy in ["failover", "failfast", "failsafe", "failback", "available"] {
        let net = Network::new();
        let consumer =
            net.consumer([A, B]).policy(policy).strategy("roundrobin").retries(0).build().unwrap();
        settle().await;
        for _ in 0..100 {
            net.at(A).next(goes_away());
            while !is_up(&consumer, A) {
                pass(1000).await;
            }
            let who = ask(&consumer).await.unwrap();
            assert!(!who.is_empty(), "{policy}");
        }
        assert_eq!(net.seen().len(), 100, "{policy}");
        assert!(net.at(A).connects().len() > 10, "{policy}: A went away now and then");
        assert_eq!(active(&consumer), 0, "{policy}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lone_provider_that_renews_its_connections_fails_nobody() {
    let net = Network::new();
    net.at(A).door(Door::Slow(5));
    let consumer = net.consumer([A]).policy("failfast").build().unwrap();
    for round in 0..100 {
        pass(2000).await;
        match round % 2 {
            0 => net.at(A).announces(),
            _ => net.at(A).next(goes_away()),
        }
        ask(&consumer).await.unwrap();
    }
    assert_eq!((net.at(A).connects().len(), net.at(A).asked()), (101, 100));
}

#[tokio::test(start_paused = true)]
async fn case_156_a_call_that_was_sent_is_not_moved() {
    let net = Network::new();
    net.at(A).always(fails(FailureKind::Network, 5));
    let consumer = net.consumer([A, B]).policy("available").build().unwrap();
    settle().await;
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!((net.asked(), error.made), (vec![A.to_owned()], 1));
}

#[tokio::test(start_paused = true)]
async fn a_call_is_moved_once_and_not_for_ever() {
    let net = Network::new();
    for address in [A, B, C] {
        net.at(address).door(Door::Refusing);
    }
    let consumer = net.consumer([A, B, C]).policy("failfast").build().unwrap();
    settle().await;
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(error.addresses().len(), 2);
    assert_eq!(error.made, 2);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_announces_its_end_gets_no_new_call_and_answers_the_old_ones() {
    let net = Network::new();
    net.at(A).always(answers(300));
    let consumer = net.consumer([A, B]).strategy("roundrobin").retries(0).build().unwrap();
    settle().await;
    let held = tokio::spawn({
        let consumer = consumer.clone();
        async move { ask(&consumer).await }
    });
    pass(10).await;
    net.at(A).door(Door::Refusing);
    net.at(A).announces();
    assert_eq!(ask_all(&consumer, 20).await, [B; 20], "from this very moment");
    assert_eq!(held.await.unwrap().unwrap(), A);
    assert_eq!((net.at(A).open(), net.at(A).asked()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_fails_its_calls_at_once() {
    let net = Network::new();
    net.at(A).always(silence());
    let builder = net.consumer([A]).retries(0);
    let consumer = builder.timeout(ms(60_000)).build().unwrap();
    settle().await;
    let cut = async {
        pass(100).await;
        net.at(A).cuts();
    };
    let started = Instant::now();
    let (result, ()) = tokio::join!(ask(&consumer), cut);
    assert_eq!(result.unwrap_err().failure.kind, FailureKind::Network);
    assert_eq!((started.elapsed(), active(&consumer)), (ms(100), 0));
}
