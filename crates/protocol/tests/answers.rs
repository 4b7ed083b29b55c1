//! What the client makes of answers that our own server never gives: made by hand on HTTP/2.
#![allow(clippy::unwrap_used)] // What a test takes for granted it may unwrap, in its helpers too.

mod common;

use std::time::Duration;

use bytes::Bytes;
use common::{against, framed, json, request, spawn, status, within};
use equipoise_core::attachments::AttachmentValue;
use equipoise_core::outcome::{Failure, FailureKind};
use equipoise_core::port::{Reply, Request};
use equipoise_protocol::Tri;
use equipoise_protocol::code;
use equipoise_protocol::java::JavaException;
use h2::server::SendResponse;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use tokio::sync::oneshot;

/// One answer in parts.
#[derive(Default)]
struct Answer {
    http: u16,
    headers: &'static [(&'static str, &'static str)],
    chunks: Vec<Bytes>,
    trailers: Option<&'static [(&'static str, &'static str)]>,
}

const GRPC: &[(&str, &str)] = &[("content-type", "application/grpc")];

fn map(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    let pairs = pairs.iter().map(|(name, value)| {
        (HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).unwrap())
    });
    pairs.collect()
}

fn write(answer: Answer, respond: &mut SendResponse<Bytes>) {
    let mut head = Response::new(());
    *head.status_mut() = StatusCode::from_u16(answer.http).unwrap();
    *head.headers_mut() = map(answer.headers);
    let last = answer.chunks.is_empty() && answer.trailers.is_none();
    let mut stream = respond.send_response(head, last).unwrap();
    let count = answer.chunks.len();
    for (i, chunk) in answer.chunks.into_iter().enumerate() {
        stream.send_data(chunk, i + 1 == count && answer.trailers.is_none()).unwrap();
    }
    if let Some(trailers) = answer.trailers {
        stream.send_trailers(map(trailers)).unwrap();
    }
}

async fn answered(client: Tri, call: Request, answer: Answer) -> Result<Reply, Failure> {
    let (connection, peer) = against(client, |mut peer| async move {
        let (_request, mut respond) = peer.accept().await.unwrap().unwrap();
        write(answer, &mut respond);
        while peer.accept().await.is_some() {}
    })
    .await;
    let result = connection.send(call).await;
    drop(connection);
    peer.await.unwrap();
    result
}

async fn grpc(answer: Answer) -> Result<Reply, Failure> {
    answered(Tri::new(), request("x", ""), answer).await
}

#[tokio::test]
async fn case_181_an_answer_without_a_status_is_never_ok() {
    let message = || vec![framed(b"m")];
    let no_status = Some(&[("x", "y")][..]);
    for (name, answer, kind, code) in [
        (
            "message, trailers without status",
            Answer { http: 200, headers: GRPC, chunks: message(), trailers: no_status },
            FailureKind::Business,
            code::UNKNOWN,
        ),
        (
            "message, no trailers",
            Answer { http: 200, headers: GRPC, chunks: message(), trailers: None },
            FailureKind::Business,
            code::UNKNOWN,
        ),
        (
            "no message, trailers without status",
            Answer { http: 200, headers: GRPC, trailers: no_status, ..Answer::default() },
            FailureKind::NoAnswer,
            code::UNKNOWN,
        ),
        (
            "headers only",
            Answer { http: 200, headers: GRPC, ..Answer::default() },
            FailureKind::NoAnswer,
            code::UNKNOWN,
        ),
        (
            "HTTP 503 of a proxy",
            Answer {
                http: 503,
                headers: &[("content-type", "text/plain")],
                chunks: vec![Bytes::from_static(b"no upstream")],
                trailers: None,
            },
            FailureKind::Network,
            code::UNAVAILABLE,
        ),
        (
            "HTTP 200 of a web page",
            Answer {
                http: 200,
                headers: &[("content-type", "text/html")],
                chunks: vec![Bytes::from_static(b"<html>")],
                trailers: None,
            },
            FailureKind::NoAnswer,
            code::UNKNOWN,
        ),
        (
            "status 0 without a message",
            Answer {
                http: 200,
                headers: GRPC,
                trailers: Some(&[("grpc-status", "0")]),
                ..Answer::default()
            },
            FailureKind::NoAnswer,
            code::INTERNAL,
        ),
        (
            "status 0 in the only block",
            Answer {
                http: 200,
                headers: &[("content-type", "application/grpc"), ("grpc-status", "0")],
                ..Answer::default()
            },
            FailureKind::NoAnswer,
            code::INTERNAL,
        ),
        (
            "a status that is no number",
            Answer {
                http: 200,
                headers: GRPC,
                chunks: message(),
                trailers: Some(&[("grpc-status", "zero")]),
            },
            FailureKind::Business,
            code::UNKNOWN,
        ),
        (
            "13 without a message",
            Answer {
                http: 200,
                headers: &[("grpc-status", "13"), ("grpc-message", "broken")],
                ..Answer::default()
            },
            FailureKind::NoAnswer,
            code::INTERNAL,
        ),
        (
            "13 after a message",
            Answer {
                http: 200,
                headers: GRPC,
                chunks: message(),
                trailers: Some(&[("grpc-status", "13")]),
            },
            FailureKind::Business,
            code::INTERNAL,
        ),
    ] {
        let failure = grpc(answer).await.unwrap_err();
        assert_eq!((failure.kind, status(&failure)), (kind, code), "{name}: {failure}");
    }
}

