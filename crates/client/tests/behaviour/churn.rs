//! Every strategy while providers come and go.

use equipoise_client::{Consumer, policy::POLICIES};
use equipoise_core::balance::STRATEGIES;
use equipoise_core::outcome::FailureKind;
use tokio::task::JoinSet;

use crate::common::*;

const PROVIDERS: usize = 20;

fn addresses() -> Vec<String> {
    (1..=PROVIDERS).map(|i| format!("10.0.2.{i}:20880")).collect()
}

/// One caller: only failures of the network are excused.
async fn calls(consumer: Consumer, caller: usize, rounds: usize) {
    for i in 0..rounds {
        if let Err(error) = ask_key(&consumer, &format!("k{caller}-{i}")).await {
            let kind = error.failure.kind;
            assert!(
                matches!(kind, FailureKind::Network | FailureKind::NoProvider),
                "{kind}: {error}"
            );
        }
        pass(1).await;
    }
}

/// Lists and connections change at random; the first provider stays.
async fn flap(net: &Network, consumer: &Consumer, all: &[String], rounds: usize) {
    let mut rng = fastrand::Rng::with_seed(190);
    for _ in 0..rounds {
        let list: Vec<&String> =
            all.iter().enumerate().filter(|(i, _)| *i == 0 || rng.bool()).map(|(_, a)| a).collect();
        let urls = list.iter().map(|text| equipoise_core::url::Url::parse(text).unwrap());
        consumer.sink().endpoints(urls.collect());
        let one = &all[rng.usize(1..all.len())];
        match rng.u8(0..4) {
            0 => net.at(one).dies(),
            1 => net.at(one).returns(),
            2 => net.at(one).cuts(),
            _ => net.at(one).announces(),
        }
        pass(1).await;
    }
}

async fn survives(builder: equipoise_client::ConsumerBuilder, net: &Network, rounds: usize) {
    let all = addresses();
    let consumer = builder.retries(2).build().unwrap();
    let mut callers = JoinSet::new();
    for caller in 0..32 {
        callers.spawn(calls(consumer.clone(), caller, rounds / 2));
    }
    flap(net, &consumer, &all, rounds).await;
    while let Some(end) = callers.join_next().await {
        end.unwrap();
    }
    for address in &all {
        net.at(address).returns();
    }
    consumer.update(&all).await.unwrap();
    pass(60_000).await;
    for i in 0..100 {
        ask_key(&consumer, &format!("k{i}")).await.unwrap();
    }
    assert_eq!(active(&consumer), 0);
    assert_eq!(net.open(), PROVIDERS);
    drop(consumer);
    settle().await;
    assert_eq!((net.users(), net.open()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn case_190_every_strategy_survives_flapping_providers() {
    for strategy in STRATEGIES {
        let net = Network::new();
        let list = addresses();
        let builder = net.consumer(list.iter().map(String::as_str));
        survives(builder.strategy(strategy.about().name), &net, 500).await;
    }
}

#[tokio::test(start_paused = true)]
async fn case_190_every_policy_survives_flapping_providers() {
    for policy in POLICIES {
        let net = Network::new();
        let list = addresses();
        let builder = net.consumer(list.iter().map(String::as_str));
        survives(builder.policy(policy.about().name), &net, 100).await;
    }
}

/// The same on real threads, where view, link and caller meet in any order.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn case_190_every_strategy_survives_flapping_providers_on_threads() {
    for strategy in STRATEGIES {
        let (net, all) = (Network::new(), addresses());
        for address in &all {
            net.at(address).always(answers(0));
        }
        let builder = net.consumer(all.iter().map(String::as_str)).timeout(ms(3_600_000));
        let consumer = builder.strategy(strategy.about().name).build().unwrap();
        let mut callers = JoinSet::new();
        for caller in 0..8 {
            let consumer = consumer.clone();
            callers.spawn(async move {
                for i in 0..100 {
                    if let Err(error) = ask_key(&consumer, &format!("k{caller}-{i}")).await {
                        assert_eq!(error.failure.kind, FailureKind::Network, "{error}");
                    }
                }
            });
        }
        let mut rng = fastrand::Rng::with_seed(191);
        while !callers.is_empty() {
            // The first one stays.
            let one = &all[rng.usize(1..all.len())];
            match rng.u8(0..4) {
                0 => net.at(one).dies(),
                1 => net.at(one).returns(),
                2 => net.at(one).cuts(),
                _ => net.at(one).announces(),
            }
            let list = all.iter().enumerate().filter(|(i, _)| *i == 0 || rng.bool());
            consumer.update(list.map(|(_, address)| address)).await.unwrap();
            while let Some(end) = callers.try_join_next() {
                end.unwrap();
            }
        }
        assert_eq!(active(&consumer), 0, "{}", strategy.about().name);
    }
}
