//! One connection: reads frames, begins calls, writes answers, all in one task.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::dubbo::events::{self, Event};
use crate::dubbo::frame::{FrameError, HEADER_BYTES, HESSIAN2, Header, status};
use crate::dubbo::incoming::{Frames, Incoming};
use crate::dubbo::outgoing::{Outbox, Part, Writer};
use crate::dubbo::server::calls::Calls;
use crate::dubbo::server::dispatch::{self, Refusal};
use crate::dubbo::server::farewell::Farewell;
use crate::dubbo::server::request::Heads;
use crate::dubbo::server::response::Frame;
use crate::dubbo::server::watch::{Alarm, Watch};
use crate::server::Shared;
use crate::server::lifecycle::{Guest, Phase};

/// Frames that are taken before other tasks get their turn.
const AT_ONCE: usize = 1024;

/// Longest body of an event, in bytes.
const LONGEST_EVENT: usize = 15;

/// Why a connection ends before its peer wants it to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Frame(#[from] FrameError),
    #[error("nothing came for too long")]
    Dead,
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Connection<'c> {
    shared: &'c Arc<Shared>,
    guest: &'c Guest,
    frames: Frames,
    heads: Heads,
    calls: Calls,
    outbox: Arc<Outbox>,
    writer: Writer,
    farewell: Farewell,
    watch: Watch,
    /// Number of the next event that is sent.
    id: u64,
    /// The peer sends no more.
    ended: bool,
}

impl<'c> Connection<'c> {
    /// A connection whose first bytes are `read`.
    pub(crate) fn new(shared: &'c Arc<Shared>, guest: &'c Guest, read: &[u8]) -> Self {
        let mut frames = Frames::new(shared.limits.max_message);
        frames.push(read);
        Self {
            shared,
            guest,
            frames,
            heads: Heads::default(),
            calls: Calls::default(),
            outbox: Arc::new(Outbox::new()),
            writer: Writer::default(),
            farewell: Farewell::No,
            watch: Watch::new(&shared.limits),
            id: 0,
            ended: false,
        }
    }

