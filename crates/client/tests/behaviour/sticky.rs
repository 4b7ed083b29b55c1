//! `sticky`: calls keep to one provider while it is available.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use equipoise_client::{Backoff, Consumer};
use equipoise_core::outcome::FailureKind;
use tokio::time::Instant;

use crate::common::*;

/// Round robin would rotate: what stays is the work of `sticky`.
fn sticky(net: &Network, list: &[&str]) -> Consumer {
    let builder = net.consumer(list.iter().copied()).strategy("roundrobin");
    builder.sticky(true).build().unwrap()
}

// E 4.1.1
#[tokio::test(start_paused = true)]
async fn calls_stay_with_the_first_choice_of_the_strategy() {
    let net = Network::new();
    let all = ask_all(&sticky(&net, &[A, B]), 11).await;
    assert_eq!(BTreeSet::from_iter(all).len(), 1);
    let plain = net.consumer([A, B]).strategy("roundrobin").build().unwrap();
    assert_eq!(ask_all(&plain, 4).await, [A, B, A, B]);
}

// E 4.1.2
#[tokio::test(start_paused = true)]
async fn case_076_an_outage_moves_the_calls_and_a_return_does_not_move_them_back() {
    let net = Network::new();
    let backoff = Backoff { jitter: 0.0, ..Backoff::default() };
    let builder = net.consumer([A, B]).strategy("roundrobin").sticky(true);
    let consumer = builder.backoff(backoff).build().unwrap();
    assert_eq!(ask_all(&consumer, 5).await, [A; 5]);
    pass(1000).await;
    net.at(A).dies();
    settle().await;
    assert_eq!(ask_all(&consumer, 5).await, [B; 5]);
    pass(2000).await;
    net.at(A).returns();
    assert_eq!(ask_all(&consumer, 5).await, [B; 5]);
    pass(1000).await;
    assert!(is_up(&consumer, A), "its link has come back on its own");
    assert_eq!(ask_all(&consumer, 5).await, [B; 5], "no jump back");
    consumer.update([A]).await.unwrap();
    assert_eq!(ask_all(&consumer, 5).await, [A; 5]);
}

#[tokio::test(start_paused = true)]
async fn the_loss_of_the_remembered_one_is_respected_before_the_next_view_is_built() {
    let net = Network::new();
    let consumer = sticky(&net, &[A, B]);
    assert_eq!(ask(&consumer).await.unwrap(), A);
    settle().await;
    consumer.update([A, B]).await.unwrap();
    net.at(A).door(Door::Silent);
    net.at(A).cuts();
    while is_up(&consumer, A) {
        tokio::task::yield_now().await;
    }
    let (before, started) = (consumer.generation(), Instant::now());
    assert_eq!(ask(&consumer).await.unwrap(), B);
    assert_eq!((consumer.generation(), started.elapsed()), (before, ms(1)), "no wait for A");
}

// E 4.1.3
#[tokio::test(start_paused = true)]
async fn a_retry_leaves_the_remembered_one_and_remembers_the_next() {
    let net = Network::new();
    let consumer = sticky(&net, &[A, B]);
    assert_eq!(ask(&consumer).await.unwrap(), A);
    net.at(A).next(fails(FailureKind::NoAnswer, 1));
    assert_eq!(ask(&consumer).await.unwrap(), B);
    assert_eq!(ask_all(&consumer, 5).await, [B; 5]);
}

// E 4.1.4, amended: it works without the check of availability too.
#[tokio::test(start_paused = true)]
async fn it_does_not_depend_on_the_availability_check_of_dubbo() {
    let net = Network::new();
    let consumer = net
        .consumer([A, B])
        .strategy("roundrobin")
        .sticky(true)
        .set("cluster.availablecheck", "false")
        .build()
        .unwrap();
    assert_eq!(ask_all(&consumer, 10).await, [A; 10]);
}

#[tokio::test(start_paused = true)]
async fn one_that_has_left_is_not_kept_alive_for_long() {
    let net = Network::new();
    let consumer = sticky(&net, &[A, B]);
    ask(&consumer).await.unwrap();
    consumer.update([B]).await.unwrap();
    assert_eq!(ask(&consumer).await.unwrap(), B);
    settle().await;
    assert_eq!((net.users(), net.open()), (2, 1), "the consumer and the link to B");
}

#[tokio::test(start_paused = true)]
async fn one_provider_is_remembered_for_all_methods() {
    let net = Network::new();
    let consumer = sticky(&net, &[A, B, C]);
    assert_eq!(ask(&consumer).await.unwrap(), A);
    for method in ["one", "two", "three"] {
        let who: String = consumer.call(method).json(&["x"]).await.unwrap();
        assert_eq!(who, A, "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_method_can_be_sticky_alone_and_providers_can_ask_for_it() {
    let net = Network::new();
    let consumer = net
        .consumer([A, B])
        .strategy("roundrobin")
        .method("echo", |m| m.set("sticky", "true"))
        .build()
        .unwrap();
    assert_eq!(ask_all(&consumer, 4).await, [A; 4]);
    let mut others = Vec::new();
    for _ in 0..4 {
        others.push(consumer.call("other").json::<String>(&["x"]).await.unwrap());
    }
    assert_eq!(others, [A, B, A, B]);

    let list = [format!("{A}?sticky=true"), format!("{B}?sticky=true")];
    let by_providers =
        net.consumer(list.iter().map(String::as_str)).strategy("roundrobin").build().unwrap();
    assert_eq!(ask_all(&by_providers, 4).await, [A; 4]);
}

#[tokio::test(start_paused = true)]
async fn every_strategy_is_sticky() {
    for strategy in equipoise_core::balance::STRATEGIES {
        let net = Network::new();
        let name = strategy.about().name;
        let consumer = net.consumer([A, B, C]).strategy(name).sticky(true).build().unwrap();
        let first = ask_key(&consumer, "k0").await.unwrap();
        for i in 1..20 {
            assert_eq!(ask_key(&consumer, &format!("k{i}")).await.unwrap(), first, "{name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn case_075_many_tasks_keep_to_one_provider_while_the_list_is_replaced() {
    let net = Network::new();
    for address in [A, B, C] {
        net.at(address).always(answers(0));
    }
    let consumer = net
        .consumer([A, B, C])
        .strategy("roundrobin")
        .sticky(true)
        .timeout(ms(3_600_000))
        .build()
        .unwrap();
    let first = ask(&consumer).await.unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let churn = tokio::spawn({
        let (consumer, done) = (consumer.clone(), done.clone());
        async move {
            let mut views = 0;
            while !done.load(SeqCst) {
                consumer.update([A, B, C]).await.unwrap();
                views += 1;
            }
            views
        }
    });
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..32 {
        let consumer = consumer.clone();
        callers.spawn(async move { BTreeSet::from_iter(ask_all(&consumer, 1000).await) });
    }
    while let Some(answered) = callers.join_next().await {
        assert_eq!(answered.unwrap(), BTreeSet::from([first.clone()]));
    }
    done.store(true, SeqCst);
    assert!(churn.await.unwrap() > 0);
    assert_eq!(active(&consumer), 0);
}
