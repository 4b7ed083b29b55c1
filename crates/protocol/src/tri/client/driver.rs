//! The task behind a connection: moves its frames, notices when it can take no more calls, and
//! asks a silent peer for a sign of life.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::task::AtomicWaker;
use h2::client::{Connection, SendRequest};
use h2::{Ping, PingPong};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, Sleep};

use crate::availability::Availability;
use crate::tri::client::connect::ConnectError;
use crate::tri::client::{KeepAlive, Options};
use crate::tri::frame::Framed;

/// What a stream, and all streams together, may receive before we must have read it. Enough to
/// keep a fast long-distance link busy; unread data is bounded by the second per connection.
const STREAM_WINDOW: u32 = 1024 * 1024;
const CONNECTION_WINDOW: u32 = 8 * 1024 * 1024;

/// Frames up to this size are taken, so that a middling message comes in one and is not copied.
const FRAME: u32 = 64 * 1024;

/// How many withdrawn calls are remembered for a moment, so that their late answers are dropped
/// without a word.
const REMEMBERED: usize = 1024;

/// What calls and the task know of each other.
#[derive(Debug, Default)]
pub(crate) struct State {
    availability: Availability,
    draining: AtomicBool,
    task: AtomicWaker,
    pub(crate) in_flight: AtomicUsize,
}

impl State {
    pub(crate) fn is_available(&self) -> bool {
        self.availability.is_available()
    }

    /// Why there will be no more calls, for people.
    pub(crate) fn reason(&self) -> &str {
        self.availability.reason()
    }

    pub(crate) async fn unavailable(&self) {
        self.availability.unavailable().await;
    }

    /// No new calls; the task closes the connection once the last one has ended.
    pub(crate) fn drain(&self) {
        self.close(|| "the connection is being drained".to_owned());
        self.draining.store(true, Ordering::Release);
        self.task.wake();
    }

    /// There will be no more calls; the first reason stays.
    pub(crate) fn close(&self, reason: impl FnOnce() -> String) {
        self.availability.close(reason);
    }
}

/// Greets the peer, waits for its first sign of life and starts the task.
pub(crate) async fn start<T>(
    stream: T,
    options: &Options,
) -> Result<(SendRequest<Framed>, Arc<State>), ConnectError>
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (sender, mut connection) = h2::client::Builder::new()
        .enable_push(false)
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_frame_size(FRAME)
        .max_header_list_size(options.max_headers)
        // An answer that comes after its call was withdrawn is no fault of the peer's, however
        // often it happens in the life of a connection.
        .max_local_error_reset_streams(None)
        .max_concurrent_reset_streams(REMEMBERED)
        .handshake::<_, Framed>(stream)
        .await?;
    let mut pings = connection.ping_pong();
    if let Some(pings) = &mut pings {
        // A port that accepts and says nothing, or speaks something else, is no connection.
        tokio::select! {
            answer = pings.ping(Ping::opaque()) => { answer?; }
            ended = &mut connection => { return Err(ended_early(ended)); }
        }
    }
    let state = Arc::new(State::default());
    let driver = Driver {
        connection,
        probe: Some(sender.clone()),
        state: state.clone(),
        beat: Heartbeat::new(options.keep_alive, pings),
    };
    tokio::spawn(driver);
    Ok((sender, state))
}

fn ended_early(ended: Result<(), h2::Error>) -> ConnectError {
    match ended {
        Err(error) => error.into(),
        Ok(()) => std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into(),
    }
}

struct Driver<T> {
    connection: Connection<T, Framed>,
    /// Asked after every step whether it could still send: the library tells a connection's GOAWAY
    /// to those who try to send and to nobody else. Dropped when draining, because the connection
    /// stays open for as long as somebody could send.
    probe: Option<SendRequest<Framed>>,
    state: Arc<State>,
    beat: Option<Heartbeat>,
}

impl<T: AsyncRead + AsyncWrite + Unpin> Future for Driver<T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        this.state.task.register(cx.waker());
        if this.state.draining.load(Ordering::Acquire) {
            this.probe = None;
        }
        let ended = Pin::new(&mut this.connection).poll(cx);
        if let Some(probe) = &mut this.probe
            && let Poll::Ready(Err(error)) = probe.poll_ready(cx)
        {
            this.state.close(|| format!("the provider takes no more calls: {error}"));
            this.probe = None;
        }
        if let Poll::Ready(ended) = ended {
            this.state.close(|| match ended {
                Ok(()) => "the connection was closed".to_owned(),
                Err(error) => format!("the connection was lost: {error}"),
            });
            return Poll::Ready(());
        }
        let busy = this.state.in_flight.load(Ordering::Relaxed) > 0;
        match this.beat.as_mut().map(|beat| beat.poll(busy, cx)) {
            // Dropping the connection ends every call on it at once.
            Some(Poll::Ready(Silent)) => {
                this.state.close(|| "the peer gave no sign of life".to_owned());
                Poll::Ready(())
            }
            _ => Poll::Pending,
        }
    }
}

impl<T> Drop for Driver<T> {
    // Also when the task is cut off with its runtime: nobody must wait for it forever.
    fn drop(&mut self) {
        self.state.close(|| "the connection was closed".to_owned());
    }
}

/// The peer did not answer a ping in time.
struct Silent;

struct Heartbeat {
    keep: KeepAlive,
    interval: Duration,
    pings: PingPong,
    timer: Pin<Box<Sleep>>,
    asked: bool,
}

impl Heartbeat {
    fn new(keep: KeepAlive, pings: Option<PingPong>) -> Option<Self> {
        let (interval, pings) = keep.interval.zip(pings)?;
        let timer = Box::pin(tokio::time::sleep(interval));
        Some(Self { keep, interval, pings, timer, asked: false })
    }

    fn poll(&mut self, busy: bool, cx: &mut Context<'_>) -> Poll<Silent> {
        if self.asked
            && let Poll::Ready(Ok(_)) = self.pings.poll_pong(cx)
        {
            self.asked = false;
            self.timer.as_mut().reset(Instant::now() + self.interval);
        }
        while self.timer.as_mut().poll(cx).is_ready() {
            if self.asked {
                return Poll::Ready(Silent);
            }
            let ask = busy || self.keep.while_idle;
            self.asked = ask && self.pings.send_ping(Ping::opaque()).is_ok();
            let wait = if self.asked { self.keep.timeout } else { self.interval };
            self.timer.as_mut().reset(Instant::now() + wait);
            if self.asked && self.pings.poll_pong(cx).is_ready() {
                self.asked = false;
            }
        }
        Poll::Pending
    }
}
