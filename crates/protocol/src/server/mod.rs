//! The server: [`Server`] collects services and options, [`RunningServer`] is what `bind` makes
//! of it.

mod builder;
pub(crate) mod call;
mod connection;
pub(crate) mod deadline;
pub(crate) mod lifecycle;
pub(crate) mod limits;
mod listener;
mod preface;
pub(crate) mod services;
pub(crate) mod terms;

use std::fmt;
use std::io;
use std::sync::Arc;

use http_body::{Body, Frame};
use hyper::body::Incoming;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::load::LoadSource;
use crate::server::lifecycle::Lifecycle;
use crate::server::limits::Limits;
use crate::server::services::Services;
use crate::status::{Status, code};
#[cfg(feature = "tls")]
use crate::tls::ServerTls;
use crate::tri::server::health;

pub use builder::Server;
pub use call::{CallContext, Handler};
pub use listener::RunningServer;
pub use terms::ServiceOptions;

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) services: Services,
    /// Whether `dubbo` is spoken.
    pub(crate) dubbo: bool,
    pub(crate) limits: Limits,
    pub(crate) load: Arc<dyn LoadSource>,
    calls: Option<Arc<Semaphore>>,
    pub(crate) lifecycle: Arc<Lifecycle>,
    health: health::Health,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<ServerTls>,
}

impl Shared {
    /// Lets one more call in, if the limit of the server allows.
    pub(crate) fn admit(&self) -> Result<Option<OwnedSemaphorePermit>, Status> {
        match &self.calls {
            None => Ok(None),
            Some(calls) => calls.clone().try_acquire_owned().map(Some).map_err(|_| too_many()),
        }
    }
}

fn too_many() -> Status {
    Status::new(code::RESOURCE_EXHAUSTED, "too many calls at a time (option max_calls)")
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
