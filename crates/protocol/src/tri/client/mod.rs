//! The client: [`Tri`] holds the options; opening a connection is [`connect`]'s matter, and a call
//! [`exchange`]'s.

mod connect;
mod connection;
mod driver;
mod exchange;
mod heads;
mod json;
mod stream;

use std::sync::Arc;
use std::time::Duration;

use equipoise_core::outcome::Failure;
use equipoise_core::port::{BoxFuture, Connection, Protocol};
use equipoise_core::url::Url;
use http::HeaderValue;

use crate::security::Security;
#[cfg(feature = "tls")]
use crate::tls::ClientTls;
use crate::{MAX_HEADER_BYTES, MAX_MESSAGE_BYTES};

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
    pub(crate) keep_alive: KeepAlive,
    pub(crate) application: Option<HeaderValue>,
    pub(crate) security: Security,
    pub(crate) gzip: Gzip,
}

/// Which way messages may be packed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gzip {
    pub(crate) send: bool,
    pub(crate) accept: bool,
}

/// When to ask a silent peer for a sign of life.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeepAlive {
    /// `None` is never.
    pub(crate) interval: Option<Duration>,
    pub(crate) timeout: Duration,
    pub(crate) while_idle: bool,
}

/// gRPC servers close connections that ping more often than every five minutes, or at all while
/// no call runs; a machine that is gone is noticed by TCP sooner than that.
const KEEP_ALIVE: KeepAlive = KeepAlive {
    interval: Some(Duration::from_secs(300)),
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
                keep_alive: KEEP_ALIVE,
                application: None,
                security: Security::default(),
                gzip: Gzip { send: false, accept: true },
            },
        }
    }

    /// Largest message in bytes, sent or received. Default 8 388 608.
    pub fn max_message_bytes(mut self, bytes: usize) -> Self {
        self.options.max_message = bytes;
        self
    }

    /// Whether messages are sent packed with gzip. Default no: a provider that does not read it fails
    /// the call, and Dubbo's Java servers up to 3.3.6 do.
    pub fn gzip(mut self, send: bool) -> Self {
        self.options.gzip.send = send;
        self
    }

    /// Whether answers may come packed with gzip, which the provider is told. Default yes. What an
    /// answer unpacks to is bounded like every message.
    pub fn accept_gzip(mut self, accept: bool) -> Self {
        self.options.gzip.accept = accept;
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
        self.options.keep_alive.interval = interval;
        self
    }

    /// How long the peer has for that sign. Default 20 s.
    pub fn keep_alive_timeout(mut self, timeout: Duration) -> Self {
        self.options.keep_alive.timeout = timeout;
        self
    }

    /// Whether to ask while no call runs, too. Default no.
    pub fn keep_alive_while_idle(mut self, while_idle: bool) -> Self {
        self.options.keep_alive.while_idle = while_idle;
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
        self.options.security.tls = Some(tls);
        self
    }
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
