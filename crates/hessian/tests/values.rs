//! Values that peers have got wrong, and values of any shape both ways.
#![allow(clippy::unwrap_used)] // What a test takes for granted it may unwrap, in its helpers too.

use equipoise_hessian::{Node, NodeId, Value, from_slice, hex, to_vec, unhex};
use proptest::prelude::*;
use serde::Deserialize;

#[test]
fn case_172_lengths_count_units_and_pairs_are_six_bytes() {
    assert_eq!(hex(&to_vec("😀").unwrap()), "02eda0bdedb880");
    assert_eq!(hex(&to_vec("a😀b").unwrap()), "0461eda0bdedb88062");
    assert_eq!(hex(&to_vec("é").unwrap()), "01c3a9");
    assert_eq!(hex(&to_vec("中").unwrap()), "01e4b8ad");
    for text in ["😀".repeat(40_000), format!("a{}", "😀".repeat(40_000)), "中".repeat(70_000)]
    {
        let bytes = to_vec(&text).unwrap();
        assert_eq!(from_slice::<String>(&bytes).unwrap(), text);
        assert_eq!(Value::text(text).encode(), bytes);
    }
    // With one unit in front, a part ends before the pair that would be cut.
    let bytes = to_vec(&format!("a{}", "😀".repeat(40_000))).unwrap();
    assert_eq!(hex(bytes.get(..4).unwrap()), "527fff61");
    // Others cut a pair in two, which is one character all the same.
    let split = unhex("520001eda0bd 01edb880").unwrap();
    assert_eq!(from_slice::<String>(&split).unwrap(), "😀");
    // Four bytes are no unit.
    assert!(Value::decode(&unhex("02f09f9880").unwrap()).is_err());
}

#[test]
fn case_174_null_takes_no_number() {
    // [null, {"k": 1}, the same]
    let bytes = unhex("7b 4e 48 016b 91 5a 5191").unwrap();
    let value = Value::decode(&bytes).unwrap();
    let [null, map, again] = value.items(value.root()).unwrap() else { panic!() };
    assert!(matches!(value.node(*null), Node::Null));
    assert_eq!(map, again);
    assert_eq!(value.integer(value.get(*map, "k").unwrap()), Some(1));
    assert_eq!(value.encode(), bytes);

    // An object with a null map, then the same child twice.
    let bytes = unhex("43 0141 93 0161 0162 0163 60 4e 48 016b 91 5a 5191").unwrap();
    let value = Value::decode(&bytes).unwrap();
    let root = value.root();
    assert_eq!(value.get(root, "b"), value.get(root, "c"));
    assert_eq!(value.encode(), bytes);
}

#[derive(Debug, Deserialize, PartialEq)]
enum Colour {
    #[serde(rename = "RED")]
    Red,
    #[serde(rename = "GREEN")]
    Green,
}

#[test]
fn case_175_lists_of_constants_keep_their_order_and_name_what_is_unknown() {
    let list = |rest: &str| unhex(&format!("7b 43 06 436f6c6f7572 91 046e616d65 {rest}")).unwrap();
    let known = list("60 03524544 60 05475245454e 5191");
    let colours: Vec<Colour> = from_slice(&known).unwrap();
    assert_eq!(colours, [Colour::Red, Colour::Green, Colour::Red]);
    let with_null = list("60 03524544 4e 5191");
    let colours: Vec<Option<Colour>> = from_slice(&with_null).unwrap();
    assert_eq!(colours, [Some(Colour::Red), None, Some(Colour::Red)]);
    let unknown = list("60 03524544 60 06505552504c45 5191");
    let error = from_slice::<Vec<Colour>>(&unknown).unwrap_err().to_string();
    assert!(error.contains("PURPLE"), "{error}");
    let value = Value::decode(&unknown).unwrap();
    let [_, purple, _] = value.items(value.root()).unwrap() else { panic!() };
    assert_eq!(value.str(value.get(*purple, "name").unwrap()), Some("PURPLE"));
}

#[test]
fn objects_in_objects_of_one_class_share_its_definition() {
    let mut value = Value::empty();
    let mut last = value.add(Node::Null);
    for _ in 0..3 {
        last = value.add(Node::object("a.Node", [("next", last)]));
    }
    value.set_root(last);
    assert_eq!(hex(&value.encode()), "4306612e4e6f646591046e6578746060604e");
    assert!(Value::decode(&value.encode()).unwrap() == value);
}

