//! The client: [`Tri`] holds the options and opens connections; a call is [`exchange`]'s matter.

mod connection;
mod driver;
mod exchange;
mod heads;
mod json;
mod transport;

use std::fmt;
use std::sync::Arc;
#[cfg(feature = "tls")]
use std::sync::OnceLock;
use std::time::Duration;

use equipoise_core::outcome::{Failure, FailureKind};
use equipoise_core::port::{BoxFuture, Connection, Protocol};
use equipoise_core::url::Url;
use http::HeaderValue;
use http::uri::{Authority, Scheme};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::tri::client::connection::TriConnection;
use crate::tri::client::heads::Heads;
#[cfg(feature = "tls")]
use crate::tri::tls::ClientTls;
use crate::tri::{MAX_HEADER_BYTES, MAX_MESSAGE_BYTES};

pub use exchange::{EXCEPTION_BODY, EXCEPTION_CODE};

pub(crate) const SCHEME: &str = "tri";
pub(crate) const DEFAULT_PORT: u16 = 50051;

/// Client side of `tri`: opens connections to providers.
///
/// A connection is TLS when [`tls`](Self::tls) was given or the provider's URL says
/// `ssl-enabled=true` (then the roots of the system are trusted unless `tls` was given);
/// `ssl-enabled=false` in the URL forces plain text.
///
/// Attachments travel as headers: keys in any case, text in printable ASCII, bytes as they are. A
/// key that belongs to HTTP, gRPC or Triple (`content-type`, `grpc-…`, `tri-service-…`, `group`,
/// `interface`, `path` and the like) is left out; a key or value that no header can hold fails the
/// call before it is sent.
#[derive(Clone, Debug)]
pub struct Tri {
    pub(crate) options: Options,
}

#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) max_message: usize,
    pub(crate) max_headers: u32,
    pub(crate) connect_timeout: Duration,
    pub(crate) keep_alive: Option<KeepAlive>,
    pub(crate) application: Option<HeaderValue>,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<ClientTls>,
    /// Trust in the system's authorities, read when a URL first asks for TLS.
    #[cfg(feature = "tls")]
    pub(crate) system_tls: Arc<OnceLock<ClientTls>>,
}

/// When to ask a silent peer for a sign of life.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeepAlive {
    pub(crate) interval: Duration,
    pub(crate) timeout: Duration,
    pub(crate) while_idle: bool,
}

/// gRPC servers close connections that ping more often than every five minutes, or at all while
/// no call runs; a machine that is gone is noticed by TCP sooner than that.
const KEEP_ALIVE: KeepAlive = KeepAlive {
    interval: Duration::from_secs(300),
    timeout: Duration::from_secs(20),
    while_idle: false,
};

impl Default for Tri {
    fn default() -> Self {
        Self::new()
    }
}

impl Tri {
    /// A client with default options.
    pub fn new() -> Self {
        Self {
            options: Options {
                max_message: MAX_MESSAGE_BYTES,
                max_headers: MAX_HEADER_BYTES,
                connect_timeout: Duration::from_secs(3),
                keep_alive: Some(KEEP_ALIVE),
                application: None,
                #[cfg(feature = "tls")]
                tls: None,
                #[cfg(feature = "tls")]
                system_tls: Arc::default(),
            },
        }
    }

    /// Largest message in bytes, sent or received. Default 8 388 608.
    pub fn max_message_bytes(mut self, bytes: usize) -> Self {
        self.options.max_message = bytes;
        self
    }

    /// Largest header block of a response in bytes. Default 32 768.
    pub fn max_header_bytes(mut self, bytes: u32) -> Self {
        self.options.max_headers = bytes;
        self
    }

    /// How long opening a connection may take, from the name look-up to the first answer of the
    /// peer. Default 3 s.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.options.connect_timeout = timeout;
        self
    }

    /// How often the peer is asked for a sign of life (HTTP/2 PING) while calls run; `None` for
    /// never. Default 300 s, the shortest that servers of gRPC accept unasked.
    pub fn keep_alive_interval(mut self, interval: Option<Duration>) -> Self {
        self.options.keep_alive = interval.map(|interval| KeepAlive {
            interval,
            ..self.options.keep_alive.unwrap_or(KEEP_ALIVE)
        });
        self
    }

    /// How long the peer has for that sign. Default 20 s. Call it after
    /// [`keep_alive_interval`](Self::keep_alive_interval).
    pub fn keep_alive_timeout(mut self, timeout: Duration) -> Self {
        self.options.keep_alive = self.options.keep_alive.map(|keep| KeepAlive { timeout, ..keep });
        self
    }

    /// Whether to ask while no call runs, too. Default no.
    pub fn keep_alive_while_idle(mut self, while_idle: bool) -> Self {
        self.options.keep_alive =
            self.options.keep_alive.map(|keep| KeepAlive { while_idle, ..keep });
        self
    }

    /// Name of the calling application, sent as `tri-consumer-appname`. A name that is no header
    /// value (control characters) is not sent.
    pub fn application(mut self, name: &str) -> Self {
        self.options.application = HeaderValue::from_str(name).ok();
        self
    }

    /// Uses TLS for every provider whose URL does not say `ssl-enabled=false`.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: ClientTls) -> Self {
        self.options.tls = Some(tls);
        self
    }

    async fn open(&self, target: &Url) -> Result<Arc<dyn Connection>, Failure> {
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

impl Protocol for Tri {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn default_port(&self) -> u16 {
        DEFAULT_PORT
    }

    fn connect<'a>(
        &'a self,
        target: &'a Url,
    ) -> BoxFuture<'a, Result<Arc<dyn Connection>, Failure>> {
        Box::pin(self.open(target))
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
    #[cfg(feature = "tls")]
    #[error("{0}")]
    Tls(#[from] crate::tri::tls::TlsError),
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

impl fmt::Debug for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Security::Plain => "plain",
            #[cfg(feature = "tls")]
            Security::Tls(_) => "tls",
        })
    }
}
