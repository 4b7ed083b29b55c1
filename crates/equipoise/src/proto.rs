//! What the code that `equipoise-build` makes of `.proto` files calls.
//!
//! A method of a generated client gives a call that is sent when it is awaited; what it does
//! otherwise than configured is said with `with` before.

use std::future::IntoFuture;
use std::marker::PhantomData;

use equipoise_client::{CallBuilder, CallError, MessageReceiver, MessageStream};
use equipoise_core::attachments::Attachments;
use equipoise_core::port::{BodyFormat, BoxFuture, Reply};
use equipoise_protocol::{CallContext, Requests, Responses, Status, code};
use prost::Message;

pub use crate::provider::Context;

/// A call with one message each way.
#[must_use = "nothing is sent until it is awaited"]
pub struct Unary<M, R> {
    call: CallBuilder,
    message: M,
    reply: PhantomData<fn() -> R>,
}

impl<M, R> Unary<M, R> {
    #[doc(hidden)]
    pub fn new(call: CallBuilder, message: M) -> Self {
        Self { call, message, reply: PhantomData }
    }

    /// What this call does otherwise than configured: timeout, retries, tag, attachments, key.
    pub fn with(mut self, change: impl FnOnce(CallBuilder) -> CallBuilder) -> Self {
        self.call = change(self.call);
        self
    }
}

impl<M, R> IntoFuture for Unary<M, R>
where
    M: Message + 'static,
    R: Message + Default + 'static,
{
    type Output = Result<R, CallError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.call.typed(&self.message).await })
    }
}

/// A call of one message that is answered with many.
#[must_use = "nothing is sent until it is awaited"]
pub struct ServerStreaming<M, R> {
    call: CallBuilder,
    message: M,
    reply: PhantomData<fn() -> R>,
}

impl<M, R> ServerStreaming<M, R> {
    #[doc(hidden)]
    pub fn new(call: CallBuilder, message: M) -> Self {
        Self { call, message, reply: PhantomData }
    }

    /// What this call does otherwise than configured.
    pub fn with(mut self, change: impl FnOnce(CallBuilder) -> CallBuilder) -> Self {
        self.call = change(self.call);
        self
    }
}

impl<M, R> IntoFuture for ServerStreaming<M, R>
where
    M: Message + 'static,
    R: Message + Default + 'static,
{
    type Output = Result<MessageReceiver<R>, CallError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.call.server_streaming(&self.message).await })
    }
}

/// A call of many messages that is answered with one.
#[must_use = "nothing is opened until it is awaited"]
pub struct ClientStreaming<M, R> {
    call: CallBuilder,
    messages: PhantomData<fn() -> (M, R)>,
}

impl<M, R> ClientStreaming<M, R> {
    #[doc(hidden)]
    pub fn new(call: CallBuilder) -> Self {
        Self { call, messages: PhantomData }
    }

    /// What this call does otherwise than configured.
    pub fn with(mut self, change: impl FnOnce(CallBuilder) -> CallBuilder) -> Self {
        self.call = change(self.call);
        self
    }
}

impl<M, R> IntoFuture for ClientStreaming<M, R>
where
    M: Message + 'static,
    R: Message + Default + 'static,
{
    type Output = Result<MessageStream<M, R>, CallError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.call.client_streaming().await })
    }
}

/// A call of many messages each way.
#[must_use = "nothing is opened until it is awaited"]
pub struct Bidirectional<M, R> {
    call: CallBuilder,
    messages: PhantomData<fn() -> (M, R)>,
}

impl<M, R> Bidirectional<M, R> {
    #[doc(hidden)]
    pub fn new(call: CallBuilder) -> Self {
        Self { call, messages: PhantomData }
    }

    /// What this call does otherwise than configured.
    pub fn with(mut self, change: impl FnOnce(CallBuilder) -> CallBuilder) -> Self {
        self.call = change(self.call);
        self
    }
}

