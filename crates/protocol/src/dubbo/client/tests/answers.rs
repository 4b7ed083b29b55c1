//! What comes back, and what it means.

use super::*;

fn body(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// `new X("no stock")` without a cause, as Java sends it, and a field of its own.
fn thrown(class: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = Writer::new();
    let number = writer.object(class);
    writer.field("suppressedExceptions").unwrap();
    writer.list(Some("java.util.Collections$EmptyList"), 0);
    writer.field("stackTrace").unwrap();
    writer.list(Some("[java.lang.StackTraceElement"), 1);
    writer.object("java.lang.StackTraceElement");
    for field in ["fileName", "methodName"] {
        writer.field(field).unwrap();
        writer.str("x");
    }
    writer.end_object().unwrap();
    writer.field("cause").unwrap();
    writer.reference(number);
    writer.field("detailMessage").unwrap();
    writer.str("no stock");
    for (field, value) in more {
        writer.field(field).unwrap();
        writer.str(value);
    }
    writer.end_object().unwrap();
    writer.into_bytes()
}

#[tokio::test]
async fn every_flag_is_read() {
    let hello = text("hello world x7");
    let with = b"H\x07srv-key\x07srv-val\x05dubbo\x052.0.2Z";
    for (sent, value, attached) in [
        (body(&[&[0x91], &hello]), &hello[..], 0),
        (body(&[&[0x92]]), b"N", 0),
        (body(&[&[0x94], &hello, with]), &hello, 1),
        (body(&[&[0x94], &hello, b"N"]), &hello, 0),
        (body(&[&[0x95], DUBBO]), b"N", 0),
        (body(&[&[0x95], with]), b"N", 1),
        // dubbo-go ends with a null, and may send a longer form of the flag.
        (body(&[&[0x94], &hello, with, b"N"]), &hello, 1),
        (body(&[b"I\0\0\0\x01", &hello, b"N"]), &hello, 0),
    ] {
        let reply = answered(status::OK, &sent).await.unwrap();
        assert_eq!(reply.body, value, "{sent:02X?}");
        assert_eq!(reply.attachments.len(), attached, "{sent:02X?}");
    }
}

#[tokio::test]
async fn the_answer_of_a_real_provider_is_read() {
    let golden = "94 0E68656C6C6F20776F726C64207837 48 05647562626F 05322E302E32 5A";
    let digits: String = golden.split(' ').collect();
    let bytes: Vec<u8> = (0..digits.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap())
        .collect();
    let reply = answered(status::OK, &bytes).await.unwrap();
    assert_eq!(reply.body, text("hello world x7"));
    assert!(reply.attachments.is_empty(), "the version of the protocol is no attachment");
}

#[tokio::test]
async fn a_value_is_handed_on_with_its_classes_and_attachments_may_refer_to_it() {
    let mut writer = Writer::new();
    writer.int(4);
    let object = writer.object("a.Pair");
    writer.field("left").unwrap();
    let list = writer.list(None, 0);
    writer.field("right").unwrap();
    writer.reference(list);
    writer.end_object().unwrap();
    writer.map(None);
    writer.str("same");
    writer.reference(object);
    writer.str("other");
    writer.object("a.Pair");
    for field in ["left", "right"] {
        writer.field(field).unwrap();
        writer.int(1);
    }
    writer.end_object().unwrap();
    writer.str("kept");
    writer.str("yes");
    writer.end();
    let reply = answered(status::OK, &writer.into_bytes()).await.unwrap();
    let value = equipoise_hessian::Value::decode(&reply.body).unwrap();
    assert_eq!(reply.body.last(), Some(&(0x90 + 1)), "the reference, and nothing after it");
    drop(value);
    let attachments: Vec<_> = reply.attachments.iter().collect();
    assert_eq!(attachments, [("kept", &AttachmentValue::Text("yes".to_owned()))]);
}

#[tokio::test]
async fn attachments_of_other_kinds_become_text() {
    let mut writer = Writer::new();
    writer.int(5);
    writer.map(Some("java.util.HashMap"));
    writer.str("int");
    writer.int(-7);
    writer.str("long");
    writer.long(1 << 40);
    writer.str("bool");
    writer.bool(true);
    writer.str("double");
    writer.double(0.5);
    writer.str("bytes");
    writer.binary(&[1, 2]);
    writer.str("null");
    writer.null();
    writer.str("list");
    writer.list(None, 1);
    writer.str("x");
    writer.int(3);
    writer.str("a key that is no text");
    writer.str("Case-Kept");
    writer.str("é😀");
    writer.end();
    let reply = answered(status::OK, &writer.into_bytes()).await.unwrap();
    let expected: Attachments = [
        ("int", "-7"),
        ("long", "1099511627776"),
        ("bool", "true"),
        ("double", "0.5"),
        ("Case-Kept", "é😀"),
    ]
    .into_iter()
    .collect();
    let mut found = reply.attachments.clone();
    assert_eq!(found.remove("bytes"), Some(AttachmentValue::Binary(vec![1, 2].into())));
    assert_eq!(found, expected);
}

#[tokio::test]
async fn exceptions_are_business_and_travel_whole() {
    for (flag, attached) in [(0x90, &b""[..]), (0x93, DUBBO), (0x93, b"H\x01a\x01bZ")] {
        let object = thrown("com.example.OutOfStock", &[("sku", "A-1")]);
        let failure = answered(status::OK, &body(&[&[flag], &object, attached])).await.unwrap_err();
        assert_eq!((failure.kind, failure.sent), (FailureKind::Business, Sent::Maybe));
        assert_eq!(failure.message, "com.example.OutOfStock: no stock");
        assert!(!failure.retryable());
        assert_eq!(failure.attachments.len(), usize::from(attached.starts_with(b"H\x01")));
        let exception = failure.exception.unwrap();
        assert_eq!(exception.class, "com.example.OutOfStock");
        assert_eq!(exception.body, object);
    }
}

#[tokio::test]
async fn exceptions_of_generic_calls_say_what_was_thrown() {
    let class = "com.alibaba.dubbo.rpc.service.GenericException";
    let inner = [("exceptionMessage", "none left"), ("exceptionClass", "a.OutOfStock")];
    let sent = body(&[&[0x93], &thrown(class, &inner), DUBBO]);
    let failure = answered(status::OK, &sent).await.unwrap_err();
    assert_eq!(failure.message, "a.OutOfStock: none left");
    assert_eq!(failure.exception.unwrap().class, class);
}

#[tokio::test]
async fn exceptions_in_odd_forms_are_still_exceptions() {
    let map = b"M\x03a.EH\x01x\x01yZN\x0ddetailMessage\x04oopsZ";
    let failure = answered(status::OK, &body(&[&[0x90], map])).await.unwrap_err();
    assert_eq!(failure.message, "a.E: oops");
    for (odd, message) in [(&b"\x04text"[..], "text"), (b"N", ""), (b"y\x91", "")] {
        let failure = answered(status::OK, &body(&[&[0x90], odd])).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Business);
        assert_eq!(failure.message, message);
        assert_eq!(failure.exception.unwrap().body, odd);
    }
    let long = text(&"é".repeat(60_000));
    let failure = answered(status::OK, &body(&[&[0x90], &long])).await.unwrap_err();
    assert_eq!(failure.message.len(), 4096);
}

