use std::sync::{Arc, Mutex};

use bytes::Bytes;
use equipoise_core::attachments::Attachments;
use equipoise_core::outcome::{Exception, Failure, FailureKind};
use equipoise_core::port::{Body, BodyFormat, BoxFuture, Reply, Request};
use equipoise_core::service::ServiceKey;
use equipoise_hessian::{Node, Value};
use serde_json::json;

use super::general::{exception, general};
use super::*;
use crate::java::{JavaArguments, JavaException, JavaValues, json};
use crate::server::{CallContext, Handler};
use crate::status::{Status, code};

fn request(types: Option<&str>, document: &str) -> Request {
    Request {
        service: Arc::new(ServiceKey::new("a.B")),
        method: "m".into(),
        body: Body::json(document.to_owned()),
        types: types.map(Into::into),
        one_way: false,
        attachments: Attachments::new(),
        timeout: None,
    }
}

/// The three arguments of the generic call that a request becomes, in notation.
fn asked(types: Option<&str>, document: &str) -> Vec<serde_json::Value> {
    let (generic, _) = super::request(request(types, document)).unwrap();
    assert_eq!((&*generic.method, generic.attachments.text(GENERIC)), (INVOKE, Some("true")));
    let Body::Java(arguments) = &generic.body else { panic!("no Java values") };
    assert_eq!(arguments.descriptor(), INVOKE_TYPES);
    let notation = |value: &Bytes| Value::decode(value).unwrap().to_notation();
    let each: Vec<_> = arguments.each().unwrap().iter().map(notation).collect();
    let joined = arguments.joined().unwrap();
    let joined = Value::decode_sequence(&joined, &equipoise_hessian::Limits::default()).unwrap();
    let parts: Vec<_> =
        joined.roots().iter().map(|root| joined.part(*root).to_notation()).collect();
    assert_eq!(parts, each);
    each
}

