//! What the code that `equipoise-build` makes of `.proto` files calls.
//!
//! A method of a generated client gives a call that is sent when it is awaited; what it does
//! otherwise than configured is said with `with` before.

use std::future::IntoFuture;
use std::marker::PhantomData;

use equipoise_client::{CallBuilder, CallError};
use equipoise_core::port::{BodyFormat, BoxFuture, Reply};
use equipoise_protocol::{CallContext, Status, code};
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
