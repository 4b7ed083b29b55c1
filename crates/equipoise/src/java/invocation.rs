//! One call of a method of an interface: what is said about it before it is sent, and what comes back.

use std::future::IntoFuture;
use std::marker::PhantomData;
use std::sync::Arc;

use equipoise_client::{CallBuilder, CallError};
use equipoise_core::attachments::Attachments;
use equipoise_core::port::BoxFuture;
use serde::de::DeserializeOwned;

use crate::java::fault::{Fault, Thrown};
use crate::java::runtime::Outgoing;

/// What a call will give, of which it holds nothing yet.
type Returns<T, E, R> = PhantomData<fn() -> (T, E, R)>;

/// A call that has not been sent: awaiting it sends it. `R` is what the result is read as.
#[must_use = "nothing is sent until it is awaited"]
pub struct Invocation<T, E, R = T> {
    call: CallBuilder,
    arguments: Outgoing,
    result: Returns<T, E, R>,
}

impl<T, E, R> Invocation<T, E, R> {
    #[doc(hidden)]
    pub fn new(call: CallBuilder, arguments: Outgoing) -> Self {
        Self { call, arguments, result: PhantomData }
    }

    /// What this call does otherwise than configured: timeout, retries, tag, attachments, key.
    ///
    /// ```ignore
    /// let receipt = stock.reserve(order, 2).with(|call| call.retries(0).tag("gray")).await?;
    /// ```
    pub fn with(mut self, change: impl FnOnce(CallBuilder) -> CallBuilder) -> Self {
        self.call = change(self.call);
        self
    }

    /// Sends it and wants no answer; see [`CallBuilder::one_way`] for what that is over which
    /// protocol.
    ///
    /// # Errors
    /// It could not be sent; over `tri` also what the provider answered.
    pub async fn one_way(self) -> Result<(), CallError> {
        self.call.one_way().java(Arc::new(self.arguments)).await.map(drop)
    }
}

impl<T, E, R> Invocation<T, Fault<E>, R>
where
    R: DeserializeOwned + Into<T>,
    E: Thrown,
{
    /// Sends it; the result comes with what was attached to the answer.
    ///
    /// # Errors
    /// The method threw, or there is no answer.
    pub async fn with_attachments(self) -> Result<(T, Attachments), Fault<E>> {
        let read = |body: &[u8]| equipoise_hessian::from_slice::<R>(body);
        let (result, attachments) =
            self.call.java_read(Arc::new(self.arguments), read).await.map_err(Fault::of)?;
        Ok((result.into(), attachments))
    }
}

impl<T, E, R> IntoFuture for Invocation<T, Fault<E>, R>
where
    T: Send + 'static,
    R: DeserializeOwned + Into<T> + Send + 'static,
    E: Thrown,
{
    type Output = Result<T, Fault<E>>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.with_attachments().await.map(|(result, _)| result) })
    }
}
