//! What every cell needs: an interpreter with gRPC in it, and places for scripts and logs.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, ensure};
use tokio::process::Command;

/// Where things are.
#[derive(Debug)]
pub(crate) struct Stage {
    /// The interpreter of the virtual environment.
    python: PathBuf,
    /// `peers/` of the workspace.
    scripts: PathBuf,
    /// Where the error output of peers goes, a file each.
    logs: PathBuf,
}

impl Stage {
    /// Makes the environment unless it is there as the requirements want it.
    pub(crate) async fn set() -> anyhow::Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .nth(2)
            .context("the workspace has no root")?;
        let scripts = root.join("peers");
        let home = root.join("target").join("peers");
        let logs = home.join("logs");
        tokio::fs::create_dir_all(&logs).await.context("cannot make target/peers/logs")?;
        let python = environment(&home, &scripts.join("requirements.txt")).await?;
        Ok(Self { python, scripts, logs })
    }

    /// The command that starts one of the scripts with its one argument.
    pub(crate) fn script(&self, name: &str, argument: &serde_json::Value) -> Command {
        let mut command = Command::new(&self.python);
        // Nothing but what the environment holds, and no bytecode beside the sources.
        command.args(["-E", "-s", "-B"]).arg(self.scripts.join(name)).arg(argument.to_string());
        command
    }

    /// Where the error output of the peer called `name` goes.
    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.logs.join(format!("{name}.log"))
    }
}

/// The interpreter of a virtual environment with exactly the `requirements` in it.
async fn environment(home: &Path, requirements: &Path) -> anyhow::Result<PathBuf> {
    let venv = home.join("venv");
    let python = venv.join("bin").join("python");
    let wanted = tokio::fs::read_to_string(requirements)
        .await
        .with_context(|| format!("cannot read {}", requirements.display()))?;
    let version = ask(Command::new("python3").arg("--version")).await?;
    let stamp = home.join("installed");
    let mark = format!("{version}\n{wanted}");
    let installed = tokio::fs::read_to_string(&stamp).await.is_ok_and(|found| found == mark);
    if installed && tokio::fs::try_exists(&python).await.unwrap_or(false) {
        return Ok(python);
    }
    // Gone before the work begins: half an environment must not pass for a whole one.
    if let Err(error) = tokio::fs::remove_file(&stamp).await
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error).context("cannot remove the stamp of the environment");
    }
    eprintln!("peers: installing gRPC for Python into {}", venv.display());
    ask(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv)).await?;
    ask(Command::new(&python)
        .args(["-m", "pip", "install", "--quiet", "--only-binary", ":all:", "--requirement"])
        .arg(requirements))
    .await?;
    tokio::fs::write(&stamp, mark).await.context("cannot write the stamp of the environment")?;
    Ok(python)
}

/// Runs a command to its end and returns what it printed.
async fn ask(command: &mut Command) -> anyhow::Result<String> {
    let shown = format!("{:?}", command.as_std());
    let output = command
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .with_context(|| format!("cannot run {shown}"))?;
    ensure!(
        output.status.success(),
        "{shown}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
