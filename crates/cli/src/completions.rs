//! `equipoise completions`: completion scripts for shells.

use clap::Args;
use clap_complete::Shell;

/// Prints a completion script for a shell.
#[derive(Debug, Args)]
#[command(after_help = "Example: equipoise completions bash > \
                        ~/.local/share/bash-completion/completions/equipoise")]
pub(crate) struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

/// Runs the command.
pub(crate) fn run(args: &CompletionsArgs, command: &mut clap::Command) -> anyhow::Result<()> {
    // Into memory first: the generator panics on a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "equipoise", &mut script);
    let script = String::from_utf8(script)?;
    crate::output::lines(script.lines().map(str::to_owned))?;
    Ok(())
}
