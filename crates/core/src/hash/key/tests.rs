//! Text forms, parsing and hashes against the reference vectors and against a JDK.

use serde_json::Value;

use super::*;

fn vectors() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/consistent-hash.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// An argument of the vectors: a type label and the text that Java prints.
fn argument(of: &Value) -> Argument {
    let text = of["text"].as_str().unwrap();
    match of["type"].as_str().unwrap() {
        "null" => Argument::Null,
        "bool" => Argument::Bool(text.parse().unwrap()),
        "i32" | "i64" => Argument::Int(text.parse().unwrap()),
        "f64" => Argument::Double(text.parse().unwrap()),
        "string" | "opaque" => text.into(),
        "list" => {
            let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap();
            Argument::List(inner.split(", ").map(Argument::from).collect())
        }
        "map" => {
            let inner = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')).unwrap();
            let entry = |e: &str| e.split_once('=').map(|(k, v)| (k.into(), v.into())).unwrap();
            Argument::Map(inner.split(", ").map(entry).collect())
        }
        other => panic!("unknown label {other}"),
    }
}

#[test]
fn every_key_of_the_reference_holds() {
    let vectors = vectors();
    let rows = vectors["vectors"].as_array().unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        // An absent list is an empty one.
        let arguments: Vec<Argument> =
            row["arguments"].as_array().into_iter().flatten().map(argument).collect();
        let indexes = parse_arguments(row["hash_arguments"].as_str().unwrap()).unwrap();
        let hash = hash_of_arguments(&indexes, &arguments);
        assert_eq!(u64::from(hash), row["hash"].as_u64().unwrap(), "row {}", row["id"]);
        assert_eq!(hash_of_key(row["key"].as_str().unwrap()), hash, "row {}", row["id"]);
        for of in row["arguments"].as_array().into_iter().flatten() {
            assert_eq!(argument(of).to_string(), of["text"].as_str().unwrap());
        }
    }
}

#[test]
fn every_error_of_the_reference_is_refused() {
    let vectors = vectors();
    let rows = vectors["errors"].as_array().unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        if let Some(text) = row["hash_arguments"].as_str() {
            parse_arguments(text).unwrap_err();
        } else {
            parse_nodes(&row["hash_nodes"].to_string()).unwrap_err();
        }
    }
}

#[test]
fn indexes_are_split_as_the_reference_splits() {
    let good: [(&str, &[usize]); 17] = [
        ("", &[0]),
        ("0", &[0]),
        ("+3", &[3]),
        ("-1", &[]),
        ("-1,0,-2147483648,2", &[0, 2]),
        ("2147483647", &[2_147_483_647]),
        ("0,1", &[0, 1]),
        ("1,0,1", &[1, 0, 1]),
        ("0 , 1", &[0, 1]),
        ("0\t,\r\n1", &[0, 1]),
        ("0,,,1", &[0, 1]),
        ("0,", &[0]),
        ("0 ,,, ", &[0]),
        ("0, ,", &[0]),
        (",", &[]),
        (" , ", &[]),
        (",,", &[]),
    ];
    for (text, indexes) in good {
        assert_eq!(parse_arguments(text).as_deref(), Ok(indexes), "{text:?}");
    }
    for text in ["a", "0,a", " ", " 0", "0 ", ",0", " ,0", "0, ,1", "0;1", "1.5", "2147483648"] {
        let error = parse_arguments(text).unwrap_err();
        assert!(matches!(error, KeyError::Argument { .. }), "{text:?}: {error}");
    }
    let error = parse_arguments("0,one").unwrap_err();
    assert!(error.to_string().contains("\"one\""), "{error}");
}

#[test]
fn nodes_have_a_range() {
    for (text, nodes) in [("4", 4), ("160", 160), ("161", 161), ("1000000", MAX_NODES)] {
        assert_eq!(parse_nodes(text), Ok(nodes));
    }
    for text in ["", "3", "0", "-1", "x", "1.5", " 160", "1000001", "99999999999999999999"] {
        let error = parse_nodes(text).unwrap_err();
        assert!(error.to_string().contains(&format!("{text:?}")), "{error}");
    }
}

