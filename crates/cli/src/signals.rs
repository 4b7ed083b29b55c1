//! The wish to end, as the operating system tells it.

/// Resolves at Ctrl-C, and where there are signals also at the one that asks to terminate. From the
/// first call on, these no longer end the process by themselves.
pub(crate) async fn asked_to_end() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            done = tokio::signal::ctrl_c() => done,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}
