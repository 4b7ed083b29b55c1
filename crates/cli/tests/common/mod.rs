//! Runs the built binary, and reads what it prints.

#![allow(dead_code)] // each test binary uses its part
#![allow(clippy::unwrap_used)] // a test may panic

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};

use serde_json::Value;

/// What a finished command left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The one line that an error is.
    pub(crate) fn error(&self) -> &str {
        let lines: Vec<&str> = self.stderr.lines().collect();
        assert_eq!(lines.len(), 1, "{self:#?}");
        lines[0].strip_prefix("error: ").unwrap_or_else(|| panic!("{self:#?}"))
    }

    /// Standard output as one JSON document, of a command that succeeded.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.code, Some(0), "{self:#?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:#?}"))
    }
}

pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equipoise"));
    command.env_remove("EQUIPOISE_LOG").stdin(Stdio::null());
    command
}

pub(crate) fn equipoise<S: AsRef<str>>(args: &[S]) -> Ran {
    let done = command().args(args.iter().map(AsRef::as_ref)).output().unwrap();
    Ran {
        code: done.status.code(),
        stdout: String::from_utf8(done.stdout).unwrap(),
        stderr: String::from_utf8(done.stderr).unwrap(),
    }
}

/// Words of a command line; blanks separate.
pub(crate) fn run(line: &str) -> Ran {
    equipoise(&line.split_whitespace().collect::<Vec<_>>())
}

/// A file of the shared vectors.
pub(crate) fn vectors(name: &str) -> Value {
    let path = format!("{}/../../tests/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A provider that runs until it is dropped.
pub(crate) struct Serving {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    /// As printed: with service and parameters.
    pub(crate) url: String,
}

impl Serving {
    pub(crate) fn start(options: &str) -> Self {
        let mut child = command()
            .args(["serve", "--until-stdin-closes", "--threads", "1"])
            .args(options.split_whitespace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        assert!(url.ends_with('\n'), "the provider did not start");
        Self { stdin: child.stdin.take(), child, url: url.trim().to_owned() }
    }

    /// `host:port`.
    pub(crate) fn address(&self) -> &str {
        let rest = self.url.strip_prefix("tri://").unwrap();
        rest.split('/').next().unwrap()
    }

    /// Closes its standard input and waits for its end.
    pub(crate) fn close_stdin(mut self) -> Option<i32> {
        drop(self.stdin.take());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Chi-square of counts against expected shares (0 to 1).
pub(crate) fn chi_square(counts: &[u64], shares: &[f64]) -> f64 {
    let total: u64 = counts.iter().sum();
    let terms = counts.iter().zip(shares).map(|(count, share)| {
        let expected = share * total as f64;
        (*count as f64 - expected).powi(2) / expected
    });
    terms.sum()
}
