//! The key of a call: what the caller gave, else the arguments of a Java call or what is in a JSON body. There the elements of a
//! top-level array are the arguments, any other value is argument 0; numbers keep Java's text forms.

use equipoise_core::call::Key;
use equipoise_core::candidates::Candidates;
use equipoise_core::hash::key::Argument;
use equipoise_core::outcome::Failure;
use equipoise_core::port::{Body, Request};
use serde_json::Value;

/// What the caller gave.
#[derive(Clone)]
pub(crate) enum OwnKey {
    Missing,
    Text(String),
    Arguments(Vec<Argument>),
}

impl OwnKey {
    /// The hash of the key, where the strategy of these candidates needs one.
    ///
    /// # Errors
    /// It needs one, and nothing was given.
    pub(crate) fn hash(
        &self,
        candidates: &Candidates,
        request: &Request,
    ) -> Result<Option<u32>, Failure> {
        if !candidates.is_keyed() {
            return Ok(None);
        }
        match self {
            OwnKey::Text(text) => candidates.key_hash(Key::Text(text)),
            OwnKey::Arguments(all) => candidates.key_hash(Key::Arguments(all)),
            OwnKey::Missing => {
                let all = match &request.body {
                    Body::Json(body) => json_arguments(body),
                    Body::Java(arguments) => Some(arguments.hashed()),
                    Body::Protobuf(_) => None,
                };
                candidates.key_hash(all.as_deref().map_or(Key::Missing, Key::Arguments))
            }
        }
    }
}

/// The arguments of a JSON body; `None` when it cannot be read.
fn json_arguments(body: &[u8]) -> Option<Vec<Argument>> {
    match serde_json::from_slice(body).ok()? {
        Value::Array(all) => Some(all.into_iter().map(hash_argument).collect()),
        one => Some(vec![hash_argument(one)]),
    }
}

/// A JSON value as one of the arguments that `hash.arguments` selects from; numbers keep Java's text
/// forms.
pub fn hash_argument(value: Value) -> Argument {
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
        Value::Array(all) => Argument::List(all.into_iter().map(hash_argument).collect()),
        Value::Object(all) => Argument::Map(
            all.into_iter().map(|(k, v)| (Argument::Text(k), hash_argument(v))).collect(),
        ),
    }
}
