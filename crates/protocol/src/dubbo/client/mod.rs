//! The client: [`Dubbo`] holds the options; opening a connection is [`connect`]'s matter, a call
//! [`connection`]'s, and the task behind a connection [`driver`]'s.

mod answer;
mod channel;
mod connect;
mod connection;
mod driver;
mod heads;
mod heartbeat;
mod pending;
mod settings;

use std::sync::Arc;
use std::time::Duration;

use equipoise_core::outcome::Failure;
use equipoise_core::port::{BoxFuture, Connection, Protocol};
use equipoise_core::url::Url;

use crate::security::Security;
#[cfg(feature = "tls")]
use crate::tls::ClientTls;

pub(crate) const SCHEME: &str = "dubbo";
pub(crate) const DEFAULT_PORT: u16 = 20880;

/// Client side of `dubbo`: opens connections to providers.
///
/// An option that is not given is the provider's parameter of Dubbo's name (`payload`, `heartbeat`,
/// `heartbeat.timeout`, `connections`, `enable-timeout-countdown`), or else its default.
///
/// A connection is TLS when [`tls`](Self::tls) was given or the provider's URL says
/// `ssl-enabled=true` (then the roots of the system are trusted unless `tls` was given);
/// `ssl-enabled=false` in the URL forces plain text.
///
/// Attachments travel as they are: text as strings, bytes as binary, case kept. Keys that belong to
/// the protocol (`path`, `interface`, `version`, `group`, `timeout`, `_TO`, `generic`, and
/// `remote.application` and `token` where they are known) are left out of what the caller attaches.
///
/// A provider that says it takes no new calls (an event `R`) makes the connection unavailable at
/// once; calls in flight finish. If it changes its mind (`W`), a new connection is what takes calls
/// again: one that has become unavailable never returns.
#[derive(Clone, Debug)]
pub struct Dubbo {
    pub(crate) options: Options,
}

#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) payload: Option<usize>,
    pub(crate) connect_timeout: Duration,
    /// `Some(None)` is never.
    pub(crate) heartbeat: Option<Option<Duration>>,
    pub(crate) connections: Option<usize>,
    pub(crate) countdown: Option<bool>,
    pub(crate) application: Option<String>,
    pub(crate) security: Security,
}

impl Default for Dubbo {
    fn default() -> Self {
        Self::new()
    }
}

impl Dubbo {
    /// A client with default options.
    pub fn new() -> Self {
        Self {
            options: Options {
                payload: None,
                connect_timeout: Duration::from_secs(3),
                heartbeat: None,
                connections: None,
                countdown: None,
                application: None,
                security: Security::default(),
            },
        }
    }

    /// Largest body of a frame in bytes, sent or received. Default 8 388 608.
    pub fn payload_bytes(mut self, bytes: usize) -> Self {
        self.options.payload = Some(bytes);
        self
    }

    /// How long opening a connection may take, from the name look-up on. Default 3 s.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.options.connect_timeout = timeout;
        self
    }

    /// After how long without traffic in one direction the peer is asked for a sign of life; `None`
    /// for never. A connection on which nothing came for three times as long is lost. Default 60 s.
    pub fn heartbeat(mut self, every: Option<Duration>) -> Self {
        self.options.heartbeat = Some(every);
        self
    }

    /// Connections per provider, 1 to 64. Default 1.
    pub fn connections(mut self, count: usize) -> Self {
        self.options.connections = Some(count);
        self
    }

    /// Whether a provider is told how much time the call has left (attachment `_TO`), so that calls
    /// it makes on behalf of this one take no longer. Default yes. The limit of the attempt
    /// (attachment `timeout`) is told in any case.
    pub fn countdown(mut self, tell: bool) -> Self {
        self.options.countdown = Some(tell);
        self
    }

    /// Name of the calling application, sent as `remote.application`.
    pub fn application(mut self, name: &str) -> Self {
        self.options.application = Some(name.to_owned()).filter(|name| !name.is_empty());
        self
    }

    /// Uses TLS for every provider whose URL does not say `ssl-enabled=false`.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: ClientTls) -> Self {
        self.options.security.tls = Some(tls);
        self
    }
}

impl Protocol for Dubbo {
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

#[cfg(test)]
mod tests;
