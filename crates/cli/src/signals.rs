//! The wish to end, as the operating system tells it.

use std::io;

/// Listens from the moment it is made: signals that come from then on no longer end the process by
/// themselves.
pub(crate) struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    /// Starts to listen. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// The operating system refuses.
    pub(crate) fn listen() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Self {
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
            })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Resolves at the next Ctrl-C, or where there are signals at the one that asks to terminate.
    pub(crate) async fn asked_to_end(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            // Without Ctrl-C there is nobody to ask.
            std::future::pending().await
        }
    }
}
