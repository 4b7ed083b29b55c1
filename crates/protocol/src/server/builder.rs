//! [`Server`]: the server in the making.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use equipoise_core::service::ServiceKey;
use tokio::net::{TcpListener, ToSocketAddrs};
use tokio::sync::Semaphore;

use crate::load::{LoadSource, SystemLoad};
use crate::server::call::Handler;
use crate::server::lifecycle::Lifecycle;
use crate::server::limits::Limits;
use crate::server::services::{Answers, Services};
use crate::server::terms::{ServiceOptions, Terms};
use crate::server::{BindError, RunningServer, Shared};
#[cfg(feature = "tls")]
use crate::tls::ServerTls;
use crate::tri::server::{builtin, descriptors, health, reflection};

/// A server in the making: services and options, until [`bind`](Self::bind).
///
/// One port speaks all protocols: `dubbo`, and for `tri` gRPC over HTTP/2 and JSON over HTTP/1.1
/// and HTTP/2. The first bytes of a connection decide, with TLS those inside. A service is
/// registered once and served on all of them.
#[derive(Clone)]
pub struct Server {
    services: Vec<Registered>,
    token: Option<String>,
    dubbo: bool,
    limits: Limits,
    load: Arc<dyn LoadSource>,
    health: bool,
    reflection: Option<bool>,
    descriptors: Vec<bytes::Bytes>,
    #[cfg(feature = "tls")]
    tls: Option<ServerTls>,
}

/// A service as the user gave it.
#[derive(Clone)]
struct Registered {
    key: ServiceKey,
    handler: Arc<dyn Handler>,
    options: ServiceOptions,
}

impl Server {
    /// A server without services, with default options.
    pub fn builder() -> Self {
        Self {
            services: Vec::new(),
            token: None,
            dubbo: true,
            limits: Limits::default(),
            load: Arc::new(SystemLoad::new()),
            health: true,
            reflection: None,
            descriptors: Vec::new(),
            #[cfg(feature = "tls")]
            tls: None,
        }
    }

    /// Adds a service, on every protocol; one with the same key is replaced. A request of `tri`
    /// reaches the service whose group and version it names, else one without either; a call of
    /// `dubbo` only the one with exactly its group and version.
    pub fn service(self, key: ServiceKey, handler: Arc<dyn Handler>) -> Self {
        self.service_with(key, handler, ServiceOptions::new())
    }

    /// Adds a service with options of its own.
    pub fn service_with(
        mut self,
        key: ServiceKey,
        handler: Arc<dyn Handler>,
        options: ServiceOptions,
    ) -> Self {
        self.services.push(Registered { key, handler, options });
        self
    }

    /// A token that calls must bring (attachment `token`), for all services without one of their
    /// own. Others are refused: status 70 over `dubbo`, 7 over `tri`. Default none.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Whether `dubbo` is spoken. Default yes.
    pub fn dubbo(mut self, spoken: bool) -> Self {
        self.dubbo = spoken;
        self
    }

    /// Largest message in bytes, received or sent. Default 8 388 608. Over it: status 8, HTTP 413;
    /// over `dubbo` status 40 for a request and 25 for a response.
    pub fn max_message_bytes(mut self, bytes: usize) -> Self {
        self.limits.max_message = bytes;
        self
    }

    /// Whether gRPC answers are packed with gzip for callers that say they read it. Default no.
    /// Requests may always come packed; what they unpack to is bounded like every message.
    pub fn gzip(mut self, packed: bool) -> Self {
        self.limits.gzip = packed;
        self
    }

    /// Largest header block of a request in bytes (at least 8 192 over HTTP/1.1). Default 32 768.
    /// Over it: HTTP 431.
    pub fn max_header_bytes(mut self, bytes: u32) -> Self {
        self.limits.max_headers = bytes;
        self
    }

    /// Calls at a time on one HTTP/2 connection (the caller's library waits with more) or `dubbo`
    /// connection (no more are read). Default 1 024.
    pub fn max_concurrent_streams(mut self, streams: u32) -> Self {
        self.limits.max_streams = streams;
        self
    }

