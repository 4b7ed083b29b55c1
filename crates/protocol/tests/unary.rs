//! Unary calls, client against server: results, attachments, errors, limits, deadlines.
#![allow(clippy::unwrap_used)] // What a test takes for granted it may unwrap, in its helpers too.

mod common;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use common::{SERVICE, Seen, connect, connect_with, request, serve, spawn, status, with, within};
use equipoise_core::attachments::{AttachmentValue, Attachments};
use equipoise_core::outcome::{FailureKind, Sent};
use equipoise_core::port::Protocol;
use equipoise_core::service::ServiceKey;
use equipoise_protocol::code;
use equipoise_protocol::{LoadSource, Server, Tri};

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_message_and_attachments_travel_both_ways() {
    let (server, _hold) = serve(|server| server).await;
    let connection = connect(server.local_addr()).await;
    let mut call = with(request("echo", "hello"), &[("plain", "x y"), ("Trace-Id", "Ab")]);
    call.attachments.set_binary("Raw", Bytes::from_static(&[0, 255, 10]));
    let sent = call.attachments.clone();
    let reply = connection.send(call).await.unwrap();
    assert_eq!(reply.body, "hello");
    assert_eq!(reply.attachments.len(), sent.len());
    for (key, value) in sent.iter() {
        assert_eq!(reply.attachments.value(key), Some(value), "{key}");
    }
}

#[tokio::test]
async fn a_one_way_call_is_answered_and_the_answer_dropped() {
    let (server, _hold) = serve(|server| server).await;
    let connection = connect(server.local_addr()).await;
    let mut call = with(request("echo", "hello"), &[("plain", "x")]);
    call.one_way = true;
    let reply = connection.send(call).await.unwrap();
    assert!(reply.body.is_empty());
    // The provider did see it.
    assert_eq!(reply.attachments.text("plain"), Some("x"));
}