#[tokio::test]
async fn every_status_says_who_failed_and_what_may_be_done() {
    use FailureKind::{Business, LimitExceeded, Network, NoAnswer, Serialization, Timeout};
    for (status, kind, retryable) in [
        (25, Serialization, false),
        (30, Timeout, true),
        (31, Timeout, true),
        (35, Network, true),
        (40, Business, false),
        (50, Business, false),
        (60, Business, false),
        (70, Business, false),
        (80, NoAnswer, true),
        (90, Business, false),
        (100, LimitExceeded, true),
        (0, Business, false),
        (255, Business, false),
    ] {
        let failure = answered(status, &text("Fail to decode request")).await.unwrap_err();
        assert_eq!((failure.kind, failure.retryable()), (kind, retryable), "{status}");
        // Only where nobody ran it: the call may move to somebody else free of charge.
        assert_eq!(failure.sent == Sent::No, status == 100, "{status}");
        for part in [
            "10.0.0.1:20880",
            "com.example.GreetService",
            "greet(Ljava/lang/String;I)",
            &format!("status {status} ("),
            "Fail to decode request",
        ] {
            assert!(failure.message.contains(part), "{part:?} is not in {}", failure.message);
        }
    }
    let refusal = "Unexpected serialization id:2 received from network";
    let failure = answered(40, &text(refusal)).await.unwrap_err();
    assert_eq!(failure.kind, Serialization);
}

