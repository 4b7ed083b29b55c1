//! TLS, with a consumer of a cell's own. Java's consumers speak it only if they have a certificate
//! themselves.

use std::sync::Arc;

use equipoise::protocol::tls::ServerTls;
use serde_json::json;

use crate::interop::ask::Ask;
use crate::interop::cell::{Seen, same, works};
use crate::interop::network::OURS;
use crate::interop::security::files;
use crate::interop::shop;
use crate::interop::stage::{Stage, Wire};
use crate::interop::stock::STOCK;
use crate::peers::certificates::Authority;

async fn greet(stage: &Stage, wire: Wire, demand: bool) -> Seen {
    let authority = Authority::new()?;
    let trust = demand.then_some(authority.pem.as_bytes());
    let tls = ServerTls::new(authority.sign(OURS)?.identity(), trust)?;
    let server = shop::serve(|server| server.tls(tls)).await?;
    let tls = files("consumer", &authority.sign("consumer")?, Some(&authority))?;
    let consumer = stage.start_consumer(wire.release, json!({ "tls": tls })).await?;
    let url = format!("{}://{}", wire.scheme, server.local_addr());
    let ask = Ask::new(url, STOCK, "greet");
    let ask = ask.arg("java.lang.String", json!("a")).arg("int", json!(1));
    let answer = ask.call(&consumer).await?;
    same("answer", answer.value()?, &json!("hello a x1"))?;
    consumer.stop().await;
    works(if demand { "with its certificate" } else { "with our certificate" })
}

/// Our server shows a certificate.
pub(super) async fn tls(stage: Arc<Stage>, wire: Wire) -> Seen {
    greet(&stage, wire, false).await
}

/// Both show certificates.
pub(super) async fn mutual(stage: Arc<Stage>, wire: Wire) -> Seen {
    greet(&stage, wire, true).await
}
