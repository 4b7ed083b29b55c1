use equipoise_hessian::Node;
use proptest::prelude::*;
use serde_json::json;

use super::*;

const H: &str = "com.alibaba.com.caucho.hessian.io.";

/// What the value is in the exact notation of the test vectors.
fn put(ty: &str, value: &Json) -> Json {
    let ty = JavaType::parse(ty).unwrap();
    to_value(value, Some(&ty)).unwrap().to_notation()
}

fn refused(ty: &str, value: &Json) -> String {
    let ty = JavaType::parse(ty).unwrap();
    to_value(value, Some(&ty)).unwrap_err().to_string()
}

#[test]
fn scalars_follow_the_declared_type() {
    for (ty, value, node) in [
        ("int", json!(7), json!(["int", 7])),
        ("java.lang.Integer", json!(-7), json!(["int", -7])),
        ("long", json!(7), json!(["long", "7"])),
        ("java.lang.Long", json!(i64::MAX), json!(["long", "9223372036854775807"])),
        ("byte", json!(-128), json!(["int", -128])),
        ("short", json!(32767), json!(["int", 32767])),
        ("double", json!(7), json!(["double", "7.0"])),
        ("float", json!(1.5), json!(["double", "1.5"])),
        ("java.lang.Double", json!("NaN"), json!(["double", "NaN"])),
        ("double", json!("-Infinity"), json!(["double", "-Infinity"])),
        ("boolean", json!(true), json!(["bool", true])),
        ("char", json!("é"), json!(["string", "é"])),
        ("java.lang.String", json!("x"), json!(["string", "x"])),
        ("java.lang.String", json!(null), json!(["null"])),
        ("java.lang.Object", json!(3_000_000_000_u32), json!(["long", "3000000000"])),
        ("java.lang.Object", json!(3), json!(["int", 3])),
        ("java.lang.Number", json!(0.5), json!(["double", "0.5"])),
        ("java.util.Date", json!(1500), json!(["date", 1500])),
        ("java.util.Date", json!("1970-01-01T08:00:01.5+08:00"), json!(["date", 1500])),
        ("byte[]", json!("AQID"), json!(["binary", "010203"])),
        ("byte[]", json!("AQ"), json!(["binary", "01"])),
        ("char[]", json!("ab"), json!(["string", "ab"])),
        ("com.acme.Color", json!("RED"), json!(["string", "RED"])),
    ] {
        assert_eq!(put(ty, &value), node, "{ty} {value}");
    }
}

