//! `forking`: several attempts at once, the first answer counts.

use std::collections::BTreeSet;

use equipoise_client::Consumer;
use equipoise_core::outcome::FailureKind;
use tokio::time::Instant;

use crate::common::*;

fn forking(net: &Network, forks: &str, timeout_ms: u64) -> Consumer {
    let builder = net.consumer([A, B, C]).policy("forking").set("forks", forks);
    builder.timeout(ms(timeout_ms)).build().unwrap()
}

// E 4.3.10
#[tokio::test(start_paused = true)]
async fn the_forks_are_different_providers() {
    let net = Network::new();
    let consumer = forking(&net, "2", 1000);
    for _ in 0..50 {
        net.forget();
        ask(&consumer).await.unwrap();
        assert_eq!(BTreeSet::from_iter(net.asked()).len(), 2);
        assert_eq!(net.seen().len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_number_or_with_too_many_everybody_is_asked() {
    for forks in ["0", "-1", "3", "9"] {
        let net = Network::new();
        ask(&forking(&net, forks, 1000)).await.unwrap();
        assert_eq!(BTreeSet::from_iter(net.asked()).len(), 3, "forks = {forks}");
        assert_eq!(net.seen().len(), 3, "forks = {forks}");
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_gets_two_forks_when_one_has_just_gone_down() {
    let net = Network::new();
    let consumer = forking(&net, "3", 1000);
    ask(&consumer).await.unwrap();
    settle().await;
    // Right after a new view the next one has to wait: the loss of B is known, the view is old.
    consumer.update([A, B, C]).await.unwrap();
    net.at(B).dies();
    while is_up(&consumer, B) {
        tokio::task::yield_now().await;
    }
    let before = consumer.generation();
    net.forget();
    ask(&consumer).await.unwrap();
    let mut asked = net.asked();
    asked.sort();
    assert_eq!(asked, [A, C]);
    assert_eq!(consumer.generation(), before, "the view was still the old one");
}

// E 4.3.11
#[tokio::test(start_paused = true)]
async fn a_later_success_wins_over_an_early_failure() {
    let net = Network::new();
    net.at(A).always(fails(FailureKind::Network, 1));
    net.at(B).always(answers(50));
    let consumer = net.consumer([A, B]).policy("forking").build().unwrap();
    settle().await;
    let started = Instant::now();
    assert_eq!(ask(&consumer).await.unwrap(), B);
    assert_eq!(started.elapsed(), ms(50));
}

// E 4.3.12
#[tokio::test(start_paused = true)]
async fn when_all_fail_the_error_is_that_of_the_last() {
    let net = Network::new();
    net.at(A).always(fails(FailureKind::NoAnswer, 30));
    net.at(B).always(fails(FailureKind::LimitExceeded, 10));
    let consumer = net.consumer([A, B]).policy("forking").build().unwrap();
    settle().await;
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(error.failure.kind, FailureKind::NoAnswer);
    assert_eq!(error.addresses(), [B, A], "all causes, in the order they came");
}

#[tokio::test(start_paused = true)]
async fn a_business_error_ends_only_its_own_branch() {
    let net = Network::new();
    net.at(A).always(fails(FailureKind::Business, 1));
    net.at(B).always(answers(50));
    let consumer = net.consumer([A, B]).policy("forking").build().unwrap();
    assert_eq!(ask(&consumer).await.unwrap(), B);
}

#[tokio::test(start_paused = true)]
async fn case_090_when_time_is_up_there_is_a_timeout_error() {
    let net = Network::new();
    for address in [A, B, C] {
        net.at(address).always(silence());
    }
    let consumer = forking(&net, "2", 100);
    settle().await;
    let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let started = Instant::now();
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(started.elapsed(), ms(100));
    assert_eq!(error.failure.kind, FailureKind::Timeout);
    assert_eq!(error.addresses().len(), 2);
    assert_eq!(active(&consumer), 0);
    assert_eq!(tokio::runtime::Handle::current().metrics().num_alive_tasks(), tasks);
}

#[tokio::test(start_paused = true)]
async fn case_091_quick_failures_do_not_hide_a_later_success() {
    let net = Network::new();
    net.at(A).always(fails(FailureKind::Network, 5));
    net.at(B).always(fails(FailureKind::NoAnswer, 10));
    net.at(C).always(answers(50));
    let consumer = forking(&net, "3", 1000);
    settle().await;
    let started = Instant::now();
    assert_eq!(ask(&consumer).await.unwrap(), C);
    assert_eq!(started.elapsed(), ms(50));

    net.at(C).always(fails(FailureKind::LimitExceeded, 50));
    let started = Instant::now();
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(started.elapsed(), ms(50), "only when all have failed");
    assert_eq!(error.failure.kind, FailureKind::LimitExceeded);
    assert_eq!(error.addresses(), [A, B, C]);
}

#[tokio::test(start_paused = true)]
async fn case_092_losers_are_withdrawn_and_counted_out() {
    let net = Network::new();
    net.at(A).always(answers(10));
    for address in [B, C] {
        net.at(address).always(answers(5000));
    }
    let consumer = forking(&net, "3", 10_000);
    settle().await;
    assert_eq!(ask(&consumer).await.unwrap(), A);
    pass(40).await;
    for address in [B, C] {
        assert_eq!((net.at(address).in_flight(), net.at(address).withdrawn()), (0, 1));
        assert_eq!((of(&consumer, address).active, of(&consumer, address).cancelled), (0, 1));
    }

    let dropped = tokio::time::timeout(ms(5), ask(&consumer)).await;
    assert!(dropped.is_err());
    assert_eq!(active(&consumer), 0);
    for address in [A, B, C] {
        assert_eq!(net.at(address).in_flight(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn the_deadline_bounds_all_branches() {
    let net = Network::new();
    for address in [A, B, C] {
        net.at(address).always(silence());
    }
    let consumer = forking(&net, "3", 1000);
    let started = Instant::now();
    let call = consumer.call("echo").deadline(ms(70));
    let error = call.json::<String>(&["x"]).await.unwrap_err();
    assert_eq!(started.elapsed(), ms(70));
    assert_eq!(error.failure.kind, FailureKind::Timeout);
}

#[tokio::test(start_paused = true)]
async fn a_branch_that_was_not_sent_is_moved_to_somebody_else() {
    let net = Network::new();
    net.at(A).next(goes_away());
    net.at(B).always(fails(FailureKind::NoAnswer, 1));
    let consumer = net
        .consumer([A, B, C])
        .policy("forking")
        .strategy("roundrobin")
        .set("forks", "2")
        .build()
        .unwrap();
    settle().await;
    assert_eq!(ask(&consumer).await.unwrap(), C);
    assert_eq!(net.asked(), [B, C]);
}

#[tokio::test(start_paused = true)]
async fn with_nobody_listed_it_says_so() {
    let net = Network::new();
    let consumer = net.consumer([]).policy("forking").build().unwrap();
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(error.failure.kind, FailureKind::NoProvider);
    assert_eq!(error.attempts.len(), 1);
}