impl<M, R> IntoFuture for Bidirectional<M, R>
where
    M: Message + 'static,
    R: Message + Default + 'static,
{
    type Output = Result<MessageStream<M, R>, CallError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.call.bidi().await })
    }
}

/// The messages of a stream, as a provider's method takes them.
#[derive(Debug)]
pub struct Messages<M> {
    requests: Requests,
    message: PhantomData<fn() -> M>,
}

impl<M: Message + Default> Messages<M> {
    /// The next one; `None` when there are no more.
    ///
    /// # Errors
    /// The caller's stream broke off, or holds something else.
    pub async fn message(&mut self) -> Result<Option<M>, Status> {
        self.requests.message().await
    }
}

/// Where a provider's method puts the messages of its answer.
#[derive(Debug)]
pub struct Answers<R> {
    responses: Responses,
    message: PhantomData<fn(R)>,
}

impl<R: Message> Answers<R> {
    /// Sends one. Waits while the caller takes none.
    ///
    /// # Errors
    /// The message is too long, or the caller is gone.
    pub async fn send(&mut self, message: &R) -> Result<(), Status> {
        self.responses.message(message).await
    }
}

#[doc(hidden)]
#[derive(Debug)]
pub struct StreamIn(Requests);

#[doc(hidden)]
impl StreamIn {
    /// The one message of a call that takes no more.
    pub async fn only<M: Message + Default>(&mut self) -> Result<M, Status> {
        let missing = || Status::new(code::INVALID_ARGUMENT, "the message of the call is missing");
        let message = self.0.message().await?.ok_or_else(missing)?;
        match self.0.next().await? {
            None => Ok(message),
            Some(_) => Err(Status::new(code::INVALID_ARGUMENT, "the call has several messages")),
        }
    }

    pub fn typed<M>(self) -> Messages<M> {
        Messages { requests: self.0, message: PhantomData }
    }
}

#[doc(hidden)]
#[derive(Debug)]
pub struct StreamOut(Responses);

#[doc(hidden)]
impl StreamOut {
    pub async fn one(&mut self, message: &impl Message) -> Result<(), Status> {
        self.0.message(message).await
    }

    pub fn typed<R>(self) -> Answers<R> {
        Answers { responses: self.0, message: PhantomData }
    }
}

/// What a streaming method is called with.
#[doc(hidden)]
pub fn open_stream(
    call: CallContext,
    requests: Requests,
    responses: Responses,
) -> (Context, StreamIn, StreamOut) {
    (Context::new(call), StreamIn(requests), StreamOut(responses))
}

/// What was attached to the answer.
#[doc(hidden)]
pub fn trailers(context: &Context) -> Attachments {
    context.take_answer()
}

/// The answer to a stream of a method that the service does not have.
#[doc(hidden)]
pub fn no_stream(context: &Context) -> Status {
    unknown(&context.call)
}

/// The message of a call, and what the method is told about it.
#[doc(hidden)]
pub fn open<M: Message + Default>(call: CallContext) -> Result<(Context, M), Status> {
    if call.format != BodyFormat::Protobuf {
        let text = format!("{} takes protobuf messages", call.service);
        return Err(Status::new(code::UNIMPLEMENTED, text));
    }
    let message = M::decode(call.body.clone())
        .map_err(|error| Status::new(code::INVALID_ARGUMENT, format!("the message: {error}")))?;
    Ok((Context::new(call), message))
}

/// The answer to a call.
#[doc(hidden)]
pub fn reply<R: Message>(context: &Context, result: Result<R, Status>) -> Result<Reply, Status> {
    let attachments = context.take_answer();
    match result {
        Ok(message) => Ok(Reply { body: message.encode_to_vec().into(), attachments }),
        Err(mut status) => {
            for (key, value) in attachments.iter() {
                status.attachments.put(key.to_owned(), value.clone());
            }
            Err(status)
        }
    }
}

/// The answer to a method that the service does not have.
#[doc(hidden)]
pub fn unknown(call: &CallContext) -> Status {
    Status::unknown_method(&call.service.to_string(), call.method())
}
