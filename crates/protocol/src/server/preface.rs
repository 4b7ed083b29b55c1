//! Tells `dubbo`, HTTP/2 and HTTP/1.1 apart by the first bytes of a connection.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

use crate::dubbo::frame::MAGIC;

/// What every HTTP/2 client says first.
const HTTP2: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How a connection begins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Preface {
    /// As a frame of `dubbo` does.
    Dubbo,
    /// As HTTP/2 does.
    Http2,
    /// Otherwise.
    Other,
}

/// Reads as far as it takes to tell, and gives back the stream with those bytes still to be read.
pub(crate) async fn detect<T>(mut stream: T) -> io::Result<(Preface, Replay<T>)>
where
    T: AsyncRead + Unpin,
{
    let (mut bytes, mut len) = ([0; HTTP2.len()], 0);
    let preface = loop {
        let read = stream.read(bytes.get_mut(len..).unwrap_or_default()).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        len += read;
        let seen = bytes.get(..len).unwrap_or_default();
        if seen.starts_with(&MAGIC) {
            break Preface::Dubbo;
        }
        if seen.starts_with(HTTP2) {
            break Preface::Http2;
        }
        if !HTTP2.starts_with(seen) && !MAGIC.starts_with(seen) {
            break Preface::Other;
        }
    };
    Ok((preface, Replay { bytes, at: 0, len, stream }))
}

/// A stream whose first bytes were read already and are read once more.
#[derive(Debug)]
pub(crate) struct Replay<T> {
    bytes: [u8; HTTP2.len()],
    at: usize,
    len: usize,
    stream: T,
}

impl<T> Replay<T> {
    /// The stream as it is, and the bytes that were read already.
    pub(crate) fn into_parts(self) -> (T, Vec<u8>) {
        let read = self.bytes.get(self.at..self.len).unwrap_or_default().to_vec();
        (self.stream, read)
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Replay<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.at < this.len {
            let left = this.bytes.get(this.at..this.len).unwrap_or_default();
            let (now, _) = left.split_at(left.len().min(into.remaining()));
            into.put_slice(now);
            this.at += now.len();
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut this.stream).poll_read(cx, into)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Replay<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    #[tokio::test]
    async fn the_first_bytes_tell_and_are_read_again() {
        for (sent, expected) in [
            (&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nrest"[..], Preface::Http2),
            (b"POST /a/b HTTP/1.1\r\n", Preface::Other),
            (b"PRI * HTTP/1.1\r\n\r\nabcdefgh", Preface::Other),
            (b"\xDA\xBB\xC2\x00", Preface::Dubbo),
            (b"\xDA\xBA", Preface::Other),
        ] {
            let (mut ours, theirs) = tokio::io::duplex(1);
            let writer = tokio::spawn(async move {
                ours.write_all(sent).await.unwrap();
            });
            let (preface, mut stream) = detect(theirs).await.unwrap();
            assert_eq!(preface, expected);
            let mut read = vec![0; sent.len()];
            stream.read_exact(&mut read).await.unwrap();
            assert_eq!(read, sent);
            writer.await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_connection_that_ends_first_is_no_connection() {
        let (mut ours, theirs) = tokio::io::duplex(64);
        ours.write_all(b"PRI * ").await.unwrap();
        drop(ours);
        assert_eq!(detect(theirs).await.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
