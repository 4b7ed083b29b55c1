//! Every row of `tests/vectors/hessian2.json` through the Hessian of the peer.

use anyhow::Context;
use equipoise::java::Value;
use equipoise::protocol::hessian;
use serde_json::{Value as Json, json};

use crate::interop::build::root;
use crate::interop::cell::{Seen, same, works};
use crate::interop::stage::{Stage, Wire};

/// Rows that it decodes as the file says, and what it writes of them as the same value.
pub(super) async fn all(stage: &Stage, wire: Wire) -> Seen {
    let path = root().join("tests").join("vectors").join("hessian2.json");
    let document: Json = serde_json::from_slice(&std::fs::read(path)?)?;
    let rows = document["vectors"].as_array().context("no vectors")?;
    let peer = stage.start_vectors(wire).await?;
    let (mut decoded, mut identical, mut refused) = (0, 0, 0);
    for row in rows {
        let id = row["id"].as_str().context("no id")?;
        let hex = text(row)?;
        let answer = peer.ask("hessian", json!({ "hex": hex })).await?;
        let read = answer.get("undecoded").is_none();
        // A row that must be rejected tells what our decoder does; the peer's leniency is its own.
        if row["use"] == "reject" {
            refused += usize::from(!read);
            continue;
        }
        let wanted = row["peers"]["hessian_lite"] == "decodes";
        same(id, read, wanted).with_context(|| answer.to_string())?;
        decoded += usize::from(read);
        identical += usize::from(answer["again"] == hex.as_str());
        if let Some(again) = answer["again"].as_str() {
            let bytes = hessian::unhex(again).map_err(|e| anyhow::anyhow!("{id}: {e}"))?;
            hessian::from_slice::<Value>(&bytes).with_context(|| format!("{id}: {again}"))?;
        }
    }
    let version = peer.ready["versions"]["hessian-lite"].as_str().unwrap_or("unknown").to_owned();
    peer.stop().await;
    works(format!(
        "hessian-lite {version}: {decoded} of {} decoded as known, {identical} written back identically, \
         {refused} of the broken ones refused",
        rows.len()
    ))
}

/// The bytes of a row.
fn text(row: &Json) -> anyhow::Result<String> {
    if let Some(hex) = row["hex"].as_str() {
        return Ok(hex.to_owned());
    }
    let parts = row["hex_parts"].as_array().context("neither hex nor parts")?;
    let mut text = String::new();
    for part in parts {
        let count = part[1].as_u64().context("no count")?;
        text.push_str(&part[0].as_str().context("no part")?.repeat(usize::try_from(count)?));
    }
    Ok(text)
}
