//! One TCP connection as the calls see it: where frames go out, and where answers come back.

use std::future::poll_fn;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Arc, OnceLock};
use std::task::Poll;

use equipoise_core::outcome::{Failure, FailureKind, Sent};

use crate::availability::Availability;
use crate::dubbo::client::pending::{Answer, Lost, MOST, Pending, Refused};
use crate::dubbo::frame::{HEADER_BYTES, Header};
use crate::dubbo::outgoing::{Closed, Outbox, Part};

/// Pieces of a call's body: its head, the arguments, the attachments and their end.
pub(crate) const PARTS: usize = 4;

/// What all connections to one provider have in common.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) availability: Availability,
    draining: AtomicBool,
}

impl Shared {
    /// No new calls; each connection closes once its last call has ended. Those that sleep must be
    /// woken.
    pub(crate) fn drain(&self, reason: &str) {
        self.availability.close(|| reason.to_owned());
        self.draining.store(true, Release);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Acquire)
    }
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Channel {
    /// `host:port`, for people.
    pub(crate) address: String,
    pub(crate) outbox: Outbox,
    pub(crate) pending: Pending,
    pub(crate) shared: Arc<Shared>,
    /// Why it is lost.
    lost: OnceLock<String>,
    next_beat: AtomicU64,
}

impl Channel {
    /// `base` is where the numbers of calls start.
    pub(crate) fn new(address: String, shared: Arc<Shared>, base: u64) -> Self {
        Self {
            address,
            outbox: Outbox::new(),
            pending: Pending::new(base),
            shared,
            lost: OnceLock::new(),
            next_beat: AtomicU64::new(base),
        }
    }

    /// Sends the call whose body is `parts` and waits for what comes.
    ///
    /// *Cancellation*: the slot is free at once; a frame that is queued already still goes out.
    pub(crate) async fn call(&self, parts: [Part<'_>; PARTS]) -> Result<Answer, Failure> {
        let len: usize = parts.iter().map(Part::len).sum();
        let room = self.outbox.room(HEADER_BYTES + len).await.map_err(|Closed| self.gone())?;
        let waker = poll_fn(|cx| Poll::Ready(cx.waker().clone())).await;
        let id = self.pending.begin(waker).map_err(|refused| self.refused(refused))?;
        let ticket = Ticket { channel: self, id };
        let header = Header::request(id, true, len).encode();
        let [a, b, c, d] = parts;
        let frame = [Part::Copy(&header), a, b, c, d];
        let start = self.outbox.push(room, &frame).map_err(|Closed| self.gone())?;
        ticket.answer(start).await
    }

    /// Queues a call that nobody waits for.
    pub(crate) async fn tell(&self, parts: [Part<'_>; PARTS]) -> Result<(), Failure> {
        let len: usize = parts.iter().map(Part::len).sum();
        let room = self.outbox.room(HEADER_BYTES + len).await.map_err(|Closed| self.gone())?;
        let header = Header::request(self.fresh_id(), false, len).encode();
        let [a, b, c, d] = parts;
        let frame = [Part::Copy(&header), a, b, c, d];
        self.outbox.push(room, &frame).map_err(|Closed| self.gone())?;
        Ok(())
    }

    /// Queues a frame of the connection itself, unless the peer is so far behind with reading that
    /// there is no room for it.
    pub(crate) fn say(&self, parts: &[Part<'_>]) {
        let len = parts.iter().map(Part::len).sum();
        match self.outbox.try_room(len) {
            Ok(Some(room)) => {
                // The connection's task is the one who closes the outbox, and it is here.
                let _ = self.outbox.push(room, parts);
            }
            _ => tracing::debug!(address = %self.address, "no room for an event or a refusal"),
        }
    }

    /// A number that no call has which waits for an answer: they count up from the same start.
    pub(crate) fn fresh_id(&self) -> u64 {
        self.next_beat.fetch_sub(1, Relaxed).wrapping_sub(1)
    }

    /// The connection is over: every call ends now.
    pub(crate) fn lose(&self, reason: &str) {
        let _ = self.lost.set(reason.to_owned());
        self.shared.availability.close(|| reason.to_owned());
        // In this order: a call that is told of the loss asks how much was written.
        self.outbox.close();
        self.pending.close();
    }

    /// Nobody has seen the call.
    fn gone(&self) -> Failure {
        let reason = self.lost.get().map_or("the connection is closed", String::as_str);
        Failure::not_sent(FailureKind::Network, format!("{}: {reason}", self.address))
    }

    fn refused(&self, refused: Refused) -> Failure {
        match refused {
            Refused::Closed => self.gone(),
            Refused::Full => Failure::not_sent(
                FailureKind::LimitExceeded,
                format!("{}: {MOST} calls wait for their answers", self.address),
            ),
        }
    }
}

/// A call that waits for its answer; gives its slot back in the end.
struct Ticket<'a> {
    channel: &'a Channel,
    id: u64,
}

impl Ticket<'_> {
    /// `start` is where in the stream the call's frame begins.
    async fn answer(self, start: u64) -> Result<Answer, Failure> {
        let (channel, id) = (self.channel, self.id);
        // The slot knows this task's waker already.
        let mut first = true;
        let answer = poll_fn(|cx| {
            if std::mem::take(&mut first) { Poll::Pending } else { channel.pending.poll(id, cx) }
        });
        answer.await.map_err(|Lost| {
            let mut failure = channel.gone();
            if start < channel.outbox.written() {
                failure.sent = Sent::Maybe;
                failure.message.push_str(" (status 35, CHANNEL_INACTIVE)");
            }
            failure
        })
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.channel.pending.end(self.id);
        if self.channel.shared.is_draining() {
            // It may have been the last one.
            self.channel.outbox.wake();
        }
    }
}
