//! Limits of size and number, ours and the server's.

use std::sync::Arc;

use equipoise::protocol::Tri;
use equipoise::{Body, FailureKind};
use serde_json::json;
use tokio::task::JoinSet;

use crate::peers::calling::{consumer, consumer_of, failed};
use crate::peers::cell::{Seen, same};
use crate::peers::server::Peers;
use crate::peers::stage::Stage;

/// Our limit in bytes.
const LIMIT: usize = 100_000;

/// A message over our own limit is not sent; one that is received is refused and not asked for
/// again.
pub(super) async fn own(stage: Arc<Stage>) -> Seen {
    let peers = Peers::three(&stage, json!({})).await?;
    let consumer = consumer_of(Tri::new().max_message_bytes(LIMIT), &peers.urls()).build()?;
    let call = consumer.call("Echo").raw(Body::protobuf(vec![0; LIMIT + 1]));
    let error = failed(call.await)?;
    same("kind of what is sent", error.failure.kind, FailureKind::Serialization)?;
    same("calls at the servers", peers.counts("Echo").await?.iter().sum(), 0)?;
    let call = consumer.call("Large").raw(Body::protobuf((LIMIT + 1).to_string()));
    let received = failed(call.await)?.failure;
    same("kind of what is received", received.kind, FailureKind::Serialization)?;
    same("status", received.status, Some(8))?;
    same("calls at the servers", peers.counts("Large").await?.iter().sum(), 1)?;
    let reply = consumer.call("Large").raw(Body::protobuf(LIMIT.to_string())).await?;
    same("size at the limit", reply.body.len(), LIMIT)?;
    Ok(received.message)
}

/// A message over the server's limit is refused by it before a handler sees it.
pub(super) async fn of_the_server(stage: Arc<Stage>) -> Seen {
    let settings = json!({ "options": { "grpc.max_receive_message_length": LIMIT } });
    let peers = Peers::three(&stage, settings).await?;
    let consumer = consumer(&peers.urls()).build()?;
    for size in [LIMIT + 1, 4_000_000] {
        let call = consumer.call("Echo").raw(Body::protobuf(vec![0; size]));
        let error = failed(call.await)?;
        same("kind", error.failure.kind, FailureKind::LimitExceeded)?;
        same("status", error.failure.status, Some(8))?;
        same("attempts", error.attempts.len(), 3)?;
    }
    same("calls at the servers", peers.counts("Echo").await?.iter().sum(), 0)?;
    let reply = consumer.call("Echo").raw(Body::protobuf(vec![0; LIMIT])).await?;
    same("size at the limit", reply.body.len(), LIMIT)?;
    Ok("status 8 for one byte too many and for 4 000 000 bytes".to_owned())
}

/// An answer whose headers are over our limit ends its call, and nothing else.
pub(super) async fn headers(stage: Arc<Stage>) -> Seen {
    let settings = json!({ "options": {
        "grpc.max_metadata_size": 100_000, "grpc.absolute_max_metadata_size": 200_000,
    } });
    let peers = Peers::three(&stage, settings).await?;
    let consumer = consumer_of(Tri::new().max_header_bytes(20_000), &peers.urls()).build()?;
    let call = |size| {
        let call = consumer.call("Metadata").attachment("x-long", "v".repeat(size));
        call.raw(Body::protobuf(""))
    };
    let held = tokio::spawn(consumer.call("Hold").raw(Body::protobuf("")));
    let error = failed(call(30_000).await)?;
    same("kind", error.failure.kind, FailureKind::Serialization)?;
    same("attempts", error.attempts.len(), 1)?;
    call(10_000).await?;
    while peers.counts("Hold").await?.iter().sum::<u64>() == 0 {}
    for server in &peers.0 {
        server.release().await?;
    }
    held.await??;
    Ok(error.failure.message)
}

/// More calls at a time than the server takes wait for their turn. A busy server may still count a
/// stream whose end it has sent, and refuse the next one; no method sees such a call.
pub(super) async fn streams(stage: Arc<Stage>) -> Seen {
    let settings = json!({ "options": { "grpc.max_concurrent_streams": 4 } });
    let peers = Peers::three(&stage, settings).await?;
    let consumer = consumer(&peers.urls()).retries(8).build()?;
    let mut calls = JoinSet::new();
    for call in 0..300_u32 {
        let call = consumer.call("Echo").raw(Body::protobuf(call.to_be_bytes().to_vec()));
        calls.spawn(call);
    }
    while let Some(reply) = calls.join_next().await {
        reply??;
    }
    same("calls at the servers", peers.counts("Echo").await?.iter().sum(), 300)?;
    Ok("300 calls at once, 4 streams a server".to_owned())
}
