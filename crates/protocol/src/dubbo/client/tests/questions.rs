//! What goes out.

use super::*;
use crate::java::generic;

/// The body of a call: everything before the attachments, and the attachments.
fn read(body: &[u8], arguments: usize) -> (Vec<String>, Vec<(String, String)>) {
    let mut reader = Reader::new(body);
    let text = |token| match token {
        Token::Str(text) => text.to_string_lossy(),
        Token::Binary(bytes) => format!("{bytes:?}"),
        other => format!("{other:?}"),
    };
    let strings = (0..5).map(|_| text(reader.next().unwrap())).collect();
    for _ in 0..arguments {
        reader.skip_value().unwrap();
    }
    assert!(matches!(reader.next(), Ok(Token::Map { ty: None, .. })));
    let mut attachments = Vec::new();
    loop {
        match reader.next().unwrap() {
            Token::End => break,
            key => attachments.push((text(key), text(reader.next().unwrap()))),
        }
    }
    assert!(reader.at_end());
    (strings, attachments)
}

async fn sent(client: &Dubbo, query: &str, request: Request) -> (Header, Bytes) {
    let (connection, mut peer) = connected_by(settings(client, query), 64 * 1024);
    let call = send(&connection, request);
    let frame = peer.frame().await.unwrap();
    call.abort();
    frame
}

#[tokio::test]
async fn a_call_has_the_bytes_that_java_sends() {
    let client = Dubbo::new().application("rust-consumer").countdown(false);
    let mut request = greet();
    request.timeout = Some(Duration::from_secs(1));
    let (header, body) = sent(&client, "", request).await;
    assert_eq!(header, Header::request(header.id, true, 197));
    let hex: String = body.iter().map(|byte| format!("{byte:02X}")).collect();
    let expected = concat!(
        "05322E302E32",
        "18636F6D2E6578616D706C652E477265657453657276696365",
        "05302E302E30",
        "056772656574",
        "134C6A6176612F6C616E672F537472696E673B49",
        "05776F726C64",
        "97",
        "48",
        "0470617468",
        "18636F6D2E6578616D706C652E477265657453657276696365",
        "1272656D6F74652E6170706C69636174696F6E",
        "0D727573742D636F6E73756D6572",
        "09696E74657266616365",
        "18636F6D2E6578616D706C652E477265657453657276696365",
        "0776657273696F6E",
        "05302E302E30",
        "0774696D656F7574",
        "0431303030",
        "5A",
    );
    assert_eq!(hex, expected);
}

#[tokio::test]
async fn group_version_token_and_the_time_left_travel() {
    let mut request = greet();
    let service = ServiceKey::new("a.B").group("g1").version("1.0.0");
    request.service = Arc::new(service);
    request.timeout = Some(Duration::from_micros(1_500_100));
    let (_, body) = sent(&Dubbo::new(), "token=secret", request).await;
    let (strings, attachments) = read(&body, 2);
    assert_eq!(strings, ["2.0.2", "a.B", "1.0.0", "greet", "Ljava/lang/String;I"]);
    let expected = [
        ("path", "a.B"),
        ("interface", "a.B"),
        ("version", "1.0.0"),
        ("group", "g1"),
        ("token", "secret"),
        ("timeout", "1501"),
        ("_TO", "Int(1501)"),
    ];
    assert_eq!(attachments, expected.map(|(k, v)| (k.to_owned(), v.to_owned())));
}

#[tokio::test]
async fn a_path_that_is_no_interface_is_used_for_its_interface_only() {
    let query = "interface=com.example.GreetService";
    let target = Url::parse(&format!("dubbo://h:1/greeter?{query}")).unwrap();
    let settings = Settings::new(&Dubbo::new().options, &target);
    for (interface, path) in [("com.example.GreetService", "greeter"), ("a.B", "a.B")] {
        let (connection, mut peer) = connected_by(settings.clone(), 64 * 1024);
        let mut request = greet();
        request.service = Arc::new(ServiceKey::new(interface));
        let _call = send(&connection, request);
        let (_, body) = peer.frame().await.unwrap();
        let (strings, attachments) = read(&body, 2);
        assert_eq!(strings[1], path);
        assert_eq!(attachments[0], ("path".to_owned(), path.to_owned()));
        assert_eq!(attachments[1], ("interface".to_owned(), interface.to_owned()));
    }
}

#[tokio::test]
async fn what_the_caller_attaches_goes_along_but_never_instead() {
    let mut request = greet();
    for key in ["path", "interface", "version", "group", "timeout", "_TO", "generic", "token"] {
        request.attachments.set(key, "forged");
    }
    request.attachments.set("remote.application", "forged");
    request.attachments.set("My-Key", "grüße 😀");
    request.attachments.set("dubbo.tag", "gray");
    request.attachments.set("lb_adaptive", "mem,load");
    request.attachments.set_binary("bin", vec![1, 2, 3]);
    let client = Dubbo::new().application("app");
    let (_, body) = sent(&client, "token=real", request.clone()).await;
    let (_, attachments) = read(&body, 2);
    let expected = [
        ("path", "com.example.GreetService"),
        ("remote.application", "app"),
        ("interface", "com.example.GreetService"),
        ("version", "0.0.0"),
        ("token", "real"),
        ("My-Key", "grüße 😀"),
        ("dubbo.tag", "gray"),
        ("lb_adaptive", "mem,load"),
        ("bin", "[1, 2, 3]"),
    ];
    assert_eq!(attachments, expected.map(|(k, v)| (k.to_owned(), v.to_owned())));
    // Where the client knows none, the caller's own are not in the way.
    let (_, body) = sent(&Dubbo::new(), "", request).await;
    let (_, attachments) = read(&body, 2);
    for key in ["remote.application", "token"] {
        assert!(attachments.contains(&(key.to_owned(), "forged".to_owned())), "{key}");
    }
}

