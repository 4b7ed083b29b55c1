//! What the server answers with: bodies that are written without being copied.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};

use crate::server::lifecycle::InFlight;
use crate::status::{Status, code};
use crate::tri::frame::Framed;
use crate::tri::server::grpc;

/// The messages of a streaming answer.
pub(crate) type Answers = Pin<Box<dyn Stream<Item = Result<Bytes, Status>> + Send>>;

/// The body of one answer.
pub(crate) enum Answer {
    /// Headers only.
    Empty,
    /// One gRPC message and the trailers.
    Unary(Option<Framed>, Option<HeaderMap>),
    /// A document.
    Document(Option<Bytes>),
    /// Messages as they come, then the trailers; `None` once they are sent.
    Stream {
        /// What is still to come.
        answers: Option<Answers>,
        /// Whether messages are packed with gzip.
        pack: bool,
        /// The call runs for as long as the stream does.
        _running: InFlight,
    },
}

impl Answer {
    /// A document as body.
    pub(crate) fn document(bytes: Bytes) -> Self {
        Self::Document(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }
}

impl Body for Answer {
    type Data = Framed;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Framed>, Infallible>>> {
        let frame = match self.get_mut() {
            Answer::Empty => None,
            Answer::Unary(message, trailers) => match message.take() {
                Some(message) => Some(Frame::data(message)),
                None => trailers.take().map(Frame::trailers),
            },
            Answer::Document(bytes) => bytes.take().map(|bytes| Frame::data(Framed::bare(bytes))),
            Answer::Stream { answers, pack, .. } => match answers {
                None => None,
                Some(stream) => {
                    let next = std::task::ready!(stream.as_mut().poll_next(cx));
                    let frame = next_frame(next, *pack);
                    if frame.is_trailers() {
                        *answers = None;
                    }
                    Some(frame)
                }
            },
        };
        Poll::Ready(frame.map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Answer::Empty | Answer::Document(None) => true,
            Answer::Unary(message, trailers) => message.is_none() && trailers.is_none(),
            Answer::Document(Some(_)) => false,
            Answer::Stream { answers, .. } => answers.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Answer::Empty => SizeHint::with_exact(0),
            Answer::Document(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            // Without a length there is no content-length header, which trailers rule out.
            Answer::Unary(..) | Answer::Stream { .. } => SizeHint::default(),
        }
    }
}

fn next_frame(next: Option<Result<Bytes, Status>>, pack: bool) -> Frame<Framed> {
    match next {
        Some(Ok(message)) => match framed(message, pack) {
            Some(message) => Frame::data(message),
            None => Frame::trailers(grpc::trailers(&Status::new(
                code::RESOURCE_EXHAUSTED,
                "a message is too long for a frame",
            ))),
        },
        Some(Err(status)) => Frame::trailers(grpc::trailers(&status)),
        None => Frame::trailers(grpc::trailers(&Status::new(code::OK, ""))),
    }
}

/// A message in its frame.
pub(crate) fn framed(message: Bytes, pack: bool) -> Option<Framed> {
    if pack { Framed::packed(&message) } else { Framed::message(message) }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Answer::Empty => "Empty",
            Answer::Unary(..) => "Unary",
            Answer::Document(_) => "Document",
            Answer::Stream { .. } => "Stream",
        })
    }
}
