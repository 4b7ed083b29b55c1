//! TLS of both roles: rustls with the ring provider, TLS 1.2 and 1.3.
//!
//! The usual cases are made from PEM text; [`ClientTls::from_config`] and
//! [`ServerTls::from_config`] take a configuration of rustls for the others.

use std::fmt;
use std::io;
use std::sync::Arc;

use equipoise_core::outcome::FailureKind;
use tokio::net::TcpStream;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};

/// The version of rustls whose configurations are taken.
pub use tokio_rustls::rustls;

const HTTP2: &[u8] = b"h2";
const HTTP1: &[u8] = b"http/1.1";

/// Why TLS cannot be set up or spoken.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The text is not PEM, or has no certificate or key in it.
    #[error("bad {what}: {reason}")]
    Pem {
        /// Which of the texts.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// Certificates, key and trust do not fit together.
    #[error("TLS cannot be set up: {0}")]
    Setup(String),
    /// The host is no name that a certificate could be for.
    #[error("{0:?} cannot be the name in a certificate")]
    Name(String),
    /// The handshake failed.
    #[error("TLS: {0}")]
    Handshake(#[from] io::Error),
    /// The peer speaks TLS but does not agree to HTTP/2.
    #[error("TLS: the peer does not speak HTTP/2 (ALPN h2)")]
    NoHttp2,
}

impl TlsError {
    pub(crate) fn kind(&self) -> FailureKind {
        match self {
            TlsError::Handshake(_) | TlsError::NoHttp2 => FailureKind::Network,
            TlsError::Pem { .. } | TlsError::Setup(_) | TlsError::Name(_) => FailureKind::Invalid,
        }
    }
}

/// A certificate chain and its private key, in PEM.
#[derive(Clone, Copy)]
pub struct Identity<'a> {
    /// The certificate, followed by those that vouch for it.
    pub certificates: &'a [u8],
    /// The private key (PKCS#8, PKCS#1 or SEC1).
    pub key: &'a [u8],
}

impl fmt::Debug for Identity<'_> {
    // The key must not get into a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity")
    }
}

/// TLS of a client. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ClientTls {
    http2: Arc<ClientConfig>,
    /// The same without ALPN, for protocols that have no name there.
    bare: Arc<ClientConfig>,
    name: Option<ServerName<'static>>,
}

impl ClientTls {
    /// Trusts the given authorities (PEM) and, with `identity`, shows a certificate of our own.
    ///
    /// # Errors
    /// Text that is no PEM, or certificates that do not fit together.
    pub fn new(authorities: &[u8], identity: Option<Identity<'_>>) -> Result<Self, TlsError> {
        Self::trusting(roots(authorities)?, identity)
    }

    /// Trusts the authorities that the operating system trusts.
    ///
    /// # Errors
    /// The system has none.
    pub fn system() -> Result<Self, TlsError> {
        let found = rustls_native_certs::load_native_certs();
        let mut roots = RootCertStore::empty();
        let (added, _) = roots.add_parsable_certificates(found.certs);
        if added == 0 {
            return Err(TlsError::Setup(format!(
                "the system trusts no authorities: {:?}",
                found.errors
            )));
        }
        Self::trusting(roots, None)
    }

    /// Uses a configuration of rustls; what it says about ALPN is replaced by what the protocol
    /// needs: `h2`, or nothing.
    pub fn from_config(mut config: ClientConfig) -> Self {
        config.alpn_protocols = Vec::new();
        let bare = Arc::new(config.clone());
        config.alpn_protocols = vec![HTTP2.to_vec()];
        Self { http2: Arc::new(config), bare, name: None }
    }

    /// Expects this name in the certificate instead of the host's.
    ///
    /// # Errors
    /// Something that is neither a DNS name nor an IP address.
    pub fn server_name(mut self, name: &str) -> Result<Self, TlsError> {
        self.name = Some(server_name(name)?);
        Ok(self)
    }

