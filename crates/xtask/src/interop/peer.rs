//! A peer's process: settings, commands and answers by number.
//!
//! It is ready when it says so, ends with its stdin, and is killed by its id when it is dropped. Its
//! error output goes through a pipe into a file of bounded size.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::oneshot;

/// Most of a log that is kept. A peer that loops over an error writes hundreds of megabytes.
const LOG_BYTES: usize = 10 * 1024 * 1024;

/// Time to get ready, and to end.
const LIMIT: Duration = Duration::from_secs(50);

/// A running peer.
#[derive(Debug)]
pub(crate) struct Peer {
    child: tokio::sync::Mutex<Child>,
    stdin: tokio::sync::Mutex<Option<ChildStdin>>,
    waiting: Arc<Waiting>,
    next: AtomicU64,
    log: PathBuf,
    /// What it said when it was ready.
    pub(crate) ready: Value,
}

/// Commands whose answers have not come, by number; `None` once no more will come.
#[derive(Debug)]
struct Waiting(Mutex<Option<HashMap<u64, oneshot::Sender<Value>>>>);

impl Waiting {
    fn add(&self, id: u64) -> Option<oneshot::Receiver<Value>> {
        let (sender, answer) = oneshot::channel();
        self.lock().as_mut()?.insert(id, sender);
        Some(answer)
    }

    fn take(&self, id: u64) -> Option<oneshot::Sender<Value>> {
        self.lock().as_mut()?.remove(&id)
    }

    fn close(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<HashMap<u64, oneshot::Sender<Value>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Peer {
    /// Starts a process and waits until it is ready.
    pub(crate) async fn start(mut command: Command, log: PathBuf) -> anyhow::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let shown = log.display().to_string();
        let mut child = command.kill_on_drop(true).spawn().with_context(|| shown.clone())?;
        let stdin = child.stdin.take().context("the peer has no stdin")?;
        let stdout = child.stdout.take().context("the peer has no stdout")?;
        let stderr = child.stderr.take().context("the peer has no stderr")?;
        let file = tokio::fs::File::create(&log).await.context("cannot make a peer's log")?;
        tokio::spawn(keep(stderr, file));
        let waiting = Arc::new(Waiting(Mutex::new(Some(HashMap::new()))));
        let (tell, first) = oneshot::channel();
        tokio::spawn(listen(stdout, waiting.clone(), tell));
        let first = tokio::time::timeout(LIMIT, first).await;
        let first = first.with_context(|| format!("not ready within {LIMIT:?}: {}", end(&log)))?;
        let ready = first.with_context(|| format!("ended before it was ready: {}", end(&log)))?;
        Ok(Self {
            child: child.into(),
            stdin: Some(stdin).into(),
            waiting,
            next: AtomicU64::new(1),
            log,
            ready,
        })
    }

    /// Sends a command and waits for its answer.
    pub(crate) async fn ask(&self, what: &str, mut command: Value) -> anyhow::Result<Value> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        command["id"] = json!(id);
        command["do"] = json!(what);
        let answer = self.waiting.add(id).with_context(|| self.ended())?;
        let line = format!("{command}\n");
        if let Some(stdin) = self.stdin.lock().await.as_mut() {
            stdin.write_all(line.as_bytes()).await.with_context(|| self.ended())?;
            stdin.flush().await.with_context(|| self.ended())?;
        }
        let answer = answer.await.with_context(|| self.ended())?;
        match answer.get("error") {
            Some(error) => bail!("{what} at {}: {error}", self.log.display()),
            None => Ok(answer),
        }
    }

    /// Closes its stdin and waits for its end, which is a kill if it does not come.
    pub(crate) async fn stop(&self) {
        drop(self.stdin.lock().await.take());
        let mut child = self.child.lock().await;
        if tokio::time::timeout(LIMIT, child.wait()).await.is_err() {
            // Gone already is as good.
            let _ = child.kill().await;
        }
    }

    fn ended(&self) -> String {
        format!("the peer ended: {}", end(&self.log))
    }
}

/// The log's name and last lines.
fn end(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let last: Vec<&str> = text.lines().rev().take(5).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    format!("{}: {}", log.display(), last.join(" | "))
}

/// Writes what comes until it is too much, and then only reads it.
async fn keep(mut output: impl AsyncRead + Unpin, mut file: tokio::fs::File) {
    let mut buffer = vec![0; 64 * 1024];
    let mut left = LOG_BYTES;
    while let Ok(count @ 1..) = output.read(&mut buffer).await {
        let kept = count.min(left);
        left -= kept;
        // A log that cannot be written must not stop the peer.
        if let Some(part) = buffer.get(..kept)
            && !part.is_empty()
        {
            let _ = file.write_all(part).await;
            let _ = file.flush().await;
        }
    }
}

/// Sorts the peer's lines until there are no more.
async fn listen(stdout: ChildStdout, waiting: Arc<Waiting>, ready: oneshot::Sender<Value>) {
    let mut lines = BufReader::new(stdout).lines();
    let mut ready = Some(ready);
    while let Ok(Some(line)) = lines.next_line().await {
        if let Some(document) = line.strip_prefix("READY ") {
            let document = serde_json::from_str(document).unwrap_or_default();
            // Nobody may wait any more.
            let _ = ready.take().map(|ready| ready.send(document));
            continue;
        }
        let Ok(answer) = serde_json::from_str::<Value>(&line) else { continue };
        let id = answer.get("id").and_then(Value::as_u64);
        if let Some(sender) = id.and_then(|id| waiting.take(id)) {
            let _ = sender.send(answer);
        }
    }
    // Whoever still waits learns that nothing will come.
    waiting.close();
}
