//! How a provider ends.

use std::time::Duration;

use crate::service::{Seen, serve};
use crate::wire::{Peer, ask, connect, frame, greet};

const LONG: Duration = Duration::from_secs(60);

/// Reads the farewell. The answer is the number of the heartbeat behind it.
async fn farewell(peer: &mut Peer) -> u64 {
    let said = peer.next().await;
    assert_eq!((said.flags, said.status, said.body.as_slice()), (0xA2, 0, &b"\x01R"[..]));
    let asked = peer.next().await;
    assert_eq!((asked.flags, asked.status, asked.body.as_slice()), (0xE2, 0, &b"N"[..]));
    asked.id
}

#[tokio::test]
async fn case_154_calls_in_flight_finish_and_then_the_connection_closes() {
    let (server, mut hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    for id in 0..10 {
        peer.send(&ask(id, "hold").bytes()).await;
    }
    hold.started(10).await;
    let ending = tokio::spawn(server.shutdown(LONG));
    let heartbeat = farewell(&mut peer).await;
    peer.send(&frame(0x22, 20, heartbeat, b"N")).await;
    hold.release();
    for _ in 0..10 {
        assert_eq!(peer.next().await.status, 20);
    }
    assert!(peer.is_closed().await);
    assert!(ending.await.unwrap());
}

#[tokio::test]
async fn case_155_calls_that_arrive_late_are_served() {
    let (server, _hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    assert_eq!(peer.call(&greet(1)).await.status, 20);
    let ending = tokio::spawn(server.shutdown(LONG));
    let heartbeat = farewell(&mut peer).await;
    // Sent before the peer heard of it.
    assert_eq!(peer.call(&greet(2)).await.status, 20);
    assert!(!ending.is_finished());
    // The last call is there before the answer to the heartbeat, so it is served too.
    let last = [greet(3).bytes(), frame(0x22, 20, heartbeat, b"N")].concat();
    peer.send(&last).await;
    assert_eq!(peer.next().await.id, 3);
    assert!(peer.is_closed().await);
    assert!(ending.await.unwrap());
}

#[tokio::test]
async fn case_156_the_farewell_is_said_to_every_connection_once() {
    let (server, mut hold) = serve(|server| server).await;
    let mut peers = Vec::new();
    for id in 0..3 {
        let mut peer = connect(server.local_addr()).await;
        peer.send(&ask(id, "hold").bytes()).await;
        peers.push(peer);
    }
    hold.started(3).await;
    server.drain();
    for peer in &mut peers {
        farewell(peer).await;
    }
    server.drain();
    hold.release();
    for peer in &mut peers {
        assert_eq!(peer.next().await.status, 20);
        assert_eq!(peer.call(&greet(9)).await.status, 20);
    }
}

#[tokio::test]
async fn a_peer_that_hangs_up_after_the_farewell_is_done() {
    let (server, _hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    assert_eq!(peer.call(&greet(1)).await.status, 20);
    let ending = tokio::spawn(server.shutdown(LONG));
    farewell(&mut peer).await;
    drop(peer);
    assert!(ending.await.unwrap());
}

#[tokio::test]
async fn a_call_that_outlives_the_grace_is_cut_off() {
    let (server, mut hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    peer.send(&ask(1, "never").bytes()).await;
    peer.send(&ask(2, "never").one_way().bytes()).await;
    hold.started(2).await;
    assert!(!server.shutdown(Duration::ZERO).await);
    assert_eq!(hold.seen.recv().await, Some(Seen::Dropped));
    assert_eq!(hold.seen.recv().await, Some(Seen::Dropped));
    while let Some(came) = peer.maybe_next().await {
        assert_eq!(came.flags & 0x20, 0x20, "{came:?}");
    }
}

#[tokio::test]
async fn dropping_the_server_ends_it() {
    let (server, mut hold) = serve(|server| server).await;
    let mut peer = connect(server.local_addr()).await;
    peer.send(&ask(1, "never").bytes()).await;
    hold.started(1).await;
    drop(server);
    assert_eq!(hold.seen.recv().await, Some(Seen::Dropped));
    assert!(peer.is_closed().await);
}
