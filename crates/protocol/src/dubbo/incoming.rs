//! Cuts frames out of a stream of bytes, however it is split. Bodies are slices of what was read,
//! and nothing is allocated for bytes that have not arrived. Used by both roles.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::dubbo::frame::{FrameError, HEADER_BYTES, Header, MAGIC};

/// Room for one read.
const ROOM: usize = 32 * 1024;
/// Less room than this is not worth a read.
const LEAST: usize = 4 * 1024;

/// What came.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Incoming {
    /// A whole frame.
    Frame(Header, Bytes),
    /// The header of a frame over the limit. Its body is skipped as it comes, in no memory.
    TooLarge(Header, FrameError),
}

/// The reading half of a connection.
#[derive(Debug)]
pub(crate) struct Frames {
    buffer: BytesMut,
    limit: usize,
    /// The header at the front of `buffer`, once it is there.
    header: Option<Header>,
    /// Bytes still to come of a body that is not wanted.
    skip: usize,
}

impl Frames {
    /// A reader that takes bodies of at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self { buffer: BytesMut::new(), limit, header: None, skip: 0 }
    }

    /// Takes bytes that were read elsewhere (the first of a connection whose protocol had to be
    /// found out).
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Reads once. The answer is how many bytes came; 0 is the end of the stream.
    pub(crate) fn poll_read<T: AsyncRead + Unpin>(
        &mut self,
        stream: &mut T,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        self.make_room();
        pin!(stream.read_buf(&mut self.buffer)).poll(cx)
    }

    /// The same as a future, for peers made by hand. *Cancellation*: nothing is lost.
    #[cfg(test)]
    pub(crate) async fn read<T: AsyncRead + Unpin>(&mut self, stream: &mut T) -> io::Result<usize> {
        self.make_room();
        stream.read_buf(&mut self.buffer).await
    }

    fn make_room(&mut self) {
        let spare = self.buffer.capacity() - self.buffer.len();
        // Grows with what has arrived, never with what was announced.
        let wanted = match self.header {
            Some(header) => (HEADER_BYTES + header.len)
                .saturating_sub(self.buffer.len())
                .min(self.buffer.len().max(ROOM)),
            None => ROOM,
        };
        if spare < wanted.min(LEAST) {
            self.buffer.reserve(wanted);
        }
    }

    /// The next frame that is there, `None` if more bytes are needed for it.
    ///
    /// # Errors
    /// What comes is no frame, and nothing after it can be understood: close the connection.
    pub(crate) fn next(&mut self) -> Result<Option<Incoming>, FrameError> {
        if self.skip > 0 {
            let now = self.skip.min(self.buffer.len());
            self.buffer.advance(now);
            self.skip -= now;
            if self.skip > 0 {
                return Ok(None);
            }
        }
        let header = match self.header {
            Some(header) => header,
            None => match self.peek()? {
                Some(header) => header,
                None => return Ok(None),
            },
        };
        if header.len > self.limit {
            self.buffer.advance(HEADER_BYTES);
            self.skip = header.len;
            let error = FrameError::TooLarge { size: header.len, limit: self.limit };
            return Ok(Some(Incoming::TooLarge(header, error)));
        }
        if self.buffer.len() < HEADER_BYTES + header.len {
            self.header = Some(header);
            return Ok(None);
        }
        self.header = None;
        self.buffer.advance(HEADER_BYTES);
        Ok(Some(Incoming::Frame(header, self.buffer.split_to(header.len).freeze())))
    }

    /// Whether the stream may end here: not in the middle of a frame.
    pub(crate) fn is_between_frames(&self) -> bool {
        self.buffer.is_empty() && self.skip == 0
    }

    /// The header at the front. Wrong bytes are found at once, not when 16 have come.
    fn peek(&self) -> Result<Option<Header>, FrameError> {
        match self.buffer.first_chunk::<HEADER_BYTES>() {
            Some(bytes) => Header::decode(bytes).map(Some),
            None => match (self.buffer.first().copied(), self.buffer.get(1).copied()) {
                (Some(first), second) if [first, second.unwrap_or(MAGIC[1])] != MAGIC => {
                    Err(FrameError::Magic([first, second.unwrap_or_default()]))
                }
                _ => Ok(None),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dubbo::frame::status;

    fn frame(id: u64, body: &[u8]) -> Vec<u8> {
        let mut bytes = Header::response(id, status::OK, body.len()).encode().to_vec();
        bytes.extend_from_slice(body);
        bytes
    }

    fn all(frames: &mut Frames) -> Vec<(u64, usize)> {
        std::iter::from_fn(|| frames.next().unwrap())
            .map(|incoming| match incoming {
                Incoming::Frame(header, body) => {
                    assert_eq!(header.len, body.len());
                    (header.id, body.len())
                }
                Incoming::TooLarge(header, _) => (header.id, usize::MAX),
            })
            .collect()
    }

    #[test]
    fn frames_split_at_every_byte_come_whole() {
        let bytes = [frame(1, b"abc"), frame(2, b""), frame(3, &[7; 300])].concat();
        for cut in 0..=bytes.len() {
            let mut frames = Frames::new(1000);
            let mut seen = Vec::new();
            for part in [&bytes[..cut], &bytes[cut..]] {
                frames.push(part);
                seen.extend(all(&mut frames));
            }
            assert_eq!(seen, [(1, 3), (2, 0), (3, 300)], "cut at {cut}");
            assert!(frames.is_between_frames());
        }
        let mut frames = Frames::new(1000);
        let mut seen = Vec::new();
        for byte in &bytes {
            frames.push(&[*byte]);
            seen.extend(all(&mut frames));
        }
        assert_eq!(seen, [(1, 3), (2, 0), (3, 300)]);
    }

    #[test]
    fn case_167_a_body_over_the_limit_is_skipped_in_no_memory() {
        let mut frames = Frames::new(100);
        frames.push(&Header::response(7, status::OK, 9 * 1024 * 1024).encode());
        let error = FrameError::TooLarge { size: 9 * 1024 * 1024, limit: 100 };
        assert!(
            matches!(frames.next(), Ok(Some(Incoming::TooLarge(h, e))) if h.id == 7 && e == error)
        );
        for _ in 0..9 * 1024 {
            assert_eq!(frames.next(), Ok(None));
            assert!(!frames.is_between_frames());
            frames.push(&[0xDA; 1024]);
            assert!(frames.buffer.len() <= 1024);
        }
        frames.push(&frame(8, b"x"));
        assert_eq!(all(&mut frames), [(8, 1)]);
        assert!(frames.buffer.capacity() < 64 * 1024);
    }

    #[tokio::test]
    async fn case_168_nothing_is_allocated_for_what_was_only_announced() {
        let limit = 0x7FFF_FFFF;
        let mut frames = Frames::new(limit);
        let head = Header::request(1, true, limit).encode();
        let mut stream = &head[..];
        assert_eq!(frames.read(&mut stream).await.unwrap(), HEADER_BYTES);
        assert_eq!(frames.next(), Ok(None));
        assert_eq!(frames.read(&mut stream).await.unwrap(), 0);
        assert!(frames.buffer.capacity() <= 2 * ROOM, "{}", frames.buffer.capacity());
    }

    #[test]
    fn garbage_is_found_at_its_first_byte() {
        for (bytes, magic) in
            [(&b"G"[..], *b"G\0"), (b"GET / HTTP/1.1\r\n", *b"GE"), (&[0xDA, 0x00], [0xDA, 0x00])]
        {
            let mut frames = Frames::new(100);
            frames.push(bytes);
            assert_eq!(frames.next(), Err(FrameError::Magic(magic)));
        }
        let mut frames = Frames::new(100);
        frames.push(&[0xDA]);
        assert_eq!(frames.next(), Ok(None));
    }

    #[test]
    fn bodies_are_slices_of_what_was_read() {
        let mut frames = Frames::new(100);
        frames.push(&[frame(1, b"abc"), frame(2, b"def")].concat());
        let range = frames.buffer.as_ptr_range();
        for _ in 0..2 {
            let Some(Incoming::Frame(_, body)) = frames.next().unwrap() else { panic!("a frame") };
            assert!(range.contains(&body.as_ptr()));
        }
    }

    proptest! {
        #[test]
        fn any_frames_survive_any_cuts(
            bodies in prop::collection::vec(0_usize..200, 0..20),
            cuts in prop::collection::vec(1_usize..100, 1..50),
        ) {
            let bytes: Vec<u8> =
                bodies.iter().enumerate().flat_map(|(i, n)| frame(i as u64, &vec![1; *n])).collect();
            let (mut frames, mut seen, mut rest) = (Frames::new(150), Vec::new(), &bytes[..]);
            for cut in cuts.iter().cycle() {
                let (now, later) = rest.split_at((*cut).min(rest.len()));
                frames.push(now);
                seen.extend(all(&mut frames));
                rest = later;
                if rest.is_empty() {
                    break;
                }
            }
            let size = |n: usize| if n > 150 { usize::MAX } else { n };
            let expected: Vec<_> =
                bodies.iter().enumerate().map(|(i, n)| (i as u64, size(*n))).collect();
            prop_assert_eq!(seen, expected);
            prop_assert!(frames.is_between_frames());
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut frames = Frames::new(50);
            frames.push(&bytes);
            while let Ok(Some(_)) = frames.next() {}
        }
    }
}
