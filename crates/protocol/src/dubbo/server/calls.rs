//! The calls of one connection that are running: polled once where they came in, and in a task of
//! their own if that was not enough.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::task::JoinSet;

use crate::dubbo::outgoing::Outbox;
use crate::dubbo::server::dispatch::{self, Call};
use crate::dubbo::server::response::Frame;
use crate::server::Shared;

/// A call that keeps the connection's thread for longer than this is too much for it.
const LONG: Duration = Duration::from_micros(200);

/// How many calls then run elsewhere before one is tried again.
const ELSEWHERE: u32 = 256;

/// Running calls.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    two_way: JoinSet<()>,
    one_way: JoinSet<()>,
    /// Answers that wait for room in the outbox.
    answers: JoinSet<()>,
    pace: Pace,
}

impl Calls {
    /// How many calls run.
    pub(crate) fn running(&self) -> usize {
        self.two_way.len() + self.one_way.len()
    }

    /// Whether the peer reads so little that answers wait here.
    pub(crate) fn is_blocked(&self) -> bool {
        !self.answers.is_empty()
    }

    /// Forgets calls that have ended. The task is woken when another one does.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) {
        for set in [&mut self.two_way, &mut self.one_way, &mut self.answers] {
            while let Poll::Ready(Some(_)) = set.poll_join_next(cx) {}
        }
    }

    /// Begins a call. A short one is answered when this returns.
    pub(crate) fn begin(&mut self, mut call: Call, shared: &Arc<Shared>, outbox: &Arc<Outbox>) {
        if self.pace.here() {
            let mut unnoticed = Context::from_waker(Waker::noop());
            if let Poll::Ready(result) = call.work.as_mut().poll(&mut unnoticed) {
                let Call { work, reply, .. } = call;
                // What the handler left behind may panic as well, and this is everybody's task.
                if catch_unwind(AssertUnwindSafe(|| drop(work))).is_err() {
                    tracing::error!("a handler panicked after its answer");
                }
                if reply.two_way {
                    self.answer(outbox, reply.frame(shared, result));
                }
                return;
            }
        }
        let set = if call.reply.two_way { &mut self.two_way } else { &mut self.one_way };
        set.spawn(go_on(call, shared.clone(), outbox.clone()));
    }

    /// Notes how long the connection's task was busy with a call.
    pub(crate) fn took(&mut self, time: Duration) {
        self.pace.took(time);
    }

    /// Sends an answer, later if there is no room now.
    pub(crate) fn answer(&mut self, outbox: &Arc<Outbox>, frame: Frame) {
        match outbox.try_room(frame.len()) {
            Ok(Some(room)) => {
                // A closed connection ends its task by itself.
                let _ = outbox.push(room, &frame.parts());
            }
            Ok(None) => {
                let outbox = outbox.clone();
                self.answers.spawn(async move { send(&outbox, &frame).await });
            }
            Err(_) => {}
        }
    }

    /// Ends every call that somebody waited for. The answer is what nobody did.
    pub(crate) fn end(&mut self) -> JoinSet<()> {
        self.two_way.abort_all();
        self.answers.abort_all();
        std::mem::take(&mut self.one_way)
    }
}

/// Does the work of a call until its deadline, and answers.
async fn go_on(call: Call, shared: Arc<Shared>, outbox: Arc<Outbox>) {
    let Call { work, deadline, reply } = call;
    let result = match deadline {
        None => Ok(work.await),
        Some(deadline) => tokio::time::timeout_at(deadline, work).await,
    };
    if !reply.two_way {
        return;
    }
    let frame = match result {
        Ok(result) => reply.frame(&shared, result),
        Err(_) => reply.refuse(&dispatch::overdue()),
    };
    send(&outbox, &frame).await;
}

async fn send(outbox: &Outbox, frame: &Frame) {
    if let Ok(room) = outbox.room(frame.len()).await {
        let _ = outbox.push(room, &frame.parts());
    }
}

/// Decides whether calls are tried on the connection's own task.
#[derive(Debug, Default)]
struct Pace {
    elsewhere: u32,
}

impl Pace {
    fn here(&mut self) -> bool {
        let here = self.elsewhere == 0;
        self.elsewhere = self.elsewhere.saturating_sub(1);
        here
    }

    fn took(&mut self, time: Duration) {
        if time > LONG && self.elsewhere == 0 {
            self.elsewhere = ELSEWHERE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_call_sends_the_next_ones_elsewhere() {
        let mut pace = Pace::default();
        assert!(pace.here());
        pace.took(LONG);
        assert!(pace.here());
        pace.took(LONG + Duration::from_nanos(1));
        for _ in 0..ELSEWHERE {
            assert!(!pace.here());
        }
        assert!(pace.here());
    }
}
