//! The JSON flavour: over HTTP/1.1 from a bare socket, as curl would, and through the client.
#![allow(clippy::unwrap_used)] // What a test takes for granted it may unwrap, in its helpers too.

mod common;

use std::time::Duration;

use common::{Seen, connect, json, serve, status, with, within};
use equipoise_core::attachments::AttachmentValue;
use equipoise_core::outcome::{FailureKind, Sent};
use equipoise_protocol::code;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A response as it is on the wire.
#[derive(Debug)]
struct Http {
    status: u16,
    head: String,
    body: String,
}

/// One HTTP/1.1 connection.
struct Http1(TcpStream);

impl Http1 {
    async fn open(server: &equipoise_protocol::RunningServer) -> Self {
        Self(TcpStream::connect(server.local_addr()).await.unwrap())
    }

    async fn post(&mut self, path: &str, headers: &str, body: &str) -> Http {
        let len = body.len();
        let head =
            format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len}\r\n{headers}\r\n");
        self.0.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        self.read().await
    }

    async fn read(&mut self) -> Http {
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"\r\n\r\n") {
            bytes.push(self.0.read_u8().await.unwrap());
        }
        let head = String::from_utf8(bytes).unwrap().to_lowercase();
        let length = head.split("content-length: ").nth(1).unwrap_or("0");
        let length = length.split("\r\n").next().unwrap().parse().unwrap();
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).await.unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Http { status, head, body: String::from_utf8(body).unwrap() }
    }
}

const JSON: &str = "content-type: application/json\r\n";

