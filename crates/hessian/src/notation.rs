//! Values as JSON: exactly ([`Value::to_notation`], as this crate's test vectors are written), plainly
//! ([`Value::to_json`]), and as an indented text for people ([`Value::dump`]).

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use crate::value::{Node, NodeId, Value};

/// How deep a printed value may go; what is deeper is cut, as printing recurses.
const DEPTH: usize = 600;

impl Value {
    /// The value in a notation that keeps everything: `["int",1]`, `["object","com.acme.A",[["x",…]]]`.
    /// A list, map or object that is met again is `["ref",n]`, where it is the n-th that was started.
    pub fn to_notation(&self) -> Json {
        self.notation_of(self.root())
    }

    /// The same for one of several values; references count from the first value of the stream.
    pub fn notation_of(&self, root: NodeId) -> Json {
        let mut numbers = HashMap::new();
        for before in self.roots().iter().take_while(|before| **before != root) {
            self.notation(*before, &mut numbers, 0);
        }
        self.notation(root, &mut numbers, 0)
    }

    fn notation(&self, id: NodeId, numbers: &mut HashMap<NodeId, usize>, depth: usize) -> Json {
        let node = self.node(id);
        if node.is_container() {
            if let Some(number) = numbers.get(&id) {
                return json!(["ref", number]);
            }
            if depth > DEPTH {
                return json!(["null"]);
            }
            numbers.insert(id, numbers.len());
        }
        // Only what recurses is here: every level of a deep value has a frame of this function.
        let mut parts = Vec::new();
        match node {
            Node::List(_, items) => {
                for item in items {
                    parts.push(self.notation(*item, numbers, depth + 1));
                }
            }
            Node::Map(_, pairs) => {
                for (key, value) in pairs {
                    let key = self.notation(*key, numbers, depth + 1);
                    let value = self.notation(*value, numbers, depth + 1);
                    parts.push(Json::Array(vec![key, value]));
                }
            }
            Node::Object(shape, values) => {
                for (name, value) in shape.fields.iter().zip(values) {
                    let value = self.notation(*value, numbers, depth + 1);
                    parts.push(Json::Array(vec![Json::String(name.clone()), value]));
                }
            }
            _ => {}
        }
        exact(node, parts)
    }

    /// The value as plain JSON. An object has its class under `class` first; a list, map or object
    /// that is met again is `{"$ref": n}` with the id of its node; bytes and text that is no Unicode
    /// are hex.
    pub fn to_json(&self) -> Json {
        self.json(self.root(), &mut HashMap::new(), 0)
    }