#[tokio::test]
async fn long_or_broken_texts_of_errors_are_cut_or_left_out() {
    let failure = answered(70, &text(&"stack\n".repeat(20_000))).await.unwrap_err();
    assert!((4096..4400).contains(&failure.message.len()), "{}", failure.message.len());
    for broken in [&b""[..], b"\x05ab", b"\xFF", b"N"] {
        let failure = answered(70, broken).await.unwrap_err();
        assert!(failure.message.ends_with("status 70 (SERVICE_ERROR): "), "{failure}");
    }
}

#[tokio::test]
async fn answers_in_another_serialization_name_the_remedy() {
    for status in [status::OK, status::SERVICE_ERROR] {
        let (connection, mut peer) = connected();
        let call = send(&connection, greet());
        let id = peer.call().await;
        let mut header = Header::response(id, status, 1);
        header.serialization = 23;
        peer.write(&[&header.encode(), &b"x"[..]].concat()).await;
        let failure = call.await.unwrap().unwrap_err();
        assert_eq!((failure.kind, failure.retryable()), (FailureKind::Serialization, false));
        assert!(failure.message.contains("prefer.serialization=hessian2"), "{failure}");
        assert!(connection.is_available(), "other answers may be readable");
    }
}

#[tokio::test]
async fn bodies_that_cannot_be_read_fail_their_own_call_only() {
    for broken in [
        &b""[..],
        b"\x96",
        b"\x8F",
        b"\x05hello",
        b"\x91",
        b"\x91\x05abc",
        b"\x91Z",
        b"\x94N",
        b"\x94N\x05abc",
        b"\x95H\x01a",
        b"\x91O\x91",
        b"\x91Q\x90",
        b"\x93Z",
        b"\x91V\x01aI\x7f\xff\xff\xff",
    ] {
        let (connection, mut peer) = connected();
        let call = send(&connection, greet());
        let id = peer.call().await;
        peer.answer(id, status::OK, broken).await;
        let failure = call.await.unwrap().unwrap_err();
        assert_eq!(failure.kind, FailureKind::Serialization, "{broken:?}");
        assert_eq!(failure.sent, Sent::Maybe);
        let next = send(&connection, greet());
        let id = peer.call().await;
        peer.ok(id).await;
        assert!(next.await.unwrap().is_ok());
    }
}

#[tokio::test]
async fn case_167_an_answer_over_the_limit_fails_at_once_and_the_next_one_is_read() {
    let (connection, mut peer) = connected();
    let (seventh, eighth) = (send(&connection, greet()), send(&connection, greet()));
    let (a, b) = (peer.call().await, peer.call().await);
    let size = 9 * 1024 * 1024;
    peer.write(&Header::response(a, status::OK, size).encode()).await;
    // Before a byte of the body has come.
    let first = seventh.await.unwrap().unwrap_err();
    assert_eq!((first.kind, first.sent), (FailureKind::Serialization, Sent::Maybe));
    for part in ["9437184", "8388608", "status 90"] {
        assert!(first.message.contains(part), "{part} is not in {first}");
    }
    for _ in 0..size / 4096 {
        peer.write(&[0; 4096]).await;
    }
    peer.ok(b).await;
    assert_eq!(eighth.await.unwrap().unwrap().body, [0x90 + 7].as_slice());
}
