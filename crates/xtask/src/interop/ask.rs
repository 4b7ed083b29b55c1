//! Commands to a consumer that is a peer, and what it answers.

use anyhow::{Context, bail};
use serde_json::{Value, json};

use crate::interop::peer::Peer;

/// A call that a peer shall make.
#[derive(Clone, Debug)]
#[must_use = "nothing is sent by itself"]
pub(crate) struct Ask(Value);

impl Ask {
    /// A call of a method at a URL.
    pub(crate) fn new(url: impl Into<String>, interface: &str, method: &str) -> Self {
        let url = url.into();
        Self(
            json!({ "url": url, "interface": interface, "method": method, "types": [], "args": [] }),
        )
    }

    /// With an argument of a type in Java source form.
    pub(crate) fn arg(mut self, kind: &str, value: Value) -> Self {
        for (list, item) in [("types", json!(kind)), ("args", value)] {
            if let Some(list) = self.0[list].as_array_mut() {
                list.push(item);
            }
        }
        self
    }

    /// With a protobuf message as its argument.
    pub(crate) fn message(self, name: &str, fields: Value) -> Self {
        let kind = format!("io.equipoise.interop.proto.{name}");
        self.arg(&kind, json!({ "message": name, "fields": fields }))
    }

    /// With anything else: `timeout`, `group`, `version`, `generic`, `attachments`.
    pub(crate) fn with(mut self, key: &str, value: Value) -> Self {
        self.0[key] = value;
        self
    }

    /// Has it called.
    pub(crate) async fn call(self, peer: &Peer) -> anyhow::Result<Answer> {
        Ok(Answer(peer.ask("call", self.0).await?))
    }
}

/// What a call came to, as the peer saw it.
#[derive(Clone, Debug)]
pub(crate) struct Answer(Value);

impl Answer {
    /// The value of a call that must have succeeded, as the peer describes it.
    pub(crate) fn value(&self) -> anyhow::Result<&Value> {
        match self.0.get("thrown") {
            Some(thrown) => bail!("the peer's call threw {thrown}"),
            None => self.0.get("value").with_context(|| format!("no value in {}", self.0)),
        }
    }

    /// The text form of the protobuf message that it returned.
    pub(crate) fn message(&self) -> anyhow::Result<&str> {
        let value = self.value()?;
        value["proto"].as_str().with_context(|| format!("{value} is no message"))
    }

    /// What a call that must have failed threw.
    pub(crate) fn thrown(&self) -> anyhow::Result<&Value> {
        self.0.get("thrown").with_context(|| format!("nothing was thrown: {}", self.0))
    }

    /// An attachment of the response.
    pub(crate) fn attachment(&self, key: &str) -> Option<&str> {
        let pairs = self.0["attachments"]["map"].as_array()?;
        pairs.iter().find(|pair| pair[0] == key)?[1].as_str()
    }
}
