//! Values for people: as plain JSON ([`Value::to_json`]), and as an indented text ([`Value::dump`]).

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::{DEPTH, hex, java_double, utf16_hex};
use crate::value::{Node, NodeId, Value};

impl Value {
    /// The value as plain JSON. An object has its class under `class` first; a list, map or object
    /// that is met again is `{"$ref": n}`, where it is the n-th that was started, counted from 0, as
    /// in the exact notation; bytes and text that is no Unicode are hex. A map with a list, map or
    /// object as key is a list of its pairs. Whatever is more than 600
    /// levels deep is `{"$deeper": true}`.
    pub fn to_json(&self) -> Json {
        self.json(self.root(), &mut HashMap::new(), 0)
    }

    fn json(&self, id: NodeId, seen: &mut HashMap<NodeId, usize>, depth: usize) -> Json {
        let node = self.node(id);
        if node.is_container() {
            if let Some(number) = seen.get(&id) {
                return json!({ "$ref": number });
            }
            if depth > DEPTH {
                return json!({ "$deeper": true });
            }
            seen.insert(id, seen.len());
        }
        match node {
            Node::List(_, items) => {
                let mut all = Vec::with_capacity(items.len());
                for item in items {
                    all.push(self.json(*item, seen, depth + 1));
                }
                Json::Array(all)
            }
            // Text within text within text would double its quotes with every level.
            Node::Map(_, pairs) if pairs.iter().any(|(key, _)| self.node(*key).is_container()) => {
                let mut all = Vec::with_capacity(pairs.len());
                for (key, value) in pairs {
                    let key = self.json(*key, seen, depth + 1);
                    all.push(Json::Array(vec![key, self.json(*value, seen, depth + 1)]));
                }
                Json::Array(all)
            }
            Node::Map(_, pairs) => {
                let mut all = serde_json::Map::new();
                for (key, value) in pairs {
                    let key = key_text(plain_json(self.node(*key)));
                    all.insert(key, self.json(*value, seen, depth + 1));
                }
                Json::Object(all)
            }
            Node::Object(shape, values) => {
                let mut all = serde_json::Map::new();
                all.insert("class".to_owned(), Json::String(shape.name.clone()));
                for (name, value) in shape.fields.iter().zip(values) {
                    all.insert(name.clone(), self.json(*value, seen, depth + 1));
                }
                Json::Object(all)
            }
            plain => plain_json(plain),
        }
    }

    /// An indented text for people: a line for each node, with its type.
    pub fn dump(&self) -> String {
        let mut dump = Dump { value: self, numbers: HashMap::new(), text: String::new() };
        for root in self.roots() {
            dump.node(*root, 0, "");
        }
        dump.text
    }
}

struct Dump<'v> {
    value: &'v Value,
    numbers: HashMap<NodeId, usize>,
    text: String,
}

impl Dump<'_> {
    fn node(&mut self, id: NodeId, depth: usize, label: &str) {
        let node = self.value.node(id);
        let number = self.numbers.len();
        if node.is_container() {
            if let Some(number) = self.numbers.get(&id).copied() {
                return self.line(depth, label, format_args!("reference to #{number}"));
            }
            if depth > DEPTH {
                return self.line(depth, label, format_args!("…"));
            }
            self.numbers.insert(id, number);
        }
        self.head(depth, label, node, number);
        match node {
            Node::List(_, items) => {
                for (at, item) in items.iter().enumerate() {
                    self.node(*item, depth + 1, &format!("[{at}] "));
                }
            }
            Node::Map(_, pairs) => {
                for (key, value) in pairs {
                    self.node(*key, depth + 1, "key ");
                    self.node(*value, depth + 2, "= ");
                }
            }
            Node::Object(shape, values) => {
                for (name, value) in shape.fields.iter().zip(values) {
                    self.node(*value, depth + 1, &format!("{name}: "));
                }
            }
            _ => {}
        }
    }

    /// The line of a node, of a container without what is in it.
    fn head(&mut self, depth: usize, label: &str, node: &Node, number: usize) {
        let typed = |ty: &Option<Arc<str>>| match ty.as_deref() {
            Some(ty) => format!(" {ty}"),
            None => String::new(),
        };
        match node {
            Node::Null => self.line(depth, label, format_args!("null")),
            Node::Bool(value) => self.line(depth, label, format_args!("boolean {value}")),
            Node::Int(value) => self.line(depth, label, format_args!("int {value}")),
            Node::Long(value) => self.line(depth, label, format_args!("long {value}")),
            Node::Double(value) => {
                self.line(depth, label, format_args!("double {}", java_double(*value)));
            }
            Node::Date(value) => self.line(depth, label, format_args!("date {value} ms")),
            Node::Str(value) => self.line(depth, label, format_args!("string {value:?}")),
            Node::Utf16(units) => {
                self.line(depth, label, format_args!("string of UTF-16 units {units:04x?}"));
            }
            Node::Binary(bytes) => {
                let (len, bytes) = (bytes.len(), hex(bytes));
                self.line(depth, label, format_args!("binary of {len} bytes {bytes}"));
            }
            Node::List(ty, all) => {
                let (ty, len) = (typed(ty), all.len());
                self.line(depth, label, format_args!("#{number} list{ty} of {len}"));
            }
            Node::Map(ty, all) => {
                let (ty, len) = (typed(ty), all.len());
                self.line(depth, label, format_args!("#{number} map{ty} of {len}"));
            }
            Node::Object(shape, _) => {
                self.line(depth, label, format_args!("#{number} object {}", shape.name));
            }
        }
    }

    fn line(&mut self, depth: usize, label: &str, what: std::fmt::Arguments<'_>) {
        let indent = depth * 2;
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{:indent$}{label}{what}", "");
    }
}

/// A node that is no container, as plain JSON.
fn plain_json(node: &Node) -> Json {
    match node {
        Node::Bool(value) => json!(value),
        Node::Int(value) => json!(value),
        Node::Long(value) | Node::Date(value) => json!(value),
        Node::Double(value) if value.is_finite() => json!(value),
        Node::Double(value) => json!(java_double(*value)),
        Node::Str(text) => json!(text),
        Node::Utf16(units) => json!(utf16_hex(units)),
        Node::Binary(bytes) => json!(hex(bytes)),
        Node::Null | Node::List(..) | Node::Map(..) | Node::Object(..) => Json::Null,
    }
}

/// A key of a JSON object: text as it is, other keys as their JSON.
fn key_text(key: Json) -> String {
    match key {
        Json::String(text) => text,
        other => other.to_string(),
    }
}
