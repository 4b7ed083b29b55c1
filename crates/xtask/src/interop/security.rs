//! Certificates as files, which is how Java takes them.

use std::path::Path;

use anyhow::Context;
use serde_json::{Value, json};

use crate::interop::build;
use crate::peers::certificates::{Authority, Signed};

/// Paths of a certificate, its key and, if the other side must have one too, whom to trust.
pub(crate) fn files(
    name: &str,
    signed: &Signed,
    trust: Option<&Authority>,
) -> anyhow::Result<Value> {
    let folder = build::target().join("certificates");
    std::fs::create_dir_all(&folder).context("cannot make the folder of certificates")?;
    let put = |end: &str, text: &str| put(&folder.join(format!("{name}-{end}.pem")), text);
    let mut paths = json!({
        "chain": put("chain", &signed.certificate)?,
        "key": put("key", &signed.key)?,
    });
    if let Some(trust) = trust {
        paths["trust"] = json!(put("trust", &trust.pem)?);
    }
    Ok(paths)
}

fn put(path: &Path, text: &str) -> anyhow::Result<String> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path.display().to_string())
}
