//! The gRPC flavour of the server: reads the message, lets the handler answer, writes message and
//! status.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use bytes::Bytes;
use equipoise_core::attachments::Attachments;
use equipoise_core::port::{BodyFormat, Reply};
use futures_util::FutureExt;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Response};
use http_body::Body;
use hyper::body::Incoming;

use crate::java;
use crate::server::call::{Handler, Head};
use crate::server::services::Entry;
use crate::server::{Shared, deadline, next_frame};
use crate::status::{self, Status, code};
use crate::tri::frame::{Deframer, FrameError};
use crate::tri::gzip;
use crate::tri::headers::{
    self, EXCEPTION_CODE, GRPC_ACCEPT_ENCODING, GRPC_ENCODING, GRPC_MESSAGE, GRPC_STATUS,
};
use crate::tri::server::body::{Answer, framed};
use crate::tri::wrapper::Wrapped;

/// What Dubbo's `RpcException` calls an exception of the service itself.
const BUSINESS: &str = "3";

/// Answers one unary call.
pub(crate) async fn unary(
    shared: &Shared,
    entry: &Entry,
    handler: &dyn Handler,
    head: Head,
    body: Incoming,
    gzip: bool,
) -> Result<Reply, Status> {
    let until = head.deadline;
    let work = async {
        let body = one_message(body, shared.limits.max_message, gzip).await?;
        if java::is_wrapped(handler, head.path.method()) {
            return wrapped(entry, handler, head, body).await;
        }
        let call = head.context(entry.key.clone(), BodyFormat::Protobuf, body);
        // Only Java values have a place for an exception.
        answered(handler.call(call)).await.map_err(|status| Status { exception: None, ..status })
    };
    let result = deadline::within(until, work).await;
    let size = match &result {
        Ok(reply) => reply.body.len(),
        Err(status) => status.exception.as_ref().map_or(0, |exception| exception.body.len()),
    };
    if size > shared.limits.max_message {
        let error = FrameError::TooLarge { size, limit: shared.limits.max_message };
        return Err(Status::new(code::RESOURCE_EXHAUSTED, error.to_string()));
    }
    result
}

/// Answers one call of Java values; result and exception come back as the message that travels.
async fn wrapped(
    entry: &Entry,
    handler: &dyn Handler,
    head: Head,
    message: Bytes,
) -> Result<Reply, Status> {
    let (wrapped, arguments) = Wrapped::open(message)?;
    let types = arguments.types.clone();
    let call = head.context(entry.key.clone(), BodyFormat::Java, Bytes::new());
    let method: Arc<str> = call.method().into();
    let call = call.into_java(method.clone(), arguments);
    match answered(java::serve(handler, call)).await {
        Ok(reply) => {
            let ty = java::returns(handler, &method, types.as_deref());
            Ok(Reply { body: wrapped.result(reply.body, ty), ..reply })
        }
        Err(mut status) => {
            if let Some(exception) = &mut status.exception {
                exception.body = wrapped.exception(std::mem::take(&mut exception.body));
            }
            Err(status)
        }
    }
}

/// Waits for a handler; a panic is its answer too.
pub(crate) async fn answered(
    call: impl Future<Output = Result<Reply, Status>>,
) -> Result<Reply, Status> {
    let answer = AssertUnwindSafe(call).catch_unwind().await;
    answer.unwrap_or_else(|panic| Err(panicked(&*panic))).map_err(no_success)
}

/// The answer to a call whose handler panicked.
pub(crate) fn panicked(panic: &(dyn std::any::Any + Send)) -> Status {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no text");
    tracing::error!(panic = text, "a handler panicked");
    Status::new(code::INTERNAL, "the handler panicked")
}

/// An error must not look like a success on the wire.
pub(crate) fn no_success(status: Status) -> Status {
    match status.code {
        code::OK => Status { code: code::UNKNOWN, ..status },
        _ => status,
    }
}