#[tokio::test]
async fn case_181_resets_are_network_failures_with_the_status_of_their_reason() {
    for (reason, expected) in [
        (h2::Reason::INTERNAL_ERROR, code::INTERNAL),
        (h2::Reason::PROTOCOL_ERROR, code::INTERNAL),
        (h2::Reason::REFUSED_STREAM, code::UNAVAILABLE),
        (h2::Reason::ENHANCE_YOUR_CALM, code::RESOURCE_EXHAUSTED),
        (h2::Reason::INADEQUATE_SECURITY, code::PERMISSION_DENIED),
    ] {
        let (connection, peer) = against(Tri::new(), move |mut peer| async move {
            let (_request, mut respond) = peer.accept().await.unwrap().unwrap();
            let head = Response::builder().header("content-type", "application/grpc");
            let mut stream = respond.send_response(head.body(()).unwrap(), false).unwrap();
            stream.send_data(framed(b"m"), false).unwrap();
            stream.send_reset(reason);
            while peer.accept().await.is_some() {}
        })
        .await;
        let failure = connection.send(request("x", "")).await.unwrap_err();
        let found = (failure.kind, status(&failure));
        assert_eq!(found, (FailureKind::Network, expected), "{reason:?}: {failure}");
        drop(connection);
        peer.await.unwrap();
    }
}

#[tokio::test]
async fn answers_of_java_are_understood() {
    // The status of an unknown service comes with HTTP 404 in one block.
    let failure = grpc(Answer {
        http: 404,
        headers: &[("grpc-status", "12"), ("grpc-message", "Invoker for gRPC not found")],
        ..Answer::default()
    })
    .await
    .unwrap_err();
    assert_eq!((failure.kind, status(&failure)), (FailureKind::Business, 12));
    assert_eq!(failure.message, "Invoker for gRPC not found");
    // `te` in the response, text that is not percent-encoded, attachments in the trailers.
    let failure = grpc(Answer {
        http: 200,
        headers: &[("te", "trailers"), ("content-type", "application/grpc")],
        chunks: vec![],
        trailers: Some(&[
            ("grpc-status", "2"),
            ("grpc-message", "100% 不存在"),
            ("grpc-status-details-bin", "AQID"),
            ("my-key", "v"),
            ("tri-header-convert", "%7B%22my-key%22%3A%22My-Key%22%7D"),
        ]),
    })
    .await
    .unwrap_err();
    assert_eq!(failure.message, "100% 不存在");
    assert_eq!(failure.attachments.text("My-Key"), Some("v"));
    assert_eq!(
        failure.attachments.value("grpc-status-details-bin"),
        Some(&AttachmentValue::Binary(Bytes::from_static(&[1, 2, 3])))
    );
}

