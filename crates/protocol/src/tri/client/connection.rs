//! One open connection: the `Connection` door of `core` on top of an HTTP/2 sender.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use equipoise_core::hash::key::Argument;
use equipoise_core::outcome::{Failure, FailureKind};
use equipoise_core::port::{Arguments, Body, BodyFormat, BoxFuture, Connection, Reply, Request};
use equipoise_core::stream::{Duplex, StreamRequest};
use h2::RecvStream;
use h2::client::{ResponseFuture, SendRequest};
use tokio::time::Instant;

use crate::java::generic;
use crate::tri::client::driver::State;
use crate::tri::client::heads::Heads;
use crate::tri::client::stream::{Counted, Receiving, Sending, Terms};
use crate::tri::client::{Gzip, exchange, json};
use crate::tri::frame::{FrameError, Framed};
use crate::tri::{gzip, headers, timeout, wrapper};

/// A connection to one provider, shared by all calls.
pub(crate) struct TriConnection {
    address: Arc<str>,
    /// Gone once the connection takes no more calls.
    sender: ArcSwapOption<SendRequest<Framed>>,
    state: Arc<State>,
    heads: Heads,
    max_message: usize,
    gzip: Gzip,
}

impl TriConnection {
    pub(crate) fn new(
        address: String,
        sender: SendRequest<Framed>,
        state: Arc<State>,
        heads: Heads,
        max_message: usize,
        gzip: Gzip,
    ) -> Self {
        let sender = ArcSwapOption::from_pointee(sender);
        Self { address: address.into(), sender, state, heads, max_message, gzip }
    }

    async fn exchange(&self, request: Request) -> Result<Reply, Failure> {
        // JSON for a Java method travels as Java values, and comes back as JSON.
        if request.types.is_some() && request.body.format() == BodyFormat::Json {
            let (request, generic) = generic::request(request)?;
            return generic.answer(self.ask(request).await);
        }
        self.ask(request).await
    }

    async fn ask(&self, request: Request) -> Result<Reply, Failure> {
        let asked = Asked::new(self, &request);
        let response = self.start(&request)?;
        let _in_flight = InFlight::new(&self.state);
        let response = match response.await {
            Ok(response) => response,
            Err(error) => return Err(asked.broken(&error)),
        };
        match request.body.format() {
            BodyFormat::Protobuf => exchange::answer(&asked, response).await,
            BodyFormat::Java => {
                let reply = exchange::answer(&asked, response).await?;
                Ok(Reply { body: wrapper::result(reply.body)?, ..reply })
            }
            BodyFormat::Json => json::answer(&asked, response).await,
        }
    }

    /// Hands the request to the connection. Everything that fails here was not sent.
    fn start(&self, request: &Request) -> Result<ResponseFuture, Failure> {
        let body = self.body(request)?;
        let wire = self.wire(request)?;
        // A sender of its own: a shared one would refuse while a stream of it waits to be opened.
        let mut sender = self.sender()?;
        let sent = sender.send_request(wire, false);
        let (response, mut stream) = sent.map_err(|error| self.no_more(&error))?;
        // If the connection breaks in between, the response says why.
        let _ = stream.send_data(body, true);
        Ok(response)
    }

    async fn stream(&self, request: StreamRequest) -> Result<Duplex, Failure> {
        let deadline = request.timeout.and_then(|limit| Instant::now().checked_add(limit));
        let body = match request.format {
            BodyFormat::Protobuf => Body::Protobuf(Bytes::new()),
            BodyFormat::Java => Body::Java(Arc::new(NoArguments)),
            BodyFormat::Json => {
                let text = "a stream has protobuf messages or Java values, not JSON";
                return Err(Failure::not_sent(FailureKind::Invalid, text));
            }
        };
        let terms = Terms {
            address: self.address.clone(),
            format: request.format,
            kind: request.kind,
            max_message: self.max_message,
            pack: self.gzip.send,
            unpack: self.gzip.accept,
            deadline,
            _counted: Counted::new(self.state.clone()),
        };
        let wire = self.wire(&Request {
            service: request.service,
            method: request.method,
            body,
            types: None,
            one_way: false,
            attachments: request.attachments,
            timeout: request.timeout,
        })?;
        // Waits while the provider allows no more streams.
        let ready = self.sender()?.ready().await;
        let mut sender = ready.map_err(|error| self.no_more(&error))?;
        let sent = sender.send_request(wire, false);
        let (response, stream) = sent.map_err(|error| self.no_more(&error))?;
        Ok(Duplex {
            outgoing: Box::new(Sending::new(stream, terms.clone())),
            incoming: Box::new(Receiving::new(response, terms)),
        })
    }

    /// The head of a request.
    fn wire(&self, request: &Request) -> Result<http::Request<()>, Failure> {
        let invalid = |message: String| Failure::not_sent(FailureKind::Invalid, message);
        let head = self.heads.head(request).map_err(invalid)?;
        let mut wire = http::Request::new(());
        *wire.method_mut() = http::Method::POST;
        *wire.version_mut() = http::Version::HTTP_2;
        *wire.uri_mut() = head.uri.clone();
        *wire.headers_mut() = head.headers.clone();
        let json = request.body.format() == BodyFormat::Json;
        if let Some(limit) = request.timeout {
            match json {
                false => wire.headers_mut().insert(headers::GRPC_TIMEOUT, timeout::grpc(limit)),
                true => wire.headers_mut().insert(headers::SERVICE_TIMEOUT, timeout::millis(limit)),
            };
        }
        if !json && self.gzip.send {
            wire.headers_mut().insert(headers::GRPC_ENCODING, gzip::GZIP);
        }
        if !json && self.gzip.accept {
            wire.headers_mut().insert(headers::GRPC_ACCEPT_ENCODING, gzip::GZIP);
        }
        headers::write(&request.attachments, wire.headers_mut())
            .map_err(|bad| invalid(bad.to_string()))?;
        Ok(wire)
    }

