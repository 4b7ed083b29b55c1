//! What went wrong in other implementations, and what only shows in streams that are unlike the last
//! one.
#![allow(clippy::unwrap_used)] // What a test takes for granted it may unwrap, in its helpers too.

use std::collections::BTreeMap;

use equipoise_hessian::java::Map;
use equipoise_hessian::{
    Decoder, ErrorKind, Limits, Node, Value, Writer, from_slice, hex, to_vec, unhex,
};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

#[test]
fn case_172_characters_outside_the_basic_plane() {
    assert_eq!(hex(&to_vec("😀").unwrap()), "02eda0bdedb880");
    assert_eq!(hex(&to_vec("a😀b").unwrap()), "0461eda0bdedb88062");
    for text in
        ["😀", "a😀b", "é", "中", &"😀".repeat(40_000), &format!("a{}", "😀".repeat(40_000))]
    {
        assert_eq!(from_slice::<String>(&to_vec(text).unwrap()).unwrap(), text);
    }
    // A pair that another encoder has cut in two.
    let cut = unhex("520001eda0bd01edb880").unwrap();
    assert_eq!(from_slice::<String>(&cut).unwrap(), "😀");
    let half = unhex("01eda0bd").unwrap();
    assert_eq!(from_slice::<String>(&half).unwrap_err().kind, ErrorKind::LoneSurrogate);
}

#[test]
fn case_173_lengths_are_not_believed() {
    type Texts = Vec<String>;
    for text in [
        "43017849 7fffffff",
        "58497fffffff",
        "567 4 5b 696e74 497fffffff",
        "53ffff61",
        "42ffff61",
        "58 8f",
    ] {
        let bytes = unhex(&text.replace(' ', "")).unwrap();
        assert!(from_slice::<Texts>(&bytes).is_err(), "{text}");
        assert!(Value::decode(&bytes).is_err(), "{text}");
        let mut decoder = Decoder::new(&bytes);
        assert!(decoder.skip().is_err(), "{text}");
        assert!(decoder.reader().memory() < 1024 * 1024);
    }
}

#[test]
fn case_174_null_takes_no_number() {
    let mut value = Value::empty();
    let (null, key, one) = (value.add(Node::Null), value.add_text("k"), value.add(Node::Int(1)));
    let map = value.add(Node::Map(None, vec![(key, one)]));
    let root = value.add(Node::List(None, vec![null, map, map]));
    value.set_root(root);
    let bytes = value.encode();
    assert_eq!(hex(&bytes), "7b4e48016b915a5191");
    let read: Vec<Option<BTreeMap<String, i32>>> = from_slice(&bytes).unwrap();
    let expected = Some(BTreeMap::from([("k".to_owned(), 1)]));
    assert_eq!(read, [None, expected.clone(), expected]);
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "com.acme.Color")]
enum Color {
    #[serde(rename = "RED")]
    Red,
    #[serde(rename = "GREEN")]
    Green,
}

#[test]
fn case_175_lists_of_constants() {
    let colors = vec![Some(Color::Red), Some(Color::Green), None, Some(Color::Red)];
    let bytes = to_vec(&colors).unwrap();
    assert_eq!(from_slice::<Vec<Option<Color>>>(&bytes).unwrap(), colors);
    let mut writer = Writer::new();
    writer.list(None, 1);
    writer.object("com.acme.Color");
    writer.field("name").unwrap();
    writer.str("PURPLE");
    writer.end_object().unwrap();
    let error = from_slice::<Vec<Color>>(&writer.into_bytes()).unwrap_err();
    assert!(error.to_string().contains("PURPLE"), "{error}");
    assert_eq!(error.path, "[0]");
}

