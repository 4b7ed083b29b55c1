//! The error document of the JSON flavour, written and read.
//!
//! Dubbo's Java server answers `{"status":"404","message":…}` (the HTTP status), dubbo-go
//! `{"code":"not_found","message":…}` (a gRPC code by name or number). We write the first form and
//! read both.

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};

/// The names of gRPC codes in JSON, from 1 on.
const NAMES: [&str; 16] = [
    "canceled",
    "unknown",
    "invalid_argument",
    "deadline_exceeded",
    "not_found",
    "already_exists",
    "permission_denied",
    "resource_exhausted",
    "failed_precondition",
    "aborted",
    "out_of_range",
    "unimplemented",
    "internal",
    "unavailable",
    "data_loss",
    "unauthenticated",
];

/// The body of an error answer.
pub(crate) fn error_body(status: StatusCode, message: &str) -> Bytes {
    json!({ "status": status.as_str(), "message": message }).to_string().into()
}

/// What an error document says.
#[derive(Debug, Default, Eq, PartialEq)]
pub(crate) struct ErrorBody {
    /// A gRPC code, if it names one.
    pub(crate) code: Option<i32>,
    /// The text, if it has one.
    pub(crate) message: Option<String>,
}

/// Reads an error document; one that is none says nothing.
pub(crate) fn parse_error(body: &[u8]) -> ErrorBody {
    let Ok(Value::Object(document)) = serde_json::from_slice(body) else {
        return ErrorBody::default();
    };
    let code = match document.get("code") {
        Some(Value::String(name)) => by_name(name),
        Some(Value::Number(number)) => {
            number.as_i64().and_then(|number| i32::try_from(number).ok())
        }
        _ => None,
    };
    let message = document.get("message").and_then(Value::as_str).map(str::to_owned);
    // 0 is no error, and an HTTP status written as a code is no gRPC code.
    ErrorBody { code: code.filter(|code| (1..100).contains(code)), message }
}

fn by_name(name: &str) -> Option<i32> {
    let name = name.to_ascii_lowercase();
    let at = NAMES.iter().position(|known| *known == name).or_else(|| {
        // The spelling of gRPC itself.
        (name == "cancelled").then_some(0)
    })?;
    i32::try_from(at + 1).ok()
}

/// The gRPC code for the HTTP status of a JSON answer that names none.
pub(crate) fn of_http(status: StatusCode) -> i32 {
    use crate::status::code;
    match status.as_u16() {
        400 | 422 => code::INVALID_ARGUMENT,
        401 => code::UNAUTHENTICATED,
        403 => code::PERMISSION_DENIED,
        404 | 405 | 415 | 501 => code::UNIMPLEMENTED,
        408 => code::DEADLINE_EXCEEDED,
        409 => code::ABORTED,
        413 | 429 | 431 => code::RESOURCE_EXHAUSTED,
        499 => code::CANCELLED,
        502..=504 => code::UNAVAILABLE,
        _ => code::UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_forms_of_error_are_read() {
        for (body, code, message) in [
            (r#"{"status":"404","message":"Invoker not found"}"#, None, Some("Invoker not found")),
            (r#"{"code":"not_found","message":"x","details":[]}"#, Some(5), Some("x")),
            (r#"{"code":"UNAUTHENTICATED"}"#, Some(16), None),
            (r#"{"code":"cancelled"}"#, Some(1), None),
            (r#"{"code":14,"message":"y"}"#, Some(14), Some("y")),
            (r#"{"code":404,"message":"y"}"#, None, Some("y")),
            (r#"{"code":0}"#, None, None),
            ("[1]", None, None),
            ("", None, None),
        ] {
            let message = message.map(str::to_owned);
            assert_eq!(parse_error(body.as_bytes()), ErrorBody { code, message }, "{body}");
        }
    }

    #[test]
    fn the_written_form_is_read() {
        let body = error_body(StatusCode::NOT_FOUND, "no \"x\"");
        assert_eq!(&body[..], br#"{"status":"404","message":"no \"x\""}"#);
        assert_eq!(parse_error(&body).message.as_deref(), Some("no \"x\""));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = parse_error(&bytes);
        }
    }
}