    fn sender(&self) -> Result<SendRequest<Framed>, Failure> {
        let sender = self.sender.load();
        match sender.as_ref().filter(|_| self.state.is_available()) {
            Some(sender) => Ok(SendRequest::clone(sender)),
            None => Err(self.gone(self.state.reason())),
        }
    }

    fn no_more(&self, error: &h2::Error) -> Failure {
        // The connection's task may not have had its turn since; whoever chooses next must not
        // choose this connection again.
        if error.is_go_away() || error.is_io() {
            self.state.close(|| format!("the provider takes no more calls: {error}"));
        }
        self.gone(error)
    }

    fn body(&self, request: &Request) -> Result<Framed, Failure> {
        let bytes = match &request.body {
            Body::Protobuf(bytes) | Body::Json(bytes) => bytes,
            Body::Java(arguments) => &wrapper::request(arguments.as_ref())?,
        };
        let size = bytes.len();
        let too_large = || {
            let limit = self.max_message;
            let refused = FrameError::TooLarge { size, limit };
            Failure::not_sent(FailureKind::Serialization, refused.to_string())
        };
        if size > self.max_message {
            return Err(too_large());
        }
        match &request.body {
            Body::Json(_) => Ok(Framed::bare(bytes.clone())),
            _ if self.gzip.send => Framed::packed(bytes).ok_or_else(too_large),
            _ => Framed::message(bytes.clone()).ok_or_else(too_large),
        }
    }

    fn gone(&self, reason: impl fmt::Display) -> Failure {
        Failure::not_sent(FailureKind::Network, format!("{}: {reason}", self.address))
    }
}

impl Connection for TriConnection {
    fn send<'a>(&'a self, request: Request) -> BoxFuture<'a, Result<Reply, Failure>> {
        Box::pin(async move {
            // Triple has no call without an answer: Dubbo waits for it, too, and drops it.
            let one_way = request.one_way;
            let mut reply = self.exchange(request).await?;
            if one_way {
                reply.body = Bytes::new();
            }
            Ok(reply)
        })
    }

    fn open<'a>(&'a self, request: StreamRequest) -> BoxFuture<'a, Result<Duplex, Failure>> {
        Box::pin(self.stream(request))
    }

    fn is_available(&self) -> bool {
        self.state.is_available()
    }

    fn unavailable<'a>(&'a self) -> BoxFuture<'a, ()> {
        Box::pin(self.state.unavailable())
    }

    fn drain(&self) {
        self.sender.store(None);
        self.state.drain();
    }
}

impl Drop for TriConnection {
    fn drop(&mut self) {
        self.drain();
    }
}

impl fmt::Debug for TriConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TriConnection")
            .field("address", &self.address)
            .field("available", &self.is_available())
            .finish_non_exhaustive()
    }
}

/// The body of a head that opens a stream of Java values.
#[derive(Debug)]
struct NoArguments;

impl Arguments for NoArguments {
    fn descriptor(&self) -> &'static str {
        ""
    }

    fn joined(&self) -> Result<Bytes, Failure> {
        Ok(Bytes::new())
    }

    fn each(&self) -> Result<Vec<Bytes>, Failure> {
        Ok(Vec::new())
    }

    fn hashed(&self) -> Vec<Argument> {
        Vec::new()
    }
}

/// Counts a call while it runs, also when it is dropped.
struct InFlight<'a>(&'a State);

impl<'a> InFlight<'a> {
    fn new(state: &'a State) -> Self {
        state.in_flight.fetch_add(1, Ordering::Relaxed);
        Self(state)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What reading an answer needs to know of the question.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    address: &'a str,
    deadline: Option<Instant>,
    pub(crate) max_message: usize,
    /// Whether packed messages are read.
    pub(crate) unpack: bool,
}

impl<'a> Asked<'a> {
    fn new(connection: &'a TriConnection, request: &Request) -> Self {
        Self {
            address: &connection.address,
            deadline: request.timeout.and_then(|limit| Instant::now().checked_add(limit)),
            max_message: connection.max_message,
            unpack: connection.gzip.accept,
        }
    }

    pub(crate) fn of(address: &'a str, deadline: Option<Instant>, max_message: usize) -> Self {
        Self { address, deadline, max_message, unpack: false }
    }

    /// Whether the time of the attempt is over.
    pub(crate) fn overdue(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// The failure of a stream or connection that broke.
    pub(crate) fn broken(&self, error: &h2::Error) -> Failure {
        exchange::broken(self.address, error)
    }
}

/// The body of a response, chunk by chunk.
#[derive(Debug)]
pub(crate) struct Chunks(pub(crate) RecvStream);

impl Chunks {
    /// The next chunk; its bytes may be sent again by the peer at once.
    pub(crate) async fn next(&mut self) -> Result<Option<bytes::Bytes>, h2::Error> {
        match self.0.data().await {
            Some(Ok(chunk)) => {
                // Fails only for a stream that is over, where there is nothing left to release.
                let _ = self.0.flow_control().release_capacity(chunk.len());
                Ok(Some(chunk))
            }
            Some(Err(error)) => Err(error),
            None => Ok(None),
        }
    }
}
