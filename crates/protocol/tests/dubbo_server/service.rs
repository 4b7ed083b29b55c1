//! The service of these tests.

use std::future::pending;
use std::sync::Arc;

use bytes::Bytes;
use equipoise_core::attachments::{AttachmentValue, Attachments};
use equipoise_core::outcome::Exception;
use equipoise_core::port::{BodyFormat, BoxFuture, Reply};
use equipoise_core::service::ServiceKey;
use equipoise_hessian::{Reader, Text, Token, Writer};
use equipoise_protocol::java::JavaValues;
use equipoise_protocol::{CallContext, Handler, RunningServer, Server, Status};
use tokio::sync::{mpsc, watch};

pub(crate) const SERVICE: &str = "com.example.GreetService";

/// What happened to calls.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Seen {
    Started,
    Dropped,
    Noted(String),
}

/// The test's end of the service.
pub(crate) struct Hold {
    pub(crate) seen: mpsc::UnboundedReceiver<Seen>,
    release: watch::Sender<bool>,
}

impl Hold {
    pub(crate) async fn started(&mut self, count: usize) {
        for _ in 0..count {
            assert_eq!(self.seen.recv().await, Some(Seen::Started));
        }
    }

    pub(crate) fn release(&self) {
        self.release.send_replace(true);
    }
}

pub(crate) struct Greeter {
    seen: mpsc::UnboundedSender<Seen>,
    release: watch::Receiver<bool>,
}

pub(crate) fn greeter() -> (Arc<Greeter>, Hold) {
    let (sender, seen) = mpsc::unbounded_channel();
    let (release, held) = watch::channel(false);
    (Arc::new(Greeter { seen: sender, release: held }), Hold { seen, release })
}

/// A server of the service with options, on a port of its own.
pub(crate) async fn serve(options: impl FnOnce(Server) -> Server) -> (RunningServer, Hold) {
    let (greeter, hold) = greeter();
    let server = options(Server::builder().service(ServiceKey::new(SERVICE), greeter));
    (server.bind("127.0.0.1:0").await.unwrap(), hold)
}

struct Guard(Option<mpsc::UnboundedSender<Seen>>);

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(seen) = self.0.take() {
            let _ = seen.send(Seen::Dropped);
        }
    }
}

fn value(write: impl FnOnce(&mut Writer)) -> Result<Reply, Status> {
    let mut writer = Writer::new();
    write(&mut writer);
    Ok(Reply { body: writer.into_bytes().into(), attachments: Attachments::new() })
}

fn text(text: &str) -> Result<Reply, Status> {
    value(|writer| writer.str(text))
}

impl Greeter {
    async fn answer(&self, call: CallContext) -> Result<Reply, Status> {
        if call.format == BodyFormat::Protobuf {
            return Ok(Reply { body: call.body, attachments: Attachments::new() });
        }
        let Some(java) = &call.java else { return text("json") };
        let arguments = match &java.values {
            JavaValues::Joined(arguments) => arguments.clone(),
            // Of a generic call; those here are scalars, which may stand side by side.
            JavaValues::Each(each) => each.concat().into(),
        };
        let mut reader = Reader::new(&arguments);
        let first = match arguments.is_empty() {
            true => None,
            false => Some(reader.next().unwrap()),
        };
        let word = match &first {
            Some(Token::Str(Text::Str(text))) => text.as_ref(),
            _ => "",
        };
        match call.method() {
            "greet" => {
                let Token::Int(times) = reader.next().unwrap() else { panic!("no int") };
                let mut reply = text(&format!("hello {word} x{times}"))?;
                if call.attachments.text("want").is_some() {
                    reply.attachments.set("srv-key", "srv-val");
                }
                Ok(reply)
            }
            "nothing" => Ok(Reply { body: Bytes::new(), attachments: Attachments::new() }),
            "null" => value(Writer::null),
            "note" => {
                self.seen.send(Seen::Noted(word.to_owned())).unwrap();
                value(Writer::null)
            }
            "service" => text(&call.service.to_string()),
            "types" => text(java.types.as_deref().unwrap_or("none")),
            "deadline" => text(&call.remaining().is_some().to_string()),
            "attachments" => {
                let of = |value: &AttachmentValue| match value {
                    AttachmentValue::Text(text) => text.clone(),
                    AttachmentValue::Binary(bytes) => format!("{bytes:?}"),
                };
                let all: Vec<_> =
                    call.attachments.iter().map(|(k, v)| format!("{k}={}", of(v))).collect();
                text(&all.join(","))
            }
            "large" => {
                let Some(Token::Int(size)) = first else { panic!("no int") };
                value(|writer| writer.binary(&vec![7; usize::try_from(size).unwrap()]))
            }
            "fail" => Err(Status::new(word.parse().unwrap(), "it failed")),
            "throw" => {
                let body = b"C\x03a.B\x90`".to_vec().into();
                let mut status = Status::new(2, "a.B");
                status.exception = Some(Box::new(Exception { class: "a.B".into(), body }));
                status.attachments.set("k", "v");
                Err(status)
            }
            "panic" => panic!("on purpose"),
            "hold" | "holdOther" => {
                self.seen.send(Seen::Started).unwrap();
                let mut guard = Guard(Some(self.seen.clone()));
                let _ = self.release.clone().wait_for(|released| *released).await;
                guard.0 = None;
                text(word)
            }
            "never" => {
                self.seen.send(Seen::Started).unwrap();
                let _guard = Guard(Some(self.seen.clone()));
                pending().await
            }
            other => Err(Status::unknown_method(SERVICE, other)),
        }
    }
}

impl Handler for Greeter {
    fn call<'a>(&'a self, call: CallContext) -> BoxFuture<'a, Result<Reply, Status>> {
        Box::pin(self.answer(call))
    }

    fn form(&self, method: &str) -> BodyFormat {
        if method == "any" { BodyFormat::Protobuf } else { BodyFormat::Java }
    }
}
