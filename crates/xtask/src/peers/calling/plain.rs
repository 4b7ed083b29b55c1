//! What travels: messages and metadata, both ways.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use equipoise::Body;
use equipoise::core::attachments::{AttachmentValue, Attachments};
use serde_json::{Value, json};

use crate::peers::calling::{consumer, failed};
use crate::peers::cell::{Seen, same};
use crate::peers::server::Peers;
use crate::peers::stage::Stage;

/// Sizes around those at which frames are cut, and an empty message.
const SIZES: [usize; 6] = [0, 1, 16_379, 16_384, 65_536, 4_000_000];

/// Messages come back as they were sent.
pub(super) async fn unary(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({})).await?;
    let consumer = consumer(&peers.urls()).build()?;
    for size in SIZES {
        let body: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
        let reply = consumer.call("Echo").raw(Body::protobuf(body.clone())).await?;
        anyhow::ensure!(reply.body == body, "{size} bytes came back as {}", reply.body.len());
    }
    Ok(format!("{} sizes up to {} bytes", SIZES.len(), SIZES[SIZES.len() - 1]))
}

fn binary() -> Vec<u8> {
    (0..=255).collect()
}

fn bytes<'a>(attachments: &'a Attachments, key: &str) -> Option<&'a [u8]> {
    match attachments.value(key) {
        Some(AttachmentValue::Binary(bytes)) => Some(bytes),
        _ => None,
    }
}

/// Text and bytes reach the server and come back in headers and in trailers.
pub(super) async fn metadata(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({})).await?;
    let consumer = consumer(&peers.urls()).build()?;
    let reply = consumer
        .call("Metadata")
        .attachment("x-text", "with spaces, and ~")
        .attachment("X-Upper", "folded")
        .binary_attachment("x-blob", binary())
        .raw(Body::protobuf(""))
        .await?;
    let seen: Value = serde_json::from_slice(&reply.body)?;
    same("text at the server", &seen["x-text"], &json!("with spaces, and ~"))?;
    same("capitals at the server", &seen["x-upper"], &json!("folded"))?;
    same("bytes at the server", &seen["x-blob-bin"], &json!(STANDARD.encode(binary())))?;
    for block in ["initial", "trailing"] {
        let text = reply.attachments.text(&format!("{block}-x-text"));
        same(block, text, Some("with spaces, and ~"))?;
        let blob = bytes(&reply.attachments, &format!("{block}-x-blob"));
        same(block, blob, Some(binary().as_slice()))?;
    }
    Ok("text and all 256 byte values, headers and trailers".to_owned())
}

/// An error brings its trailers along.
pub(super) async fn metadata_of_an_error(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({})).await?;
    let consumer = consumer(&peers.urls()).build()?;
    let call = consumer.call("Fail").attachment("code", "9").raw(Body::protobuf("no"));
    let attachments = failed(call.await)?.failure.attachments;
    same("text", attachments.text("why"), Some("asked"))?;
    same("bytes", bytes(&attachments, "proof"), Some(&b"\x00\xff"[..]))?;
    Ok("trailers of status 9".to_owned())
}

/// Compressed answers are unpacked, whether the server compresses all or one.
pub(super) async fn compressed(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({ "compression": "gzip" })).await?;
    let consumer = consumer(&peers.urls()).build()?;
    let body = vec![b'a'; 100_000];
    let mut seen = Vec::new();
    for method in ["Echo", "Compressed"] {
        let reply = consumer.call(method).raw(Body::protobuf(body.clone())).await?;
        anyhow::ensure!(reply.body == body, "{method}: another message came back");
        seen.push(format!("{method}: as it was"));
    }
    Ok(seen.join("; "))
}
