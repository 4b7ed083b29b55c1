//! The clocks of a connection: how long nothing came, how long there was no call.

use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use crate::server::limits::Limits;

/// When there is nothing to wait for.
const FAR: Duration = Duration::from_secs(86_400 * 365);

/// What a clock says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Alarm {
    /// Nothing came for so long that the peer is taken for dead.
    Dead,
    /// Nothing came for so long that the peer should be asked.
    Silent,
    /// There was no call for so long that the connection is not needed.
    Idle,
}

/// All clocks, with one timer that is set to the next of them.
#[derive(Debug)]
pub(crate) struct Watch {
    silence: Option<Duration>,
    ask: Option<Duration>,
    idle: Option<Duration>,
    read: Instant,
    asked: Instant,
    called: Instant,
    timer: Pin<Box<Sleep>>,
}

impl Watch {
    pub(crate) fn new(limits: &Limits) -> Self {
        let now = Instant::now();
        let mut watch = Self {
            silence: limits.silence,
            ask: limits.keep_alive_interval,
            idle: limits.idle,
            read: now,
            asked: now,
            called: now,
            timer: Box::pin(tokio::time::sleep(FAR)),
        };
        watch.set(now);
        watch
    }

    /// Something came.
    pub(crate) fn read(&mut self, now: Instant) {
        self.read = now;
    }

    /// A call came. Between two reads no time passes that matters here.
    pub(crate) fn called(&mut self) {
        self.called = self.read;
    }

    /// The next clock that has run out; otherwise the task is woken for it. `busy`: calls run.
    pub(crate) fn poll(&mut self, busy: bool, cx: &mut Context<'_>) -> Option<Alarm> {
        while self.timer.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            if busy {
                self.called = now;
            }
            let alarm = self.due(now);
            self.set(now);
            if alarm.is_some() {
                return alarm;
            }
        }
        None
    }

    fn due(&mut self, now: Instant) -> Option<Alarm> {
        let over = |limit: Option<Duration>, since: Instant| {
            limit.is_some_and(|limit| now.saturating_duration_since(since) >= limit)
        };
        if over(self.silence, self.read) {
            return Some(Alarm::Dead);
        }
        if over(self.idle, self.called) {
            // Said once; the farewell takes it from there.
            self.idle = None;
            return Some(Alarm::Idle);
        }
        if over(self.ask, self.read.max(self.asked)) {
            self.asked = now;
            return Some(Alarm::Silent);
        }
        None
    }

    fn set(&mut self, now: Instant) {
        let at = |limit: Option<Duration>, since: Instant| since.checked_add(limit.unwrap_or(FAR));
        let next = [
            at(self.silence, self.read),
            at(self.ask, self.read.max(self.asked)),
            at(self.idle, self.called),
        ];
        let next = next.into_iter().flatten().min().unwrap_or(now + FAR);
        // Never in the past: that would be a loop without end where the limit is zero.
        self.timer.as_mut().reset(next.max(now + Duration::from_millis(1)));
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Poll;

    use super::*;

    fn limits(silence: u64, ask: u64, idle: u64) -> Limits {
        let seconds = |seconds| (seconds > 0).then(|| Duration::from_secs(seconds));
        Limits {
            silence: seconds(silence),
            keep_alive_interval: seconds(ask),
            idle: seconds(idle),
            ..Limits::default()
        }
    }

    async fn next(watch: &mut Watch, busy: bool) -> (Alarm, u64) {
        let start = Instant::now();
        let alarm = poll_fn(|cx| match watch.poll(busy, cx) {
            Some(alarm) => Poll::Ready(alarm),
            None => Poll::Pending,
        });
        (alarm.await, start.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_peer_is_asked_and_then_given_up() {
        let mut watch = Watch::new(&limits(180, 60, 0));
        assert_eq!(next(&mut watch, false).await, (Alarm::Silent, 60));
        assert_eq!(next(&mut watch, false).await, (Alarm::Silent, 60));
        watch.read(Instant::now());
        assert_eq!(next(&mut watch, false).await, (Alarm::Silent, 60));
        assert_eq!(next(&mut watch, false).await, (Alarm::Silent, 60));
        assert_eq!(next(&mut watch, false).await, (Alarm::Dead, 60));
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_calls_is_idle_once() {
        let mut watch = Watch::new(&limits(1000, 0, 10));
        tokio::time::advance(Duration::from_secs(5)).await;
        watch.read(Instant::now());
        watch.called();
        assert_eq!(next(&mut watch, false).await, (Alarm::Idle, 10));
        assert_eq!(next(&mut watch, false).await, (Alarm::Dead, 990));
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_with_a_running_call_is_not_idle() {
        let mut watch = Watch::new(&limits(100, 0, 10));
        assert_eq!(next(&mut watch, true).await, (Alarm::Dead, 100));
    }
}
