//! Attachments as headers, and which headers are not attachments.
//!
//! A text value travels as it is under the lower-cased key; bytes travel as base64 without padding
//! under `key-bin`. HTTP/2 knows no capitals in names, so when a key has some, `tri-header-convert`
//! carries the original spelling (percent-encoded JSON, lower-case key to original key), as Dubbo's
//! Java peers do.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use equipoise_core::attachments::{AttachmentValue, Attachments};
use http::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode, utf8_percent_encode};

pub(crate) const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");
pub(crate) const GRPC_MESSAGE: HeaderName = HeaderName::from_static("grpc-message");
pub(crate) const GRPC_TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");
pub(crate) const GRPC_ENCODING: HeaderName = HeaderName::from_static("grpc-encoding");
pub(crate) const GRPC_ACCEPT_ENCODING: HeaderName = HeaderName::from_static("grpc-accept-encoding");
pub(crate) const SERVICE_VERSION: HeaderName = HeaderName::from_static("tri-service-version");
pub(crate) const SERVICE_GROUP: HeaderName = HeaderName::from_static("tri-service-group");
pub(crate) const SERVICE_TIMEOUT: HeaderName = HeaderName::from_static("tri-service-timeout");
pub(crate) const CONSUMER_APPLICATION: HeaderName = HeaderName::from_static("tri-consumer-appname");
pub(crate) const EXCEPTION_CODE: HeaderName = HeaderName::from_static("tri-exception-code");
const HEADER_CONVERT: HeaderName = HeaderName::from_static("tri-header-convert");

/// Details of a status; a header of gRPC that callers want to see, so it is an attachment, and the
/// only binary one that keeps its `-bin` in the key.
const STATUS_DETAILS: &str = "grpc-status-details-bin";

/// Both forms of padding are read, none is written.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// An attachment that cannot travel.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("attachment {key:?}: {reason}")]
pub(crate) struct BadAttachment {
    key: String,
    reason: &'static str,
}

/// Adds attachments to `headers`. Keys that belong to the protocol are left out.
pub(crate) fn write(
    attachments: &Attachments,
    headers: &mut HeaderMap,
) -> Result<(), BadAttachment> {
    let mut spelling = serde_json::Map::new();
    for (key, value) in attachments.iter() {
        let bad = |reason| BadAttachment { key: key.to_owned(), reason };
        let name = HeaderName::from_bytes(key.as_bytes())
            .map_err(|_| bad("the key is empty or has a character that no header name has"))?;
        if is_reserved(name.as_str()) {
            continue;
        }
        if name.as_str() != key {
            spelling.insert(name.as_str().to_owned(), key.into());
        }
        let (name, value) = match value {
            AttachmentValue::Text(_) if name.as_str().ends_with("-bin") => {
                return Err(bad("a key that ends in -bin holds bytes, not text"));
            }
            AttachmentValue::Text(text) => (name, text_value(text).ok_or_else(|| bad(TEXT))?),
            AttachmentValue::Binary(bytes) => {
                (binary_name(name).ok_or_else(|| bad("the key is too long"))?, binary_value(bytes))
            }
        };
        headers.insert(name, value);
    }
    if !spelling.is_empty() {
        let json = serde_json::Value::Object(spelling).to_string();
        let value = utf8_percent_encode(&json, NON_ALPHANUMERIC).to_string();
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(HEADER_CONVERT, value);
        }
    }
    Ok(())
}

const TEXT: &str = "text must be printable ASCII; send other text as a binary attachment";

fn text_value(text: &str) -> Option<HeaderValue> {
    // Peers treat everything outside this range differently, so it is refused and not guessed.
    let printable = text.bytes().all(|b| (b' '..=b'~').contains(&b));
    printable.then(|| HeaderValue::from_str(text).ok()).flatten()
}

fn binary_name(name: HeaderName) -> Option<HeaderName> {
    if name.as_str().ends_with("-bin") {
        return Some(name);
    }
    HeaderName::try_from(format!("{name}-bin")).ok()
}

fn binary_value(bytes: &Bytes) -> HeaderValue {
    // The base64 alphabet is always a valid header value.
    HeaderValue::try_from(BASE64.encode(bytes)).unwrap_or_else(|_| HeaderValue::from_static(""))
}

