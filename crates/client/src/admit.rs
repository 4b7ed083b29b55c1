//! Counting attempts in and out, and waiting for a place where their number is limited (`actives`).

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst, fence};

use equipoise_core::candidates::Candidate;
use equipoise_core::clock::Clock;
use equipoise_core::endpoint::Endpoint;
use equipoise_core::outcome::{Failure, FailureKind, Outcome};
use equipoise_core::ticket::Ticket;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::link::EndpointLink;

/// Where calls wait for a place at one endpoint.
#[derive(Default)]
pub(crate) struct Places {
    waiting: AtomicUsize,
    released: Notify,
}

/// Counts a call among those that wait, for as long as it lives.
struct Waiting<'a>(&'a Places);

impl<'a> Waiting<'a> {
    fn at(places: &'a Places) -> Self {
        places.waiting.fetch_add(1, SeqCst);
        Self(places)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, SeqCst);
    }
}

/// A ticket that wakes whoever waits for its place when it ends, however it ends. Also where no
/// limit applied when it started: one may have been set since.
pub(crate) struct Admitted<'a> {
    ticket: Option<Ticket>,
    endpoint: &'a Arc<Endpoint>,
}

impl<'a> Admitted<'a> {
    /// Counts an attempt in, waiting for a place where the number of attempts in flight is
    /// limited, at most until `until` (`None`: without bound).
    ///
    /// *Cancellation*: dropping the future gives up the wait; nothing is counted.
    pub(crate) async fn wait(
        candidate: &'a Candidate,
        until: Option<Instant>,
        clock: &dyn Clock,
    ) -> Result<Self, Failure> {
        let endpoint = candidate.endpoint();
        let most = candidate.actives();
        if most == 0 {
            return Ok(Self { ticket: Some(Ticket::start(candidate, clock)), endpoint });
        }
        let try_start = || {
            let ticket = Ticket::try_start(candidate, most, clock)?;
            Some(Self { ticket: Some(ticket), endpoint })
        };
        if let Some(admitted) = try_start() {
            return Ok(admitted);
        }
        let Some(places) = places(endpoint) else {
            return Err(Failure::not_sent(FailureKind::Invalid, "the endpoint has no link"));
        };
        let _waiting = Waiting::at(places);
        loop {
            // Enrolled before the count is read, so that a release in between is not missed.
            let mut released = pin!(places.released.notified());
            released.as_mut().enable();
            fence(SeqCst);
            if let Some(admitted) = try_start() {
                return Ok(admitted);
            }
            let in_time = match until {
                Some(until) => tokio::time::timeout_at(until, released).await.is_ok(),
                None => {
                    released.await;
                    true
                }
            };
            if !in_time {
                let address = endpoint.address();
                return Err(Failure::not_sent(
                    FailureKind::LimitExceeded,
                    format!("actives = {most} attempts in flight at {address}, none ended in time"),
                ));
            }
        }
    }

    pub(crate) fn finish(mut self, outcome: Outcome, clock: &dyn Clock) {
        if let Some(ticket) = self.ticket.take() {
            ticket.finish(outcome, clock);
            wake(self.endpoint);
        }
    }

    pub(crate) fn report(&self, text: &str, clock: &dyn Clock) {
        if let Some(ticket) = &self.ticket {
            ticket.report(text, clock);
        }
    }
}

impl Admitted<'_> {
    /// The same, for longer than the view that it was chosen on.
    pub(crate) fn hold(mut self) -> Held {
        Held { ticket: self.ticket.take(), endpoint: self.endpoint.clone() }
    }
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            release(ticket, self.endpoint);
        }
    }
}

/// An [`Admitted`] that lives on its own.
pub(crate) struct Held {
    ticket: Option<Ticket>,
    endpoint: Arc<Endpoint>,
}

impl Held {
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    pub(crate) fn finish(mut self, outcome: Outcome, clock: &dyn Clock) {
        if let Some(ticket) = self.ticket.take() {
            ticket.finish(outcome, clock);
            wake(&self.endpoint);
        }
    }

    pub(crate) fn report(&self, text: &str, clock: &dyn Clock) {
        if let Some(ticket) = &self.ticket {
            ticket.report(text, clock);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            release(ticket, &self.endpoint);
        }
    }
}

fn release(ticket: Ticket, endpoint: &Endpoint) {
    drop(ticket);
    wake(endpoint);
}

/// A place is free: tells whoever waits for one.
fn wake(endpoint: &Endpoint) {
    // Whoever enrols after this look finds the place free.
    fence(SeqCst);
    if let Some(places) = places(endpoint).filter(|p| p.waiting.load(SeqCst) > 0) {
        places.released.notify_waiters();
    }
}

fn places(endpoint: &Endpoint) -> Option<&Places> {
    let link = endpoint.link()?.as_any().downcast_ref::<EndpointLink>()?;
    Some(&link.places)
}