    /// Goes on as far as it can. Ready when the connection is over.
    pub(crate) fn poll<T: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        stream: &mut T,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Broken>> {
        self.guest.conn.task.register(cx.waker());
        self.calls.poll(cx);
        match self.guest.lifecycle.phase() {
            Phase::Serving => {}
            Phase::Draining => self.farewell.begin(),
            Phase::Closed => return Poll::Ready(Ok(())),
        }
        self.look_at_the_clock(cx)?;
        let mut taken = 0;
        loop {
            taken += self.take()?;
            self.farewell.say(&self.outbox, self.id);
            let written = self.writer.poll(&self.outbox, stream, cx)?;
            if written.is_ready() && self.is_over() {
                return Poll::Ready(Ok(()));
            }
            if !self.may_read() {
                // A call that ends, or the socket when it takes more, wakes the task.
                return Poll::Pending;
            }
            if taken >= AT_ONCE {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            match ready!(self.frames.poll_read(stream, cx))? {
                0 => self.peer_is_gone(),
                _ => self.watch.read(Instant::now()),
            }
        }
    }

    /// Ends what is left. The answer are the calls that nobody waited for, which go on.
    pub(crate) fn end(&mut self) -> JoinSet<()> {
        self.outbox.close();
        self.calls.end()
    }

    fn look_at_the_clock(&mut self, cx: &mut Context<'_>) -> Result<(), Broken> {
        while let Some(alarm) = self.watch.poll(self.calls.running() > 0, cx) {
            match alarm {
                // Whom we do not listen to is not silent.
                Alarm::Dead if self.is_full() => self.watch.read(Instant::now()),
                Alarm::Dead => return Err(Broken::Dead),
                Alarm::Idle => self.farewell.begin(),
                Alarm::Silent => {
                    // Where there is no room the peer has enough to read.
                    let heartbeat = events::heartbeat(self.next_id());
                    if let Ok(Some(room)) = self.outbox.try_room(HEADER_BYTES + 1) {
                        let _ = self.outbox.push(room, &[Part::Copy(&heartbeat)]);
                    }
                }
            }
        }
        Ok(())
    }

    fn next_id(&mut self) -> u64 {
        // The farewell uses the number itself and the one after it.
        self.id = self.id.wrapping_add(2);
        self.id.wrapping_sub(2)
    }

    fn peer_is_gone(&mut self) {
        if !self.frames.is_between_frames() {
            tracing::debug!(peer = %self.guest.conn.peer(), "a connection ended within a frame");
        }
        self.ended = true;
    }

    /// Whether everything is said: the peer is gone, or has heard the farewell and waits for nothing.
    fn is_over(&self) -> bool {
        let told = self.farewell == Farewell::Heard && self.calls.running() == 0;
        (self.ended || told) && !self.calls.is_blocked() && self.outbox.is_empty()
    }

    /// Whether more can be taken: a peer that does not read its answers is not read from either, and
    /// neither is one with too many calls running.
    fn may_read(&self) -> bool {
        !self.ended && !self.calls.is_blocked() && !self.is_full()
    }

    fn is_full(&self) -> bool {
        let most = usize::try_from(self.shared.limits.max_streams).unwrap_or(usize::MAX).max(1);
        self.calls.running() >= most
    }

    /// Takes the frames that are there. The answer is how many.
    fn take(&mut self) -> Result<usize, FrameError> {
        let mut taken = 0;
        let mut last = std::time::Instant::now();
        while taken < AT_ONCE && self.may_read() {
            match self.frames.next()? {
                None => break,
                Some(Incoming::Frame(header, body)) if header.event => self.event(&header, &body),
                Some(Incoming::Frame(header, body)) if header.request => {
                    self.request(&header, &body);
                    let now = std::time::Instant::now();
                    self.calls.took(now.duration_since(last));
                    last = now;
                }
                Some(Incoming::TooLarge(header, error)) if header.request => {
                    self.refuse(&header, &Refusal::unreadable(error));
                }
                // Responses: nothing was asked but signs of life.
                Some(_) => {}
            }
            taken += 1;
        }
        Ok(taken)
    }

    fn request(&mut self, header: &Header, body: &Bytes) {
        self.watch.called();
        if let Err(error) = header.check_serialization() {
            return self.refuse(header, &Refusal::unreadable(error));
        }
        let peer = self.guest.conn.peer();
        match dispatch::open(self.shared, &mut self.heads, (header, body), peer) {
            Ok(call) => self.calls.begin(call, self.shared, &self.outbox),
            Err(refusal) => self.refuse(header, &refusal),
        }
    }

    /// Refuses a request, if anybody waits for an answer. It travels as hessian2 whatever the
    /// request came in: that is what every peer can read.
    fn refuse(&mut self, header: &Header, refusal: &Refusal) {
        let Refusal { status, text } = refusal;
        let peer = self.guest.conn.peer();
        tracing::debug!(%peer, status, text, two_way = header.two_way, "a request is refused");
        if header.two_way {
            self.calls.answer(&self.outbox, Frame::error(header.id, *status, text));
        }
    }

    fn event(&mut self, header: &Header, body: &Bytes) {
        if !header.request {
            self.farewell.answered(header.id);
            return;
        }
        if body.is_empty() || body.len() > LONGEST_EVENT {
            let len = body.len();
            let text = format!("an event has 1 to {LONGEST_EVENT} bytes, not {len}");
            return self.refuse(header, &Refusal::unreadable(text));
        }
        let heartbeat = header.serialization != HESSIAN2 || Event::parse(body) == Event::Heartbeat;
        if heartbeat && header.two_way {
            // Null in whatever serialization the peer has: its own bytes say it.
            let serialization = header.serialization;
            let response = Header::response(header.id, status::OK, body.len()).event();
            let answer = match serialization {
                HESSIAN2 => Frame::raw(&Header { len: 1, ..response }, Bytes::from_static(b"N")),
                _ => Frame::raw(&Header { serialization, ..response }, body.clone()),
            };
            self.calls.answer(&self.outbox, answer);
        }
    }
}
