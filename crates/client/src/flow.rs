//! One attempt, from view to feedback, top to bottom; and what the attempts of one call share. A
//! policy names a [`Choice`] and sees results; it never names an endpoint or a strategy. What else
//! it may ask is in `flow/ask.rs`.

mod ask;
mod stream;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use equipoise_core::attachments::{AttachmentValue, Attachments};
use equipoise_core::call::{Call, Key, Tried};
use equipoise_core::candidates::{Candidate, Candidates};
use equipoise_core::endpoint::Endpoint;
use equipoise_core::methods::MethodId;
use equipoise_core::outcome::{Failure, FailureKind, Outcome, Sent};
use equipoise_core::plan::Plan;
use equipoise_core::port::{Reply, Request};
use tokio::time::Instant;

use crate::admit::Admitted;
use crate::consumer::Shared;
use crate::error::{AttemptRecord, Failed};
use crate::intercept::{NextAttempt, no_link};
use crate::key::OwnKey;
use crate::time::thread_rng;

pub(crate) use stream::Opened;

/// Who is asked next.
pub enum Choice<'a> {
    /// Whom the strategy picks.
    ByStrategy,
    /// The first available one that was not tried, in list order.
    FirstAvailable,
    /// The next of the ones that [`Flow::each`] fixed.
    Each(&'a mut Each),
}

/// Everybody who may serve a call, fixed at one moment, in list order.
pub struct Each {
    all: std::vec::IntoIter<Arc<Endpoint>>,
    count: usize,
}

impl Each {
    /// How many there were at the start.
    pub fn count(&self) -> usize {
        self.count
    }
}

/// One call on its way: what its attempts share.
pub struct Flow {
    pub(crate) shared: Arc<Shared>,
    pub(crate) plan: Arc<Plan>,
    pub(crate) method: MethodId,
    pub(crate) request: Request,
    pub(crate) key: OwnKey,
    /// Of the key, once a strategy has needed it.
    pub(crate) hash: Option<u32>,
    pub(crate) tag: Option<String>,
    pub(crate) force_tag: Option<bool>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) retries: Option<i64>,
    pub(crate) deadline: Option<Instant>,
    pub(crate) failed: Mutex<Failed>,
    /// A call that was provably not sent is moved once, free of charge.
    pub(crate) moved: AtomicBool,
}

/// An endpoint that has been chosen, and everything needed to send to it. Holds no view.
pub(crate) struct Chosen {
    candidates: Arc<Candidates>,
    position: usize,
}

impl Chosen {
    fn candidate(&self) -> Option<&Candidate> {
        self.candidates.all().get(self.position)
    }
}

impl Flow {
    /// The configuration of the method.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// `retries`, the call's own or the configured one; `None` leaves it to the policy.
    pub fn retries(&self) -> Option<i64> {
        self.retries.or(self.plan.retries)
    }

    /// One attempt. Whoever is asked is added to `tried`. A call that was provably not sent is
    /// moved on once without counting as an attempt of the policy.
    ///
    /// *Cancellation*: dropping the future withdraws the attempt and counts it out.
    ///
    /// # Errors
    /// Nobody can be chosen, no time is left, or the attempt failed.
    pub async fn attempt(
        &self,
        mut choice: Choice<'_>,
        tried: &mut Tried,
    ) -> Result<Reply, Failure> {
        loop {
            let chosen = self.choose(&mut choice, tried)?;
            match self.send(chosen).await {
                Err(failure) if self.may_move(&choice, &failure) => {
                    tracing::debug!(%failure, "not sent, moved on");
                }
                result => return result,
            }
        }
    }

    /// An attempt at somebody who was chosen before, with its own memory of whom it tried.
    pub(crate) async fn attempt_at(
        &self,
        chosen: Chosen,
        mut tried: Tried,
    ) -> Result<Reply, Failure> {
        match self.send(chosen).await {
            Err(failure) if self.may_move(&Choice::ByStrategy, &failure) => {
                self.attempt(Choice::ByStrategy, &mut tried).await
            }
            result => result,
        }
    }

    fn may_move(&self, choice: &Choice<'_>, failure: &Failure) -> bool {
        failure.sent == Sent::No
            && failure.kind == FailureKind::Network
            && !matches!(choice, Choice::Each(_))
            && !self.moved.swap(true, Relaxed)
    }

    /// Fixes everybody who may serve the call, in list order, unavailable ones included.
    pub fn each(&self) -> Each {
        let view = self.shared.view.load();
        let all: Vec<_> = view.eligible(&self.call());
        Each { count: all.len(), all: all.into_iter() }
    }

    /// Chooses on the newest view, and lets go of it.
    pub(crate) fn choose(
        &self,
        choice: &mut Choice<'_>,
        tried: &mut Tried,
    ) -> Result<Chosen, Failure> {
        if self.time_left().is_some_and(|left| left.is_zero()) {
            return Err(self.note_none(Failure::not_sent(
                FailureKind::Deadline,
                "no time is left for an attempt",
            )));
        }
        let view = self.shared.view.load();
        let call = self.call();
        let clock = &*self.shared.clock;
        let position = match choice {
            Choice::ByStrategy => {
                let candidates = self.shared.candidates(&view, &call);
                let position = self.by_strategy(candidates, tried, view.health_changed());
                let position = position.map_err(|failure| self.note_none(failure))?;
                position.map(|p| (candidates.clone(), p))
            }
            Choice::FirstAvailable => {
                let candidates = self.shared.candidates(&view, &call);
                let first = candidates
                    .all()
                    .iter()
                    .position(|c| c.endpoint().is_available() && !tried.contains(c.endpoint()));
                first.map(|p| (candidates.clone(), p))
            }
            // One that has left the list in the meantime is skipped.
            Choice::Each(each) => each.all.find_map(|e| view.candidate(&call, &e, clock)),
        };
        let Some((candidates, position)) = position else {
            return Err(self.note_none(view.no_provider(&call)));
        };
        let chosen = Chosen { candidates, position };
        if let Some(candidate) = chosen.candidate()
            && !tried.contains(candidate.endpoint())
        {
            tried.add(candidate.endpoint().clone());
        }
        Ok(chosen)
    }

