//! Streams of a connection: the two halves on top of one HTTP/2 stream.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use equipoise_core::attachments::Attachments;
use equipoise_core::outcome::{Failure, FailureKind};
use equipoise_core::port::{Body, BodyFormat, BoxFuture};
use equipoise_core::stream::{Incoming, Outgoing, StreamKind};
use h2::SendStream;
use h2::client::ResponseFuture;
use http::{HeaderMap, StatusCode};
use tokio::time::Instant;

use crate::tri::client::connection::{Asked, Chunks};
use crate::tri::client::driver::State;
use crate::tri::client::exchange;
use crate::tri::frame::{Deframer, Framed};
use crate::tri::headers::GRPC_STATUS;
use crate::tri::{gzip, wrapper};

/// Counts a stream among the calls of its connection while either half lives.
pub(crate) struct Counted(Arc<State>);

impl Counted {
    pub(crate) fn new(state: Arc<State>) -> Arc<Self> {
        state.in_flight.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self(state))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What both halves know.
#[derive(Clone)]
pub(crate) struct Terms {
    pub(crate) address: Arc<str>,
    pub(crate) format: BodyFormat,
    pub(crate) kind: StreamKind,
    pub(crate) max_message: usize,
    /// Whether our messages are packed.
    pub(crate) pack: bool,
    /// Whether packed ones are read.
    pub(crate) unpack: bool,
    pub(crate) deadline: Option<Instant>,
    /// Held for as long as either half lives.
    pub(crate) _counted: Arc<Counted>,
}

impl Terms {
    fn asked(&self) -> Asked<'_> {
        Asked::of(&self.address, self.deadline, self.max_message)
    }
}

/// The half that sends.
pub(crate) struct Sending {
    stream: SendStream<Framed>,
    terms: Terms,
    finished: bool,
}

impl Sending {
    pub(crate) fn new(stream: SendStream<Framed>, terms: Terms) -> Self {
        Self { stream, terms, finished: false }
    }

    fn framed(&self, message: Body) -> Result<Framed, Failure> {
        let refused = |kind, text: String| Failure::not_sent(kind, text);
        let format = message.format();
        let bytes = match (message, self.terms.format) {
            (Body::Protobuf(bytes), BodyFormat::Protobuf) => bytes,
            (Body::Java(arguments), BodyFormat::Java) => {
                let observed = self.terms.kind == StreamKind::Server;
                wrapper::streamed(arguments.as_ref(), observed)?
            }
            (_, expected) => {
                let text = format!("a message of form {format:?} in a stream of {expected:?}");
                return Err(refused(FailureKind::Invalid, text));
            }
        };
        let (size, limit) = (bytes.len(), self.terms.max_message);
        let framed = match (size <= limit, self.terms.pack) {
            (false, _) => None,
            (true, true) => Framed::packed(&bytes),
            (true, false) => Framed::message(bytes),
        };
        framed.ok_or_else(|| {
            let text = format!(
                "a message of {size} bytes is over the limit of {limit} (option max_message_bytes)"
            );
            refused(FailureKind::Serialization, text)
        })
    }

    /// Waits until the window has room and nothing that was sent before is still waiting for it.
    async fn room(&mut self) -> Result<(), Failure> {
        // With one byte more than is waiting already, the window is open for what comes.
        self.stream.reserve_capacity(1);
        while self.stream.capacity() == 0 {
            match std::future::poll_fn(|cx| self.stream.poll_capacity(cx)).await {
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(exchange::broken(&self.terms.address, &error)),
                None => return Err(self.over()),
            }
        }
        Ok(())
    }

    fn over(&self) -> Failure {
        let text = format!("{}: the stream is over, nothing more can be sent", self.terms.address);
        Failure::new(FailureKind::Network, text)
    }
}

impl Outgoing for Sending {
    fn send<'a>(&'a mut self, message: Body) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            if self.finished {
                let text = "a message after the end of the stream was said";
                return Err(Failure::not_sent(FailureKind::Invalid, text));
            }
            let framed = self.framed(message)?;
            self.room().await?;
            let sent = self.stream.send_data(framed, false);
            sent.map_err(|error| exchange::broken(&self.terms.address, &error))
        })
    }

    fn finish(&mut self) -> Result<(), Failure> {
        if std::mem::replace(&mut self.finished, true) {
            return Ok(());
        }
        self.stream.send_data(Framed::bare(Bytes::new()), true).map_err(|_| self.over())
    }
}

