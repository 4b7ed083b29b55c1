//! Beginning and end of connections: draining, going away, loss, limits.
#![allow(clippy::unwrap_used)] // What a test takes for granted it may unwrap, in its helpers too.

mod common;

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use common::{
    Seen, against, connect, connect_with, framed, raw_peer, request, serve, spawn, status, within,
};
use equipoise_core::outcome::{FailureKind, Sent};
use equipoise_core::port::Protocol;
use equipoise_protocol::Tri;
use equipoise_protocol::code;
use http::{HeaderMap, HeaderValue, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, mpsc};

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_drained_server_finishes_its_calls_and_takes_no_new_ones() {
    let (server, mut hold) = serve(|server| server).await;
    let address = server.local_addr();
    let connection = connect(address).await;
    let calls: Vec<_> = (0..5).map(|_| spawn(&connection, request("hold", "x"))).collect();
    hold.started(5).await;
    let ending = tokio::spawn(server.shutdown(LONG));
    connection.unavailable().await;
    assert!(!connection.is_available());
    let failure = connection.send(request("echo", "")).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Network, Sent::No));
    assert!(Tri::new().connect(&common::url(address)).await.is_err());
    hold.release();
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap().body, "x");
    }
    assert!(ending.await.unwrap());
}

#[tokio::test]
async fn a_call_that_outlives_the_grace_is_cut_off() {
    let (server, mut hold) = serve(|server| server).await;
    let connection = connect(server.local_addr()).await;
    let call = spawn(&connection, request("never", ""));
    hold.started(1).await;
    assert!(!server.shutdown(Duration::ZERO).await);
    assert_eq!(hold.seen.recv().await, Some(Seen::Dropped));
    let failure = call.await.unwrap().unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Network, Sent::Maybe));
}

#[tokio::test]
async fn an_idle_connection_is_told_to_go_away_at_once() {
    let (server, _hold) = serve(|server| server).await;
    let connection = connect(server.local_addr()).await;
    assert!(server.shutdown(LONG).await);
    connection.unavailable().await;
    // It stays so, and whoever asks later learns it too.
    connection.unavailable().await;
}

#[tokio::test]
async fn dropping_the_server_ends_it() {
    let (server, mut hold) = serve(|server| server).await;
    let connection = connect(server.local_addr()).await;
    let call = spawn(&connection, request("never", ""));
    hold.started(1).await;
    drop(server);
    assert_eq!(call.await.unwrap().unwrap_err().kind, FailureKind::Network);
    assert_eq!(hold.seen.recv().await, Some(Seen::Dropped));
}

#[tokio::test]
async fn a_drained_client_finishes_its_calls_and_closes() {
    let (finished, wait) = tokio::sync::oneshot::channel();
    let (connection, peer) = against(Tri::new(), |mut peer| async move {
        let (request, mut respond) = peer.accept().await.unwrap().unwrap();
        // The answer is written while the connection is being waited for to close.
        let answer = async move {
            let _request = request;
            wait.await.unwrap();
            reply(&mut respond, Some("0"));
            pending::<()>().await;
        };
        tokio::select! {
            next = peer.accept() => assert!(next.is_none_or(|next| next.is_err())),
            () = answer => {}
        }
    })
    .await;
    let call = spawn(&connection, request("hold", ""));
    tokio::task::yield_now().await;
    connection.drain();
    assert!(!connection.is_available());
    connection.unavailable().await;
    let failure = connection.send(request("echo", "")).await.unwrap_err();
    assert_eq!(failure.sent, Sent::No);
    finished.send(()).unwrap();
    assert_eq!(call.await.unwrap().unwrap().body, "answer");
    peer.await.unwrap();
}

#[tokio::test]
async fn a_connection_nobody_holds_is_closed() {
    let (connection, peer) = against(Tri::new(), |mut peer| async move {
        assert!(peer.accept().await.is_none());
    })
    .await;
    drop(connection);
    peer.await.unwrap();
}

/// Headers, one message and trailers.
fn reply(respond: &mut h2::server::SendResponse<Bytes>, status: Option<&'static str>) {
    let head = Response::builder().header("content-type", "application/grpc").body(()).unwrap();
    let mut stream = respond.send_response(head, false).unwrap();
    stream.send_data(framed(b"answer"), false).unwrap();
    let mut trailers = HeaderMap::new();
    trailers.insert("x", HeaderValue::from_static("y"));
    if let Some(status) = status {
        trailers.insert("grpc-status", HeaderValue::from_static(status));
    }
    stream.send_trailers(trailers).unwrap();
}

