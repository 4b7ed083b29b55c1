//! `broadcast`: everybody is called, any failure fails the call.

use equipoise_client::Consumer;
use equipoise_core::outcome::FailureKind;

use crate::common::*;

fn broadcast(net: &Network, list: &[&str], percent: Option<&str>) -> Consumer {
    let builder = net.consumer(list.iter().copied()).policy("broadcast");
    builder.set("broadcast.fail.percent", percent.unwrap_or_default()).build().unwrap()
}

fn all_fail(net: &Network) {
    for address in [A, B, C, D] {
        net.at(address).always(fails(FailureKind::NoAnswer, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn case_097_a_success_does_not_cover_an_earlier_failure() {
    let net = Network::new();
    net.at(B).always(fails(FailureKind::NoAnswer, 1));
    let consumer = broadcast(&net, &[A, B, C], None);
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(net.asked(), [A, B, C], "in list order");
    assert_eq!(error.addresses(), [B]);
    assert_eq!(error.failure.kind, FailureKind::NoAnswer);
}

// E 4.3.13
#[tokio::test(start_paused = true)]
async fn case_098_it_stops_when_the_share_of_failures_is_reached() {
    for (percent, expected) in
        [(Some("50"), 2), (Some("25"), 1), (Some("75"), 3), (Some("100"), 4), (None, 4)]
    {
        let net = Network::new();
        all_fail(&net);
        let error = ask(&broadcast(&net, &[A, B, C, D], percent)).await.unwrap_err();
        assert_eq!(net.seen().len(), expected, "percent = {percent:?}");
        assert_eq!(error.attempts.len(), expected, "percent = {percent:?}");
    }
}

// E 4.3.14
#[tokio::test(start_paused = true)]
async fn a_threshold_of_zero_never_stops() {
    let net = Network::new();
    all_fail(&net);
    ask(&broadcast(&net, &[A, B, C], Some("20"))).await.unwrap_err();
    assert_eq!(net.asked(), [A, B, C]);
}

// E 4.3.15
#[tokio::test(start_paused = true)]
async fn one_failure_of_four_fails_the_call_after_all_were_called() {
    for bad in [A, B, C, D] {
        let net = Network::new();
        net.at(bad).always(fails(FailureKind::NoAnswer, 1));
        let consumer = broadcast(&net, &[A, B, C, D], Some("100"));
        assert_eq!(ask(&consumer).await.unwrap_err().addresses(), [bad]);
        assert_eq!(net.asked(), [A, B, C, D]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_result_is_returned() {
    let net = Network::new();
    assert_eq!(ask(&broadcast(&net, &[A, B, C], None)).await.unwrap(), C);
}

#[tokio::test(start_paused = true)]
async fn a_business_error_counts_as_a_failure() {
    let net = Network::new();
    net.at(A).always(fails(FailureKind::Business, 1));
    let error = ask(&broadcast(&net, &[A, B], None)).await.unwrap_err();
    assert_eq!(error.failure.kind, FailureKind::Business);
    assert_eq!(net.asked(), [A, B]);
}

#[tokio::test(start_paused = true)]
async fn one_that_is_down_is_a_recorded_failure_unless_it_connects() {
    let net = Network::new();
    net.at(B).door(Door::Refusing);
    let consumer = broadcast(&net, &[A, B, C], None);
    settle().await;
    assert!(!is_up(&consumer, B));
    let error = ask(&consumer).await.unwrap_err();
    assert_eq!(error.addresses(), [B]);
    assert_eq!(net.asked(), [A, C]);

    net.at(B).returns();
    pass(200).await;
    assert!(!is_up(&consumer, B), "its own next attempt to connect is still to come");
    net.forget();
    assert_eq!(ask(&consumer).await.unwrap(), C);
    assert_eq!(net.asked(), [A, B, C]);
}

#[tokio::test(start_paused = true)]
async fn who_is_called_is_fixed_at_the_start_and_the_departed_are_skipped() {
    let net = Network::new();
    net.at(A).always(answers(100));
    let consumer = broadcast(&net, &[A, B, C], None);
    settle().await;
    let changed = async {
        pass(50).await;
        consumer.update([A, C, D]).await.unwrap();
    };
    let (result, ()) = tokio::join!(ask(&consumer), changed);
    assert_eq!(result.unwrap(), C);
    assert_eq!(net.asked(), [A, C], "not B, which has left, nor D, which came later");
}

#[tokio::test(start_paused = true)]
async fn the_deadline_ends_it_early() {
    let net = Network::new();
    for address in [A, B, C] {
        net.at(address).always(answers(40));
    }
    let consumer = broadcast(&net, &[A, B, C], None);
    settle().await;
    let call = consumer.call("echo").deadline(ms(60));
    let error = call.json::<String>(&["x"]).await.unwrap_err();
    assert_eq!(net.asked(), [A, B]);
    assert_eq!(error.failure.kind, FailureKind::Timeout);
    assert_eq!(error.addresses(), [B]);
}

#[tokio::test(start_paused = true)]
async fn with_nobody_listed_it_says_so() {
    let net = Network::new();
    let error = ask(&broadcast(&net, &[], None)).await.unwrap_err();
    assert_eq!(error.failure.kind, FailureKind::NoProvider);
}