#[test]
fn case_176_depth_of_lists_maps_and_objects() {
    #[derive(Debug, Deserialize)]
    struct Nested {
        #[serde(default)]
        #[expect(dead_code, reason = "only read")]
        x: Option<Box<Nested>>,
    }
    let object = unhex("430161 91 0178".replace(' ', "").as_str()).unwrap();
    let of = |head: &[u8], each: &[u8], tail: u8, levels: usize| {
        let mut bytes = head.to_vec();
        (0..levels).for_each(|_| bytes.extend(each));
        bytes.push(b'N');
        (0..levels).filter(|_| tail != 0).for_each(|_| bytes.push(tail));
        bytes
    };
    let run = move || {
        for (head, each, tail) in [(&object[..], &[0x60][..], 0), (&[], &[b'H', 1, b'x'], b'Z')] {
            assert!(from_slice::<Nested>(&of(head, each, tail, 60)).is_ok());
            let deep = of(head, each, tail, 100_000);
            for error in [
                from_slice::<Nested>(&deep).unwrap_err(),
                Value::decode(&deep).unwrap_err(),
                Decoder::new(&deep).skip().unwrap_err(),
            ] {
                assert!(matches!(error.kind, ErrorKind::Limit { name: "depth", .. }), "{error}");
            }
        }
    };
    std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(run).unwrap().join().unwrap();
}

/// A class whose fields differ from object to object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "com.acme.Changing", default)]
struct Changing {
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    second: Option<i32>,
    last: Vec<Changing>,
}

#[test]
fn a_class_may_have_other_fields_in_the_next_stream() {
    let all = Changing { first: Some(1), second: Some(2), last: Vec::new() };
    let (one, other) =
        (Changing { second: None, ..all.clone() }, Changing { first: None, ..all.clone() });
    for value in [&all, &one, &other, &all, &other, &Changing::default()] {
        for nested in [value.clone(), Changing { last: vec![value.clone()], ..value.clone() }] {
            let bytes = to_vec(&nested).unwrap();
            assert_eq!(&from_slice::<Changing>(&bytes).unwrap(), &nested, "{}", hex(&bytes));
            // One definition, whatever was expected.
            let definitions = bytes.windows(9).filter(|at| at == b".Changing").count();
            assert_eq!(definitions, 1);
            assert_eq!(Value::decode(&bytes).unwrap().encode(), bytes);
        }
    }
    // In one stream, as long as their number tells them apart.
    let list = [all.clone(), one.clone(), all.clone(), Changing::default(), one.clone()];
    let bytes = to_vec(&list).unwrap();
    assert_eq!(from_slice::<Vec<Changing>>(&bytes).unwrap(), list);
    assert_eq!(Value::decode(&bytes).unwrap().encode(), bytes);
    let around = Changing { last: list.to_vec(), ..one.clone() };
    assert_eq!(from_slice::<Changing>(&to_vec(&around).unwrap()).unwrap(), around);
    let error = to_vec(&[&one, &other]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Fields("com.acme.Changing".to_owned()));
    assert_eq!(error.path, "[1]");
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "com.acme.Order", default)]
struct Order {
    items: Vec<Item>,
    notes: Map<String, Item>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "com.acme.Item", default)]
struct Item {
    price: i32,
    code: i8,
}

#[test]
fn errors_name_the_place_in_the_value() {
    let mut writer = Writer::new();
    writer.object("com.acme.Order");
    writer.field("items").unwrap();
    writer.list(None, 2);
    for price in [1, 1 << 40] {
        writer.object("com.acme.Item");
        writer.field("price").unwrap();
        writer.long(price);
        writer.end_object().unwrap();
    }
    writer.end_object().unwrap();
    let bytes = writer.into_bytes();
    let error = from_slice::<Order>(&bytes).unwrap_err();
    assert_eq!(error.path, ".items[1].price");
    assert!(error.to_string().starts_with("items[1].price: "), "{error}");
    assert_eq!(bytes.get(error.offset), Some(&b'L'), "{error}");
    let mut wrong = Writer::new();
    wrong.map(None);
    wrong.str("notes");
    wrong.map(None);
    wrong.str("a");
    wrong.map(None);
    wrong.str("code");
    wrong.int(200);
    (0..3).for_each(|_| wrong.end());
    let error = from_slice::<Order>(&wrong.into_bytes()).unwrap_err();
    assert_eq!(error.path, ".notes.a.code");
}

