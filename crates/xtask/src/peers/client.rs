//! A Python client: one process with one channel, and calls over it.

use anyhow::Context;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::peers::puppet::{Pending, Puppet};
use crate::peers::server::SERVICE;
use crate::peers::stage::Stage;

/// One Python client.
#[derive(Debug)]
pub(crate) struct PeerClient(Puppet);

/// A call that has not been sent.
#[derive(Debug)]
#[must_use = "nothing is sent by itself"]
pub(crate) struct Ask(Value);

impl Ask {
    /// A call of `method` of the service, or of a whole path that starts with a slash.
    pub(crate) fn new(method: &str, body: impl AsRef<[u8]>) -> Self {
        let path = match method.starts_with('/') {
            true => method.to_owned(),
            false => format!("/{SERVICE}/{method}"),
        };
        Self(json!({ "method": path, "body": STANDARD.encode(body), "metadata": [] }))
    }

    /// With one text in the metadata.
    pub(crate) fn text(mut self, key: &str, value: &str) -> Self {
        self.add(json!([key, value]));
        self
    }

    /// With bytes in the metadata; the key ends in `-bin`.
    pub(crate) fn bytes(mut self, key: &str, value: &[u8]) -> Self {
        self.add(json!([key, STANDARD.encode(value)]));
        self
    }

    /// With a timeout in seconds.
    pub(crate) fn timeout(mut self, seconds: f64) -> Self {
        self.0["timeout"] = json!(seconds);
        self
    }

    /// Compressed.
    pub(crate) fn gzip(mut self) -> Self {
        self.0["gzip"] = json!(true);
        self
    }

    fn add(&mut self, pair: Value) {
        if let Some(metadata) = self.0["metadata"].as_array_mut() {
            metadata.push(pair);
        }
    }
}

/// How a call ended, as Python saw it.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// The status.
    pub(crate) code: i64,
    /// Its text.
    pub(crate) details: String,
    /// The message; empty when there was none.
    pub(crate) body: Vec<u8>,
    initial: Vec<Pair>,
    trailing: Vec<Pair>,
}

type Pair = (String, Vec<u8>);

impl Answer {
    fn read(answer: &Value) -> anyhow::Result<Self> {
        Ok(Self {
            code: answer["code"].as_i64().with_context(|| format!("no code in {answer}"))?,
            details: answer["details"].as_str().unwrap_or_default().to_owned(),
            body: STANDARD.decode(answer["body"].as_str().unwrap_or_default())?,
            initial: pairs(&answer["initial"])?,
            trailing: pairs(&answer["trailing"])?,
        })
    }

    /// The body of a call that must have succeeded.
    pub(crate) fn ok(self) -> anyhow::Result<Vec<u8>> {
        anyhow::ensure!(self.code == 0, "status {}: {}", self.code, self.details);
        Ok(self.body)
    }

    /// A value of the trailers.
    pub(crate) fn trailer(&self, key: &str) -> Option<&[u8]> {
        value(&self.trailing, key)
    }

    /// A value of the headers.
    pub(crate) fn header(&self, key: &str) -> Option<&[u8]> {
        value(&self.initial, key)
    }
}

fn value<'a>(pairs: &'a [Pair], key: &str) -> Option<&'a [u8]> {
    pairs.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_slice())
}

fn pairs(metadata: &Value) -> anyhow::Result<Vec<Pair>> {
    let read = |pair: &Value| {
        let (key, value) = (pair[0].as_str().context("no key")?, pair[1].as_str());
        let value = value.context("no value")?;
        let value = match key.ends_with("-bin") {
            true => STANDARD.decode(value)?,
            false => value.as_bytes().to_vec(),
        };
        Ok((key.to_owned(), value))
    };
    metadata.as_array().into_iter().flatten().map(read).collect()
}

/// A call on its way.
#[derive(Debug)]
pub(crate) struct Running(Pending);

impl Running {
    /// Waits for its end.
    pub(crate) async fn answer(self) -> anyhow::Result<Answer> {
        Answer::read(&self.0.answer().await?)
    }
}

impl PeerClient {
    /// Starts one with settings of `peers/client.py` but the target.
    pub(crate) async fn start(
        stage: &Stage,
        target: &str,
        mut settings: Value,
    ) -> anyhow::Result<Self> {
        settings["target"] = json!(target);
        let (puppet, first) = Puppet::start(stage, "client.py", &settings).await?;
        anyhow::ensure!(first["ready"] == true, "{first} instead of ready");
        Ok(Self(puppet))
    }

    /// Starts a call.
    pub(crate) async fn begin(&self, ask: Ask) -> anyhow::Result<Running> {
        Ok(Running(self.0.send("call", ask.0).await?))
    }

    /// Calls and waits for the end.
    pub(crate) async fn call(&self, ask: Ask) -> anyhow::Result<Answer> {
        self.begin(ask).await?.answer().await
    }

    /// Withdraws a call.
    pub(crate) async fn cancel(&self, call: &Running) -> anyhow::Result<()> {
        self.0.ask("cancel", json!({ "call": call.0.id })).await.map(drop)
    }

    /// Anything else that `peers/client.py` can do.
    pub(crate) async fn ask(&self, what: &str, command: Value) -> anyhow::Result<Value> {
        self.0.ask(what, command).await
    }

    /// The next event.
    pub(crate) async fn event(&self) -> anyhow::Result<Value> {
        self.0.event().await
    }
}
