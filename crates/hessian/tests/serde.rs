//! Typed values, both ways, against what the bytes must be.
#![allow(clippy::unwrap_used)] // What a test takes for granted it may unwrap, in its helpers too.

use std::collections::{BTreeMap, HashMap};

use equipoise_hessian::{
    Decoder, Encoder, ErrorKind, Limits, Node, Value, Writer, from_slice, hex, to_vec, unhex,
};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "com.acme.User", default)]
struct User {
    name: Option<String>,
    age: i32,
    friends: Vec<User>,
    best: Option<Box<User>>,
}

fn user(name: &str, age: i32) -> User {
    User { name: Some(name.into()), age, ..User::default() }
}

#[test]
fn scalars_have_their_shortest_form() {
    let cases: &[(Vec<u8>, &str)] = &[
        (to_vec(&7_i32).unwrap(), "97"),
        (to_vec(&7_i64).unwrap(), "e7"),
        (to_vec(&7_u8).unwrap(), "97"),
        (to_vec(&0.1_f32).unwrap(), "5f00000064"),
        (to_vec(&2.5_f64).unwrap(), "5f000009c4"),
        (to_vec(&-0.0_f64).unwrap(), "448000000000000000"),
        (to_vec("hi").unwrap(), "026869"),
        (to_vec(&'é').unwrap(), "01c3a9"),
        (to_vec("😀").unwrap(), "02eda0bdedb880"),
        (to_vec(&None::<i32>).unwrap(), "4e"),
        (to_vec(&()).unwrap(), "4e"),
        (to_vec(&true).unwrap(), "54"),
        (to_vec(&vec![1, 2]).unwrap(), "7a9192"),
        (to_vec(&(1, "a")).unwrap(), "7a910161"),
    ];
    for (at, (written, expected)) in cases.iter().enumerate() {
        assert_eq!(hex(written), *expected, "case {at}");
    }
    assert!(to_vec(&u64::MAX).is_err());
}

#[test]
fn an_object_is_defined_once_in_a_stream() {
    let mut encoder = Encoder::new();
    encoder.put(&user("a", 1)).unwrap();
    encoder.put(&user("b", 2)).unwrap();
    let bytes = encoder.into_bytes();
    let definition =
        "430d636f6d2e61636d652e5573657294046e616d6503616765076672 69656e64730462657374";
    let expected = format!("{definition}60 0161 91 78 4e 60 0162 92 78 4e");
    assert_eq!(hex(&bytes), expected.replace(' ', ""));
    let mut decoder = Decoder::new(&bytes);
    assert_eq!(decoder.next::<User>().unwrap(), user("a", 1));
    assert_eq!(decoder.next::<User>().unwrap(), user("b", 2));
    assert!(decoder.at_end());
}

#[test]
fn objects_within_objects_of_the_same_class_come_back() {
    let mut deep = user("root", 3);
    deep.friends = vec![user("x", 1), User { friends: vec![user("y", 0)], ..user("z", 9) }];
    deep.best = Some(Box::new(User { best: Some(Box::new(user("w", 5))), ..user("v", 4) }));
    let bytes = to_vec(&deep).unwrap();
    assert_eq!(from_slice::<User>(&bytes).unwrap(), deep);
    let document = Value::decode(&bytes).unwrap();
    assert_eq!(document.class(document.root()), Some("com.acme.User"));
    assert_eq!(from_slice::<User>(&document.encode()).unwrap(), deep);
}

#[test]
fn a_struct_is_read_from_an_object_and_from_both_kinds_of_map() {
    let expected = user("a", 1);
    for ty in [None, Some("com.acme.User")] {
        let mut writer = Writer::new();
        writer.map(ty);
        for (key, value) in [("age", 1), ("unknown", 2)] {
            writer.str(key);
            writer.int(value);
        }
        writer.str("name");
        writer.str("a");
        writer.end();
        assert_eq!(from_slice::<User>(&writer.into_bytes()).unwrap(), expected);
    }
}

#[test]
fn of_a_repeated_field_the_last_counts() {
    let mut writer = Writer::new();
    writer.object("com.acme.User");
    for age in [1, 2] {
        writer.field("age").unwrap();
        writer.int(age);
    }
    writer.end_object().unwrap();
    let bytes = writer.into_bytes();
    assert_eq!(from_slice::<User>(&bytes).unwrap().age, 2);
    let document = Value::decode(&bytes).unwrap();
    let Node::Object(shape, values) = document.root_node() else { panic!("no object") };
    assert_eq!((shape.fields.len(), values.len()), (2, 2));
    assert_eq!(document.encode(), bytes);
}

