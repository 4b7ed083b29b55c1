//! `failover`: how often, whom, after which failures, and what is returned in the end.

use equipoise_core::outcome::{Failure, FailureKind};
use tokio::time::Instant;

use crate::common::*;

/// 1 + retries attempts at so many different providers, all refusing.
async fn attempts(net: &Network, retries: Option<&str>, method: Option<&str>) -> usize {
    let mut builder = net.consumer([A, B, C]).set("retries", retries.unwrap_or_default());
    if let Some(value) = method {
        builder = builder.set("echo.retries", value);
    }
    let consumer = builder.build().unwrap();
    net.forget();
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(error.attempts.len(), net.seen().len());
    net.seen().len()
}

// E 4.3.1
#[tokio::test(start_paused = true)]
async fn refusals_are_retried_at_three_addresses() {
    let net = Network::new();
    for address in [A, B, C] {
        net.at(address).door(Door::Refusing);
    }
    let consumer = net.consumer([A, B, C]).build().unwrap();
    let error = ask(&consumer).await.unwrap_err();
    let mut addresses = error.addresses();
    addresses.sort_unstable();
    assert_eq!(addresses, [A, B, C]);
    assert_eq!(error.failure.kind, FailureKind::Network);
    // One more than 1 + 2: a call that was not sent is moved once, free of charge.
    assert_eq!(error.attempts.len(), 4);
}

// E 4.3.2
#[tokio::test(start_paused = true)]
async fn case_079_the_number_of_attempts_is_retries_plus_one() {
    let net = Network::new();
    for address in [A, B, C] {
        net.at(address).always(fails(FailureKind::Network, 1));
    }
    for (retries, expected) in
        [(None, 3), (Some("0"), 1), (Some("-1"), 1), (Some("-5"), 1), (Some("1"), 2), (Some(""), 3)]
    {
        assert_eq!(attempts(&net, retries, None).await, expected, "retries = {retries:?}");
    }
    assert_eq!(attempts(&net, Some("2"), Some("0")).await, 1, "the method's own 0");
}

#[tokio::test(start_paused = true)]
async fn the_calls_own_retries_apply_to_that_call_alone() {
    let net = Network::new();
    for address in [A, B, C] {
        net.at(address).always(fails(FailureKind::Network, 1));
    }
    let consumer = net.consumer([A, B, C]).retries(0).build().unwrap();
    for (own, expected) in [(Some(1), 2), (None, 1)] {
        net.forget();
        let call = consumer.call("echo");
        let call = if let Some(retries) = own { call.retries(retries) } else { call };
        call.json::<String>(&["x"]).await.unwrap_err();
        assert_eq!(net.seen().len(), expected);
    }
}

// E 4.3.3, E 4.3.4
#[tokio::test(start_paused = true)]
async fn a_business_error_ends_the_call_at_once() {
    let net = Network::new();
    for address in [A, B, C] {
        net.at(address).always(fails(FailureKind::Business, 1));
    }
    let consumer = net.consumer([A, B, C]).retries(5).build().unwrap();
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(net.seen().len(), 1);
    assert_eq!(error.failure.kind, FailureKind::Business);
    let one = of(&consumer, &net.asked()[0]);
    assert_eq!((one.business, one.active, one.errors.len()), (1, 0, 0));
}

// E 4.3.5
#[tokio::test(start_paused = true)]
async fn the_only_provider_is_asked_again() {
    let net = Network::new();
    net.at(A).always(silence());
    let consumer = net.consumer([A]).build().unwrap();
    let started = Instant::now();
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(net.seen().len(), 3);
    assert_eq!(error.addresses(), [A]);
    assert_eq!(error.failure.kind, FailureKind::Timeout);
    assert_eq!(started.elapsed(), ms(3000), "each attempt has its own timeout");
}

