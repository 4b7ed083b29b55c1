//! Statuses: what they become, and whether another server is asked.

use std::sync::Arc;

use equipoise::{Body, FailureKind};
use serde_json::json;

use crate::peers::calling::{consumer, failed};
use crate::peers::cell::{Seen, same};
use crate::peers::server::Peers;
use crate::peers::stage::Stage;

/// A message with everything that may go wrong on its way.
pub(crate) const MESSAGE: &str = "用户不存在: é 😀 line1\nline2 100% %41";

/// Attempts where retries are allowed: one per server.
const ALL: u64 = 3;

/// The message of a status is text of any kind.
pub(super) async fn message(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({})).await?;
    let consumer = consumer(&peers.urls()).build()?;
    let call = consumer.call("Fail").attachment("code", "5").raw(Body::protobuf(MESSAGE));
    let failure = failed(call.await)?.failure;
    same("message", failure.message.as_str(), MESSAGE)?;
    Ok(format!("{MESSAGE:?}"))
}

/// What a status of a server is to a caller.
fn kind(code: u64) -> FailureKind {
    match code {
        7 => FailureKind::Forbidden,
        8 => FailureKind::LimitExceeded,
        13 => FailureKind::NoAnswer,
        14 => FailureKind::Network,
        16 => FailureKind::Unauthenticated,
        _ => FailureKind::Business,
    }
}

/// Statuses that say nothing about the request are tried elsewhere; the others are the answer.
/// Attempts are counted at the servers.
pub(super) async fn every_code(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({})).await?;
    let consumer = consumer(&peers.urls()).build()?;
    let mut before = 0;
    let mut shown = Vec::new();
    for code in 1..=16 {
        let call = consumer.call("Fail").attachment("code", code.to_string());
        let error = failed(call.raw(Body::protobuf("reason")).await)?;
        let attempts: u64 = peers.counts("Fail").await?.iter().sum();
        let wanted = if matches!(code, 8 | 13 | 14) { ALL } else { 1 };
        same(&format!("attempts of status {code}"), attempts - before, wanted)?;
        same(&format!("kind of status {code}"), error.failure.kind, kind(code))?;
        same("status", error.failure.status, Some(i32::try_from(code)?))?;
        same("message", error.failure.message.as_str(), "reason")?;
        before = attempts;
        shown.push(format!("{code}x{wanted}"));
    }
    Ok(shown.join(" "))
}

/// An exception in a handler is status 2, an unknown method or service 12; neither is retried.
pub(super) async fn exception_and_unknown_method(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({})).await?;
    let consumer = consumer(&peers.urls()).build()?;
    let error = failed(consumer.call("Raise").raw(Body::protobuf("oh no")).await)?;
    same("kind", error.failure.kind, FailureKind::Business)?;
    same("status", error.failure.status, Some(2))?;
    anyhow::ensure!(error.failure.message.contains("oh no"), "{error}");
    same("attempts", peers.counts("Raise").await?.iter().sum(), 1)?;
    let unknown = equipoise::consumer("peers.Nobody").endpoints(peers.urls()).build()?;
    for call in [consumer.call("Missing"), unknown.call("Echo")] {
        let error = failed(call.raw(Body::protobuf("")).await)?;
        same("kind", error.failure.kind, FailureKind::Business)?;
        same("status", error.failure.status, Some(12))?;
        same("attempts", error.attempts.len(), 1)?;
    }
    Ok("2 and 12, one attempt each".to_owned())
}
