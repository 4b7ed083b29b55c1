//! Calls with more than one message: what opens one, and its two halves. A protocol that has streams
//! implements [`Outgoing`] and [`Incoming`]; nothing here knows how they travel.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::attachments::Attachments;
use crate::outcome::Failure;
use crate::port::{Body, BodyFormat, BoxFuture};
use crate::service::ServiceKey;

/// Which side sends more than one message.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash)]
pub enum StreamKind {
    /// One message out, many back.
    Server,
    /// Many out, one back.
    Client,
    /// Many both ways.
    Both,
}

/// What opens a stream.
#[derive(Clone, Debug)]
pub struct StreamRequest {
    /// Interface, group and version.
    pub service: Arc<ServiceKey>,
    /// Method name, case-sensitive.
    pub method: Arc<str>,
    /// Which side sends many. Dubbo's Java methods are declared differently, and calls say so.
    pub kind: StreamKind,
    /// Form of all messages: [`BodyFormat::Protobuf`] or [`BodyFormat::Java`].
    pub format: BodyFormat,
    /// Metadata that travels with the opening.
    pub attachments: Attachments,
    /// Time for the whole stream, which the provider is told and the caller enforces by dropping
    /// both halves. `None` means unbounded.
    pub timeout: Option<Duration>,
}

/// An open stream. Dropping both halves before the end withdraws the call (resets its stream).
pub struct Duplex {
    /// Our messages.
    pub outgoing: Box<dyn Outgoing>,
    /// The provider's.
    pub incoming: Box<dyn Incoming>,
}

impl std::fmt::Debug for Duplex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Duplex")
    }
}

/// The half of a stream that sends.
pub trait Outgoing: Send + 'static {
    /// Sends one message, in the format of the stream. Waits until there is room for it, so that a
    /// provider which reads slowly slows the sender down: never more than one message is held.
    ///
    /// *Cancellation*: a message whose future was dropped before it resolved was not sent.
    ///
    /// # Errors
    /// The message cannot be sent (too large, another format), which leaves the stream as it was, or
    /// the stream is over; the receiving half says why.
    fn send<'a>(&'a mut self, message: Body) -> BoxFuture<'a, Result<(), Failure>>;

    /// Says that there are no more messages; the provider's may go on. Harmless when said twice.
    ///
    /// # Errors
    /// The stream is over; the receiving half says why.
    fn finish(&mut self) -> Result<(), Failure>;
}

/// The half of a stream that receives.
pub trait Incoming: Send + 'static {
    /// The next message: of a stream of Java values one Hessian value. `None` is the end, in good
    /// order; after it, and after an error, there is nothing more.
    ///
    /// *Cancellation*: no message is lost when the future is dropped.
    ///
    /// # Errors
    /// How the stream failed. `sent` is `No` only if the provider provably did not see it.
    fn next<'a>(&'a mut self) -> BoxFuture<'a, Result<Option<Bytes>, Failure>>;

    /// Waits for the head of the answer, which may come long before the first message, or with it.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    fn begun<'a>(&'a mut self) -> BoxFuture<'a, Result<(), Failure>>;

    /// Metadata of the answer as far as it has come: its head's, and at the end the trailers' too.
    fn attachments(&self) -> &Attachments;
}
