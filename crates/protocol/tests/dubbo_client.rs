//! The client of `dubbo` over real sockets, against a peer made by hand.
#![allow(clippy::unwrap_used)] // What a test takes for granted it may unwrap, in its helpers too.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use equipoise_core::attachments::Attachments;
use equipoise_core::hash::key::Argument;
use equipoise_core::outcome::{Failure, FailureKind, Sent};
use equipoise_core::port::{Arguments, Body, Connection, Protocol, Request};
use equipoise_core::service::ServiceKey;
use equipoise_core::url::Url;
use equipoise_protocol::{Dubbo, lookup};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Arguments that are one value.
#[derive(Debug)]
struct One(Bytes);

impl Arguments for One {
    fn descriptor(&self) -> &str {
        "Ljava/lang/Object;"
    }

    fn joined(&self) -> Result<Bytes, Failure> {
        Ok(self.0.clone())
    }

    fn each(&self) -> Result<Vec<Bytes>, Failure> {
        Ok(vec![self.0.clone()])
    }

    fn hashed(&self) -> Vec<Argument> {
        Vec::new()
    }
}

fn call(argument: impl Into<Bytes>) -> Request {
    Request {
        service: Arc::new(ServiceKey::new("test.Echo")),
        method: "$echo".into(),
        body: Body::Java(Arc::new(One(argument.into()))),
        types: None,
        one_way: false,
        attachments: Attachments::new(),
        timeout: Some(Duration::from_secs(60)),
    }
}

async fn listen() -> (TcpListener, Url) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = url(listener.local_addr().unwrap(), "");
    (listener, url)
}

fn url(address: SocketAddr, query: &str) -> Url {
    Url::parse(&format!("dubbo://{address}/test.Echo?{query}")).unwrap()
}

async fn connect(client: &Dubbo, url: &Url) -> Arc<dyn Connection> {
    client.connect(url).await.unwrap()
}

/// A frame, or `None` where the stream ends.
async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Option<([u8; 16], Vec<u8>)> {
    let mut header = [0; 16];
    stream.read_exact(&mut header).await.ok()?;
    let mut body = vec![0; u32::from_be_bytes(header[12..].try_into().unwrap()) as usize];
    stream.read_exact(&mut body).await.ok()?;
    Some((header, body))
}

/// Answers every call with its argument, which ends where the attachments begin.
async fn echo(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    while let Some((mut header, body)) = read(&mut stream).await {
        let before = b"\x05$echo\x12Ljava/lang/Object;";
        let start = body.windows(before.len()).position(|w| w == before).unwrap() + before.len();
        let end = body.windows(7).rposition(|w| w == b"H\x04path\x09").unwrap();
        let answer = [b"\x91", &body[start..end]].concat();
        header[2] = 2;
        header[3] = 20;
        header[12..].copy_from_slice(&(answer.len() as u32).to_be_bytes());
        stream.write_all(&[&header, &answer[..]].concat()).await.unwrap();
    }
}

#[tokio::test]
async fn calls_travel_and_the_registry_of_protocols_knows_how() {
    let (listener, url) = listen().await;
    let peer = tokio::spawn(async move { echo(listener.accept().await.unwrap().0).await });
    let row = lookup("DUBBO").unwrap();
    assert_eq!((row.scheme, row.default_port), ("dubbo", 20880));
    let connection = (row.client)().connect(&url).await.unwrap();
    let large = [&b"B\xff\xff"[..], &[7; 65_535]].concat();
    for argument in [b"N".to_vec(), large] {
        assert_eq!(connection.send(call(argument.clone())).await.unwrap().body, argument);
    }
    drop(connection);
    peer.await.unwrap();
}

#[tokio::test]
async fn nobody_at_home_is_no_connection_and_nothing_was_sent() {
    let (listener, url) = listen().await;
    drop(listener);
    let failure = Dubbo::new().connect(&url).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Network, Sent::No));
    assert!(failure.message.contains(&url.address()), "{failure}");
}

#[tokio::test]
async fn an_address_without_a_port_is_one_with_20880() {
    let failure = Dubbo::new().connect(&Url::parse("dubbo://127.0.0.1:1").unwrap()).await;
    assert!(failure.unwrap_err().message.contains("127.0.0.1:1:"));
    // Nothing can be known of what listens there on this machine; a host that is none will do.
    let failure = Dubbo::new().connect(&Url::parse("dubbo://no.such.host.invalid").unwrap()).await;
    assert!(failure.unwrap_err().message.contains("no.such.host.invalid:20880"));
}

#[tokio::test]
async fn several_connections_share_the_calls_and_end_together() {
    let (listener, mut url) = listen().await;
    url.set("connections", "3");
    let connecting = tokio::spawn(async move { connect(&Dubbo::new(), &url).await });
    let mut streams = Vec::new();
    for _ in 0..3 {
        streams.push(listener.accept().await.unwrap().0);
    }
    let connection = connecting.await.unwrap();
    let mut calls = JoinSet::new();
    for _ in 0..6 {
        let connection = connection.clone();
        calls.spawn(async move { connection.send(call("N")).await });
    }
    // Two calls on each.
    for stream in &mut streams {
        assert!(read(stream).await.is_some());
        assert!(read(stream).await.is_some());
    }
    // One is lost: no new calls on any, and those on the others are not touched.
    drop(streams.remove(0));
    connection.unavailable().await;
    assert_eq!(connection.send(call("N")).await.unwrap_err().sent, Sent::No);
    for _ in 0..2 {
        let failure = calls.join_next().await.unwrap().unwrap().unwrap_err();
        assert_eq!((failure.kind, failure.sent), (FailureKind::Network, Sent::Maybe));
    }
    assert!(calls.try_join_next().is_none());
    drop(streams);
    while let Some(ended) = calls.join_next().await {
        assert!(ended.unwrap().is_err());
    }
}