    fn by_strategy(
        &self,
        candidates: &Arc<Candidates>,
        tried: &Tried,
        check_available: bool,
    ) -> Result<Option<usize>, Failure> {
        let sticky = self.plan.sticky.then(|| self.shared.sticky.load_full()).flatten();
        if let Some(remembered) = sticky
            && remembered.is_available()
            && !tried.contains(&remembered)
            && let Some(position) = candidates.position(&remembered)
        {
            return Ok(Some(position));
        }
        // A strategy that needs a key may have come after the call was made.
        let hash = match self.hash {
            None => self.key.hash(candidates, &self.request)?,
            known => known,
        };
        let clock = &*self.shared.clock;
        let position = candidates.choose(hash, tried, check_available, &mut thread_rng(), clock);
        if self.plan.sticky
            && let Some(position) = position
        {
            let endpoint = candidates.all().get(position).map(|c| c.endpoint().clone());
            self.shared.sticky.store(endpoint);
        }
        Ok(position)
    }

    /// Sends to whoever was chosen: counted in, sent, counted out, fed back.
    pub(crate) async fn send(&self, chosen: Chosen) -> Result<Reply, Failure> {
        let Some(candidate) = chosen.candidate() else {
            return Err(Failure::not_sent(FailureKind::NoProvider, "nobody was chosen"));
        };
        let endpoint = candidate.endpoint().clone();
        let started = Instant::now();
        let time = self.timeout.unwrap_or_else(|| candidate.timeout());
        let time = self.time_left().map_or(time, |left| left.min(time));
        let result = self.within(candidate, &endpoint, time, started).await;
        if let Err(failure) = &result {
            tracing::debug!(address = endpoint.address(), %failure, "attempt failed");
            self.note(endpoint.address(), started.elapsed(), failure);
        }
        result
    }

    async fn within(
        &self,
        candidate: &Candidate,
        endpoint: &Arc<Endpoint>,
        time: Duration,
        started: Instant,
    ) -> Result<Reply, Failure> {
        let clock = &*self.shared.clock;
        let ticket = Admitted::wait(candidate, started.checked_add(time), clock).await?;
        let left = time.saturating_sub(started.elapsed());
        if left.is_zero() {
            ticket.finish(Outcome::Cancelled, clock);
            let reason = format!("nothing is left of {time:?} to send it in");
            return Err(Failure::not_sent(FailureKind::Timeout, reason));
        }
        let Some(link) = endpoint.link() else {
            ticket.finish(Outcome::Failure(FailureKind::Invalid), clock);
            return Err(no_link(endpoint));
        };
        let asks = self.plan.strategy.about().asks;
        let mut request = self.request.clone();
        request.timeout = Some(left);
        for (key, value) in asks {
            request.attachments.set(*key, *value);
        }
        let sent = match &*self.shared.interceptors {
            [] => link.send(request),
            rest => NextAttempt { rest, endpoint }.run(request),
        };
        let result = match tokio::time::timeout(left, sent).await {
            Ok(result) => result,
            Err(_) => Err(Failure::new(FailureKind::Timeout, format!("no answer within {time:?}"))),
        };
        match result {
            Ok(mut reply) => {
                take_reports(&mut reply.attachments, &ticket, endpoint, clock);
                ticket.finish(Outcome::Success, clock);
                Ok(reply)
            }
            Err(mut failure) => {
                take_reports(&mut failure.attachments, &ticket, endpoint, clock);
                ticket.finish(failure.kind.outcome(), clock);
                Err(failure)
            }
        }
    }

    fn call(&self) -> Call<'_> {
        let mut call = Call::of(self.method);
        call.key = self.hash.map_or(Key::Missing, Key::Hashed);
        call.tag = self.tag.as_deref();
        call.force_tag = self.force_tag;
        call
    }

    pub(crate) fn note(&self, address: &str, elapsed: Duration, failure: &Failure) {
        let record =
            AttemptRecord { address: address.to_owned(), elapsed, failure: failure.clone() };
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).note(record);
    }

    fn note_none(&self, failure: Failure) -> Failure {
        self.note("", Duration::ZERO, &failure);
        failure
    }
}

/// Takes the provider's reports of its load out of the answer and feeds them back.
fn take_reports(
    attachments: &mut Attachments,
    ticket: &Admitted<'_>,
    endpoint: &Endpoint,
    clock: &dyn equipoise_core::clock::Clock,
) {
    if attachments.is_empty() {
        return;
    }
    if let Some(AttachmentValue::Text(text)) = attachments.remove("lb_adaptive") {
        ticket.report(&text, clock);
    }
    if let Some(Ok(remaining)) =
        attachments.text("adaptive-service.remaining").map(|text| text.trim().parse::<i64>())
    {
        endpoint.report_remaining(remaining);
    }
}