// In place of E 4.3.6: the last real failure is worth more than "no provider".
#[tokio::test(start_paused = true)]
async fn when_the_list_becomes_empty_the_last_real_failure_is_returned() {
    let net = Network::new();
    net.at(A).always(fails(FailureKind::NoAnswer, 100));
    let consumer = net.consumer([A]).retries(5).build().unwrap();
    let emptied = async {
        pass(50).await;
        consumer.update(Vec::<String>::new()).await.unwrap();
    };
    let (result, ()) = tokio::join!(ask(&consumer), emptied);
    let error = result.unwrap_err();
    assert_eq!(error.failure.kind, FailureKind::NoAnswer);
    let kinds: Vec<_> = error.attempts.iter().map(|a| a.failure.kind).collect();
    assert_eq!(kinds, [FailureKind::NoAnswer, FailureKind::NoProvider]);
    assert_eq!(error.attempts[1].address, "");
    assert_eq!(net.seen().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn with_nobody_listed_the_call_ends_at_once() {
    let net = Network::new();
    let consumer = net.consumer([]).retries(u32::MAX).build().unwrap();
    let started = Instant::now();
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(error.failure.kind, FailureKind::NoProvider);
    assert_eq!(error.attempts.len(), 1);
    assert_eq!(started.elapsed(), ms(0));
}

#[tokio::test(start_paused = true)]
async fn later_attempts_see_the_newest_list() {
    let net = Network::new();
    net.at(A).always(fails(FailureKind::NoAnswer, 100));
    let consumer = net.consumer([A]).retries(1).build().unwrap();
    let replaced = async {
        pass(50).await;
        consumer.update([D]).await.unwrap();
    };
    let (result, ()) = tokio::join!(ask(&consumer), replaced);
    assert_eq!(result.unwrap(), D);
    assert_eq!(net.asked(), [A, D]);
}

#[tokio::test(start_paused = true)]
async fn case_078_two_providers_are_both_asked_and_affinity_holds() {
    let net = Network::new();
    for address in [A, B] {
        net.at(address).always(fails(FailureKind::Network, 1));
    }
    let both = net.consumer([A, B]).retries(4).build().unwrap();
    ask(&both).await.unwrap_err();
    let asked = net.asked();
    assert_eq!(asked.len(), 5);
    assert_ne!(asked[0], asked[1]);

    let net = Network::new();
    let keyed = net.consumer([A, B]).strategy("consistenthash").build().unwrap();
    for _ in 0..100 {
        assert_eq!(ask_key(&keyed, "user-3").await.unwrap(), A);
    }
    fastrand::seed(78);
    let random = net.consumer([A, B]).build().unwrap();
    let all = ask_all(&random, 2000).await;
    let a = all.iter().filter(|who| *who == A).count();
    assert_even(a, all.len() - a);
}

#[tokio::test(start_paused = true)]
async fn case_080_extreme_retries_neither_overflow_nor_spin() {
    let net = Network::new();
    for _ in 0..3 {
        net.at(A).next(fails(FailureKind::Network, 1));
    }
    let most = i64::from(i32::MAX);
    let consumer = net.consumer([A]).set("retries", most.to_string()).build().unwrap();
    assert_eq!(ask(&consumer).await.unwrap(), A);
    assert_eq!(net.at(A).asked(), 4);

    net.at(A).always(fails(FailureKind::Network, 1));
    let least = i64::from(i32::MIN);
    let consumer = net.consumer([A]).set("retries", least.to_string()).build().unwrap();
    net.forget();
    ask(&consumer).await.unwrap_err();
    assert_eq!(net.at(A).asked(), 1);

    // What the caller gets is the last real failure; the deadline is the last of its attempts.
    let net = Network::new();
    net.at(A).door(Door::Refusing);
    let consumer =
        net.consumer([A]).set("retries", most.to_string()).deadline(ms(200)).build().unwrap();
    let started = Instant::now();
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(started.elapsed(), ms(200));
    assert_eq!(error.failure.kind, FailureKind::Network);
    assert_eq!(error.attempts.last().unwrap().failure.kind, FailureKind::Deadline);
    assert!(error.attempts.len() <= 64, "an error stays readable");
}

#[tokio::test(start_paused = true)]
async fn refusing_providers_are_asked_in_rounds_with_a_pause_between() {
    let net = Network::new();
    for address in [A, B, C] {
        net.at(address).door(Door::Refusing);
    }
    let consumer = net.consumer([A, B, C]).retries(1000).deadline(ms(1000)).build().unwrap();
    settle().await;
    let error = ask(&consumer).await.unwrap_err();
    // A round of three in no time, then one at a time every 10 ms.
    assert!((90..=110).contains(&error.made), "{error}");
    assert!(error.attempts.len() <= 64 && error.to_string().contains(" shown): "), "{error}");
    // One attempt to connect per 100 ms and provider at most, whoever asks.
    for address in [A, B, C] {
        let connects = net.at(address).connects();
        assert!(connects.len() <= 12, "{} connects to {address}", connects.len());
        assert!(connects.windows(2).all(|w| w[1] - w[0] >= ms(100)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_patient_call_outlives_a_restart() {
    let net = Network::new();
    net.at(A).dies();
    let consumer = net.consumer([A]).retries(100_000).deadline(ms(30_000)).build().unwrap();
    let restart = async {
        pass(2_000).await;
        net.at(A).returns();
    };
    let started = Instant::now();
    let (result, ()) = tokio::join!(ask(&consumer), restart);
    assert_eq!(result.unwrap(), A);
    assert!(started.elapsed() <= ms(2_120), "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn case_081_a_late_failure_is_retried_like_an_early_one() {
    let net = Network::new();
    net.at(A).always(fails(FailureKind::Network, 20));
    net.at(B).always(fails(FailureKind::Network, 20));
    let consumer = net.consumer([A, B, C]).strategy("roundrobin").build().unwrap();
    let task = tokio::spawn(async move { ask(&consumer).await });
    assert_eq!(task.await.unwrap().unwrap(), C);
    assert_eq!(net.asked(), [A, B, C]);
}

#[tokio::test(start_paused = true)]
async fn case_082_what_is_retried_depends_on_who_failed() {
    let not_sent = Failure::not_sent(FailureKind::Serialization, "cannot be written");
    let refused = Failure::new(FailureKind::Forbidden, "not you").with_status(7);
    let unknown = Failure::new(FailureKind::Unauthenticated, "who are you").with_status(16);
    let unwritten = Failure::new(FailureKind::Serialization, "too large an answer");
    for (step, expected) in [
        (fails(FailureKind::Business, 1), 1),
        (silence(), 3),
        (fails(FailureKind::Network, 1), 3),
        (fails(FailureKind::LimitExceeded, 1), 3),
        (fails(FailureKind::NoAnswer, 1), 3),
        (fails_with(not_sent), 3),
        (fails_with(refused), 1),
        (fails_with(unknown), 1),
        (fails_with(unwritten), 1),
    ] {
        let net = Network::new();
        for address in [A, B, C] {
            net.at(address).always(step.clone());
        }
        let consumer = net.consumer([A, B, C]).build().unwrap();
        let error = ask(&consumer).await.unwrap_err();
        assert_eq!(error.attempts.len(), expected, "{step:?}");
        let text = error.to_string();
        assert!(error.addresses().iter().all(|address| text.contains(address)), "{text}");
        assert!(text.contains(&format!("{expected} attempt")), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn case_084_an_empty_or_used_up_list_is_never_an_index_error() {
    let net = Network::new();
    // (b) a list of one, down and already tried.
    net.at(A).door(Door::Refusing);
    let consumer = net.consumer([A]).build().unwrap();
    settle().await;
    assert_eq!(ask(&consumer).await.unwrap_err().addresses(), [A]);
    // (c) three, all tried, all down.
    for address in [B, C] {
        net.at(address).door(Door::Refusing);
    }
    let consumer = net.consumer([A, B, C]).retries(9).build().unwrap();
    settle().await;
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(error.addresses().len(), 3);
    // (a) emptied in between: see `when_the_list_becomes_empty`; and before:
    consumer.update(Vec::<String>::new()).await.unwrap();
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(error.failure.kind, FailureKind::NoProvider);
    assert!(error.to_string().contains("com.ex.Svc"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn the_retry_budget_bounds_retries_to_a_share_of_calls() {
    let net = Network::new();
    for address in [A, B, C] {
        net.at(address).always(fails(FailureKind::Network, 1));
    }
    let consumer = net.consumer([A, B, C]).retries(2).retry_budget(0.1).build().unwrap();
    for _ in 0..1000 {
        ask(&consumer).await.unwrap_err();
    }
    // Ten at once, then a tenth of the calls; without the budget there would be 2000.
    let retries = net.seen().len() - 1000;
    assert!((100..=110).contains(&retries), "{retries} retries");
    // A success costs nothing, and a business error is not retried, budget or not.
    net.forget();
    for address in [A, B, C] {
        net.at(address).always(answers(1));
    }
    ask_all(&consumer, 100).await;
    assert_eq!(net.seen().len(), 100);
}
