//! Servers that say goodbye (GOAWAY): on purpose, or because a connection has become old.

use std::sync::Arc;

use equipoise::{Body, Consumer};
use serde_json::json;
use tokio::task::JoinSet;

use crate::peers::calling::{BACKOFF, consumer};
use crate::peers::cell::{Seen, same};
use crate::peers::load::Load;
use crate::peers::server::{PeerServer, Peers};
use crate::peers::stage::Stage;

/// Seconds that a stopping server waits for its calls: longer than any cell may take, so that a
/// stop which ends at all has not run out of them.
const GRACE: u64 = 600;

/// Waits until our client knows that a server takes no more calls.
async fn noticed(consumer: &Consumer, server: &PeerServer) {
    let address = server.url().replace("tri://", "");
    let up = || {
        let endpoints = consumer.report().endpoints;
        endpoints.iter().any(|endpoint| endpoint.address == address && endpoint.available)
    };
    while up() {
        tokio::task::yield_now().await;
    }
}

/// A server that leaves the list before it stops fails no call.
pub(super) async fn leaves_and_stops(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({})).await?;
    let consumer = consumer(&peers.urls()).strategy("roundrobin").retries(0).build()?;
    let mut load = Load::on(&consumer);
    load.until(|tally| peers.0.iter().all(|server| tally.of(server.port) >= 100)).await?;
    consumer.update(&peers.urls()[1..]).await?;
    // Those that were made before the list changed are answered; then nothing keeps the server.
    load.more(100).await?;
    peers.0[0].stop(GRACE).await?.answer().await?;
    load.more(300).await?;
    let tally = load.finish().await?;
    Ok(format!("{tally} calls, none failed, no retry allowed"))
}

/// A call that a stopping server works on is answered, and new calls find the others.
pub(super) async fn held_call(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({})).await?;
    let consumer = consumer(&peers.urls()).strategy("roundrobin").retries(0).build()?;
    let mut held = JoinSet::new();
    for _ in 0..3 {
        held.spawn(consumer.call("Hold").raw(Body::protobuf("held")));
    }
    for server in &peers.0 {
        server.expect("started").await?;
    }
    let stopping = &peers.0[0];
    let stopped = stopping.stop(GRACE).await?;
    noticed(&consumer, stopping).await;
    let mut load = Load::on(&consumer);
    load.until(|tally| peers.0[1..].iter().all(|server| tally.of(server.port) >= 50)).await?;
    let tally = load.finish().await?;
    same("calls of the stopping one", tally.of(stopping.port), 0)?;
    for server in &peers.0 {
        same("released", server.release().await?, 1)?;
    }
    while let Some(reply) = held.join_next().await {
        same("answer", reply??.body.as_ref(), b"held")?;
    }
    stopped.answer().await?;
    Ok(format!("3 held calls answered, {} others in between", tally.total()))
}

/// A server stops under load and need not wait for its grace to be over. Calls that reach it after
/// `stop` and before its GOAWAY has reached us are moved on, but for those that it answers with
/// status 1 instead of saying that it stops (a defect of gRPC's core, grpc/grpc#41785, that its own
/// client meets as well); no call ends in any other way.
pub(super) async fn stop(stage: Arc<Stage>) -> Seen {
    const CANCELLED: &str = "status 1";
    let peers = Peers::three(&stage, json!({})).await?;
    let consumer = consumer(&peers.urls()).strategy("roundrobin").build()?;
    let stopping = peers.0[0].url().replace("tri://", "");
    let mut load = Load::of(move || {
        let call = consumer.call("Who").raw(Body::protobuf(""));
        let stopping = stopping.clone();
        Box::pin(async move {
            match call.await {
                Ok(reply) => Ok(reply.body.to_vec()),
                Err(error)
                    if error.failure.status == Some(1) && error.addresses() == [stopping] =>
                {
                    Ok(CANCELLED.into())
                }
                Err(error) => Err(error.into()),
            }
        })
    });
    load.until(|tally| peers.0.iter().all(|server| tally.of(server.port) >= 100)).await?;
    same("answers before the stop", load.tally().of(CANCELLED), 0)?;
    let stopped = peers.0[0].stop(GRACE).await?;
    load.more(600).await?;
    stopped.answer().await?;
    let tally = load.finish().await?;
    let cancelled = tally.of(CANCELLED);
    Ok(format!("{} calls answered, {cancelled} with status 1 by the stopping one", tally.total()))
}

/// Settings of servers that want their connections young, in milliseconds.
fn young() -> serde_json::Value {
    json!({ "options": {
        "grpc.max_connection_age_ms": 100,
        "grpc.max_connection_age_grace_ms": 60_000,
    } })
}

/// Calls until every server has seen several connections.
async fn wear_out(peers: &[PeerServer]) -> Seen {
    const CONNECTIONS: u64 = 5;
    let urls: Vec<String> = peers.iter().map(PeerServer::url).collect();
    // A connection that lasts longer than the base is a good one, and replaced at once.
    let consumer = consumer(&urls).strategy("roundrobin").backoff(BACKOFF).build()?;
    let mut load = Load::on(&consumer);
    let mut fewest = 0;
    while fewest < CONNECTIONS {
        load.more(50).await?;
        fewest = u64::MAX;
        for server in peers {
            fewest = fewest.min(server.connections().await?);
        }
    }
    let tally = load.finish().await?;
    Ok(format!("{tally} calls, none failed, {fewest} connections or more a server"))
}

/// Connections that end all the time fail no call.
pub(super) async fn connection_age(stage: Arc<Stage>) -> Seen {
    wear_out(&Peers::three(&stage, young()).await?.0).await
}

/// The same where there is nobody else to ask in between.
pub(super) async fn connection_age_of_one(stage: Arc<Stage>) -> Seen {
    wear_out(&[PeerServer::start(&stage, young()).await?]).await
}
