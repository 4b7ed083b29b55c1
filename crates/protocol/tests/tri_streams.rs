//! Streams over `tri`, client against server: all kinds, ends by either side, limits, back-pressure.
#![allow(clippy::unwrap_used)] // What a test takes for granted it may unwrap, in its helpers too.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use bytes::Bytes;
use equipoise_core::attachments::Attachments;
use equipoise_core::hash::key::Argument;
use equipoise_core::outcome::{Failure, FailureKind, Sent};
use equipoise_core::port::{
    Arguments, Body, BodyFormat, BoxFuture, Connection, Protocol, Reply, Request,
};
use equipoise_core::service::ServiceKey;
use equipoise_core::stream::{Duplex, StreamKind, StreamRequest};
use equipoise_core::url::Url;
use equipoise_protocol::java::JavaValues;
use equipoise_protocol::{
    CallContext, Handler, Requests, Responses, RunningServer, Server, Status, Tri, code,
};
use tokio::sync::mpsc;

const SERVICE: &str = "test.Streams";

#[derive(Default)]
struct Streams {
    sent: Arc<AtomicUsize>,
    dropped: Option<mpsc::UnboundedSender<()>>,
}

struct Guard(Option<mpsc::UnboundedSender<()>>);

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(dropped) = &self.0 {
            let _ = dropped.send(());
        }
    }
}

impl Streams {
    async fn run(
        &self,
        call: CallContext,
        mut requests: Requests,
        mut responses: Responses,
    ) -> Result<Attachments, Status> {
        let _guard = Guard(self.dropped.clone());
        match call.method() {
            // Every message back as it comes.
            "echo" => {
                while let Some(message) = requests.next().await? {
                    responses.send(message).await?;
                }
                Ok([("end", "echoed")].into_iter().collect())
            }
            // So many messages as the request has bytes.
            "count" => {
                let request = requests.next().await?.unwrap();
                assert_eq!(requests.next().await?, None);
                for i in 0..request.len() {
                    responses.send(i.to_string()).await?;
                }
                Ok(call.attachments)
            }
            // The length of all messages together.
            "sum" => {
                let mut sum = 0;
                while let Some(message) = requests.next().await? {
                    sum += message.len();
                }
                responses.send(sum.to_string()).await?;
                Ok(Attachments::new())
            }
            "fail" => {
                responses.send("one").await?;
                let attachments = [("why", "so")].into_iter().collect();
                Err(Status::new(code::ABORTED, "after one").with_attachments(attachments))
            }
            "early" => {
                responses.send("enough").await?;
                Ok(Attachments::new())
            }
            "flood" => loop {
                responses.send(vec![7; 64 * 1024]).await?;
                self.sent.fetch_add(1, SeqCst);
            },
            "panic" => panic!("on purpose"),
            "large" => {
                responses.send(vec![7; 5000]).await?;
                Ok(Attachments::new())
            }
            "never" => {
                responses.send("started").await?;
                pending().await
            }
            "java" => {
                while let Some(arguments) = requests.java().await? {
                    let JavaValues::Each(values) = arguments.values else { panic!("not each") };
                    responses.send(values[0].clone()).await?;
                }
                Ok(Attachments::new())
            }
            other => Err(Status::unknown_method(SERVICE, other)),
        }
    }
}

impl Handler for Streams {
    fn call<'a>(&'a self, call: CallContext) -> BoxFuture<'a, Result<Reply, Status>> {
        Box::pin(async move { Ok(Reply { body: call.body, attachments: Attachments::new() }) })
    }

    fn form(&self, method: &str) -> BodyFormat {
        if method == "java" { BodyFormat::Java } else { BodyFormat::Protobuf }
    }

    fn is_stream(&self, method: &str) -> bool {
        method != "unary"
    }

    fn stream<'a>(
        &'a self,
        call: CallContext,
        requests: Requests,
        responses: Responses,
    ) -> BoxFuture<'a, Result<Attachments, Status>> {
        Box::pin(self.run(call, requests, responses))
    }
}

async fn serve_with(
    streams: Streams,
    options: impl FnOnce(Server) -> Server,
    client: Tri,
) -> (RunningServer, Arc<dyn Connection>) {
    let server = Server::builder().service(ServiceKey::new(SERVICE), Arc::new(streams));
    let server = options(server).bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("tri://{}", server.local_addr())).unwrap();
    let connection = client.connect(&url).await.unwrap();
    (server, connection)
}

async fn serve() -> (RunningServer, Arc<dyn Connection>) {
    serve_with(Streams::default(), |server| server, Tri::new()).await
}

