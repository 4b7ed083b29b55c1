//! Filter first, pick once: unavailable and tried providers are no candidates.

use std::collections::BTreeSet;

use equipoise_core::balance::STRATEGIES;
use equipoise_core::outcome::FailureKind;

use crate::common::*;

fn names() -> impl Iterator<Item = &'static str> {
    STRATEGIES.iter().map(|s| s.about().name)
}

// E 4.2.1
#[tokio::test(start_paused = true)]
async fn nobody_is_asked_twice_while_another_is_left() {
    for strategy in names() {
        let net = Network::new();
        for address in [A, B, C, D] {
            net.at(address).always(fails(FailureKind::NoAnswer, 1));
        }
        let builder = net.consumer([A, B, C, D]).strategy(strategy).retries(3);
        ask(&builder.build().unwrap()).await.unwrap_err();
        let asked = net.asked();
        assert_eq!(asked.len(), 4, "{strategy}");
        assert_eq!(BTreeSet::from_iter(asked).len(), 4, "{strategy}");
    }
}

// E 4.2.2
#[tokio::test(start_paused = true)]
async fn once_all_are_tried_the_strategy_chooses_among_all_again() {
    for strategy in names() {
        let net = Network::new();
        for address in [A, B] {
            for _ in 0..2 {
                net.at(address).next(fails(FailureKind::NoAnswer, 1));
            }
        }
        let consumer = net.consumer([A, B]).strategy(strategy).retries(20).build().unwrap();
        let who = ask(&consumer).await.unwrap();
        let asked = net.asked();
        assert_ne!(asked[0], asked[1], "{strategy}");
        assert_eq!(*asked.last().unwrap(), who, "{strategy}");
        assert!((4..=5).contains(&asked.len()), "{strategy}: {asked:?}");
    }
}

// E 4.2.3, amended: with nobody up one attempt to connect is better than a certain failure.
#[tokio::test(start_paused = true)]
async fn with_nobody_up_a_call_connects_to_somebody() {
    for strategy in names() {
        let net = Network::new();
        for address in [A, B] {
            net.at(address).door(Door::Refusing);
        }
        let consumer = net.consumer([A, B]).strategy(strategy).retries(0).build().unwrap();
        pass(500).await;
        assert!(!is_up(&consumer, A) && !is_up(&consumer, B));
        let before = net.at(A).connects().len() + net.at(B).connects().len();
        for address in [A, B] {
            net.at(address).returns();
        }
        let who = ask(&consumer).await.unwrap();
        assert!(is_up(&consumer, &who), "{strategy}");
        let after = net.at(A).connects().len() + net.at(B).connects().len();
        assert_eq!(after, before + 1, "{strategy}: the one that was asked, and at once");
    }
}

// E 4.2.4
#[tokio::test(start_paused = true)]
async fn the_only_one_is_asked_also_while_it_is_down() {
    let net = Network::new();
    net.at(A).door(Door::Refusing);
    let consumer = net.consumer([A]).retries(0).build().unwrap();
    settle().await;
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(error.addresses(), [A]);
    assert_eq!(error.failure.kind, FailureKind::Network);
}

// E 4.2.5
#[tokio::test(start_paused = true)]
async fn the_only_one_that_is_up_gets_every_call() {
    for strategy in names() {
        let net = Network::new();
        for address in [A, B] {
            net.at(address).door(Door::Refusing);
        }
        let consumer = net.consumer([A, B, C]).strategy(strategy).retries(0).build().unwrap();
        settle().await;
        for i in 0..20 {
            assert_eq!(ask_key(&consumer, &format!("k{i}")).await.unwrap(), C, "{strategy}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_loss_is_respected_before_the_next_view_is_built() {
    for strategy in names() {
        let net = Network::new();
        let consumer = net.consumer([A, B, C]).strategy(strategy).retries(0).build().unwrap();
        ask(&consumer).await.unwrap();
        settle().await;
        consumer.update([A, B, C]).await.unwrap();
        for address in [A, B] {
            net.at(address).dies();
        }
        while is_up(&consumer, A) || is_up(&consumer, B) {
            tokio::task::yield_now().await;
        }
        let before = consumer.generation();
        for i in 0..5 {
            assert_eq!(ask_key(&consumer, &format!("k{i}")).await.unwrap(), C, "{strategy}");
        }
        assert_eq!(consumer.generation(), before, "{strategy}: on the old view");
    }
}

#[tokio::test(start_paused = true)]
async fn case_069_the_one_available_of_ten_gets_every_call() {
    let list: Vec<String> = (1..=10).map(|i| format!("10.0.1.{i}:20880")).collect();
    for strategy in names() {
        let net = Network::new();
        let up = list[6].as_str();
        for address in list.iter().filter(|a| *a != up) {
            net.at(address).door(Door::Refusing);
        }
        let builder = net.consumer(list.iter().map(String::as_str)).strategy(strategy);
        let consumer = builder.retries(0).build().unwrap();
        settle().await;
        for i in 0..1000 {
            assert_eq!(ask_key(&consumer, &format!("k{i}")).await.unwrap(), up, "{strategy}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_policy_available_takes_the_first_one_in_list_order() {
    let net = Network::new();
    let consumer = net.consumer([B, A, C]).policy("available").build().unwrap();
    assert_eq!(ask_all(&consumer, 5).await, [B; 5]);
    net.at(B).dies();
    settle().await;
    assert_eq!(ask_all(&consumer, 5).await, [A; 5]);
    net.at(B).returns();
    pass(3000).await;
    assert_eq!(ask_all(&consumer, 5).await, [B; 5]);
}

#[tokio::test(start_paused = true)]
async fn the_policy_available_fails_when_nobody_is() {
    let net = Network::new();
    for address in [A, B] {
        net.at(address).door(Door::Refusing);
    }
    let consumer = net.consumer([A, B]).policy("available").build().unwrap();
    settle().await;
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(error.failure.kind, FailureKind::NoProvider);
    assert!(error.to_string().contains("listed 2, tag 2, available 0"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn tags_decide_who_may_and_the_call_decides_the_tag() {
    let net = Network::new();
    let list = [format!("{A}?dubbo.tag=gray"), B.to_owned()];
    let consumer =
        net.consumer(list.iter().map(String::as_str)).set("dubbo.tag", "gray").build().unwrap();
    let ask_tag = |tag: Option<&'static str>, force: bool| {
        let call = consumer.call("echo").force_tag(force);
        let call = if let Some(tag) = tag { call.tag(tag) } else { call };
        async move { call.json::<String>(&["x"]).await }
    };
    assert_eq!(ask_tag(None, false).await.unwrap(), A, "the configured one");
    assert_eq!(ask_tag(Some("gray"), true).await.unwrap(), A);
    assert_eq!(ask_tag(Some("blue"), false).await.unwrap(), B, "falls back");
    let error = ask_tag(Some("blue"), true).await.unwrap_err();
    assert_eq!(error.failure.kind, FailureKind::NoProvider);
    // The provider may call on behalf of this request: the tag travels.
    let tags: Vec<_> =
        net.seen().iter().map(|s| s.attachments.text("dubbo.tag").map(str::to_owned)).collect();
    assert_eq!(tags, [Some("gray".into()), Some("gray".into()), Some("blue".into())]);
}
