//! What travels: messages, metadata, statuses.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;

use crate::peers::calling::status::MESSAGE;
use crate::peers::cell::{Seen, same};
use crate::peers::client::{Ask, PeerClient};
use crate::peers::stage::Stage;
use crate::peers::temper::Ours;

/// Sizes around those at which frames are cut, and an empty message.
const SIZES: [usize; 6] = [0, 1, 16_379, 16_384, 65_536, 4_000_000];

/// A server of ours and a Python client of it.
pub(super) async fn pair(stage: &Stage) -> anyhow::Result<(Ours, PeerClient)> {
    let ours = Ours::serve(|server| server).await?;
    let client = PeerClient::start(stage, &ours.target(), json!({})).await?;
    Ok((ours, client))
}

/// Messages come back as they were sent.
pub(super) async fn unary(stage: Arc<Stage>) -> Seen {
    let (_ours, client) = pair(&stage).await?;
    for size in SIZES {
        let body: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
        let back = client.call(Ask::new("Echo", &body)).await?.ok()?;
        anyhow::ensure!(back == body, "{size} bytes came back as {}", back.len());
    }
    Ok(format!("{} sizes up to {} bytes", SIZES.len(), SIZES[SIZES.len() - 1]))
}

/// Text and bytes reach the handler; what it attaches comes back as trailers.
pub(super) async fn metadata(stage: Arc<Stage>) -> Seen {
    let (_ours, client) = pair(&stage).await?;
    let blob: Vec<u8> = (0..=255).collect();
    let ask = Ask::new("Echo", "").text("x-text", "with spaces, and ~").bytes("x-blob-bin", &blob);
    let answer = client.call(ask).await?;
    same("text", answer.trailer("x-text"), Some(&b"with spaces, and ~"[..]))?;
    same("bytes", answer.trailer("x-blob-bin"), Some(blob.as_slice()))?;
    same("headers", answer.header("x-text"), None)?;
    answer.ok()?;
    Ok("text and all 256 byte values, in trailers".to_owned())
}

/// Every status arrives as it was given, with a message of any text and its attachments.
pub(super) async fn status(stage: Arc<Stage>) -> Seen {
    let (_ours, client) = pair(&stage).await?;
    for code in 1..=16 {
        let ask = Ask::new("Fail", MESSAGE).text("code", &code.to_string());
        let answer = client.call(ask.bytes("proof-bin", b"\x00\xff")).await?;
        same("status", answer.code, code)?;
        same("message", answer.details.as_str(), MESSAGE)?;
        same("attachment", answer.trailer("proof-bin"), Some(&b"\x00\xff"[..]))?;
    }
    Ok(format!("1 to 16 with {MESSAGE:?}"))
}

/// A handler's panic is status 13, an unknown method or service 12; the connection stays.
pub(super) async fn panic_and_unknown_method(stage: Arc<Stage>) -> Seen {
    let (mut ours, client) = pair(&stage).await?;
    let mut seen = Vec::new();
    for (method, code) in [("Panic", 13), ("Missing", 12), ("/peers.Nobody/Echo", 12)] {
        let answer = client.call(Ask::new(method, "")).await?;
        same(method, answer.code, code)?;
        seen.push(answer.details);
    }
    let held = client.begin(Ask::new("Hold", "")).await?;
    ours.started(1).await?;
    ours.release();
    held.answer().await?.ok()?;
    Ok(seen.join("; "))
}

/// Many calls run at the same time on one connection.
pub(super) async fn concurrent(stage: Arc<Stage>) -> Seen {
    const CALLS: usize = 64;
    let (mut ours, client) = pair(&stage).await?;
    let mut running = Vec::new();
    for call in 0..CALLS {
        running.push(client.begin(Ask::new("Hold", call.to_string())).await?);
    }
    let connections: BTreeSet<_> = ours.started(CALLS).await?.into_iter().collect();
    same("connections", connections.len(), 1)?;
    ours.release();
    for (call, running) in running.into_iter().enumerate() {
        same("answer", running.answer().await?.ok()?, call.to_string().into_bytes())?;
    }
    Ok(format!("{CALLS} in flight on one connection"))
}

/// A compressed request is unpacked, and one that unpacks to more than a message may have is refused.
pub(super) async fn compressed(stage: Arc<Stage>) -> Seen {
    let (_ours, client) = pair(&stage).await?;
    let body = vec![b'a'; 100_000];
    same("compressed", client.call(Ask::new("Echo", &body).gzip()).await?.ok()?, body.clone())?;
    same("plain", client.call(Ask::new("Echo", &body)).await?.ok()?.len(), body.len())?;
    let bomb = vec![b'a'; 9 * 1024 * 1024];
    let answer = client.call(Ask::new("Echo", &bomb).gzip()).await?;
    same("status", answer.code, 8)?;
    Ok(answer.details)
}
