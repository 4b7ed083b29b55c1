//! Opens a connection: TCP, TLS where it is wanted, the greeting of HTTP/2.

use std::sync::Arc;

use equipoise_core::outcome::{Failure, FailureKind};
use equipoise_core::port::Connection;
use equipoise_core::url::Url;
use http::uri::{Authority, Scheme};
use tokio::io::{AsyncRead, AsyncWrite};

#[cfg(feature = "tls")]
use crate::tls::ClientTls;
use crate::transport;
use crate::tri::client::connection::TriConnection;
use crate::tri::client::heads::Heads;
use crate::tri::client::{DEFAULT_PORT, Tri, driver};

impl Tri {
    pub(super) async fn open(&self, target: &Url) -> Result<Arc<dyn Connection>, Failure> {
        let address = with_port(target);
        let limit = self.options.connect_timeout;
        match tokio::time::timeout(limit, self.open_untimed(target, &address)).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(cause)) => Err(Failure::not_sent(
                cause.kind(),
                format!("cannot connect to {address}: {cause}"),
            )),
            Err(_) => Err(Failure::not_sent(
                FailureKind::Network,
                format!(
                    "cannot connect to {address}: no answer within {limit:?} (option connect_timeout)"
                ),
            )),
        }
    }

    async fn open_untimed(
        &self,
        target: &Url,
        address: &str,
    ) -> Result<Arc<dyn Connection>, ConnectError> {
        let security = self.security(target)?;
        let stream = transport::tcp(target, port(target)).await?;
        match security {
            Security::Plain => self.speak(stream, Scheme::HTTP, target, address).await,
            #[cfg(feature = "tls")]
            Security::Tls(tls) => {
                let stream = tls.connect(&target.host, stream).await?;
                self.speak(stream, Scheme::HTTPS, target, address).await
            }
        }
    }

    async fn speak<T>(
        &self,
        stream: T,
        scheme: Scheme,
        target: &Url,
        address: &str,
    ) -> Result<Arc<dyn Connection>, ConnectError>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let authority = authority(target, address)?;
        let heads = Heads::new(scheme, authority, self.options.application.clone());
        let (sender, state) = driver::start(stream, &self.options).await?;
        Ok(Arc::new(TriConnection::new(
            address.to_owned(),
            sender,
            state,
            heads,
            self.options.max_message,
        )))
    }

    fn security(&self, target: &Url) -> Result<Security, ConnectError> {
        let wanted = match target.param("ssl-enabled") {
            None => None,
            Some("true") => Some(true),
            Some("false") => Some(false),
            Some(other) => {
                tracing::warn!(
                    address = %target.address(), value = other,
                    "ssl-enabled is neither true nor false and counts as not given"
                );
                None
            }
        };
        self.security_for(wanted)
    }

    #[cfg(feature = "tls")]
    fn security_for(&self, wanted: Option<bool>) -> Result<Security, ConnectError> {
        Ok(match (wanted, &self.options.tls) {
            (Some(false), _) | (None, None) => Security::Plain,
            (_, Some(tls)) => Security::Tls(tls.clone()),
            (Some(true), None) => Security::Tls(self.system_tls()?),
        })
    }

    #[cfg(feature = "tls")]
    fn system_tls(&self) -> Result<ClientTls, ConnectError> {
        if let Some(tls) = self.options.system_tls.get() {
            return Ok(tls.clone());
        }
        let tls = ClientTls::system()?;
        Ok(self.options.system_tls.get_or_init(|| tls).clone())
    }

    #[cfg(not(feature = "tls"))]
    fn security_for(&self, wanted: Option<bool>) -> Result<Security, ConnectError> {
        match wanted {
            Some(true) => Err(ConnectError::NoTls),
            _ => Ok(Security::Plain),
        }
    }
}

enum Security {
    Plain,
    #[cfg(feature = "tls")]
    Tls(ClientTls),
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("the peer does not speak HTTP/2: {0}")]
    Http2(#[from] h2::Error),
    #[error("{0:?} cannot be the authority of a request")]
    Authority(String),
    #[cfg(feature = "tls")]
    #[error("{0}")]
    Tls(#[from] crate::tls::TlsError),
    #[cfg(not(feature = "tls"))]
    #[error("ssl-enabled=true, but this program was built without TLS")]
    NoTls,
}

impl ConnectError {
    fn kind(&self) -> FailureKind {
        match self {
            ConnectError::Io(_) | ConnectError::Http2(_) => FailureKind::Network,
            ConnectError::Authority(_) => FailureKind::Invalid,
            #[cfg(feature = "tls")]
            ConnectError::Tls(error) => error.kind(),
            #[cfg(not(feature = "tls"))]
            ConnectError::NoTls => FailureKind::Invalid,
        }
    }
}

fn port(target: &Url) -> u16 {
    if target.port == 0 { DEFAULT_PORT } else { target.port }
}

fn with_port(target: &Url) -> String {
    if target.port == 0 { format!("{}:{DEFAULT_PORT}", target.address()) } else { target.address() }
}

fn authority(target: &Url, address: &str) -> Result<Authority, ConnectError> {
    // The zone of a link-local address is for this machine only.
    let text = match target.host.split_once('%') {
        Some((host, _)) => format!("[{host}]:{}", port(target)),
        None => address.to_owned(),
    };
    Authority::try_from(text.as_str()).map_err(|_| ConnectError::Authority(text))
}
