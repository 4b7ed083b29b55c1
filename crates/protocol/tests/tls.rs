//! TLS: both roles, with certificates made for the test.
#![allow(clippy::unwrap_used)] // What a test takes for granted it may unwrap, in its helpers too.
#![cfg(feature = "tls")]

mod common;

use common::{json, request, serve, url};
use equipoise_core::outcome::{FailureKind, Sent};
use equipoise_core::port::Protocol;
use equipoise_core::url::Url;
use equipoise_protocol::Tri;
use equipoise_protocol::tls::{ClientTls, Identity, ServerTls, TlsError};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio::net::TcpListener;

/// An authority and what it signs.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// A certificate and its key in PEM.
struct Signed {
    certificate: String,
    key: String,
}

impl Signed {
    fn identity(&self) -> Identity<'_> {
        Identity { certificates: self.certificate.as_bytes(), key: self.key.as_bytes() }
    }
}

fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let pem = params.self_signed(&key).unwrap().pem();
    Authority { issuer: Issuer::new(params, key), pem }
}

impl Authority {
    fn sign(&self, name: &str) -> Signed {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap().pem();
        Signed { certificate, key: key.serialize_pem() }
    }

    fn client(&self) -> ClientTls {
        ClientTls::new(self.pem.as_bytes(), None).unwrap()
    }
}

#[tokio::test]
async fn both_flavours_travel_over_tls() {
    let authority = authority();
    let server = ServerTls::new(authority.sign("127.0.0.1").identity(), None).unwrap();
    let (server, _hold) = serve(|builder| builder.tls(server)).await;
    let client = Tri::new().tls(authority.client());
    let connection = client.connect(&url(server.local_addr())).await.unwrap();
    for call in [request("echo", "[1]"), json("echo", "[1]")] {
        assert_eq!(connection.send(call).await.unwrap().body, "[1]");
    }
    let body = vec![5; 5_000_000];
    assert!(connection.send(request("echo", body.clone())).await.unwrap().body == body);
}

#[tokio::test]
async fn the_name_in_the_certificate_counts() {
    let authority = authority();
    let server = ServerTls::new(authority.sign("shop.test").identity(), None).unwrap();
    let (server, _hold) = serve(|builder| builder.tls(server)).await;
    let target = url(server.local_addr());
    let failure = Tri::new().tls(authority.client()).connect(&target).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Network, Sent::No), "{failure}");
    let named = authority.client().server_name("shop.test").unwrap();
    Tri::new().tls(named).connect(&target).await.unwrap();
    let stranger = ClientTls::new(self::authority().pem.as_bytes(), None).unwrap();
    let stranger = stranger.server_name("shop.test").unwrap();
    Tri::new().tls(stranger).connect(&target).await.unwrap_err();
}

#[tokio::test]
async fn a_server_may_demand_certificates_of_its_clients() {
    let authority = authority();
    let server =
        ServerTls::new(authority.sign("127.0.0.1").identity(), Some(authority.pem.as_bytes()));
    let (server, _hold) = serve(|builder| builder.tls(server.unwrap())).await;
    let target = url(server.local_addr());
    Tri::new().tls(authority.client()).connect(&target).await.unwrap_err();
    let own = authority.sign("client");
    let client = ClientTls::new(authority.pem.as_bytes(), Some(own.identity())).unwrap();
    let connection = Tri::new().tls(client).connect(&target).await.unwrap();
    assert_eq!(connection.send(request("echo", "x")).await.unwrap().body, "x");
}

#[tokio::test]
async fn the_url_decides_where_it_speaks_of_tls() {
    let authority = authority();
    let server = ServerTls::new(authority.sign("127.0.0.1").identity(), None).unwrap();
    let (secure, _hold) = serve(|builder| builder.tls(server)).await;
    let (plain, _hold) = serve(|builder| builder).await;
    let target = |server: &equipoise_protocol::RunningServer, value: &str| {
        Url::parse(&format!("tri://{}?ssl-enabled={value}", server.local_addr())).unwrap()
    };
    let client = Tri::new().tls(authority.client());
    client.connect(&target(&secure, "true")).await.unwrap();
    client.connect(&target(&plain, "false")).await.unwrap();
    // A value that is none counts as not given.
    client.connect(&target(&secure, "yes")).await.unwrap();
    client.connect(&url(plain.local_addr())).await.unwrap_err();
    // Without a configuration the system's authorities are trusted, and ours is none of them.
    Tri::new().connect(&target(&secure, "true")).await.unwrap_err();
}

#[tokio::test]
async fn a_peer_that_does_not_agree_to_http2_is_no_connection() {
    let authority = authority();
    let signed = authority.sign("127.0.0.1");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = url(listener.local_addr().unwrap());
    let peer = tokio::spawn(async move {
        use equipoise_protocol::tls::rustls;
        use rustls::pki_types::pem::PemObject;
        let certificate =
            rustls::pki_types::CertificateDer::from_pem_slice(signed.certificate.as_bytes());
        let key = rustls::pki_types::PrivateKeyDer::from_pem_slice(signed.key.as_bytes());
        let config = rustls::ServerConfig::builder_with_provider(std::sync::Arc::new(
            rustls::crypto::ring::default_provider(),
        ));
        let config = config
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.unwrap()], key.unwrap())
            .unwrap();
        let (socket, _) = listener.accept().await.unwrap();
        let acceptor = tokio_rustls::TlsAcceptor::from(std::sync::Arc::new(config));
        let _stream = acceptor.accept(socket).await.unwrap();
    });
    let failure = Tri::new().tls(authority.client()).connect(&target).await.unwrap_err();
    assert!(failure.message.contains("ALPN"), "{failure}");
    peer.await.unwrap();
}

#[test]
fn bad_pem_is_named() {
    let error = ClientTls::new(b"no pem", None).unwrap_err();
    assert!(matches!(error, TlsError::Pem { what: "authorities", .. }), "{error}");
    let signed = authority().sign("x");
    let identity = Identity { key: b"", ..signed.identity() };
    let error = ServerTls::new(identity, None).unwrap_err();
    assert!(matches!(error, TlsError::Pem { what: "private key", .. }), "{error}");
    let other = authority().sign("x");
    let identity = Identity { key: other.key.as_bytes(), ..signed.identity() };
    assert!(matches!(ServerTls::new(identity, None), Err(TlsError::Setup(_))));
}
