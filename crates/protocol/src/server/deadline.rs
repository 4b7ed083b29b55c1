//! The caller's deadline, kept on the server: work that outlives it is dropped.

use std::time::Duration;

use tokio::time::Instant;

use crate::status::{Status, code};

/// The instant after `timeout`; `None` when it is too far away to matter.
pub(crate) fn after(timeout: Duration) -> Option<Instant> {
    Instant::now().checked_add(timeout)
}

/// Runs `work` until `deadline`, then drops it.
pub(crate) async fn within<T>(
    deadline: Option<Instant>,
    work: impl Future<Output = Result<T, Status>>,
) -> Result<T, Status> {
    match deadline {
        None => work.await,
        Some(at) => tokio::time::timeout_at(at, work)
            .await
            .unwrap_or_else(|_| Err(Status::new(code::DEADLINE_EXCEEDED, "the deadline is over"))),
    }
}
