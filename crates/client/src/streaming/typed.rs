//! Streams of protobuf messages.

use std::marker::PhantomData;

use bytes::Bytes;
use equipoise_core::attachments::Attachments;
use equipoise_core::outcome::{Failure, FailureKind};
use equipoise_core::port::Body;
use futures_util::Stream;
use prost::Message;

use super::{StreamReceiver, StreamSender, Streaming};
use crate::error::CallError;
use crate::flow::Flow;

/// A stream of messages `M` out and `R` back.
pub struct MessageStream<M, R> {
    inner: Streaming,
    types: PhantomData<fn(M) -> R>,
}

impl<M: Message, R: Message + Default> MessageStream<M, R> {
    pub(crate) fn new(inner: Streaming) -> Self {
        Self { inner, types: PhantomData }
    }

    /// As [`Streaming::send`].
    ///
    /// # Errors
    /// As there.
    pub async fn send(&mut self, message: &M) -> Result<(), CallError> {
        self.inner.send(Body::protobuf(message.encode_to_vec())).await
    }

    /// As [`Streaming::finish`].
    ///
    /// # Errors
    /// As there.
    pub fn finish(&mut self) -> Result<(), CallError> {
        self.inner.finish()
    }

    /// The next message; `None` is the end in good order.
    ///
    /// # Errors
    /// How the stream failed, or bytes that are no such message.
    pub async fn message(&mut self) -> Result<Option<R>, CallError> {
        let next = self.inner.next().await?;
        decode(&self.inner.opener.flow, next)
    }

    /// Says that there are no more messages and waits for the one answer.
    ///
    /// # Errors
    /// The call failed, or its answer is not exactly one message.
    pub async fn answer(mut self) -> Result<R, CallError> {
        // A provider may answer before it has heard everything; how it went is what it says then.
        let _ = self.inner.finish();
        let first = self.message().await?;
        let second = self.inner.next().await?;
        match (first, second) {
            (Some(answer), None) => Ok(answer),
            (first, _) => {
                let count = if first.is_some() { "more than one message" } else { "no message" };
                let reason = format!("{count} in an answer of one");
                Err(self.inner.opener.flow.error(Failure::new(FailureKind::Serialization, reason)))
            }
        }
    }

    /// Metadata of the answer as far as it has come.
    pub fn attachments(&self) -> &Attachments {
        self.inner.attachments()
    }

    /// Whom the stream is open at: `host:port`.
    pub fn address(&self) -> &str {
        self.inner.address()
    }

    /// The halves, for two tasks; see [`Streaming::split`].
    pub fn split(self) -> (MessageSender<M>, MessageReceiver<R>) {
        let (sender, receiver) = self.inner.split();
        let sender = MessageSender { sender, ty: PhantomData };
        (sender, MessageReceiver { source: Source::Half(receiver), ty: PhantomData })
    }
}

/// The half of a stream that sends messages `M`.
pub struct MessageSender<M> {
    sender: StreamSender,
    ty: PhantomData<fn(M)>,
}

impl<M: Message> MessageSender<M> {
    /// As [`StreamSender::send`].
    ///
    /// # Errors
    /// As there.
    pub async fn send(&mut self, message: &M) -> Result<(), CallError> {
        self.sender.send(Body::protobuf(message.encode_to_vec())).await
    }

    /// As [`StreamSender::finish`].
    ///
    /// # Errors
    /// As there.
    pub fn finish(&mut self) -> Result<(), CallError> {
        self.sender.finish()
    }
}

enum Source {
    Whole(Box<Streaming>),
    Half(StreamReceiver),
}

/// Messages `R` as they come.
pub struct MessageReceiver<R> {
    source: Source,
    ty: PhantomData<fn() -> R>,
}

impl<R: Message + Default> MessageReceiver<R> {
    pub(crate) fn new(whole: Streaming) -> Self {
        Self { source: Source::Whole(Box::new(whole)), ty: PhantomData }
    }

    /// The next message; `None` is the end in good order.
    ///
    /// # Errors
    /// How the stream failed, or bytes that are no such message.
    pub async fn message(&mut self) -> Result<Option<R>, CallError> {
        match &mut self.source {
            Source::Whole(whole) => {
                let next = whole.next().await?;
                decode(&whole.opener.flow, next)
            }
            Source::Half(half) => {
                let next = half.next().await?;
                decode(half.flow(), next)
            }
        }
    }

    /// Metadata of the answer as far as it has come.
    pub fn attachments(&self) -> &Attachments {
        match &self.source {
            Source::Whole(whole) => whole.attachments(),
            Source::Half(half) => half.attachments(),
        }
    }

    /// Whom the stream is open at: `host:port`.
    pub fn address(&self) -> &str {
        match &self.source {
            Source::Whole(whole) => whole.address(),
            Source::Half(half) => half.address(),
        }
    }

    /// The messages as a `Stream`, which ends after an error.
    pub fn into_stream(self) -> impl Stream<Item = Result<R, CallError>> + Send {
        futures_util::stream::unfold(Some(self), |receiver| async {
            let mut receiver = receiver?;
            match receiver.message().await.transpose()? {
                Ok(message) => Some((Ok(message), Some(receiver))),
                Err(error) => Some((Err(error), None)),
            }
        })
    }
}

fn decode<R: Message + Default>(flow: &Flow, next: Option<Bytes>) -> Result<Option<R>, CallError> {
    let Some(bytes) = next else { return Ok(None) };
    R::decode(bytes).map(Some).map_err(|error| {
        let reason = format!("a message cannot be read: {error}");
        flow.error(Failure::new(FailureKind::Serialization, reason))
    })
}
