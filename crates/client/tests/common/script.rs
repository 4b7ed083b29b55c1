//! What reaches providers in memory, how they take connections, and how they answer: one step per
//! request.

use std::time::Duration;

use bytes::Bytes;
use equipoise_core::attachments::Attachments;
use equipoise_core::outcome::{Failure, FailureKind};
use tokio::time::Instant;

/// How a provider takes connections.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Door {
    /// At once.
    Open,
    /// After so many ms.
    Slow(u64),
    /// "Connection refused", at once.
    Refusing,
    /// Never answers.
    Silent,
    /// Takes it and hangs up.
    HangingUp,
    /// The protocol's own code panics.
    Panicking,
}

/// How a provider answers one request.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(super) after_ms: u64,
    pub(super) then: Then,
}

#[derive(Clone, Debug)]
pub(super) enum Then {
    Answer(Attachments),
    Fail(Failure),
    Silence,
    GoAway,
    Panic,
}

/// Answers with its own address after so many ms.
pub(crate) fn answers(after_ms: u64) -> Step {
    Step { after_ms, then: Then::Answer(Attachments::new()) }
}

/// The same, with attachments.
pub(crate) fn answers_with(pairs: &[(&str, &str)]) -> Step {
    Step { after_ms: 0, then: Then::Answer(pairs.iter().copied().collect()) }
}

/// Fails after so many ms, having seen the request.
pub(crate) fn fails(kind: FailureKind, after_ms: u64) -> Step {
    Step { after_ms, then: Then::Fail(Failure::new(kind, format!("scripted {kind}"))) }
}

/// Fails with exactly this.
pub(crate) fn fails_with(failure: Failure) -> Step {
    Step { after_ms: 0, then: Then::Fail(failure) }
}

/// Never answers.
pub(crate) fn silence() -> Step {
    Step { after_ms: 0, then: Then::Silence }
}

/// Tells the connection to go away at the moment of writing: not sent.
pub(crate) fn goes_away() -> Step {
    Step { after_ms: 0, then: Then::GoAway }
}

/// The protocol's own code panics after so many ms.
pub(crate) fn panics(after_ms: u64) -> Step {
    Step { after_ms, then: Then::Panic }
}

/// One request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) address: String,
    pub(crate) method: String,
    pub(crate) body: Bytes,
    pub(crate) attachments: Attachments,
    pub(crate) timeout: Option<Duration>,
    pub(crate) at: Instant,
}
