//! The server: [`Server`] collects services and options, [`RunningServer`] is what `bind` makes
//! of it.

pub(crate) mod call;
mod connection;
pub(crate) mod deadline;
pub(crate) mod lifecycle;
pub(crate) mod limits;
mod listener;
mod preface;
pub(crate) mod services;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use equipoise_core::service::ServiceKey;
use http_body::{Body, Frame};
use hyper::body::Incoming;
use tokio::net::{TcpListener, ToSocketAddrs};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::load::{LoadSource, SystemLoad};
use crate::server::lifecycle::Lifecycle;
use crate::server::limits::Limits;
use crate::server::services::{Answers, Services};
use crate::status::{Status, code};
#[cfg(feature = "tls")]
use crate::tls::ServerTls;
use crate::tri::server::{builtin, descriptors, health, reflection};

pub use call::{CallContext, Handler};
pub use listener::RunningServer;

/// A server of `tri` in the making: services and options, until [`bind`](Self::bind).
///
/// One port speaks gRPC over HTTP/2 and JSON over HTTP/1.1 and HTTP/2; the first bytes of a
/// connection decide.
#[derive(Clone)]
pub struct Server {
    services: Services,
    limits: Limits,
    load: Arc<dyn LoadSource>,
    health: bool,
    reflection: Option<bool>,
    descriptors: Vec<bytes::Bytes>,
    #[cfg(feature = "tls")]
    tls: Option<ServerTls>,
}

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) services: Services,
    pub(crate) limits: Limits,
    pub(crate) load: Arc<dyn LoadSource>,
    calls: Option<Semaphore>,
    pub(crate) lifecycle: Arc<Lifecycle>,
    health: health::Health,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<ServerTls>,
}

impl Shared {
    /// Lets one more call in, if the limit of the server allows.
    pub(crate) fn admit(&self) -> Result<Option<SemaphorePermit<'_>>, Status> {
        match &self.calls {
            None => Ok(None),
            Some(calls) => calls.try_acquire().map(Some).map_err(|_| {
                Status::new(code::RESOURCE_EXHAUSTED, "too many calls at a time (option max_calls)")
            }),
        }
    }
}

impl Server {
    /// A server without services, with default options.
    pub fn builder() -> Self {
        Self {
            services: Services::default(),
            limits: Limits::default(),
            load: Arc::new(SystemLoad::new()),
            health: true,
            reflection: None,
            descriptors: Vec::new(),
            #[cfg(feature = "tls")]
            tls: None,
        }
    }

    /// Adds a service. A request reaches the service whose group and version it names, else one
    /// without either; one with the same key is replaced.
    pub fn service(mut self, key: ServiceKey, handler: Arc<dyn Handler>) -> Self {
        self.services.add(key, Answers::Unary(handler));
        self
    }

    /// Largest message in bytes, received or sent. Default 8 388 608. Over it: status 8, HTTP 413.
    pub fn max_message_bytes(mut self, bytes: usize) -> Self {
        self.limits.max_message = bytes;
        self
    }

    /// Largest header block of a request in bytes (at least 8 192 over HTTP/1.1). Default 32 768.
    /// Over it: HTTP 431.
    pub fn max_header_bytes(mut self, bytes: u32) -> Self {
        self.limits.max_headers = bytes;
        self
    }

    /// Calls at a time on one HTTP/2 connection; the caller's library waits with more. Default
    /// 1 024.
    pub fn max_concurrent_streams(mut self, streams: u32) -> Self {
        self.limits.max_streams = streams;
        self
    }

    /// Open connections; further ones are closed at once. Default 10 000.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.limits.max_connections = connections;
        self
    }

    /// Calls at a time on the whole server; further ones get status 8 (HTTP 429). Default
    /// unlimited.
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
    pub fn idle_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.limits.idle = timeout;
        self
    }

    /// How often an HTTP/2 peer is asked for a sign of life; `None` for never. Default 60 s.
    pub fn keep_alive_interval(mut self, interval: Option<Duration>) -> Self {
        self.limits.keep_alive_interval = interval;
        self
    }

    /// How long the peer has for it before the connection is closed. Default 20 s.
    pub fn keep_alive_timeout(mut self, timeout: Duration) -> Self {
        self.limits.keep_alive_timeout = timeout;
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

    fn share(mut self) -> Result<Shared, BindError> {
        let lifecycle = Arc::new(Lifecycle::new());
        let health = health::Health::new(self.services.interfaces());
        if self.health {
            let service = health::Service::new(health.clone(), lifecycle.clone());
            self.services.add_builtin(health::NAME, Arc::new(service));
        }
        if self.reflection.unwrap_or(!self.descriptors.is_empty()) {
            self.add_reflection(&lifecycle)?;
        }
        Ok(Shared {
            services: self.services,
            calls: self
                .limits
                .max_calls
                .map(|most| Semaphore::new(most.min(Semaphore::MAX_PERMITS))),
            limits: self.limits,
            load: self.load,
            lifecycle,
            health,
            #[cfg(feature = "tls")]
            tls: self.tls,
        })
    }

    fn add_reflection(&mut self, lifecycle: &Arc<Lifecycle>) -> Result<(), BindError> {
        let mut files = descriptors::Files::default();
        files.add(&builtin::descriptors())?;
        for set in &self.descriptors {
            files.add(set)?;
        }
        let mut names = self.services.interfaces();
        names.extend(reflection::NAMES.map(str::to_owned));
        names.sort_unstable();
        names.dedup();
        let service = Arc::new(reflection::Service::new(files, names, lifecycle.clone()));
        for name in reflection::NAMES {
            self.services.add_builtin(name, service.clone());
        }
        Ok(())
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("services", &self.services)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("services", &self.services).finish_non_exhaustive()
    }
}

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The address cannot be listened at.
    #[error("cannot listen: {0}")]
    Io(#[from] io::Error),
    /// A descriptor set cannot be read.
    #[error("bad descriptor set: {0}")]
    Descriptors(#[from] prost::DecodeError),
}

/// The next frame of a request's body.
pub(crate) async fn next_frame(body: &mut Incoming) -> Result<Option<Frame<bytes::Bytes>>, Status> {
    let frame = std::future::poll_fn(|cx| std::pin::Pin::new(&mut *body).poll_frame(cx)).await;
    frame.transpose().map_err(|error| {
        Status::new(code::CANCELLED, format!("the request's body broke off: {error}"))
    })
}
