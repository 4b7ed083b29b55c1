//! Streams are balanced per call, counted while they live, and move on only while nobody has seen
//! anything of them.

use bytes::Bytes;
use equipoise_client::{Consumer, Streaming};
use equipoise_core::outcome::{Failure, FailureKind};
use equipoise_core::port::{Body, BodyFormat};
use equipoise_core::stream::StreamKind;

use crate::common::*;

async fn open(consumer: &Consumer) -> Streaming {
    consumer.call("echo").raw_stream(StreamKind::Both, BodyFormat::Protobuf).await.unwrap()
}

fn message(text: &'static str) -> Body {
    Body::protobuf(Bytes::from_static(text.as_bytes()))
}

fn unseen() -> Failure {
    Failure::not_sent(FailureKind::Network, "refused unseen")
}

#[tokio::test(start_paused = true)]
async fn open_streams_count_until_their_end() {
    let net = Network::new();
    let consumer = net.consumer([A, B]).strategy("leastactive").build().unwrap();
    settle().await;
    let mut first = open(&consumer).await;
    let second = open(&consumer).await;
    assert_ne!(first.address(), second.address(), "an open stream is seen by the next choice");
    assert_eq!(active(&consumer), 2);
    first.send(message("hello")).await.unwrap();
    assert_eq!(first.next().await.unwrap().unwrap(), "hello");
    assert_eq!(active(&consumer), 2, "a message is not the end");
    first.finish().unwrap();
    assert_eq!(first.next().await.unwrap(), None);
    assert_eq!(active(&consumer), 1);
    assert_eq!(of(&consumer, first.address()).success, 1);
    drop(second);
    assert_eq!(active(&consumer), 0, "a dropped stream is counted out");
    let (sender, receiver) = open(&consumer).await.split();
    drop(sender);
    assert_eq!(active(&consumer), 1);
    drop(receiver);
    assert_eq!(active(&consumer), 0);
}

#[tokio::test(start_paused = true)]
async fn a_place_of_actives_is_held_by_the_stream_and_freed_by_its_end() {
    let net = Network::new();
    let consumer = net.consumer([A]).set("actives", "1").retries(0).build().unwrap();
    settle().await;
    let first = open(&consumer).await;
    let refused = consumer.call("echo").raw_stream(StreamKind::Both, BodyFormat::Protobuf).await;
    assert_eq!(refused.err().unwrap().failure.kind, FailureKind::LimitExceeded);
    let waiting = tokio::spawn({
        let consumer = consumer.clone();
        async move { open(&consumer).await.address().to_owned() }
    });
    pass(1).await;
    drop(first);
    assert_eq!(waiting.await.unwrap(), A);
}

#[tokio::test(start_paused = true)]
async fn an_opening_that_fails_moves_on() {
    let net = Network::new();
    let consumer = net.consumer([A, B]).strategy("roundrobin").retries(1).build().unwrap();
    settle().await;
    net.at(A).always(goes_away());
    for _ in 0..4 {
        assert_eq!(open(&consumer).await.address(), B);
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_seen_is_never_opened_again() {
    let net = Network::new();
    let consumer = net.consumer([A, B]).retries(5).build().unwrap();
    settle().await;
    for failure in [unseen(), Failure::new(FailureKind::Network, "lost")] {
        for address in [A, B] {
            net.at(address).always(fails_with(failure.clone()));
        }
        net.forget();
        let mut stream = open(&consumer).await;
        stream.send(message("one")).await.unwrap();
        stream.next().await.unwrap_err();
        assert_eq!(net.asked().len(), 1, "{failure}");
        assert_eq!(active(&consumer), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn the_one_message_of_a_stream_that_nobody_saw_goes_to_another() {
    let net = Network::new();
    let consumer = net.consumer([A, B]).retries(0).policy("failfast").build().unwrap();
    settle().await;
    for address in [A, B] {
        net.at(address).next(fails_with(unseen()));
        net.at(address).next(answers(0));
    }
    let mut stream = consumer.call("echo").raw_server_streaming(message("q")).await.unwrap();
    // Moved once, free of charge, and refused there too.
    assert_eq!(stream.next().await.unwrap_err().made, 2);
    let mut stream = consumer.call("echo").raw_server_streaming(message("q")).await.unwrap();
    assert_eq!(stream.next().await.unwrap().unwrap(), "q");
    assert_eq!(stream.next().await.unwrap(), None);
    assert_eq!(active(&consumer), 0);
}

#[tokio::test(start_paused = true)]
async fn only_a_deadline_of_its_own_bounds_a_stream() {
    let net = Network::new();
    let consumer = net.consumer([A]).timeout(ms(100)).build().unwrap();
    settle().await;
    let mut stream = open(&consumer).await;
    pass(10_000).await;
    stream.send(message("late")).await.unwrap();
    assert_eq!(stream.next().await.unwrap().unwrap(), "late");
    drop(stream);
    let call = consumer.call("echo").deadline(ms(300));
    let mut stream = call.raw_stream(StreamKind::Both, BodyFormat::Protobuf).await.unwrap();
    assert!(net.seen().last().unwrap().timeout.unwrap() <= ms(300));
    let error = stream.next().await.unwrap_err();
    assert_eq!((error.failure.kind, error.failure.status), (FailureKind::Timeout, Some(4)));
    assert_eq!(of(&consumer, A).errors["timeout"], 1);
    net.at(A).always(silence());
    let call = consumer.call("echo").retries(0);
    let error = call.raw_stream(StreamKind::Both, BodyFormat::Protobuf).await.err().unwrap();
    assert_eq!(error.failure.kind, FailureKind::Timeout, "the timeout bounds the opening");
    assert_eq!(active(&consumer), 0);
}
