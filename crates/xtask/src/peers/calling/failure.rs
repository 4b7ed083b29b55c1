//! Servers that die, come back, or were never there.

use std::sync::Arc;

use equipoise::{Body, FailureKind};
use serde_json::json;
use tokio::task::JoinSet;

use crate::peers::calling::{BACKOFF, consumer, failed};
use crate::peers::cell::{Seen, same};
use crate::peers::load::Load;
use crate::peers::server::{PeerServer, Peers};
use crate::peers::stage::Stage;

/// A server is killed while it answers calls: no call fails.
pub(super) async fn killed(stage: Arc<Stage>) -> Seen {
    let mut peers = Peers::three(&stage, json!({})).await?;
    let consumer = consumer(&peers.urls()).strategy("roundrobin").build()?;
    let mut load = Load::on(&consumer);
    load.until(|tally| peers.0.iter().all(|server| tally.of(server.port) >= 100)).await?;
    let mut held = JoinSet::new();
    for _ in 0..3 {
        held.spawn(consumer.call("Hold").raw(Body::protobuf("held")));
    }
    for server in &peers.0 {
        server.expect("started").await?;
    }
    peers.0.remove(0).kill()?;
    load.more(600).await?;
    let tally = load.finish().await?;
    // The call that died with the server has been made again at one of the others.
    let mut released = 0;
    while released < 3 {
        for server in &peers.0 {
            released += server.release().await?;
        }
    }
    while let Some(reply) = held.join_next().await {
        same("answer", reply??.body.as_ref(), b"held")?;
    }
    Ok(format!("{tally} calls, none failed; the one it held was made again"))
}

/// A server that was killed and started again gets calls again.
pub(super) async fn returns(stage: Arc<Stage>) -> Seen {
    let mut peers = Peers::three(&stage, json!({})).await?;
    let consumer = consumer(&peers.urls()).strategy("roundrobin").backoff(BACKOFF).build()?;
    let mut load = Load::on(&consumer);
    let port = peers.0[0].port;
    load.until(|tally| tally.of(port) >= 50).await?;
    peers.0.remove(0).kill()?;
    load.more(300).await?;
    let before = load.tally().of(port);
    let again = PeerServer::start(&stage, json!({ "port": port })).await?;
    same("port", again.port, port)?;
    load.until(|tally| tally.of(port) >= before + 50).await?;
    let tally = load.finish().await?;
    Ok(format!("{tally} calls, none failed, {} from the new process", again.count("Who").await?))
}

/// With no server at all the error says so, and how it was tried.
pub(super) async fn nobody(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({})).await?;
    let consumer = consumer(&peers.urls()).backoff(BACKOFF).build()?;
    consumer.call("Who").raw(Body::protobuf("")).await?;
    for server in &peers.0 {
        server.kill()?;
    }
    let error = loop {
        match consumer.call("Who").raw(Body::protobuf("")).await {
            // The news may be on its way.
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    same("kind", error.failure.kind, FailureKind::Network)?;
    // By now every connection is known to be gone.
    let error = failed(consumer.call("Who").raw(Body::protobuf("")).await)?;
    same("kind", error.failure.kind, FailureKind::Network)?;
    Ok(error.failure.message)
}
