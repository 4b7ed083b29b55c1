//! Every row of the vectors, both ways, through [`Value`].
#![allow(clippy::unwrap_used)] // What a test takes for granted it may unwrap, in its helpers too.

use equipoise_hessian::{Value, Writer, hex, unhex};
use serde_json::Value as Json;

fn rows() -> Vec<Json> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/hessian2.json");
    let all: Json = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    all["vectors"].as_array().unwrap().clone()
}

fn bytes(row: &Json) -> Vec<u8> {
    if let Some(text) = row["hex"].as_str() {
        return unhex(text).unwrap();
    }
    let parts = row["hex_parts"].as_array().unwrap();
    let part = |part: &Json| {
        let count = usize::try_from(part[1].as_u64().unwrap()).unwrap();
        unhex(part[0].as_str().unwrap()).unwrap().repeat(count)
    };
    parts.iter().flat_map(part).collect()
}

fn value(row: &Json) -> Value {
    Value::from_notation(&row["value"]).unwrap()
}

#[test]
fn every_row_is_read_and_written() {
    let (mut both, mut decode, mut reject) = (0, 0, 0);
    for row in rows() {
        let (id, bytes) = (row["id"].as_str().unwrap(), bytes(&row));
        match row["use"].as_str().unwrap() {
            "reject" => {
                assert!(Value::decode(&bytes).is_err(), "{id}");
                reject += 1;
                continue;
            }
            "both" => {
                let as_java = id == "double_neg_zero_java";
                let mut writer = Writer::new().java_chunks(true).java_zero(as_java);
                value(&row).write(&mut writer);
                let written = writer.into_bytes();
                assert!(written == bytes, "{id}: {} and not {}", short(&written), short(&bytes));
                both += 1;
                if as_java {
                    continue;
                }
            }
            _ => decode += 1,
        }
        let read = Value::decode(&bytes).unwrap_or_else(|error| panic!("{id}: {error}"));
        assert!(read == value(&row), "{id}: {} and not {}", read.dump(), value(&row).dump());
        let again = Value::decode(&read.encode()).unwrap();
        assert!(again == read, "{id} changes when it is written again");
    }
    assert_eq!((both, decode, reject), (140, 16, 19));
}

fn short(bytes: &[u8]) -> String {
    let mut text = hex(bytes.get(..200).unwrap_or(bytes));
    if bytes.len() > 200 {
        text.push('…');
    }
    text
}

#[test]
fn the_notation_is_that_of_the_rows() {
    for row in rows().iter().filter(|row| row["use"] != "reject") {
        let kind = row["value"][0].as_str().unwrap();
        if ["strrep", "strcat", "binpat"].contains(&kind) || row["id"] == "double_neg_zero_java" {
            continue;
        }
        let read = Value::decode(&bytes(row)).unwrap();
        assert_eq!(read.to_notation(), row["value"], "{}", row["id"]);
    }
}