#[tokio::test]
async fn case_180_a_lost_connection_fails_all_its_calls_at_once() {
    let (connection, peer) = against(Tri::new(), |mut peer| async move {
        let mut taken = Vec::new();
        for _ in 0..5 {
            taken.push(peer.accept().await.unwrap().unwrap());
        }
        peer.abrupt_shutdown(h2::Reason::NO_ERROR);
        drop((peer, taken));
    })
    .await;
    let calls: Vec<_> =
        (0..5).map(|_| spawn(&connection, within(request("never", ""), LONG))).collect();
    for call in calls {
        let failure = call.await.unwrap().unwrap_err();
        assert_eq!((failure.kind, failure.sent), (FailureKind::Network, Sent::Maybe), "{failure}");
        assert_eq!(status(&failure), code::UNAVAILABLE);
    }
    connection.unavailable().await;
    peer.await.unwrap();
}

#[tokio::test]
async fn case_169_a_reset_socket_fails_twenty_calls_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (close, closed) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let peer = tokio::spawn({
        let (close, closed) = (close.clone(), closed.clone());
        async move {
            let socket = raw_peer(&listener).await;
            // Closing answers with a reset when the kernel still holds unread bytes, and a linger
            // of zero makes it one in any case.
            socket2::SockRef::from(&socket).set_linger(Some(Duration::ZERO)).unwrap();
            let mut peer = h2::server::handshake(socket).await.unwrap();
            let mut taken: Vec<_> = Vec::new();
            for _ in 0..20 {
                taken.push(peer.accept().await.unwrap().unwrap());
            }
            close.notified().await;
            drop((taken, peer));
            closed.notify_one();
        }
    });
    let connection = connect(address).await;
    let calls: Vec<_> =
        (0..20).map(|_| spawn(&connection, within(request("never", ""), LONG))).collect();
    close.notify_one();
    closed.notified().await;
    for call in calls {
        let failure = call.await.unwrap().unwrap_err();
        assert_eq!((failure.kind, failure.sent), (FailureKind::Network, Sent::Maybe), "{failure}");
    }
    assert!(!connection.is_available());
    peer.await.unwrap();
}

/// Reads frames as they are on the wire.
async fn frame(socket: &mut TcpStream) -> (u8, u8, u32, Vec<u8>) {
    let mut head = [0; 9];
    socket.read_exact(&mut head).await.unwrap();
    let len = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    let mut payload = vec![0; usize::try_from(len).unwrap()];
    socket.read_exact(&mut payload).await.unwrap();
    let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
    (head[3], head[4], stream, payload)
}

