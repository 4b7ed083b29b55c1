//! Downloads and builds the peers, outside of the private network.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

/// The workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new(".")).to_owned()
}

/// Where peers are built and run.
pub(crate) fn target() -> PathBuf {
    root().join("target").join("interop")
}

/// Builds what is not built.
pub(crate) fn all() -> anyhow::Result<()> {
    let java = root().join("interop").join("java");
    once("java", &java, || maven(&java))
}

/// Builds unless nothing in `sources` has changed since it was built.
fn once(
    name: &str,
    sources: &Path,
    build: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let stamp = target().join(format!("{name}.built"));
    let mark = fingerprint(sources)?;
    if std::fs::read_to_string(&stamp).is_ok_and(|found| found == mark) {
        return Ok(());
    }
    eprintln!("interop: building the peers in {}", sources.display());
    build()?;
    std::fs::create_dir_all(target()).context("cannot make target/interop")?;
    std::fs::write(&stamp, mark).context("cannot write the stamp of a build")
}

/// Of names and contents of all files.
fn fingerprint(folder: &Path) -> anyhow::Result<String> {
    let mut hasher = DefaultHasher::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(&folder)
            .with_context(|| format!("cannot list {}", folder.display()))?;
        let mut paths = entries.map(|e| Ok(e?.path())).collect::<std::io::Result<Vec<_>>>()?;
        paths.sort_unstable();
        for path in paths {
            if path.is_dir() {
                open.push(path);
                continue;
            }
            path.hash(&mut hasher);
            std::fs::read(&path)?.hash(&mut hasher);
        }
    }
    Ok(format!("{:016x}\n", hasher.finish()))
}

/// All modules, from the local repository if it has everything.
fn maven(java: &Path) -> anyhow::Result<()> {
    let run = |offline: &[&str]| {
        Command::new("mvn")
            .args(["--batch-mode", "--quiet"])
            .args(offline)
            .arg("compile")
            .current_dir(java)
            .stdin(Stdio::null())
            .output()
            .context("cannot run mvn")
    };
    if run(&["--offline"])?.status.success() {
        return Ok(());
    }
    let built = run(&[])?;
    let said = String::from_utf8_lossy(&built.stdout);
    ensure!(built.status.success(), "mvn compile in {}: {said}", java.display());
    Ok(())
}