#[tokio::test]
async fn empty_and_large_messages_arrive_whole() {
    let (server, _hold) = serve(|server| server).await;
    let connection = connect(server.local_addr()).await;
    for size in [0, 1, 255, 256, 16_384, 70_000, 3_000_000, 8 * 1024 * 1024] {
        let body: Bytes = (0..size).map(|i| (i % 251) as u8).collect();
        let reply = connection.send(request("echo", body.clone())).await.unwrap();
        assert!(reply.body == body, "{size}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_share_the_connection() {
    let (server, _hold) = serve(|server| server.max_concurrent_streams(16)).await;
    let connection = connect(server.local_addr()).await;
    let calls: Vec<_> =
        (0..500).map(|i| (i, spawn(&connection, request("echo", i.to_string())))).collect();
    for (i, call) in calls {
        assert_eq!(call.await.unwrap().unwrap().body, i.to_string());
    }
}

#[tokio::test]
async fn version_and_group_choose_the_service() {
    let (first, _held) = common::temper();
    let (second, _held) = common::temper();
    let key = ServiceKey::new(SERVICE);
    let server = Server::builder()
        .service(key.clone().version("1").group("g"), first)
        .service(key.clone().version("2"), second)
        .bind("127.0.0.1:0")
        .await
        .unwrap();
    let connection = connect(server.local_addr()).await;
    for (group, version, served) in
        [("g", "1", Some("g/test.Temper:1")), ("", "2", Some("test.Temper:2")), ("", "3", None)]
    {
        let mut call = request("service", "");
        call.service = Arc::new(key.clone().version(version).group(group));
        match (connection.send(call).await, served) {
            (Ok(reply), Some(served)) => assert_eq!(reply.body, served),
            (Err(failure), None) => assert_eq!(status(&failure), code::UNIMPLEMENTED),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn statuses_arrive_with_text_kind_and_attachments() {
    let (server, _hold) = serve(|server| server).await;
    let connection = connect(server.local_addr()).await;
    for (code, kind) in [
        (code::INVALID_ARGUMENT, FailureKind::Business),
        (code::RESOURCE_EXHAUSTED, FailureKind::LimitExceeded),
        (code::UNAVAILABLE, FailureKind::Network),
        (code::PERMISSION_DENIED, FailureKind::Forbidden),
        (code::UNAUTHENTICATED, FailureKind::Unauthenticated),
        (code::INTERNAL, FailureKind::NoAnswer),
        (code::DEADLINE_EXCEEDED, FailureKind::Business),
        (17, FailureKind::Business),
    ] {
        let call = with(request("fail", "why"), &[("code", &code.to_string()), ("Hint", "h")]);
        let failure = connection.send(within(call, LONG)).await.unwrap_err();
        assert_eq!((failure.kind, status(&failure)), (kind, code));
        assert_eq!((failure.message.as_str(), failure.sent), ("why", Sent::Maybe));
        assert_eq!(failure.attachments.text("Hint"), Some("h"), "{code}");
    }
}

#[tokio::test]
async fn case_182_error_text_of_any_script_arrives_unchanged() {
    let (server, _hold) = serve(|server| server).await;
    let connection = connect(server.local_addr()).await;
    let text = "用户不存在: é 😀 line1\nline2";
    let call = with(request("fail", text), &[("code", "2")]);
    assert_eq!(connection.send(call).await.unwrap_err().message, text);
}

#[tokio::test]
async fn what_is_not_there_is_unimplemented() {
    let (server, _hold) = serve(|server| server).await;
    let connection = connect(server.local_addr()).await;
    let failure = connection.send(request("nothing", "")).await.unwrap_err();
    assert_eq!((failure.kind, status(&failure)), (FailureKind::Business, 12));
    let mut call = request("echo", "");
    call.service = Arc::new(ServiceKey::new("test.Nobody"));
    let failure = connection.send(call).await.unwrap_err();
    assert_eq!(status(&failure), code::UNIMPLEMENTED);
    assert!(failure.message.contains("test.Nobody"), "{failure}");
}

#[tokio::test]
async fn a_panic_answers_its_call_and_harms_no_other() {
    let (server, mut hold) = serve(|server| server).await;
    let connection = connect(server.local_addr()).await;
    let held = spawn(&connection, request("hold", "x"));
    hold.started(1).await;
    let failure = connection.send(request("panic", "")).await.unwrap_err();
    assert_eq!((failure.kind, status(&failure)), (FailureKind::NoAnswer, code::INTERNAL));
    hold.release();
    assert_eq!(held.await.unwrap().unwrap().body, "x");
    assert!(connection.is_available());
}

#[tokio::test]
async fn the_limits_of_the_client_are_named() {
    let (server, _hold) = serve(|server| server).await;
    let client = Tri::new().max_message_bytes(1000);
    let connection = connect_with(&client, server.local_addr()).await;
    let failure = connection.send(request("echo", vec![0; 1001])).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Serialization, Sent::No));
    let failure_in = connection.send(request("large", "1001")).await.unwrap_err();
    assert_eq!((failure_in.kind, failure_in.sent), (FailureKind::Serialization, Sent::Maybe));
    for text in [failure.message, failure_in.message] {
        for part in ["1001", "1000", "max_message_bytes"] {
            assert!(text.contains(part), "{text}");
        }
    }
    assert_eq!(connection.send(request("large", "1000")).await.unwrap().body.len(), 1000);
}

#[tokio::test]
async fn the_limits_of_the_server_are_status_8() {
    let (server, _hold) = serve(|server| server.max_message_bytes(1000)).await;
    let connection = connect(server.local_addr()).await;
    for call in [request("echo", vec![0; 1001]), request("large", "1001")] {
        let failure = connection.send(call).await.unwrap_err();
        let found = (failure.kind, status(&failure));
        assert_eq!(found, (FailureKind::LimitExceeded, code::RESOURCE_EXHAUSTED));
        assert!(failure.message.contains("max_message_bytes"), "{failure}");
    }
    // A message far over the limit is refused from its header; the rest is not waited for.
    let failure = connection.send(request("echo", vec![0; 8 << 20])).await.unwrap_err();
    assert_eq!(status(&failure), code::RESOURCE_EXHAUSTED, "{failure}");
    assert_eq!(connection.send(request("echo", vec![0; 1000])).await.unwrap().body.len(), 1000);
}

#[tokio::test]
async fn headers_over_a_limit_are_an_error_of_that_call() {
    let (server, _hold) = serve(|server| server.max_header_bytes(8 * 1024)).await;
    let connection = connect(server.local_addr()).await;
    let call = with(request("echo", ""), &[("big", &"x".repeat(9 * 1024))]);
    let failure = connection.send(call).await.unwrap_err();
    assert!(failure.message.contains("431"), "{failure}");
    let client = Tri::new().max_header_bytes(4 * 1024);
    let narrow = connect_with(&client, server.local_addr()).await;
    let big = [("big", "x".repeat(5 * 1024))];
    let big = [(big[0].0, big[0].1.as_str())];
    for call in [request("echo", "[]"), common::json("echo", "[]")] {
        let failure = narrow.send(with(call, &big)).await.unwrap_err();
        assert!(!failure.retryable(), "{failure}");
        assert!(failure.message.contains("max_header_bytes"), "{failure}");
    }
    for connection in [connection, narrow] {
        assert_eq!(connection.send(request("echo", "on")).await.unwrap().body, "on");
    }
}

#[tokio::test]
async fn attachments_that_cannot_travel_are_refused_before_sending() {
    let (server, _hold) = serve(|server| server).await;
    let connection = connect(server.local_addr()).await;
    for (key, value) in
        [("a b", "x"), ("", "x"), ("name", "名"), ("name", "a\r\nb: c"), (":p", "x")]
    {
        let failure =
            connection.send(with(request("echo", ""), &[(key, value)])).await.unwrap_err();
        assert_eq!((failure.kind, failure.sent), (FailureKind::Invalid, Sent::No), "{key:?}");
        assert!(failure.message.contains(&format!("{key:?}")), "{failure}");
    }
    // What belongs to the protocol is left out.
    let call = with(request("echo", "x"), &[("te", "gzip"), ("grpc-timeout", "1n"), ("host", "x")]);
    assert!(connection.send(call).await.unwrap().attachments.is_empty());
}

#[tokio::test]
async fn the_deadline_reaches_the_server_and_ends_the_work_there() {
    let (server, mut hold) = serve(|server| server).await;
    let connection = connect(server.local_addr()).await;
    let reply = connection.send(request("deadline", "")).await.unwrap();
    assert_eq!(reply.body, "false");
    let reply = connection.send(within(request("deadline", ""), LONG)).await.unwrap();
    assert_eq!(reply.body, "true");
    // Nobody drops the call here: the answer comes from the server.
    let call = within(request("never", ""), Duration::from_millis(20));
    let failure = connection.send(call).await.unwrap_err();
    assert_eq!((failure.kind, status(&failure)), (FailureKind::Timeout, code::DEADLINE_EXCEEDED));
    hold.started(1).await;
    assert_eq!(hold.seen.recv().await, Some(Seen::Dropped));
}

#[tokio::test]
async fn a_dropped_call_is_withdrawn_at_the_server() {
    let (server, mut hold) = serve(|server| server).await;
    let connection = connect(server.local_addr()).await;
    let call = spawn(&connection, request("never", ""));
    hold.started(1).await;
    call.abort();
    assert_eq!(hold.seen.recv().await, Some(Seen::Dropped));
    assert_eq!(connection.send(request("echo", "next")).await.unwrap().body, "next");
}

#[tokio::test]
async fn calls_over_the_limit_of_the_server_are_turned_away() {
    let (server, mut hold) = serve(|server| server.max_calls(Some(1))).await;
    let connection = connect(server.local_addr()).await;
    let held = spawn(&connection, request("hold", ""));
    hold.started(1).await;
    let failure = connection.send(request("echo", "")).await.unwrap_err();
    assert_eq!((failure.kind, status(&failure)), (FailureKind::LimitExceeded, 8));
    hold.release();
    held.await.unwrap().unwrap();
    connection.send(request("echo", "")).await.unwrap();
}

struct Scripted(Option<f64>);

impl LoadSource for Scripted {
    fn load(&self) -> Option<f64> {
        self.0
    }
}

#[tokio::test]
async fn callers_that_ask_learn_the_load() {
    for (load, told) in [(Some(480.078125), Some("480.078125")), (None, None)] {
        let (server, _hold) = serve(|server| server.load_source(Arc::new(Scripted(load)))).await;
        let connection = connect(server.local_addr()).await;
        let echo = connection.send(request("echo", "")).await.unwrap();
        assert_eq!(echo.attachments.text("lb_adaptive"), None);
        for method in ["service", "nothing"] {
            let call = with(request(method, ""), &[("lb_adaptive", "mem,load")]);
            let attachments = match connection.send(call).await {
                Ok(reply) => reply.attachments,
                Err(failure) => failure.attachments,
            };
            let report = attachments.text("lb_adaptive");
            let found =
                report.and_then(|report| report.strip_prefix("curTime:")?.split_once(",load:"));
            assert_eq!(found.map(|(_, load)| load), told, "{report:?}");
            assert!(found.is_none_or(|(time, _)| time.parse::<u64>().unwrap() > 0));
        }
    }
}

#[tokio::test]
async fn the_load_of_this_machine_is_a_number() {
    let (server, _hold) = serve(|server| server).await;
    let connection = connect(server.local_addr()).await;
    let call = with(request("service", ""), &[("lb_adaptive", "mem,load")]);
    let reply = connection.send(call).await.unwrap();
    let report = reply.attachments.text("lb_adaptive").map(str::to_owned);
    match std::fs::read_to_string("/proc/loadavg") {
        Ok(_) => {
            let report = report.unwrap();
            let load: f64 = report.split_once(",load:").unwrap().1.parse().unwrap();
            assert!(load >= 0.0, "{report}");
        }
        Err(_) => assert_eq!(report, None),
    }
}

#[tokio::test]
async fn a_provider_that_is_not_there_is_a_failure_that_was_not_sent() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let failure = Tri::new().connect(&common::url(address)).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Network, Sent::No));
    assert!(failure.message.contains(&address.to_string()), "{failure}");
}

#[tokio::test]
async fn values_of_every_size_survive_as_binary_attachments() {
    let (server, _hold) = serve(|server| server).await;
    let connection = connect(server.local_addr()).await;
    for size in 0..10u8 {
        let mut call = request("echo", "");
        call.attachments = Attachments::new();
        let value = Bytes::from((0..size).collect::<Vec<u8>>());
        call.attachments.set_binary("v", value.clone());
        let reply = connection.send(call).await.unwrap();
        assert_eq!(reply.attachments.value("v"), Some(&AttachmentValue::Binary(value)));
    }
}
