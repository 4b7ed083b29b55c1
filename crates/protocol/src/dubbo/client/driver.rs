//! The task behind a connection: writes what is queued, hands answers to their calls, and keeps the
//! peer awake and itself honest with heartbeats.

use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use crate::dubbo::client::channel::Channel;
use crate::dubbo::client::heartbeat::{Beat, Heartbeat};
use crate::dubbo::client::pending::Answer;
use crate::dubbo::events::{self, Event};
use crate::dubbo::frame::{FrameError, Header, status};
use crate::dubbo::incoming::{Frames, Incoming};
use crate::dubbo::outgoing::{Part, Writer};

/// What a peer is told that wants to call us.
const NO_SERVICE: &str = "a consumer provides no service";

/// Runs a connection to its end.
pub(crate) struct Driver<T> {
    stream: T,
    channel: Arc<Channel>,
    frames: Frames,
    writer: Writer,
    heartbeat: Option<Heartbeat>,
    /// Writing was put off once.
    put_off: bool,
}

impl<T: AsyncRead + AsyncWrite + Unpin> Driver<T> {
    pub(crate) fn new(
        stream: T,
        channel: Arc<Channel>,
        payload: usize,
        heartbeat: Option<Heartbeat>,
    ) -> Self {
        let (frames, writer) = (Frames::new(payload), Writer::default());
        Self { stream, channel, frames, writer, heartbeat, put_off: false }
    }

    /// One turn. The answer says why the connection is over.
    fn turn(&mut self, cx: &mut Context<'_>) -> Poll<String> {
        if let Some(heartbeat) = &mut self.heartbeat {
            while let Poll::Ready(beat) = heartbeat.poll(cx) {
                match beat {
                    Beat::Ask => {
                        let frame = events::heartbeat(self.channel.fresh_id());
                        self.channel.say(&[Part::Copy(&frame)]);
                    }
                    Beat::Dead(silence) => {
                        return Poll::Ready(format!("nothing came for {silence:?}"));
                    }
                }
            }
        }
        let answered = match self.read(cx) {
            Ok(answered) => answered,
            Err(reason) => return Poll::Ready(reason),
        };
        if answered > 1 && !self.put_off {
            // The calls that have their answers will nearly all be followed by others. They get a
            // turn first, so that those leave together. The first of them must not wake this task.
            self.put_off = true;
            self.channel.outbox.put_off();
            let _ = pin!(tokio::task::yield_now()).poll(cx);
            return Poll::Pending;
        }
        self.put_off = false;
        let before = self.channel.outbox.written();
        let written = self.writer.poll(&self.channel.outbox, &mut self.stream, cx);
        if let Some(heartbeat) = &mut self.heartbeat
            && self.channel.outbox.written() != before
        {
            heartbeat.wrote(Instant::now());
        }
        match written {
            Poll::Ready(Ok(())) => self.finish(cx),
            Poll::Ready(Err(error)) => Poll::Ready(format!("the connection was lost: {error}")),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Takes in everything that is there. The answer is how many calls have ended by it.
    fn read(&mut self, cx: &mut Context<'_>) -> Result<usize, String> {
        let mut answered = 0;
        while let Poll::Ready(read) = self.frames.poll_read(&mut self.stream, cx) {
            match read {
                Ok(0) => return Err(self.ended()),
                Ok(_) => {}
                Err(error) => return Err(format!("the connection was lost: {error}")),
            }
            if let Some(heartbeat) = &mut self.heartbeat {
                heartbeat.read(Instant::now());
            }
            while let Some(incoming) = self.frames.next().map_err(broken)? {
                answered += usize::from(self.take(incoming));
            }
        }
        Ok(answered)
    }

    fn ended(&self) -> String {
        let end = if self.frames.is_between_frames() { "" } else { " in the middle of a frame" };
        format!("the provider closed the connection{end}")
    }

    /// Whether a call has ended by it.
    fn take(&mut self, incoming: Incoming) -> bool {
        let (header, answer) = match incoming {
            Incoming::Frame(header, body) if header.event => {
                self.event(header, &body);
                return false;
            }
            Incoming::Frame(header, body) => (header, Answer::Response(header, body)),
            Incoming::TooLarge(header, error) => (header, Answer::Unread(error)),
        };
        if header.request {
            self.refuse(header);
            return false;
        }
        let known = !header.event && self.channel.pending.answer(header.id, answer);
        if !known {
            // Its call has timed out or was withdrawn.
            tracing::debug!(address = %self.channel.address, id = header.id, "a late answer");
        }
        known
    }

    fn event(&mut self, header: Header, body: &[u8]) {
        if !header.request {
            return;
        }
        match Event::parse(body) {
            Event::Heartbeat if header.two_way => {
                self.channel.say(&[Part::Copy(&events::heartbeat_answer(header.id))]);
            }
            Event::Heartbeat => {}
            Event::ReadOnly => {
                tracing::debug!(address = %self.channel.address, "the provider is going away");
                self.channel.shared.drain("the provider takes no new calls (read-only)");
            }
            // Whoever looks after this connection has been told by now that it takes no more calls,
            // and opens another one.
            Event::Writable => {
                tracing::debug!(address = %self.channel.address, "the provider takes calls again");
            }
        }
    }

    /// Answers a call of the provider's, so that it need not wait.
    fn refuse(&self, header: Header) {
        if header.two_way && !header.event {
            let mut text = equipoise_hessian::Writer::new();
            text.str(NO_SERVICE);
            let text = text.into_bytes();
            let id = header.id;
            let header = Header::response(id, status::SERVICE_NOT_FOUND, text.len()).encode();
            self.channel.say(&[Part::Copy(&header), Part::Copy(&text)]);
        }
    }

    /// Ends a connection that is being drained and has nothing left to do.
    fn finish(&mut self, cx: &mut Context<'_>) -> Poll<String> {
        let idle = self.channel.shared.is_draining()
            && self.channel.pending.waiting() == 0
            && self.channel.outbox.is_empty();
        if !idle {
            return Poll::Pending;
        }
        // That the peer is gone already does not matter any more.
        let _: io::Result<()> = ready!(Pin::new(&mut self.stream).poll_shutdown(cx));
        Poll::Ready("the connection was closed".to_owned())
    }
}

fn broken(error: FrameError) -> String {
    format!("the peer does not speak dubbo: {error}")
}

impl<T: AsyncRead + AsyncWrite + Unpin> Future for Driver<T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let reason = ready!(self.turn(cx));
        self.channel.lose(&reason);
        Poll::Ready(())
    }
}

impl<T> Drop for Driver<T> {
    // Also when the task is cut off with its runtime: nobody must wait for it forever.
    fn drop(&mut self) {
        self.channel.lose("the connection was closed");
    }
}