#[test]
fn numbers_convert_where_they_fit() {
    assert_eq!(from_slice::<i64>(&to_vec(&5_i32).unwrap()).unwrap(), 5);
    assert_eq!(from_slice::<i32>(&to_vec(&5_i64).unwrap()).unwrap(), 5);
    assert_eq!(from_slice::<f64>(&to_vec(&5_i32).unwrap()).unwrap(), 5.0);
    let error = from_slice::<Vec<i32>>(&to_vec(&[1_i64, 1 << 40]).unwrap()).unwrap_err();
    assert_eq!(error.path, "[1]");
    assert!(error.to_string().contains("1099511627776"), "{error}");
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "com.acme.Level")]
enum Level {
    #[serde(rename = "HIGH")]
    High,
    #[serde(rename = "LOW")]
    Low,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Plain {
    Nothing,
    One(i32),
    Two(i32, String),
    Named { a: i32 },
}

#[test]
fn constants_and_variants() {
    let bytes = to_vec(&[Level::High, Level::Low]).unwrap();
    assert_eq!(from_slice::<Vec<Level>>(&bytes).unwrap(), [Level::High, Level::Low]);
    let document = Value::decode(&bytes).unwrap();
    let items = document.items(document.root()).unwrap();
    assert_eq!(document.class(items[0]), Some("com.acme.Level"));
    assert_eq!(document.get(items[1], "name").and_then(|id| document.str(id)), Some("LOW"));
    // A constant that comes again is a reference.
    let mut shared = Value::empty();
    let name = shared.add_text("LOW");
    let low = shared.add(Node::object("com.acme.Level", [("name", name)]));
    let root = shared.add(Node::List(None, vec![low, low]));
    shared.set_root(root);
    assert_eq!(from_slice::<Vec<Level>>(&shared.encode()).unwrap(), [Level::Low, Level::Low]);
    assert_eq!(from_slice::<Level>(&to_vec("HIGH").unwrap()).unwrap(), Level::High);
    for plain in [Plain::Nothing, Plain::One(1), Plain::Two(2, "b".into()), Plain::Named { a: 3 }] {
        assert_eq!(from_slice::<Plain>(&to_vec(&plain).unwrap()).unwrap(), plain);
    }
}

#[test]
fn maps_keep_their_keys() {
    let map = BTreeMap::from([(1, "a".to_owned()), (2, "b".to_owned())]);
    let bytes = to_vec(&map).unwrap();
    assert_eq!(hex(&bytes), "48910161920162 5a".replace(' ', ""));
    assert_eq!(from_slice::<HashMap<i64, String>>(&bytes).unwrap().len(), 2);
}

#[test]
fn a_value_that_is_referred_to_is_read_again() {
    let mut value = Value::empty();
    let name = value.add_text("shared");
    let null = value.add(Node::Null);
    let age = value.add(Node::Int(4));
    let empty = value.add(Node::List(None, Vec::new()));
    let friend = value.add(Node::object(
        "com.acme.User",
        [("name", name), ("age", age), ("friends", empty), ("best", null)],
    ));
    let root = value.add(Node::List(None, vec![friend, friend, friend]));
    value.set_root(root);
    let read = from_slice::<Vec<User>>(&value.encode()).unwrap();
    assert_eq!(read, vec![user("shared", 4); 3]);
}

#[test]
fn expansion_and_cycles_are_typed_errors() {
    // Each list holds the one before twice: 2^20 elements from a few bytes.
    let mut bytes = Vec::new();
    let mut value = Value::empty();
    let mut inner = value.add(Node::List(None, Vec::new()));
    for _ in 0..20 {
        inner = value.add(Node::List(None, vec![inner, inner]));
    }
    value.set_root(inner);
    bytes.extend(value.encode());
    #[derive(Debug, Deserialize)]
    struct Nested(#[expect(dead_code, reason = "only read")] Vec<Nested>);
    let error = from_slice::<Nested>(&bytes).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Limit { name: "expansion", .. }), "{error}");