#[test]
fn json_becomes_the_three_arguments() {
    assert_eq!(
        asked(Some("java.lang.String, long, [I"), r#"["x", 7, [1]]"#),
        [
            json!(["string", "m"]),
            json!([
                "list",
                "[string",
                [["string", "java.lang.String"], ["string", "long"], ["string", "int[]"]]
            ]),
            json!([
                "list",
                "[object",
                [["string", "x"], ["long", "7"], ["list", "[int", [["int", 1]]]]
            ]),
        ]
    );
    assert_eq!(
        asked(None, "5"),
        [json!(["string", "m"]), json!(["null"]), json!(["list", "[object", [["int", 5]]])]
    );
    // As a stock consumer writes them.
    let (generic, _) = super::request(request(Some(""), "")).unwrap();
    let Body::Java(arguments) = &generic.body else { panic!("no Java values") };
    let joined = arguments.joined().unwrap();
    assert_eq!(joined, b"\x01m\x70\x07[string\x70\x07[object"[..]);
}

#[test]
fn what_cannot_be_asked_is_named_and_not_sent() {
    for (types, document, text) in [
        (Some("int,,"), "[]", "missing at byte 4"),
        (Some("int"), "[\"x\"]", "m: argument 0: \"x\" is no int"),
        (Some("int"), "[]", "0 arguments for 1 parameters (int)"),
        (None, "{", "no JSON"),
    ] {
        let failure = super::request(request(types, document)).unwrap_err();
        assert!(failure.message.contains(text), "{failure}");
        assert_eq!(failure.kind, FailureKind::Invalid);
        assert!(!failure.retryable());
    }
}

#[test]
fn answers_become_json_and_failures_say_what_was_missing() {
    let (_, untyped) = super::request(request(None, "[]")).unwrap();
    let (_, typed) = super::request(request(Some(""), "[]")).unwrap();
    let reply = |body: Vec<u8>| Reply { body: body.into(), attachments: Attachments::new() };
    let answer = typed.answer(Ok(reply(Value::of(Node::Long(5)).encode()))).unwrap();
    assert_eq!(answer.body, "5");
    let garbled = typed.answer(Ok(reply(vec![0x43]))).unwrap_err();
    assert_eq!(garbled.kind, FailureKind::Serialization);
    let refused = || Err(Failure::new(FailureKind::Business, "no unique method"));
    assert!(untyped.answer(refused()).unwrap_err().message.contains("names no types"));
    assert_eq!(typed.answer(refused()).unwrap_err().message, "no unique method");
    let lost = Err(Failure::new(FailureKind::Network, "lost"));
    assert_eq!(untyped.answer(lost).unwrap_err().message, "lost");
}

#[test]
fn a_generic_exception_is_the_one_that_was_thrown() {
    let thrown = JavaException::new("a.Full", "no room").with("left", Value::of(Node::Int(3)));
    let general = exception(&thrown.to_exception());
    assert_eq!(general.class, "com.alibaba.dubbo.rpc.service.GenericException");
    let read = JavaException::decode(&general.body).unwrap();
    assert_eq!(read.message.as_deref(), Some("a.Full: no room"));
    assert_eq!(read.text(EXCEPTION_CLASS), Some("a.Full"));
    assert_eq!(read.text(EXCEPTION_MESSAGE), Some("no room"));
    let mut failure = Failure::new(FailureKind::Business, read.to_string());
    failure.exception = Some(Box::new(general));
    let (_, untyped) = super::request(request(None, "[]")).unwrap();
    let failure = untyped.answer(Err(failure)).unwrap_err();
    assert_eq!(failure.message, "a.Full: no room");
    let back = failure.exception.unwrap();
    assert_eq!(JavaException::decode(&back.body).unwrap(), JavaException::new("a.Full", "no room"));
    // What cannot be read keeps its class.
    let broken = Exception { class: "a.Odd".into(), body: Bytes::from_static(&[0x43]) };
    let read = JavaException::decode(&exception(&broken).body).unwrap();
    assert_eq!((read.text(EXCEPTION_CLASS), read.text(EXCEPTION_MESSAGE)), (Some("a.Odd"), None));
}

fn in_general(build: impl FnOnce(&mut Value) -> equipoise_hessian::NodeId) -> serde_json::Value {
    let mut value = Value::empty();
    let root = build(&mut value);
    value.set_root(root);
    let is_enum = |class: &str| class == "a.Color";
    Value::decode(&general(&value, &is_enum).encode()).unwrap().to_notation()
}

#[test]
fn results_take_their_general_form() {
    let order = in_general(|value| {
        let red = value.add_text("RED");
        let red = value.add(Node::object("a.Color", [("name", red)]));
        let price = value.add_text("1.50");
        let price = value.add(Node::object("java.math.BigDecimal", [("value", price)]));
        let colors = value.add(Node::typed_list("[a.Color", vec![red]));
        let set = value.add(Node::typed_list("java.util.TreeSet", vec![red]));
        let numbers = value.add(Node::typed_list("[int", vec![]));
        let fields =
            [("color", red), ("price", price), ("colors", colors), ("set", set), ("n", numbers)];
        value.add(Node::object("a.Order", fields))
    });
    assert_eq!(
        order,
        json!([
            "map",
            null,
            [
                [["string", "class"], ["string", "a.Order"]],
                [["string", "color"], ["string", "RED"]],
                [
                    ["string", "price"],
                    ["object", "java.math.BigDecimal", [["value", ["string", "1.50"]]]]
                ],
                [["string", "colors"], ["list", "[string", [["string", "RED"]]]],
                [["string", "set"], ["list", "java.util.HashSet", [["string", "RED"]]]],
                [["string", "n"], ["list", "[int", []]]
            ]
        ])
    );
    let ty = crate::java::JavaType::parse("java.time.LocalDate").unwrap();
    let date = json::to_value(&json!("2024-12-31"), Some(&ty)).unwrap();
    assert_eq!(in_general(|value| value.graft(&date)), json!(["string", "2024-12-31"]));
    let list = |ty: &'static str| in_general(move |value| value.add(Node::typed_list(ty, vec![])));
    for (ty, general) in [
        ("[a.Order", json!("[object")),
        ("[[long", json!("[[long")),
        ("[string", json!("[string")),
        ("[java.lang.Integer", json!("[java.lang.Integer")),
        ("java.util.LinkedList", json!(null)),
        ("java.util.Collections$EmptyList", json!(null)),
    ] {
        assert_eq!(list(ty), json!(["list", general, []]), "{ty}");
    }
    let map = |ty: &'static str| in_general(move |v| v.add(Node::Map(Some(ty.into()), vec![])));
    assert_eq!(map("java.util.TreeMap"), json!(["map", "java.util.TreeMap", []]));
    assert_eq!(map("a.MyMap"), json!(["map", null, []]));
}

#[test]
fn what_is_shared_or_cyclic_stays_so() {
    let node = in_general(|value| {
        let node = value.add(Node::Null);
        value.put(node, Node::object("a.Node", [("next", node)]));
        value.add(Node::List(None, vec![node, node]))
    });
    assert_eq!(
        node,
        json!([
            "list",
            null,
            [
                [
                    "map",
                    null,
                    [[["string", "class"], ["string", "a.Node"]], [["string", "next"], ["ref", 1]]]
                ],
                ["ref", 1]
            ]
        ])
    );
}

/// Notes what it was called with, and answers as it is told.
struct Notes {
    seen: Mutex<Vec<(String, Option<JavaArguments>)>>,
    answer: Result<Bytes, Status>,
}

impl Handler for Notes {
    fn call<'a>(&'a self, call: CallContext) -> BoxFuture<'a, Result<Reply, Status>> {
        let seen = (call.method().to_owned(), call.java.clone());
        self.seen.lock().unwrap().push(seen);
        let answer = self.answer.clone();
        Box::pin(async { Ok(Reply { body: answer?, attachments: call.attachments }) })
    }

    fn form(&self, method: &str) -> BodyFormat {
        if method == "proto" { BodyFormat::Protobuf } else { BodyFormat::Java }
    }

    fn is_enum(&self, class: &str) -> bool {
        class == "a.Color"
    }
}