fn wire(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let len = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut bytes = vec![len[1], len[2], len[3], kind, flags];
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// A peer that speaks HTTP/2 byte by byte: greets, answers the first ping, and collects the ids
/// of `calls` requests.
async fn by_hand(listener: TcpListener, calls: usize) -> (TcpStream, Vec<u32>) {
    let mut socket = raw_peer(&listener).await;
    let mut preface = [0; 24];
    socket.read_exact(&mut preface).await.unwrap();
    socket.write_all(&wire(4, 0, 0, &[])).await.unwrap();
    let mut ids = Vec::new();
    while ids.len() < calls {
        match frame(&mut socket).await {
            (4, 0, ..) => socket.write_all(&wire(4, 1, 0, &[])).await.unwrap(),
            (6, 0, _, ping) => socket.write_all(&wire(6, 1, 0, &ping)).await.unwrap(),
            // DATA with END_STREAM: the request is whole.
            (0, 1, id, _) => ids.push(id),
            _ => {}
        }
    }
    (socket, ids)
}

fn go_away(last: u32) -> Vec<u8> {
    let mut payload = last.to_be_bytes().to_vec();
    payload.extend_from_slice(&[0; 4]);
    wire(7, 0, 0, &payload)
}

/// `:status 200`, then trailers `grpc-status: 0`, in HPACK without its table.
fn answer(id: u32) -> Vec<u8> {
    let mut trailers = vec![0, 11];
    trailers.extend_from_slice(b"grpc-status");
    trailers.extend_from_slice(b"\x010");
    let mut bytes = wire(1, 4, id, &[0x88]);
    bytes.extend(wire(0, 0, id, &framed(b"done")));
    bytes.extend(wire(1, 5, id, &trailers));
    bytes
}

#[tokio::test]
async fn case_180_calls_above_the_last_stream_were_not_sent_and_the_others_finish() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let peer = tokio::spawn(async move {
        let (mut socket, ids) = by_hand(listener, 5).await;
        socket.write_all(&go_away(ids[1])).await.unwrap();
        for id in &ids[..2] {
            socket.write_all(&answer(*id)).await.unwrap();
        }
        // The client closes once its calls are over.
        let mut rest = Vec::new();
        socket.read_to_end(&mut rest).await.unwrap();
    });
    let connection = connect(address).await;
    let (sender, mut results) = mpsc::unbounded_channel();
    for _ in 0..5 {
        let (connection, sender) = (connection.clone(), sender.clone());
        tokio::spawn(async move {
            sender.send(connection.send(within(request("x", ""), LONG)).await).unwrap();
        });
    }
    let (mut finished, mut moved) = (0, 0);
    for _ in 0..5 {
        match results.recv().await.unwrap() {
            Ok(reply) => {
                assert_eq!(reply.body, "done");
                finished += 1;
            }
            Err(failure) => {
                let found = (failure.kind, failure.sent);
                assert_eq!(found, (FailureKind::Network, Sent::No), "{failure}");
                moved += 1;
            }
        }
    }
    assert_eq!((finished, moved), (2, 3));
    connection.unavailable().await;
    let failure = connection.send(request("x", "")).await.unwrap_err();
    assert_eq!(failure.sent, Sent::No);
    peer.await.unwrap();
}

#[tokio::test]
async fn a_connection_that_breaks_after_going_away_leaves_its_calls_in_doubt() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let peer = tokio::spawn(async move {
        let (mut socket, _) = by_hand(listener, 2).await;
        socket.write_all(&go_away(u32::MAX >> 1)).await.unwrap();
        socket.shutdown().await.unwrap();
    });
    let connection = connect(address).await;
    let calls = [spawn(&connection, request("x", "")), spawn(&connection, request("x", ""))];
    for call in calls {
        let failure = call.await.unwrap().unwrap_err();
        assert_eq!((failure.kind, failure.sent), (FailureKind::Network, Sent::Maybe), "{failure}");
    }
    peer.await.unwrap();
}

#[tokio::test]
async fn case_183_thousands_of_late_answers_do_not_break_the_connection() {
    const CALLS: usize = 2_100;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (started, all_started) = tokio::sync::oneshot::channel();
    let peer = tokio::spawn(async move {
        let (mut socket, ids) = by_hand(listener, CALLS).await;
        started.send(()).unwrap();
        let mut reset = 0;
        while reset < CALLS {
            // RST_STREAM with CANCEL.
            if let (3, _, _, reason) = frame(&mut socket).await {
                assert_eq!(reason, [0, 0, 0, 8]);
                reset += 1;
            }
        }
        for id in ids {
            socket.write_all(&answer(id)).await.unwrap();
        }
        loop {
            if let (0, 1, id, _) = frame(&mut socket).await {
                socket.write_all(&answer(id)).await.unwrap();
                return socket;
            }
        }
    });
    let connection = connect(address).await;
    let calls: Vec<_> = (0..CALLS).map(|_| spawn(&connection, request("slow", ""))).collect();
    all_started.await.unwrap();
    for call in &calls {
        call.abort();
    }
    for call in calls {
        assert!(call.await.unwrap_err().is_cancelled());
    }
    assert_eq!(connection.send(request("next", "")).await.unwrap().body, "done");
    assert!(connection.is_available());
    peer.await.unwrap();
}

#[tokio::test]
async fn a_storm_of_withdrawn_calls_does_not_break_the_connection() {
    let (server, _hold) = serve(|server| server).await;
    let connection = connect(server.local_addr()).await;
    // All are begun and withdrawn before the server sees a byte of them.
    let mut calls: Vec<_> = (0..500).map(|_| connection.send(request("never", ""))).collect();
    std::future::poll_fn(|cx| {
        for call in &mut calls {
            assert!(call.as_mut().poll(cx).is_pending());
        }
        std::task::Poll::Ready(())
    })
    .await;
    drop(calls);
    assert_eq!(connection.send(request("echo", "next")).await.unwrap().body, "next");
    assert!(connection.is_available());
}