    /// Open connections; further ones are closed at once. Default 10 000.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.limits.max_connections = connections;
        self
    }

    /// Calls at a time on the whole server; further ones get status 8 (HTTP 429; 100 over `dubbo`).
    /// Default unlimited.
    pub fn max_calls(mut self, calls: Option<usize>) -> Self {
        self.limits.max_calls = calls;
        self
    }

    /// Time for TLS, for the first bytes of a connection, and for the headers of each request
    /// over HTTP/1.1. Default 10 s.
    pub fn handshake_timeout(mut self, timeout: Duration) -> Self {
        self.limits.handshake = timeout;
        self
    }

    /// Closes a connection that had no call for this long (at most twice as long). Default never.
    /// A peer that speaks `dubbo` is told first, as in [`RunningServer::drain`].
    pub fn idle_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.limits.idle = timeout;
        self
    }

    /// How often a silent peer is asked for a sign of life (a ping of HTTP/2, a heartbeat of
    /// `dubbo`); `None` for never. Default 60 s.
    pub fn keep_alive_interval(mut self, interval: Option<Duration>) -> Self {
        self.limits.keep_alive_interval = interval;
        self
    }

    /// How long an HTTP/2 peer has for it before the connection is closed. Default 20 s.
    pub fn keep_alive_timeout(mut self, timeout: Duration) -> Self {
        self.limits.keep_alive_timeout = timeout;
        self
    }

    /// Closes a `dubbo` connection on which nothing came for this long; heartbeats count. Default
    /// 180 s, three times Dubbo's `heartbeat`.
    pub fn silence_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.limits.silence = timeout;
        self
    }

    /// Where the load that callers with adaptive balancing ask for comes from. Default
    /// [`SystemLoad`].
    pub fn load_source(mut self, source: Arc<dyn LoadSource>) -> Self {
        self.load = source;
        self
    }

    /// Whether to offer `grpc.health.v1.Health`. Default yes.
    pub fn health(mut self, offered: bool) -> Self {
        self.health = offered;
        self
    }

    /// Whether to offer server reflection (v1 and v1alpha). Default: when
    /// [`descriptors`](Self::descriptors) were given.
    pub fn reflection(mut self, offered: bool) -> Self {
        self.reflection = Some(offered);
        self
    }

    /// An encoded `google.protobuf.FileDescriptorSet` of the services, for reflection. May be
    /// called several times.
    pub fn descriptors(mut self, set: impl Into<bytes::Bytes>) -> Self {
        self.descriptors.push(set.into());
        self
    }

    /// Speaks TLS on every connection.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: ServerTls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Listens at `address` and serves from then on. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// The address cannot be used, or a descriptor set is none.
    pub async fn bind(self, address: impl ToSocketAddrs) -> Result<RunningServer, BindError> {
        let listener = TcpListener::bind(address).await?;
        let local = listener.local_addr()?;
        let shared = Arc::new(self.share()?);
        Ok(RunningServer::start(listener, local, shared))
    }

    pub(crate) fn share(mut self) -> Result<Shared, BindError> {
        let lifecycle = Arc::new(Lifecycle::new());
        let mut services = Services::default();
        for Registered { key, handler, options } in std::mem::take(&mut self.services) {
            services.add(key, Answers::Unary(handler), Terms::new(options, self.token.as_deref()));
        }
        let health = health::Health::new(services.interfaces());
        if self.health {
            let service = health::Service::new(health.clone(), lifecycle.clone());
            services.add_builtin(health::NAME, Arc::new(service));
        }
        if self.reflection.unwrap_or(!self.descriptors.is_empty()) {
            self.add_reflection(&mut services, &lifecycle)?;
        }
        let permits = |most: usize| Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS)));
        Ok(Shared {
            services,
            dubbo: self.dubbo,
            calls: self.limits.max_calls.map(permits),
            limits: self.limits,
            load: self.load,
            lifecycle,
            health,
            #[cfg(feature = "tls")]
            tls: self.tls,
        })
    }

    fn add_reflection(
        &self,
        services: &mut Services,
        lifecycle: &Arc<Lifecycle>,
    ) -> Result<(), BindError> {
        let mut files = descriptors::Files::default();
        files.add(&builtin::descriptors())?;
        for set in &self.descriptors {
            files.add(set)?;
        }
        let mut names = services.interfaces();
        names.extend(reflection::NAMES.map(str::to_owned));
        names.sort_unstable();
        names.dedup();
        let service = Arc::new(reflection::Service::new(files, names, lifecycle.clone()));
        for name in reflection::NAMES {
            services.add_builtin(name, service.clone());
        }
        Ok(())
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("services", &self.services.iter().map(|each| &each.key).collect::<Vec<_>>())
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