/// Adds every header that is an attachment to `into`, under its original spelling.
pub(crate) fn read(headers: &HeaderMap, into: &mut Attachments) {
    let spelling = headers.get(HEADER_CONVERT).map(|value| parse_convert(value.as_bytes()));
    for (name, value) in headers {
        let name = name.as_str();
        if is_reserved(name) {
            continue;
        }
        let (key, value) = read_one(name, value.as_bytes());
        let original = spelling.as_ref().and_then(|map| map.get(key)).and_then(|v| v.as_str());
        // The spelling may differ in case only: a peer must not smuggle in another key.
        let key = original.filter(|o| o.eq_ignore_ascii_case(key)).unwrap_or(key);
        into.put(key.to_owned(), value);
    }
}

fn read_one<'a>(name: &'a str, value: &[u8]) -> (&'a str, AttachmentValue) {
    if let Some(key) = name.strip_suffix("-bin").filter(|key| !key.is_empty())
        && let Ok(bytes) = BASE64.decode(value)
    {
        let key = if name == STATUS_DETAILS { name } else { key };
        return (key, AttachmentValue::Binary(bytes.into()));
    }
    (name, AttachmentValue::Text(text(value)))
}

/// Text that should be ASCII. Some write UTF-8, and Dubbo's Java peers Latin-1.
pub(crate) fn text(value: &[u8]) -> String {
    match std::str::from_utf8(value) {
        Ok(text) => text.to_owned(),
        Err(_) => value.iter().copied().map(char::from).collect(),
    }
}

/// Reads `tri-header-convert`; what is no JSON object says nothing.
fn parse_convert(value: &[u8]) -> serde_json::Map<String, serde_json::Value> {
    let json: Vec<u8> = percent_decode(value).collect();
    serde_json::from_slice(&json).unwrap_or_default()
}

