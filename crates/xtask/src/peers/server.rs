//! Python servers: started, asked what they saw, stopped and killed.

use anyhow::Context;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::peers::puppet::{Pending, Puppet};
use crate::peers::stage::Stage;

/// The service that Python servers offer, and ours as well.
pub(crate) const SERVICE: &str = "peers.Temper";

/// One Python server.
#[derive(Debug)]
pub(crate) struct PeerServer {
    puppet: Puppet,
    /// Where it listens.
    pub(crate) port: u64,
}

impl PeerServer {
    /// Starts one with settings of `peers/server.py`.
    pub(crate) async fn start(stage: &Stage, settings: Value) -> anyhow::Result<Self> {
        let (puppet, first) = Puppet::start(stage, "server.py", &settings).await?;
        let port = first["port"].as_u64().with_context(|| format!("no port in {first}"))?;
        Ok(Self { puppet, port })
    }

    /// Its address for our client.
    pub(crate) fn url(&self) -> String {
        format!("tri://127.0.0.1:{}", self.port)
    }

    /// How many calls of `method` its handlers have seen.
    pub(crate) async fn count(&self, method: &str) -> anyhow::Result<u64> {
        let seen = self.puppet.ask("seen", json!({})).await?;
        Ok(seen["counts"][method].as_u64().unwrap_or(0))
    }

    /// How many connections calls have come over.
    pub(crate) async fn connections(&self) -> anyhow::Result<u64> {
        let seen = self.puppet.ask("seen", json!({})).await?;
        seen["connections"].as_u64().with_context(|| format!("no connections in {seen}"))
    }

    /// Lets all calls go that `Hold` holds; returns how many.
    pub(crate) async fn release(&self) -> anyhow::Result<u64> {
        let answer = self.puppet.ask("release", json!({})).await?;
        answer["released"].as_u64().with_context(|| format!("nothing released in {answer}"))
    }

    /// Waits for the next event, which must be `what` happening to a held call; returns its body.
    pub(crate) async fn expect(&self, what: &str) -> anyhow::Result<Vec<u8>> {
        let event = self.puppet.event().await?;
        anyhow::ensure!(event["event"] == what, "{event} instead of {what}");
        let body = event["body"].as_str().with_context(|| format!("no body in {event}"))?;
        Ok(STANDARD.decode(body)?)
    }

    /// `server.stop(grace)`: answers once every call has ended, at most after `grace` seconds.
    pub(crate) async fn stop(&self, grace: u64) -> anyhow::Result<Pending> {
        self.puppet.send("stop", json!({ "grace": grace })).await
    }

    /// SIGKILL.
    pub(crate) fn kill(&self) -> anyhow::Result<()> {
        self.puppet.kill()
    }
}

/// Several Python servers with the same settings.
#[derive(Debug)]
pub(crate) struct Peers(pub(crate) Vec<PeerServer>);

impl Peers {
    /// Three of them.
    pub(crate) async fn three(stage: &Stage, settings: Value) -> anyhow::Result<Self> {
        let start = || PeerServer::start(stage, settings.clone());
        let (a, b, c) = tokio::try_join!(start(), start(), start())?;
        Ok(Self(vec![a, b, c]))
    }

    /// Their addresses for our client.
    pub(crate) fn urls(&self) -> Vec<String> {
        self.0.iter().map(PeerServer::url).collect()
    }

    /// How many calls of `method` each has seen.
    pub(crate) async fn counts(&self, method: &str) -> anyhow::Result<Vec<u64>> {
        let mut counts = Vec::new();
        for server in &self.0 {
            counts.push(server.count(method).await?);
        }
        Ok(counts)
    }
}
