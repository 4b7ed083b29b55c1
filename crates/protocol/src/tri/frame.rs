//! gRPC message frames: one flag byte, four bytes of length (big-endian), the message.
//!
//! [`Framed`] writes a message without copying it; [`Deframer`] cuts messages out of the chunks
//! that arrive and copies only those that came in more than one. Knows no socket and no headers.

use std::io::IoSlice;

use bytes::{Buf, Bytes, BytesMut};

use crate::tri::gzip;

/// Length of the flag and the length field.
const PREFIX: usize = 5;

/// How much is set aside for a message whose length is announced but which has not arrived yet;
/// the rest grows with what really comes.
const FIRST_PIECE: usize = 256 * 1024;

/// A message on its way out, with or without its prefix.
#[derive(Debug)]
pub(crate) struct Framed {
    prefix: [u8; PREFIX],
    /// How much of the prefix is written.
    at: usize,
    body: Bytes,
}

impl Framed {
    /// A gRPC message. `None` when it is too long for the length field.
    pub(crate) fn message(body: Bytes) -> Option<Self> {
        let len = u32::try_from(body.len()).ok()?.to_be_bytes();
        Some(Self { prefix: [0, len[0], len[1], len[2], len[3]], at: 0, body })
    }

    /// A gRPC message, packed with gzip; see [`message`](Self::message).
    pub(crate) fn packed(body: &[u8]) -> Option<Self> {
        let mut framed = Self::message(gzip::pack(body))?;
        framed.prefix[0] = 1;
        Some(framed)
    }

    /// A body that is not framed (JSON).
    pub(crate) fn bare(body: Bytes) -> Self {
        Self { prefix: [0; PREFIX], at: PREFIX, body }
    }

    fn prefix(&self) -> &[u8] {
        self.prefix.get(self.at..).unwrap_or_default()
    }
}

impl Buf for Framed {
    fn remaining(&self) -> usize {
        self.prefix().len() + self.body.len()
    }

    fn chunk(&self) -> &[u8] {
        if self.at < PREFIX { self.prefix() } else { &self.body }
    }

    fn advance(&mut self, count: usize) {
        let of_prefix = count.min(self.prefix().len());
        self.at += of_prefix;
        self.body.advance(count - of_prefix);
    }

    // Both parts at once, so that they leave in one write.
    fn chunks_vectored<'a>(&'a self, into: &mut [IoSlice<'a>]) -> usize {
        let parts = [self.prefix(), &self.body];
        let mut filled = 0;
        for (slot, part) in into.iter_mut().zip(parts.into_iter().filter(|p| !p.is_empty())) {
            *slot = IoSlice::new(part);
            filled += 1;
        }
        filled
    }
}

/// Why bytes are not a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum FrameError {
    /// Longer than is allowed.
    #[error("a message of {size} bytes is over the limit of {limit} (option max_message_bytes)")]
    TooLarge {
        /// Announced length in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The compressed flag is set; no compression was agreed on.
    #[error("the message is compressed, and no compression was agreed on")]
    Compressed,
    /// Over the limit once it is unpacked.
    #[error("a compressed message is over the limit of {limit} bytes (option max_message_bytes)")]
    Unpacked {
        /// The limit in bytes.
        limit: usize,
    },
    /// Compressed, and no gzip.
    #[error("a compressed message cannot be unpacked")]
    Garbled,
    /// The flag byte is neither 0 nor 1.
    #[error("the flag byte of a message is {0}, neither 0 nor 1")]
    Flag(u8),
}

/// Cuts messages out of arriving chunks.
#[derive(Debug)]
pub(crate) struct Deframer {
    limit: usize,
    /// Whether messages may be packed with gzip.
    gzip: bool,
    /// What has arrived, while it is one chunk as received.
    whole: Bytes,
    /// What has arrived, once a message spans chunks.
    pieces: BytesMut,
}

impl Deframer {
    /// Refuses messages over `limit` bytes before anything is set aside for them.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, gzip: false, whole: Bytes::new(), pieces: BytesMut::new() }
    }

    /// Takes messages packed with gzip, too. The limit holds for both sizes.
    pub(crate) fn gzip(mut self, agreed: bool) -> Self {
        self.gzip = agreed;
        self
    }

    /// Takes in one chunk. Call [`next`](Self::next) until it has nothing more before the next one.
    pub(crate) fn push(&mut self, chunk: Bytes) {
        if !self.pieces.is_empty() {
            self.pieces.extend_from_slice(&chunk);
        } else if self.whole.is_empty() {
            self.whole = chunk;
        } else {
            let expected = self.announced().map_or(0, |(_, len)| len.saturating_add(PREFIX));
            let room = expected.min(FIRST_PIECE).max(self.whole.len() + chunk.len());
            self.pieces.reserve(room);
            self.pieces.extend_from_slice(&self.whole);
            self.pieces.extend_from_slice(&chunk);
            self.whole = Bytes::new();
        }
    }

    /// The next message, or `None` while it is not complete.
    pub(crate) fn next(&mut self) -> Result<Option<Bytes>, FrameError> {
        let Some((flag, size)) = self.announced() else { return Ok(None) };
        match flag {
            0 => {}
            1 if self.gzip => {}
            1 => return Err(FrameError::Compressed),
            other => return Err(FrameError::Flag(other)),
        }
        if size > self.limit {
            return Err(FrameError::TooLarge { size, limit: self.limit });
        }
        if self.held().len() - PREFIX < size {
            return Ok(None);
        }
        let mut message = if self.pieces.is_empty() {
            self.whole.split_to(PREFIX + size)
        } else {
            self.pieces.split_to(PREFIX + size).freeze()
        };
        message.advance(PREFIX);
        if flag == 1 { gzip::unpack(&message, self.limit).map(Some) } else { Ok(Some(message)) }
    }

    /// Whether bytes are left that are no whole message.
    pub(crate) fn is_empty(&self) -> bool {
        self.held().is_empty()
    }

    fn held(&self) -> &[u8] {
        if self.pieces.is_empty() { &self.whole } else { &self.pieces }
    }

    /// Flag and length of the message that comes next.
    fn announced(&self) -> Option<(u8, usize)> {
        let [flag, a, b, c, d] = *self.held().first_chunk::<PREFIX>()?;
        Some((flag, usize::try_from(u32::from_be_bytes([a, b, c, d])).unwrap_or(usize::MAX)))
    }
}

