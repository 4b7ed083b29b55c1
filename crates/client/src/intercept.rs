//! Interceptors: the user's code around a whole call and around each attempt of it. Nothing of this
//! is on the path of a consumer that has none.
//!
//! ```text
//!  call ──► Interceptor::call (first) ──► … ──► policy ──► attempt ──► Interceptor::attempt ──► link
//! ```
//!
//! An interceptor around the call runs once, before somebody is chosen; one around the attempt runs
//! for each, knows the endpoint, and is counted as part of the time that the attempt takes.

use std::sync::Arc;

use equipoise_core::endpoint::Endpoint;
use equipoise_core::outcome::{Failure, FailureKind};
use equipoise_core::port::{BoxFuture, Reply, Request};

use crate::error::CallError;
use crate::flow::Flow;

/// Code around calls: to add attachments, to log, to trace, to answer in the provider's place.
///
/// Both methods have a default that does nothing, so that an implementation writes the one it needs.
pub trait Interceptor: Send + Sync + 'static {
    /// Around a whole call. The key, the tag and the method that the call is routed by are fixed
    /// already; what `request` carries may be changed, and `next` may be run not at all or more
    /// than once.
    ///
    /// *Cancellation*: the future is dropped when the caller gives up.
    fn call<'a>(
        &'a self,
        request: Request,
        next: NextCall<'a>,
    ) -> BoxFuture<'a, Result<Reply, CallError>> {
        next.run(request)
    }

    /// Around one attempt. Its time goes on running, and is not longer than `request.timeout`.
    ///
    /// *Cancellation*: the future is dropped when the attempt's time is up, when the caller gives up
    /// and when another attempt was faster.
    fn attempt<'a>(
        &'a self,
        request: Request,
        next: NextAttempt<'a>,
    ) -> BoxFuture<'a, Result<Reply, Failure>> {
        next.run(request)
    }
}

/// What follows an interceptor of a call: the ones behind it, then the cluster policy.
#[derive(Clone)]
pub struct NextCall<'a> {
    pub(crate) rest: &'a [Arc<dyn Interceptor>],
    pub(crate) flow: &'a Arc<Flow>,
}

impl<'a> NextCall<'a> {
    /// Goes on with the call.
    pub fn run(self, request: Request) -> BoxFuture<'a, Result<Reply, CallError>> {
        match self.rest.split_first() {
            Some((first, rest)) => first.call(request, NextCall { rest, ..self }),
            None => Box::pin(crate::call::to_policy(Arc::new(self.flow.carrying(request)))),
        }
    }

    /// The error of a call that ends here. It says the service, the method and that nobody was
    /// asked.
    pub fn refuse(&self, kind: FailureKind, message: impl Into<String>) -> CallError {
        self.flow.error(Failure::not_sent(kind, message))
    }
}

/// What follows an interceptor of an attempt: the ones behind it, then the connection.
#[derive(Clone)]
pub struct NextAttempt<'a> {
    pub(crate) rest: &'a [Arc<dyn Interceptor>],
    pub(crate) endpoint: &'a Arc<Endpoint>,
}

impl<'a> NextAttempt<'a> {
    /// Who was chosen.
    pub fn endpoint(&self) -> &'a Endpoint {
        self.endpoint
    }

    /// Goes on with the attempt.
    pub fn run(self, request: Request) -> BoxFuture<'a, Result<Reply, Failure>> {
        match (self.rest.split_first(), self.endpoint.link()) {
            (Some((first, rest)), _) => first.attempt(request, NextAttempt { rest, ..self }),
            (None, Some(link)) => link.send(request),
            (None, None) => Box::pin(std::future::ready(Err(no_link(self.endpoint)))),
        }
    }
}

/// Why an endpoint without a link cannot be asked.
pub(crate) fn no_link(endpoint: &Endpoint) -> Failure {
    let reason = format!("no protocol {:?} for {endpoint}", endpoint.protocol());
    Failure::not_sent(FailureKind::Invalid, reason)
}
