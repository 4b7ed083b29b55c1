//! Calls without a pause from several tasks at once, and who answered them.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail};
use equipoise::{Body, Consumer};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Calls at a time.
const WORKERS: usize = 16;

/// One call: the name of who answered, or why nobody did.
type Call = Pin<Box<dyn Future<Output = anyhow::Result<Vec<u8>>> + Send>>;

/// Calls that are being made until it is finished or dropped.
#[derive(Debug)]
pub(crate) struct Load {
    results: mpsc::UnboundedReceiver<anyhow::Result<Vec<u8>>>,
    stop: Arc<AtomicBool>,
    /// Aborted when dropped.
    tasks: JoinSet<()>,
    tally: Tally,
}

/// Answers by who gave them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally(BTreeMap<String, u64>);

impl Tally {
    /// How many `name` has given.
    pub(crate) fn of(&self, name: impl ToString) -> u64 {
        self.0.get(&name.to_string()).copied().unwrap_or(0)
    }

    /// All.
    pub(crate) fn total(&self) -> u64 {
        self.0.values().sum()
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let counts: Vec<String> = self.0.values().map(u64::to_string).collect();
        write!(f, "{}", counts.join("/"))
    }
}

impl Load {
    /// Calls `Who` of a consumer.
    pub(crate) fn on(consumer: &Consumer) -> Self {
        let consumer = consumer.clone();
        Self::of(move || {
            let call = consumer.call("Who").raw(Body::protobuf(""));
            Box::pin(async move { Ok(call.await?.body.to_vec()) })
        })
    }

    /// Makes any calls.
    pub(crate) fn of(call: impl Fn() -> Call + Send + Sync + 'static) -> Self {
        let (tell, results) = mpsc::unbounded_channel();
        let (call, stop) = (Arc::new(call), Arc::new(AtomicBool::new(false)));
        let mut tasks = JoinSet::new();
        for _ in 0..WORKERS {
            let (call, stop, tell) = (call.clone(), stop.clone(), tell.clone());
            tasks.spawn(async move {
                while !stop.load(Ordering::Relaxed) && tell.send(call().await).is_ok() {}
            });
        }
        Self { results, stop, tasks, tally: Tally::default() }
    }

    /// What has been answered so far.
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Goes on until the answers are `enough`. A call that failed ends it.
    pub(crate) async fn until(&mut self, enough: impl Fn(&Tally) -> bool) -> anyhow::Result<()> {
        while !enough(&self.tally) {
            let result = self.results.recv().await.context("the load has ended")?;
            self.take(result)?;
        }
        Ok(())
    }

    /// Makes `count` more calls.
    pub(crate) async fn more(&mut self, count: u64) -> anyhow::Result<()> {
        let until = self.tally.total() + count;
        self.until(|tally| tally.total() >= until).await
    }

    /// Starts no more calls and waits for those on their way.
    pub(crate) async fn finish(mut self) -> anyhow::Result<Tally> {
        self.stop.store(true, Ordering::Relaxed);
        while let Some(result) = self.tasks.join_next().await {
            result?;
        }
        while let Ok(result) = self.results.try_recv() {
            self.take(result)?;
        }
        Ok(self.tally)
    }

    fn take(&mut self, result: anyhow::Result<Vec<u8>>) -> anyhow::Result<()> {
        match result {
            Ok(name) => {
                *self.tally.0.entry(String::from_utf8_lossy(&name).into_owned()).or_default() += 1;
                Ok(())
            }
            Err(error) => bail!("call {} failed: {error:#}", self.tally.total() + 1),
        }
    }
}