fn notes(answer: Result<Bytes, Status>) -> Notes {
    Notes { seen: Mutex::default(), answer }
}

fn call(method: &str, values: JavaValues) -> CallContext {
    let peer = "127.0.0.1:1".parse().unwrap();
    let service = Arc::new(ServiceKey::new("a.B"));
    let mut call = CallContext::new(service, method, BodyFormat::Java, Bytes::new(), peer);
    call.java = Some(JavaArguments { types: Some(INVOKE_TYPES.into()), values });
    call
}

fn served(notes: &Notes, call: CallContext) -> Result<Reply, Status> {
    use futures_util::FutureExt as _;
    serve(notes, call).now_or_never().unwrap()
}

/// A generic call's values, from the caller's side.
fn invoke(types: Option<&str>, document: &str, joined: bool) -> JavaValues {
    let (generic, _) = super::request(request(types, document)).unwrap();
    let Body::Java(arguments) = generic.body else { panic!("no Java values") };
    match joined {
        true => JavaValues::Joined(arguments.joined().unwrap()),
        false => JavaValues::Each(arguments.each().unwrap()),
    }
}

#[test]
fn a_generic_call_reaches_the_method_with_values_by_their_types() {
    let red = in_hessian(json!("x"));
    for joined in [true, false] {
        let notes = notes(Ok(red.clone()));
        let document = r#"["x", 7, "2024-12-31", {"class":"a.C","n":1}, [1, 2]]"#;
        let types = "java.lang.String,int,java.lang.Object,a.C,java.util.List";
        let reply = served(&notes, call(INVOKE, invoke(Some(types), document, joined))).unwrap();
        assert_eq!(reply.body, red);
        let seen = notes.seen.lock().unwrap().pop().unwrap();
        assert_eq!(seen.0, "m");
        let java = seen.1.unwrap();
        let jvm = "Ljava/lang/String;ILjava/lang/Object;La/C;Ljava/util/List;";
        assert_eq!(java.types.as_deref(), Some(jvm));
        let JavaValues::Each(values) = java.values else { panic!("joined") };
        assert_eq!(values[1], [0x97][..]);
        assert_eq!(values.len(), 5);
        served(&notes, call(INVOKE_ASYNC, invoke(None, "[1]", joined))).unwrap();
        assert_eq!(notes.seen.lock().unwrap().pop().unwrap().1.unwrap().types, None);
    }
}

