//! Typed results in the form that generic callers expect, and exceptions as `GenericException`, as
//! Dubbo's `PojoUtils` and `GenericFilter` have them.

use std::collections::HashSet;

use equipoise_core::outcome::Exception;
use equipoise_hessian::{Error, Node, NodeId, Value};

use super::{EXCEPTION, EXCEPTION_CLASS, EXCEPTION_MESSAGE};
use crate::java::types::{Element, JavaType};
use crate::java::{JavaException, handles, json};

/// The general form of an encoded value.
pub(super) fn result(hessian: &[u8], is_enum: &dyn Fn(&str) -> bool) -> Result<Vec<u8>, Error> {
    let value = json::decode(hessian)?;
    Ok(general(&value, is_enum).encode())
}

/// The general form of a value. Shared parts stay shared, and cycles cycles.
pub(super) fn general(value: &Value, is_enum: &dyn Fn(&str) -> bool) -> Value {
    let mut into = value.clone();
    let mut seen = HashSet::new();
    let mut todo = vec![value.root()];
    while let Some(id) = todo.pop() {
        if !value.node(id).is_container() || !seen.insert(id) {
            continue;
        }
        if let Some(node) = replaced(value, id, is_enum, &mut into) {
            into.put(id, node);
        }
        match into.node(id) {
            Node::List(_, items) => todo.extend(items),
            Node::Map(_, pairs) => todo.extend(pairs.iter().flat_map(|(key, value)| [key, value])),
            Node::Object(_, values) => todo.extend(values),
            _ => {}
        }
    }
    into
}

/// What a node becomes; `None` when it stays as it is.
fn replaced(
    value: &Value,
    id: NodeId,
    is_enum: &dyn Fn(&str) -> bool,
    into: &mut Value,
) -> Option<Node> {
    match value.node(id) {
        Node::List(Some(ty), items) => Some(Node::List(list_type(ty, is_enum)?, items.clone())),
        // A class that is a map in Java is one here, too.
        Node::Map(Some(ty), pairs) if !ty.starts_with("java.util.") => {
            Some(Node::Map(None, pairs.clone()))
        }
        Node::Object(shape, values) => {
            let class = shape.name.as_str();
            let name = |field| value.get(id, field).and_then(|name| value.str(name));
            if let Some(text) = handles::time_text(value, id) {
                return Some(Node::Str(text));
            }
            if class == "java.lang.Class" || is_enum(class) {
                return name("name").map(|name| Node::Str(name.to_owned()));
            }
            if is_kept(class) {
                return None;
            }
            let mut pairs = vec![(into.add_text("class"), into.add_text(class))];
            for (name, field) in shape.fields.iter().zip(values) {
                pairs.push((into.add_text(name), *field));
            }
            Some(Node::Map(None, pairs))
        }
        _ => None,
    }
}

/// The type of a list in general form; `None` when it keeps its own.
fn list_type(ty: &str, is_enum: &dyn Fn(&str) -> bool) -> Option<Option<std::sync::Arc<str>>> {
    let Some(element) = ty.strip_prefix('[').map(|rest| rest.trim_start_matches('[')) else {
        // Collections are one of two.
        return Some(ty.ends_with("Set").then(|| "java.util.HashSet".into()));
    };
    let simple = matches!(element, "string" | "date")
        || JavaType::parse(element).is_ok_and(|ty| matches!(ty.element, Element::Primitive(_)))
        || element.strip_prefix("java.lang.").is_some_and(|name| {
            matches!(
                name,
                "Boolean"
                    | "Byte"
                    | "Character"
                    | "Short"
                    | "Integer"
                    | "Long"
                    | "Float"
                    | "Double"
            )
        })
        || element.starts_with("java.math.");
    if simple {
        return None;
    }
    Some(Some(if is_enum(element) { "[string" } else { "[object" }.into()))
}

/// Classes that every Java has and that generic callers get as they are.
fn is_kept(class: &str) -> bool {
    class.starts_with("java.math.")
        || class.starts_with("java.sql.")
        || class.starts_with("java.util.")
        || class.starts_with("com.alibaba.com.caucho.hessian.io.")
        || class == "java.io.File"
}

/// The exception that a generic caller gets for one that a method threw.
pub(super) fn exception(thrown: &Exception) -> Exception {
    let read = JavaException::decode(&thrown.body).unwrap_or_else(|error| {
        tracing::debug!(class = thrown.class, %error, "an exception cannot be read");
        JavaException { class: thrown.class.clone(), ..JavaException::default() }
    });
    let message = read.message.as_deref().map_or_else(Value::null, Value::text);
    JavaException::new(EXCEPTION, read.to_string())
        .with(EXCEPTION_MESSAGE, message)
        .with(EXCEPTION_CLASS, Value::text(thrown.class.as_str()))
        .to_exception()
}
