//! Java values over `tri`: our client and server with each other, and each with the bytes of Dubbo Java.
#![allow(clippy::unwrap_used)] // What a test takes for granted it may unwrap, in its helpers too.

mod common;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use common::{against, connect, framed, status, with};
use equipoise_core::attachments::Attachments;
use equipoise_core::hash::key::Argument;
use equipoise_core::outcome::{Exception, Failure, FailureKind};
use equipoise_core::port::{Arguments, Body, BodyFormat, BoxFuture, Reply, Request};
use equipoise_core::service::ServiceKey;
use equipoise_protocol::hessian::{Node, Value, unhex};
use equipoise_protocol::java::{JavaException, JavaValues};
use equipoise_protocol::{CallContext, Handler, RunningServer, Server, Status, Tri, code};
use http::{HeaderMap, Response};
use tokio::net::TcpStream;

const SERVICE: &str = "io.equipoise.interop.Stock";

/// A Java service: answers what its methods' names say.
struct Stock;

impl Handler for Stock {
    fn call<'a>(&'a self, call: CallContext) -> BoxFuture<'a, Result<Reply, Status>> {
        Box::pin(async move {
            let java = call.java.clone().unwrap();
            let JavaValues::Each(values) = &java.values else { panic!("joined values") };
            assert_eq!((call.format, call.body.len()), (BodyFormat::Java, 0));
            let body = match call.method() {
                "greet" => {
                    let [name, times] = [&values[0], &values[1]].map(|v| Value::decode(v).unwrap());
                    let (name, times) =
                        (name.str(name.root()).unwrap(), times.integer(times.root()).unwrap());
                    encoded(&Value::text(format!("hello {name} x{times}")))
                }
                "types" => encoded(&Value::text(java.types.as_deref().unwrap_or("none"))),
                "first" => values[0].clone(),
                "nothing" => Bytes::new(),
                "large" => encoded(&Value::of(Node::Binary(vec![7; 9_000_000]))),
                "fail" => {
                    let thrown = JavaException::new("a.Full", "no room: é")
                        .with("left", Value::of(Node::Int(3)));
                    let mut status = Status::new(code::UNKNOWN, thrown.to_string())
                        .with_attachments(call.attachments);
                    status.exception = Some(Box::new(thrown.to_exception()));
                    return Err(status);
                }
                "panic" => panic!("on purpose"),
                other => return Err(Status::unknown_method(SERVICE, other)),
            };
            Ok(Reply { body, attachments: call.attachments })
        })
    }

    fn form(&self, _method: &str) -> BodyFormat {
        BodyFormat::Java
    }

    fn returns(&self, method: &str, _types: Option<&str>) -> Option<&str> {
        match method {
            "greet" => Some("java.lang.String"),
            "nothing" => Some("void"),
            _ => None,
        }
    }
}

fn encoded(value: &Value) -> Bytes {
    value.encode().into()
}

async fn serve() -> RunningServer {
    let server = Server::builder().service(ServiceKey::new(SERVICE), Arc::new(Stock));
    server.bind("127.0.0.1:0").await.unwrap()
}