#[test]
fn what_does_not_fit_is_named() {
    for (ty, value, text) in [
        ("int", json!(3_000_000_000_u32), "3000000000 is no int"),
        ("byte", json!(128), "128 is no byte"),
        ("int", json!(1.5), "1.5 is no int"),
        ("int", json!("1"), "\"1\" is no int"),
        ("int", json!(null), "null is no int"),
        ("long", json!(u64::MAX), "18446744073709551615 is no long"),
        ("float", json!(1e39), "no float"),
        ("char", json!("ab"), "no char"),
        ("char", json!("😀"), "no char"),
        ("boolean", json!(1), "1 is no boolean"),
        ("double", json!("1"), "no double"),
        ("java.lang.String", json!(1), "text"),
        ("java.lang.Object", json!(u64::MAX), "declare it java.math.BigInteger"),
        ("byte[]", json!("*"), "base64"),
        ("byte[]", json!([1]), "base64"),
        ("int[]", json!(1), "an array"),
        ("java.util.List", json!({}), "an array"),
        ("java.util.Map", json!([]), "an object"),
        ("java.util.Date", json!("yesterday"), "2024-12-31T10:15:30Z"),
        ("java.time.LocalDate", json!("2024-02-30"), "text like 2024-12-31"),
        ("java.time.LocalDate", json!(5), "text like 2024-12-31"),
        ("java.math.BigDecimal", json!("x"), "text like 12.50"),
        ("java.util.UUID", json!("x"), "text like"),
    ] {
        let error = refused(ty, &value);
        assert!(error.contains(text), "{ty} {value}: {error}");
    }
    let types = types::parse_list("java.lang.String,int[]").unwrap();
    let error = arguments(br#"["a",[1,"b"]]"#, Some(&types)).unwrap_err();
    assert_eq!(error.to_string(), "argument 1[1]: \"b\" is no int");
    let error = arguments(br#"["a",{"x":[{"y":18446744073709551615}]}]"#, None).unwrap_err();
    assert_eq!(error.place, "argument 1.x[0].y");
    let error = arguments(b"[1]", Some(&types)).unwrap_err().to_string();
    assert!(error.contains("1 arguments for 2 parameters (java.lang.String,int[])"), "{error}");
    assert!(arguments(b"[", None).unwrap_err().to_string().contains("no JSON"));
    assert!(arguments("[".repeat(100_000).as_bytes(), None).is_err());
}

#[test]
fn a_document_is_a_list_of_arguments_or_one() {
    let count = |document: &str, types: Option<&str>| {
        let types = types.map(|types| types::parse_list(types).unwrap());
        arguments(document.as_bytes(), types.as_deref()).unwrap().len()
    };
    assert_eq!(count("", None), 0);
    assert_eq!(count("[]", Some("")), 0);
    assert_eq!(count("null", Some("")), 0);
    assert_eq!(count("null", Some("java.lang.String")), 1);
    assert_eq!(count("\"x\"", None), 1);
    assert_eq!(count("[[1,2]]", Some("int[]")), 1);
    assert_eq!(count(" [1, 2] ", Some("int,long")), 2);
}

#[test]
fn containers_follow_the_declared_type() {
    for (ty, value, node) in [
        ("int[]", json!([1, 2]), json!(["list", "[int", [["int", 1], ["int", 2]]])),
        ("java.lang.String[]", json!(["a"]), json!(["list", "[string", [["string", "a"]]])),
        (
            "long[][]",
            json!([[1], null]),
            json!(["list", "[[long", [["list", "[long", [["long", "1"]]], ["null"]]]),
        ),
        ("byte[][]", json!(["AQ=="]), json!(["list", "[[byte", [["binary", "01"]]])),
        ("java.util.List", json!([1]), json!(["list", null, [["int", 1]]])),
        ("java.util.Set", json!([1]), json!(["list", "java.util.HashSet", [["int", 1]]])),
        ("java.util.Map", json!({"a": 1}), json!(["map", null, [[["string", "a"], ["int", 1]]]])),
        ("java.util.SortedMap", json!({}), json!(["map", "java.util.TreeMap", []])),
        (
            "com.acme.Order",
            json!({"class": "com.acme.Big", "n": 1.5}),
            json!([
                "map",
                null,
                [
                    [["string", "class"], ["string", "com.acme.Big"]],
                    [["string", "n"], ["double", "1.5"]]
                ]
            ]),
        ),
        (
            "java.util.concurrent.atomic.AtomicLong",
            json!(5),
            json!(["object", "java.util.concurrent.atomic.AtomicLong", [["value", ["long", "5"]]]]),
        ),
        (
            "java.math.BigDecimal",
            json!("1.50"),
            json!(["object", "java.math.BigDecimal", [["value", ["string", "1.50"]]]]),
        ),
        (
            "java.sql.Timestamp",
            json!(5),
            json!(["object", "java.sql.Timestamp", [["value", ["date", 5]]]]),
        ),
    ] {
        assert_eq!(put(ty, &value), node, "{ty}");
    }
}

/// Declared type, JSON in, JSON out again.
const THERE_AND_BACK: &[(&str, &str, &str)] = &[
    ("java.math.BigDecimal", "\"12.50\"", "\"12.50\""),
    ("java.math.BigDecimal", "12.5", "\"12.5\""),
    ("java.math.BigInteger", "\"-12345678901234567890123\"", "\"-12345678901234567890123\""),
    ("java.math.BigInteger", "18446744073709551615", "\"18446744073709551615\""),
    (
        "java.util.UUID",
        "\"00112233-4455-6677-8899-aabbccddeeff\"",
        "\"00112233-4455-6677-8899-aabbccddeeff\"",
    ),
    ("java.util.Locale", "\"en_US\"", "\"en_US\""),
    ("java.lang.Class", "\"a.B\"", "\"a.B\""),
    ("java.io.File", "\"/tmp/x\"", "\"/tmp/x\""),
    ("java.util.Optional", "5", "5"),
    ("java.util.Date", "\"2024-01-31T10:15:30Z\"", "1706696130000"),
    ("java.sql.Date", "86400000", "86400000"),
    ("java.time.LocalDate", "\"2024-12-31\"", "\"2024-12-31\""),
    ("java.time.LocalTime", "\"10:15:30\"", "\"10:15:30\""),
    ("java.time.LocalDateTime", "\"2024-12-31T10:15\"", "\"2024-12-31T10:15\""),
    ("java.time.Instant", "\"2024-12-31T18:15:30.5+08:00\"", "\"2024-12-31T10:15:30.500Z\""),
    ("java.time.Duration", "\"PT-1.5S\"", "\"PT-1.5S\""),
    ("java.time.Period", "\"P1Y2M3D\"", "\"P1Y2M3D\""),
    ("java.time.Year", "\"2024\"", "\"2024\""),
    ("java.time.Year", "2024", "\"2024\""),
    ("java.time.YearMonth", "\"2024-12\"", "\"2024-12\""),
    ("java.time.MonthDay", "\"--02-29\"", "\"--02-29\""),
    ("java.time.ZoneId", "\"Europe/Paris\"", "\"Europe/Paris\""),
    ("java.time.ZoneOffset", "\"-05:30\"", "\"-05:30\""),
    ("java.time.OffsetTime", "\"10:15:30+08:00\"", "\"10:15:30+08:00\""),
    ("java.time.OffsetDateTime", "\"2024-12-31T10:15:30+08:00\"", "\"2024-12-31T10:15:30+08:00\""),
    (
        "java.time.ZonedDateTime",
        "\"2024-12-31T10:15:30+01:00[Europe/Paris]\"",
        "\"2024-12-31T10:15:30+01:00[Europe/Paris]\"",
    ),
    ("java.time.ZonedDateTime", "\"2024-12-31T10:15:30Z\"", "\"2024-12-31T10:15:30Z\""),
    ("double", "\"Infinity\"", "\"Infinity\""),
    ("long", "9007199254740993", "9007199254740993"),
    ("byte[]", "\"AQI\"", "\"AQI=\""),
    ("java.util.LinkedHashMap", "{\"b\":1,\"a\":[null,true]}", "{\"b\":1,\"a\":[null,true]}"),
];

#[test]
fn values_come_back_as_they_went() {
    for (ty, there, back) in THERE_AND_BACK {
        let parsed = JavaType::parse(ty).unwrap();
        let value = to_value(&serde_json::from_str(there).unwrap(), Some(&parsed)).unwrap();
        let read = Value::decode(&value.encode()).unwrap();
        assert_eq!(from_value(&read).unwrap().to_string(), *back, "{ty} {there}");
    }
}

/// Objects as Java sends them, from the vectors of the codec.
#[test]
fn what_java_sends_is_readable() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/hessian2.json");
    let all: Json = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let rows = all["vectors"].as_array().unwrap();
    let mut read = 0;
    for row in rows.iter().filter(|row| row["use"] != "reject") {
        let Some(hex) = row["hex"].as_str() else { continue };
        let bytes = equipoise_hessian::unhex(hex).unwrap();
        if let Ok(value) = Value::decode(&bytes) {
            from_value(&value).unwrap();
            read += 1;
        }
    }
    assert!(read > 100, "{read}");
    let of = |id: &str| {
        let row = rows.iter().find(|row| row["id"] == id).unwrap();
        let bytes = equipoise_hessian::unhex(row["hex"].as_str().unwrap()).unwrap();
        from_value(&Value::decode(&bytes).unwrap()).unwrap()
    };
    assert_eq!(of("biginteger"), json!("12345678901234567890"));
}

#[test]
fn objects_keep_their_class_and_exceptions_lose_themselves() {
    let mut value = Value::empty();
    let one = value.add(Node::Int(1));
    let root = value.add(Node::Null);
    value.put(root, Node::object("a.Bad", [("cause", root), ("me", root), ("x", one)]));
    value.set_root(root);
    let read = Value::decode(&value.encode()).unwrap();
    let json = json!({"class": "a.Bad", "cause": null, "me": {"$ref": 0}, "x": 1});
    assert_eq!(from_value(&read).unwrap(), json);
}

#[test]
fn keys_are_texts() {
    let mut value = Value::empty();
    let name = value.add_text("RED");
    let keys = [
        value.add(Node::Int(1)),
        value.add(Node::object("a.Color", [("name", name)])),
        value.add(Node::Null),
        value.add(Node::Bool(true)),
        value.add(Node::List(None, vec![name])),
    ];
    let pairs = keys.into_iter().map(|key| (key, name)).collect();
    let root = value.add(Node::Map(Some("a.Odd".into()), pairs));
    value.set_root(root);
    let json = from_value(&value).unwrap();
    let keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["class", "1", "RED", "null", "true", "[\"RED\"]"]);
}

