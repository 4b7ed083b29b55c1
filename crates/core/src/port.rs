//! The two doors of the house: [`Protocol`] (how a call reaches an endpoint) and [`Registry`]
//! (where endpoints come from). Implementations live in crates of their own; nothing here knows a
//! socket or a runtime, so futures are boxed ones of `std`.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::attachments::Attachments;
use crate::outcome::Failure;
use crate::service::ServiceKey;
use crate::url::Url;

/// A boxed future, so that the doors can be trait objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What form the bytes of a body have.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash)]
pub enum BodyFormat {
    /// One encoded protobuf message.
    Protobuf,
    /// One JSON document; a top-level array is the list of arguments.
    Json,
}

/// One request, as a protocol needs it. Cheap to clone; each attempt owns its copy.
#[derive(Clone, Debug)]
pub struct Request {
    /// Interface, group and version.
    pub service: Arc<ServiceKey>,
    /// Method name, case-sensitive.
    pub method: Arc<str>,
    /// Form of `body`.
    pub format: BodyFormat,
    /// The arguments.
    pub body: Bytes,
    /// Metadata that travels.
    pub attachments: Attachments,
    /// Time this attempt has, counted from `send`. The caller enforces it by dropping the future;
    /// the protocol tells the provider. `None` means unbounded.
    pub timeout: Option<Duration>,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The result, in the format of the request.
    pub body: Bytes,
    /// Metadata of the response, headers and trailers together.
    pub attachments: Attachments,
}

/// How a call reaches an endpoint: one implementation per wire protocol.
pub trait Protocol: Send + Sync + 'static {
    /// The URL scheme, for example `tri`.
    fn scheme(&self) -> &'static str;

    /// Port of an address that names none.
    fn default_port(&self) -> u16;

    /// Opens a connection to the provider at `target` (host, port and parameters of the URL).
    ///
    /// *Called by* the endpoint's health task, never by a call.
    /// *Cancellation*: dropping the future abandons the connection.
    /// *Errors*: not sent, by definition.
    fn connect<'a>(
        &'a self,
        target: &'a Url,
    ) -> BoxFuture<'a, Result<Arc<dyn Connection>, Failure>>;
}

/// One open connection to one endpoint, shared by all calls.
pub trait Connection: Send + Sync + fmt::Debug + 'static {
    /// Sends one request and waits for its answer.
    ///
    /// *Cancellation*: dropping the future withdraws the call (resets its stream) and frees
    /// everything it held.
    /// *Errors*: `sent` is `No` only if the provider provably did not see the call.
    fn send<'a>(&'a self, request: Request) -> BoxFuture<'a, Result<Reply, Failure>>;

    /// Whether new calls may use it: open, and not told to go away.
    fn is_available(&self) -> bool;

    /// Resolves once `is_available` has become false, and stays false.
    fn unavailable<'a>(&'a self) -> BoxFuture<'a, ()>;

    /// Sends no new call; the ones in flight finish, then the connection closes.
    fn drain(&self);
}

/// Where endpoints come from.
pub trait Registry: Send + Sync + 'static {
    /// The URL scheme, for example `zookeeper`.
    fn scheme(&self) -> &'static str;

    /// Watches the providers of one service. Each full list goes to `sink`; the future resolves
    /// when the watch has ended for good.
    ///
    /// *Called by* the directory task, once per service.
    /// *Cancellation*: dropping the future ends the watch.
    fn watch<'a>(
        &'a self,
        service: &'a ServiceKey,
        sink: Arc<dyn EndpointSink>,
    ) -> BoxFuture<'a, Result<(), RegistryError>>;
}

/// Receives full lists from a registry.
pub trait EndpointSink: Send + Sync {
    /// Replaces the list. An empty list means "no provider", not "no news".
    fn endpoints(&self, list: Vec<Url>);
}

/// Why a watch ended.
#[derive(Clone, Debug, thiserror::Error)]
#[error("registry {registry}: {message}")]
pub struct RegistryError {
    /// Scheme of the registry.
    pub registry: String,
    /// What happened, for people.
    pub message: String,
}
