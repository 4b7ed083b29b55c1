//! How a command fails: one line on the error output, and an exit code that scripts can rely on
//! (1 failed, 2 the command line was wrong, 130 interrupted).

use std::io;
use std::process::ExitCode;

/// The command line is wrong: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(String);

/// A failure that is printed as it is, for programs that read it: exit code 1.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Shown(pub(crate) String);

/// Ctrl-C or a signal to end: exit code 130, as shells have it.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub(crate) struct Interrupted;

/// An error of the command line; the message names the option.
pub(crate) fn usage(message: impl Into<String>) -> Usage {
    Usage(message.into())
}

/// Says what went wrong and with which code the process ends.
pub(crate) fn end(error: &anyhow::Error) -> ExitCode {
    // Whoever read our output has seen enough (`equipoise strategies | head`).
    let broken_pipe = |e: &(dyn std::error::Error + 'static)| {
        e.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    };
    if error.chain().any(broken_pipe) {
        return ExitCode::SUCCESS;
    }
    if let Some(Shown(text)) = error.downcast_ref() {
        eprintln!("{text}");
        return ExitCode::from(1);
    }
    eprintln!("error: {}", one_line(&format!("{error:#}")));
    if error.is::<Usage>() {
        ExitCode::from(2)
    } else if error.is::<Interrupted>() {
        ExitCode::from(130)
    } else {
        ExitCode::from(1)
    }
}

/// What an error of the parser says, without its usage text and its pointer to `--help`.
pub(crate) fn first_line(rendered: &str) -> String {
    let said = rendered
        .lines()
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let said: Vec<&str> = said.collect();
    one_line(said.join("\n").trim_start_matches("error: "))
}

/// Folds line breaks and runs of blanks, so that a message of any origin stays one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parsers_errors_become_one_line() {
        let rendered = "error: unexpected argument '--foo' found\n\n  tip: a similar argument exists: \
                        '--for'\n\nUsage: equipoise pick [OPTIONS]\n\nFor more information, try '--help'.\n";
        assert_eq!(
            first_line(rendered),
            "unexpected argument '--foo' found tip: a similar argument exists: '--for'"
        );
    }
}