#[tokio::test]
async fn an_exception_is_a_business_failure_that_carries_it() {
    let thrown = JavaException::new("a.B", "no").to_exception();
    let mut wrapped = b"\x0a\x08hessian4\x12".to_vec();
    let [low, high] = [thrown.body.len() & 0x7f | 0x80, thrown.body.len() >> 7];
    wrapped.extend([u8::try_from(low).unwrap(), u8::try_from(high).unwrap()]);
    wrapped.extend_from_slice(&thrown.body);
    let failure = grpc(Answer {
        http: 200,
        headers: &[("content-type", "application/grpc"), ("tri-exception-code", "3")],
        chunks: vec![framed(&wrapped)],
        trailers: Some(&[("grpc-status", "0"), ("x", "y")]),
    })
    .await
    .unwrap_err();
    assert_eq!((failure.kind, status(&failure)), (FailureKind::Business, 3));
    assert_eq!(failure.attachments.text("x"), Some("y"));
    assert_eq!(failure.exception.as_deref(), Some(&thrown));
    let reply = grpc(Answer {
        http: 200,
        headers: &[("content-type", "application/grpc"), ("tri-exception-code", "0")],
        chunks: vec![framed(b"result")],
        trailers: Some(&[("grpc-status", "0")]),
    })
    .await
    .unwrap();
    assert_eq!(reply.body, "result");
}

#[tokio::test]
async fn garbled_messages_are_named() {
    let ok = Some(&[("grpc-status", "0")][..]);
    for (chunks, text) in [
        (vec![framed(b"a"), framed(b"b")], "more than one message"),
        (vec![framed(b"abc").slice(..6)], "cut off"),
        (vec![Bytes::from_static(b"\x01\0\0\0\x01x")], "compressed"),
        (vec![Bytes::from_static(b"\x09\0\0\0\x01x")], "flag byte"),
        (vec![Bytes::from_static(b"\0\x7f\xff\xff\xff")], "max_message_bytes"),
    ] {
        let answer = Answer { http: 200, headers: GRPC, chunks, trailers: ok };
        let failure = grpc(answer).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Serialization, "{failure}");
        assert!(failure.message.contains(text), "{failure}");
    }
}

#[tokio::test]
async fn a_message_in_pieces_is_put_together() {
    let wire = framed(b"hello");
    let chunks = (0..wire.len()).map(|i| wire.slice(i..=i)).collect();
    let trailers = Some(&[("grpc-status", "0")][..]);
    let reply = grpc(Answer { http: 200, headers: GRPC, chunks, trailers }).await.unwrap();
    assert_eq!(reply.body, "hello");
}

