//! What the end-to-end tests share: a service of many tempers, calls, and a peer made by hand.

#![allow(dead_code)] // Each test program uses its part.

use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use equipoise_core::attachments::Attachments;
use equipoise_core::outcome::Failure;
use equipoise_core::port::{Body, Connection, Protocol, Reply, Request};
use equipoise_core::service::ServiceKey;
use equipoise_core::url::Url;
use equipoise_protocol::code;
use equipoise_protocol::{CallContext, RunningServer, Server, Status, Tri};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// The service that [`Temper`] provides.
pub(crate) const SERVICE: &str = "test.Temper";

/// What happened to the calls of a [`Temper`].
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Seen {
    /// A call of `hold` has started; its body.
    Started(Bytes),
    /// A call of `hold` was dropped before it was answered.
    Dropped,
}

/// A service whose methods behave as their names say.
pub(crate) struct Temper {
    seen: mpsc::UnboundedSender<Seen>,
    release: tokio::sync::watch::Receiver<bool>,
}

/// The test's end of a [`Temper`].
pub(crate) struct Hold {
    pub(crate) seen: mpsc::UnboundedReceiver<Seen>,
    pub(crate) release: tokio::sync::watch::Sender<bool>,
}

impl Hold {
    /// Waits until `count` calls of `hold` have started.
    pub(crate) async fn started(&mut self, count: usize) {
        for _ in 0..count {
            assert!(matches!(self.seen.recv().await, Some(Seen::Started(_))));
        }
    }

    /// Lets all held calls go.
    pub(crate) fn release(&self) {
        self.release.send_replace(true);
    }
}

pub(crate) fn temper() -> (Arc<Temper>, Hold) {
    let (sender, seen) = mpsc::unbounded_channel();
    let (release, held) = tokio::sync::watch::channel(false);
    (Arc::new(Temper { seen: sender, release: held }), Hold { seen, release })
}

struct Guard(Option<mpsc::UnboundedSender<Seen>>);

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(seen) = self.0.take() {
            let _ = seen.send(Seen::Dropped);
        }
    }
}

impl Temper {
    async fn answer(&self, call: CallContext) -> Result<Reply, Status> {
        match call.method() {
            "echo" => Ok(Reply { body: call.body, attachments: call.attachments }),
            "service" => Ok(text(call.service.to_string())),
            "deadline" => Ok(text(format!("{}", call.remaining().is_some()))),
            "fail" => {
                let code = call.attachments.text("code").unwrap().parse().unwrap();
                let message = String::from_utf8(call.body.to_vec()).unwrap();
                let mut attachments = call.attachments;
                attachments.remove("code");
                Err(Status::new(code, message).with_attachments(attachments))
            }
            "panic" => panic!("on purpose"),
            "large" => {
                let size: usize = std::str::from_utf8(&call.body).unwrap().parse().unwrap();
                Ok(Reply { body: vec![7; size].into(), attachments: Attachments::new() })
            }
            "hold" => {
                self.seen.send(Seen::Started(call.body.clone())).unwrap();
                let mut guard = Guard(Some(self.seen.clone()));
                let _ = self.release.clone().wait_for(|released| *released).await;
                guard.0 = None;
                Ok(Reply { body: call.body, attachments: Attachments::new() })
            }
            "never" => {
                self.seen.send(Seen::Started(call.body.clone())).unwrap();
                let _guard = Guard(Some(self.seen.clone()));
                pending().await
            }
            other => Err(Status::unknown_method(SERVICE, other)),
        }
    }
}

impl equipoise_protocol::Handler for Temper {
    fn call<'a>(
        &'a self,
        call: CallContext,
    ) -> equipoise_core::port::BoxFuture<'a, Result<Reply, Status>> {
        Box::pin(self.answer(call))
    }
}

fn text(text: String) -> Reply {
    Reply { body: text.into(), attachments: Attachments::new() }
}

/// A server of a [`Temper`] with options, on a port of its own.
pub(crate) async fn serve(options: impl FnOnce(Server) -> Server) -> (RunningServer, Hold) {
    let (temper, hold) = temper();
    let server = options(Server::builder().service(ServiceKey::new(SERVICE), temper));
    (server.bind("127.0.0.1:0").await.unwrap(), hold)
}

pub(crate) async fn connect(address: SocketAddr) -> Arc<dyn Connection> {
    connect_with(&Tri::new(), address).await
}

pub(crate) async fn connect_with(client: &Tri, address: SocketAddr) -> Arc<dyn Connection> {
    client.connect(&url(address)).await.unwrap()
}

pub(crate) fn url(address: SocketAddr) -> Url {
    Url::parse(&format!("tri://{address}")).unwrap()
}

/// A request to [`SERVICE`].
pub(crate) fn request(method: &str, body: impl Into<Bytes>) -> Request {
    Request {
        service: Arc::new(ServiceKey::new(SERVICE)),
        method: method.into(),
        body: Body::protobuf(body.into()),
        types: None,
        one_way: false,
        attachments: Attachments::new(),
        timeout: None,
    }
}

pub(crate) fn json(method: &str, body: impl Into<Bytes>) -> Request {
    Request { body: Body::json(body.into()), ..request(method, Bytes::new()) }
}

pub(crate) fn with(mut request: Request, attachments: &[(&str, &str)]) -> Request {
    for (key, value) in attachments {
        request.attachments.set(*key, *value);
    }
    request
}

pub(crate) fn within(mut request: Request, timeout: Duration) -> Request {
    request.timeout = Some(timeout);
    request
}

/// A call in a task of its own.
pub(crate) fn spawn(
    connection: &Arc<dyn Connection>,
    request: Request,
) -> tokio::task::JoinHandle<Result<Reply, Failure>> {
    let connection = connection.clone();
    tokio::spawn(async move { connection.send(request).await })
}

/// One message in its gRPC frame.
pub(crate) fn framed(body: &[u8]) -> Bytes {
    let mut frame = vec![0];
    frame.extend_from_slice(&u32::try_from(body.len()).unwrap().to_be_bytes());
    frame.extend_from_slice(body);
    frame.into()
}

/// A connection to a peer made by hand: our client at one end, a bare socket at the other.
pub(crate) async fn raw_peer(listener: &TcpListener) -> TcpStream {
    listener.accept().await.unwrap().0
}

/// Connects `client` to a hand-made HTTP/2 server; the server's end runs `peer`.
pub(crate) async fn against<F, P>(
    client: Tri,
    peer: P,
) -> (Arc<dyn Connection>, tokio::task::JoinHandle<()>)
where
    P: FnOnce(h2::server::Connection<TcpStream, Bytes>) -> F + Send + 'static,
    F: Future<Output = ()> + Send,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let peer = tokio::spawn(async move {
        let connection = h2::server::handshake(raw_peer(&listener).await).await.unwrap();
        peer(connection).await;
    });
    (connect_with(&client, address).await, peer)
}

/// The code of a failure's status, which must be there.
pub(crate) fn status(failure: &Failure) -> i32 {
    failure.status.unwrap_or(code::OK)
}
