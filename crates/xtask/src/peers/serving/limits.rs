//! Limits of size and number, ours and the caller's.

use std::sync::Arc;

use serde_json::json;

use crate::peers::cell::{Seen, same};
use crate::peers::client::{Ask, PeerClient};
use crate::peers::stage::Stage;
use crate::peers::temper::Ours;

/// Our limit in bytes.
const LIMIT: usize = 100_000;

/// The limit of a Python client that was told none.
const OF_PYTHON: usize = 4 * 1024 * 1024;

/// Messages over our limit, received or sent, and over the caller's, are status 8; up to ours they
/// are answered.
pub(super) async fn sizes(stage: Arc<Stage>) -> Seen {
    let ours = Ours::serve(|server| server.max_message_bytes(LIMIT)).await?;
    let client = PeerClient::start(&stage, &ours.target(), json!({})).await?;
    let mut seen = Vec::new();
    for (what, ask) in [
        ("one byte over", Ask::new("Echo", vec![0; LIMIT + 1])),
        ("4 000 000 bytes", Ask::new("Echo", vec![0; 4_000_000])),
        ("an answer one byte over", Ask::new("Large", (LIMIT + 1).to_string())),
    ] {
        let answer = client.call(ask).await?;
        same(what, answer.code, 8)?;
        seen.push(answer.details);
    }
    same("at the limit", client.call(Ask::new("Echo", vec![0; LIMIT])).await?.ok()?.len(), LIMIT)?;
    let wide = Ours::serve(|server| server).await?;
    let client = PeerClient::start(&stage, &wide.target(), json!({})).await?;
    let answer = client.call(Ask::new("Large", (OF_PYTHON + 1).to_string())).await?;
    same("over the caller's limit", answer.code, 8)?;
    let options = json!({ "options": { "grpc.max_receive_message_length": -1 } });
    let client = PeerClient::start(&stage, &wide.target(), options).await?;
    let ours = 8 * 1024 * 1024;
    let answer = client.call(Ask::new("Large", ours.to_string())).await?;
    same("at the default limit", answer.ok()?.len(), ours)?;
    Ok(seen.swap_remove(0))
}

/// Headers over the limit end that call; the connection goes on.
pub(super) async fn headers(stage: Arc<Stage>) -> Seen {
    let ours = Ours::serve(|server| server.max_header_bytes(16 * 1024)).await?;
    let client = PeerClient::start(&stage, &ours.target(), json!({})).await?;
    client.call(Ask::new("Echo", "")).await?.ok()?;
    let answer = client.call(Ask::new("Echo", "").text("x-long", &"v".repeat(20_000))).await?;
    anyhow::ensure!(answer.code != 0, "20 000 bytes of headers were taken");
    let fits = Ask::new("Echo", "").text("x-long", &"v".repeat(7_000));
    let fits = client.call(fits).await?;
    same("headers within the limit", fits.trailer("x-long").map(<[u8]>::len), Some(7_000))?;
    Ok(format!("status {}: {}", answer.code, answer.details))
}

/// More calls at a time than the server takes are refused, or wait on their connection.
pub(super) async fn calls(stage: Arc<Stage>) -> Seen {
    let mut ours = Ours::serve(|server| server.max_calls(Some(2))).await?;
    let client = PeerClient::start(&stage, &ours.target(), json!({})).await?;
    let held =
        [client.begin(Ask::new("Hold", "")).await?, client.begin(Ask::new("Hold", "")).await?];
    ours.started(2).await?;
    let refused = client.call(Ask::new("Echo", "")).await?;
    same("status of the third", refused.code, 8)?;
    ours.release();
    for call in held {
        call.answer().await?.ok()?;
    }
    let narrow = Ours::serve(|server| server.max_concurrent_streams(2)).await?;
    let client = PeerClient::start(&stage, &narrow.target(), json!({})).await?;
    let mut running = Vec::new();
    for _ in 0..100 {
        running.push(client.begin(Ask::new("Echo", "")).await?);
    }
    for call in running {
        call.answer().await?.ok()?;
    }
    Ok(format!("{}; 100 calls over 2 streams", refused.details))
}
