//! Warmup: the directory takes the steps as time goes by, no more often than it must.

use std::sync::Arc;

use equipoise_client::{Consumer, TokioClock};
use equipoise_core::weight;

use crate::common::*;

/// 2025-01-01 in ms since the epoch.
const START: i64 = 1_735_689_600_000;

fn warming(net: &Network, strategy: &str) -> Consumer {
    let young = format!("{B}?timestamp={START}");
    net.consumer([A, young.as_str()])
        .strategy(strategy)
        .clock(Arc::new(TokioClock::at(START)))
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn weights_follow_the_formula_within_a_second() {
    let net = Network::new();
    let consumer = warming(&net, "random");
    ask(&consumer).await.unwrap();
    assert_eq!(of(&consumer, B).effective_weight, 1);
    let mut now = START + 1;
    for second in 1..=620 {
        pass(1000).await;
        now += 1000;
        let shown = of(&consumer, B).effective_weight;
        let exact = weight::effective(100, START, 600_000, now);
        let late = weight::effective(100, START, 600_000, now - 1100);
        assert!((late..=exact).contains(&shown), "{shown} after {second} s, exactly {exact}");
    }
    assert_eq!(of(&consumer, B).effective_weight, 100);
    assert!(!of(&consumer, B).warming && of(&consumer, A).effective_weight == 100);
    // A hundred steps, so not many more views than that.
    assert!(consumer.generation() <= 110, "{} views", consumer.generation());
    let last = consumer.generation();
    pass(3_600_000).await;
    assert_eq!(consumer.generation(), last, "nothing changes by time any more");
}

#[tokio::test(start_paused = true)]
async fn many_small_steps_are_taken_together() {
    let net = Network::new();
    let young = format!("{B}?timestamp={START}&weight=1000000");
    let consumer =
        net.consumer([A, young.as_str()]).clock(Arc::new(TokioClock::at(START))).build().unwrap();
    ask(&consumer).await.unwrap();
    let before = consumer.generation();
    pass(60_000).await;
    let views = consumer.generation() - before;
    assert!((55..=61).contains(&views), "{views} views in 60 s");
}

#[tokio::test(start_paused = true)]
async fn a_method_that_is_first_called_later_warms_too() {
    let net = Network::new();
    let consumer = warming(&net, "roundrobin");
    pass(60_000).await;
    for method in ["echo", "late"] {
        consumer.call(method).json::<String>(&["x"]).await.unwrap();
        pass(60_000).await;
    }
    let report = consumer.report();
    for method in report.methods {
        let b = method.endpoints.iter().find(|e| e.address == B).unwrap();
        assert!(
            (29..=30).contains(&b.effective_weight),
            "{}: {}",
            method.method,
            b.effective_weight
        );
    }
}

#[tokio::test(start_paused = true)]
async fn strategies_that_ignore_weight_cause_no_views() {
    let net = Network::new();
    let consumer = warming(&net, "consistenthash");
    ask(&consumer).await.unwrap();
    let before = consumer.generation();
    pass(700_000).await;
    assert_eq!(consumer.generation(), before);
}

#[tokio::test(start_paused = true)]
async fn a_young_provider_gets_its_share_of_the_calls() {
    let net = Network::new();
    let consumer = warming(&net, "roundrobin");
    ask(&consumer).await.unwrap();
    pass(60_000).await;
    net.forget();
    // Weight 10 of 110 for the next six seconds.
    ask_all(&consumer, 1100).await;
    let young = net.at(B).asked();
    assert!((98..=102).contains(&young), "{young} of 1100");
}
