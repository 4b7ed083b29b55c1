//! Peers that send garbage: the server and the client stay what they were for everybody else.
#![allow(clippy::unwrap_used)] // What a test takes for granted it may unwrap, in its helpers too.

mod common;

use common::{connect, json, raw_peer, request, serve, spawn};
use equipoise_core::port::Protocol;
use equipoise_protocol::Tri;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Bytes of one kind of nonsense or another.
fn nonsense(rng: &mut fastrand::Rng) -> Vec<u8> {
    let noise = |rng: &mut fastrand::Rng, most: usize| {
        (0..rng.usize(..most)).map(|_| rng.u8(..)).collect::<Vec<u8>>()
    };
    let mut bytes = Vec::new();
    match rng.u8(..4) {
        0 => bytes = noise(rng, 200),
        1 => {
            bytes.extend_from_slice(b"POST /test.Temper/echo HTTP/1.1\r\n");
            bytes.extend(noise(rng, 200));
        }
        2 => bytes.extend_from_slice(&PREFACE[..rng.usize(..PREFACE.len())]),
        _ => {
            bytes.extend_from_slice(PREFACE);
            bytes.extend(frame(4, 0, 0, &[]));
            for _ in 0..rng.usize(1..10) {
                let (kind, flags) = (rng.u8(..12), rng.u8(..));
                let (stream, payload) = (rng.u32(..8), noise(rng, 60));
                bytes.extend(frame(kind, flags, stream, &payload));
            }
        }
    }
    bytes
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let len = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut bytes = vec![len[1], len[2], len[3], kind, flags];
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

#[tokio::test]
async fn nonsense_from_clients_harms_nobody_else() {
    let (server, mut hold) = serve(|server| server).await;
    let connection = connect(server.local_addr()).await;
    let held = spawn(&connection, request("hold", "x"));
    hold.started(1).await;
    let mut rng = fastrand::Rng::with_seed(7);
    for _ in 0..300 {
        let mut socket = TcpStream::connect(server.local_addr()).await.unwrap();
        // The server may hang up at any point of it.
        if socket.write_all(&nonsense(&mut rng)).await.is_ok() {
            let _ = socket.shutdown().await;
            let _ = socket.read_to_end(&mut Vec::new()).await;
        }
    }
    assert!(connection.is_available());
    assert_eq!(connection.send(json("echo", "[1]")).await.unwrap().body, "[1]");
    hold.release();
    assert_eq!(held.await.unwrap().unwrap().body, "x");
    assert!(server.shutdown(std::time::Duration::from_secs(60)).await);
}

#[tokio::test]
async fn nonsense_from_servers_is_a_failure_and_never_a_panic() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = common::url(listener.local_addr().unwrap());
    let peer = tokio::spawn(async move {
        let mut rng = fastrand::Rng::with_seed(11);
        for _ in 0..300 {
            let mut socket = raw_peer(&listener).await;
            let mut bytes = nonsense(&mut rng);
            // What a server of HTTP/2 says has no preface.
            if bytes.starts_with(PREFACE) {
                bytes.drain(..PREFACE.len());
            }
            let _ = socket.write_all(&bytes).await;
            let _ = socket.shutdown().await;
        }
    });
    for _ in 0..300 {
        // A ping's answer may be among the nonsense; then the connection ends a moment later.
        if let Ok(connection) = Tri::new().connect(&url).await {
            let _ = connection.send(request("echo", "")).await.unwrap_err();
            connection.unavailable().await;
        }
    }
    peer.await.unwrap();
}
