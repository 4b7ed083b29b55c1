//! Statuses: gRPC codes, their text on the wire, and what a caller makes of them.
//!
//! [`Status`] is what a handler answers when it has no result. [`failure`] is the other direction:
//! the one place that decides which of the caller's failure kinds a status is.
//!
//! # References
//!
//! gRPC: *Status codes and their use*, *HTTP to gRPC status code mapping*, *gRPC over HTTP/2*
//! (`Status-Message`); RFC 3986 percent-encoding.

use equipoise_core::attachments::Attachments;
use equipoise_core::outcome::{Exception, Failure, FailureKind};
use http::{HeaderValue, StatusCode};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode, utf8_percent_encode};

use crate::tri::headers;

/// The codes of gRPC.
pub mod code {
    /// No error.
    pub const OK: i32 = 0;
    /// The caller gave up.
    pub const CANCELLED: i32 = 1;
    /// An error of no known kind.
    pub const UNKNOWN: i32 = 2;
    /// The arguments are wrong in themselves.
    pub const INVALID_ARGUMENT: i32 = 3;
    /// The time was up.
    pub const DEADLINE_EXCEEDED: i32 = 4;
    /// Something named does not exist.
    pub const NOT_FOUND: i32 = 5;
    /// Something to be made exists already.
    pub const ALREADY_EXISTS: i32 = 6;
    /// The caller may not do this.
    pub const PERMISSION_DENIED: i32 = 7;
    /// Out of capacity or quota.
    pub const RESOURCE_EXHAUSTED: i32 = 8;
    /// The system is not in the state that the call needs.
    pub const FAILED_PRECONDITION: i32 = 9;
    /// Given up because of a conflict.
    pub const ABORTED: i32 = 10;
    /// Past the valid range.
    pub const OUT_OF_RANGE: i32 = 11;
    /// No such service or method.
    pub const UNIMPLEMENTED: i32 = 12;
    /// Something is broken.
    pub const INTERNAL: i32 = 13;
    /// The service cannot be used now.
    pub const UNAVAILABLE: i32 = 14;
    /// Data is lost for good.
    pub const DATA_LOSS: i32 = 15;
    /// The caller is not known.
    pub const UNAUTHENTICATED: i32 = 16;
}

/// An answer that is an error.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("status {code}: {message}")]
pub struct Status {
    /// One of [`code`]; other numbers travel as they are.
    pub code: i32,
    /// What happened, for people. Any text; long ones are cut on the wire.
    pub message: String,
    /// Metadata that travels with the error.
    pub attachments: Attachments,
    /// The exception to throw in the caller's language, where the call is one of Java values; in
    /// other forms the message is all that travels.
    pub exception: Option<Box<Exception>>,
}

