//! The header of a `dubbo` frame: 16 bytes, checked. Frames are cut out of a stream of bytes by
//! [`incoming`](super::incoming) and queued for the socket by [`outgoing`](super::outgoing).
//!
//! ```text
//!  0      2       3        4            12            16
//!  │ DABB │ flags │ status │ id (64 bit) │ body length │ body …
//! ```

/// Bytes of a header.
pub(crate) const HEADER_BYTES: usize = 16;

/// What every frame begins with.
pub(crate) const MAGIC: [u8; 2] = [0xDA, 0xBB];

/// The only serialization that is spoken here.
pub(crate) const HESSIAN2: u8 = 2;

const REQUEST: u8 = 0x80;
const TWO_WAY: u8 = 0x40;
const EVENT: u8 = 0x20;
const SERIALIZATION: u8 = 0x1F;

/// Statuses of a response.
pub(crate) mod status {
    /// The body is a result.
    pub(crate) const OK: u8 = 20;
    /// The provider could not write the response, or it was too large.
    pub(crate) const SERIALIZATION_ERROR: u8 = 25;
    /// Made by a consumer for itself.
    pub(crate) const CLIENT_TIMEOUT: u8 = 30;
    /// The provider gave up.
    pub(crate) const SERVER_TIMEOUT: u8 = 31;
    /// Made by a consumer for itself when the connection is lost.
    pub(crate) const CHANNEL_INACTIVE: u8 = 35;
    /// The request could not be read; also an unknown service, version, method or descriptor.
    pub(crate) const BAD_REQUEST: u8 = 40;
    /// The response could not be read.
    pub(crate) const BAD_RESPONSE: u8 = 50;
    /// No such service.
    pub(crate) const SERVICE_NOT_FOUND: u8 = 60;
    /// An exception outside the business method.
    pub(crate) const SERVICE_ERROR: u8 = 70;
    /// Something is broken in the provider.
    pub(crate) const SERVER_ERROR: u8 = 80;
    /// Made by a consumer for itself.
    pub(crate) const CLIENT_ERROR: u8 = 90;
    /// The provider had nobody to run the call, so it did not run.
    pub(crate) const THREADPOOL_EXHAUSTED: u8 = 100;

    /// Dubbo's name of a status.
    pub(crate) fn name(status: u8) -> &'static str {
        match status {
            OK => "OK",
            SERIALIZATION_ERROR => "SERIALIZATION_ERROR",
            CLIENT_TIMEOUT => "CLIENT_TIMEOUT",
            SERVER_TIMEOUT => "SERVER_TIMEOUT",
            CHANNEL_INACTIVE => "CHANNEL_INACTIVE",
            BAD_REQUEST => "BAD_REQUEST",
            BAD_RESPONSE => "BAD_RESPONSE",
            SERVICE_NOT_FOUND => "SERVICE_NOT_FOUND",
            SERVICE_ERROR => "SERVICE_ERROR",
            SERVER_ERROR => "SERVER_ERROR",
            CLIENT_ERROR => "CLIENT_ERROR",
            THREADPOOL_EXHAUSTED => "SERVER_THREADPOOL_EXHAUSTED_ERROR",
            _ => "a status that Dubbo does not know",
        }
    }
}

/// What is wrong with a frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum FrameError {
    /// Nothing after these bytes can be understood.
    #[error("a frame begins with DABB, not {:02X}{:02X}", .0[0], .0[1])]
    Magic([u8; 2]),
    /// Nothing after this header can be understood.
    #[error("the length of a frame is negative: {0}")]
    Length(i32),
    /// The frame itself is whole; what is in it cannot be read.
    #[error(
        "the peer uses serialization {name} ({0}); only hessian2 is spoken here: \
         set prefer.serialization=hessian2 at the provider",
        name = serialization_name(*.0)
    )]
    Serialization(u8),
    /// The frame is over the limit.
    #[error("a body of {size} bytes is over the limit of {limit} bytes (payload)")]
    TooLarge {
        /// Bytes of the body.
        size: usize,
        /// Most bytes that are allowed.
        limit: usize,
    },
}

fn serialization_name(id: u8) -> &'static str {
    match id {
        HESSIAN2 => "hessian2",
        3 => "java",
        4 => "compactedjava",
        6 => "fastjson",
        7 => "nativejava",
        8 => "kryo",
        9 => "fst",
        10 => "native-hessian",
        11 => "avro",
        12 => "protostuff",
        16 => "gson",
        18 => "jackson",
        21 => "protobuf-json",
        22 => "protobuf",
        23 => "fastjson2",
        25 => "kryo2",
        27 => "msgpack",
        28 => "fury",
        _ => "unknown",
    }
}

/// A header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Header {
    /// A request, not a response.
    pub(crate) request: bool,
    /// An answer is wanted. Of requests only.
    pub(crate) two_way: bool,
    /// Not a call: see [`events`](super::events).
    pub(crate) event: bool,
    /// Which serialization the body is in.
    pub(crate) serialization: u8,
    /// One of [`status`]; of responses only.
    pub(crate) status: u8,
    /// Says which request a response belongs to. Opaque to the one who answers.
    pub(crate) id: u64,
    /// Bytes of the body. Not to be believed.
    pub(crate) len: usize,
}