    let cycle = unhex("79 51 90").unwrap();
    assert_eq!(from_slice::<Nested>(&cycle).unwrap_err().kind, ErrorKind::Cyclic);
    assert!(Value::decode(&cycle).is_ok());
}

#[derive(Debug, Default, Deserialize)]
struct Thrown {
    #[serde(rename = "detailMessage")]
    message: Option<String>,
    cause: Option<Box<Thrown>>,
}

#[test]
fn an_exception_that_is_its_own_cause_has_none() {
    let mut writer = Writer::new();
    let number = writer.object("com.acme.Broken");
    writer.field("detailMessage").unwrap();
    writer.str("no");
    writer.field("cause").unwrap();
    writer.reference(number);
    writer.end_object().unwrap();
    let thrown = from_slice::<Thrown>(&writer.into_bytes()).unwrap();
    assert_eq!(thrown.message.as_deref(), Some("no"));
    assert!(thrown.cause.is_none());
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "com.acme.Holder")]
struct Holder {
    before: Vec<i32>,
    any: Value,
    after: String,
}

#[test]
fn a_value_within_a_typed_one_loses_nothing() {
    let mut any = Value::empty();
    let text = any.add_text("x");
    let object = any.add(Node::object("com.acme.Other", [("f", text)]));
    let root = any.add(Node::typed_list("java.util.HashSet", vec![object, object]));
    any.set_root(root);
    let holder = Holder { before: vec![1], any, after: "z".into() };
    let bytes = to_vec(&holder).unwrap();
    assert_eq!(from_slice::<Holder>(&bytes).unwrap(), holder);
    let json = serde_json::to_value(&holder).unwrap();
    assert_eq!(json["any"][0]["class"], "com.acme.Other");
}

#[test]
fn errors_say_where() {
    let error = from_slice::<User>(&to_vec(&BTreeMap::from([("age", "x")])).unwrap()).unwrap_err();
    assert_eq!(error.path, ".age");
    assert!(error.offset > 0);
    for (text, kind) in [("93ff", ErrorKind::Trailing(1)), ("05", ErrorKind::EndOfInput)] {
        assert_eq!(from_slice::<i32>(&unhex(text).unwrap()).unwrap_err().kind, kind);
    }
}

#[test]
fn depth_is_limited_before_the_stack_is() {
    let deep = |levels: usize| {
        let mut bytes = vec![0x79; levels];
        bytes.push(0x78);
        bytes
    };
    #[derive(Debug, Deserialize)]
    struct Nested(#[expect(dead_code, reason = "only read")] Vec<Nested>);
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024);
    let run = move || {
        assert!(from_slice::<Nested>(&deep(511)).is_ok());
        assert!(Value::decode(&deep(511)).is_ok());
        let document = Value::decode(&deep(511)).unwrap();
        document.dump();
        document.to_notation();
        document.to_json();
        for levels in [600, 100_000] {
            let error = from_slice::<Nested>(&deep(levels)).unwrap_err();
            assert!(matches!(error.kind, ErrorKind::Limit { name: "depth", .. }), "{error}");
            let error = Value::decode(&deep(levels)).unwrap_err();
            assert!(matches!(error.kind, ErrorKind::Limit { name: "depth", .. }), "{error}");
            let mut decoder = Decoder::new(&[]);
            assert!(decoder.skip().is_err());
        }
    };
    thread.spawn(run).unwrap().join().unwrap();
}

#[test]
fn limits_are_kept() {
    let limits = Limits { classes: 1, fields: 2, types: 1, ..Limits::default() };
    let mut bytes = Vec::new();
    for name in [b'a', b'b'] {
        bytes.extend([b'C', 1, name, 0x90, 0x60]);
    }
    let mut decoder = Decoder::with_limits(&bytes, &limits);
    assert!(decoder.skip().is_ok());
    assert!(matches!(
        decoder.skip().unwrap_err().kind,
        ErrorKind::Limit { name: "classes", limit: 1, .. }
    ));
    let fields = [b'C', 1, b'a', 0x93, 0x60];
    let error = Decoder::with_limits(&fields, &limits).skip().unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Limit { name: "fields", .. }), "{error}");
    let input = Limits { input: 3, ..Limits::default() };
    assert!(Value::decode_with(&[0x78; 4], &input).is_err());
}
