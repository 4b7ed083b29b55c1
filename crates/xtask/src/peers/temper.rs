//! Our server's side of the suite: a service whose methods behave as their names say.

use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;
use bytes::Bytes;
use equipoise::core::attachments::Attachments;
use equipoise::core::port::BoxFuture;
use equipoise::core::service::ServiceKey;
use equipoise::protocol::code;
use equipoise::protocol::{CallContext, Handler, RunningServer, Server, Status};
use equipoise::{BodyFormat, Reply};
use prost::Message;
use tokio::sync::{mpsc, watch};

use crate::peers::server::SERVICE;

/// What became of a call of `Hold` or `Never`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Event {
    /// It has started; where it came from.
    Started(SocketAddr),
    /// It was dropped before it was answered.
    Dropped,
}

/// A running server of ours.
#[derive(Debug)]
pub(crate) struct Ours {
    /// The server.
    pub(crate) server: RunningServer,
    events: mpsc::UnboundedReceiver<Event>,
    release: watch::Sender<bool>,
}

impl Ours {
    /// Serves with options.
    pub(crate) async fn serve(options: impl FnOnce(Server) -> Server) -> anyhow::Result<Self> {
        Self::named("ours", options).await
    }

    /// Serves with options, under the name that `Who` answers.
    pub(crate) async fn named(
        name: &'static str,
        options: impl FnOnce(Server) -> Server,
    ) -> anyhow::Result<Self> {
        let (tell, events) = mpsc::unbounded_channel();
        let (release, held) = watch::channel(false);
        let temper = Arc::new(Temper { name, tell, held });
        let server = Server::builder().service(ServiceKey::new(SERVICE), temper);
        let server = options(server).bind("127.0.0.1:0").await?;
        Ok(Self { server, events, release })
    }

    /// `host:port`.
    pub(crate) fn target(&self) -> String {
        self.server.local_addr().to_string()
    }

    /// The next event.
    pub(crate) async fn event(&mut self) -> anyhow::Result<Event> {
        self.events.recv().await.context("the service is gone")
    }

    /// Waits for `count` calls of `Hold` or `Never`; returns where they came from.
    pub(crate) async fn started(&mut self, count: usize) -> anyhow::Result<Vec<SocketAddr>> {
        let mut peers = Vec::new();
        for _ in 0..count {
            match self.event().await? {
                Event::Started(peer) => peers.push(peer),
                Event::Dropped => anyhow::bail!("a call was dropped"),
            }
        }
        Ok(peers)
    }

    /// Lets all held calls go.
    pub(crate) fn release(&self) {
        self.release.send_replace(true);
    }
}

/// `peers.Name`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Name {
    /// Who is greeted.
    #[prost(string, tag = "1")]
    pub(crate) text: String,
}

/// `peers.Greeting`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Greeting {
    /// The greeting.
    #[prost(string, tag = "1")]
    pub(crate) text: String,
}

struct Temper {
    name: &'static str,
    tell: mpsc::UnboundedSender<Event>,
    held: watch::Receiver<bool>,
}

impl Handler for Temper {
    fn call<'a>(&'a self, call: CallContext) -> BoxFuture<'a, Result<Reply, Status>> {
        Box::pin(self.answer(call))
    }
}

impl Temper {
    async fn answer(&self, call: CallContext) -> Result<Reply, Status> {
        match call.method() {
            "Echo" => Ok(Reply { body: call.body, attachments: call.attachments }),
            "Who" => Ok(reply(self.name)),
            "Remaining" => {
                Ok(reply(format!("{:?}", call.remaining().map(|left| left.as_millis()))))
            }
            "Fail" => Err(fail(&call)?),
            "Large" => Ok(reply(vec![7; usize::try_from(number(&call.body)?).unwrap_or(0)])),
            "Panic" => panic!("asked for"),
            "Greet" => greet(&call.body),
            "Add" => add(&call),
            "Hold" => {
                let mut held = self.held.clone();
                let guard = self.start(call.peer);
                // An error means that nobody can release it any more.
                let _ = held.wait_for(|released| *released).await;
                guard.end();
                Ok(reply(call.body))
            }
            "Never" => {
                let _guard = self.start(call.peer);
                pending().await
            }
            other => Err(Status::unknown_method(SERVICE, other)),
        }
    }

    fn start(&self, peer: SocketAddr) -> Guard {
        // Nobody listens once the cell has ended.
        let _ = self.tell.send(Event::Started(peer));
        Guard(Some(self.tell.clone()))
    }
}

/// Tells when a call is dropped before its end.
struct Guard(Option<mpsc::UnboundedSender<Event>>);

impl Guard {
    fn end(mut self) {
        self.0 = None;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(tell) = &self.0 {
            let _ = tell.send(Event::Dropped);
        }
    }
}

fn reply(body: impl Into<Bytes>) -> Reply {
    Reply { body: body.into(), attachments: Attachments::new() }
}

fn invalid(what: impl std::fmt::Display) -> Status {
    Status::new(code::INVALID_ARGUMENT, what.to_string())
}

fn number(text: &[u8]) -> Result<i64, Status> {
    let text = std::str::from_utf8(text).map_err(invalid)?;
    text.parse().map_err(invalid)
}

/// The status that the attachments ask for; the body is its text, the rest of them travels back.
fn fail(call: &CallContext) -> Result<Status, Status> {
    let asked = call.attachments.text("code").ok_or_else(|| invalid("no code"))?;
    let asked = asked.parse().map_err(invalid)?;
    let text = match call.format {
        BodyFormat::Protobuf | BodyFormat::Java => String::from_utf8_lossy(&call.body).into_owned(),
        BodyFormat::Json => serde_json::from_slice(&call.body).map_err(invalid)?,
    };
    let mut attachments = call.attachments.clone();
    attachments.remove("code");
    Ok(Status::new(asked, text).with_attachments(attachments))
}

fn greet(body: &[u8]) -> Result<Reply, Status> {
    let Name { text } = Name::decode(body).map_err(invalid)?;
    let greeting = Greeting { text: format!("Hello, {text}") };
    Ok(reply(greeting.encode_to_vec()))
}

/// The sum of the arguments, in JSON.
fn add(call: &CallContext) -> Result<Reply, Status> {
    let numbers: Vec<i64> = serde_json::from_slice(&call.body).map_err(invalid)?;
    Ok(reply(numbers.iter().sum::<i64>().to_string()))
}
