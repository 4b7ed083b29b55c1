//! Values as JSON that keeps everything, both ways ([`Value::to_notation`], [`Value::from_notation`]):
//! the notation that this crate's test vectors are written in. What is for people is in `print`.

mod parse;
mod print;

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use crate::value::{Node, NodeId, Value};

/// How deep a printed value may go; what is deeper is cut, as printing recurses.
const DEPTH: usize = 600;

impl Value {
    /// The value in a notation that keeps everything: `["int",1]`, `["object","com.acme.A",[["x",…]]]`.
    /// A list, map or object that is met again is `["ref",n]`, where it is the n-th that was started,
    /// counted from 0. Whatever is more than 600 levels deep is `["deeper"]`, which nothing else is.
    pub fn to_notation(&self) -> Json {
        self.notation(self.root(), &mut HashMap::new(), 0)
    }

    /// The same for all values of a stream; references count from the first of them.
    pub fn to_notations(&self) -> Vec<Json> {
        let mut numbers = HashMap::new();
        self.roots().iter().map(|root| self.notation(*root, &mut numbers, 0)).collect()
    }

    fn notation(&self, id: NodeId, numbers: &mut HashMap<NodeId, usize>, depth: usize) -> Json {
        let node = self.node(id);
        if node.is_container() {
            if let Some(number) = numbers.get(&id) {
                return json!(["ref", number]);
            }
            if depth > DEPTH {
                return json!(["deeper"]);
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

fn utf16_hex(units: &[u16]) -> String {
    let bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
    hex(&bytes)
}

/// A double as `Double.toString` of Java 19 and later has it: the shortest digits that read back the
/// same, but at least two of them, and then the nearest.
fn java_double(value: f64) -> String {
    let size = value.abs();
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else if size == 0.0 || (1e-3..1e7).contains(&size) {
        format!("{value:?}")
    } else {
        let two = format!("{value:.1e}");
        let shortest = if two.parse() == Ok(value) { two } else { format!("{value:e}") };
        shortest.replace('e', "E")
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