#[tokio::test]
async fn case_169_a_reset_ends_twenty_calls() {
    let (listener, url) = listen().await;
    let connection = connect(&Dubbo::new(), &url).await;
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut calls = JoinSet::new();
    for _ in 0..20 {
        let connection = connection.clone();
        calls.spawn(async move { connection.send(call("N")).await });
    }
    for _ in 0..20 {
        read(&mut stream).await.unwrap();
    }
    socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
    drop(stream);
    let mut ended = 0;
    while let Some(call) = calls.join_next().await {
        let failure = call.unwrap().unwrap_err();
        assert_eq!((failure.kind, failure.sent), (FailureKind::Network, Sent::Maybe));
        assert!(failure.retryable() && failure.message.contains("35"), "{failure}");
        ended += 1;
    }
    assert_eq!(ended, 20);
}

#[tokio::test]
async fn case_162_attempts_that_are_given_up_leave_no_connection() {
    let (listener, mut url) = listen().await;
    url.set("connections", "2");
    for round in 0..20 {
        let mut attempts: Vec<_> = (0..10)
            .map(|_| {
                let url = url.clone();
                tokio::spawn(async move { connect(&Dubbo::new(), &url).await })
            })
            .collect();
        tokio::task::yield_now().await;
        attempts.iter().skip(1).for_each(|attempt| attempt.abort());
        let mut kept = vec![attempts.remove(0).await.unwrap()];
        for attempt in attempts {
            // One that was faster than its end is a connection of somebody's.
            kept.extend(attempt.await.ok());
        }
        // Everything that was accepted is either kept or closed: the calls of the kept ones arrive,
        // the streams of the others end.
        let mut expected = 0;
        let mut sending = JoinSet::new();
        for connection in &kept {
            for _ in 0..2 {
                expected += 1;
                let connection = connection.clone();
                sending.spawn(async move {
                    let _ = connection.send(Request { one_way: true, ..call("N") }).await;
                });
            }
        }
        while sending.join_next().await.is_some() {}
        drop(kept);
        let mut called = 0;
        while called < expected {
            let mut stream: TcpStream = listener.accept().await.unwrap().0;
            called += usize::from(read(&mut stream).await.is_some());
            assert!(read(&mut stream).await.is_none(), "round {round}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_at_once_over_one_socket() {
    let (listener, url) = listen().await;
    let peer = tokio::spawn(async move { echo(listener.accept().await.unwrap().0).await });
    let connection = connect(&Dubbo::new(), &url).await;
    let mut tasks = JoinSet::new();
    for task in 0..64_u32 {
        let connection = connection.clone();
        tasks.spawn(async move {
            for i in 0..100 {
                let argument = [&b"I"[..], &(task << 16 | i).to_be_bytes()].concat();
                let reply = connection.send(call(argument.clone())).await.unwrap();
                assert_eq!(reply.body, argument);
            }
        });
    }
    while let Some(task) = tasks.join_next().await {
        task.unwrap();
    }
    drop(connection);
    peer.await.unwrap();
}

#[cfg(feature = "tls")]
mod tls {
    use equipoise_protocol::tls::{ClientTls, rustls};
    use rcgen::{CertifiedKey, generate_simple_self_signed};
    use rustls::pki_types::PrivateKeyDer;
    use tokio_rustls::TlsAcceptor;

    use super::*;

    /// A provider that knows no ALPN, as Dubbo's do not ask for it; and the trust in it.
    fn provider() -> (TlsAcceptor, ClientTls) {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        let trust = ClientTls::new(cert.pem().as_bytes(), None).unwrap();
        (TlsAcceptor::from(Arc::new(config)), trust)
    }

    #[tokio::test]
    async fn calls_travel_over_tls_without_a_name_for_the_protocol() {
        let (listener, url) = listen().await;
        let (acceptor, trust) = provider();
        let peer = tokio::spawn(async move {
            let stream = acceptor.accept(listener.accept().await.unwrap().0).await.unwrap();
            assert_eq!(stream.get_ref().1.alpn_protocol(), None);
            echo(stream).await;
        });
        let connection = connect(&Dubbo::new().tls(trust), &url).await;
        let large = [&b"B\xff\xff"[..], &[7; 65_535]].concat();
        for argument in [b"N".to_vec(), large] {
            assert_eq!(connection.send(call(argument.clone())).await.unwrap().body, argument);
        }
        drop(connection);
        peer.await.unwrap();
    }

    #[tokio::test]
    async fn the_url_decides_against_and_for_tls() {
        let (listener, mut url) = listen().await;
        let (_, trust) = provider();
        url.set("ssl-enabled", "false");
        let peer = tokio::spawn(async move { echo(listener.accept().await.unwrap().0).await });
        let connection = connect(&Dubbo::new().tls(trust), &url).await;
        assert_eq!(connection.send(call("N")).await.unwrap().body, "N");
        drop(connection);
        peer.await.unwrap();
        let (listener, mut url) = listen().await;
        url.set("ssl-enabled", "true");
        let (acceptor, trust) = provider();
        let peer = tokio::spawn(async move {
            acceptor.accept(listener.accept().await.unwrap().0).await.is_err()
        });
        // A certificate that the client does not trust.
        let (_, other) = provider();
        drop(trust);
        let failure = Dubbo::new().tls(other).connect(&url).await.unwrap_err();
        assert_eq!((failure.kind, failure.sent), (FailureKind::Network, Sent::No));
        assert!(peer.await.unwrap());
    }
}