impl Header {
    /// Of a call, with a body of `len` bytes.
    pub(crate) fn request(id: u64, two_way: bool, len: usize) -> Self {
        Self { request: true, two_way, event: false, serialization: HESSIAN2, status: 0, id, len }
    }

    /// Of an answer to the request `id`, with a body of `len` bytes.
    pub(crate) fn response(id: u64, status: u8, len: usize) -> Self {
        Self { request: false, two_way: false, status, ..Self::request(id, false, len) }
    }

    /// The same, of an event.
    pub(crate) fn event(self) -> Self {
        Self { event: true, ..self }
    }

    /// Its bytes. A body over 2 GiB, which no limit allows, is written as one of 2 GiB.
    pub(crate) fn encode(&self) -> [u8; HEADER_BYTES] {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let flags = flag(self.request, REQUEST)
            | flag(self.two_way, TWO_WAY)
            | flag(self.event, EVENT)
            | (self.serialization & SERIALIZATION);
        let len = i32::try_from(self.len).unwrap_or(i32::MAX).to_be_bytes();
        let [m0, m1] = MAGIC;
        let [i0, i1, i2, i3, i4, i5, i6, i7] = self.id.to_be_bytes();
        let [l0, l1, l2, l3] = len;
        [m0, m1, flags, self.status, i0, i1, i2, i3, i4, i5, i6, i7, l0, l1, l2, l3]
    }

    /// Reads a header. The length is checked for its sign only; limits are the reader's matter.
    ///
    /// # Errors
    /// Another magic, a negative length.
    pub(crate) fn decode(bytes: &[u8; HEADER_BYTES]) -> Result<Self, FrameError> {
        let [m0, m1, flags, status, i0, i1, i2, i3, i4, i5, i6, i7, l0, l1, l2, l3] = *bytes;
        if [m0, m1] != MAGIC {
            return Err(FrameError::Magic([m0, m1]));
        }
        let len = i32::from_be_bytes([l0, l1, l2, l3]);
        Ok(Self {
            request: flags & REQUEST != 0,
            two_way: flags & TWO_WAY != 0,
            event: flags & EVENT != 0,
            serialization: flags & SERIALIZATION,
            status,
            id: u64::from_be_bytes([i0, i1, i2, i3, i4, i5, i6, i7]),
            len: usize::try_from(len).map_err(|_| FrameError::Length(len))?,
        })
    }

    /// Whether the body can be read.
    ///
    /// # Errors
    /// A serialization other than hessian2.
    pub(crate) fn check_serialization(&self) -> Result<(), FrameError> {
        match self.serialization {
            HESSIAN2 => Ok(()),
            other => Err(FrameError::Serialization(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_known_beginnings_of_frames() {
        let call = Header::request(1, true, 0xC5);
        for (header, start) in [
            (call, [0xDA, 0xBB, 0xC2, 0x00]),
            (Header::request(1, false, 0), [0xDA, 0xBB, 0x82, 0x00]),
            (Header::response(1, status::OK, 0), [0xDA, 0xBB, 0x02, 0x14]),
            (Header::request(1, true, 1).event(), [0xDA, 0xBB, 0xE2, 0x00]),
            (Header::response(1, status::OK, 1).event(), [0xDA, 0xBB, 0x22, 0x14]),
            (Header::request(1, false, 2).event(), [0xDA, 0xBB, 0xA2, 0x00]),
        ] {
            assert_eq!(header.encode()[..4], start);
        }
        assert_eq!(call.encode()[4..], [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0xC5]);
    }

    #[test]
    fn case_168_a_negative_length_is_refused_and_a_huge_one_is_only_a_number() {
        let header = |len: u32| {
            let mut bytes = [0xFF; HEADER_BYTES];
            bytes[..4].copy_from_slice(&[0xDA, 0xBB, 0xC2, 0x00]);
            bytes[12..].copy_from_slice(&len.to_be_bytes());
            Header::decode(&bytes)
        };
        assert_eq!(header(0xFFFF_FFFF), Err(FrameError::Length(-1)));
        assert_eq!(header(0x8000_0000), Err(FrameError::Length(i32::MIN)));
        assert_eq!(header(0x7FFF_FFFF).unwrap().len, 0x7FFF_FFFF);
        assert_eq!(header(0).unwrap().id, u64::MAX);
    }

    #[test]
    fn what_cannot_be_understood_is_named() {
        let mut bytes = Header::request(1, true, 0).encode();
        bytes[1] = 0xBC;
        let error = Header::decode(&bytes).unwrap_err();
        assert_eq!(error.to_string(), "a frame begins with DABB, not DABC");
        bytes[1] = 0xBB;
        bytes[2] = 0x80 | 23;
        let error = Header::decode(&bytes).unwrap().check_serialization().unwrap_err();
        let text = error.to_string();
        assert!(text.contains("fastjson2 (23)"), "{text}");
        assert!(text.contains("prefer.serialization=hessian2"), "{text}");
    }

    proptest! {
        #[test]
        fn headers_come_back(
            (request, two_way, event) in any::<(bool, bool, bool)>(),
            (serialization, status, id) in (0_u8..32, any::<u8>(), any::<u64>()),
            len in 0_usize..=0x7FFF_FFFF,
        ) {
            let header = Header { request, two_way, event, serialization, status, id, len };
            prop_assert_eq!(Header::decode(&header.encode()), Ok(header));
        }
    }
}