/// Collects a body that is not framed, up to a limit; copies only what comes in several chunks.
#[derive(Debug)]
pub(crate) struct Document {
    limit: usize,
    whole: Bytes,
    pieces: BytesMut,
}

impl Document {
    /// Refuses documents over `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, whole: Bytes::new(), pieces: BytesMut::new() }
    }

    /// Takes in one chunk.
    pub(crate) fn push(&mut self, chunk: Bytes) -> Result<(), FrameError> {
        let size = self.whole.len() + self.pieces.len() + chunk.len();
        if size > self.limit {
            return Err(FrameError::TooLarge { size, limit: self.limit });
        }
        if self.whole.is_empty() && self.pieces.is_empty() {
            self.whole = chunk;
        } else {
            self.pieces.extend_from_slice(&std::mem::take(&mut self.whole));
            self.pieces.extend_from_slice(&chunk);
        }
        Ok(())
    }

    /// All of it.
    pub(crate) fn finish(self) -> Bytes {
        if self.pieces.is_empty() { self.whole } else { self.pieces.freeze() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn framed(body: &'static [u8]) -> Bytes {
        let mut message = Framed::message(Bytes::from_static(body)).unwrap();
        message.copy_to_bytes(message.remaining())
    }

    #[test]
    fn a_message_is_flag_length_body() {
        assert_eq!(&framed(b"abc")[..], b"\0\0\0\0\x03abc");
        assert_eq!(&framed(b"")[..], b"\0\0\0\0\0");
    }

    #[test]
    fn prefix_and_body_leave_in_one_write() {
        let mut message = Framed::message(Bytes::from_static(b"abc")).unwrap();
        let mut parts = [IoSlice::new(&[]); 4];
        assert_eq!(message.chunks_vectored(&mut parts), 2);
        message.advance(2);
        assert_eq!((message.remaining(), message.chunk()), (6, &b"\0\0\x03"[..]));
        message.advance(4);
        assert_eq!(message.chunk(), b"bc");
    }

    #[test]
    fn a_message_in_one_chunk_is_not_copied() {
        let chunk = framed(b"hello");
        let body = chunk.as_ptr().wrapping_add(PREFIX);
        let mut deframer = Deframer::new(5);
        deframer.push(chunk);
        let message = deframer.next().unwrap().unwrap();
        assert_eq!((&message[..], message.as_ptr()), (&b"hello"[..], body));
        assert!(deframer.is_empty());
    }

    #[test]
    fn a_message_over_the_limit_is_refused_by_its_header() {
        let mut deframer = Deframer::new(8);
        deframer.push(Bytes::from_static(&[0, 0x7f, 0xff, 0xff, 0xff]));
        let refused = FrameError::TooLarge { size: 0x7fff_ffff, limit: 8 };
        assert_eq!(deframer.next(), Err(refused));
        assert!(refused.to_string().contains("2147483647"), "{refused}");
    }

    #[test]
    fn announced_length_alone_sets_little_aside() {
        let mut deframer = Deframer::new(usize::MAX);
        deframer.push(Bytes::from_static(&[0, 0x7f, 0xff, 0xff, 0xff]));
        assert_eq!(deframer.next(), Ok(None));
        deframer.push(Bytes::from_static(b"x"));
        assert_eq!(deframer.next(), Ok(None));
        assert!(deframer.pieces.capacity() < 4 * FIRST_PIECE);
    }

    #[test]
    fn flags_are_checked() {
        for (flag, error) in [(1, FrameError::Compressed), (7, FrameError::Flag(7))] {
            let mut deframer = Deframer::new(8);
            deframer.push(Bytes::copy_from_slice(&[flag, 0, 0, 0, 0]));
            assert_eq!(deframer.next(), Err(error));
        }
    }

    proptest! {
        #[test]
        fn messages_survive_any_cutting(
            bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..6),
            cuts in prop::collection::vec(1usize..200, 1..40),
        ) {
            let mut wire = BytesMut::new();
            for body in &bodies {
                let framed = Framed::message(Bytes::from(body.clone())).unwrap();
                wire.extend_from_slice(&{ framed }.copy_to_bytes(PREFIX + body.len()));
            }
            let (mut wire, mut cuts) = (wire.freeze(), cuts.into_iter().cycle());
            let (mut deframer, mut seen) = (Deframer::new(300), Vec::new());
            while !wire.is_empty() {
                deframer.push(wire.split_to(cuts.next().unwrap().min(wire.len())));
                while let Some(message) = deframer.next().unwrap() {
                    seen.push(message.to_vec());
                }
            }
            prop_assert_eq!(seen, bodies);
            prop_assert!(deframer.is_empty());
        }

        #[test]
        fn arbitrary_bytes_never_panic(chunks in prop::collection::vec(
            prop::collection::vec(any::<u8>(), 0..40), 0..20,
        )) {
            let mut deframer = Deframer::new(64);
            for chunk in chunks {
                deframer.push(Bytes::from(chunk));
                while let Ok(Some(message)) = deframer.next() {
                    prop_assert!(message.len() <= 64);
                }
            }
        }
    }
}
