//! Attachments: every attempt has its own copy, and what providers report of their load goes back
//! to the strategies.

use bytes::Bytes;
use equipoise_client::Consumer;
use equipoise_core::attachments::Attachments;
use equipoise_core::outcome::FailureKind;
use equipoise_core::port::Body;

use crate::common::*;

fn keys(seen: &Seen) -> Vec<String> {
    seen.attachments.iter().map(|(key, _)| key.to_owned()).collect()
}

async fn call_with(consumer: &Consumer, pairs: &[(&str, &str)]) {
    let mut call = consumer.call("echo");
    for (key, value) in pairs {
        call = call.attachment(*key, *value);
    }
    let _ = call.json::<String>(&["x"]).await;
}

#[tokio::test(start_paused = true)]
async fn case_083_an_attempt_sees_nothing_of_the_one_before() {
    for policy in ["failover", "broadcast", "forking"] {
        let net = Network::new();
        net.at(A).always(fails(FailureKind::NoAnswer, 1));
        let builder = net.consumer([A, B]).policy(policy).strategy("roundrobin");
        let consumer = builder.build().unwrap();
        settle().await;
        // The protocol adds a path of its own to the copy it was given.
        call_with(&consumer, &[("k", "v")]).await;
        assert_eq!(net.asked(), [A, B], "{policy}");
        for seen in net.seen() {
            assert_eq!(seen.attachments.text("k"), Some("v"), "{policy}");
            assert_eq!(keys(&seen), ["k"], "{policy}");
        }
        net.forget();
        call_with(&consumer, &[]).await;
        assert!(net.seen().iter().all(|seen| seen.attachments.is_empty()), "{policy}");
    }
}

#[tokio::test(start_paused = true)]
async fn case_083_a_background_run_has_the_attachments_of_its_call() {
    let net = Network::new();
    net.at(A).next(fails(FailureKind::NoAnswer, 0));
    let consumer = net.consumer([A]).policy("failback").build().unwrap();
    let call = consumer.call("echo").attachment("k", "v").json::<Option<String>>(&["x"]);
    assert_eq!(call.await.unwrap(), None);
    pass(6_000).await;
    assert_eq!(net.seen().len(), 2);
    assert!(net.seen().iter().all(|seen| keys(seen) == ["k"]));
    assert_eq!(net.seen()[0].body, net.seen()[1].body);
}

#[tokio::test(start_paused = true)]
async fn case_191_branches_at_once_share_nothing() {
    let net = Network::new();
    let consumer = net
        .consumer([A, B, C])
        .policy("forking")
        .set("forks", "3")
        .attachment("everywhere", "1")
        .build()
        .unwrap();
    settle().await;
    let mut callers = tokio::task::JoinSet::new();
    for i in 0..50 {
        let consumer = consumer.clone();
        callers.spawn(async move { call_with(&consumer, &[("n", &i.to_string())]).await });
    }
    while let Some(end) = callers.join_next().await {
        end.unwrap();
    }
    let mut all: Vec<_> = net
        .seen()
        .iter()
        .map(|seen| {
            assert_eq!(keys(seen), ["everywhere", "n"]);
            seen.attachments.text("n").unwrap().parse::<u32>().unwrap()
        })
        .collect();
    all.sort_unstable();
    let expected: Vec<u32> = (0..50).flat_map(|i| [i, i, i]).collect();
    assert_eq!(all, expected);
}

#[tokio::test(start_paused = true)]
async fn a_call_replaces_what_the_consumer_attaches_and_bytes_travel() {
    let net = Network::new();
    let consumer = net.consumer([A]).attachment("k", "consumer").build().unwrap();
    let call = consumer.call("echo").attachment("k", "call").binary_attachment("b", vec![0, 255]);
    call.json::<String>(&["x"]).await.unwrap();
    ask(&consumer).await.unwrap();
    let seen = net.seen();
    let mut expected = Attachments::new();
    expected.set("k", "call");
    expected.set_binary("b", vec![0, 255]);
    assert_eq!(seen[0].attachments, expected);
    assert_eq!(seen[1].attachments.text("k"), Some("consumer"));
}

#[tokio::test(start_paused = true)]
async fn bytes_go_and_come_as_they_are() {
    let net = Network::new();
    net.at(A).always(answers_with(&[("trailer", "t")]));
    let consumer = net.consumer([A]).build().unwrap();
    let body = Bytes::from_static(b"\x00\x01\xff");
    let reply = consumer.call("echo").raw(Body::protobuf(body.clone())).await.unwrap();
    assert_eq!(reply.body, body);
    assert_eq!(reply.attachments.text("trailer"), Some("t"));
    assert_eq!((net.seen()[0].method.as_str(), &net.seen()[0].body), ("echo", &body));
}

#[tokio::test(start_paused = true)]
async fn only_adaptive_asks_for_the_load_and_the_report_goes_no_further() {
    let net = Network::new();
    net.at(A).always(answers_with(&[("lb_adaptive", "curTime:1,load:10"), ("other", "1")]));
    for (strategy, asks) in [("adaptive", Some("mem,load")), ("random", None)] {
        net.forget();
        let consumer = net.consumer([A]).strategy(strategy).build().unwrap();
        let reply = consumer.call("echo").raw(Body::json(&b"[]"[..])).await.unwrap();
        assert_eq!(net.seen()[0].attachments.text("lb_adaptive"), asks, "{strategy}");
        let kept: Vec<_> = reply.attachments.iter().map(|(key, _)| key.to_owned()).collect();
        assert_eq!(kept, ["other"], "{strategy}");
    }
}

#[tokio::test(start_paused = true)]
async fn reports_of_load_steer_the_calls() {
    fastrand::seed(65);
    let net = Network::new();
    net.at(A).always(answers_with(&[("lb_adaptive", "curTime:1,load:90")]));
    net.at(B).always(answers_with(&[("lb_adaptive", "curTime:1,load:10")]));
    let consumer = net.consumer([A, B]).strategy("adaptive").build().unwrap();
    settle().await;
    while net.at(A).asked() == 0 || net.at(B).asked() == 0 {
        ask(&consumer).await.unwrap();
    }
    net.forget();
    for _ in 0..200 {
        ask(&consumer).await.unwrap();
    }
    assert!(net.at(B).asked() > net.at(A).asked() * 4, "{} to A", net.at(A).asked());
}

#[tokio::test(start_paused = true)]
async fn remaining_capacity_reported_on_errors_counts_too() {
    use equipoise_core::outcome::Failure;
    let net = Network::new();
    let mut full = Failure::new(FailureKind::Business, "sold out");
    full.attachments.set("adaptive-service.remaining", " -2 ");
    net.at(A).always(fails_with(full));
    net.at(B).always(answers_with(&[("adaptive-service.remaining", "1")]));
    let consumer = net.consumer([A, B]).strategy("p2c").policy("failfast").build().unwrap();
    settle().await;
    while net.at(A).asked() == 0 || net.at(B).asked() == 0 {
        let _ = ask(&consumer).await;
    }
    net.forget();
    for _ in 0..200 {
        assert_eq!(ask(&consumer).await.unwrap(), B);
    }
}