#[tokio::test]
async fn curl_can_call_a_method() {
    let (server, _hold) = serve(|server| server).await;
    let mut http = Http1::open(&server).await;
    let headers = format!("{JSON}accept: */*\r\nuser-agent: curl/8\r\nx-trace: t1\r\n");
    let answer = http.post("/test.Temper/echo", &headers, r#"["bob",2]"#).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, r#"["bob",2]"#));
    assert!(answer.head.contains("content-type: application/json\r\n"), "{}", answer.head);
    // The attachments of the answer are headers; what is curl's own is none.
    assert!(answer.head.contains("x-trace: t1\r\n"), "{}", answer.head);
    assert!(!answer.head.contains("curl"), "{}", answer.head);
    // The connection serves further requests, and a charset is no other type.
    let charset = "content-type: application/json; charset=utf-8\r\n";
    assert_eq!(http.post("/test.Temper/echo", charset, "null").await.body, "null");
}

#[tokio::test]
async fn errors_are_documents_with_an_http_status() {
    let (server, _hold) = serve(|server| server.max_message_bytes(1000)).await;
    let mut http = Http1::open(&server).await;
    let fail = |code: i32| format!("{JSON}code: {code}\r\nhint: h\r\n");
    for (path, headers, body, status, message) in [
        ("/test.Nobody/m", JSON.to_owned(), "[]", 404, "no service test.Nobody"),
        ("/test.Temper/nothing", JSON.to_owned(), "[]", 404, "no method nothing"),
        ("/test.Temper/fail", fail(2), "boom \\\"x\\\"", 500, "boom"),
        ("/test.Temper/fail", fail(3), "m", 400, "m"),
        ("/test.Temper/fail", fail(7), "m", 403, "m"),
        ("/test.Temper/fail", fail(8), "m", 429, "m"),
        ("/test.Temper/fail", fail(14), "m", 503, "m"),
        ("/test.Temper/fail", fail(16), "m", 401, "m"),
        ("/test.Temper/fail", fail(17), "m", 500, "m"),
        ("/test.Temper/panic", JSON.to_owned(), "[]", 500, "panicked"),
        ("/test.Temper/large", JSON.to_owned(), "1001", 500, "max_message_bytes"),
        ("/x", JSON.to_owned(), "[]", 404, "no service"),
        (
            "/test.Temper/echo",
            "content-type: text/plain\r\n".to_owned(),
            "x",
            415,
            "application/json",
        ),
        ("/test.Temper/echo", String::new(), "x", 415, "application/json"),
        ("/test.Temper/echo", "content-type: application/grpc\r\n".to_owned(), "x", 415, "HTTP/2"),
    ] {
        let answer = http.post(path, &headers, body).await;
        assert_eq!(answer.status, status, "{path} {answer:?}");
        let document: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(document["status"], status.to_string());
        let text = document["message"].as_str().unwrap();
        assert!(text.contains(message), "{path} {text}");
        assert_eq!(answer.head.contains("hint: h"), headers.contains("hint"), "{}", answer.head);
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_by_its_length_or_its_size() {
    let (server, _hold) = serve(|server| server.max_message_bytes(1000)).await;
    // Announced: refused without a byte of it.
    let mut http = Http1::open(&server).await;
    let head = format!(
        "POST /test.Temper/echo HTTP/1.1\r\nhost: x\r\ncontent-length: 9999999999\r\n{JSON}\r\n"
    );
    http.0.write_all(head.as_bytes()).await.unwrap();
    let answer = http.read().await;
    assert_eq!(answer.status, 413);
    assert!(answer.body.contains("9999999999") && answer.body.contains("max_message_bytes"));
    // Chunked: refused once it is too much.
    let mut http = Http1::open(&server).await;
    let head = format!(
        "POST /test.Temper/echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n{JSON}\r\n"
    );
    let chunk = format!("1f4\r\n{}\r\n", "x".repeat(500));
    http.0.write_all(format!("{head}{chunk}{chunk}{chunk}").as_bytes()).await.unwrap();
    assert_eq!(http.read().await.status, 413);
}

#[tokio::test]
async fn other_methods_and_headers_over_the_limit_are_refused() {
    let (server, _hold) = serve(|server| server.max_header_bytes(8 * 1024)).await;
    let mut http = Http1::open(&server).await;
    http.0.write_all(b"GET /test.Temper/echo HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    assert_eq!(http.read().await.status, 405);
    let mut http = Http1::open(&server).await;
    let big = format!("{JSON}x: {}\r\n", "y".repeat(10 * 1024));
    assert_eq!(http.post("/test.Temper/echo", &big, "[]").await.status, 431);
}

#[tokio::test]
async fn a_slow_method_ends_with_the_callers_time() {
    let (server, mut hold) = serve(|server| server).await;
    let mut http = Http1::open(&server).await;
    let headers = format!("{JSON}tri-service-timeout: 20\r\n");
    let answer = http.post("/test.Temper/never", &headers, "[]").await;
    assert_eq!(answer.status, 408);
    hold.started(1).await;
    assert_eq!(hold.seen.recv().await, Some(Seen::Dropped));
    assert_eq!(http.post("/test.Temper/deadline", &headers, "[]").await.body, "true");
}

#[tokio::test]
async fn a_caller_that_hangs_up_withdraws_its_call() {
    let (server, mut hold) = serve(|server| server).await;
    let mut http = Http1::open(&server).await;
    let head =
        format!("POST /test.Temper/never HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n{JSON}\r\n[]");
    http.0.write_all(head.as_bytes()).await.unwrap();
    hold.started(1).await;
    drop(http);
    assert_eq!(hold.seen.recv().await, Some(Seen::Dropped));
}

#[tokio::test]
async fn a_drained_server_answers_what_it_began() {
    let (server, mut hold) = serve(|server| server).await;
    let mut http = Http1::open(&server).await;
    let head =
        format!("POST /test.Temper/hold HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n{JSON}\r\n[]");
    http.0.write_all(head.as_bytes()).await.unwrap();
    hold.started(1).await;
    server.drain();
    hold.release();
    assert_eq!(http.read().await.body, "[]");
    assert!(server.shutdown(Duration::from_secs(60)).await);
    assert_eq!(http.0.read(&mut [0; 16]).await.unwrap(), 0, "closed after the answer");
}

#[tokio::test]
async fn the_client_calls_with_json_over_http2() {
    let (server, mut hold) = serve(|server| server).await;
    let connection = connect(server.local_addr()).await;
    let mut call = with(json("echo", r#"["bob",2]"#), &[("Trace-Id", "t")]);
    call.attachments.set_binary("raw", &[1u8, 2][..]);
    let reply = connection.send(call).await.unwrap();
    assert_eq!(reply.body, r#"["bob",2]"#);
    assert_eq!(reply.attachments.text("Trace-Id"), Some("t"));
    assert!(matches!(reply.attachments.value("raw"), Some(AttachmentValue::Binary(_))));
    let failure = connection.send(json("nothing", "[]")).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Business, Sent::Maybe));
    assert_eq!(status(&failure), code::UNIMPLEMENTED);
    assert!(failure.message.contains("nothing"), "{failure}");
    let fail = with(json("fail", "不存在"), &[("code", "14"), ("hint", "h")]);
    let failure = connection.send(fail).await.unwrap_err();
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Network, "不存在"));
    assert_eq!(failure.attachments.text("hint"), Some("h"));
    let slow = within(json("never", "[]"), Duration::from_millis(20));
    let failure = connection.send(slow).await.unwrap_err();
    assert_eq!((failure.kind, status(&failure)), (FailureKind::Timeout, 4), "{failure}");
    hold.started(1).await;
    let body: String = format!("\"{}\"", "x".repeat(1_000_000));
    assert!(connection.send(json("echo", body.clone())).await.unwrap().body == body);
}

#[tokio::test]
async fn callers_that_ask_learn_the_load_with_json_too() {
    let (server, _hold) = serve(|server| server).await;
    let connection = connect(server.local_addr()).await;
    for method in ["service", "nothing"] {
        let call = with(json(method, "[]"), &[("lb_adaptive", "mem,load")]);
        let attachments = match connection.send(call).await {
            Ok(reply) => reply.attachments,
            Err(failure) => failure.attachments,
        };
        let told = attachments.text("lb_adaptive").is_some();
        assert_eq!(told, std::path::Path::new("/proc/loadavg").exists());
    }
}