/// Arguments that are encoded already.
#[derive(Debug)]
struct Ready(&'static str, Vec<Bytes>);

impl Arguments for Ready {
    fn descriptor(&self) -> &str {
        self.0
    }

    fn joined(&self) -> Result<Bytes, Failure> {
        unreachable!("values travel one by one")
    }

    fn each(&self) -> Result<Vec<Bytes>, Failure> {
        Ok(self.1.clone())
    }

    fn hashed(&self) -> Vec<Argument> {
        Vec::new()
    }
}

fn java(method: &str, types: &'static str, values: &[Value]) -> Request {
    let values = values.iter().map(encoded).collect();
    Request {
        service: Arc::new(ServiceKey::new(SERVICE)),
        body: Body::Java(Arc::new(Ready(types, values))),
        ..common::request(method, Bytes::new())
    }
}

fn greet() -> Request {
    java("greet", "Ljava/lang/String;I", &[Value::text("world"), Value::of(Node::Int(7))])
}

fn generic(method: &str, types: &str, document: &str) -> Request {
    Request {
        service: Arc::new(ServiceKey::new(SERVICE)),
        types: Some(types.into()),
        ..common::json(method, document.to_owned())
    }
}

fn hex(text: &str) -> Bytes {
    unhex(&text.replace(' ', "")).unwrap().into()
}

#[tokio::test]
async fn values_and_attachments_travel_both_ways() {
    let server = serve().await;
    let connection = connect(server.local_addr()).await;
    let reply = connection.send(with(greet(), &[("My-Key", "Val1")])).await.unwrap();
    assert_eq!(reply.body, encoded(&Value::text("hello world x7")));
    assert_eq!(reply.attachments.text("My-Key"), Some("Val1"));
    let types = java("types", "[I[Ljava/lang/String;", &[Value::null(), Value::null()]);
    let reply = connection.send(types).await.unwrap();
    assert_eq!(reply.body, encoded(&Value::text("[I[Ljava/lang/String;")));
    let nothing = connection.send(java("nothing", "", &[])).await.unwrap();
    assert_eq!(nothing.body, encoded(&Value::null()));
    // A graph arrives as it is: shared, and in a circle.
    let mut graph = Value::empty();
    let node = graph.add(Node::Null);
    graph.put(node, Node::object("a.Node", [("next", node)]));
    let root = graph.add(Node::List(None, vec![node, node]));
    graph.set_root(root);
    let reply =
        connection.send(java("first", "Ljava/lang/Object;", &[graph.clone()])).await.unwrap();
    assert_eq!(Value::decode(&reply.body).unwrap(), graph);
}

#[tokio::test]
async fn exceptions_come_back_as_they_were_thrown() {
    let server = serve().await;
    let connection = connect(server.local_addr()).await;
    let failure = connection.send(with(java("fail", "", &[]), &[("K", "v")])).await.unwrap_err();
    assert_eq!((failure.kind, status(&failure)), (FailureKind::Business, 3));
    assert_eq!(failure.message, "a.Full: no room: é");
    assert_eq!(failure.attachments.text("K"), Some("v"));
    let Exception { class, body } = *failure.exception.unwrap();
    assert_eq!(class, "a.Full");
    let read = JavaException::decode(&body).unwrap();
    assert_eq!(read.fields, [("left".to_owned(), Value::of(Node::Int(3)))]);
    // Errors that are no exceptions have a status only, and the connection goes on.
    for (method, code) in [("none", code::UNIMPLEMENTED), ("panic", code::INTERNAL)] {
        let failure = connection.send(java(method, "", &[])).await.unwrap_err();
        assert_eq!((status(&failure), failure.exception.is_some()), (code, false), "{method}");
    }
    let large = connection.send(java("large", "", &[])).await.unwrap_err();
    assert_eq!(status(&large), code::RESOURCE_EXHAUSTED);
    connection.send(greet()).await.unwrap();
}

#[tokio::test]
async fn json_with_types_is_a_generic_call() {
    let server = serve().await;
    let connection = connect(server.local_addr()).await;
    let typed = generic("greet", "java.lang.String,int", r#"["bob",2]"#);
    assert_eq!(connection.send(typed).await.unwrap().body, "\"hello bob x2\"");
    let types = generic("types", "long,java.time.LocalDate", r#"[1,"2024-12-31"]"#);
    assert_eq!(connection.send(types).await.unwrap().body, "\"JLjava/time/LocalDate;\"");
    let date = generic("first", "java.time.LocalDate", r#"["2024-12-31"]"#);
    assert_eq!(connection.send(date).await.unwrap().body, "\"2024-12-31\"");
    let nothing = generic("nothing", "", "");
    assert_eq!(connection.send(nothing).await.unwrap().body, "null");
    let failure = connection.send(generic("fail", "", "[]")).await.unwrap_err();
    assert_eq!(
        (failure.kind, failure.message.as_str()),
        (FailureKind::Business, "a.Full: no room: é")
    );
    assert_eq!(failure.exception.unwrap().class, "a.Full");
    let echo = java("$echo", "Ljava/lang/Object;", &[Value::text("ping")]);
    assert_eq!(connection.send(echo).await.unwrap().body, encoded(&Value::text("ping")));
    let bad = connection.send(generic("greet", "int", r#"["x"]"#)).await.unwrap_err();
    assert_eq!(bad.kind, FailureKind::Invalid);
    assert!(bad.message.contains("argument 0"), "{bad}");
}

/// Headers, data and trailers of an answer to one raw message.
async fn raw(
    server: &RunningServer,
    method: &str,
    message: &[u8],
) -> (HeaderMap, Bytes, HeaderMap) {
    let stream = TcpStream::connect(server.local_addr()).await.unwrap();
    let (sender, connection) = h2::client::handshake(stream).await.unwrap();
    let task = tokio::spawn(async move { drop(connection.await) });
    let mut sender = sender.ready().await.unwrap();
    let request = http::Request::post(format!("http://h/{SERVICE}/{method}"))
        .header("content-type", "application/grpc+proto")
        .header("te", "trailers")
        .header("my-key", "Val1")
        .header("tri-header-convert", "%7B%22my-key%22%3A%22My-Key%22%7D")
        .body(())
        .unwrap();
    let (response, mut stream) = sender.send_request(request, false).unwrap();
    stream.send_data(framed(message), true).unwrap();
    let (head, mut body) = response.await.unwrap().into_parts();
    let mut data = Vec::new();
    while let Some(chunk) = body.data().await {
        data.extend_from_slice(&chunk.unwrap());
    }
    let trailers = body.trailers().await.unwrap().unwrap_or_default();
    task.abort();
    (head.headers, data.into(), trailers)
}

/// As captured from a consumer and a provider of Dubbo Java 3.3.6.
const GREET: &str = "0a086865737369616e34 1206 05776f726c64 1201 97 \
    1a106a6176612e6c616e672e537472696e67 1a03696e74";
const GREETED: &str = "00 0000002d 0a086865737369616e34 120f 0e68656c6c6f20776f726c64207837 \
    1a106a6176612e6c616e672e537472696e67";

#[tokio::test]
async fn our_server_answers_java_byte_for_byte() {
    let server = serve().await;
    let (headers, data, trailers) = raw(&server, "greet", &hex(GREET)).await;
    assert_eq!(headers["content-type"], "application/grpc");
    assert_eq!(data, hex(GREETED));
    assert_eq!(
        (&trailers["grpc-status"], &trailers["my-key"]),
        (&"0".parse().unwrap(), &"Val1".parse().unwrap())
    );
    assert_eq!(trailers["tri-header-convert"], "%7B%22my%2Dkey%22%3A%22My%2DKey%22%7D");
    let (_, data, _) = raw(&server, "nothing", &hex("0a086865737369616e34")).await;
    assert_eq!(data, framed(&hex("0a086865737369616e34 12014e 1a04766f6964")));
    let (headers, data, trailers) = raw(&server, "fail", &hex("0a086865737369616e34")).await;
    assert_eq!(headers["tri-exception-code"], "3");
    assert!(data.starts_with(&hex("00")) && data[5..].starts_with(&hex("0a086865737369616e34 12")));
    assert_eq!(trailers["grpc-status"], "0");
}

#[tokio::test]
async fn broken_wrappers_get_an_answer_at_once() {
    let server = serve().await;
    for (message, text) in [
        (hex("ff"), "no wrapper"),
        (hex("0a09 66617374 6a736f6e32"), "prefer.serialization=hessian2"),
        (hex("0a086865737369616e34 1201 97 1a01 20"), "no class name has"),
        (hex("0a086865737369616e34 1a03 696e74"), "1 types for 0 arguments"),
    ] {
        let (headers, data, _) = raw(&server, "greet", &message).await;
        assert_eq!((headers["grpc-status"].as_bytes(), data.len()), (&b"3"[..], 0), "{message:?}");
        let said = percent(&headers["grpc-message"]);
        assert!(said.contains(text), "{said}");
    }
    // The same for what only a reader of the values notices.
    let message = hex("0a086865737369616e34 1201 43 1203 57 5757");
    let (headers, ..) = raw(&server, "$echo", &message).await;
    assert_eq!(headers["grpc-status"], "3");
}

fn percent(value: &http::HeaderValue) -> String {
    value.to_str().unwrap().to_owned()
}

/// A peer that answers one call with these headers, this message and these trailers. Gives the
/// message and the headers of the call.
async fn answering(
    request: Request,
    headers: &[(&'static str, &'static str)],
    message: Option<Bytes>,
    trailers: &[(&'static str, &'static str)],
) -> (Result<Reply, Failure>, http::request::Parts, Bytes) {
    let headers = headers.to_vec();
    let trailers: HeaderMap =
        trailers.iter().map(|(k, v)| (k.parse().unwrap(), v.parse().unwrap())).collect();
    let (sender, seen) = tokio::sync::oneshot::channel();
    let (connection, peer) = against(Tri::new(), async move |mut peer| {
        let (request, mut respond) = peer.accept().await.unwrap().unwrap();
        let (parts, mut body) = request.into_parts();
        let calls = tokio::spawn(async move { while peer.accept().await.is_some() {} });
        let mut asked = Vec::new();
        while let Some(chunk) = body.data().await {
            asked.extend_from_slice(&chunk.unwrap());
        }
        sender.send((parts, Bytes::from(asked))).unwrap();
        let mut response = Response::builder().header("content-type", "application/grpc");
        for (name, value) in headers {
            response = response.header(name, value);
        }
        let mut stream = respond.send_response(response.body(()).unwrap(), false).unwrap();
        if let Some(message) = message {
            stream.send_data(message, false).unwrap();
        }
        stream.send_trailers(trailers).unwrap();
        calls.await.unwrap();
    })
    .await;
    let result = connection.send(request).await;
    peer.abort();
    let (parts, asked) = seen.await.unwrap();
    (result, parts, asked)
}

#[tokio::test]
async fn our_client_speaks_to_java_byte_for_byte() {
    let mut call = with(greet(), &[("My-Key", "Val1")]);
    call.timeout = Some(Duration::from_secs(5));
    let convert = "%7B%22k-upper%22%3A%22k-Upper%22%7D";
    let trailers = [("grpc-status", "0"), ("k-upper", "v"), ("tri-header-convert", convert)];
    let (reply, parts, asked) =
        answering(call, &[("te", "trailers")], Some(hex(GREETED)), &trailers).await;
    let ours = GREET.replace("6e34", "6e32");
    assert_eq!(asked, framed(&hex(&ours)));
    assert_eq!(parts.uri.path(), format!("/{SERVICE}/greet"));
    assert_eq!(parts.headers["content-type"], "application/grpc+proto");
    assert_eq!(parts.headers["my-key"], "Val1");
    assert!(
        parts.headers.contains_key("grpc-timeout")
            && parts.headers.contains_key("tri-header-convert")
    );
    let reply = reply.unwrap();
    assert_eq!(reply.body, encoded(&Value::text("hello world x7")));
    assert_eq!(reply.attachments.text("k-Upper"), Some("v"));
    let (_, _, asked) =
        answering(java("nothing", "", &[]), &[], None, &[("grpc-status", "2")]).await;
    assert_eq!(asked, framed(&hex("0a086865737369616e32")));
}

#[tokio::test]
async fn a_generic_call_is_the_one_of_java() {
    let call = generic("greet", "java.lang.String,int", r#"["bob",2]"#);
    let (reply, parts, asked) =
        answering(call, &[], Some(hex(GREETED)), &[("grpc-status", "0")]).await;
    assert_eq!(reply.unwrap().body, "\"hello world x7\"");
    assert_eq!(parts.uri.path(), format!("/{SERVICE}/$invoke"));
    assert_eq!(parts.headers["generic"], "true");
    let text = String::from_utf8_lossy(&asked);
    for part in ["greet", "[string", "[object", "[Ljava.lang.String;", "[Ljava.lang.Object;"] {
        assert!(text.contains(part), "{text}");
    }
}

#[tokio::test]
async fn answers_of_java_that_are_errors_are_told_apart() {
    // An exception: the trailers say 0.
    let thrown = JavaException::new("io.equipoise.interop.OutOfStock", "none left").to_exception();
    let mut wrapper = hex("0a086865737369616e34 12").to_vec();
    wrapper.push(u8::try_from(thrown.body.len() & 0x7f).unwrap() | 0x80);
    wrapper.push(u8::try_from(thrown.body.len() >> 7).unwrap());
    wrapper.extend_from_slice(&thrown.body);
    let business = [("tri-exception-code", "3")];
    let message = Some(framed(&wrapper));
    let (reply, ..) = answering(greet(), &business, message, &[("grpc-status", "0")]).await;
    let failure = reply.unwrap_err();
    assert_eq!(failure.message, "io.equipoise.interop.OutOfStock: none left");
    assert_eq!(failure.exception.as_deref(), Some(&thrown));
    // One that Java could not write: announced, and then a status.
    let trailers = [("grpc-status", "2"), ("grpc-message", "Internal Server Error")];
    let (reply, ..) = answering(greet(), &business, None, &trailers).await;
    let failure = reply.unwrap_err();
    assert_eq!((failure.kind, status(&failure)), (FailureKind::Business, 2));
    assert_eq!(failure.message, "Internal Server Error");
    // A result in another serialization, and one that is none at all.
    for (message, text) in [
        (hex("0a0966617374 6a736f6e32 12014e"), "prefer.serialization=hessian2"),
        (hex("ff"), "no wrapper"),
    ] {
        let message = Some(framed(&message));
        let (reply, ..) = answering(greet(), &[], message, &[("grpc-status", "0")]).await;
        let failure = reply.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Serialization);
        assert!(failure.message.contains(text), "{failure}");
    }
}

#[tokio::test]
async fn a_service_of_messages_has_no_generic_calls_but_an_echo() {
    let proto = |call: CallContext| async move {
        Ok(Reply { body: call.body, attachments: Attachments::new() })
    };
    let server = Server::builder().service(ServiceKey::new(SERVICE), Arc::new(proto));
    let server = server.bind("127.0.0.1:0").await.unwrap();
    let connection = connect(server.local_addr()).await;
    let refused = connection.send(generic("greet", "", "[]")).await.unwrap_err();
    assert_eq!(status(&refused), code::UNIMPLEMENTED);
    assert!(refused.message.contains("cannot be called generically"), "{refused}");
    let echo = java("$echo", "Ljava/lang/Object;", &[Value::null()]);
    assert_eq!(connection.send(echo).await.unwrap().body, encoded(&Value::null()));
}
