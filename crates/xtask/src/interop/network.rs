//! The private network: a namespace with a pair of devices, both ends inside, and no way out.
//!
//! Dubbo refuses addresses of the loopback device, so peers need others. The namespace goes with
//! the last process in it. What cannot be made is an error; there is no way without it.

use std::convert::Infallible;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, ensure};

use crate::interop::INSIDE;

/// Where our side listens.
pub(crate) const OURS: &str = "10.201.0.1";

/// Where peers listen.
pub(crate) const THEIRS: &str = "10.201.0.2";

/// Executes this program once more, in a namespace of its own. Returns only when that fails.
pub(crate) fn enter(words: &[String]) -> anyhow::Result<Infallible> {
    let program = std::env::current_exe().context("current_exe: cannot find this program")?;
    let mut command = Command::new("unshare");
    command.arg("--net");
    // Whoever is not root becomes it inside.
    if std::fs::metadata("/proc/self").context("stat /proc/self")?.uid() != 0 {
        command.arg("--map-root-user");
    }
    command.arg("--").arg(program).args(["interop", INSIDE]).args(words);
    Err(command.exec()).context("execve unshare: cannot make the private network")
}

/// Makes the devices.
pub(crate) fn set() -> anyhow::Result<()> {
    let (ours, theirs) = (format!("{OURS}/24"), format!("{THEIRS}/24"));
    ip(&["link", "set", "lo", "up"])?;
    ip(&["link", "add", "ours", "type", "veth", "peer", "name", "theirs"])?;
    ip(&["addr", "add", &ours, "dev", "ours"])?;
    ip(&["addr", "add", &theirs, "dev", "theirs"])?;
    ip(&["link", "set", "ours", "up"])?;
    ip(&["link", "set", "theirs", "up"])?;
    let ways = ip(&["route", "show", "default"])?;
    ensure!(ways.is_empty(), "ip route show default: a route leads out: {ways}");
    Ok(())
}

fn ip(arguments: &[&str]) -> anyhow::Result<String> {
    let shown = format!("ip {}", arguments.join(" "));
    let output = Command::new("ip")
        .args(arguments)
        .output()
        .with_context(|| format!("cannot run {shown}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{shown}: {}", said.trim());
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