#[tokio::test]
async fn one_way_calls_want_no_answer_and_end_when_they_are_queued() {
    let (connection, mut peer) = connected();
    let mut request = greet();
    request.one_way = true;
    let reply = connection.send(request).now_or_never().unwrap().unwrap();
    assert!(reply.body.is_empty() && reply.attachments.is_empty());
    let (header, _) = peer.frame().await.unwrap();
    assert_eq!(header.encode()[2..4], [0x82, 0x00]);
    assert_eq!(channel(&connection).pending.waiting(), 0);
    // An answer that comes in spite of it is nobody's.
    peer.ok(header.id).await;
    let call = send(&connection, greet());
    let id = peer.call().await;
    peer.ok(id).await;
    assert!(call.await.unwrap().is_ok());
}

#[tokio::test]
async fn a_request_over_the_payload_is_refused_before_it_is_sent() {
    let (connection, mut peer) = connected_by(settings(&Dubbo::new().payload_bytes(500), ""), 9999);
    let failure = connection.send(with_arguments(vec![b'N'; 500])).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Serialization, Sent::No));
    assert!(failure.message.contains("over the limit of 500 bytes"), "{failure}");
    let call = send(&connection, greet());
    let id = peer.call().await;
    peer.ok(id).await;
    assert!(call.await.unwrap().is_ok());
}

/// The answer to a call with JSON, and the frame that it was.
async fn invoked(
    types: Option<&str>,
    status: u8,
    answer: &[u8],
) -> (Bytes, Result<Reply, Failure>) {
    let (connection, mut peer) = connected();
    let mut request = greet();
    request.body = Body::json(r#"["world",7]"#);
    request.types = types.map(Into::into);
    let call = send(&connection, request);
    let (header, body) = peer.frame().await.unwrap();
    peer.answer(header.id, status, answer).await;
    (body, call.await.unwrap())
}

#[tokio::test]
async fn json_travels_as_a_generic_call_and_comes_back_as_json() {
    let answer = b"\x94H\x05class\x03a.B\x01nI\0\0\0\x05ZH\x05dubbo\x052.0.2Z";
    let (body, reply) = invoked(Some("java.lang.String,int"), status::OK, answer).await;
    assert_eq!(reply.unwrap().body, r#"{"class":"a.B","n":5}"#);
    let (strings, attachments) = read(&body, 3);
    assert_eq!(strings[3..], [generic::INVOKE, generic::INVOKE_TYPES]);
    assert!(attachments.contains(&("generic".to_owned(), "true".to_owned())));
    // The three arguments as Java sends them.
    let arguments = b"\x05greetr\x07[string\x10java.lang.String\x03intr\x07[object\x05world\x97H";
    assert!(body.windows(arguments.len()).any(|window| window == arguments), "{body:?}");
    let (body, reply) = invoked(None, status::OK, b"\x95N").await;
    assert_eq!(reply.unwrap().body, "null");
    let arguments = b"\x05greetNr\x07[object\x05world\x97H";
    assert!(body.windows(arguments.len()).any(|window| window == arguments), "{body:?}");
}

#[tokio::test]
async fn failures_of_generic_calls_name_the_method_and_ask_for_types() {
    let (_, reply) = invoked(None, status::SERVICE_ERROR, &text("Not unique method")).await;
    let failure = reply.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Business);
    for part in ["greet(?)", "Not unique method", "names no types"] {
        assert!(failure.message.contains(part), "{part} is not in {failure}");
    }
    let (connection, _peer) = connected();
    let mut request = greet();
    request.body = Body::json("[1]");
    request.types = Some("java.lang.String,int".into());
    let failure = connection.send(request).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Invalid, Sent::No), "{failure}");
}

#[tokio::test]
async fn protobuf_is_told_where_to_go() {
    let (connection, _peer) = connected();
    let mut request = greet();
    request.body = Body::protobuf("x");
    let failure = connection.send(request).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Invalid, Sent::No));
    assert!(failure.message.contains("tri"), "{failure}");
}

#[tokio::test]
async fn methods_are_prepared_once_and_the_cache_is_bounded() {
    let heads = heads::Heads::new(settings(&Dubbo::new(), ""));
    let service = Arc::new(ServiceKey::new("a.B"));
    let first = heads.head(&service, "m", "I");
    let again = heads.head(&Arc::new(ServiceKey::new("a.B")), "m", "I");
    assert!(Arc::ptr_eq(&first, &again));
    assert!(!Arc::ptr_eq(&first, &heads.head(&service, "m", "J")));
    for i in 0..1000 {
        heads.head(&service, &format!("m{i}"), "");
    }
    assert_eq!(heads.len(), 256);
    let invoke = heads.head(&service, generic::INVOKE, generic::INVOKE_TYPES);
    assert!(invoke.after.ends_with(b"\x07generic\x04true"));
}

#[tokio::test]
async fn arguments_of_any_size_arrive_whole() {
    for size in [0, 1, 16 * 1024 - 1, 16 * 1024, 3 * outgoing::CAPACITY] {
        let (connection, mut peer) = connected_by(settings(&Dubbo::new(), ""), 1000);
        let bytes: Vec<u8> = (0..size).map(|i| i as u8).collect();
        let call = send(&connection, with_arguments(bytes.clone()));
        let (header, body) = peer.frame().await.unwrap();
        let head = b"\x05greet\x13Ljava/lang/String;I";
        let at = body.windows(head.len()).position(|window| window == head).unwrap() + head.len();
        assert!(body[at..at + size] == bytes);
        peer.ok(header.id).await;
        assert!(call.await.unwrap().is_ok());
    }
}
