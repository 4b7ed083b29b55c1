//! What a service provides and what it is told about a call: [`Handler`] and [`CallContext`].

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use equipoise_core::attachments::Attachments;
use equipoise_core::port::{BodyFormat, BoxFuture, Reply};
use equipoise_core::service::ServiceKey;
use http::uri::PathAndQuery;
use tokio::time::Instant;

use crate::java::JavaArguments;
use crate::status::Status;
use crate::tri::server::streaming::{Requests, Responses};

/// A service: answers the calls of all its methods.
///
/// Implemented by closures as well: `|call: CallContext| async move { … }`.
pub trait Handler: Send + Sync + 'static {
    /// Answers one call. The reply's body has the format of the call's (of a Java call: one Hessian
    /// value in a stream of its own); its attachments travel as trailers over `tri` (as headers with
    /// JSON) and beside the result over `dubbo`.
    ///
    /// *Called by* the server, on a task of the call's own; over `dubbo` the future is polled once on
    /// the connection's task before that. Work that blocks belongs on `spawn_blocking`.
    /// *Cancellation*: the future is dropped when the caller gives up, when its deadline is over
    /// and when the connection is lost.
    /// *Errors*: an unknown method is [`Status::unknown_method`]. A panic answers this call with
    /// status 13 and harms nothing else.
    fn call<'a>(&'a self, call: CallContext) -> BoxFuture<'a, Result<Reply, Status>>;

    /// What a gRPC request of `method` holds: one protobuf message, or Java values in Dubbo's
    /// wrapper. The wire does not say it. Calls over `dubbo` and generic ones always come as Java
    /// values, calls with `application/json` as JSON.
    fn form(&self, method: &str) -> BodyFormat {
        let _ = method;
        BodyFormat::Protobuf
    }

    /// Whether `method` takes or gives a stream of messages. Its calls reach
    /// [`stream`](Self::stream), and only over `tri` in the gRPC flavour.
    fn is_stream(&self, method: &str) -> bool {
        let _ = method;
        false
    }

    /// Answers one call of a method that [`is_stream`](Self::is_stream): takes messages from
    /// `requests`, gives its own to `responses`, in any order, and ends the call by returning. What
    /// it returns travels as trailers. The form of the messages is [`form`](Self::form)'s; `call`
    /// has no body.
    ///
    /// *Called by* the server, on a task of the call's own. The head of the answer has been sent.
    /// *Cancellation*: as of [`call`](Self::call); a stream that is reset is such a case. When the
    /// server ends, streams have its grace like all calls.
    /// *Errors*: travel as the status of the call, after the messages that were sent. Exceptions do
    /// not travel in streams.
    fn stream<'a>(
        &'a self,
        call: CallContext,
        requests: Requests,
        responses: Responses,
    ) -> BoxFuture<'a, Result<Attachments, Status>> {
        drop((requests, responses));
        Box::pin(async move { Err(Status::unknown_method(&call.service.interface, call.method())) })
    }

    /// The declared type of the method's result in Java's source form (`int`, `void`,
    /// `java.util.List`), which travels beside results in Dubbo's wrapper; nobody needs it.
    fn returns(&self, method: &str, types: Option<&str>) -> Option<&str> {
        let _ = (method, types);
        None
    }

    /// Whether a Java class is an enum. On the wire its constants look like objects with a field
    /// `name`, but generic callers expect the bare name.
    fn is_enum(&self, class: &str) -> bool {
        let _ = class;
        false
    }
}

impl<F, A> Handler for F
where
    F: Fn(CallContext) -> A + Send + Sync + 'static,
    A: Future<Output = Result<Reply, Status>> + Send + 'static,
{
    fn call<'a>(&'a self, call: CallContext) -> BoxFuture<'a, Result<Reply, Status>> {
        Box::pin(self(call))
    }
}

