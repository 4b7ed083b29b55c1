//! The client against a peer made by hand, in memory and on a paused clock.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use equipoise_core::attachments::{AttachmentValue, Attachments};
use equipoise_core::hash::key::Argument;
use equipoise_core::outcome::{Failure, FailureKind, Sent};
use equipoise_core::port::{Arguments, Body, Connection, Reply, Request};
use equipoise_core::service::ServiceKey;
use equipoise_core::url::Url;
use equipoise_hessian::{Reader, Token, Writer};
use futures_util::FutureExt;
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::*;
use crate::dubbo::client::channel::Shared;
use crate::dubbo::client::connection::DubboConnection;
use crate::dubbo::client::settings::Settings;
use crate::dubbo::frame::{Header, status};
use crate::dubbo::incoming::{Frames, Incoming};
use crate::dubbo::{events, outgoing};

mod answers;
mod lives;
mod questions;

/// The arguments `"world", 7`.
const WORLD: &[u8] = b"\x05world\x97";
/// The attachments that Java sends with every answer.
const DUBBO: &[u8] = b"H\x05dubbo\x052.0.2Z";

#[derive(Debug)]
struct Given(Bytes);

impl Arguments for Given {
    fn descriptor(&self) -> &str {
        "Ljava/lang/String;I"
    }

    fn joined(&self) -> Result<Bytes, Failure> {
        Ok(self.0.clone())
    }

    fn each(&self) -> Result<Vec<Bytes>, Failure> {
        Ok(vec![self.0.clone()])
    }

    fn hashed(&self) -> Vec<Argument> {
        Vec::new()
    }
}

fn with_arguments(bytes: impl Into<Bytes>) -> Request {
    Request {
        service: Arc::new(ServiceKey::new("com.example.GreetService")),
        method: "greet".into(),
        body: Body::Java(Arc::new(Given(bytes.into()))),
        types: None,
        one_way: false,
        attachments: Attachments::new(),
        timeout: None,
    }
}

fn greet() -> Request {
    with_arguments(WORLD)
}

/// The provider's end of a connection.
struct Peer {
    stream: DuplexStream,
    frames: Frames,
}

impl Peer {
    /// The next frame, `None` at the end of the stream.
    async fn frame(&mut self) -> Option<(Header, Bytes)> {
        loop {
            if let Some(incoming) = self.frames.next().unwrap() {
                let Incoming::Frame(header, body) = incoming else { panic!("{incoming:?}") };
                return Some((header, body));
            }
            if self.frames.read(&mut self.stream).await.unwrap_or(0) == 0 {
                return None;
            }
        }
    }

    /// The number of the next call.
    async fn call(&mut self) -> u64 {
        let (header, _) = self.frame().await.unwrap();
        assert!(header.request && header.two_way && !header.event);
        header.id
    }

    async fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    async fn answer(&mut self, id: u64, status: u8, body: &[u8]) {
        let header = Header::response(id, status, body.len()).encode();
        self.write(&[&header, body].concat()).await;
    }

    async fn ok(&mut self, id: u64) {
        self.answer(id, status::OK, &[&[0x94, 0x90 + 7], DUBBO].concat()).await;
    }
}

fn settings(client: &Dubbo, query: &str) -> Settings {
    let target = Url::parse(&format!("dubbo://10.0.0.1:20880?{query}")).unwrap();
    Settings::new(&client.options, &target)
}

/// A connection whose wire holds `wire` bytes.
fn connected_by(settings: Settings, wire: usize) -> (Arc<DubboConnection>, Peer) {
    let (near, far) = tokio::io::duplex(wire);
    let shared = Arc::new(Shared::default());
    let channel = connect::start(near, "10.0.0.1:20880", &shared, &settings);
    let connection = DubboConnection::new(vec![channel], shared, settings);
    (Arc::new(connection), Peer { stream: far, frames: Frames::new(16 * 1024 * 1024) })
}

fn connected() -> (Arc<DubboConnection>, Peer) {
    connected_by(settings(&Dubbo::new(), ""), 64 * 1024)
}

type Call = JoinHandle<Result<Reply, Failure>>;

/// Sends in a task of its own.
fn send(connection: &Arc<DubboConnection>, request: Request) -> Call {
    let connection = connection.clone();
    tokio::spawn(async move { connection.send(request).await })
}

/// What the peer's answer to one call makes of it.
async fn answered(status: u8, body: &[u8]) -> Result<Reply, Failure> {
    let (connection, mut peer) = connected();
    let call = send(&connection, greet());
    let id = peer.call().await;
    peer.answer(id, status, body).await;
    call.await.unwrap()
}

fn text(text: &str) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.str(text);
    writer.into_bytes()
}

fn channel(connection: &DubboConnection) -> &channel::Channel {
    connection.only_channel()
}

/// Lets every task run until none can go on.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}
