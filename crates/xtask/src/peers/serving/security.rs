//! TLS: a Python client checks our server, and is checked by it.

use std::sync::Arc;

use equipoise::protocol::tls::ServerTls;
use serde_json::{Value, json};

use crate::peers::cell::{Seen, same};
use crate::peers::certificates::Authority;
use crate::peers::client::{Answer, Ask, PeerClient};
use crate::peers::stage::Stage;
use crate::peers::temper::Ours;

/// Where our server is, for its certificate.
const HOST: &str = "127.0.0.1";

async fn call(stage: &Stage, ours: &Ours, tls: Value, body: &[u8]) -> anyhow::Result<Answer> {
    let client = PeerClient::start(stage, &ours.target(), json!({ "tls": tls })).await?;
    client.call(Ask::new("Echo", body)).await
}

/// Our certificate is of an authority that the client trusts.
pub(super) async fn tls(stage: Arc<Stage>) -> Seen {
    let authority = Authority::new()?;
    let tls = ServerTls::new(authority.sign(HOST)?.identity(), None)?;
    let ours = Ours::serve(|server| server.tls(tls)).await?;
    let body = vec![3; 1_000_000];
    let trusting = json!({ "authority": authority.pem });
    anyhow::ensure!(call(&stage, &ours, trusting, &body).await?.ok()? == body, "not the same");
    let stranger = json!({ "authority": Authority::new()?.pem });
    same("status for a stranger", call(&stage, &ours, stranger, b"").await?.code, 14)?;
    Ok("1 000 000 bytes; another authority: status 14".to_owned())
}

/// Our server wants to see the client's certificate as well.
pub(super) async fn mutual(stage: Arc<Stage>) -> Seen {
    let authority = Authority::new()?;
    let identity = authority.sign(HOST)?;
    let tls = ServerTls::new(identity.identity(), Some(authority.pem.as_bytes()))?;
    let ours = Ours::serve(|server| server.tls(tls)).await?;
    let own = authority.sign("client")?;
    let known =
        json!({ "authority": authority.pem, "certificate": own.certificate, "key": own.key });
    call(&stage, &ours, known, b"").await?.ok()?;
    let unknown = json!({ "authority": authority.pem });
    same("status without one", call(&stage, &ours, unknown, b"").await?.code, 14)?;
    Ok("without a certificate: status 14".to_owned())
}
