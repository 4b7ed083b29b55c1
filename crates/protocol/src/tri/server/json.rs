//! The JSON flavour of the server: one document in, one document out, errors as HTTP statuses.

use bytes::Bytes;
use equipoise_core::attachments::Attachments;
use equipoise_core::port::{BodyFormat, Reply};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use http_body::Body;
use hyper::body::Incoming;

use crate::server::call::{Handler, Head};
use crate::server::services::Entry;
use crate::server::{Shared, deadline, next_frame};
use crate::status::{Status, code};
use crate::tri::frame::{Document, FrameError};
use crate::tri::server::body::Answer;
use crate::tri::server::grpc;
use crate::tri::{headers, json};

/// An answer that is an error: the HTTP status, and what it comes from.
#[derive(Debug)]
pub(crate) struct Refusal {
    http: StatusCode,
    message: String,
    attachments: Attachments,
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        Self { http: status.http(), message: status.message, attachments: status.attachments }
    }
}

impl Refusal {
    pub(crate) fn new(http: StatusCode, message: impl Into<String>) -> Self {
        Self { http, message: message.into(), attachments: Attachments::new() }
    }

    /// The attachments that will travel with it.
    pub(crate) fn attachments(&mut self) -> &mut Attachments {
        &mut self.attachments
    }
}

/// Answers one call.
pub(crate) async fn unary(
    shared: &Shared,
    entry: &Entry,
    handler: &dyn Handler,
    head: Head,
    body: Incoming,
) -> Result<Reply, Refusal> {
    let until = head.deadline;
    let limit = shared.limits.max_message;
    let body = deadline::within(until, async { Ok(document(body, limit).await) }).await??;
    let call = head.context(entry.key.clone(), BodyFormat::Json, body);
    let reply = deadline::within(until, grpc::answered(handler.call(call))).await?;
    let size = reply.body.len();
    if size > limit {
        let error = FrameError::TooLarge { size, limit };
        return Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()));
    }
    Ok(reply)
}

/// The whole body.
async fn document(mut body: Incoming, limit: usize) -> Result<Bytes, Refusal> {
    let refuse = |error: FrameError| Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, error.to_string());
    let size = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if size > limit {
        return Err(refuse(FrameError::TooLarge { size, limit }));
    }
    let mut document = Document::new(limit);
    while let Some(frame) = next_frame(&mut body).await? {
        if let Ok(chunk) = frame.into_data() {
            document.push(chunk).map_err(refuse)?;
        }
    }
    Ok(document.finish())
}

/// The HTTP answer for a result.
pub(crate) fn response(result: Result<Reply, Refusal>) -> Response<Answer> {
    match result {
        Ok(reply) => {
            let mut response = http(StatusCode::OK, reply.body);
            match headers::write(&reply.attachments, response.headers_mut()) {
                Ok(()) => response,
                Err(error) => {
                    tracing::warn!(%error, "a reply cannot be sent");
                    refused(Status::new(code::INTERNAL, error.to_string()).into())
                }
            }
        }
        Err(refusal) => refused(refusal),
    }
}

/// The HTTP answer for an error.
pub(crate) fn refused(refusal: Refusal) -> Response<Answer> {
    let mut response = http(refusal.http, json::error_body(refusal.http, &refusal.message));
    let before = response.headers().clone();
    if let Err(error) = headers::write(&refusal.attachments, response.headers_mut()) {
        tracing::warn!(%error, "attachments of an error are left out");
        *response.headers_mut() = before;
    }
    response
}

fn http(status: StatusCode, document: Bytes) -> Response<Answer> {
    let mut response = Response::new(Answer::document(document));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