/// Where the answer is.
enum Answer {
    Awaited(ResponseFuture),
    Begun { body: Chunks, deframer: Deframer },
    Over,
}

/// The half that receives.
pub(crate) struct Receiving {
    answer: Answer,
    terms: Terms,
    attachments: Attachments,
    /// Headers of an answer that is nothing else, until they are read as its trailers.
    bare: Option<HeaderMap>,
    received: bool,
}

impl Receiving {
    pub(crate) fn new(response: ResponseFuture, terms: Terms) -> Self {
        let answer = Answer::Awaited(response);
        Self { answer, terms, attachments: Attachments::new(), bare: None, received: false }
    }

    /// Reads the head, unless that is done.
    async fn head(&mut self) -> Result<(), Failure> {
        let Answer::Awaited(response) = &mut self.answer else { return Ok(()) };
        let response = match response.await {
            Ok(response) => response,
            Err(error) => return Err(exchange::broken(&self.terms.address, &error)),
        };
        let (head, body) = response.into_parts();
        let asked = self.terms.asked();
        self.attachments = exchange::attachments([&head.headers]);
        if head.headers.get(GRPC_STATUS).is_some_and(|status| status != "0") {
            let attachments = std::mem::take(&mut self.attachments);
            return Err(exchange::refused(&asked, &head.headers, attachments, false));
        }
        if head.status != StatusCode::OK || !exchange::is_grpc(&head.headers) {
            return Err(exchange::no_grpc(&asked, head.status, &head.headers));
        }
        let packed = gzip::announced(&head.headers).map_err(|text| {
            Failure::new(FailureKind::Serialization, text).with_status(crate::code::INTERNAL)
        })?;
        let deframer = Deframer::new(self.terms.max_message).gzip(packed && self.terms.unpack);
        if head.headers.contains_key(GRPC_STATUS) {
            self.bare = Some(head.headers);
        }
        self.answer = Answer::Begun { body: Chunks(body), deframer };
        Ok(())
    }

    async fn message(&mut self) -> Result<Option<Bytes>, Failure> {
        self.head().await?;
        let Answer::Begun { body, deframer } = &mut self.answer else { return Ok(None) };
        loop {
            if let Some(message) = deframer.next().map_err(exchange::unreadable)? {
                self.received = true;
                return match self.terms.format {
                    BodyFormat::Java => wrapper::result(message).map(Some),
                    _ => Ok(Some(message)),
                };
            }
            match body.next().await {
                Ok(Some(chunk)) => deframer.push(chunk),
                Ok(None) if deframer.is_empty() => break,
                Ok(None) => return Err(exchange::garbled("the message is cut off")),
                Err(error) => return Err(exchange::broken(&self.terms.address, &error)),
            }
        }
        let trailers = match body.0.trailers().await {
            Ok(trailers) => trailers.or_else(|| self.bare.take()).unwrap_or_default(),
            Err(error) => return Err(exchange::broken(&self.terms.address, &error)),
        };
        crate::tri::headers::read(&trailers, &mut self.attachments);
        if trailers.get(GRPC_STATUS).is_some_and(|status| status == "0") {
            return Ok(None);
        }
        let attachments = self.attachments.clone();
        Err(exchange::refused(&self.terms.asked(), &trailers, attachments, self.received))
    }
}

impl Incoming for Receiving {
    fn next<'a>(&'a mut self) -> BoxFuture<'a, Result<Option<Bytes>, Failure>> {
        Box::pin(async move {
            let next = self.message().await;
            if !matches!(next, Ok(Some(_))) {
                self.answer = Answer::Over;
            }
            next
        })
    }

    fn begun<'a>(&'a mut self) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let head = self.head().await;
            if head.is_err() {
                self.answer = Answer::Over;
            }
            head
        })
    }

    fn attachments(&self) -> &Attachments {
        &self.attachments
    }
}
