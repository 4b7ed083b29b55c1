//! The queue of frames that wait for the socket, and the writer that takes everything in it with one
//! system call. Used by both roles.
//!
//! Whoever has a frame takes [`Room`] for it first: that is where a peer which does not read makes
//! its callers wait, so that the queue never grows beyond [`CAPACITY`]. Small parts are copied into
//! one buffer, large ones are shared. The connection's task calls [`Writer::poll`].

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Release},
};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::{Buf, Bytes, BytesMut};
use futures_util::task::AtomicWaker;
use tokio::io::AsyncWrite;
use tokio::sync::{Semaphore, SemaphorePermit, TryAcquireError};

/// Most bytes that wait for the socket; a single frame may be larger, and then waits alone.
pub(crate) const CAPACITY: usize = 1024 * 1024;
/// What the smallest frame counts.
const LEAST: usize = 64;
/// From this size on a part is shared, not copied.
const SHARED: usize = 16 * 1024;
/// Parts that go to the socket at once.
const AT_ONCE: usize = 16;

/// The connection takes no more frames.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Closed;

/// Frames on their way to the socket.
#[derive(Debug)]
pub(crate) struct Outbox {
    queue: Mutex<Queue>,
    room: Semaphore,
    writer: AtomicWaker,
    written: AtomicU64,
}

#[derive(Debug, Default)]
struct Queue {
    /// In front of `tail`.
    parts: VecDeque<Bytes>,
    tail: BytesMut,
    /// Room taken by what is queued.
    taken: usize,
    /// Bytes ever queued.
    end: u64,
    closed: bool,
}

/// Room for one frame in an [`Outbox`]; given back if it is dropped.
#[derive(Debug)]
pub(crate) struct Room<'a>(SemaphorePermit<'a>);

/// A piece of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'a> {
    /// Small, or not to be had otherwise: copied.
    Copy(&'a [u8]),
    /// Shared if that is cheaper than copying.
    Share(&'a Bytes),
}

impl Part<'_> {
    /// How many bytes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Part::Copy(bytes) => bytes.len(),
            Part::Share(bytes) => bytes.len(),
        }
    }
}

impl Outbox {
    pub(crate) fn new() -> Self {
        Self {
            queue: Mutex::default(),
            room: Semaphore::new(CAPACITY),
            writer: AtomicWaker::new(),
            written: AtomicU64::new(0),
        }
    }

    /// Waits for room for a frame of `bytes` bytes, first come, first served.
    ///
    /// *Cancellation*: the place in the line is lost, nothing else.
    pub(crate) async fn room(&self, bytes: usize) -> Result<Room<'_>, Closed> {
        match self.try_room(bytes) {
            Ok(Some(room)) => Ok(room),
            Ok(None) => self.room.acquire_many(permits(bytes)).await.map(Room).map_err(|_| Closed),
            Err(closed) => Err(closed),
        }
    }

    /// Room for a frame of `bytes` bytes if there is some now.
    pub(crate) fn try_room(&self, bytes: usize) -> Result<Option<Room<'_>>, Closed> {
        match self.room.try_acquire_many(permits(bytes)) {
            Ok(permit) => Ok(Some(Room(permit))),
            Err(TryAcquireError::NoPermits) => Ok(None),
            Err(TryAcquireError::Closed) => Err(Closed),
        }
    }

    /// Queues a frame, header included. The answer is how many bytes were queued before it since
    /// the connection began: see [`written`](Self::written).
    pub(crate) fn push(&self, room: Room<'_>, parts: &[Part<'_>]) -> Result<u64, Closed> {
        let (start, wake) = {
            let mut queue = self.lock();
            if queue.closed {
                return Err(Closed);
            }
            let wake = queue.taken == 0;
            queue.taken += room.0.num_permits();
            let start = queue.end;
            parts.iter().for_each(|part| queue.put(part));
            (start, wake)
        };
        room.0.forget();
        if wake {
            self.writer.wake();
        }
        Ok(start)
    }

    /// How many bytes the socket has taken. A frame that was queued at or after this never left the
    /// process once the outbox is closed.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Acquire)
    }

    /// Whether nothing is queued. What a [`Writer`] has taken is not counted.
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().taken == 0
    }

    /// Wakes the connection's task without a frame.
    pub(crate) fn wake(&self) {
        self.writer.wake();
    }

    /// Frames do not wake the connection's task until it polls its [`Writer`] again.
    pub(crate) fn put_off(&self) {
        drop(self.writer.take());
    }

    /// Refuses frames from now on, those that wait for room included, and forgets what is queued.
    pub(crate) fn close(&self) {
        let mut queue = self.lock();
        queue.closed = true;
        queue.parts = VecDeque::new();
        queue.tail = BytesMut::new();
        self.room.close();
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Nothing in the critical sections panics half-way.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn put(&mut self, part: &Part<'_>) {
        self.end += part.len() as u64;
        match part {
            Part::Share(bytes) if bytes.len() >= SHARED => {
                if !self.tail.is_empty() {
                    let before = self.tail.split().freeze();
                    self.parts.push_back(before);
                }
                self.parts.push_back(Bytes::clone(bytes));
            }
            Part::Share(bytes) => self.tail.extend_from_slice(bytes),
            Part::Copy(bytes) => self.tail.extend_from_slice(bytes),
        }
    }
}