    fn trusting(roots: RootCertStore, identity: Option<Identity<'_>>) -> Result<Self, TlsError> {
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider())
            .build()
            .map_err(setup)?;
        let config = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(setup)?
            .with_webpki_verifier(verifier);
        Ok(Self::from_config(match identity {
            None => config.with_no_client_auth(),
            Some(identity) => {
                let (chain, key) = read(identity)?;
                config.with_client_auth_cert(chain, key).map_err(setup)?
            }
        }))
    }

    /// For HTTP/2, which the peer must agree to.
    pub(crate) async fn connect_http2(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> Result<client::TlsStream<TcpStream>, TlsError> {
        let stream = self.connect_as(&self.http2, host, stream).await?;
        if stream.get_ref().1.alpn_protocol() != Some(HTTP2) {
            return Err(TlsError::NoHttp2);
        }
        Ok(stream)
    }

    /// For a protocol that the peer finds out from its first bytes.
    pub(crate) async fn connect(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> Result<client::TlsStream<TcpStream>, TlsError> {
        self.connect_as(&self.bare, host, stream).await
    }

    async fn connect_as(
        &self,
        config: &Arc<ClientConfig>,
        host: &str,
        stream: TcpStream,
    ) -> Result<client::TlsStream<TcpStream>, TlsError> {
        let name = match &self.name {
            Some(name) => name.clone(),
            None => server_name(host)?,
        };
        Ok(TlsConnector::from(config.clone()).connect(name, stream).await?)
    }
}

/// TLS of a server. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ServerTls(Arc<ServerConfig>);

impl ServerTls {
    /// Shows `identity`; with `client_authorities` (PEM) every client must show a certificate
    /// that one of them vouches for.
    ///
    /// # Errors
    /// Text that is no PEM, or certificates that do not fit together.
    pub fn new(
        identity: Identity<'_>,
        client_authorities: Option<&[u8]>,
    ) -> Result<Self, TlsError> {
        let (chain, key) = read(identity)?;
        let config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(setup)?;
        let config = match client_authorities {
            None => config.with_no_client_auth(),
            Some(authorities) => {
                let roots = Arc::new(roots(authorities)?);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider())
                    .build()
                    .map_err(setup)?;
                config.with_client_cert_verifier(verifier)
            }
        };
        Ok(Self::from_config(config.with_single_cert(chain, key).map_err(setup)?))
    }

    /// Uses a configuration of rustls; what it says about ALPN is replaced by `h2, http/1.1`.
    pub fn from_config(mut config: ServerConfig) -> Self {
        config.alpn_protocols = vec![HTTP2.to_vec(), HTTP1.to_vec()];
        Self(Arc::new(config))
    }

    pub(crate) async fn accept(
        &self,
        stream: TcpStream,
    ) -> io::Result<server::TlsStream<TcpStream>> {
        TlsAcceptor::from(self.0.clone()).accept(stream).await
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn setup(error: impl fmt::Display) -> TlsError {
    TlsError::Setup(error.to_string())
}

fn server_name(name: &str) -> Result<ServerName<'static>, TlsError> {
    // The zone of a link-local address is in no certificate.
    let name = name.split_once('%').map_or(name, |(address, _)| address);
    ServerName::try_from(name.to_owned()).map_err(|_| TlsError::Name(name.to_owned()))
}

fn roots(authorities: &[u8]) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(authorities, "authorities")? {
        roots.add(certificate).map_err(setup)?;
    }
    Ok(roots)
}

fn read(
    identity: Identity<'_>,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), TlsError> {
    let chain = certificates(identity.certificates, "certificates")?;
    let key = PrivateKeyDer::from_pem_slice(identity.key)
        .map_err(|error| bad_pem("private key", &error))?;
    Ok((chain, key))
}

fn certificates(text: &[u8], what: &'static str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text).collect();
    let found = found.map_err(|error| bad_pem(what, &error))?;
    if found.is_empty() {
        return Err(bad_pem(what, &pem::Error::NoItemsFound));
    }
    Ok(found)
}

fn bad_pem(what: &'static str, error: &pem::Error) -> TlsError {
    TlsError::Pem { what, reason: error.to_string() }
}
