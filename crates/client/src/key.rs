//! The key of a JSON call: the elements of a top-level array are the arguments, any other value is
//! argument 0. Numbers keep Java's text forms.

use equipoise_core::hash::key::Argument;
use serde_json::Value;

/// The arguments of a JSON body; `None` when it cannot be read.
pub(crate) fn json_arguments(body: &[u8]) -> Option<Vec<Argument>> {
    match serde_json::from_slice(body).ok()? {
        Value::Array(all) => Some(all.into_iter().map(argument).collect()),
        one => Some(vec![argument(one)]),
    }
}

fn argument(value: Value) -> Argument {
    match value {
        Value::Null => Argument::Null,
        Value::Bool(b) => Argument::Bool(b),
        Value::Number(n) => match (n.as_i64(), n.as_u64(), n.as_f64()) {
            (Some(i), _, _) => Argument::Int(i),
            (None, Some(u), _) => Argument::Text(u.to_string()),
            (None, None, Some(d)) => Argument::Double(d),
            (None, None, None) => Argument::Text(n.to_string()),
        },
        Value::String(s) => Argument::Text(s),
        Value::Array(all) => Argument::List(all.into_iter().map(argument).collect()),
        Value::Object(all) => {
            Argument::Map(all.into_iter().map(|(k, v)| (Argument::Text(k), argument(v))).collect())
        }
    }
}
