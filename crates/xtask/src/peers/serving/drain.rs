//! Our server says goodbye.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::net::TcpStream;

use crate::peers::cell::{Seen, same};
use crate::peers::client::{Ask, PeerClient};
use crate::peers::load::Load;
use crate::peers::serving::plain::pair;
use crate::peers::stage::Stage;
use crate::peers::temper::Ours;

/// Longer than any cell may take: a shutdown that ends at all has not waited for it.
const GRACE: Duration = Duration::from_secs(600);

/// Waits until the client's channel is in a state.
async fn state(client: &PeerClient, wanted: &str) -> anyhow::Result<()> {
    while client.event().await?["state"] != wanted {}
    Ok(())
}

/// Calls in flight are answered; no new one gets in.
pub(super) async fn in_flight(stage: Arc<Stage>) -> Seen {
    let (mut ours, client) = pair(&stage).await?;
    let mut running = Vec::new();
    for _ in 0..16 {
        running.push(client.begin(Ask::new("Hold", "held")).await?);
    }
    ours.started(16).await?;
    client.ask("states", json!({})).await?;
    state(&client, "READY").await?;
    ours.server.drain();
    // It has been told to go away.
    state(&client, "IDLE").await?;
    let address = ours.server.local_addr();
    // Until the listener is closed, the system still lets peers in, and they are told to go.
    while TcpStream::connect(address).await.is_ok() {}
    let late = client.call(Ask::new("Echo", "")).await?;
    same("status of a new call", late.code, 14)?;
    ours.release();
    for call in running {
        same("answer", call.answer().await?.ok()?.as_slice(), b"held")?;
    }
    same("finished in time", ours.server.shutdown(GRACE).await, true)?;
    Ok("16 answered, a new one: status 14".to_owned())
}

/// One of two servers drains while a Python client uses both: no call fails. The client makes calls
/// again that end with status 14, because calls that it makes while it is told to go away may end
/// so: gRPC sends WINDOW_UPDATE for them, which h2 (0.4.20) takes for an error of the connection
/// once the last GOAWAY is out, where RFC 9113, 6.8, has it ignored.
pub(super) async fn under_load(stage: Arc<Stage>) -> Seen {
    let a = Ours::named("a", |server| server).await?;
    let b = Ours::named("b", |server| server).await?;
    let target = format!("ipv4:{},{}", a.target(), b.target());
    let policy = json!({
        "loadBalancingConfig": [{ "round_robin": {} }],
        "methodConfig": [{ "name": [{}], "retryPolicy": {
            "maxAttempts": 3, "initialBackoff": "0.01s", "maxBackoff": "0.1s",
            "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"],
        } }],
    })
    .to_string();
    // Left to itself, gRPC makes an authority of both addresses that is none.
    let options = json!({ "grpc.service_config": policy, "grpc.default_authority": "peers" });
    let settings = json!({ "options": options });
    let client = Arc::new(PeerClient::start(&stage, &target, settings).await?);
    let mut load = Load::of(move || {
        let client = client.clone();
        Box::pin(async move { client.call(Ask::new("Who", "")).await?.ok() })
    });
    load.until(|tally| tally.of("a") >= 100 && tally.of("b") >= 100).await?;
    a.server.drain();
    load.more(400).await?;
    same("finished in time", a.server.shutdown(GRACE).await, true)?;
    load.more(100).await?;
    let tally = load.finish().await?;
    Ok(format!("{tally} calls, none failed"))
}
