//! The directory: many changes become few views, a bad one is refused and what is in force stays.

use equipoise_client::{BuildError, Consumer};
use equipoise_core::config::{Config, Place};
use equipoise_core::outcome::FailureKind;
use equipoise_core::url::Url;
use futures_util::future::join_all;

use crate::common::*;

fn urls(list: &[&str]) -> Vec<Url> {
    list.iter().map(|text| Url::parse(text).unwrap()).collect()
}

fn listed(consumer: &Consumer) -> Vec<String> {
    consumer.report().endpoints.into_iter().map(|e| e.address).collect()
}

#[tokio::test(start_paused = true)]
async fn changes_that_come_together_become_one_view() {
    let net = Network::new();
    let consumer = net.consumer([A]).build().unwrap();
    settle().await;
    let before = consumer.generation();
    let sink = consumer.sink();
    for i in 0..1000 {
        sink.endpoints(urls(if i % 2 == 0 { &[A, B] } else { &[C, D] }));
    }
    settle().await;
    assert_eq!(consumer.generation(), before + 1);
    assert_eq!(listed(&consumer), [C, D], "the newest one");

    let updates = (0..1000).map(|i| consumer.update(if i == 999 { [A, B] } else { [A, C] }));
    for result in join_all(updates).await {
        result.unwrap();
    }
    assert!(consumer.generation() <= before + 3, "{} views", consumer.generation() - before);
    assert_eq!(listed(&consumer), [A, B]);
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_changes_makes_at_most_a_hundred_views_per_second() {
    let net = Network::new();
    let consumer = net.consumer([A]).build().unwrap();
    settle().await;
    let (before, sink) = (consumer.generation(), consumer.sink());
    for i in 0..1000 {
        sink.endpoints(urls(if i % 2 == 0 { &[A, B] } else { &[A, C] }));
        pass(1).await;
    }
    settle().await;
    // Changes of health of the ones that come and go included.
    let views = consumer.generation() - before;
    assert!((90..=103).contains(&views), "{views} views");
    assert_eq!(listed(&consumer), [A, C]);
}

#[tokio::test(start_paused = true)]
async fn losses_that_come_together_become_one_view() {
    let net = Network::new();
    let list: Vec<String> = (1..=50).map(|i| format!("10.0.1.{i}:20880")).collect();
    let consumer = net.consumer(list.iter().map(String::as_str)).build().unwrap();
    settle().await;
    let before = consumer.generation();
    for address in &list[1..] {
        net.at(address).dies();
    }
    settle().await;
    assert!(consumer.generation() <= before + 2, "{} views", consumer.generation() - before);
    assert_eq!(ask_all(&consumer, 20).await, vec![list[0].clone(); 20]);
}

#[tokio::test(start_paused = true)]
async fn an_update_is_seen_once_it_returns() {
    let net = Network::new();
    let consumer = net.consumer([A]).build().unwrap();
    for list in [[B], [C], [D], [A]] {
        consumer.update(list).await.unwrap();
        assert_eq!(ask_all(&consumer, 3).await, vec![list[0].to_owned(); 3]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_list_keeps_its_order_and_an_address_counts_once() {
    let net = Network::new();
    let last = format!("{A}?weight=300");
    let consumer = net.consumer([C, A, B, C, last.as_str()]).build().unwrap();
    assert_eq!(listed(&consumer), [C, A, B]);
    ask(&consumer).await.unwrap();
    assert_eq!(of(&consumer, A).weight, 300, "the last parameters count");
    assert_eq!(net.open(), 3);
}

#[tokio::test(start_paused = true)]
async fn an_empty_list_means_nobody_and_a_later_one_means_somebody() {
    let net = Network::new();
    let consumer = net.consumer([A]).build().unwrap();
    ask(&consumer).await.unwrap();
    consumer.update(Vec::<String>::new()).await.unwrap();
    assert_eq!(ask(&consumer).await.unwrap_err().failure.kind, FailureKind::NoProvider);
    settle().await;
    assert_eq!((net.open(), net.users()), (0, 1));
    consumer.sink().endpoints(urls(&[B]));
    settle().await;
    assert_eq!(ask(&consumer).await.unwrap(), B);
}

#[tokio::test(start_paused = true)]
async fn a_protocol_nobody_speaks_is_named_and_the_list_in_force_stays() {
    let net = Network::new();
    let foreign = "rest://10.0.0.9:80";
    let error = net.consumer([A, foreign]).build().unwrap_err();
    assert_eq!(error.to_string(), "10.0.0.9:80: no protocol \"rest\"; there are mem");
    let consumer = net.consumer([A]).build().unwrap();
    let error = consumer.update([B, foreign]).await.unwrap_err();
    assert!(matches!(error, BuildError::UnknownProtocol { .. }), "{error}");
    assert!(consumer.update(["[::1"]).await.unwrap_err().to_string().contains("bracket"));
    assert_eq!(listed(&consumer), [A]);
    // A registry has nobody to tell: what is foreign is left out, the rest counts.
    consumer.sink().endpoints(urls(&[B, foreign]));
    settle().await;
    assert_eq!(listed(&consumer), [B]);
    let named = format!("mem://{A}");
    consumer.update([named.as_str()]).await.unwrap();
    assert_eq!(ask(&consumer).await.unwrap(), A);
}

#[tokio::test(start_paused = true)]
async fn a_bad_setting_at_run_time_is_refused_with_key_value_and_place() {
    let net = Network::new();
    let consumer = net.consumer([A, B]).strategy("roundrobin").build().unwrap();
    ask(&consumer).await.unwrap();
    settle().await;
    let before = consumer.generation();
    for (key, value) in [
        ("timeout", "soon"),
        ("timeout", "0"),
        ("retries", "many"),
        ("loadbalance", "nonsense"),
        ("cluster", "nonsense"),
        ("echo.cluster", "nonsense"),
        ("hash.nodes", "3"),
        ("hash.arguments", "0,a"),
        ("weight", "abc"),
        ("echo.actives", "x"),
    ] {
        let error = consumer.set(key, value).await.unwrap_err();
        let BuildError::Config(error) = error else { panic!("{key}: {error}") };
        assert!(key.ends_with(&error.key), "{key}: {error}");
        assert_eq!((error.value.as_str(), error.place.0.as_str()), (value, "set at run time"));
        assert_eq!(consumer.generation(), before, "{key} = {value}");
    }
    assert_eq!(ask_all(&consumer, 4).await, [B, A, B, A], "as before");
}

#[tokio::test(start_paused = true)]
async fn settings_are_changed_and_taken_back() {
    let net = Network::new();
    net.at(A).always(silence());
    let consumer = net.consumer([A]).retries(0).timeout(ms(500)).build().unwrap();
    let timeout = |net: &Network| net.seen().last().unwrap().timeout.unwrap();
    settle().await;
    ask(&consumer).await.unwrap_err();
    assert_eq!(timeout(&net), ms(500));
    consumer.set("echo.timeout", "200").await.unwrap();
    ask(&consumer).await.unwrap_err();
    assert_eq!(timeout(&net), ms(200));
    consumer.set("timeout", "").await.unwrap();
    ask(&consumer).await.unwrap_err();
    assert_eq!(timeout(&net), ms(200), "the method has its own");
    consumer.set("echo.timeout", "").await.unwrap();
    ask(&consumer).await.unwrap_err();
    assert_eq!(timeout(&net), ms(1000), "the default");
}

#[tokio::test(start_paused = true)]
async fn settings_made_at_the_same_time_all_count() {
    let net = Network::new();
    net.at(A).always(fails(FailureKind::NoAnswer, 1));
    let consumer = net.consumer([A]).build().unwrap();
    settle().await;
    let (one, two, bad, three) = tokio::join!(
        consumer.set("retries", "7"),
        consumer.set("loadbalance", "leastactive"),
        consumer.set("timeout", "soon"),
        consumer.set("cluster", "failover"),
    );
    one.unwrap();
    two.unwrap();
    three.unwrap();
    assert!(bad.unwrap_err().to_string().contains("soon"));
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!((error.made, error.strategy.as_str()), (8, "leastactive"));
}

#[tokio::test(start_paused = true)]
async fn a_bad_setting_does_not_take_a_list_down_with_it() {
    let net = Network::new();
    let consumer = net.consumer([A]).build().unwrap();
    settle().await;
    // A registry pushes a list while an operator mistypes: it would not push it again.
    consumer.sink().endpoints(urls(&[B]));
    let (update, bad) = tokio::join!(consumer.update([C]), consumer.set("timeout", "soon"));
    update.unwrap();
    bad.unwrap_err();
    assert_eq!(listed(&consumer), [C]);
    consumer.sink().endpoints(urls(&[D]));
    consumer.set("timeout", "soon").await.unwrap_err();
    assert_eq!(listed(&consumer), [D]);
}

#[tokio::test(start_paused = true)]
async fn a_whole_configuration_replaces_the_one_in_force() {
    let net = Network::new();
    let consumer = net.consumer([A, B]).strategy("roundrobin").retries(0).build().unwrap();
    let mut config = Config::new();
    config.global.set("cluster", "broadcast", &Place("file".to_owned()));
    consumer.configure(config).await.unwrap();
    ask(&consumer).await.unwrap();
    assert_eq!(net.asked(), [A, B]);
    let mut bad = Config::new();
    bad.global.set("cluster", "nonsense", &Place("line 7".to_owned()));
    let error = consumer.configure(bad).await.unwrap_err().to_string();
    assert!(
        error.starts_with("cluster = \"nonsense\" (line 7): no such cluster policy"),
        "{error}"
    );
    for name in ["failover", "failfast", "available"] {
        assert!(error.contains(name), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn weights_change_at_run_time() {
    let net = Network::new();
    let heavy = format!("{B}?weight=300");
    let consumer = net.consumer([A, B]).strategy("roundrobin").build().unwrap();
    ask_all(&consumer, 100).await;
    assert_eq!((net.at(A).asked(), net.at(B).asked()), (50, 50));
    net.forget();
    consumer.update([A, heavy.as_str()]).await.unwrap();
    ask_all(&consumer, 400).await;
    assert!((99..=101).contains(&net.at(A).asked()), "{} to A", net.at(A).asked());
    assert_eq!(net.at(B).connects().len(), 1, "new parameters are no new connection");
    net.forget();
    consumer.update([A, format!("{B}?weight=0").as_str()]).await.unwrap();
    assert_eq!(ask_all(&consumer, 50).await, [A; 50]);
    consumer.set("weight", "7").await.unwrap();
    assert_eq!((of(&consumer, A).weight, of(&consumer, B).weight), (7, 7));
}

#[tokio::test(start_paused = true)]
async fn a_method_that_nobody_calls_is_forgotten_and_one_with_a_call_open_is_not() {
    let net = Network::new();
    let builder = net.consumer([A]).timeout(ms(7_200_000));
    let consumer = builder.build().unwrap();
    ask(&consumer).await.unwrap();
    net.at(A).next(answers(3_600_000));
    let held = tokio::spawn({
        let consumer = consumer.clone();
        async move { consumer.call("slow").json::<String>(&["x"]).await }
    });
    pass(601_000).await;
    consumer.update([A]).await.unwrap();
    let known = |consumer: &Consumer| {
        let methods = consumer.report().methods;
        methods.into_iter().map(|m| (m.method, m.endpoints[0].active)).collect::<Vec<_>>()
    };
    assert_eq!(known(&consumer), [("slow".to_owned(), 1)]);
    held.await.unwrap().unwrap();
    ask(&consumer).await.unwrap();
    assert_eq!(known(&consumer), [("echo".to_owned(), 0), ("slow".to_owned(), 0)]);
    assert_eq!(of(&consumer, A).picks, 1, "counted from anew");
}

#[tokio::test(start_paused = true)]
async fn the_strategy_changes_between_two_attempts_of_a_call() {
    let net = Network::new();
    net.at(A).always(fails(FailureKind::NoAnswer, 100));
    let consumer = net.consumer([A]).build().unwrap();
    settle().await;
    let changed = async {
        pass(50).await;
        consumer.update([A, B]).await.unwrap();
        consumer.set("loadbalance", "consistenthash").await.unwrap();
    };
    // The call was made without a key, and is now chosen for by one that needs it.
    let (result, ()) = tokio::join!(ask(&consumer), changed);
    assert_eq!(result.unwrap(), B);
}
