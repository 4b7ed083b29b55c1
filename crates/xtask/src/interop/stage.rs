//! What cells share: peers that are started when the first cell wants them, and free ports.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context;
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::sync::OnceCell;

use crate::interop::build;
use crate::interop::network::{OURS, THEIRS};
use crate::interop::peer::Peer;

/// A release of Dubbo for Java, by the name of its module.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Release {
    /// The main one.
    Java33,
    /// The last of 3.2.
    Java32,
    /// The last of 2.7.
    Java27,
}

/// What a column is about: a peer and a protocol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire {
    /// The peer.
    pub(crate) release: Release,
    /// The scheme of URLs.
    pub(crate) scheme: &'static str,
}

impl Wire {
    /// The main release over `dubbo`.
    pub(crate) const DUBBO: Self = Self { release: Release::Java33, scheme: "dubbo" };
    /// The main release over `tri`.
    pub(crate) const TRI: Self = Self { release: Release::Java33, scheme: "tri" };
    /// The last of 3.2.
    pub(crate) const JAVA32: Self = Self { release: Release::Java32, scheme: "dubbo" };
    /// The last of 2.7.
    pub(crate) const JAVA27: Self = Self { release: Release::Java27, scheme: "dubbo" };
}

impl Release {
    /// Its module.
    fn module(self) -> &'static str {
        match self {
            Release::Java33 => "dubbo-3.3",
            Release::Java32 => "dubbo-3.2",
            Release::Java27 => "dubbo-2.7",
        }
    }

    /// Where its peers are kept.
    fn place(self) -> usize {
        match self {
            Release::Java33 => 0,
            Release::Java32 => 1,
            Release::Java27 => 2,
        }
    }
}

/// A provider that runs, and where.
#[derive(Debug)]
pub(crate) struct Provider {
    /// Its process.
    pub(crate) peer: Peer,
    dubbo: u16,
    tri: u16,
}

impl Provider {
    /// Its address for one of the protocols.
    pub(crate) fn url(&self, wire: Wire) -> String {
        let port = if wire.scheme == "tri" { self.tri } else { self.dubbo };
        format!("{}://{THEIRS}:{port}", wire.scheme)
    }
}

/// What all cells share.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    providers: [OnceCell<Provider>; 3],
    consumers: [OnceCell<Peer>; 3],
    started: AtomicUsize,
}

impl Stage {
    /// An empty one.
    pub(crate) fn set() -> anyhow::Result<Self> {
        std::fs::create_dir_all(build::target().join("logs")).context("cannot make the logs")?;
        Ok(Self::default())
    }

    /// The Java provider that cells share.
    pub(crate) async fn provider(&self, wire: Wire) -> anyhow::Result<&Provider> {
        let place = self.providers.get(wire.release.place()).context("no such release")?;
        place.get_or_try_init(|| self.start_provider(wire.release, json!({}))).await
    }

    /// The Java consumer that cells share.
    pub(crate) async fn consumer(&self, wire: Wire) -> anyhow::Result<&Peer> {
        let place = self.consumers.get(wire.release.place()).context("no such release")?;
        place.get_or_try_init(|| self.start_consumer(wire.release, json!({}))).await
    }

    /// A Java provider of a cell's own.
    pub(crate) async fn start_provider(
        &self,
        release: Release,
        mut settings: Value,
    ) -> anyhow::Result<Provider> {
        let (dubbo, tri) = (free(THEIRS)?, free(THEIRS)?);
        settings["name"] = json!("java-provider");
        settings["host"] = json!(THEIRS);
        settings["dubbo"] = json!(dubbo);
        // Releases before it have no `tri`, or one that is not of interest here.
        if release == Release::Java33 {
            settings["tri"] = json!(tri);
        }
        let peer = self.java(release, "provider", &settings).await?;
        Ok(Provider { peer, dubbo, tri })
    }

    /// A Java consumer of a cell's own.
    pub(crate) async fn start_consumer(
        &self,
        release: Release,
        mut settings: Value,
    ) -> anyhow::Result<Peer> {
        settings["name"] = json!("java-consumer");
        self.java(release, "consumer", &settings).await
    }

    /// A process that reads and writes single values.
    pub(crate) async fn start_vectors(&self, wire: Wire) -> anyhow::Result<Peer> {
        self.java(wire.release, "vectors", &json!({})).await
    }

    async fn java(&self, release: Release, role: &str, settings: &Value) -> anyhow::Result<Peer> {
        let name =
            format!("{}-{role}-{}", release.module(), self.started.fetch_add(1, Ordering::Relaxed));
        let built = build::target().join(release.module());
        let home = home(&name)?;
        let mut command = Command::new("java");
        // Their Hessian is of the time before modules: exceptions cannot be read without.
        if release != Release::Java33 {
            command.args(["--add-opens", "java.base/java.lang=ALL-UNNAMED"]);
            command.args(["--add-opens", "java.base/java.math=ALL-UNNAMED"]);
        }
        command
            // Netty 4.2 checks host names, and Dubbo 3.3.6 does not tell it any.
            .arg("-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE")
            // Quick to start rather than quick.
            .args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m"])
            .arg("-Djava.net.preferIPv4Stack=true")
            .arg(format!("-Duser.home={}", home.display()))
            .arg("-cp")
            .arg(format!("{0}/classes:{0}/lib/*", built.display()))
            .args(["io.equipoise.interop.Main", role])
            .arg(settings.to_string())
            .current_dir(home);
        Peer::start(command, build::target().join("logs").join(format!("{name}.log"))).await
    }

    /// Ends the peers that cells shared.
    pub(crate) async fn clear(&self) {
        for provider in self.providers.iter().filter_map(OnceCell::get) {
            provider.peer.stop().await;
        }
        for consumer in self.consumers.iter().filter_map(OnceCell::get) {
            consumer.stop().await;
        }
    }
}

/// An empty home for one process: Dubbo keeps caches there, and they must not reach another.
fn home(name: &str) -> anyhow::Result<PathBuf> {
    let home = build::target().join("homes").join(name);
    match std::fs::remove_dir_all(&home) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).context("cannot clear a peer's home");
        }
        _ => {}
    }
    std::fs::create_dir_all(&home).context("cannot make a peer's home")?;
    Ok(home)
}

/// A port that nobody has. Nothing else lives in the private network, so nobody takes it either.
fn free(host: &str) -> anyhow::Result<u16> {
    let listener = std::net::TcpListener::bind((host, 0)).context("no free port")?;
    Ok(listener.local_addr()?.port())
}

/// Where servers of ours listen.
pub(crate) fn ours() -> String {
    format!("{OURS}:0")
}
