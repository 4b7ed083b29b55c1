//! How an attempt ended: [`Failure`] says who failed, how far the call got and what may be done
//! next, so that a policy reads fields and never a message. Plain data; knows no transport.

use std::fmt;

use crate::attachments::Attachments;

/// How far a call got before it failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash)]
pub enum Sent {
    /// Provably not seen by the provider: it may be moved to another endpoint free of charge.
    No,
    /// The provider may have run it.
    Maybe,
}

/// What kind of failure it was. The groups follow Dubbo's `RpcException` codes and gRPC's status.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// No connection, a lost connection, a reset stream, status 14.
    Network,
    /// The time of this attempt was up.
    Timeout,
    /// The provider refused for lack of capacity (status 8), or our own limit did.
    LimitExceeded,
    /// An answer that is none: status 13, or no status at all, without a message.
    NoAnswer,
    /// Status 7: the caller may not do this.
    Forbidden,
    /// Status 16: the caller is not known.
    Unauthenticated,
    /// The message could not be written, read, or is over a size limit.
    Serialization,
    /// The provider's own answer was an error (any other status, a declared exception).
    Business,
    /// Routing and availability left nobody.
    NoProvider,
    /// The deadline of the whole call was over before this attempt could start.
    Deadline,
    /// The call cannot be made as it was asked (missing hash key, unknown protocol).
    Invalid,
    /// The caller gave up.
    Cancelled,
}

impl FailureKind {
    /// Every kind, in the order of reports.
    pub const ALL: [FailureKind; 12] = [
        FailureKind::Network,
        FailureKind::Timeout,
        FailureKind::LimitExceeded,
        FailureKind::NoAnswer,
        FailureKind::Forbidden,
        FailureKind::Unauthenticated,
        FailureKind::Serialization,
        FailureKind::Business,
        FailureKind::NoProvider,
        FailureKind::Deadline,
        FailureKind::Invalid,
        FailureKind::Cancelled,
    ];

    /// Short name for reports and logs.
    pub fn name(self) -> &'static str {
        match self {
            FailureKind::Network => "network",
            FailureKind::Timeout => "timeout",
            FailureKind::LimitExceeded => "limit",
            FailureKind::NoAnswer => "no-answer",
            FailureKind::Forbidden => "forbidden",
            FailureKind::Unauthenticated => "unauthenticated",
            FailureKind::Serialization => "serialization",
            FailureKind::Business => "business",
            FailureKind::NoProvider => "no-provider",
            FailureKind::Deadline => "deadline",
            FailureKind::Invalid => "invalid",
            FailureKind::Cancelled => "cancelled",
        }
    }

    /// Whether another attempt may help. A business answer, a refusal by name and a call that is
    /// wrong in itself stay what they are wherever they are sent.
    pub fn retryable(self) -> bool {
        matches!(
            self,
            FailureKind::Network
                | FailureKind::Timeout
                | FailureKind::LimitExceeded
                | FailureKind::NoAnswer
        )
    }

    /// How the endpoint's statistics count it.
    pub fn outcome(self) -> Outcome {
        match self {
            FailureKind::Business => Outcome::Business,
            FailureKind::Cancelled => Outcome::Cancelled,
            kind => Outcome::Failure(kind),
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a ticket is told at the end of an attempt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// An answer.
    Success,
    /// An answer that is an error of the service itself: completed, and shown separately.
    Business,
    /// No usable answer.
    Failure(FailureKind),
    /// The caller gave up; says nothing about the endpoint.
    Cancelled,
}

impl Outcome {
    /// The connection failed.
    pub const NETWORK: Outcome = Outcome::Failure(FailureKind::Network);
    /// The attempt's time was up.
    pub const TIMEOUT: Outcome = Outcome::Failure(FailureKind::Timeout);
}

/// An exception that the provider's method threw, as it travelled.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Exception {
    /// Name of its Java class.
    pub class: String,
    /// The object: one Hessian value in a stream of its own.
    pub body: bytes::Bytes,
}

/// Why an attempt gave no answer.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct Failure {
    /// What kind of failure.
    pub kind: FailureKind,
    /// How far the call got.
    pub sent: Sent,
    /// gRPC status code, where the provider or the transport gave one.
    pub status: Option<i32>,
    /// What happened, for people.
    pub message: String,
    /// What the provider attached to its error (response trailers).
    pub attachments: Attachments,
    /// The exception that the provider's method threw, where it travelled as an object.
    pub exception: Option<Box<Exception>>,
}

impl Failure {
    /// A failure that the provider may have seen.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            sent: Sent::Maybe,
            status: None,
            message: message.into(),
            attachments: Attachments::new(),
            exception: None,
        }
    }

    /// The same, provably not sent.
    pub fn not_sent(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { sent: Sent::No, ..Self::new(kind, message) }
    }

    /// With a gRPC status code.
    pub fn with_status(mut self, status: i32) -> Self {
        self.status = Some(status);
        self
    }

    /// Whether another attempt may help: a retryable kind, or anything that never left, unless there
    /// is nobody to send it to, no time to send it in, or nothing that could be sent.
    pub fn retryable(&self) -> bool {
        use FailureKind::{Cancelled, Deadline, Invalid, NoProvider};
        self.kind.retryable()
            || (self.sent == Sent::No
                && !matches!(self.kind, Invalid | Cancelled | NoProvider | Deadline))
    }
}
