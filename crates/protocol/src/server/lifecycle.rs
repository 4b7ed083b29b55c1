//! Which connections are open, and how they are told that the server is ending.
//!
//! A connection asks a flag and is woken when it changes; nothing that calls do touches anything
//! that connections share.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::task::AtomicWaker;
use tokio::sync::Notify;

/// How far the server's life has got.
#[derive(Clone, Copy, Debug, Eq, PartialEq, PartialOrd)]
pub(crate) enum Phase {
    /// Taking calls.
    Serving,
    /// Taking no new ones; those in flight finish.
    Draining,
    /// Over.
    Closed,
}

/// The state of a server's life.
#[derive(Debug)]
pub(crate) struct Lifecycle {
    phase: AtomicU8,
    changed: Notify,
    open: Mutex<Open>,
    emptied: Notify,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    connections: HashMap<u64, Arc<Conn>>,
}

impl Lifecycle {
    pub(crate) fn new() -> Self {
        Self {
            phase: AtomicU8::new(Phase::Serving as u8),
            changed: Notify::new(),
            open: Mutex::default(),
            emptied: Notify::new(),
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Serving,
            1 => Phase::Draining,
            _ => Phase::Closed,
        }
    }

    /// Goes on to `phase`; never back.
    pub(crate) fn advance(&self, phase: Phase) {
        self.phase.fetch_max(phase as u8, Ordering::AcqRel);
        self.changed.notify_waiters();
        for conn in self.open().connections.values() {
            conn.task.wake();
        }
    }

    /// Waits until the server has got to `phase`.
    pub(crate) async fn reached(&self, phase: Phase) {
        loop {
            let changed = self.changed.notified();
            if self.phase() >= phase {
                return;
            }
            changed.await;
        }
    }

    /// Counts a connection in. `None` when there are `most` already.
    pub(crate) fn enter(self: &Arc<Self>, peer: SocketAddr, most: usize) -> Option<Guest> {
        let conn = Arc::new(Conn {
            peer,
            task: AtomicWaker::new(),
            calls: AtomicU64::new(0),
            in_flight: AtomicUsize::new(0),
        });
        let mut open = self.open();
        if open.connections.len() >= most {
            return None;
        }
        let id = open.next;
        open.next += 1;
        open.connections.insert(id, conn.clone());
        Some(Guest { id, conn, lifecycle: self.clone() })
    }

    /// Waits until no connection is open.
    pub(crate) async fn emptied(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.open().connections.is_empty() {
                return;
            }
            emptied.await;
        }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// A connection that is counted in, until dropped.
#[derive(Debug)]
pub(crate) struct Guest {
    id: u64,
    pub(crate) conn: Arc<Conn>,
    pub(crate) lifecycle: Arc<Lifecycle>,
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut open = self.lifecycle.open();
        open.connections.remove(&self.id);
        if open.connections.is_empty() {
            self.lifecycle.emptied.notify_waiters();
        }
    }
}

/// One open connection.
#[derive(Debug)]
pub(crate) struct Conn {
    peer: SocketAddr,
    pub(crate) task: AtomicWaker,
    calls: AtomicU64,
    in_flight: AtomicUsize,
}

impl Conn {
    pub(crate) fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Calls so far, and whether any runs.
    pub(crate) fn activity(&self) -> (u64, bool) {
        (self.calls.load(Ordering::Relaxed), self.in_flight.load(Ordering::Relaxed) > 0)
    }
}

/// Counts a call while it runs.
#[derive(Debug)]
pub(crate) struct InFlight(Arc<Conn>);

impl InFlight {
    pub(crate) fn new(conn: Arc<Conn>) -> Self {
        conn.calls.fetch_add(1, Ordering::Relaxed);
        conn.in_flight.fetch_add(1, Ordering::Relaxed);
        Self(conn)
    }

    pub(crate) fn conn(&self) -> &Conn {
        &self.0
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
