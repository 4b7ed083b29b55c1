//! What a provider's method is told about its call, and what it hands on to calls that it makes.
//!
//! Nothing is inherited behind anybody's back: a call made for another one takes its deadline, its tag
//! and chosen attachments through [`Context::inherit`] or not at all.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use equipoise_client::CallBuilder;
use equipoise_core::attachments::{AttachmentValue, Attachments};
use equipoise_core::service::ServiceKey;
use equipoise_protocol::CallContext;

/// One call, as a provider's method sees it.
#[derive(Debug)]
pub struct Context {
    pub(crate) call: CallContext,
    answer: Mutex<Attachments>,
}

impl Context {
    pub(crate) fn new(call: CallContext) -> Self {
        Self { call, answer: Mutex::default() }
    }

    /// The service as it was registered.
    pub fn service(&self) -> &ServiceKey {
        &self.call.service
    }

    /// The method's name, as it was called.
    pub fn method(&self) -> &str {
        self.call.method()
    }

    /// Address of the caller.
    pub fn peer(&self) -> SocketAddr {
        self.call.peer
    }

    /// What travelled with the call.
    pub fn attachments(&self) -> &Attachments {
        &self.call.attachments
    }

    /// Time left until the caller stops waiting; `None` when it did not say, zero when it is over.
    pub fn remaining(&self) -> Option<Duration> {
        self.call.remaining()
    }

    /// Attaches something to the answer.
    pub fn answer_with(&self, key: impl Into<String>, value: impl Into<String>) {
        self.answers(|attachments| attachments.set(key, value));
    }

    /// Makes `call` one on behalf of this one: it has no more time than is left, keeps the tag, and
    /// takes the attachments named in `keys` along.
    pub fn inherit<'k>(
        &self,
        mut call: CallBuilder,
        keys: impl IntoIterator<Item = &'k str>,
    ) -> CallBuilder {
        if let Some(left) = self.remaining() {
            call = call.deadline(left);
        }
        if let Some(tag) = self.attachments().text("dubbo.tag") {
            call = call.tag(tag);
        }
        for key in keys {
            call = match self.attachments().value(key) {
                Some(AttachmentValue::Text(text)) => call.attachment(key, text.as_str()),
                Some(AttachmentValue::Binary(bytes)) => call.binary_attachment(key, bytes.clone()),
                None => call,
            };
        }
        call
    }

    fn answers<R>(&self, change: impl FnOnce(&mut Attachments) -> R) -> R {
        change(&mut self.answer.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What was attached to the answer so far.
    pub(crate) fn take_answer(&self) -> Attachments {
        self.answers(std::mem::take)
    }
}
