//! TLS: our client checks Python servers, and is checked by them.

use std::sync::Arc;

use equipoise::protocol::Tri;
use equipoise::protocol::tls::ClientTls;
use equipoise::{Body, FailureKind};
use serde_json::json;

use crate::peers::calling::{consumer_of, failed};
use crate::peers::cell::{Seen, same};
use crate::peers::certificates::Authority;
use crate::peers::server::{PeerServer, Peers};
use crate::peers::stage::Stage;

/// Where the servers are, for their certificates.
const HOST: &str = "127.0.0.1";

/// Three servers with certificates of an authority that we trust.
pub(super) async fn tls(stage: Arc<Stage>) -> Seen {
    let authority = Authority::new()?;
    let signed = authority.sign(HOST)?;
    let settings = json!({ "tls": { "certificate": signed.certificate, "key": signed.key } });
    let peers = Peers::three(&stage, settings).await?;
    let tri = Tri::new().tls(authority.trusted(None)?);
    let consumer = consumer_of(tri, &peers.urls()).strategy("roundrobin").build()?;
    let body = vec![9; 1_000_000];
    for _ in 0..6 {
        let reply = consumer.call("Echo").raw(Body::protobuf(body.clone())).await?;
        anyhow::ensure!(reply.body == body, "another message came back");
    }
    same("calls by server", peers.counts("Echo").await?, vec![2; 3])?;
    Ok("6 calls of 1 000 000 bytes".to_owned())
}

/// A server that wants to see a certificate of ours as well.
pub(super) async fn mutual(stage: Arc<Stage>) -> Seen {
    let authority = Authority::new()?;
    let signed = authority.sign(HOST)?;
    let settings = json!({ "tls": {
        "certificate": signed.certificate, "key": signed.key, "clients": authority.pem,
    } });
    let server = PeerServer::start(&stage, settings).await?;
    let own = authority.sign("client")?;
    let call = async |tls: ClientTls| {
        let consumer = consumer_of(Tri::new().tls(tls), &[server.url()]).retries(0).build()?;
        anyhow::Ok(consumer.call("Echo").raw(Body::protobuf("")).await)
    };
    call(authority.trusted(Some(own.identity()))?).await??;
    let error = failed(call(authority.trusted(None)?).await?)?;
    same("kind without a certificate", error.failure.kind, FailureKind::Network)?;
    Ok(format!("without a certificate: {}", error.failure.message))
}

/// A stranger's authority, another name and plain text are no connection.
pub(super) async fn refused(stage: Arc<Stage>) -> Seen {
    let authority = Authority::new()?;
    let signed = authority.sign("shop.test")?;
    let settings = json!({ "tls": { "certificate": signed.certificate, "key": signed.key } });
    let server = PeerServer::start(&stage, settings).await?;
    let named = || authority.trusted(None)?.server_name("shop.test");
    let stranger = Authority::new()?.trusted(None)?.server_name("shop.test")?;
    for (who, tri) in [
        ("a stranger's authority", Tri::new().tls(stranger)),
        ("another name", Tri::new().tls(authority.trusted(None)?)),
        ("plain text", Tri::new()),
    ] {
        let consumer = consumer_of(tri, &[server.url()]).build()?;
        let error = failed(consumer.call("Echo").raw(Body::protobuf("")).await)?;
        same(who, error.failure.kind, FailureKind::Network)?;
    }
    same("calls at the server", server.count("Echo").await?, 0)?;
    let consumer = consumer_of(Tri::new().tls(named()?), &[server.url()]).build()?;
    consumer.call("Echo").raw(Body::protobuf("")).await?;
    Ok("authority, name, plain text".to_owned())
}
