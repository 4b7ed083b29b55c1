//! What a policy may ask of a call besides an attempt: who is left, what time is left, and what to
//! answer in the end.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use equipoise_core::attachments::Attachments;
use equipoise_core::call::Tried;
use equipoise_core::candidates::Candidate;
use equipoise_core::outcome::{Failure, FailureKind};
use equipoise_core::port::{BodyFormat, Reply, Request};
use tokio::time::Instant;

use super::Flow;
use crate::error::{CallError, Failed};

impl Flow {
    /// Whether the retry budget, where there is one, allows one more attempt.
    pub fn may_retry(&self) -> bool {
        self.shared.budget.as_ref().is_none_or(|budget| budget.retry())
    }

    /// How many candidates the call has on the newest view.
    pub fn candidates(&self) -> usize {
        let view = self.shared.view.load();
        self.shared.candidates(&view, &self.call()).all().len()
    }

    /// Whether everybody who may be asked now has been tried.
    pub fn all_tried(&self, tried: &Tried) -> bool {
        let view = self.shared.view.load();
        let candidates = self.shared.candidates(&view, &self.call());
        let mut all = candidates.all().iter().map(Candidate::endpoint);
        all.all(|e| tried.contains(e) || !e.is_available())
    }

    /// Lets time go by, at most until the deadline of the whole call.
    pub async fn pause(&self, time: Duration) {
        tokio::time::sleep(self.time_left().map_or(time, |left| left.min(time))).await;
    }

    /// Why nobody can be chosen.
    pub fn nobody(&self) -> Failure {
        self.shared.view.load().no_provider(&self.call())
    }

    /// What is left until the deadline of the whole call; `None` without one.
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// What a policy that swallows failures answers.
    pub fn empty_reply(&self) -> Reply {
        let body = match self.request.body.format() {
            BodyFormat::Json => Bytes::from_static(b"null"),
            BodyFormat::Protobuf => Bytes::new(),
            // Null, of any type.
            BodyFormat::Java => Bytes::from_static(b"N"),
        };
        Reply { body, attachments: Attachments::new() }
    }

    /// The same call again, for work in the background: nothing tried, no deadline.
    pub(crate) fn again(&self) -> Flow {
        Flow { deadline: None, ..self.carrying(self.request.clone()) }
    }

    /// The same call, not begun, with another request.
    pub(crate) fn carrying(&self, request: Request) -> Flow {
        Flow {
            shared: self.shared.clone(),
            plan: self.plan.clone(),
            method: self.method,
            request,
            key: self.key.clone(),
            hash: self.hash,
            tag: self.tag.clone(),
            force_tag: self.force_tag,
            timeout: self.timeout,
            retries: self.retries,
            deadline: self.deadline,
            failed: Mutex::default(),
            moved: AtomicBool::new(false),
        }
    }

    /// The error of the whole call. Where no attempt could be made any more, the last real failure
    /// of an attempt is what the caller gets.
    pub fn error(&self, last: Failure) -> CallError {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let Failed { made, records } = std::mem::take(&mut *failed);
        let real = records.iter().rev().find(|a| !a.address.is_empty());
        let none_made = matches!(last.kind, FailureKind::NoProvider | FailureKind::Deadline);
        let failure = match real {
            Some(attempt) if none_made => attempt.failure.clone(),
            _ => last,
        };
        CallError {
            service: self.request.service.to_string(),
            method: self.request.method.to_string(),
            strategy: self.plan.strategy.about().name.to_owned(),
            policy: self.plan.policy.to_string(),
            made,
            attempts: records,
            failure,
        }
    }
}