fn in_hessian(json: serde_json::Value) -> Bytes {
    json::to_value(&json, None).unwrap().encode().into()
}

/// Arguments as callers of another make write them: untyped lists, text for dates, `int` for `long`.
#[test]
fn loose_arguments_are_taken_by_their_types() {
    let loose = |types: serde_json::Value, arguments: serde_json::Value| {
        let notes = notes(Ok(Bytes::from_static(b"N")));
        let values = [json!("m"), types, arguments].map(in_hessian).to_vec();
        served(&notes, call(INVOKE, JavaValues::Each(values))).map(|_| {
            let seen = notes.seen.lock().unwrap().pop().unwrap().1.unwrap();
            let JavaValues::Each(values) = seen.values else { panic!("joined") };
            values
                .iter()
                .map(|value| Value::decode(value).unwrap().to_notation())
                .collect::<Vec<_>>()
        })
    };
    let types =
        json!(["long", "java.util.Date", "java.math.BigDecimal", "long[]", "int", "a.Color"]);
    let arguments = json!([1, "1970-01-01T00:00:01Z", "1.5", [1], "no number", "RED"]);
    assert_eq!(
        loose(types, arguments).unwrap(),
        [
            json!(["long", "1"]),
            json!(["date", 1000]),
            json!(["object", "java.math.BigDecimal", [["value", ["string", "1.5"]]]]),
            json!(["list", "[long", [["long", "1"]]]),
            json!(["string", "no number"]),
            json!(["string", "RED"]),
        ]
    );
    assert_eq!(loose(json!(null), json!(null)).unwrap(), Vec::<serde_json::Value>::new());
    for (types, arguments, text) in [
        (json!(["int"]), json!([]), "0 arguments for 1 types"),
        (json!(["Ljava/lang/String;"]), json!([1]), "no Java types"),
        (json!([1]), json!([1]), "parameter 0 is no text"),
        (json!(1), json!([1]), "list of types"),
        (json!(null), json!(1), "list of arguments"),
    ] {
        let status = loose(types, arguments).unwrap_err();
        assert_eq!(status.code, code::INVALID_ARGUMENT);
        assert!(status.message.contains(text), "{status}");
    }
}

#[test]
fn other_ways_to_call_are_refused() {
    let notes = notes(Ok(Bytes::from_static(b"N")));
    let with_mode = |mode: &str| {
        let mut call = call(INVOKE, invoke(None, "[]", true));
        call.attachments.set(GENERIC, mode);
        served(&notes, call)
    };
    let reply = with_mode("true").unwrap();
    assert!(reply.attachments.is_empty(), "the attachment belongs to the protocol");
    assert!(with_mode("bean").unwrap_err().message.contains("generic=bean is not supported"));
    let few = call(INVOKE, JavaValues::Each(vec![in_hessian(json!("m"))]));
    assert!(served(&notes, few).unwrap_err().message.contains("takes 3 arguments"));
    let garbled = call(INVOKE, JavaValues::Joined(Bytes::from_static(&[0x43])));
    assert_eq!(served(&notes, garbled).unwrap_err().code, code::INVALID_ARGUMENT);
    let nameless = [json!(1), json!(null), json!([])].map(in_hessian).to_vec();
    let nameless = served(&notes, call(INVOKE, JavaValues::Each(nameless))).unwrap_err();
    assert!(nameless.message.contains("a method's name"), "{nameless}");
    for method in ["proto", INVOKE, ECHO] {
        let values = [json!(method), json!(null), json!([])].map(in_hessian).to_vec();
        let status = served(&notes, call(INVOKE, JavaValues::Each(values))).unwrap_err();
        assert_eq!(status.code, code::UNIMPLEMENTED, "{method}");
    }
}

