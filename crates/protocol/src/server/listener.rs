//! The running server: accepts connections until it is told to end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::server::lifecycle::Phase;
use crate::server::{Shared, connection};
use crate::tri::server::health::Health;

/// How long to wait when the system has no more sockets to give.
const OUT_OF_SOCKETS: Duration = Duration::from_millis(50);

/// A server that serves. Dropping it ends it at once, with all its connections.
#[derive(Debug)]
pub struct RunningServer {
    local: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

impl RunningServer {
    pub(crate) fn start(listener: TcpListener, local: SocketAddr, shared: Arc<Shared>) -> Self {
        let accepting = tokio::spawn(accept(listener, shared.clone()));
        Self { local, shared, accepting }
    }

    /// The address it listens at.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// What `grpc.health.v1.Health` tells.
    pub fn health(&self) -> &Health {
        &self.shared.health
    }

    /// Stops accepting and tells every peer to go away (GOAWAY; over `dubbo` the read-only event);
    /// calls in flight finish and the health service says "not serving". Over `dubbo` calls that
    /// still arrive are served, as Dubbo's consumers expect; the connection closes when none is left
    /// and the peer has answered a heartbeat that was sent after the event. Returns at once.
    pub fn drain(&self) {
        self.shared.health.end();
        self.shared.lifecycle.advance(Phase::Draining);
    }

    /// Drains, and closes what is still open after `grace`. Returns whether every call had
    /// finished by then.
    pub async fn shutdown(mut self, grace: Duration) -> bool {
        self.drain();
        // Ends by itself; an error would mean that it had panicked, and then it has ended too.
        let _ = (&mut self.accepting).await;
        let emptied = self.shared.lifecycle.emptied();
        let finished = tokio::time::timeout(grace, emptied).await.is_ok();
        self.shared.lifecycle.advance(Phase::Closed);
        self.shared.lifecycle.emptied().await;
        finished
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        self.shared.lifecycle.advance(Phase::Closed);
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shared.lifecycle.reached(Phase::Draining) => return,
        };
        match accepted {
            Ok((stream, peer)) => {
                let most = shared.limits.max_connections;
                match shared.lifecycle.enter(peer, most) {
                    Some(guest) => {
                        tokio::spawn(connection::serve(shared.clone(), guest, stream));
                    }
                    None => tracing::warn!(%peer, most, "too many connections, one is refused"),
                }
            }
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "no connection can be accepted");
                tokio::time::sleep(OUT_OF_SOCKETS).await;
            }
        }
    }
}

/// Whether accepting failed because of the peer and the next one may do better.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
    )
}
