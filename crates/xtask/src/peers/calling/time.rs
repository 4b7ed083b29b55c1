//! Time: what the server is told, and what it sees when time is up or the caller is gone.

use std::sync::Arc;
use std::time::Duration;

use equipoise::{Body, FailureKind};
use serde_json::{Value, json};

use crate::peers::calling::{consumer, failed};
use crate::peers::cell::{Seen, same};
use crate::peers::server::Peers;
use crate::peers::stage::Stage;

/// The server knows how long the caller will wait, whichever of the two limits is nearer.
pub(super) async fn deadline_is_told(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({})).await?;
    let consumer = consumer(&peers.urls()).build()?;
    let seconds = Duration::from_secs;
    let mut seen = Vec::new();
    for (timeout, deadline, most) in
        [(seconds(20), None, 20.0), (seconds(20), Some(seconds(10)), 10.0)]
    {
        let mut call = consumer.call("Remaining").timeout(timeout);
        if let Some(deadline) = deadline {
            call = call.deadline(deadline);
        }
        let reply = call.raw(Body::protobuf("")).await?;
        let told: Value = serde_json::from_slice(&reply.body)?;
        let left = told.as_f64().unwrap_or(f64::INFINITY);
        anyhow::ensure!(left > 0.0 && left <= most, "{told} s left of {most} s");
        seen.push(format!("{left:.2} s of {most} s"));
    }
    Ok(seen.join(", "))
}

/// An attempt that is not answered in time is withdrawn, and the next server is asked.
pub(super) async fn timeout(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({})).await?;
    let consumer = consumer(&peers.urls()).build()?;
    // Connections first: the time of an attempt is not to be spent on them.
    for _ in 0..3 {
        consumer.call("Echo").raw(Body::protobuf("")).await?;
    }
    let call = consumer.call("Hold").timeout(Duration::from_millis(400));
    let error = failed(call.raw(Body::protobuf("held")).await)?;
    same("kind", error.failure.kind, FailureKind::Timeout)?;
    same("attempts", error.attempts.len(), 3)?;
    for server in &peers.0 {
        same("call at the server", server.expect("started").await?, b"held".to_vec())?;
        same("call at the server", server.expect("dropped").await?, b"held".to_vec())?;
    }
    Ok("3 attempts, started and ended at 3 servers".to_owned())
}

/// The deadline of the call leaves no time for a second attempt.
pub(super) async fn deadline(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({})).await?;
    let consumer = consumer(&peers.urls()).build()?;
    consumer.call("Echo").raw(Body::protobuf("")).await?;
    let call = consumer.call("Hold").deadline(Duration::from_millis(500));
    let error = failed(call.raw(Body::protobuf("")).await)?;
    same("kind", error.failure.kind, FailureKind::Timeout)?;
    same("calls at the servers", peers.counts("Hold").await?.iter().sum(), 1)?;
    Ok(format!("one attempt: {}", error.failure.message))
}

/// The server learns that the caller does not want the answer any more.
pub(super) async fn cancelled(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({})).await?;
    let first = peers.urls().into_iter().take(1).collect::<Vec<_>>();
    let consumer = consumer(&first).build()?;
    let call = consumer.call("Hold").raw(Body::protobuf("unwanted"));
    let call = tokio::spawn(call);
    let server = &peers.0[0];
    same("call at the server", server.expect("started").await?, b"unwanted".to_vec())?;
    call.abort();
    same("call at the server", server.expect("dropped").await?, b"unwanted".to_vec())?;
    // The connection is still good.
    consumer.call("Echo").raw(Body::protobuf("")).await?;
    same("connections", server.connections().await?, 1)?;
    Ok("the server saw the end, the connection stays".to_owned())
}