/// Whether a header (lower case) belongs to HTTP, gRPC or Triple and not to the user.
pub(crate) fn is_reserved(name: &str) -> bool {
    match name.as_bytes().first() {
        Some(b'g') => name == "group" || (name.starts_with("grpc-") && name != STATUS_DETAILS),
        Some(b't') => matches!(
            name,
            "te" | "trailer"
                | "transfer-encoding"
                | "tri-service-version"
                | "tri-service-group"
                | "tri-service-timeout"
                | "tri-consumer-appname"
                | "tri-exception-code"
                | "tri-header-convert"
        ),
        _ => {
            matches!(
                name,
                "accept"
                    | "accept-charset"
                    | "accept-encoding"
                    | "accept-language"
                    | "accept-ranges"
                    | "allow"
                    | "alt-svc"
                    | "application"
                    | "connection"
                    | "content-encoding"
                    | "content-length"
                    | "content-type"
                    | "date"
                    | "expect"
                    | "host"
                    | "http2-settings"
                    | "interface"
                    | "keep-alive"
                    | "path"
                    | "proxy-connection"
                    | "remote.application"
                    | "serialization"
                    | "server"
                    | "upgrade"
                    | "user-agent"
            ) || name.starts_with(':')
                || name.starts_with("rest-service-")
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wire(attachments: &Attachments) -> HeaderMap {
        let mut headers = HeaderMap::new();
        write(attachments, &mut headers).unwrap();
        headers
    }

    fn back(headers: &HeaderMap) -> Attachments {
        let mut attachments = Attachments::new();
        read(headers, &mut attachments);
        attachments
    }

    // Bytes as captured from Dubbo Java 3.3.
    #[test]
    fn attachments_travel_as_java_writes_them() {
        let mut attachments = Attachments::new();
        attachments.set("My-Key", "Val1");
        attachments.set_binary("bin", &[1u8, 2, 3][..]);
        let headers = wire(&attachments);
        assert_eq!(headers["my-key"], "Val1");
        assert_eq!(headers["bin-bin"], "AQID");
        assert_eq!(
            parse_convert(headers[HEADER_CONVERT].as_bytes()),
            parse_convert(b"%7B%22my-key%22%3A%22My-Key%22%7D"),
        );
        assert_eq!(back(&headers), attachments);
    }

    #[test]
    fn binary_values_are_read_with_and_without_padding() {
        for value in ["AQ==", "AQ"] {
            let headers = HeaderMap::from_iter([(
                HeaderName::from_static("x-bin"),
                HeaderValue::from_static(value),
            )]);
            assert_eq!(
                back(&headers).value("x"),
                Some(&AttachmentValue::Binary(Bytes::from_static(&[1])))
            );
        }
        let broken = HeaderMap::from_iter([(
            HeaderName::from_static("x-bin"),
            HeaderValue::from_static("*$"),
        )]);
        assert_eq!(back(&broken).text("x-bin"), Some("*$"));
    }

    #[test]
    fn capitals_of_binary_keys_survive_and_status_details_keep_their_name() {
        let mut attachments = Attachments::new();
        attachments.set_binary("TraceId", &[0xffu8][..]);
        attachments.set_binary(STATUS_DETAILS, &[9u8][..]);
        let headers = wire(&attachments);
        assert!(headers.contains_key("traceid-bin") && headers.contains_key(STATUS_DETAILS));
        assert_eq!(back(&headers), attachments);
    }

    #[test]
    fn keys_of_the_protocol_are_neither_written_nor_read() {
        let reserved = [
            "te",
            "Content-Type",
            "grpc-status",
            "GRPC-Timeout",
            "tri-service-group",
            "group",
            "interface",
            "path",
            "application",
            "remote.application",
            "serialization",
            "host",
            "rest-service-version",
            "connection",
            "transfer-encoding",
            "tri-header-convert",
        ];
        let attachments: Attachments = reserved.into_iter().map(|key| (key, "x")).collect();
        assert!(wire(&attachments).is_empty());
        let headers: HeaderMap = reserved
            .into_iter()
            .map(|k| (HeaderName::try_from(k).unwrap(), HeaderValue::from_static("x")))
            .collect();
        assert!(back(&headers).is_empty());
        let kept: Attachments =
            [("timeout", "5"), ("version", "1"), ("tri-req-id", "7")].into_iter().collect();
        assert_eq!(back(&wire(&kept)).len(), 3);
    }

    #[test]
    fn what_cannot_travel_is_named() {
        for (key, value) in [("a b", "x"), ("", "x"), ("é", "x"), (":path", "x"), ("k-bin", "x")] {
            let attachments: Attachments = [(key, value)].into_iter().collect();
            let error = write(&attachments, &mut HeaderMap::new()).unwrap_err();
            assert!(error.to_string().contains(&format!("{key:?}")), "{error}");
        }
        for value in ["a\nb", "\0", "名", "\u{7f}"] {
            let attachments: Attachments = [("k", value)].into_iter().collect();
            let error = write(&attachments, &mut HeaderMap::new()).unwrap_err();
            assert!(error.to_string().contains("binary"), "{error}");
        }
    }

    // As captured from Dubbo Java 3.3.6.
    #[test]
    fn text_outside_ascii_is_read_as_utf8_or_as_java_writes_it() {
        for bytes in [&b"caf\xe9"[..], "caf\u{e9}".as_bytes()] {
            let mut headers = HeaderMap::new();
            headers.insert("drink", HeaderValue::from_bytes(bytes).unwrap());
            assert_eq!(back(&headers).text("drink"), Some("caf\u{e9}"));
        }
    }

    #[test]
    fn the_spelling_of_a_key_may_differ_in_case_only() {
        let mut headers = HeaderMap::new();
        headers.insert("user", HeaderValue::from_static("eve"));
        let convert = HeaderValue::from_static("%7B%22user%22%3A%22admin%22%7D");
        headers.insert(HEADER_CONVERT, convert);
        assert_eq!(back(&headers).text("user"), Some("eve"));
        headers.insert(HEADER_CONVERT, HeaderValue::from_static("%7B%22user%22%3A7%7D"));
        assert_eq!(back(&headers).text("user"), Some("eve"));
    }

    proptest! {
        #[test]
        fn arbitrary_header_bytes_never_panic(
            name in "[a-zA-Z-]{1,12}(-bin)?",
            value in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let _ = parse_convert(&value);
            let mut headers = HeaderMap::new();
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                headers.insert(HEADER_CONVERT, value.clone());
                headers.insert(HeaderName::try_from(name).unwrap(), value);
            }
            prop_assert!(back(&headers).len() <= 1);
        }

        #[test]
        fn attachments_survive(
            pairs in prop::collection::btree_map("x[a-z]{1,8}", "[ -~]{0,20}", 0..6),
            bytes in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let mut attachments = Attachments::new();
            for (key, value) in pairs {
                attachments.set(key.replace('q', "Q"), value);
            }
            attachments.set_binary("Bytes", bytes);
            let read = back(&wire(&attachments));
            prop_assert_eq!(read.len(), attachments.len());
            for (key, value) in attachments.iter() {
                prop_assert_eq!(read.value(key), Some(value));
            }
        }

        #[test]
        fn arbitrary_attachments_never_panic(key in "\\PC{0,12}", value in "\\PC{0,20}") {
            let attachments: Attachments = [(key, value)].into_iter().collect();
            let _ = write(&attachments, &mut HeaderMap::new());
        }
    }
}
