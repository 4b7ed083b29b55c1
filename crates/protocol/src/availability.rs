//! Whether new calls may use a connection: yes until there is a reason why not, then never again.

use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};

use tokio::sync::Notify;

/// The availability of one connection.
#[derive(Debug, Default)]
pub(crate) struct Availability {
    unavailable: AtomicBool,
    became_unavailable: Notify,
    reason: OnceLock<String>,
}

impl Availability {
    pub(crate) fn is_available(&self) -> bool {
        !self.unavailable.load(Acquire)
    }

    /// Why there will be no more calls, for people.
    pub(crate) fn reason(&self) -> &str {
        self.reason.get().map_or("the connection is closed", String::as_str)
    }

    /// Resolves once it is not available.
    pub(crate) async fn unavailable(&self) {
        let notified = self.became_unavailable.notified();
        // Created before the check, so that a change in between is not missed.
        if self.is_available() {
            notified.await;
        }
    }

    /// There will be no more calls; the first reason stays.
    pub(crate) fn close(&self, reason: impl FnOnce() -> String) {
        if self.is_available() {
            let _ = self.reason.set(reason());
            self.unavailable.store(true, Release);
            self.became_unavailable.notify_waiters();
        }
    }
}