fn opening(method: &str, kind: StreamKind) -> StreamRequest {
    StreamRequest {
        service: Arc::new(ServiceKey::new(SERVICE)),
        method: method.into(),
        kind,
        format: BodyFormat::Protobuf,
        attachments: Attachments::new(),
        timeout: None,
    }
}

async fn open(connection: &Arc<dyn Connection>, method: &str) -> Duplex {
    connection.open(opening(method, StreamKind::Both)).await.unwrap()
}

async fn say(stream: &mut Duplex, text: impl Into<Bytes>) {
    stream.outgoing.send(Body::protobuf(text)).await.unwrap();
}

async fn hear(stream: &mut Duplex) -> Option<Bytes> {
    stream.incoming.next().await.unwrap()
}

async fn fails(stream: &mut Duplex) -> Failure {
    loop {
        if let Err(failure) = stream.incoming.next().await {
            return failure;
        }
    }
}

#[tokio::test]
async fn messages_go_both_ways_in_turn_and_the_end_brings_attachments() {
    let (_server, connection) = serve().await;
    let mut stream = open(&connection, "echo").await;
    stream.incoming.begun().await.unwrap();
    for text in ["a", "", "ccc"] {
        say(&mut stream, text).await;
        assert_eq!(hear(&mut stream).await.unwrap(), text);
    }
    stream.outgoing.finish().unwrap();
    stream.outgoing.finish().unwrap();
    assert_eq!(hear(&mut stream).await, None);
    assert_eq!(stream.incoming.attachments().text("end"), Some("echoed"));
    assert_eq!(hear(&mut stream).await, None);
    let late = stream.outgoing.send(Body::protobuf("late")).await.unwrap_err();
    assert_eq!((late.kind, late.sent), (FailureKind::Invalid, Sent::No));
}

#[tokio::test]
async fn one_message_brings_many_and_many_bring_one() {
    let (_server, connection) = serve().await;
    let mut request = opening("count", StreamKind::Server);
    request.attachments.set("Trace-Id", "t1");
    let mut stream = connection.open(request).await.unwrap();
    say(&mut stream, vec![0; 1000]).await;
    stream.outgoing.finish().unwrap();
    for i in 0..1000 {
        assert_eq!(hear(&mut stream).await.unwrap(), i.to_string());
    }
    assert_eq!(hear(&mut stream).await, None);
    assert_eq!(stream.incoming.attachments().text("Trace-Id"), Some("t1"));

    let mut stream = connection.open(opening("sum", StreamKind::Client)).await.unwrap();
    for _ in 0..50 {
        say(&mut stream, vec![1; 100_000]).await;
    }
    stream.outgoing.finish().unwrap();
    assert_eq!(hear(&mut stream).await.unwrap(), "5000000");
    assert_eq!(hear(&mut stream).await, None);
}

#[tokio::test]
async fn the_provider_may_end_first_with_a_status_or_in_good_order() {
    let (_server, connection) = serve().await;
    let mut stream = open(&connection, "fail").await;
    assert_eq!(hear(&mut stream).await.unwrap(), "one");
    let failure = stream.incoming.next().await.unwrap_err();
    assert_eq!((failure.kind, failure.status), (FailureKind::Business, Some(code::ABORTED)));
    assert_eq!(failure.message, "after one");
    assert_eq!(failure.attachments.text("why"), Some("so"));
    assert_eq!(hear(&mut stream).await, None);

    let mut stream = open(&connection, "early").await;
    assert_eq!(hear(&mut stream).await.unwrap(), "enough");
    assert_eq!(hear(&mut stream).await, None);
    // What is said after it goes nowhere, and says so in the end.
    while stream.outgoing.send(Body::protobuf("more")).await.is_ok() {
        tokio::task::yield_now().await;
    }

    for (method, status) in [("panic", code::INTERNAL), ("unknown", code::UNIMPLEMENTED)] {
        let mut stream = open(&connection, method).await;
        assert_eq!(fails(&mut stream).await.status, Some(status), "{method}");
    }
}

#[tokio::test]
async fn a_stream_that_is_dropped_ends_the_handler() {
    let (dropped, mut seen) = mpsc::unbounded_channel();
    let streams = Streams { dropped: Some(dropped), ..Streams::default() };
    let (_server, connection) = serve_with(streams, |server| server, Tri::new()).await;
    let mut stream = open(&connection, "never").await;
    assert_eq!(hear(&mut stream).await.unwrap(), "started");
    drop(stream);
    seen.recv().await.unwrap();
    // The connection is as good as before.
    let mut stream = open(&connection, "early").await;
    assert_eq!(hear(&mut stream).await.unwrap(), "enough");
}

