//! The two halves of an open stream. The receiving one holds the stream's place at its endpoint and
//! tells how it ended.

use std::sync::Arc;

use bytes::Bytes;
use equipoise_core::attachments::Attachments;
use equipoise_core::outcome::{Failure, FailureKind, Outcome};
use equipoise_core::port::Body;
use equipoise_core::stream::{Incoming, Outgoing};
use tokio::time::Instant;

use crate::admit::Held;
use crate::error::CallError;
use crate::flow::Flow;
use crate::flow::Opened;

/// What gRPC calls a time that is up.
const DEADLINE_EXCEEDED: i32 = 4;

/// The halves of a stream that was opened.
pub(super) fn halves(flow: &Arc<Flow>, opened: Opened) -> (StreamSender, StreamReceiver) {
    let address: Arc<str> = opened.held.endpoint().address().into();
    let sender = StreamSender { flow: flow.clone(), outgoing: opened.duplex.outgoing };
    let receiver = StreamReceiver {
        flow: flow.clone(),
        incoming: Some(opened.duplex.incoming),
        attachments: Attachments::new(),
        held: Some(opened.held),
        address,
        since: opened.since,
    };
    (sender, receiver)
}

/// The half that sends.
pub struct StreamSender {
    flow: Arc<Flow>,
    outgoing: Box<dyn Outgoing>,
}

impl StreamSender {
    /// Sends one message, in the format of the stream. Waits until there is room for it.
    ///
    /// *Cancellation*: a message whose future was dropped was not sent.
    ///
    /// # Errors
    /// The message cannot be sent, which leaves the stream as it was; or the stream is over, and the
    /// other half says why.
    pub async fn send(&mut self, message: Body) -> Result<(), CallError> {
        let sent = self.send_once(message).await;
        sent.map_err(|failure| self.flow.error(failure))
    }

    pub(super) async fn send_once(&mut self, message: Body) -> Result<(), Failure> {
        let deadline = self.flow.deadline;
        within(deadline, self.outgoing.send(message)).await
    }

    /// Says that there are no more messages.
    ///
    /// # Errors
    /// The stream is over; the other half says why.
    pub fn finish(&mut self) -> Result<(), CallError> {
        self.outgoing.finish().map_err(|failure| self.flow.error(failure))
    }
}

/// The half that receives.
pub struct StreamReceiver {
    flow: Arc<Flow>,
    /// Gone once the stream is over.
    incoming: Option<Box<dyn Incoming>>,
    /// Of a stream that is over.
    attachments: Attachments,
    held: Option<Held>,
    address: Arc<str>,
    since: Instant,
}

impl StreamReceiver {
    /// The next message; `None` is the end in good order.
    ///
    /// *Cancellation*: no message is lost when the future is dropped.
    ///
    /// # Errors
    /// How the stream failed. After that there is nothing more.
    pub async fn next(&mut self) -> Result<Option<Bytes>, CallError> {
        let next = self.next_once().await;
        next.map_err(|failure| self.flow.error(failure))
    }

    pub(super) async fn next_once(&mut self) -> Result<Option<Bytes>, Failure> {
        let Some(incoming) = &mut self.incoming else { return Ok(None) };
        let next = within(self.flow.deadline, incoming.next()).await;
        match &next {
            Ok(Some(_)) => {}
            Ok(None) => self.end(Outcome::Success),
            Err(failure) => self.failed(failure),
        }
        next
    }

    /// Metadata of the answer as far as it has come; at the end the trailers' too.
    pub fn attachments(&self) -> &Attachments {
        self.incoming.as_ref().map_or(&self.attachments, |incoming| incoming.attachments())
    }

    /// Whom the stream is open at: `host:port`.
    pub fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn flow(&self) -> &Flow {
        &self.flow
    }

    /// The stream is over, with this.
    pub(super) fn failed(&mut self, failure: &Failure) {
        if self.held.is_some() {
            self.flow.note(&self.address, self.since.elapsed(), failure);
        }
        self.end(failure.kind.outcome());
    }

    fn end(&mut self, outcome: Outcome) {
        if let Some(incoming) = self.incoming.take() {
            self.attachments = incoming.attachments().clone();
        }
        let Some(held) = self.held.take() else { return };
        let clock = &*self.flow.shared.clock;
        if let Some(text) = self.attachments.text("lb_adaptive") {
            held.report(text, clock);
        }
        self.attachments.remove("lb_adaptive");
        let remaining = self.attachments.text("adaptive-service.remaining");
        if let Some(Ok(remaining)) = remaining.map(|text| text.trim().parse::<i64>()) {
            held.endpoint().report_remaining(remaining);
        }
        held.finish(outcome, clock);
    }
}

/// What comes before the stream's deadline.
async fn within<T>(
    deadline: Option<Instant>,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let Some(at) = deadline else { return work.await };
    tokio::time::timeout_at(at, work).await.unwrap_or_else(|_| {
        let failure = Failure::new(FailureKind::Timeout, "the deadline of the stream is over");
        Err(failure.with_status(DEADLINE_EXCEEDED))
    })
}