impl Status {
    /// A status without attachments.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), attachments: Attachments::new(), exception: None }
    }

    /// The answer to a method that the service does not have (status 12).
    pub fn unknown_method(service: &str, method: &str) -> Self {
        Self::new(code::UNIMPLEMENTED, format!("service {service} has no method {method}"))
    }

    /// With attachments.
    pub fn with_attachments(mut self, attachments: Attachments) -> Self {
        self.attachments = attachments;
        self
    }

    /// The HTTP status that the JSON flavour answers with.
    pub(crate) fn http(&self) -> StatusCode {
        match self.code {
            code::OK => StatusCode::OK,
            code::INVALID_ARGUMENT | code::FAILED_PRECONDITION | code::OUT_OF_RANGE => {
                StatusCode::BAD_REQUEST
            }
            code::DEADLINE_EXCEEDED => StatusCode::REQUEST_TIMEOUT,
            code::NOT_FOUND | code::UNIMPLEMENTED => StatusCode::NOT_FOUND,
            code::ALREADY_EXISTS | code::ABORTED => StatusCode::CONFLICT,
            code::PERMISSION_DENIED => StatusCode::FORBIDDEN,
            code::RESOURCE_EXHAUSTED => StatusCode::TOO_MANY_REQUESTS,
            code::UNAVAILABLE => StatusCode::SERVICE_UNAVAILABLE,
            code::UNAUTHENTICATED => StatusCode::UNAUTHORIZED,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// What percent-encoding leaves alone in `grpc-message`: printable ASCII but the percent sign.
const MESSAGE: &AsciiSet = &CONTROLS.add(b'%');

/// Longest encoded message in bytes: a stack trace must not break the peer's header limit.
const LONGEST: usize = 8 * 1024;

/// The value of `grpc-message`: percent-encoded UTF-8, ASCII only.
pub(crate) fn encode_message(message: &str) -> HeaderValue {
    let mut wire = String::with_capacity(message.len());
    for piece in message.split_inclusive(|_: char| true) {
        let before = wire.len();
        wire.extend(utf8_percent_encode(piece, MESSAGE));
        if wire.len() > LONGEST {
            wire.truncate(before);
            break;
        }
    }
    // Printable ASCII is always a valid header value.
    HeaderValue::try_from(wire).unwrap_or_else(|_| HeaderValue::from_static(""))
}

/// Reads `grpc-message` whether it was percent-encoded or not: Dubbo's Java server does not, and writes
/// Latin-1.
pub(crate) fn decode_message(wire: &[u8]) -> String {
    let bytes: Vec<u8> = percent_decode(wire).collect();
    headers::text(&bytes)
}

/// The gRPC code for an HTTP answer that carries none.
pub(crate) fn of_http(status: StatusCode) -> i32 {
    match status.as_u16() {
        400 => code::INTERNAL,
        401 => code::UNAUTHENTICATED,
        403 => code::PERMISSION_DENIED,
        404 => code::UNIMPLEMENTED,
        429 | 502..=504 => code::UNAVAILABLE,
        _ => code::UNKNOWN,
    }
}

/// What the caller knew when an answer that is an error arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// A response message arrived as well.
    pub(crate) message: bool,
    /// The time of the attempt was over by our own clock.
    pub(crate) overdue: bool,
}

/// The failure that a status is. `None` is an answer without a status (gRPC calls it UNKNOWN).
pub(crate) fn failure(status: Option<i32>, seen: Seen, message: String) -> Failure {
    let kind = match status {
        Some(code::UNAVAILABLE) => FailureKind::Network,
        Some(code::RESOURCE_EXHAUSTED) => FailureKind::LimitExceeded,
        // A status 4 before our own time is up is an inner deadline of the provider's.
        Some(code::DEADLINE_EXCEEDED) if seen.overdue => FailureKind::Timeout,
        Some(code::PERMISSION_DENIED) => FailureKind::Forbidden,
        Some(code::UNAUTHENTICATED) => FailureKind::Unauthenticated,
        Some(code::INTERNAL) | None if !seen.message => FailureKind::NoAnswer,
        _ => FailureKind::Business,
    };
    Failure::new(kind, message).with_status(status.unwrap_or(code::UNKNOWN))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn case_182_messages_are_ascii_on_the_wire_and_come_back_whole() {
        let text = "用户不存在: é 😀 line1\nline2 100%";
        let wire = encode_message(text);
        assert!(wire.as_bytes().iter().all(|b| (b' '..=b'~').contains(b)), "{wire:?}");
        assert!(wire.to_str().unwrap().ends_with(" line1%0Aline2 100%25"), "{wire:?}");
        assert_eq!(decode_message(wire.as_bytes()), text);
    }

    #[test]
    fn case_182_raw_and_broken_messages_are_read_as_they_are() {
        for (wire, text) in [
            ("raw é 😀", "raw é 😀"),
            ("100% sure", "100% sure"),
            ("%zz %4", "%zz %4"),
            ("a+b", "a+b"),
        ] {
            assert_eq!(decode_message(wire.as_bytes()), text);
        }
        assert_eq!(decode_message(b"caf\xe9 %e9"), "caf\u{e9} \u{e9}");
    }

    #[test]
    fn long_messages_are_cut_at_a_character() {
        let wire = encode_message(&"é".repeat(LONGEST));
        assert_eq!(wire.len(), LONGEST / 6 * 6);
        assert_eq!(decode_message(wire.as_bytes()), "é".repeat(LONGEST / 6));
    }

    #[test]
    fn kinds_follow_status_message_and_clock() {
        use FailureKind::{
            Business, Forbidden, LimitExceeded, Network, NoAnswer, Timeout, Unauthenticated,
        };
        let kind = |status, message, overdue| {
            failure(status, Seen { message, overdue }, String::new()).kind
        };
        for (status, bare, with_message) in [
            (Some(code::UNAVAILABLE), Network, Network),
            (Some(code::RESOURCE_EXHAUSTED), LimitExceeded, LimitExceeded),
            (Some(code::DEADLINE_EXCEEDED), Business, Business),
            (Some(code::INTERNAL), NoAnswer, Business),
            (None, NoAnswer, Business),
            (Some(code::PERMISSION_DENIED), Forbidden, Forbidden),
            (Some(code::UNAUTHENTICATED), Unauthenticated, Unauthenticated),
            (Some(code::CANCELLED), Business, Business),
            (Some(code::UNIMPLEMENTED), Business, Business),
            (Some(17), Business, Business),
            (Some(-1), Business, Business),
        ] {
            assert_eq!(kind(status, false, false), bare, "{status:?}");
            assert_eq!(kind(status, true, false), with_message, "{status:?}");
        }
        assert_eq!(kind(Some(code::DEADLINE_EXCEEDED), false, true), Timeout);
        assert_eq!(
            failure(None, Seen { message: true, overdue: false }, String::new()).status,
            Some(2)
        );
    }

    #[test]
    fn http_answers_without_a_status_follow_the_grpc_table() {
        for (http, grpc) in [
            (400, 13),
            (401, 16),
            (403, 7),
            (404, 12),
            (429, 14),
            (502, 14),
            (503, 14),
            (504, 14),
            (200, 2),
            (500, 2),
            (302, 2),
        ] {
            assert_eq!(of_http(StatusCode::from_u16(http).unwrap()), grpc, "{http}");
        }
    }

    proptest! {
        #[test]
        fn any_text_survives(text in "\\PC{0,200}") {
            prop_assert_eq!(decode_message(encode_message(&text).as_bytes()), text);
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let text = decode_message(&bytes);
            prop_assert!(text.len() <= bytes.len() * 2);
        }
    }
}