/// One call, as a handler sees it.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// The service as it was registered.
    pub service: Arc<ServiceKey>,
    method: Method,
    /// Form of `body`.
    pub format: BodyFormat,
    /// The arguments: one protobuf message, or one JSON document (a top-level array is the list
    /// of arguments), as sent.
    pub body: Bytes,
    /// The arguments where `format` is [`BodyFormat::Java`]; `body` is empty then.
    pub java: Option<JavaArguments>,
    /// Metadata that travelled with the call.
    pub attachments: Attachments,
    /// When the caller stops waiting, if it said so.
    pub deadline: Option<Instant>,
    /// Address of the caller.
    pub peer: SocketAddr,
}

impl CallContext {
    /// A call without attachments and deadline, as tests of handlers want it.
    pub fn new(
        service: Arc<ServiceKey>,
        method: &str,
        format: BodyFormat,
        body: impl Into<Bytes>,
        peer: SocketAddr,
    ) -> Self {
        Self {
            service,
            method: Method::Named(method.into()),
            format,
            body: body.into(),
            java: None,
            attachments: Attachments::new(),
            deadline: None,
            peer,
        }
    }

    /// A call of a Java method, with everything that came with it.
    pub(crate) fn of_java(
        service: Arc<ServiceKey>,
        method: Arc<str>,
        java: JavaArguments,
        attachments: Attachments,
        deadline: Option<Instant>,
        peer: SocketAddr,
    ) -> Self {
        Self {
            service,
            method: Method::Named(method),
            format: BodyFormat::Java,
            body: Bytes::new(),
            java: Some(java),
            attachments,
            deadline,
            peer,
        }
    }

    /// The method's name, case-sensitive, as it was called.
    pub fn method(&self) -> &str {
        self.method.name()
    }

    /// The same call of another method, with Java values as arguments.
    pub(crate) fn into_java(self, method: Arc<str>, java: JavaArguments) -> Self {
        Self {
            method: Method::Named(method),
            format: BodyFormat::Java,
            body: Bytes::new(),
            java: Some(java),
            ..self
        }
    }

    /// Time left until the deadline; `None` when there is none, zero when it is over.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }
}

/// Everything of a call but its body, as the flavours read it from the headers.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) path: Path,
    pub(crate) attachments: Attachments,
    pub(crate) deadline: Option<Instant>,
    pub(crate) peer: SocketAddr,
}

impl Head {
    pub(crate) fn context(
        self,
        service: Arc<ServiceKey>,
        format: BodyFormat,
        body: Bytes,
    ) -> CallContext {
        CallContext {
            service,
            method: Method::InPath(self.path),
            format,
            body,
            java: None,
            attachments: self.attachments,
            deadline: self.deadline,
            peer: self.peer,
        }
    }
}

/// A request's path, cut into service and method without copying either.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    text: PathAndQuery,
    /// Where the last slash of the path is.
    slash: usize,
}

impl Path {
    /// `None` when it is not `/service/method`.
    pub(crate) fn cut(text: &PathAndQuery) -> Option<Self> {
        let path = text.path();
        let slash = path.rfind('/')?;
        let named = path.starts_with('/') && slash > 1 && slash + 1 < path.len();
        named.then(|| Self { text: text.clone(), slash })
    }

    /// The service's part, without the leading slash.
    pub(crate) fn service(&self) -> &str {
        self.text.path().get(1..self.slash).unwrap_or_default()
    }

    /// The method's part.
    pub(crate) fn method(&self) -> &str {
        self.text.path().get(self.slash + 1..).unwrap_or_default()
    }
}

#[derive(Clone, Debug)]
enum Method {
    InPath(Path),
    Named(Arc<str>),
}

impl Method {
    fn name(&self) -> &str {
        match self {
            Method::InPath(path) => path.method(),
            Method::Named(name) => name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_service_and_method() {
        let cut = |path: &'static str| {
            let path = Path::cut(&PathAndQuery::from_static(path))?;
            Some((path.service().to_owned(), path.method().to_owned()))
        };
        let of = |service: &str, method: &str| Some((service.to_owned(), method.to_owned()));
        assert_eq!(cut("/a.B/m"), of("a.B", "m"));
        assert_eq!(cut("/ctx/a.B/m?x=/y"), of("ctx/a.B", "m"));
        for bad in ["/", "/m", "//m", "/a.B/", "*"] {
            assert_eq!(cut(bad), None, "{bad}");
        }
    }
}