#[test]
fn results_and_exceptions_of_generic_calls_are_general() {
    let mut value = Value::empty();
    let red = value.add_text("RED");
    let root = value.add(Node::object("a.Color", [("name", red)]));
    value.set_root(root);
    let answers = notes(Ok(value.encode().into()));
    let reply = served(&answers, call(INVOKE, invoke(None, "[]", true))).unwrap();
    assert_eq!(reply.body, in_hessian(json!("RED")));
    // Only the callers that are generic get it so.
    let plain = served(&answers, call("m", JavaValues::Each(vec![]))).unwrap();
    assert_eq!(plain.body, value.encode());
    let mut status = Status::new(code::UNKNOWN, "full");
    status.exception = Some(Box::new(JavaException::new("a.Full", "no room").to_exception()));
    let throws = notes(Err(status));
    let status = served(&throws, call(INVOKE, invoke(None, "[]", true))).unwrap_err();
    assert_eq!(status.exception.unwrap().class, EXCEPTION);
    let status = served(&throws, call("m", JavaValues::Each(vec![]))).unwrap_err();
    assert_eq!(status.exception.unwrap().class, "a.Full");
}

#[test]
fn an_echo_gives_its_argument_back() {
    let notes = notes(Err(Status::new(code::INTERNAL, "not asked")));
    let value = in_hessian(json!({"a": [1, "x"]}));
    let each = served(&notes, call(ECHO, JavaValues::Each(vec![value.clone()]))).unwrap();
    let joined = served(&notes, call(ECHO, JavaValues::Joined(value.clone()))).unwrap();
    assert_eq!((&each.body, &joined.body), (&value, &value));
    assert!(served(&notes, call(ECHO, JavaValues::Each(vec![]))).is_err());
    assert!(is_wrapped(&notes, ECHO) && is_wrapped(&notes, "m") && !is_wrapped(&notes, "proto"));
    assert_eq!(returns(&notes, ECHO, None), Some("java.lang.Object"));
    assert_eq!(returns(&notes, "m", None), None);
}

#[test]
fn arguments_that_share_a_lot_are_not_copied_without_end() {
    let mut value = Value::empty();
    let items = (0..500).map(|_| value.add(Node::Null)).collect();
    let list = value.add(Node::List(None, items));
    let arguments = value.add(Node::List(None, vec![list; 500]));
    value.set_root(arguments);
    let values = vec![in_hessian(json!("m")), in_hessian(json!(null)), value.encode().into()];
    let notes = notes(Ok(Bytes::from_static(b"N")));
    let status = served(&notes, call(INVOKE, JavaValues::Each(values))).unwrap_err();
    assert!(status.message.contains("too often"), "{status}");
    // Many arguments that are the same are nothing of the kind.
    served(&notes, call(INVOKE, invoke(None, &format!("{:?}", [5; 3000]), true))).unwrap();
}

proptest::proptest! {
    #[test]
    fn arbitrary_calls_never_panic(
        parts in proptest::collection::vec(proptest::collection::vec(proptest::num::u8::ANY, 0..30), 0..4),
    ) {
        let notes = notes(Ok(Bytes::from_static(b"N")));
        let joined = Bytes::from(parts.concat());
        let each = parts.into_iter().map(Bytes::from).collect();
        for method in [INVOKE, ECHO] {
            let _ = served(&notes, call(method, JavaValues::Joined(joined.clone())));
            let _ = served(&notes, call(method, JavaValues::Each(Vec::clone(&each))));
        }
        let _ = general::result(&joined, &|_| true);
    }
}