#[tokio::test]
async fn the_deadline_of_a_stream_ends_its_handler() {
    let (dropped, mut seen) = mpsc::unbounded_channel();
    let streams = Streams { dropped: Some(dropped), ..Streams::default() };
    let (_server, connection) = serve_with(streams, |server| server, Tri::new()).await;
    let mut request = opening("never", StreamKind::Both);
    request.timeout = Some(Duration::from_millis(20));
    let mut stream = connection.open(request).await.unwrap();
    let failure = fails(&mut stream).await;
    assert_eq!(failure.status, Some(code::DEADLINE_EXCEEDED));
    seen.recv().await.unwrap();
}

#[tokio::test]
async fn a_reader_that_does_not_read_stops_the_writer() {
    let sent = Arc::new(AtomicUsize::new(0));
    let streams = Streams { sent: sent.clone(), ..Streams::default() };
    let (_server, connection) = serve_with(streams, |server| server, Tri::new()).await;
    let mut stream = open(&connection, "flood").await;
    hear(&mut stream).await.unwrap();
    // Other calls go on while the writer stands still; each gives it more than enough time.
    let mut before = 0;
    for round in 0.. {
        let reply = connection.send(unary(vec![0; 100])).await.unwrap();
        assert_eq!(reply.body.len(), 100);
        let now = sent.load(SeqCst);
        if now == before && round > 200 {
            break;
        }
        before = now;
    }
    // The stream's window is 1 MiB: 16 messages, besides those in buffers on either side.
    assert!(before <= 40, "{before} messages of 64 KiB are under way");
    for _ in 0..100 {
        assert_eq!(hear(&mut stream).await.unwrap().len(), 64 * 1024);
    }
}

#[tokio::test]
async fn a_provider_that_does_not_read_stops_the_sender() {
    let (_server, connection) = serve().await;
    let mut stream = open(&connection, "never").await;
    assert_eq!(hear(&mut stream).await.unwrap(), "started");
    let mut sent = 0;
    // Ends when sending waits although every other task has had its turn many times.
    loop {
        let sending = stream.outgoing.send(Body::protobuf(vec![7; 64 * 1024]));
        let idle = async {
            for _ in 0..20 {
                connection.send(unary("x")).await.unwrap();
            }
        };
        tokio::select! {
            biased;
            done = sending => done.unwrap(),
            () = idle => break,
        }
        sent += 1;
        assert!(sent <= 60, "{sent} messages of 64 KiB were taken");
    }
    assert!(sent >= 16, "{sent}");
}

fn unary(body: impl Into<Bytes>) -> Request {
    Request {
        service: Arc::new(ServiceKey::new(SERVICE)),
        method: "unary".into(),
        body: Body::protobuf(body),
        types: None,
        one_way: false,
        attachments: Attachments::new(),
        timeout: None,
    }
}

#[tokio::test]
async fn messages_over_the_limit_are_refused_on_every_side() {
    let client = Tri::new().max_message_bytes(2000);
    let (_server, connection) = serve_with(Streams::default(), |server| server, client).await;
    let mut stream = open(&connection, "echo").await;
    let failure = stream.outgoing.send(Body::protobuf(vec![0; 2001])).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Serialization, Sent::No));
    say(&mut stream, "still good").await;
    assert_eq!(hear(&mut stream).await.unwrap(), "still good");
    let mut stream = open(&connection, "large").await;
    let failure = fails(&mut stream).await;
    assert_eq!(failure.kind, FailureKind::Serialization);

    let small = |server: Server| server.max_message_bytes(1000);
    let (_server, connection) = serve_with(Streams::default(), small, Tri::new()).await;
    for method in ["echo", "large"] {
        let mut stream = open(&connection, method).await;
        say(&mut stream, vec![0; 1001]).await;
        let failure = fails(&mut stream).await;
        assert_eq!(failure.status, Some(code::RESOURCE_EXHAUSTED), "{method}");
    }
}

#[tokio::test]
async fn streams_in_flight_finish_while_the_server_drains() {
    let (server, connection) = serve().await;
    let mut stream = open(&connection, "echo").await;
    say(&mut stream, "before").await;
    assert_eq!(hear(&mut stream).await.unwrap(), "before");
    server.drain();
    connection.unavailable().await;
    let refused = connection.open(opening("echo", StreamKind::Both)).await.unwrap_err();
    assert_eq!((refused.kind, refused.sent), (FailureKind::Network, Sent::No));
    say(&mut stream, "after").await;
    assert_eq!(hear(&mut stream).await.unwrap(), "after");
    stream.outgoing.finish().unwrap();
    assert_eq!(hear(&mut stream).await, None);
    drop(stream);
    drop(connection);
    assert!(server.shutdown(Duration::from_secs(10)).await);
}