#[test]
fn what_is_read_again_has_a_price() {
    // A list of 100 numbers, referred to 30 times.
    let mut value = Value::empty();
    let numbers: Vec<_> = (0..100).map(|n| value.add(Node::Int(n))).collect();
    let list = value.add(Node::List(None, numbers));
    let root = value.add(Node::List(None, vec![list; 31]));
    value.set_root(root);
    let bytes = value.encode();
    type Lists = Vec<Vec<i32>>;
    let error = from_slice::<Lists>(&bytes).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Limit { name: "expansion", .. }), "{error}");
    let limits = Limits { expansion: 40, ..Limits::default() };
    let lists: Lists = Decoder::with_limits(&bytes, &limits).next().unwrap();
    assert_eq!((lists.len(), lists[30][99]), (31, 99));
}

#[test]
fn numbers_of_every_width_are_read_in_every_form() {
    for (bytes, value) in [
        ("97", 7),
        ("c807", 7),
        ("d40007", 7),
        ("4900000007", 7),
        ("e7", 7),
        ("f807", 7),
        ("3c0007", 7),
        ("5900000007", 7),
        ("4c0000000000000007", 7),
        ("d3ffff", -1),
        ("3bffff", -1),
    ] {
        let bytes = unhex(bytes).unwrap();
        assert_eq!(from_slice::<i64>(&bytes).unwrap(), value);
        assert_eq!(i64::from(from_slice::<i32>(&bytes).unwrap()), value);
        assert_eq!(from_slice::<f64>(&bytes).unwrap(), value as f64);
        for cut in 1..bytes.len() {
            let error = from_slice::<i32>(&bytes[..cut]).unwrap_err();
            assert_eq!(error.kind, ErrorKind::EndOfInput);
        }
    }
    for bytes in ["5b", "5d00", "5e0000", "5f00000000", "440000000000000000"] {
        assert_eq!(from_slice::<f64>(&unhex(bytes).unwrap()).unwrap(), 0.0);
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "com.acme.Everything")]
struct Everything {
    yes: bool,
    small: i8,
    int: i32,
    long: i64,
    double: f64,
    float: f32,
    letter: char,
    text: String,
    maybe: Option<String>,
    list: Vec<Option<i64>>,
    map: BTreeMap<String, Vec<i32>>,
    pair: (i32, String),
    inner: Vec<Everything>,
}

fn everything() -> impl Strategy<Value = Everything> {
    let plain = (
        any::<(bool, i8, i32, i64)>(),
        (
            proptest::num::f64::ANY,
            proptest::num::f32::NORMAL,
            any::<char>(),
            ".*",
            any::<Option<String>>(),
        ),
        prop::collection::vec(any::<Option<i64>>(), 0..12),
        prop::collection::btree_map(".{0,40}", prop::collection::vec(any::<i32>(), 0..10), 0..5),
        any::<(i32, String)>(),
    );
    let leaf = plain.prop_map(
        |((yes, small, int, long), (double, float, letter, text, maybe), list, map, pair)| {
            let double = if double.is_nan() { 0.5 } else { double };
            let inner = Vec::new();
            Everything {
                yes,
                small,
                int,
                long,
                double,
                float,
                letter,
                text,
                maybe,
                list,
                map,
                pair,
                inner,
            }
        },
    );
    leaf.prop_recursive(3, 12, 3, |inner| {
        (inner.clone(), prop::collection::vec(inner, 0..3))
            .prop_map(|(outer, inner)| Everything { inner, ..outer })
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(value in everything()) {
        let bytes = to_vec(&value).unwrap();
        prop_assert_eq!(&from_slice::<Everything>(&bytes).unwrap(), &value);
        // Through a document, too, which writes the same bytes.
        let document = Value::decode(&bytes).unwrap();
        prop_assert_eq!(document.encode(), bytes.clone());
        let within: Vec<Value> = from_slice(&to_vec(&[&document, &document]).unwrap()).unwrap();
        prop_assert_eq!(&within[0], &document);
        // Each cut is an error, not a panic.
        for cut in 0..bytes.len().min(200) {
            prop_assert!(from_slice::<Everything>(&bytes[..cut]).is_err());
        }
    }

    #[test]
    fn any_bytes_end_in_a_value_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = from_slice::<Everything>(&bytes);
        let _ = from_slice::<Vec<Everything>>(&bytes);
        let _ = from_slice::<Map<Option<String>, Value>>(&bytes);
        let mut decoder = Decoder::new(&bytes);
        while decoder.skip().is_ok() && !decoder.at_end() {}
    }
}
