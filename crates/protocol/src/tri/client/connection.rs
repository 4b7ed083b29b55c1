//! One open connection: the `Connection` door of `core` on top of an HTTP/2 sender.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arc_swap::ArcSwapOption;
use equipoise_core::outcome::{Failure, FailureKind};
use equipoise_core::port::{Body, BodyFormat, BoxFuture, Connection, Reply, Request};
use h2::RecvStream;
use h2::client::{ResponseFuture, SendRequest};
use tokio::time::Instant;

use crate::tri::client::driver::State;
use crate::tri::client::heads::Heads;
use crate::tri::client::{exchange, json};
use crate::tri::frame::{FrameError, Framed};
use crate::tri::{headers, timeout};

/// A connection to one provider, shared by all calls.
pub(crate) struct TriConnection {
    address: String,
    /// Gone once the connection takes no more calls.
    sender: ArcSwapOption<SendRequest<Framed>>,
    state: Arc<State>,
    heads: Heads,
    max_message: usize,
}

impl TriConnection {
    pub(crate) fn new(
        address: String,
        sender: SendRequest<Framed>,
        state: Arc<State>,
        heads: Heads,
        max_message: usize,
    ) -> Self {
        let sender = ArcSwapOption::from_pointee(sender);
        Self { address, sender, state, heads, max_message }
    }

    async fn exchange(&self, request: Request) -> Result<Reply, Failure> {
        let asked = Asked::new(self, &request);
        let response = self.start(&request)?;
        let _in_flight = InFlight::new(&self.state);
        let response = match response.await {
            Ok(response) => response,
            Err(error) => return Err(asked.broken(&error)),
        };
        match request.body.format() {
            BodyFormat::Protobuf | BodyFormat::Java => exchange::answer(&asked, response).await,
            BodyFormat::Json => json::answer(&asked, response).await,
        }
    }

    /// Hands the request to the connection. Everything that fails here was not sent.
    fn start(&self, request: &Request) -> Result<ResponseFuture, Failure> {
        let invalid = |message: String| Failure::not_sent(FailureKind::Invalid, message);
        let body = self.body(request)?;
        let head = self.heads.head(request).map_err(invalid)?;
        let mut wire = http::Request::new(());
        *wire.method_mut() = http::Method::POST;
        *wire.version_mut() = http::Version::HTTP_2;
        *wire.uri_mut() = head.uri.clone();
        *wire.headers_mut() = head.headers.clone();
        match (request.timeout, request.body.format()) {
            (None, _) => {}
            (Some(limit), BodyFormat::Protobuf | BodyFormat::Java) => {
                wire.headers_mut().insert(headers::GRPC_TIMEOUT, timeout::grpc(limit));
            }
            (Some(limit), BodyFormat::Json) => {
                wire.headers_mut().insert(headers::SERVICE_TIMEOUT, timeout::millis(limit));
            }
        }
        headers::write(&request.attachments, wire.headers_mut())
            .map_err(|bad| invalid(bad.to_string()))?;
        let sender = self.sender.load();
        let Some(sender) = sender.as_ref().filter(|_| self.state.is_available()) else {
            return Err(self.gone(self.state.reason()));
        };
        // A sender of its own: a shared one would refuse while a stream of it waits to be opened.
        let mut sender = SendRequest::clone(sender);
        let (response, mut stream) = sender.send_request(wire, false).map_err(|error| {
            // The connection's task may not have had its turn since; whoever chooses next must
            // not choose this connection again.
            if error.is_go_away() || error.is_io() {
                self.state.close(|| format!("the provider takes no more calls: {error}"));
            }
            self.gone(&error)
        })?;
        // If the connection breaks in between, the response says why.
        let _ = stream.send_data(body, true);
        Ok(response)
    }

    fn body(&self, request: &Request) -> Result<Framed, Failure> {
        let bytes = match &request.body {
            Body::Protobuf(bytes) | Body::Json(bytes) => bytes,
            Body::Java(_) => {
                let text = "tri carries no Java values yet";
                return Err(Failure::not_sent(FailureKind::Invalid, text));
            }
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
            _ => Framed::message(bytes.clone()).ok_or_else(too_large),
        }
    }

    fn gone(&self, reason: impl fmt::Display) -> Failure {
        Failure::not_sent(FailureKind::Network, format!("{}: {reason}", self.address))
    }
}

impl Connection for TriConnection {
    fn send<'a>(&'a self, request: Request) -> BoxFuture<'a, Result<Reply, Failure>> {
        Box::pin(self.exchange(request))
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
}

impl<'a> Asked<'a> {
    fn new(connection: &'a TriConnection, request: &Request) -> Self {
        Self {
            address: &connection.address,
            deadline: request.timeout.and_then(|limit| Instant::now().checked_add(limit)),
            max_message: connection.max_message,
        }
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
