//! A connection over pipes: what a peer that does not read costs, and time without waiting.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use equipoise_core::attachments::Attachments;
use equipoise_core::port::Reply;
use equipoise_core::service::ServiceKey;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadBuf};

use super::*;
use crate::dubbo::frame::Header;
use crate::dubbo::outgoing::CAPACITY;
use crate::server::call::CallContext;
use crate::server::{Handler, Server};

fn request(id: u64) -> Vec<u8> {
    let body = b"\x052.0.2\x01S\x00\x01m\x00N";
    [&Header::request(id, true, body.len()).encode()[..], body].concat()
}

fn shared(handler: Arc<dyn Handler>, options: impl FnOnce(Server) -> Server) -> Arc<Shared> {
    Arc::new(options(Server::builder().service(ServiceKey::new("S"), handler)).share().unwrap())
}

fn guest(shared: &Shared) -> Guest {
    shared.lifecycle.enter("127.0.0.1:1".parse().unwrap(), 1).unwrap()
}

/// A peer that sends the same request without end, and reads `reads` bytes.
struct Flood {
    request: Vec<u8>,
    at: usize,
    reads: usize,
}

impl AsyncRead for Flood {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while into.remaining() > 0 {
            let now = (self.request.len() - self.at).min(into.remaining());
            into.put_slice(&self.request[self.at..self.at + now]);
            self.at = (self.at + now) % self.request.len();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Flood {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let now = bytes.len().min(self.reads);
        self.reads -= now;
        if now == 0 { Poll::Pending } else { Poll::Ready(Ok(now)) }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn a_peer_that_does_not_read_stops_being_read_from() {
    const SIZE: usize = 10_000;
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let handler = move |_: CallContext| {
        counted.fetch_add(1, Ordering::Relaxed);
        async move { Ok(Reply { body: Bytes::from(vec![b'N'; SIZE]), attachments: Attachments::new() }) }
    };
    let shared = shared(Arc::new(handler), |server| server);
    let guest = guest(&shared);
    let mut connection = Connection::new(&shared, &guest, &[]);
    let mut flood = Flood { request: request(1), at: 0, reads: 0 };
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..100 {
        assert!(connection.poll(&mut flood, &mut cx).is_pending());
        tokio::task::yield_now().await;
    }
    // What fits into the queue, taken by the writer or not, and the one answer that found it full.
    let most = 2 * (CAPACITY / SIZE) + 2;
    let before = calls.load(Ordering::Relaxed);
    assert!((1..=most).contains(&before), "{before}");
    // It goes on as soon as something is read.
    flood.reads = 4 * CAPACITY;
    for _ in 0..100 {
        assert!(connection.poll(&mut flood, &mut cx).is_pending());
        tokio::task::yield_now().await;
    }
    let after = calls.load(Ordering::Relaxed);
    assert!((before + 1..=before + 4 * CAPACITY / SIZE + most).contains(&after), "{after}");
}

#[tokio::test]
async fn a_flood_of_short_calls_lets_other_tasks_have_their_turn() {
    let handler = |_: CallContext| async {
        Ok(Reply { body: Bytes::new(), attachments: Attachments::new() })
    };
    let shared = shared(Arc::new(handler), |server| server);
    let guest = guest(&shared);
    let mut connection = Connection::new(&shared, &guest, &[]);
    let mut flood = Flood { request: request(1), at: 0, reads: usize::MAX };
    let mut cx = Context::from_waker(Waker::noop());
    assert!(connection.poll(&mut flood, &mut cx).is_pending());
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_lives_keeps_its_connection_and_a_dead_one_does_not() {
    let handler = |_: CallContext| std::future::pending::<Result<Reply, crate::Status>>();
    let shared = shared(Arc::new(handler), |server| server);
    let guest = guest(&shared);
    let (ours, mut theirs) = tokio::io::duplex(4096);
    let peer = async {
        theirs.write_all(&request(7)).await.unwrap();
        for _ in 0..10 {
            let mut heartbeat = [0; 17];
            theirs.read_exact(&mut heartbeat).await.unwrap();
            assert_eq!(heartbeat[2..4], [0xE2, 0]);
            heartbeat[2..4].copy_from_slice(&[0x22, 20]);
            theirs.write_all(&heartbeat).await.unwrap();
        }
        // From here on it is dead, whatever it is asked.
        let start = tokio::time::Instant::now();
        let mut rest = Vec::new();
        theirs.read_to_end(&mut rest).await.unwrap();
        assert_eq!(rest.len(), 2 * 17);
        start.elapsed()
    };
    let (_, elapsed) = tokio::join!(serve(&shared, &guest, ours, &[]), peer);
    assert_eq!(elapsed.as_secs(), 180);
}

#[tokio::test(start_paused = true)]
async fn case_186_a_call_is_dropped_at_its_deadline_and_answered() {
    let handler = |_: CallContext| std::future::pending::<Result<Reply, crate::Status>>();
    let shared = shared(Arc::new(handler), |server| server);
    let guest = guest(&shared);
    let (ours, mut theirs) = tokio::io::duplex(4096);
    let body = b"\x052.0.2\x01S\x00\x01m\x00H\x07timeout\x043000Z";
    let asked = [&Header::request(1, true, body.len()).encode()[..], body].concat();
    let peer = async {
        let start = tokio::time::Instant::now();
        theirs.write_all(&asked).await.unwrap();
        let mut head = [0; 16];
        theirs.read_exact(&mut head).await.unwrap();
        assert_eq!(head[3], 31);
        drop(theirs);
        start.elapsed()
    };
    let (_, elapsed) = tokio::join!(serve(&shared, &guest, ours, &[]), peer);
    assert!(elapsed >= Duration::from_millis(3000));
    assert!(elapsed < Duration::from_millis(3002));
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_is_not_read_from_is_not_taken_for_dead() {
    let handler = |_: CallContext| std::future::pending::<Result<Reply, crate::Status>>();
    let shared = shared(Arc::new(handler), |server| server.max_concurrent_streams(1));
    let guest = guest(&shared);
    let (ours, mut theirs) = tokio::io::duplex(4096);
    theirs.write_all(&request(1)).await.unwrap();
    let serving = serve(&shared, &guest, ours, &[]);
    assert!(tokio::time::timeout(Duration::from_secs(1000), serving).await.is_err());
}