#[test]
fn what_is_shared_is_copied_within_bounds_and_cycles_end() {
    // Each list holds the one before twice.
    let mut value = Value::empty();
    let mut last = value.add(Node::List(None, vec![]));
    for _ in 0..40 {
        last = value.add(Node::List(None, vec![last, last]));
    }
    value.set_root(last);
    assert!(from_value(&value).unwrap_err().to_string().contains("too large"));
    let mut value = Value::empty();
    let shared = value.add(Node::List(None, vec![]));
    let root = value.add(Node::List(None, vec![shared, shared]));
    value.put(shared, Node::List(None, vec![root]));
    value.set_root(root);
    assert_eq!(from_value(&value).unwrap(), json!([[{"$ref": 0}], [{"$ref": 0}]]));
}

#[test]
fn a_long_list_of_the_same_is_no_graph() {
    let long = json!(vec![Json::Null; 100_000]);
    let value = Value::decode(&to_value(&long, None).unwrap().encode()).unwrap();
    assert_eq!(from_value(&value).unwrap(), long);
}

#[test]
fn deep_values_fit_on_a_small_stack() {
    let deep = |levels: usize| {
        let mut bytes = vec![0x79; levels];
        bytes.push(b'N');
        bytes
    };
    let small = std::thread::Builder::new().stack_size(2 << 20);
    let thread = small.spawn(move || {
        assert_eq!(document(&deep(500)).unwrap().len(), 500 * 2 + 4);
        assert!(document(&deep(100_000)).is_err());
    });
    thread.unwrap().join().unwrap();
}

