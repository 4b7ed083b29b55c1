//! What an error says: service, method, strategy, policy, every attempt with address, time and
//! cause; for "no provider" what each stage left.

use std::error::Error;

use equipoise_core::outcome::{Failure, FailureKind};

use crate::common::*;

#[tokio::test(start_paused = true)]
async fn an_error_names_everything_there_is_to_know() {
    let net = Network::new();
    net.at(A).always(fails(FailureKind::NoAnswer, 20));
    net.at(B).always(silence());
    let consumer = net
        .consumer([A, B])
        .group("g")
        .version("1.0")
        .strategy("roundrobin")
        .timeout(ms(300))
        .retries(1)
        .build()
        .unwrap();
    settle().await;
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(error.service, "g/com.ex.Svc:1.0");
    assert_eq!(error.method, "echo");
    assert_eq!((error.strategy.as_str(), error.policy.as_str()), ("roundrobin", "failover"));
    assert_eq!((error.made, error.addresses()), (2, vec![A, B]));
    assert_eq!(error.attempts[0].elapsed, ms(20));
    assert_eq!(error.attempts[1].elapsed, ms(300));
    assert_eq!(
        error.to_string(),
        "g/com.ex.Svc:1.0.echo failed (timeout, failover over roundrobin) after 2 attempts: \
         10.0.0.1:20880 (20.0 ms, no-answer: scripted no-answer); \
         10.0.0.2:20880 (300.0 ms, timeout: no answer within 300ms)"
    );
    assert_eq!(error.source().unwrap().to_string(), "timeout: no answer within 300ms");
}

#[tokio::test(start_paused = true)]
async fn a_status_of_the_provider_is_kept() {
    let net = Network::new();
    let failure = Failure::new(FailureKind::Business, "no such user").with_status(5);
    net.at(A).always(fails_with(failure));
    let error = ask(&net.consumer([A]).build().unwrap()).await.unwrap_err();
    assert_eq!(error.failure.status, Some(5));
    assert!(error.to_string().contains("after 1 attempt: "), "{error}");
    assert!(error.to_string().contains("no such user"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn no_provider_says_what_each_stage_left() {
    let net = Network::new();
    let list = [format!("{A}?dubbo.tag=gray"), format!("{B}?dubbo.tag=gray")];
    let consumer = net.consumer(list.iter().map(String::as_str)).build().unwrap();
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(error.failure.kind, FailureKind::NoProvider);
    assert_eq!(
        error.to_string(),
        "com.ex.Svc.echo failed (no-provider, failover over random): \
         no provider available for com.ex.Svc method echo: listed 2, tag 0, available 0"
    );
    assert_eq!((error.made, error.attempts.len()), (0, 1));

    consumer.update(Vec::<String>::new()).await.unwrap();
    let error = ask(&consumer).await.unwrap_err();
    assert!(error.to_string().ends_with("listed 0, tag 0, available 0"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn nobody_left_after_real_failures_is_the_last_line() {
    let net = Network::new();
    net.at(A).always(fails(FailureKind::NoAnswer, 100));
    let consumer = net.consumer([A]).build().unwrap();
    let emptied = async {
        pass(50).await;
        consumer.update(Vec::<String>::new()).await.unwrap();
    };
    let (result, ()) = tokio::join!(ask(&consumer), emptied);
    let text = result.unwrap_err().to_string();
    assert!(text.starts_with("com.ex.Svc.echo failed (no-answer, "), "{text}");
    assert!(text.contains(" after 1 attempt: 10.0.0.1:20880 ("), "{text}");
    assert!(text.ends_with("listed 0, tag 0, available 0)"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_long_error_keeps_the_first_and_the_last_attempts() {
    let net = Network::new();
    for i in 0..200 {
        net.at(A).next(fails_with(Failure::new(FailureKind::Network, format!("failure {i}"))));
    }
    let consumer = net.consumer([A]).retries(199).build().unwrap();
    settle().await;
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!((error.made, error.attempts.len()), (200, 64));
    let text = error.to_string();
    assert!(text.contains("after 200 attempts (64 shown): "), "{text}");
    for kept in ["failure 0)", "failure 31)", "failure 199)"] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    assert!(!text.contains("failure 100)"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_call_without_the_key_it_needs_names_method_and_key() {
    for strategy in ["consistenthash", "boundedconsistenthash"] {
        let net = Network::new();
        let consumer = net.consumer([A, B]).strategy(strategy).build().unwrap();
        let error = consumer.call("echo").typed::<String>(&"x".to_owned()).await.unwrap_err();
        assert_eq!(error.failure.kind, FailureKind::Invalid);
        let text = error.to_string();
        for word in ["echo", strategy, "key"] {
            assert!(text.contains(word), "{word}: {text}");
        }
        assert_eq!(net.seen().len(), 0);
        // A method that really has no arguments keeps the empty key.
        let call = consumer.call("echo").arguments([]);
        assert_eq!(call.typed::<String>(&"x".to_owned()).await.unwrap(), "x");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_read_is_an_error_of_the_call() {
    let net = Network::new();
    let consumer = net.consumer([A]).build().unwrap();
    let error = consumer.call("echo").json::<u32>(&["x"]).await.unwrap_err();
    assert_eq!(error.failure.kind, FailureKind::Serialization);
    assert!(error.to_string().contains("the answer cannot be read"), "{error}");
    assert_eq!(net.seen().len(), 1, "asked once: the provider did its work");

    let unwritable = std::collections::BTreeMap::from([((1, 2), 3)]);
    let error = consumer.call("echo").json::<String>(&unwritable).await.unwrap_err();
    assert_eq!(error.failure.kind, FailureKind::Serialization);
    assert!(error.to_string().contains("cannot be written"), "{error}");
    assert_eq!(net.seen().len(), 1);
}
