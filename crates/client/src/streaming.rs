//! Streams of messages, balanced call by call: opened at whom the strategy picks, counted there for as
//! long as they live, and fed back at their end.
//!
//! # Rule
//!
//! A stream counts as one attempt from its opening to its end: `leastactive` sees it all the time, a
//! place of `actives` is taken all the time, and the end in good order is a success. A stream that is
//! dropped before its end counts as given up.
//!
//! The configured timeout holds for the opening alone: a place, a connection, a stream on it. The
//! stream itself has no limit unless the call sets a
//! [`deadline`](crate::CallBuilder::deadline), which the provider is told; a deadline in the
//! configuration is meant for calls with one answer and does not apply.
//!
//! # Failures
//!
//! Under `failover` an opening that fails is tried at others, 1 + `retries` times in all; other
//! policies open once. Whatever the policy, what provably nobody saw moves on once. That ends with
//! the first message that left, except where the provider provably saw nothing of it and it is at
//! hand: the one message of a method that only answers with many.
//!
//! Interceptors see calls with one answer only.

mod halves;
mod open;
mod typed;

use bytes::Bytes;
use equipoise_core::attachments::Attachments;
use equipoise_core::outcome::{Failure, FailureKind, Sent};
use equipoise_core::port::Body;

pub use halves::{StreamReceiver, StreamSender};
pub(crate) use open::Opener;
pub use typed::{MessageReceiver, MessageSender, MessageStream};

use crate::error::CallError;

/// An open stream, both halves together. Dropping it withdraws the call.
pub struct Streaming {
    opener: Opener,
    sender: StreamSender,
    receiver: StreamReceiver,
    /// Messages have left that are not at hand any more, or have come.
    begun: bool,
}

impl Streaming {
    pub(crate) async fn open(mut opener: Opener) -> Result<Self, CallError> {
        let (sender, receiver) = opener.open().await?;
        Ok(Self { opener, sender, receiver, begun: false })
    }

    /// Sends one message, in the format of the stream. Waits until there is room for it.
    ///
    /// *Cancellation*: a message whose future was dropped was not sent.
    ///
    /// # Errors
    /// The message cannot be sent, which leaves the stream as it was; or the stream is over, and
    /// [`next`](Self::next) says why.
    pub async fn send(&mut self, message: Body) -> Result<(), CallError> {
        loop {
            let failure = match self.sender.send_once(message.clone()).await {
                Ok(()) => {
                    self.begun = true;
                    return Ok(());
                }
                Err(failure) => failure,
            };
            self.move_on(failure, true).await?;
        }
    }

    /// Says that there are no more messages; the provider's may go on.
    ///
    /// # Errors
    /// The stream is over; [`next`](Self::next) says why.
    pub fn finish(&mut self) -> Result<(), CallError> {
        self.begun = true;
        self.sender.finish()
    }

    /// The next message: of a stream of Java values one Hessian value. `None` is the end in good
    /// order.
    ///
    /// *Cancellation*: no message is lost when the future is dropped.
    ///
    /// # Errors
    /// How the stream failed. After that there is nothing more.
    pub async fn next(&mut self) -> Result<Option<Bytes>, CallError> {
        loop {
            let failure = match self.receiver.next_once().await {
                Ok(next) => {
                    self.begun = true;
                    return Ok(next);
                }
                Err(failure) => failure,
            };
            self.move_on(failure, false).await?;
        }
    }

    /// Opens the stream at somebody else, if nobody has seen anything of it.
    async fn move_on(&mut self, failure: Failure, sending: bool) -> Result<(), CallError> {
        let unseen = failure.sent == Sent::No && failure.kind == FailureKind::Network;
        if self.begun || !unseen {
            return Err(self.opener.flow.error(failure));
        }
        if sending {
            self.receiver.failed(&failure);
        }
        self.opener.may_go_on(failure).await?;
        (self.sender, self.receiver) = self.opener.open().await?;
        Ok(())
    }

    /// Metadata of the answer as far as it has come; at the end the trailers' too.
    pub fn attachments(&self) -> &Attachments {
        self.receiver.attachments()
    }

    /// Whom the stream is open at: `host:port`.
    pub fn address(&self) -> &str {
        self.receiver.address()
    }

    /// The halves, for two tasks. From now on the stream stays where it is. It is withdrawn when both
    /// halves are dropped, and counts at its endpoint until the receiving one has ended.
    pub fn split(self) -> (StreamSender, StreamReceiver) {
        (self.sender, self.receiver)
    }
}
