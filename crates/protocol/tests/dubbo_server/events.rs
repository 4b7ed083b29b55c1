//! Frames that are no calls.

use std::time::Duration;

use crate::service::serve;
use crate::wire::{Came, connect, frame, greet};

#[tokio::test]
async fn heartbeats_are_answered() {
    let (server, _hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    // One way: no answer.
    peer.send(&frame(0xA2, 0, 6, b"N")).await;
    peer.send(&frame(0xE2, 0, u64::MAX, b"N")).await;
    let answer = Came { flags: 0x22, status: 20, id: u64::MAX, body: b"N".to_vec() };
    assert_eq!(peer.next().await, answer);
    // dubbo-go ends everything with another null.
    peer.send(&frame(0xE2, 0, 8, b"NN")).await;
    assert_eq!(peer.next().await, Came { id: 8, ..answer.clone() });
    // Null of another serialization.
    peer.send(&frame(0xF7, 0, 9, b"\x00\x00\x00\x01\xAF")).await;
    let other = Came { flags: 0x37, status: 20, id: 9, body: b"\x00\x00\x00\x01\xAF".to_vec() };
    assert_eq!(peer.next().await, other);
}

#[tokio::test]
async fn what_consumers_say_of_themselves_is_not_answered() {
    let (server, _hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    peer.send(&frame(0xE2, 0, 1, b"\x01R")).await;
    peer.send(&frame(0xE2, 0, 2, b"\x01W")).await;
    peer.send(&frame(0x22, 20, 3, b"N")).await;
    peer.send(&frame(0x02, 20, 4, b"\x92")).await;
    assert_eq!(peer.call(&greet(5)).await.status, 20);
}

#[tokio::test]
async fn events_that_are_none_are_refused() {
    let (server, _hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    for body in [&b""[..], &[b'N'; 16]] {
        peer.send(&frame(0xA2, 0, 1, body)).await;
        peer.send(&frame(0xE2, 0, 2, body)).await;
        let came = peer.next().await;
        assert_eq!((came.flags, came.status, came.id), (0x02, 40, 2));
    }
    peer.send(&frame(0xE2, 0, 3, &[b'N'; 15])).await;
    assert_eq!(peer.next().await.status, 20);
}

#[tokio::test]
async fn a_silent_peer_is_asked_for_a_sign_of_life() {
    let interval = Duration::from_millis(1);
    let (server, _hold) = serve(|server| server.keep_alive_interval(Some(interval))).await;
    let mut peer = connect(server.local_addr()).await;
    peer.send(&frame(0x22, 20, 1, b"N")).await;
    let came = peer.next().await;
    assert_eq!((came.flags, came.body.as_slice()), (0xE2, &b"N"[..]));
}

#[tokio::test]
async fn a_peer_that_stays_silent_is_given_up() {
    let silence = Duration::from_millis(1);
    let (server, _hold) = serve(|server| server.silence_timeout(Some(silence))).await;
    let mut peer = connect(server.local_addr()).await;
    peer.send(&frame(0x22, 20, 1, b"N")).await;
    assert!(peer.is_closed().await);
}

#[tokio::test]
async fn a_connection_without_calls_is_taken_leave_of() {
    let idle = Duration::from_millis(1);
    let (server, _hold) = serve(|server| server.idle_timeout(Some(idle))).await;
    let mut peer = connect(server.local_addr()).await;
    peer.send(&frame(0x22, 20, 1, b"N")).await;
    assert_eq!(peer.next().await.body, b"\x01R");
    let asked = peer.next().await;
    peer.send(&frame(0x22, 20, asked.id, b"N")).await;
    assert!(peer.is_closed().await);
}
