//! The queue under a socket that takes little, nothing, or ends.

use std::sync::Arc;
use std::task::Waker;

use futures_util::FutureExt;
use tokio::io::AsyncReadExt;

use super::*;

fn push(outbox: &Outbox, bytes: &[u8]) -> Result<u64, Closed> {
    let room = outbox.room(bytes.len()).now_or_never().expect("there is room")?;
    outbox.push(room, &[Part::Copy(bytes)])
}

/// Counts the writes of what is behind it.
struct Counted<T>(T, usize);

impl<T: AsyncWrite + Unpin> AsyncWrite for Counted<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.1 += 1;
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

#[test]
fn many_frames_leave_with_one_write() {
    let (outbox, mut writer) = (Outbox::new(), Writer::default());
    let mut sink = Counted(Vec::new(), 0);
    let mut expected = Vec::new();
    for i in 0..1000_u32 {
        assert_eq!(push(&outbox, &i.to_be_bytes()), Ok(u64::from(4 * i)));
        expected.extend(i.to_be_bytes());
    }
    let mut cx = Context::from_waker(Waker::noop());
    assert!(writer.poll(&outbox, &mut sink, &mut cx).is_ready());
    assert_eq!(sink.1, 1);
    assert_eq!(sink.0, expected);
    assert_eq!(outbox.written(), 4000);
    assert!(writer.is_idle() && outbox.is_empty());
    assert_eq!(outbox.room.available_permits(), CAPACITY);
}

#[test]
fn large_parts_are_shared_and_the_order_is_kept() {
    let (outbox, mut writer) = (Outbox::new(), Writer::default());
    let large = Bytes::from(vec![7; SHARED]);
    let room = outbox.try_room(2 * SHARED).unwrap().unwrap();
    let parts = [Part::Copy(b"a"), Part::Share(&large), Part::Copy(b"b"), Part::Share(&large)];
    outbox.push(room, &parts).unwrap();
    push(&outbox, b"c").unwrap();
    assert!(outbox.lock().parts.iter().any(|part| part.as_ptr() == large.as_ptr()));
    let (mut ours, mut sink) = (Vec::new(), Counted(Vec::new(), 0));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(writer.poll(&outbox, &mut sink, &mut cx).is_ready());
    for part in [&b"a"[..], &large, b"b", &large, b"c"] {
        ours.extend_from_slice(part);
    }
    assert!(sink.0 == ours);
}

#[tokio::test]
async fn a_peer_that_does_not_read_makes_callers_wait_and_nothing_grow() {
    let (outbox, mut writer) = (Arc::new(Outbox::new()), Writer::default());
    let (mut near, mut far) = tokio::io::duplex(1000);
    let frame = vec![1; 100_000];
    let mut sent = 0;
    while let Some(room) = outbox.try_room(frame.len()).unwrap() {
        outbox.push(room, &[Part::Copy(&frame)]).unwrap();
        sent += 1;
    }
    assert_eq!(sent, CAPACITY / frame.len());
    // One who waits and gives up leaves no trace; those who stay get their turn in order.
    assert!(outbox.room(frame.len()).now_or_never().is_none());
    let waiting = outbox.clone();
    let waiter = tokio::spawn(async move {
        let room = waiting.room(CAPACITY * 9).await.unwrap();
        waiting.push(room, &[Part::Copy(b"last")]).unwrap()
    });
    let reader = tokio::spawn(async move {
        let mut all = Vec::new();
        far.read_to_end(&mut all).await.unwrap();
        all.len()
    });
    let expected = (sent * frame.len()) as u64;
    std::future::poll_fn(|cx| match writer.poll(&outbox, &mut near, cx) {
        Poll::Ready(Ok(())) if outbox.written() == expected + 4 => Poll::Ready(()),
        Poll::Ready(Err(error)) => panic!("{error}"),
        _ => Poll::Pending,
    })
    .await;
    assert_eq!(waiter.await.unwrap(), expected);
    drop(near);
    assert_eq!(reader.await.unwrap() as u64, expected + 4);
}

#[tokio::test]
async fn closing_refuses_everybody_and_says_what_never_left() {
    let (outbox, mut writer) = (Arc::new(Outbox::new()), Writer::default());
    let (mut near, _far) = tokio::io::duplex(10);
    let first = push(&outbox, &[1; 20]).unwrap();
    let second = push(&outbox, &[2; 20]).unwrap();
    let all = outbox.try_room(CAPACITY - 2 * LEAST).unwrap().unwrap();
    let waiting = outbox.clone();
    let waiter = tokio::spawn(async move { waiting.room(1).await.map(|_| ()) });
    tokio::task::yield_now().await;
    let mut cx = Context::from_waker(Waker::noop());
    assert!(writer.poll(&outbox, &mut near, &mut cx).is_pending());
    outbox.close();
    assert!(first < outbox.written() && outbox.written() <= second);
    assert_eq!(waiter.await.unwrap(), Err(Closed));
    assert_eq!(outbox.push(all, &[Part::Copy(b"x")]), Err(Closed));
    assert!(matches!(outbox.try_room(1), Err(Closed)));
}
