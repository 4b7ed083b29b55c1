//! All protocols on one port, with and without TLS, and our own client.

use std::sync::Arc;

use bytes::Bytes;
use equipoise_core::attachments::Attachments;
use equipoise_core::hash::key::Argument;
use equipoise_core::outcome::Failure;
use equipoise_core::port::{Arguments, Body, Protocol, Request};
use equipoise_core::service::ServiceKey;
use equipoise_core::url::Url;
use equipoise_protocol::{Dubbo, Tri};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::service::{SERVICE, serve};
use crate::wire::{Peer, ask, connect, greet};

fn request(method: &str, body: Body) -> Request {
    Request {
        service: Arc::new(ServiceKey::new(SERVICE)),
        method: method.into(),
        body,
        types: None,
        one_way: false,
        attachments: Attachments::new(),
        timeout: None,
    }
}

#[tokio::test]
async fn one_port_speaks_dubbo_http2_and_http1() {
    let (server, _hold) = serve(|server| server).await;
    let address = server.local_addr();
    let mut dubbo = connect(address).await;
    let tri = Tri::new().connect(&Url::parse(&format!("tri://{address}")).unwrap()).await.unwrap();
    for id in 0..3 {
        assert_eq!(dubbo.call(&greet(id)).await.status, 20);
        let reply = tri.send(request("any", Body::protobuf("message"))).await.unwrap();
        assert_eq!(reply.body, "message");
        let mut http1 = TcpStream::connect(address).await.unwrap();
        let head = format!(
            "POST /{SERVICE}/any HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
             content-length: 2\r\nconnection: close\r\n\r\n[]"
        );
        http1.write_all(head.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        http1.read_to_end(&mut answer).await.unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    }
}

#[tokio::test]
async fn dubbo_can_be_left_out() {
    let (server, _hold) = serve(|server| server.dubbo(false)).await;
    let mut peer = connect(server.local_addr()).await;
    peer.send(&greet(1).bytes()[..2]).await;
    assert!(peer.is_closed().await);
}

/// `greet("world", 7)`, encoded.
#[derive(Debug)]
struct Greet;

impl Arguments for Greet {
    fn descriptor(&self) -> &str {
        "Ljava/lang/String;I"
    }

    fn joined(&self) -> Result<Bytes, Failure> {
        Ok(Bytes::from_static(b"\x05world\x97"))
    }

    fn each(&self) -> Result<Vec<Bytes>, Failure> {
        Ok(vec![Bytes::from_static(b"\x05world"), Bytes::from_static(b"\x97")])
    }

    fn hashed(&self) -> Vec<Argument> {
        Vec::new()
    }
}

#[tokio::test]
async fn our_client_calls_our_server() {
    let (server, _hold) = serve(|server| server).await;
    let url = Url::parse(&format!("dubbo://{}", server.local_addr())).unwrap();
    let connection = Dubbo::new().connect(&url).await.unwrap();
    for _ in 0..3 {
        let reply = connection.send(request("greet", Body::Java(Arc::new(Greet)))).await.unwrap();
        assert_eq!(reply.body, &b"\x0Ehello world x7"[..]);
    }
    let ending = tokio::spawn(server.shutdown(std::time::Duration::from_secs(60)));
    connection.unavailable().await;
    assert!(ending.await.unwrap());
}

#[cfg(feature = "tls")]
#[tokio::test]
async fn the_first_bytes_inside_tls_tell_the_protocol() {
    use equipoise_protocol::tls::{ClientTls, Identity, ServerTls};
    use tokio_rustls::TlsConnector;
    use tokio_rustls::rustls::{ClientConfig, RootCertStore, pki_types::ServerName};

    let key = rcgen::KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let (chain, pem) = (certificate.pem(), key.serialize_pem());
    let identity = Identity { certificates: chain.as_bytes(), key: pem.as_bytes() };
    let tls = ServerTls::new(identity, None).unwrap();
    let (server, mut hold) = serve(|server| server.tls(tls)).await;
    let address = server.local_addr();

    let mut roots = RootCertStore::empty();
    roots.add(certificate.der().clone()).unwrap();
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let socket = TcpStream::connect(address).await.unwrap();
    let stream = TlsConnector::from(Arc::new(config)).connect(name, socket).await.unwrap();
    let mut dubbo = Peer(stream);
    let tri = Tri::new().tls(ClientTls::new(chain.as_bytes(), None).unwrap());
    let tri = tri.connect(&Url::parse(&format!("tri://{address}")).unwrap()).await.unwrap();
    for id in 0..3 {
        assert_eq!(dubbo.call(&greet(id)).await.status, 20);
        let reply = tri.send(request("any", Body::protobuf("message"))).await.unwrap();
        assert_eq!(reply.body, "message");
    }
    // More than one record of TLS, both ways.
    let word = "x".repeat(30_000);
    let large = ask(4, "hold").text(&word).attached(&[("k", &word)]);
    let (came, ()) = tokio::join!(dubbo.call(&large), async {
        hold.started(1).await;
        hold.release();
    });
    assert!(came.body.len() > 30_000);
    // What is no TLS gets nowhere.
    let mut plain = connect(address).await;
    plain.send(&greet(1).bytes()).await;
    let mut answer = Vec::new();
    let _ = plain.0.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(&[0xDA, 0xBB]));
}
