//! A file of endpoints: one per line, with comments. Errors name file and line.

use std::path::Path;

use anyhow::{Context, bail};
use equipoise::core::url::Url;

/// Reads a file of endpoints.
pub(crate) fn read(file: &Path) -> anyhow::Result<Vec<Url>> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("--endpoints-file {}", file.display()))?;
    let mut urls = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match Url::parse(line) {
            Ok(url) => urls.push(url),
            Err(error) => bail!("{}:{number}: {error}", file.display()),
        }
    }
    Ok(urls)
}
