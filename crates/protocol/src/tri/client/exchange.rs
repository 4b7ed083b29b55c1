//! Reads the answer of one gRPC call: status, message, attachments, and every way they can be
//! missing. Also says what a broken stream means for the caller.

use bytes::Bytes;
use equipoise_core::attachments::Attachments;
use equipoise_core::outcome::{Failure, FailureKind};
use equipoise_core::port::Reply;
use h2::{Reason, RecvStream};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Response, StatusCode};

use crate::status::{self, Seen, code};
use crate::tri::client::connection::{Asked, Chunks};
use crate::tri::frame::{Deframer, FrameError};
use crate::tri::headers::{self, GRPC_MESSAGE, GRPC_STATUS};
use crate::tri::{gzip, wrapper};

/// Reads the answer of a gRPC call.
pub(crate) async fn answer(
    asked: &Asked<'_>,
    response: Response<RecvStream>,
) -> Result<Reply, Failure> {
    let (head, body) = response.into_parts();
    // An error in one block, whatever the HTTP status: some servers answer 404 and a gRPC status.
    if head.headers.get(GRPC_STATUS).is_some_and(|status| status != "0") {
        let attachments = attachments([&head.headers]);
        return Err(refused(asked, &head.headers, attachments, false));
    }
    if head.status != StatusCode::OK || !is_grpc(&head.headers) {
        return Err(no_grpc(asked, head.status, &head.headers));
    }
    let gzip = gzip::announced(&head.headers).map_err(|error| garbled(&error))?;
    let mut body = Chunks(body);
    let message = message(asked, gzip, &mut body).await?;
    let trailers = match body.0.trailers().await {
        Ok(trailers) => trailers.unwrap_or_default(),
        Err(error) => return Err(asked.broken(&error)),
    };
    let attachments = attachments([&head.headers, &trailers]);
    let status = trailers.get(GRPC_STATUS).or_else(|| head.headers.get(GRPC_STATUS));
    if status.is_none_or(|status| status != "0") {
        return Err(refused(asked, &trailers, attachments, message.is_some()));
    }
    if let Some(exception) = exception_code(&head.headers) {
        return Err(with(wrapper::exception(exception, message, asked.overdue()), attachments));
    }
    match message {
        Some(body) => Ok(Reply { body, attachments }),
        None => {
            let text = "status 0 without a message".to_owned();
            let seen = Seen { message: false, overdue: asked.overdue() };
            Err(with(status::failure(Some(code::INTERNAL), seen, text), attachments))
        }
    }
}

/// The one message of the body, if there is one.
async fn message(
    asked: &Asked<'_>,
    gzip: bool,
    body: &mut Chunks,
) -> Result<Option<Bytes>, Failure> {
    let mut deframer = Deframer::new(asked.max_message).gzip(gzip && asked.unpack);
    let mut message = None;
    while let Some(chunk) = body.next().await.map_err(|error| asked.broken(&error))? {
        deframer.push(chunk);
        while let Some(next) = deframer.next().map_err(unreadable)? {
            if message.replace(next).is_some() {
                return Err(garbled("more than one message in the answer of a unary call"));
            }
        }
    }
    if deframer.is_empty() { Ok(message) } else { Err(garbled("the message is cut off")) }
}

pub(crate) fn unreadable(error: FrameError) -> Failure {
    let status = match error {
        FrameError::TooLarge { .. } | FrameError::Unpacked { .. } => code::RESOURCE_EXHAUSTED,
        FrameError::Compressed => code::UNIMPLEMENTED,
        FrameError::Flag(_) | FrameError::Garbled => code::INTERNAL,
    };
    Failure::new(FailureKind::Serialization, error.to_string()).with_status(status)
}

pub(crate) fn garbled(message: &str) -> Failure {
    Failure::new(FailureKind::Serialization, message).with_status(code::INTERNAL)
}

/// The failure that a status in headers or trailers is.
pub(crate) fn refused(
    asked: &Asked<'_>,
    headers: &HeaderMap,
    attachments: Attachments,
    message: bool,
) -> Failure {
    let status = headers.get(GRPC_STATUS).map(|value| {
        // A status that is no number is one that nobody knows.
        value.to_str().ok().and_then(|text| text.parse().ok()).unwrap_or(code::UNKNOWN)
    });
    let text = match (headers.get(GRPC_MESSAGE), status) {
        (Some(text), _) => status::decode_message(text.as_bytes()),
        (None, Some(status)) => format!("status {status} without a message"),
        // The library cuts trailers over the limit short; our server writes the status last.
        (None, None) => {
            "the answer ended without a status, or its trailers are over option max_header_bytes"
                .to_owned()
        }
    };
    let seen = Seen { message, overdue: asked.overdue() };
    with(status::failure(status, seen, text), attachments)
}

/// The failure of an answer that is not gRPC at all.
pub(crate) fn no_grpc(asked: &Asked<'_>, http: StatusCode, headers: &HeaderMap) -> Failure {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("none");
    let text = format!("the answer is not gRPC: HTTP status {http}, content type {kind}");
    // HTTP 200 says nothing about the call; its status is simply missing.
    let status = (http != StatusCode::OK).then(|| status::of_http(http));
    status::failure(status, Seen { message: false, overdue: asked.overdue() }, text)
}

pub(crate) fn is_grpc(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_none_or(|kind| kind.as_bytes().starts_with(b"application/grpc"))
}

/// The code of an exception that travels as the message of a successful answer.
fn exception_code(headers: &HeaderMap) -> Option<i32> {
    let value = headers.get(headers::EXCEPTION_CODE)?.to_str().ok()?;
    value.trim().parse().ok().filter(|code| *code != 0)
}

pub(crate) fn attachments<'a>(blocks: impl IntoIterator<Item = &'a HeaderMap>) -> Attachments {
    let mut attachments = Attachments::new();
    for block in blocks {
        headers::read(block, &mut attachments);
    }
    attachments
}

pub(crate) fn with(mut failure: Failure, attachments: Attachments) -> Failure {
    failure.attachments = attachments;
    failure
}

/// What a broken stream or connection means. Provably unseen are calls that the peer refused or
/// excluded when it said goodbye: the library reports a GOAWAY only to streams above its last id.
pub(crate) fn broken(address: &str, error: &h2::Error) -> Failure {
    let text = format!("{address}: {error}");
    if error.is_remote() {
        let refused = error.is_reset() && error.reason() == Some(Reason::REFUSED_STREAM);
        if error.is_go_away() || refused {
            return Failure::not_sent(FailureKind::Network, text).with_status(code::UNAVAILABLE);
        }
        let status = error.reason().map_or(code::UNKNOWN, of_reset);
        return Failure::new(FailureKind::Network, text).with_status(status);
    }
    if error.is_library() && error.is_reset() {
        // We reset it because of what came: headers over the limit, or broken HTTP/2.
        let text = format!("{text} (headers over option max_header_bytes, or a broken answer)");
        return Failure::new(FailureKind::Serialization, text).with_status(code::INTERNAL);
    }
    Failure::new(FailureKind::Network, text).with_status(code::UNAVAILABLE)
}

/// gRPC's table from reasons of a reset to statuses.
fn of_reset(reason: Reason) -> i32 {
    match reason {
        Reason::REFUSED_STREAM => code::UNAVAILABLE,
        Reason::CANCEL => code::CANCELLED,
        Reason::ENHANCE_YOUR_CALM => code::RESOURCE_EXHAUSTED,
        Reason::INADEQUATE_SECURITY => code::PERMISSION_DENIED,
        _ => code::INTERNAL,
    }
}
