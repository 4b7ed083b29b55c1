//! Every row of the vectors, both ways, through [`Value`].
#![allow(clippy::unwrap_used)] // What a test takes for granted it may unwrap, in its helpers too.

use std::sync::Arc;

use equipoise_hessian::{Node, NodeId, Shape, Value, Writer, hex, unhex};
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

/// Builds the value that a row describes.
fn build(value: &mut Value, started: &mut Vec<NodeId>, row: &Json) -> NodeId {
    let text = |at: usize| row[at].as_str().unwrap().to_owned();
    let ty = || row[1].as_str().map(Arc::<str>::from);
    let node = match row[0].as_str().unwrap() {
        "null" => Node::Null,
        "bool" => Node::Bool(row[1].as_bool().unwrap()),
        "int" => Node::Int(i32::try_from(row[1].as_i64().unwrap()).unwrap()),
        "long" => Node::Long(text(1).parse().unwrap()),
        "double" => Node::Double(match text(1).as_str() {
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            other => other.parse().unwrap(),
        }),
        "date" => Node::Date(row[1].as_i64().unwrap()),
        "string" => Node::Str(text(1)),
        "utf16" => {
            let bytes = unhex(&text(1)).unwrap();
            Node::Utf16(bytes.chunks(2).map(|b| u16::from_be_bytes([b[0], b[1]])).collect())
        }
        "strrep" => Node::Str(text(1).repeat(usize::try_from(row[2].as_u64().unwrap()).unwrap())),
        "strcat" => {
            let parts = row[1].as_array().unwrap().iter();
            let part = |p: &Json| {
                p[0].as_str().unwrap().repeat(usize::try_from(p[1].as_u64().unwrap()).unwrap())
            };
            Node::Str(parts.map(part).collect())
        }
        "binary" => Node::Binary(unhex(&text(1)).unwrap()),
        "binpat" => Node::Binary((0..row[1].as_u64().unwrap()).map(|i| i as u8).collect()),
        "ref" => return started[usize::try_from(row[1].as_u64().unwrap()).unwrap()],
        container => {
            let id = value.add(Node::Null);
            started.push(id);
            let all = row[2].as_array().unwrap();
            let node = match container {
                "list" => {
                    Node::List(ty(), all.iter().map(|item| build(value, started, item)).collect())
                }
                "map" => {
                    let pair = |pair: &Json| {
                        (build(value, started, &pair[0]), build(value, started, &pair[1]))
                    };
                    Node::Map(ty(), all.iter().map(pair).collect())
                }
                "object" => {
                    let name = |field: &Json| field[0].as_str().unwrap().to_owned();
                    let fields = all.iter().map(name).collect();
                    let shape = Arc::new(Shape { name: text(1), fields });
                    let values = all.iter().map(|field| build(value, started, &field[1]));
                    Node::Object(shape, values.collect())
                }
                other => panic!("{other}"),
            };
            value.put(id, node);
            return id;
        }
    };
    value.add(node)
}

fn value(row: &Json) -> Value {
    let mut value = Value::empty();
    let root = build(&mut value, &mut Vec::new(), &row["value"]);
    value.set_root(root);
    value
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
        let special = row["value"].to_string().contains("\"double\"");
        if ["strrep", "strcat", "binpat"].contains(&kind) || special {
            continue;
        }
        let read = Value::decode(&bytes(row)).unwrap();
        assert_eq!(read.to_notation(), row["value"], "{}", row["id"]);
    }
}