#[tokio::test]
async fn errors_of_the_json_flavour_are_mapped() {
    for (http, body, kind, code, text) in [
        (404, r#"{"status":"404","message":"none"}"#, FailureKind::Business, 12, "none"),
        (503, r#"{"status":"503","message":"m"}"#, FailureKind::Network, 14, "m"),
        (429, r#"{"status":"429","message":"m"}"#, FailureKind::LimitExceeded, 8, "m"),
        (403, r#"{"status":"403","message":"m"}"#, FailureKind::Forbidden, 7, "m"),
        (401, r#"{"status":"401","message":"m"}"#, FailureKind::Unauthenticated, 16, "m"),
        (500, r#"{"status":"500","message":"boom"}"#, FailureKind::Business, 2, "boom"),
        (408, r#"{"status":"408","message":"m"}"#, FailureKind::Business, 4, "m"),
        (400, r#"{"code":"unavailable","message":"m"}"#, FailureKind::Network, 14, "m"),
        (500, "", FailureKind::NoAnswer, 2, "HTTP status 500 Internal Server Error"),
        (502, "<html>", FailureKind::Network, 14, "HTTP status 502 Bad Gateway"),
    ] {
        let chunks = Some(body).filter(|body| !body.is_empty());
        let answer = Answer {
            http,
            headers: &[("content-type", "application/json"), ("x", "y")],
            chunks: chunks.into_iter().map(|body| Bytes::from_static(body.as_bytes())).collect(),
            trailers: None,
        };
        let failure = answered(Tri::new(), json("x", "[]"), answer).await.unwrap_err();
        assert_eq!((failure.kind, status(&failure)), (kind, code), "{http} {body}: {failure}");
        assert_eq!(failure.message, text);
        assert_eq!(failure.attachments.text("x"), Some("y"));
    }
}

#[tokio::test]
async fn a_json_answer_over_the_limit_is_refused() {
    let answer = Answer {
        http: 200,
        headers: &[("content-type", "application/json")],
        chunks: vec![Bytes::from_static(b"[1,2,"), Bytes::from_static(b"3,4]")],
        trailers: None,
    };
    let client = Tri::new().max_message_bytes(8);
    let failure = answered(client, json("x", "[]"), answer).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Serialization);
    assert!(failure.message.contains("max_message_bytes"), "{failure}");
}

#[tokio::test]
async fn case_183_a_withdrawn_call_resets_its_stream_and_the_late_answer_is_dropped() {
    let (reset, was_reset) = oneshot::channel();
    let (connection, peer) = against(Tri::new(), |mut peer| async move {
        let (_request, mut late) = peer.accept().await.unwrap().unwrap();
        // Stays on the first stream until it is reset, while the connection goes on.
        let reason = tokio::select! {
            reason = std::future::poll_fn(|cx| late.poll_reset(cx)) => reason.unwrap(),
            next = peer.accept() => panic!("{next:?}"),
        };
        reset.send(reason).unwrap();
        assert!(late.send_response(Response::new(()), true).is_err());
        let (_request, mut respond) = peer.accept().await.unwrap().unwrap();
        let trailers = Some(&[("grpc-status", "0")][..]);
        write(
            Answer { http: 200, headers: GRPC, chunks: vec![framed(b"ok")], trailers },
            &mut respond,
        );
        while peer.accept().await.is_some() {}
    })
    .await;
    let limit = Duration::from_millis(20);
    let call = connection.send(within(request("slow", ""), limit));
    assert!(tokio::time::timeout(limit, call).await.is_err(), "the caller enforces the time");
    assert_eq!(was_reset.await.unwrap(), h2::Reason::CANCEL);
    assert_eq!(connection.send(request("x", "")).await.unwrap().body, "ok");
    drop(connection);
    peer.await.unwrap();
}

#[tokio::test]
async fn the_request_on_the_wire_is_as_grpc_wants_it() {
    let (sender, seen) = oneshot::channel();
    let client = Tri::new().application("demo-consumer");
    let (connection, peer) = against(client, |mut peer| async move {
        let (request, mut respond) = peer.accept().await.unwrap().unwrap();
        let (head, mut body) = request.into_parts();
        let message = tokio::select! {
            chunk = body.data() => chunk.unwrap().unwrap(),
            _ = peer.accept() => unreachable!(),
        };
        sender.send((head, message, body.is_end_stream())).unwrap();
        write(Answer { http: 200, headers: GRPC, ..Answer::default() }, &mut respond);
        while peer.accept().await.is_some() {}
    })
    .await;
    let mut call = within(request("greet", "body"), Duration::from_secs(5));
    call.attachments.set("My-Key", "Val1");
    call.attachments.set_binary("bin", &[1u8, 2, 3][..]);
    let call = spawn(&connection, call);
    let (head, message, whole) = seen.await.unwrap();
    assert_eq!((head.method.as_str(), head.uri.path()), ("POST", "/test.Temper/greet"));
    assert_eq!(head.uri.scheme_str(), Some("http"));
    assert!(head.uri.authority().is_some());
    for (name, value) in [
        ("content-type", "application/grpc+proto"),
        ("te", "trailers"),
        ("grpc-timeout", "5000m"),
        ("tri-consumer-appname", "demo-consumer"),
        ("my-key", "Val1"),
        ("bin-bin", "AQID"),
    ] {
        assert_eq!(head.headers[name], value);
    }
    assert!(head.headers.contains_key("tri-header-convert"));
    assert!(head.headers.contains_key("user-agent"));
    assert!(!head.headers.contains_key("tri-service-version"));
    assert_eq!((message, whole), (framed(b"body"), true));
    call.await.unwrap().unwrap_err();
    drop(connection);
    peer.await.unwrap();
}
