//! `equipoise decode`: values, frames, and bytes that are neither.

#![allow(clippy::unwrap_used)] // a test may panic

mod common;

use common::run;
use serde_json::{Value, json};

fn printed(line: &str) -> Value {
    let ran = run(line);
    assert_eq!(ran.code, Some(0), "{line}: {ran:#?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

fn refused(line: &str) -> Value {
    let ran = run(line);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{line}: {ran:#?}");
    serde_json::from_str(&ran.stderr).unwrap()
}

#[test]
fn every_vector_has_its_value_and_its_bytes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/hessian2.json");
    let all: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let simple = ["null", "bool", "int", "long", "date", "string", "list", "map", "object"];
    let rows = all["vectors"].as_array().unwrap();
    // A process for each row would take long; every fifth tells as much.
    for row in rows.iter().step_by(5) {
        let Some(hex) = row["hex"].as_str().filter(|hex| hex.len() < 1000) else { continue };
        if row["use"] == "reject" {
            assert!(refused(&format!("decode hessian {hex}"))["offset"].is_u64(), "{}", row["id"]);
            continue;
        }
        let document = printed(&format!("decode hessian {hex} --json --reencode"));
        assert_eq!(document["consumed"], hex.len() / 2);
        if simple.contains(&row["value"][0].as_str().unwrap())
            && !row["value"].to_string().contains("\"double\"")
        {
            assert_eq!(document["value"], row["value"], "{}", row["id"]);
        }
        if row["use"] == "both" && row["id"] != "double_neg_zero_java" {
            assert_eq!(document["hex"], hex, "{}", row["id"]);
        }
    }
}

#[test]
fn people_get_a_line_for_each_node() {
    let ran = run("decode hessian 48056f726465727a9102686a5a");
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let lines: Vec<&str> = ran.stdout.lines().map(str::trim).collect();
    assert_eq!(
        lines,
        ["#0 map of 1", "key string \"order\"", "= #1 list of 2", "[0] int 1", "[1] string \"hj\""]
    );
}

#[test]
fn bytes_after_the_value_are_an_error_unless_asked_for() {
    assert_eq!(
        refused("decode hessian 9192"),
        json!({
            "error": "1 more bytes follow the value", "offset": 1
        })
    );
    let document = printed("decode hessian 79915190 --sequence --json");
    let values = json!([["list", null, [["int", 1]]], ["ref", 0]]);
    assert_eq!(document, json!({ "values": values, "consumed": 4 }));
}

#[test]
fn text_that_is_no_hex_is_a_wrong_command_line() {
    for line in ["decode hessian xy", "decode hessian 9", "decode frame zz"] {
        assert_eq!(run(line).code, Some(2), "{line}");
    }
}

#[test]
fn a_frame_is_its_header_and_the_values_of_its_body() {
    let document = printed("decode frame dabb021400000000000000010000000694914890915a --json");
    assert_eq!(document["body"][0], json!(["int", 4]));
    let heartbeat = printed("decode frame dabb2214ffffffffffffffff000000014e --json");
    assert_eq!(
        heartbeat,
        json!({
            "request": false, "two_way": false, "event": true, "serialization": 2, "status": 20,
            "id": u64::MAX, "length": 1, "body": [["null"]],
        })
    );
    let other = printed("decode frame dabb5700000000000000000100000002abcd --json");
    assert_eq!((&other["serialization"], &other["body"]), (&json!(23), &json!("abcd")));
    for (bytes, offset) in [
        ("dabb", 2),
        ("dabc0214000000000000000100000000", 0),
        ("dabb02140000000000000001ffffffff", 12),
        ("dabb0214000000000000000100000002 91", 17),
        ("dabb0214000000000000000100000001 40", 16),
    ] {
        assert_eq!(refused(&format!("decode frame {bytes}"))["offset"], offset, "{bytes}");
    }
}
