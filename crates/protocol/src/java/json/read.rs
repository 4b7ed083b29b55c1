//! From a Java value to JSON. Recursion is bounded by [`DEPTH`].

use std::collections::HashMap;

use equipoise_hessian::{Node, NodeId, Value};
use serde_json::{Map, Number, Value as Json, json};

use super::JsonError;
use crate::java::{graph, handles};

/// As deep as decoded values go.
const DEPTH: usize = 520;

/// How many times the places of a value may be visited, because JSON copies what is shared.
const VISITS: usize = 4;

/// Visits that even the smallest value may take.
const LEAST: usize = 1024;

pub(super) fn json(value: &Value, root: NodeId) -> Result<Json, JsonError> {
    let left = graph::places(value, root).saturating_mul(VISITS).max(LEAST);
    Reading { value, open: HashMap::new(), started: 0, left }.json(root)
}

struct Reading<'v> {
    value: &'v Value,
    /// What is being read, and which list, map or object it was.
    open: HashMap<NodeId, usize>,
    started: usize,
    /// Visits that are left.
    left: usize,
}

impl Reading<'_> {
    fn json(&mut self, id: NodeId) -> Result<Json, JsonError> {
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            JsonError::new("the value refers to the same parts so often that its JSON is too large")
        })?;
        Ok(match self.value.node(id) {
            Node::Null => Json::Null,
            Node::Bool(value) => Json::Bool(*value),
            Node::Int(value) => (*value).into(),
            Node::Long(value) | Node::Date(value) => (*value).into(),
            Node::Double(value) => double(*value),
            Node::Str(text) => Json::String(text.clone()),
            Node::Utf16(units) => Json::String(String::from_utf16_lossy(units)),
            Node::Binary(bytes) => Json::String(handles::base64(bytes)),
            Node::List(..) | Node::Map(..) | Node::Object(..) => return self.container(id),
        })
    }

    fn container(&mut self, id: NodeId) -> Result<Json, JsonError> {
        if let Some(number) = self.open.get(&id) {
            return Ok(json!({ "$ref": number }));
        }
        if self.open.len() > DEPTH {
            return Err(JsonError::new("the value is nested too deeply"));
        }
        self.open.insert(id, self.started);
        self.started += 1;
        let json = match self.value.node(id) {
            Node::List(_, items) => {
                let items = items.iter().map(|item| self.json(*item));
                Json::Array(items.collect::<Result<_, _>>()?)
            }
            Node::Map(ty, pairs) => self.map(ty.as_deref(), pairs)?,
            _ => self.object(id)?,
        };
        self.open.remove(&id);
        Ok(json)
    }

    fn map(&mut self, ty: Option<&str>, pairs: &[(NodeId, NodeId)]) -> Result<Json, JsonError> {
        let mut entries = Map::with_capacity(pairs.len().min(1024));
        // A map with the name of a class that is no map of Java's own stands for an object.
        if let Some(class) = ty.filter(|ty| !ty.is_empty() && !ty.starts_with("java.")) {
            entries.insert("class".to_owned(), class.into());
        }
        for (key, value) in pairs {
            let key = self.key(*key)?;
            let value = self.json(*value)?;
            entries.insert(key, value);
        }
        Ok(Json::Object(entries))
    }

    /// The text that stands for a key.
    fn key(&mut self, id: NodeId) -> Result<String, JsonError> {
        // Constants of enums are objects with their name.
        let name = self.value.get(id, "name").filter(|_| self.value.class(id).is_some());
        if let Some(name) = name.and_then(|name| self.value.str(name)) {
            return Ok(name.to_owned());
        }
        Ok(match self.json(id)? {
            Json::String(text) => text,
            other => other.to_string(),
        })
    }

    fn object(&mut self, id: NodeId) -> Result<Json, JsonError> {
        let value = self.value;
        let text = handles::time_text(value, id)
            .or_else(|| handles::number_text(value, id))
            .or_else(|| handles::uuid_text(value, id));
        if let Some(text) = text {
            return Ok(Json::String(text));
        }
        if let Some(inner) = handles::inner(value, id) {
            return self.json(inner);
        }
        let Node::Object(shape, values) = value.node(id) else { return Ok(Json::Null) };
        let mut entries = Map::with_capacity(1 + values.len().min(1024));
        entries.insert("class".to_owned(), shape.name.as_str().into());
        for (name, field) in shape.fields.iter().zip(values) {
            // An exception without a cause is its own.
            let json =
                if *field == id && name == "cause" { Json::Null } else { self.json(*field)? };
            entries.insert(name.clone(), json);
        }
        Ok(Json::Object(entries))
    }
}

fn double(value: f64) -> Json {
    if let Some(number) = Number::from_f64(value) {
        return Json::Number(number);
    }
    let text = match value {
        _ if value.is_nan() => "NaN",
        f64::NEG_INFINITY => "-Infinity",
        _ => "Infinity",
    };
    Json::String(text.to_owned())
}
