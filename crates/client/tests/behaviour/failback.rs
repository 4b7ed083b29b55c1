//! `failback` and `failsafe`: an empty result at once; `failback` tries again in the background.

use equipoise_client::Consumer;
use equipoise_core::outcome::FailureKind;
use tokio::time::Instant;

use crate::common::*;

fn failback(net: &Network, list: &[&str], retries: &str) -> Consumer {
    let builder = net.consumer(list.iter().copied()).policy("failback");
    builder.set("retries", retries).build().unwrap()
}

fn alive() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

// E 4.3.7, E 4.3.8
#[tokio::test(start_paused = true)]
async fn case_094_background_runs_are_five_seconds_apart_and_as_many_as_retries() {
    for (retries, expected) in [("0", 0), ("1", 1), ("-1", 3), ("", 3), ("5", 5)] {
        let net = Network::new();
        net.at(A).always(fails(FailureKind::NoAnswer, 0));
        let consumer = failback(&net, &[A], retries);
        settle().await;
        let started = Instant::now();
        assert_eq!(ask(&consumer).await.unwrap(), "", "an empty result at once");
        assert_eq!(started.elapsed(), ms(0));
        assert_eq!(consumer.pending_background(), usize::from(expected > 0));
        pass(60_000).await;
        let after: Vec<_> = net.seen().iter().map(|s| (s.at - started).as_secs()).collect();
        let due: Vec<u64> = (0..=expected).map(|run| 5 * run).collect();
        assert_eq!(after, due, "retries = {retries:?}");
        assert_eq!(consumer.pending_background(), 0);
        assert_eq!(active(&consumer), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_success_ends_the_runs() {
    let net = Network::new();
    net.at(A).next(fails(FailureKind::NoAnswer, 0));
    net.at(A).next(fails(FailureKind::NoAnswer, 0));
    let consumer = failback(&net, &[A], "");
    assert_eq!(ask(&consumer).await.unwrap(), "");
    pass(60_000).await;
    assert_eq!(net.at(A).asked(), 3);
    assert_eq!(consumer.pending_background(), 0);
}

// E 4.3.9
#[tokio::test(start_paused = true)]
async fn case_095_pending_runs_are_bounded() {
    let net = Network::new();
    net.at(A).always(fails(FailureKind::NoAnswer, 0));
    for (tasks, bound) in [("100", 100), ("", 100), ("7", 7)] {
        let builder = net.consumer([A]).policy("failback").set("failbacktasks", tasks);
        let consumer = builder.build().unwrap();
        settle().await;
        let (before, started) = (alive(), Instant::now());
        net.forget();
        for _ in 0..2000 {
            assert_eq!(ask(&consumer).await.unwrap(), "");
        }
        assert_eq!(started.elapsed(), ms(0), "within no time at all");
        assert_eq!(consumer.pending_background(), bound);
        assert!(alive() <= before + bound);
        pass(60_000).await;
        assert_eq!(net.seen().len(), 2000 + 3 * bound);
        assert_eq!(consumer.pending_background(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_avoids_the_last_provider_and_sees_the_newest_list() {
    let net = Network::new();
    for address in [A, B] {
        net.at(address).always(fails(FailureKind::NoAnswer, 0));
    }
    let consumer = failback(&net, &[A, B], "3");
    ask(&consumer).await.unwrap();
    pass(16_000).await;
    let asked = net.asked();
    assert_eq!(asked.len(), 4);
    assert!(asked.windows(2).all(|pair| pair[0] != pair[1]), "{asked:?}");

    net.forget();
    ask(&consumer).await.unwrap();
    consumer.update([D]).await.unwrap();
    pass(60_000).await;
    assert_eq!(net.asked()[1..], [D]);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_finds_nobody_counts_and_the_next_may_find_somebody() {
    let net = Network::new();
    net.at(A).always(fails(FailureKind::NoAnswer, 0));
    let consumer = failback(&net, &[A], "3");
    ask(&consumer).await.unwrap();
    consumer.update(Vec::<String>::new()).await.unwrap();
    pass(7_000).await;
    assert_eq!(consumer.pending_background(), 1);
    consumer.update([B]).await.unwrap();
    pass(60_000).await;
    assert_eq!(net.asked(), [A, B]);
}

#[tokio::test(start_paused = true)]
async fn runs_end_with_the_consumer() {
    let before = alive();
    let net = Network::new();
    net.at(A).always(fails(FailureKind::NoAnswer, 0));
    let consumer = failback(&net, &[A], "3");
    for _ in 0..10 {
        ask(&consumer).await.unwrap();
    }
    assert_eq!(consumer.pending_background(), 10);
    drop(consumer);
    settle().await;
    assert_eq!((alive(), net.users(), net.open()), (before, 0, 0));
    pass(60_000).await;
    assert_eq!(net.seen().len(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_outlives_its_consumer_schedules_nothing() {
    let before = alive();
    let net = Network::new();
    net.at(A).always(fails(FailureKind::NoAnswer, 100));
    let consumer = failback(&net, &[A], "3");
    settle().await;
    let call = tokio::spawn(consumer.call("echo").json::<Option<String>>(&["x"]));
    pass(10).await;
    drop(consumer);
    assert_eq!(call.await.unwrap().unwrap(), None);
    settle().await;
    assert_eq!((alive(), net.users(), net.open()), (before, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn what_is_the_callers_own_fault_is_not_swallowed() {
    for policy in ["failback", "failsafe"] {
        let net = Network::new();
        net.at(A).always(fails(FailureKind::Business, 1));
        let consumer = net.consumer([A]).policy(policy).build().unwrap();
        let error = ask(&consumer).await.unwrap_err();
        assert_eq!(error.failure.kind, FailureKind::Business, "{policy}");

        let keyed = net.consumer([A]).policy(policy).strategy("consistenthash").build().unwrap();
        let error = keyed.call("echo").typed::<String>(&"x".to_owned()).await.unwrap_err();
        assert_eq!(error.failure.kind, FailureKind::Invalid, "{policy}");

        // As in Dubbo, where the list is checked before the policy is asked.
        let nobody = net.consumer([]).policy(policy).build().unwrap();
        let error = ask(&nobody).await.unwrap_err();
        assert_eq!(error.failure.kind, FailureKind::NoProvider, "{policy}");

        pass(60_000).await;
        assert_eq!(net.seen().len(), 1, "{policy}");
    }
}

#[tokio::test(start_paused = true)]
async fn failsafe_swallows_and_tries_nothing_again() {
    let net = Network::new();
    for address in [A, B] {
        net.at(address).always(fails(FailureKind::Network, 1));
    }
    let consumer = net.consumer([A, B]).policy("failsafe").retries(5).build().unwrap();
    assert_eq!(ask(&consumer).await.unwrap(), "");
    let typed = consumer.call("echo").typed::<String>(&"x".to_owned()).await.unwrap();
    assert_eq!(typed, "", "an empty message");
    pass(60_000).await;
    assert_eq!(net.seen().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_panics_leaves_no_count_and_no_task() {
    let net = Network::new();
    net.at(A).next(fails(FailureKind::NoAnswer, 0));
    net.at(A).next(panics(1));
    let consumer = failback(&net, &[A], "3");
    ask(&consumer).await.unwrap();
    pass(60_000).await;
    assert_eq!(net.at(A).asked(), 2);
    assert_eq!((consumer.pending_background(), active(&consumer)), (0, 0));
    assert_eq!(ask(&consumer).await.unwrap(), A, "the consumer is as good as before");
}