/// Some JSON.
fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        (-1e12..1e12).prop_map(Json::from),
        "\\PC{0,8}".prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            prop::collection::vec(("[a-z]{1,5}", inner), 0..5)
                .prop_map(|pairs| Json::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn untyped_json_comes_back_as_it_went(json in any_json()) {
        let value = to_value(&json, None).unwrap();
        let read = Value::decode(&value.encode()).unwrap();
        prop_assert_eq!(from_value(&read).unwrap(), json);
    }

    #[test]
    fn any_json_fits_any_type_or_not(json in any_json(), at in 0..60_usize) {
        let types: Vec<&str> = THERE_AND_BACK.iter().map(|row| row.0)
            .chain(["int", "char", "int[]", "java.util.List", "java.util.Map", "a.B", "float[][]"])
            .collect();
        let ty = JavaType::parse(types[at % types.len()]).unwrap();
        if let Ok(value) = to_value(&json, Some(&ty)) {
            prop_assert!(from_value(&Value::decode(&value.encode()).unwrap()).is_ok());
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let _ = document(&bytes);
        let _ = arguments(&bytes, None);
    }

    #[test]
    fn broken_handles_never_panic(
        at in 0..14_usize,
        numbers in prop::collection::vec(any::<i64>(), 6),
    ) {
        let names = ["LocalDate", "LocalTime", "LocalDateTime", "Instant", "Duration", "Period",
            "Year", "YearMonth", "MonthDay", "ZoneId", "ZoneOffset", "OffsetTime",
            "OffsetDateTime", "ZonedDateTime"];
        let fields = ["year", "month", "day", "hour", "seconds", "nanos"];
        let mut value = Value::empty();
        let numbers: Vec<_> = numbers.iter().map(|n| value.add(Node::Long(*n))).collect();
        let class = format!("{H}java8.{}Handle", names[at]);
        let root = value.add(Node::object(&class, fields.into_iter().zip(numbers)));
        value.set_root(root);
        prop_assert!(from_value(&value).is_ok());
    }
}