/// The one message of a unary request.
async fn one_message(mut body: Incoming, limit: usize, gzip: bool) -> Result<Bytes, Status> {
    let mut deframer = Deframer::new(limit).gzip(gzip);
    let mut message = None;
    // Once the end is known to have come, waiting for it would cost another look.
    while !(message.is_some() && body.is_end_stream()) {
        let Some(frame) = next_frame(&mut body).await? else { break };
        let Ok(chunk) = frame.into_data() else { continue };
        deframer.push(chunk);
        while let Some(next) = deframer.next().map_err(|error| refused(&error))? {
            if message.replace(next).is_some() {
                return Err(Status::new(code::INTERNAL, "more than one message in a unary call"));
            }
        }
    }
    match message {
        Some(message) if deframer.is_empty() => Ok(message),
        _ => Err(Status::new(code::INTERNAL, "the request has no whole message")),
    }
}

/// The answer to a message that cannot be read.
pub(crate) fn refused(error: &FrameError) -> Status {
    let code = match error {
        FrameError::TooLarge { .. } | FrameError::Unpacked { .. } => code::RESOURCE_EXHAUSTED,
        FrameError::Compressed => code::UNIMPLEMENTED,
        FrameError::Flag(_) | FrameError::Garbled => code::INTERNAL,
    };
    Status::new(code, error.to_string())
}

/// The HTTP answer for a result.
pub(crate) fn response(result: Result<Reply, Status>, pack: bool) -> Response<Answer> {
    let (reply, exception) = match result {
        Ok(reply) => (reply, false),
        Err(Status { exception: Some(exception), attachments, .. }) => {
            // As with every error: it is worth more than what was attached to it.
            let attachments =
                if ok(&attachments).is_ok() { attachments } else { Attachments::new() };
            (Reply { body: exception.body, attachments }, true)
        }
        Err(status) => return trailers_only(&status),
    };
    let (Some(message), Ok(trailers)) = (framed(reply.body, pack), ok(&reply.attachments)) else {
        return trailers_only(&Status::new(
            code::INTERNAL,
            "the reply has an attachment that cannot travel, or is too long",
        ));
    };
    let mut response = http(Answer::Unary(Some(message), Some(trailers)));
    packed(&mut response, pack);
    if exception {
        response.headers_mut().insert(EXCEPTION_CODE, HeaderValue::from_static(BUSINESS));
    }
    response
}

/// An error without a message: one block of headers.
pub(crate) fn trailers_only(status: &Status) -> Response<Answer> {
    let mut response = http(Answer::Empty);
    response.headers_mut().extend(trailers(status));
    response
}

/// Headers of every gRPC answer.
pub(crate) fn http(body: Answer) -> Response<Answer> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers.insert(GRPC_ACCEPT_ENCODING, gzip::GZIP);
    response
}

/// Says that the messages are packed, if they are.
pub(crate) fn packed(response: &mut Response<Answer>, pack: bool) {
    if pack {
        response.headers_mut().insert(GRPC_ENCODING, gzip::GZIP);
    }
}

fn ok(attachments: &Attachments) -> Result<HeaderMap, headers::BadAttachment> {
    let mut trailers = HeaderMap::with_capacity(1 + attachments.len());
    headers::write(attachments, &mut trailers).inspect_err(|error| {
        tracing::warn!(%error, "a reply cannot be sent");
    })?;
    // Last, because peers that cut an overlong block short must not take it for whole.
    trailers.insert(GRPC_STATUS, HeaderValue::from_static("0"));
    Ok(trailers)
}

/// The trailers for a status.
pub(crate) fn trailers(status: &Status) -> HeaderMap {
    let mut trailers = HeaderMap::with_capacity(2 + status.attachments.len());
    if let Err(error) = headers::write(&status.attachments, &mut trailers) {
        // The error itself is worth more than what was attached to it.
        tracing::warn!(%error, "attachments of an error are left out");
        trailers.clear();
    }
    trailers.insert(GRPC_STATUS, HeaderValue::from(status.code));
    if !status.message.is_empty() {
        trailers.insert(GRPC_MESSAGE, status::encode_message(&status.message));
    }
    trailers
}
