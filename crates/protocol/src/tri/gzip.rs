//! Compression of messages (`grpc-encoding: gzip`): what headers say of it, packing and unpacking.
//! A message is unpacked up to the limit of messages and no further, whatever it claims.
//!
//! # References
//!
//! *gRPC Compression*; RFC 1952.

use std::io::{Read, Write};

use bytes::Bytes;
use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use http::{HeaderMap, HeaderValue};

use crate::tri::frame::FrameError;
use crate::tri::headers::{GRPC_ACCEPT_ENCODING, GRPC_ENCODING};

/// The one encoding that is spoken, besides none.
pub(crate) const GZIP: HeaderValue = HeaderValue::from_static("gzip");

/// How the messages behind these headers may be packed: whether with gzip. An error is an encoding
/// that nobody here can read.
pub(crate) fn announced(headers: &HeaderMap) -> Result<bool, String> {
    match headers.get(GRPC_ENCODING).map(HeaderValue::as_bytes) {
        None | Some(b"identity") => Ok(false),
        Some(b"gzip") => Ok(true),
        Some(other) => {
            let shown = other.get(..40).unwrap_or(other);
            let name = String::from_utf8_lossy(shown);
            Err(format!("the encoding {name:?} is not supported; supported are gzip, identity"))
        }
    }
}

/// Whether the sender of these headers reads gzip.
pub(crate) fn accepted(headers: &HeaderMap) -> bool {
    let names = headers.get_all(GRPC_ACCEPT_ENCODING).into_iter();
    let mut names = names.filter_map(|value| value.to_str().ok()).flat_map(|v| v.split(','));
    names.any(|name| name.trim() == "gzip")
}

/// The message, packed.
pub(crate) fn pack(message: &[u8]) -> Bytes {
    let mut packed = GzEncoder::new(Vec::with_capacity(message.len() / 2), Compression::fast());
    // Writing to memory does not fail.
    let _ = packed.write_all(message);
    packed.finish().unwrap_or_default().into()
}

/// The message, unpacked, if it is not over `limit` bytes then. Never holds more than that.
pub(crate) fn unpack(packed: &[u8], limit: usize) -> Result<Bytes, FrameError> {
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let mut message = Vec::new();
    let mut source = GzDecoder::new(packed).take(most);
    source.read_to_end(&mut message).map_err(|_| FrameError::Garbled)?;
    if message.len() > limit {
        return Err(FrameError::Unpacked { limit });
    }
    // One message, and nothing behind it.
    if source.into_inner().into_inner().is_empty() {
        Ok(message.into())
    } else {
        Err(FrameError::Garbled)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_bomb_is_refused_at_the_limit() {
        let bomb = pack(&vec![0; 16 * 1024 * 1024]);
        assert!(bomb.len() < 200 * 1024, "{}", bomb.len());
        assert_eq!(unpack(&bomb, 1024), Err(FrameError::Unpacked { limit: 1024 }));
        assert_eq!(unpack(&pack(&[7; 1024]), 1024).unwrap(), vec![7; 1024]);
    }

    #[test]
    fn what_is_no_whole_gzip_is_refused() {
        let packed = pack(b"hello");
        for broken in
            [&b""[..], b"hello", &packed[..packed.len() - 1], &[&packed[..], b"x"].concat()]
        {
            assert_eq!(unpack(broken, 100), Err(FrameError::Garbled), "{broken:?}");
        }
    }

    #[test]
    fn headers_say_what_is_spoken() {
        let mut headers = HeaderMap::new();
        assert_eq!((announced(&headers), accepted(&headers)), (Ok(false), false));
        headers.insert(GRPC_ENCODING, GZIP);
        headers.insert(GRPC_ACCEPT_ENCODING, HeaderValue::from_static("identity, gzip,snappy"));
        assert_eq!((announced(&headers), accepted(&headers)), (Ok(true), true));
        headers.insert(GRPC_ENCODING, HeaderValue::from_static("snappy"));
        headers.insert(GRPC_ACCEPT_ENCODING, HeaderValue::from_static("xgzip"));
        assert!(announced(&headers).unwrap_err().contains("supported are gzip, identity"));
        assert!(!accepted(&headers));
    }

    proptest! {
        #[test]
        fn messages_survive(message in prop::collection::vec(any::<u8>(), 0..2000)) {
            prop_assert_eq!(unpack(&pack(&message), 2000).unwrap(), message);
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = unpack(&bytes, 64);
        }
    }
}
