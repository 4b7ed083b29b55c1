//! TLS, with a provider of a cell's own.

use std::sync::Arc;

use equipoise::Consumer;
use equipoise::protocol::tls::ClientTls;
use equipoise::protocol::{Dubbo, Tri};
use serde_json::json;

use crate::interop::calling::AMPLE;
use crate::interop::cell::{Seen, same, works};
use crate::interop::network::THEIRS;
use crate::interop::security::files;
use crate::interop::stage::{Stage, Wire};
use crate::interop::stock::{STOCK, StockClient};
use crate::peers::certificates::Authority;

fn client(wire: Wire, url: &str, tls: ClientTls) -> anyhow::Result<StockClient> {
    let builder = Consumer::builder().service(STOCK);
    let builder = match wire.scheme {
        "tri" => builder.protocol(Tri::new().tls(tls)),
        _ => builder.protocol(Dubbo::new().tls(tls)),
    };
    Ok(StockClient::new(builder.endpoints([url]).timeout(AMPLE).retries(0).build()?))
}

/// The provider shows a certificate.
pub(super) async fn tls(stage: Arc<Stage>, wire: Wire) -> Seen {
    let authority = Authority::new()?;
    let tls = files("provider", &authority.sign(THEIRS)?, None)?;
    let provider = stage.start_provider(wire.release, json!({ "tls": tls })).await?;
    let url = provider.url(wire);
    let stock = client(wire, &url, authority.trusted(None)?)?;
    same("answer", stock.greet("a".to_owned(), 1).await?.as_str(), "hello a x1")?;
    let stranger = client(wire, &url, Authority::new()?.trusted(None)?)?;
    let call = stranger.greet("a".to_owned(), 1);
    let call = call.with(|call| call.timeout(std::time::Duration::from_secs(2)));
    anyhow::ensure!(call.await.is_err(), "a stranger's authority was trusted");
    provider.peer.stop().await;
    works("one authority is trusted, another is not")
}

/// Both show certificates.
pub(super) async fn mutual(stage: Arc<Stage>, wire: Wire) -> Seen {
    let authority = Authority::new()?;
    let tls = files("provider", &authority.sign(THEIRS)?, Some(&authority))?;
    let provider = stage.start_provider(wire.release, json!({ "tls": tls })).await?;
    let url = provider.url(wire);
    let ours = authority.sign("client")?;
    let stock = client(wire, &url, authority.trusted(Some(ours.identity()))?)?;
    same("answer", stock.greet("a".to_owned(), 1).await?.as_str(), "hello a x1")?;
    provider.peer.stop().await;
    works("with our certificate")
}