fn permits(bytes: usize) -> u32 {
    u32::try_from(bytes.clamp(LEAST, CAPACITY)).unwrap_or(u32::MAX)
}

/// The writing half of a connection.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    batch: VecDeque<Bytes>,
    /// Room that the batch has taken.
    taken: usize,
    /// Written, but perhaps still in a buffer of the stream (TLS).
    unflushed: bool,
}

impl Writer {
    /// Writes what is queued. Ready when nothing is left: then the task is woken for the next frame.
    /// Pending while the socket takes no more.
    pub(crate) fn poll<T: AsyncWrite + Unpin>(
        &mut self,
        outbox: &Outbox,
        stream: &mut T,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        outbox.writer.register(cx.waker());
        loop {
            if self.batch.is_empty() && !self.take(outbox) {
                break;
            }
            let written = std::task::ready!(self.write(stream, cx))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            outbox.written.fetch_add(written as u64, Release);
            self.unflushed = true;
            self.advance(written);
            if self.batch.is_empty() {
                outbox.room.add_permits(std::mem::take(&mut self.taken));
            }
        }
        if self.unflushed {
            std::task::ready!(Pin::new(stream).poll_flush(cx))?;
            self.unflushed = false;
        }
        Poll::Ready(Ok(()))
    }

    /// Whether everything that was taken from the outbox has left.
    #[cfg(test)]
    pub(crate) fn is_idle(&self) -> bool {
        self.batch.is_empty() && !self.unflushed
    }

    fn take(&mut self, outbox: &Outbox) -> bool {
        let mut queue = outbox.lock();
        std::mem::swap(&mut self.batch, &mut queue.parts);
        if !queue.tail.is_empty() {
            self.batch.push_back(queue.tail.split().freeze());
        }
        self.taken = std::mem::take(&mut queue.taken);
        !self.batch.is_empty()
    }

    fn write<T: AsyncWrite + Unpin>(
        &self,
        stream: &mut T,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        let stream = Pin::new(stream);
        match self.batch.front() {
            Some(first) if self.batch.len() == 1 => stream.poll_write(cx, first),
            _ => {
                let mut slices = [IoSlice::new(&[]); AT_ONCE];
                let used = self.batch.len().min(AT_ONCE);
                for (slice, part) in slices.iter_mut().zip(&self.batch) {
                    *slice = IoSlice::new(part);
                }
                stream.poll_write_vectored(cx, slices.get(..used).unwrap_or_default())
            }
        }
    }

    fn advance(&mut self, mut written: usize) {
        while let Some(first) = self.batch.front_mut() {
            if written < first.len() {
                first.advance(written);
                return;
            }
            written -= first.len();
            self.batch.pop_front();
        }
    }
}

#[cfg(test)]
#[path = "outgoing/tests.rs"]
mod tests;