    fn json(&self, id: NodeId, seen: &mut HashMap<NodeId, ()>, depth: usize) -> Json {
        let node = self.node(id);
        if node.is_container() && (depth > DEPTH || seen.insert(id, ()).is_some()) {
            return json!({ "$ref": id.0 });
        }
        match node {
            Node::List(_, items) => {
                let mut all = Vec::with_capacity(items.len());
                for item in items {
                    all.push(self.json(*item, seen, depth + 1));
                }
                Json::Array(all)
            }
            Node::Map(_, pairs) => {
                let mut all = serde_json::Map::new();
                for (key, value) in pairs {
                    let key = key_text(self.json(*key, seen, depth + 1));
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
        let mut text = String::new();
        let mut numbers = HashMap::new();
        for root in self.roots() {
            self.dump_node(*root, 0, "", &mut numbers, &mut text);
        }
        text
    }

    fn dump_node(
        &self,
        id: NodeId,
        depth: usize,
        label: &str,
        numbers: &mut HashMap<NodeId, usize>,
        text: &mut String,
    ) {
        let node = self.node(id);
        let indent = depth * 2;
        // Writing to a String cannot fail.
        let mut line = |what: String| {
            let _ = writeln!(text, "{:indent$}{label}{what}", "");
        };
        let number = numbers.len();
        if node.is_container() {
            if let Some(number) = numbers.get(&id) {
                return line(format!("reference to #{number}"));
            }
            if depth > DEPTH {
                return line("…".to_owned());
            }
            numbers.insert(id, number);
        }
        match node {
            Node::Null => line("null".to_owned()),
            Node::Bool(value) => line(format!("boolean {value}")),
            Node::Int(value) => line(format!("int {value}")),
            Node::Long(value) => line(format!("long {value}")),
            Node::Double(value) => line(format!("double {}", java_double(*value))),
            Node::Date(value) => line(format!("date {value} ms")),
            Node::Str(value) => line(format!("string {value:?}")),
            Node::Utf16(units) => line(format!("string of UTF-16 units {units:04x?}")),
            Node::Binary(bytes) => line(format!("binary of {} bytes {}", bytes.len(), hex(bytes))),
            Node::List(ty, items) => {
                let ty = ty.as_deref().map(|ty| format!(" {ty}")).unwrap_or_default();
                line(format!("#{number} list{ty} of {}", items.len()));
                for (at, item) in items.iter().enumerate() {
                    self.dump_node(*item, depth + 1, &format!("[{at}] "), numbers, text);
                }
            }
            Node::Map(ty, pairs) => {
                let ty = ty.as_deref().map(|ty| format!(" {ty}")).unwrap_or_default();
                line(format!("#{number} map{ty} of {}", pairs.len()));
                for (key, value) in pairs {
                    self.dump_node(*key, depth + 1, "key ", numbers, text);
                    self.dump_node(*value, depth + 2, "= ", numbers, text);
                }
            }
            Node::Object(shape, values) => {
                line(format!("#{number} object {}", shape.name));
                for (name, value) in shape.fields.iter().zip(values) {
                    self.dump_node(*value, depth + 1, &format!("{name}: "), numbers, text);
                }
            }
        }
    }
}

/// A node in the exact notation; of a container, `parts` are what is in it.
fn exact(node: &Node, parts: Vec<Json>) -> Json {
    match node {
        Node::Null => json!(["null"]),
        Node::Bool(value) => json!(["bool", value]),
        Node::Int(value) => json!(["int", value]),
        Node::Long(value) => json!(["long", value.to_string()]),
        Node::Double(value) => json!(["double", java_double(*value)]),
        Node::Date(value) => json!(["date", value]),
        Node::Str(text) => json!(["string", text]),
        Node::Utf16(units) => json!(["utf16", utf16_hex(units)]),
        Node::Binary(bytes) => json!(["binary", hex(bytes)]),
        Node::List(ty, _) => json!(["list", ty.as_deref(), parts]),
        Node::Map(ty, _) => json!(["map", ty.as_deref(), parts]),
        Node::Object(shape, _) => json!(["object", shape.name, parts]),
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

fn utf16_hex(units: &[u16]) -> String {
    let bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
    hex(&bytes)
}

/// A key of a JSON object: text as it is, other keys as their JSON.
fn key_text(key: Json) -> String {
    match key {
        Json::String(text) => text,
        other => other.to_string(),
    }
}

/// A double as Java prints the special ones; others in the shortest form that reads back the same.
fn java_double(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else {
        format!("{value:?}")
    }
}

/// Bytes as lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Bytes from hex; white space is skipped.
///
/// # Errors
/// Something is no hex digit, or half a byte is missing; says where.
pub fn unhex(text: &str) -> Result<Vec<u8>, String> {
    let mut digits = Vec::with_capacity(text.len());
    for (at, c) in text.char_indices().filter(|(_, c)| !c.is_whitespace()) {
        let digit = c.to_digit(16).ok_or_else(|| format!("{c:?} at {at} is no hex digit"))?;
        // A hex digit is below 16.
        digits.push(digit as u8);
    }
    if digits.len() % 2 == 1 {
        return Err(format!("{} hex digits are no whole bytes", digits.len()));
    }
    Ok(digits
        .chunks_exact(2)
        .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
        .collect())
}
