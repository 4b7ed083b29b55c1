//! The provider's side of `dubbo`: what a request is, who answers it and how. The port, the services
//! and their limits are [`crate::server`]'s.
//!
//! ```text
//!  frame ─► request (what is asked) ─► dispatch (who answers, may it) ─► handler
//!                                                                         │
//!  socket ◄─ outgoing (queue) ◄─ response (flag, value, attachments) ◄────┘
//! ```
//!
//! One task drives a connection. It polls each call once itself, because most are answered in that
//! time; one that waits goes on in a task of its own, and so do all for a while after one that kept
//! the thread for long.

mod calls;
mod connection;
mod dispatch;
mod farewell;
mod request;
mod response;
mod watch;

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use crate::dubbo::server::connection::Connection;
use crate::server::Shared;
use crate::server::lifecycle::{Guest, Phase};

/// Serves a connection to its end. `read` are the bytes that told its protocol.
pub(crate) async fn serve<T>(shared: &Arc<Shared>, guest: &Guest, mut stream: T, read: &[u8])
where
    T: AsyncRead + AsyncWrite + Send + Unpin,
{
    let mut connection = Connection::new(shared, guest, read);
    let ended = std::future::poll_fn(|cx| connection.poll(&mut stream, cx)).await;
    // Whoever waited for an answer does so no longer. What was sent one way is still done.
    let mut one_way = connection.end();
    let over = guest.lifecycle.reached(Phase::Closed);
    match ended {
        Ok(()) => {
            let closing = tokio::time::timeout(shared.limits.handshake, stream.shutdown());
            tokio::select! {
                _ = closing => {}
                () = guest.lifecycle.reached(Phase::Closed) => {}
            }
        }
        Err(error) => tracing::debug!(peer = %guest.conn.peer(), %error, "a connection broke"),
    }
    drop(stream);
    tokio::select! {
        () = async { while one_way.join_next().await.is_some() {} } => {}
        () = over => {}
    }
}

#[cfg(test)]
mod tests;