#[tokio::test]
async fn case_156_a_call_after_the_goodbye_is_provably_not_sent() {
    let (server, mut hold) = serve(|server| server).await;
    let connection = connect(server.local_addr()).await;
    let held = spawn(&connection, request("hold", "seen"));
    hold.started(1).await;
    server.drain();
    connection.unavailable().await;
    for _ in 0..100 {
        let failure = connection.send(request("echo", "")).await.unwrap_err();
        assert_eq!((failure.kind, failure.sent), (FailureKind::Network, Sent::No));
        assert!(failure.retryable());
    }
    hold.release();
    assert_eq!(held.await.unwrap().unwrap().body, "seen");
}

#[tokio::test]
async fn a_refused_stream_was_not_sent() {
    let (connection, peer) = against(Tri::new(), |mut peer| async move {
        for reason in [h2::Reason::REFUSED_STREAM, h2::Reason::CANCEL] {
            let (_request, mut respond) = peer.accept().await.unwrap().unwrap();
            respond.send_reset(reason);
        }
        assert!(peer.accept().await.is_none());
    })
    .await;
    for (sent, code) in [(Sent::No, code::UNAVAILABLE), (Sent::Maybe, code::CANCELLED)] {
        let failure = connection.send(request("x", "")).await.unwrap_err();
        assert_eq!((failure.kind, failure.sent), (FailureKind::Network, sent), "{failure}");
        assert_eq!(status(&failure), code);
    }
    assert!(connection.is_available());
    drop(connection);
    peer.await.unwrap();
}

#[tokio::test]
async fn a_peer_that_is_silent_or_speaks_something_else_is_no_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = common::url(listener.local_addr().unwrap());
    let talker = tokio::spawn(async move {
        let mut socket = raw_peer(&listener).await;
        socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        let mut silent = raw_peer(&listener).await;
        silent.read_to_end(&mut Vec::new()).await.unwrap();
    });
    let failure = Tri::new().connect(&url).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Network, Sent::No), "{failure}");
    let hasty = Tri::new().connect_timeout(Duration::from_millis(20));
    let failure = hasty.connect(&url).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Network, Sent::No));
    assert!(failure.message.contains("connect_timeout"), "{failure}");
    talker.await.unwrap();
}

#[tokio::test]
async fn a_peer_that_gives_no_sign_of_life_is_lost() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let peer = tokio::spawn(async move { by_hand(listener, 1).await });
    let connection = connect(address).await;
    let call = spawn(&connection, request("never", ""));
    // From here on the peer is silent; virtual time goes on by itself.
    let (_socket, _) = peer.await.unwrap();
    tokio::time::pause();
    let started = tokio::time::Instant::now();
    let failure = call.await.unwrap().unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Network, Sent::Maybe));
    assert!(!connection.is_available());
    assert!(started.elapsed() > Duration::from_secs(300), "interval and timeout have passed");
}

#[tokio::test]
async fn connections_over_the_limit_are_closed() {
    let (server, _hold) = serve(|server| server.max_connections(1)).await;
    let connection = connect(server.local_addr()).await;
    assert!(Tri::new().connect(&common::url(server.local_addr())).await.is_err());
    connection.send(request("echo", "")).await.unwrap();
}

#[tokio::test]
async fn idle_connections_are_closed_and_busy_ones_are_not() {
    let (server, mut hold) =
        serve(|server| server.idle_timeout(Some(Duration::from_millis(5)))).await;
    let busy = connect(server.local_addr()).await;
    let held = spawn(&busy, request("hold", ""));
    hold.started(1).await;
    let idle = connect_with(&Tri::new(), server.local_addr()).await;
    idle.unavailable().await;
    hold.release();
    held.await.unwrap().unwrap();
    busy.unavailable().await;
    let mut silent = TcpStream::connect(server.local_addr()).await.unwrap();
    silent.write_all(b"POST ").await.unwrap();
    // Half a request does not hold the server up; how its socket ends is the kernel's choice.
    assert!(server.shutdown(LONG).await);
    let mut rest = Vec::new();
    let _ = silent.read_to_end(&mut rest).await;
    assert_eq!(rest, b"");
}
