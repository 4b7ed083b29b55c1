//! Servers that say goodbye (GOAWAY): on purpose, or because a connection has become old.

use std::sync::Arc;

use equipoise::BodyFormat;
use serde_json::json;

use crate::peers::calling::{consumer, retried};
use crate::peers::cell::{Seen, same};
use crate::peers::load::Load;
use crate::peers::server::Peers;
use crate::peers::stage::Stage;

/// Seconds that a stopping server waits for its calls: longer than any cell may take, so that a
/// stop which ends at all has not run out of them.
const GRACE: u64 = 600;

/// A server stops under load: no call fails, and it need not wait for its grace to be over.
pub(super) async fn stop(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({})).await?;
    let consumer = consumer(&peers.urls()).strategy("roundrobin").build()?;
    let ports: Vec<u64> = peers.0.iter().map(|server| server.port).collect();
    let mut load = Load::on(&consumer);
    load.until(|tally| ports.iter().all(|port| tally.of(port) >= 100)).await?;
    let stopped = peers.0[0].stop(GRACE).await?;
    load.more(600).await?;
    stopped.answer().await?;
    let tally = load.finish().await?;
    let retried = retried(&consumer);
    Ok(format!("{tally} calls, none failed, {retried} attempts made again"))
}

/// A call that a stopping server works on is answered.
pub(super) async fn held_call(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({})).await?;
    let consumer = consumer(&peers.urls()).strategy("roundrobin").retries(0).build()?;
    let mut held = tokio::task::JoinSet::new();
    for _ in 0..3 {
        held.spawn(consumer.call("Hold").raw(BodyFormat::Protobuf, "held"));
    }
    for server in &peers.0 {
        server.expect("started").await?;
    }
    let stopping = &peers.0[0];
    let stopped = stopping.stop(GRACE).await?;
    // New calls find the others.
    let mut load = Load::on(&consumer);
    load.until(|tally| peers.0[1..].iter().all(|server| tally.of(server.port) >= 50)).await?;
    let tally = load.finish().await?;
    for server in &peers.0 {
        same("released", server.release().await?, 1)?;
    }
    while let Some(reply) = held.join_next().await {
        same("answer", reply??.body.as_ref(), b"held")?;
    }
    stopped.answer().await?;
    Ok(format!("3 held calls answered, {} others in between", tally.total()))
}

/// Connections that end all the time, because the servers want them young, fail no call.
pub(super) async fn connection_age(stage: Arc<Stage>) -> Seen {
    const CONNECTIONS: u64 = 4;
    let settings = json!({ "options": {
        "grpc.max_connection_age_ms": 100,
        "grpc.max_connection_age_grace_ms": 60_000,
    } });
    let peers = Peers::three(&stage, settings).await?;
    let consumer = consumer(&peers.urls()).strategy("roundrobin").build()?;
    let mut load = Load::on(&consumer);
    let mut connections = 0;
    while connections < CONNECTIONS {
        load.more(50).await?;
        connections = u64::MAX;
        for server in &peers.0 {
            connections = connections.min(server.connections().await?);
        }
    }
    let tally = load.finish().await?;
    let retried = retried(&consumer);
    Ok(format!(
        "{tally} calls over {CONNECTIONS} connections a server, none failed, {retried} attempts made again"
    ))
}
