//! `failsafe`: one attempt; a failure is logged and an empty result returned.
//!
//! # When it gives up
//!
//! At once, silently. For calls nobody waits for, such as audit records. A call that cannot be made
//! as it was asked is still an error, and so are an empty list and the provider's own business error.
//!
//! # Dubbo
//!
//! `failsafe`.

use std::sync::Arc;

use equipoise_core::call::Tried;
use equipoise_core::outcome::FailureKind;
use equipoise_core::port::{BoxFuture, Reply};

use super::{Policy, PolicyAbout};
use crate::error::CallError;
use crate::flow::{Choice, Flow};

/// The row.
pub(super) struct Failsafe;

impl Policy for Failsafe {
    fn about(&self) -> PolicyAbout {
        PolicyAbout {
            name: "failsafe",
            aliases: &[],
            summary: "one attempt, a failure is logged and an empty result returned",
        }
    }

    fn run<'a>(&'a self, flow: Arc<Flow>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async move {
            match flow.attempt(Choice::ByStrategy, &mut Tried::new()).await {
                Ok(reply) => Ok(reply),
                Err(failure) => {
                    let error = flow.error(failure);
                    if is_the_callers(error.failure.kind) {
                        return Err(error);
                    }
                    tracing::warn!(%error, "failsafe: ignored");
                    Ok(flow.empty_reply())
                }
            }
        })
    }
}

/// Failures that are not the framework's to swallow: the service's own answer, a call that is wrong
/// in itself, and a list with nobody on it (in Dubbo the list is checked before the policy is asked).
pub(super) fn is_the_callers(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::Business | FailureKind::Invalid | FailureKind::NoProvider)
}
