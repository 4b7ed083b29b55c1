//! Reads the answer of one call of the JSON flavour.

use bytes::Bytes;
use equipoise_core::outcome::{Failure, FailureKind};
use equipoise_core::port::Reply;
use h2::RecvStream;
use http::{Response, StatusCode};

use crate::status::{self, Seen, code};
use crate::tri::client::connection::{Asked, Chunks};
use crate::tri::client::exchange;
use crate::tri::frame::Document;
use crate::tri::json;

/// Reads the answer of a JSON call.
pub(crate) async fn answer(
    asked: &Asked<'_>,
    response: Response<RecvStream>,
) -> Result<Reply, Failure> {
    let (head, body) = response.into_parts();
    let mut body = Chunks(body);
    let document = document(asked, &mut body).await?;
    let attachments = match body.0.trailers().await {
        Ok(Some(trailers)) => exchange::attachments([&head.headers, &trailers]),
        Ok(None) => exchange::attachments([&head.headers]),
        Err(error) => return Err(asked.broken(&error)),
    };
    if head.status.is_success() {
        return Ok(Reply { body: document, attachments });
    }
    Err(exchange::with(refused(asked, head.status, &document), attachments))
}

fn refused(asked: &Asked<'_>, http: StatusCode, document: &[u8]) -> Failure {
    let error = json::parse_error(document);
    let message = !document.is_empty();
    // An error page of nobody's is an answer without a status.
    let known = message || http != StatusCode::INTERNAL_SERVER_ERROR;
    let status = known.then(|| error.code.unwrap_or_else(|| json::of_http(http)));
    let text = error.message.unwrap_or_else(|| format!("HTTP status {http}"));
    status::failure(status, Seen { message, overdue: asked.overdue() }, text)
}

/// The whole body.
async fn document(asked: &Asked<'_>, body: &mut Chunks) -> Result<Bytes, Failure> {
    let mut document = Document::new(asked.max_message);
    while let Some(chunk) = body.next().await.map_err(|error| asked.broken(&error))? {
        document.push(chunk).map_err(|error| {
            Failure::new(FailureKind::Serialization, error.to_string())
                .with_status(code::RESOURCE_EXHAUSTED)
        })?;
    }
    Ok(document.finish())
}
