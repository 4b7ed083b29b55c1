//! When to send a heartbeat, and when to give a silent peer up.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

/// What is due.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Beat {
    /// Ask for a sign of life.
    Ask,
    /// There was none for this long.
    Dead(Duration),
}

/// The clock of one connection.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    every: Duration,
    dead_after: Duration,
    last_read: Instant,
    last_write: Instant,
    last_asked: Instant,
    /// Late rather than early: traffic does not move it, it looks at the times when it rings.
    timer: Pin<Box<Sleep>>,
}

impl Heartbeat {
    /// Asks after `every` without traffic in either direction; gives up after `dead_after` in which
    /// nothing was read.
    pub(crate) fn new(every: Duration, dead_after: Duration) -> Self {
        let now = Instant::now();
        let timer = Box::pin(tokio::time::sleep(every.min(dead_after)));
        Self { every, dead_after, last_read: now, last_write: now, last_asked: now, timer }
    }

    pub(crate) fn read(&mut self, now: Instant) {
        self.last_read = now;
    }

    pub(crate) fn wrote(&mut self, now: Instant) {
        self.last_write = now;
    }

    /// What is due now.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Beat> {
        loop {
            ready!(self.timer.as_mut().poll(cx));
            let now = Instant::now();
            let dead = self.last_read + self.dead_after;
            if now >= dead {
                return Poll::Ready(Beat::Dead(self.dead_after));
            }
            let due = self.last_read.min(self.last_write).max(self.last_asked) + self.every;
            if now >= due {
                self.last_asked = now;
                self.timer.as_mut().reset(dead.min(now + self.every));
                return Poll::Ready(Beat::Ask);
            }
            self.timer.as_mut().reset(dead.min(due));
        }
    }
}
