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
use crate::hash::key::Argument;
use crate::outcome::{Failure, FailureKind};
use crate::service::ServiceKey;
use crate::stream::{Duplex, StreamRequest};
use crate::url::Url;

/// A boxed future, so that the doors can be trait objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What form a body has.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash)]
pub enum BodyFormat {
    /// One encoded protobuf message.
    Protobuf,
    /// One JSON document; a top-level array is the list of arguments.
    Json,
    /// Java values, encoded as Hessian 2.
    Java,
}

/// What a request carries.
#[derive(Clone, Debug)]
pub enum Body {
    /// One encoded protobuf message.
    Protobuf(Bytes),
    /// One JSON document; a top-level array is the list of arguments.
    Json(Bytes),
    /// Arguments of a Java method.
    Java(Arc<dyn Arguments>),
}

impl Body {
    /// One encoded protobuf message.
    pub fn protobuf(message: impl Into<Bytes>) -> Self {
        Body::Protobuf(message.into())
    }

    /// One JSON document.
    pub fn json(document: impl Into<Bytes>) -> Self {
        Body::Json(document.into())
    }

    /// Its form.
    pub fn format(&self) -> BodyFormat {
        match self {
            Body::Protobuf(_) => BodyFormat::Protobuf,
            Body::Json(_) => BodyFormat::Json,
            Body::Java(_) => BodyFormat::Java,
        }
    }
}

/// Arguments of a Java method. Protocols put values on the wire in different ways, and which
/// protocol an attempt takes is known only when its endpoint is, so the encoding is asked for then.
/// An implementation should encode at most once per form, because every attempt asks.
pub trait Arguments: Send + Sync + fmt::Debug + 'static {
    /// The parameter types in the notation of the JVM, without separator and parentheses:
    /// `Ljava/lang/String;I`.
    fn descriptor(&self) -> &str;

    /// All values one after the other in one Hessian stream, whose tables they share.
    ///
    /// # Errors
    /// A value cannot be encoded; not sent, by definition.
    fn joined(&self) -> Result<Bytes, Failure>;

    /// Each value in a Hessian stream of its own.
    ///
    /// # Errors
    /// A value cannot be encoded; not sent, by definition.
    fn each(&self) -> Result<Vec<Bytes>, Failure>;

    /// What `hash.arguments` selects from. Asked only where the strategy needs a key and the caller
    /// gave none.
    fn hashed(&self) -> Vec<Argument>;
}

/// One request, as a protocol needs it. Cheap to clone; each attempt owns its copy.
#[derive(Clone, Debug)]
pub struct Request {
    /// Interface, group and version.
    pub service: Arc<ServiceKey>,
    /// Method name, case-sensitive.
    pub method: Arc<str>,
    /// The arguments.
    pub body: Body,
    /// Java types of the parameters of a JSON call, in source form and separated by commas:
    /// `java.lang.String,int`. `None` when the caller did not say.
    pub types: Option<Arc<str>>,
    /// Whether nobody waits for the answer. A protocol that cannot say so to the provider throws
    /// the answer away; the reply is then empty.
    pub one_way: bool,
    /// Metadata that travels.
    pub attachments: Attachments,
    /// Time this attempt has, counted from `send`. The caller enforces it by dropping the future;
    /// the protocol tells the provider. `None` means unbounded.
    pub timeout: Option<Duration>,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The result, in the format of the request; of a Java call one Hessian value in a stream of
    /// its own.
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

    /// Opens a stream of messages. Returns once the stream has its place on the connection, which
    /// may be before the provider has seen it.
    ///
    /// *Cancellation*: dropping the future, or both halves later, withdraws the call.
    /// *Errors*: as [`send`](Self::send); a protocol without streams says so.
    fn open<'a>(&'a self, request: StreamRequest) -> BoxFuture<'a, Result<Duplex, Failure>> {
        let reason = format!("no stream for {:?}: this protocol has none", request.method);
        let refused = Failure::not_sent(FailureKind::Invalid, reason);
        Box::pin(std::future::ready(Err(refused)))
    }

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
