//! Opens the connections to a provider: TCP, TLS where it is wanted. The protocol has no greeting.

use std::sync::Arc;

use equipoise_core::outcome::{Failure, FailureKind};
use equipoise_core::port::Connection;
use equipoise_core::url::Url;
use futures_util::future::try_join_all;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::dubbo::client::channel::{Channel, Shared};
use crate::dubbo::client::connection::DubboConnection;
use crate::dubbo::client::driver::Driver;
use crate::dubbo::client::heartbeat::Heartbeat;
use crate::dubbo::client::settings::Settings;
use crate::dubbo::client::{DEFAULT_PORT, Dubbo};
use crate::security::{Chosen, SecurityError};
use crate::transport;

impl Dubbo {
    pub(super) async fn open(&self, target: &Url) -> Result<Arc<dyn Connection>, Failure> {
        let address = transport::address(target, DEFAULT_PORT);
        let limit = self.options.connect_timeout;
        match tokio::time::timeout(limit, self.open_untimed(target, &address)).await {
            Ok(Ok(connection)) => Ok(Arc::new(connection)),
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
    ) -> Result<DubboConnection, ConnectError> {
        let settings = Settings::new(&self.options, target);
        // Every stream is open before the first task runs, so that giving up half-way leaves nothing.
        let streams = (0..settings.connections).map(|_| self.stream(target));
        let streams = try_join_all(streams).await?;
        let shared = Arc::new(Shared::default());
        let channels = streams
            .into_iter()
            .map(|stream| match stream {
                Stream::Plain(stream) => start(stream, address, &shared, &settings),
                #[cfg(feature = "tls")]
                Stream::Tls(stream) => start(*stream, address, &shared, &settings),
            })
            .collect();
        Ok(DubboConnection::new(channels, shared, settings))
    }

    async fn stream(&self, target: &Url) -> Result<Stream, ConnectError> {
        let security = self.options.security.choose(target)?;
        let stream = transport::tcp(target, transport::port(target, DEFAULT_PORT)).await?;
        match security {
            Chosen::Plain => Ok(Stream::Plain(stream)),
            #[cfg(feature = "tls")]
            Chosen::Tls(tls) => {
                let stream = tls.connect(&target.host, stream).await;
                Ok(Stream::Tls(Box::new(stream.map_err(SecurityError::from)?)))
            }
        }
    }
}

enum Stream {
    Plain(tokio::net::TcpStream),
    #[cfg(feature = "tls")]
    Tls(Box<tokio_rustls::client::TlsStream<tokio::net::TcpStream>>),
}

/// Starts the task of a connection.
pub(crate) fn start<T>(
    stream: T,
    address: &str,
    shared: &Arc<Shared>,
    settings: &Settings,
) -> Arc<Channel>
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let channel = Arc::new(Channel::new(address.to_owned(), shared.clone(), fresh_base()));
    let heartbeat = settings.heartbeat.map(|(every, dead)| Heartbeat::new(every, dead));
    tokio::spawn(Driver::new(stream, channel.clone(), settings.payload, heartbeat));
    channel
}

/// Where a connection's numbers start. Any number will do; the standard library's hasher has keys of
/// its own for every instance.
fn fresh_base() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0_u8)
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
enum ConnectError {
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("{0}")]
    Security(#[from] SecurityError),
}

impl ConnectError {
    fn kind(&self) -> FailureKind {
        match self {
            ConnectError::Io(_) => FailureKind::Network,
            ConnectError::Security(error) => error.kind(),
        }
    }
}
