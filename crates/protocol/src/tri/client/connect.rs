//! Opens a connection: TCP, TLS where it is wanted, the greeting of HTTP/2.

use std::sync::Arc;

use equipoise_core::outcome::{Failure, FailureKind};
use equipoise_core::port::Connection;
use equipoise_core::url::Url;
use http::uri::{Authority, Scheme};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::security::{Chosen, SecurityError};
use crate::transport;
use crate::tri::client::connection::TriConnection;
use crate::tri::client::heads::Heads;
use crate::tri::client::{DEFAULT_PORT, Tri, driver};

impl Tri {
    pub(super) async fn open(&self, target: &Url) -> Result<Arc<dyn Connection>, Failure> {
        let address = transport::address(target, DEFAULT_PORT);
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
        let security = self.options.security.choose(target)?;
        let stream = transport::tcp(target, transport::port(target, DEFAULT_PORT)).await?;
        match security {
            Chosen::Plain => self.speak(stream, Scheme::HTTP, target, address).await,
            #[cfg(feature = "tls")]
            Chosen::Tls(tls) => {
                let stream = tls.connect_http2(&target.host, stream).await?;
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
            self.options.gzip,
        )))
    }
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
    #[error("{0}")]
    Security(#[from] SecurityError),
}

#[cfg(feature = "tls")]
impl From<crate::tls::TlsError> for ConnectError {
    fn from(error: crate::tls::TlsError) -> Self {
        ConnectError::Security(error.into())
    }
}

impl ConnectError {
    fn kind(&self) -> FailureKind {
        match self {
            ConnectError::Io(_) | ConnectError::Http2(_) => FailureKind::Network,
            ConnectError::Authority(_) => FailureKind::Invalid,
            ConnectError::Security(error) => error.kind(),
        }
    }
}

fn authority(target: &Url, address: &str) -> Result<Authority, ConnectError> {
    // The zone of a link-local address is for this machine only.
    let text = match target.host.split_once('%') {
        Some((host, _)) => format!("[{host}]:{}", transport::port(target, DEFAULT_PORT)),
        None => address.to_owned(),
    };
    Authority::try_from(text.as_str()).map_err(|_| ConnectError::Authority(text))
}