/// A node that names any of `count` nodes, those that come later included.
fn node(count: usize) -> impl Strategy<Value = Node> {
    let id = (0..count).prop_map(|at| at);
    let ids = proptest::collection::vec(id.clone(), 0..12);
    let ty = proptest::option::of("[a-c]{1,2}").prop_map(|ty| ty.map(Into::into));
    let ty: BoxedStrategy<Option<std::sync::Arc<str>>> = ty.boxed();
    prop_oneof![
        Just(Node::Null),
        any::<bool>().prop_map(Node::Bool),
        any::<i32>().prop_map(Node::Int),
        (-3000..3000_i32).prop_map(Node::Int),
        any::<i64>().prop_map(Node::Long),
        (-3000..3000_i64).prop_map(Node::Long),
        any::<f64>().prop_map(Node::Double),
        (-1_000_000..1_000_000_i32).prop_map(|v| Node::Double(f64::from(v) / 1000.0)),
        any::<i64>().prop_map(Node::Date),
        (-1000..1000_i64).prop_map(|minutes| Node::Date(minutes * 60_000)),
        any::<String>().prop_map(Node::Str),
        proptest::collection::vec(any::<u16>(), 0..40).prop_map(|units| {
            match String::from_utf16(&units) {
                Ok(text) => Node::Str(text),
                Err(_) => Node::Utf16(units),
            }
        }),
        proptest::collection::vec(any::<u8>(), 0..40).prop_map(Node::Binary),
        (ty.clone(), ids.clone()).prop_map(|(ty, ids)| Node::List(ty, placed(ids))),
        (ty, proptest::collection::vec((id.clone(), id), 0..6)).prop_map(|(ty, pairs)| {
            let pairs = pairs.into_iter().map(|(k, v)| (placed([k])[0], placed([v])[0]));
            Node::Map(ty, pairs.collect())
        }),
        ("[a-b]", ids).prop_map(|(class, ids)| {
            let fields = ["x", "y", "x", "z"];
            Node::object(&class, fields.into_iter().zip(placed(ids)))
        }),
    ]
}

/// The ids that a value gives its nodes, in the order of adding.
fn placed(ats: impl IntoIterator<Item = usize>) -> Vec<NodeId> {
    let mut value = Value::empty();
    let ids: Vec<NodeId> = (0..40).map(|_| value.add(Node::Null)).collect();
    ats.into_iter().map(|at| ids[at]).collect()
}

/// Any graph, with shared nodes and cycles.
fn graph() -> impl Strategy<Value = Value> {
    (1..40_usize).prop_flat_map(|count| {
        proptest::collection::vec(node(count), count).prop_map(|nodes| {
            let mut value = Value::empty();
            let ids: Vec<NodeId> = nodes.into_iter().map(|node| value.add(node)).collect();
            value.set_root(ids[0]);
            value
        })
    })
}

proptest! {
    #[test]
    fn any_graph_comes_back(value in graph()) {
        let bytes = value.encode();
        let again = Value::decode(&bytes).unwrap();
        prop_assert!(again == value);
        prop_assert_eq!(again.encode(), bytes);
        let noted = Value::from_notation(&value.to_notation()).unwrap();
        prop_assert!(noted == value);
        prop_assert!(value.part(value.root()) == value);
        prop_assert!(!value.dump().is_empty() && !value.to_json().to_string().is_empty());
    }

    #[test]
    fn any_bytes_are_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(value) = Value::decode(&bytes) {
            prop_assert!(Value::decode(&value.encode()).unwrap() == value);
        }
        let _ = from_slice::<serde_json::Value>(&bytes);
        let _ = from_slice::<Vec<Option<String>>>(&bytes);
    }

    #[test]
    fn any_text_comes_back(text in any::<String>(), times in 1..2000_usize) {
        let text = text.repeat(times);
        let bytes = to_vec(&text).unwrap();
        prop_assert_eq!(from_slice::<String>(&bytes).unwrap(), text);
    }
}

#[test]
fn the_fuzzers_corpus_is_that_of_the_vectors() {
    let root = env!("CARGO_MANIFEST_DIR");
    let vectors = std::fs::read(format!("{root}/../../tests/vectors/hessian2.json")).unwrap();
    let vectors: serde_json::Value = serde_json::from_slice(&vectors).unwrap();
    let mut known = 0;
    for row in vectors["vectors"].as_array().unwrap() {
        let Some(bytes) = row["hex"].as_str().map(|text| unhex(text).unwrap()) else { continue };
        if bytes.len() <= 512 {
            let path = format!("{root}/fuzz/corpus/decode/{}", row["id"].as_str().unwrap());
            assert_eq!(std::fs::read(&path).unwrap(), bytes, "{path}");
            known += 1;
        }
    }
    assert!(known > 150, "{known}");
}
