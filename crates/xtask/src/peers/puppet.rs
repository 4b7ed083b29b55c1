//! A peer's process and the lines that go to and fro: commands, answers by number, events.
//!
//! The process ends with its stdin, and is killed by its id when the puppet is dropped.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, bail};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};

use crate::peers::stage::Stage;

/// Counts peers, so that each has a log of its own.
static STARTED: AtomicUsize = AtomicUsize::new(0);

/// A running peer.
#[derive(Debug)]
pub(crate) struct Puppet {
    child: Mutex<Child>,
    stdin: tokio::sync::Mutex<ChildStdin>,
    waiting: Arc<Waiting>,
    events: tokio::sync::Mutex<mpsc::UnboundedReceiver<Value>>,
    next: AtomicU64,
    log: std::path::PathBuf,
}

/// Commands whose answers have not come, by number.
#[derive(Debug, Default)]
struct Waiting(Mutex<HashMap<u64, oneshot::Sender<Value>>>);

impl Waiting {
    fn with<R>(&self, what: impl FnOnce(&mut HashMap<u64, oneshot::Sender<Value>>) -> R) -> R {
        what(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// An answer that is on its way.
#[derive(Debug)]
pub(crate) struct Pending {
    /// The command's number.
    pub(crate) id: u64,
    answer: oneshot::Receiver<Value>,
}

impl Pending {
    /// Waits for it.
    pub(crate) async fn answer(self) -> anyhow::Result<Value> {
        let answer = self.answer.await.context("the peer ended before it answered")?;
        match answer.get("error") {
            Some(error) => bail!("the peer says: {error}"),
            None => Ok(answer),
        }
    }
}

impl Puppet {
    /// Starts a script and waits for its first line, which is returned too.
    pub(crate) async fn start(
        stage: &Stage,
        script: &str,
        argument: &Value,
    ) -> anyhow::Result<(Self, Value)> {
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let log = stage.log(&format!("{}-{number}", script.trim_end_matches(".py")));
        let errors = std::fs::File::create(&log).context("cannot make a peer's log")?;
        let mut command = stage.script(script, argument);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors).kill_on_drop(true);
        let mut child = command.spawn().with_context(|| format!("cannot start {script}"))?;
        let stdin = child.stdin.take().context("the peer has no stdin")?;
        let stdout = child.stdout.take().context("the peer has no stdout")?;
        let waiting = Arc::new(Waiting::default());
        let (tell, events) = mpsc::unbounded_channel();
        tokio::spawn(listen(stdout, waiting.clone(), tell));
        let puppet = Self {
            child: Mutex::new(child),
            stdin: stdin.into(),
            waiting,
            events: events.into(),
            next: AtomicU64::new(1),
            log,
        };
        let first = puppet.event().await?;
        Ok((puppet, first))
    }

    /// Sends a command; its answer comes when the peer has one.
    pub(crate) async fn send(&self, what: &str, mut command: Value) -> anyhow::Result<Pending> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        command["id"] = json!(id);
        command["do"] = json!(what);
        let (sender, answer) = oneshot::channel();
        self.waiting.with(|waiting| waiting.insert(id, sender));
        let line = format!("{command}\n");
        let mut stdin = self.stdin.lock().await;
        stdin.write_all(line.as_bytes()).await.with_context(|| self.ended())?;
        stdin.flush().await.with_context(|| self.ended())?;
        Ok(Pending { id, answer })
    }

    /// Sends a command and waits for its answer.
    pub(crate) async fn ask(&self, what: &str, command: Value) -> anyhow::Result<Value> {
        let pending = self.send(what, command).await?;
        pending.answer().await.with_context(|| format!("{what} at {}", self.log.display()))
    }

    /// The next event.
    pub(crate) async fn event(&self) -> anyhow::Result<Value> {
        self.events.lock().await.recv().await.with_context(|| self.ended())
    }

    /// Kills it at once (SIGKILL).
    pub(crate) fn kill(&self) -> anyhow::Result<()> {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        child.start_kill().context("cannot kill the peer")
    }

    fn ended(&self) -> String {
        let errors = std::fs::read_to_string(&self.log).unwrap_or_default();
        let last: Vec<&str> = errors.lines().rev().take(3).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        format!("the peer ended ({}): {}", self.log.display(), last.join(" | "))
    }
}

/// Sorts the peer's lines until there are no more.
async fn listen(stdout: ChildStdout, waiting: Arc<Waiting>, tell: mpsc::UnboundedSender<Value>) {
    let mut lines = BufReader::new(stdout).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        // What is no document is of no command: shown as the event that it is not.
        let document: Value = serde_json::from_str(&line).unwrap_or_else(|_| json!(line));
        let id = document.get("id").and_then(Value::as_u64);
        match id.and_then(|id| waiting.with(|waiting| waiting.remove(&id))) {
            // Nobody may wait any more.
            Some(sender) => drop(sender.send(document)),
            None => drop(tell.send(document)),
        }
    }
    // Whoever still waits learns that nothing will come.
    waiting.with(HashMap::clear);
}