#[tokio::test]
async fn a_connection_that_breaks_ends_its_streams() {
    let (server, connection) = serve().await;
    let mut stream = open(&connection, "never").await;
    assert_eq!(hear(&mut stream).await.unwrap(), "started");
    drop(server);
    let failure = stream.incoming.next().await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Network, Sent::Maybe));
}

#[derive(Debug)]
struct One(Bytes);

impl Arguments for One {
    fn descriptor(&self) -> &'static str {
        "Ljava/lang/String;"
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

#[tokio::test]
async fn every_java_value_has_a_wrapper_of_its_own() {
    let (_server, connection) = serve().await;
    for kind in [StreamKind::Both, StreamKind::Server] {
        let request = StreamRequest { format: BodyFormat::Java, ..opening("java", kind) };
        let mut stream = connection.open(request).await.unwrap();
        for text in ["\u{1}a", "\u{2}bb"] {
            let value = Bytes::from_static(text.as_bytes());
            stream.outgoing.send(Body::Java(Arc::new(One(value.clone())))).await.unwrap();
            assert_eq!(hear(&mut stream).await.unwrap(), value);
        }
        let wrong = stream.outgoing.send(Body::protobuf("x")).await.unwrap_err();
        assert_eq!(wrong.kind, FailureKind::Invalid);
        stream.outgoing.finish().unwrap();
        assert_eq!(hear(&mut stream).await, None);
    }
    let json = StreamRequest { format: BodyFormat::Json, ..opening("java", StreamKind::Both) };
    assert_eq!(connection.open(json).await.unwrap_err().kind, FailureKind::Invalid);
}

#[tokio::test]
async fn gzip_goes_both_ways_in_streams_and_calls() {
    let client = Tri::new().gzip(true);
    let (_server, connection) =
        serve_with(Streams::default(), |server| server.gzip(true), client).await;
    let body: Bytes = vec![7; 1_000_000].into();
    let reply = connection.send(unary(body.clone())).await.unwrap();
    assert!(reply.body == body);
    let mut stream = open(&connection, "echo").await;
    for _ in 0..3 {
        say(&mut stream, body.clone()).await;
        assert!(hear(&mut stream).await.unwrap() == body);
    }
    stream.outgoing.finish().unwrap();
    assert_eq!(hear(&mut stream).await, None);
}

/// The answer of a bare HTTP/2 client: status and message of its trailers or only headers.
async fn raw(address: std::net::SocketAddr, encoding: &str, frame: Vec<u8>) -> http::HeaderMap {
    let socket = tokio::net::TcpStream::connect(address).await.unwrap();
    let (sender, connection) = h2::client::handshake(socket).await.unwrap();
    tokio::spawn(connection);
    let request = http::Request::post(format!("http://h/{SERVICE}/unary"))
        .header("content-type", "application/grpc")
        .header("grpc-encoding", encoding)
        .body(())
        .unwrap();
    let mut sender = sender.ready().await.unwrap();
    let (response, mut stream) = sender.send_request(request, false).unwrap();
    stream.send_data(Bytes::from(frame), true).unwrap();
    let (head, mut body) = response.await.unwrap().into_parts();
    while let Some(data) = body.data().await {
        data.unwrap();
    }
    let mut headers = head.headers;
    headers.extend(body.trailers().await.unwrap().unwrap_or_default());
    headers
}

fn packed(message: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(message).unwrap();
    let packed = packed.finish().unwrap();
    let mut frame = vec![1];
    frame.extend_from_slice(&u32::try_from(packed.len()).unwrap().to_be_bytes());
    frame.extend_from_slice(&packed);
    frame
}

#[tokio::test]
async fn bombs_and_unknown_encodings_are_refused_with_what_is_supported() {
    let (server, _connection) = serve().await;
    let address = server.local_addr();
    let good = raw(address, "gzip", packed(b"hello")).await;
    assert_eq!(
        (&good["grpc-status"], &good["grpc-accept-encoding"]),
        (&"0".parse().unwrap(), &"gzip".parse().unwrap())
    );
    let bomb = raw(address, "gzip", packed(&vec![0; 9 * 1024 * 1024])).await;
    assert_eq!(bomb["grpc-status"], "8");
    let unknown = raw(address, "snappy", packed(b"hello")).await;
    assert_eq!(unknown["grpc-status"], "12");
    assert_eq!(unknown["grpc-accept-encoding"], "gzip");
    assert!(unknown["grpc-message"].to_str().unwrap().contains("gzip, identity"));
    // Packed, and nothing was said of it.
    assert_eq!(raw(address, "identity", packed(b"hello")).await["grpc-status"], "12");
    let mut garbage = packed(b"hello");
    garbage.truncate(garbage.len() - 1);
    garbage[4] -= 1;
    assert_eq!(raw(address, "gzip", garbage).await["grpc-status"], "13");
}