#[test]
fn doubles_read_as_in_java() {
    // Printed by Temurin 25. In the last six rows the digits are easiest to get wrong: the smallest
    // numbers, ties between two decimals, and a power of two.
    let rows = [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (f64::NAN, "NaN"),
        (-f64::NAN, "NaN"),
        (f64::INFINITY, "Infinity"),
        (f64::NEG_INFINITY, "-Infinity"),
        (1.0, "1.0"),
        (-1.5, "-1.5"),
        (100.0, "100.0"),
        (123.456, "123.456"),
        (9_999_999.0, "9999999.0"),
        (9_999_999.999_999_998, "9999999.999999998"),
        (1e7, "1.0E7"),
        (12_345_678.9, "1.23456789E7"),
        (0.001, "0.001"),
        (0.0123, "0.0123"),
        (9.999e-4, "9.999E-4"),
        (1e-4, "1.0E-4"),
        (1e10, "1.0E10"),
        (2e23, "2.0E23"),
        (-1e100, "-1.0E100"),
        (f64::MAX, "1.7976931348623157E308"),
        (f64::MIN_POSITIVE, "2.2250738585072014E-308"),
        (f64::from_bits(1), "4.9E-324"),
        (f64::from_bits(2), "9.9E-324"),
        (1_125_899_906_842_624.0 + 0.25, "1.1258999068426242E15"),
        (1_125_899_906_842_624.0 + 0.75, "1.1258999068426248E15"),
        (2.980_232_238_769_531_3e-8, "2.9802322387695312E-8"),
        (7.120_236_347_223_045e-307, "7.120236347223045E-307"),
    ];
    for (value, text) in rows {
        assert_eq!(Argument::Double(value).to_string(), text);
    }
}

#[test]
fn floats_read_as_in_java() {
    let rows = [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (f32::NAN, "NaN"),
        (1.1, "1.1"),
        (16_777_216.0, "1.6777216E7"),
        (0.001, "0.001"),
        (3.4e10, "3.4E10"),
        (f32::MAX, "3.4028235E38"),
        (f32::from_bits(1), "1.4E-45"),
        (f32::from_bits(2), "2.8E-45"),
        (2.097_152e6, "2097152.0"),
    ];
    for (value, text) in rows {
        assert_eq!(Argument::Float(value).to_string(), text);
    }
}

#[test]
fn every_printed_number_reads_back() {
    let mut rng = fastrand::Rng::with_seed(11);
    for _ in 0..20_000 {
        let double = f64::from_bits(rng.u64(..));
        if double.is_finite() {
            let text = Argument::Double(double).to_string();
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), double.to_bits(), "{text}");
        }
        let float = f32::from_bits(rng.u32(..));
        if float.is_finite() {
            let text = Argument::Float(float).to_string();
            assert_eq!(text.parse::<f32>().unwrap().to_bits(), float.to_bits(), "{text}");
        }
    }
}

#[test]
fn collections_nest() {
    let inner = Argument::Map(vec![
        ("k".into(), Argument::List(vec![])),
        (Argument::Int(1), Argument::Null),
        (Argument::Bool(true), Argument::Map(vec![])),
    ]);
    let list = Argument::List(vec![Argument::UInt(u64::MAX), Argument::Double(1e7), inner]);
    assert_eq!(list.to_string(), "[18446744073709551615, 1.0E7, {k=[], 1=null, true={}}]");
}

#[test]
fn long_keys_span_blocks() {
    let text = "0123456789".repeat(100);
    let pieces: Vec<Argument> = (0..100).map(|_| "0123456789".into()).collect();
    let indexes: Vec<usize> = (0..100).collect();
    assert_eq!(hash_of_arguments(&indexes, &pieces), hash_of_key(&text));
}
