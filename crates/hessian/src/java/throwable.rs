//! Exceptions of any class: the fields that every `Throwable` has, and those of the class as values.

use std::fmt;
use std::str::FromStr;

use ::serde::de::{Deserializer, Error as _};
use ::serde::ser::Serializer;
use ::serde::{Deserialize, Serialize};

use crate::java::text::ParseError;
use crate::value::{Node, NodeId, Value};

/// How many exceptions within each other are read.
const CAUSES: usize = 32;
/// How many exceptions one may consist of, all those within it counted.
const MOST: usize = 64;

/// An exception, whatever its class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Throwable {
    /// Name of its class.
    pub class: String,
    /// Its message.
    pub message: Option<String>,
    /// What caused it; one that is its own cause has none.
    pub cause: Option<Box<Throwable>>,
    /// Where it was thrown, the innermost call first. Empty for one from Rust.
    pub stack_trace: Vec<StackTraceElement>,
    /// What went wrong besides, while it was on its way.
    pub suppressed: Vec<Throwable>,
    /// The fields that its class adds.
    pub fields: Vec<(String, Value)>,
}

/// One line of a stack trace.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename = "java.lang.StackTraceElement", default)]
pub struct StackTraceElement {
    /// Class of the method.
    #[serde(rename = "declaringClass")]
    pub class: Option<String>,
    /// The method.
    #[serde(rename = "methodName")]
    pub method: Option<String>,
    /// The file.
    #[serde(rename = "fileName")]
    pub file: Option<String>,
    /// The line; negative when it is not known.
    #[serde(rename = "lineNumber")]
    pub line: i32,
}

impl Throwable {
    /// An exception of `class`.
    pub fn new(class: impl Into<String>, message: impl Into<String>) -> Self {
        Self { class: class.into(), message: Some(message.into()), ..Self::default() }
    }

    /// With a field of its class.
    pub fn with(mut self, field: impl Into<String>, value: Value) -> Self {
        self.fields.push((field.into(), value));
        self
    }

    /// With a cause.
    pub fn caused_by(mut self, cause: Throwable) -> Self {
        self.cause = Some(Box::new(cause));
        self
    }

    /// Reads the exception that a value is; `None` when it is no object.
    pub fn from_value(value: &Value) -> Option<Self> {
        let mut left = MOST;
        Self::of(value, value.root(), CAUSES, &mut left)
    }

    fn of(value: &Value, id: NodeId, causes: usize, left: &mut usize) -> Option<Self> {
        *left = left.checked_sub(1)?;
        let class = match value.node(id) {
            Node::Object(shape, _) => shape.name.clone(),
            // A class that the peer did not have, or one written as a map.
            Node::Map(ty, _) => match (ty, value.get(id, "class")) {
                (Some(ty), _) => ty.to_string(),
                (None, class) => {
                    class.and_then(|class| value.str(class)).unwrap_or_default().into()
                }
            },
            _ => return None,
        };
        let mut thrown = Self { class, ..Self::default() };
        for (name, field) in named(value, id) {
            match name {
                "detailMessage" => thrown.message = value.str(field).map(str::to_owned),
                "cause" if field != id && causes > 0 => {
                    thrown.cause = Self::of(value, field, causes - 1, left).map(Box::new);
                }
                "stackTrace" => {
                    let items = value.items(field).unwrap_or_default();
                    thrown.stack_trace = items.iter().map(|line| element(value, *line)).collect();
                }
                "suppressedExceptions" if causes > 0 => {
                    let items = value.items(field).unwrap_or_default().iter();
                    let read = items.filter_map(|item| Self::of(value, *item, causes - 1, left));
                    thrown.suppressed = read.collect();
                }
                "cause" | "suppressedExceptions" => {}
                _ => thrown.fields.push((name.to_owned(), value.part(field))),
            }
        }
        Some(thrown)
    }

    /// The exception as a value, in the form in which Java throws it again.
    pub fn to_value(&self) -> Value {
        let mut value = Value::empty();
        let root = self.add_to(&mut value);
        value.set_root(root);
        value
    }

    fn add_to(&self, value: &mut Value) -> NodeId {
        let id = value.add(Node::Null);
        let others: Vec<NodeId> = self.suppressed.iter().map(|it| it.add_to(value)).collect();
        let suppressed = value.add(match others.is_empty() {
            true => Node::typed_list("java.util.Collections$EmptyList", others),
            false => Node::List(None, others),
        });
        let lines: Vec<NodeId> =
            self.stack_trace.iter().map(|line| add_element(line, value)).collect();
        let trace = value.add(Node::typed_list("[java.lang.StackTraceElement", lines));
        let cause = self.cause.as_ref().map_or(id, |cause| cause.add_to(value));
        let message = match &self.message {
            Some(message) => value.add_text(message.as_str()),
            None => value.add(Node::Null),
        };
        let mut fields = vec![
            ("suppressedExceptions", suppressed),
            ("stackTrace", trace),
            ("cause", cause),
            ("detailMessage", message),
        ];
        for (name, own) in &self.fields {
            fields.push((name, value.graft(own)));
        }
        value.put(id, Node::object(&self.class, fields));
        id
    }
}

/// The named parts of an object or map, in order.
fn named(value: &Value, id: NodeId) -> Vec<(&str, NodeId)> {
    match value.node(id) {
        Node::Object(shape, values) => {
            shape.fields.iter().map(String::as_str).zip(values.iter().copied()).collect()
        }
        Node::Map(_, pairs) => {
            let named = |(key, item): &(NodeId, NodeId)| Some((value.str(*key)?, *item));
            pairs.iter().filter_map(named).filter(|(name, _)| *name != "class").collect()
        }
        _ => Vec::new(),
    }
}

fn element(value: &Value, id: NodeId) -> StackTraceElement {
    let text = |name| value.get(id, name).and_then(|id| value.str(id)).map(str::to_owned);
    let line = value.get(id, "lineNumber").and_then(|id| value.integer(id));
    StackTraceElement {
        class: text("declaringClass"),
        method: text("methodName"),
        file: text("fileName"),
        line: line.and_then(|line| i32::try_from(line).ok()).unwrap_or(-1),
    }
}

fn add_element(line: &StackTraceElement, value: &mut Value) -> NodeId {
    let mut text = |text: &Option<String>| match text {
        Some(text) => value.add_text(text.as_str()),
        None => value.add(Node::Null),
    };
    let (class, method, file) = (text(&line.class), text(&line.method), text(&line.file));
    let number = value.add(Node::Int(line.line));
    value.add(Node::object(
        "java.lang.StackTraceElement",
        [
            ("lineNumber", number),
            ("fileName", file),
            ("methodName", method),
            ("declaringClass", class),
        ],
    ))
}

impl Serialize for Throwable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return serializer.collect_str(self);
        }
        self.to_value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Throwable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let text = String::deserialize(deserializer)?;
            return text.parse().map_err(D::Error::custom);
        }
        let value = Value::deserialize(deserializer)?;
        Self::from_value(&value).ok_or_else(|| D::Error::custom("an exception is an object"))
    }
}

impl fmt::Display for Throwable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.message {
            Some(message) => write!(f, "{}: {message}", self.class),
            None => f.write_str(&self.class),
        }
    }
}

impl std::error::Error for Throwable {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().map(|cause| &**cause as &(dyn std::error::Error + 'static))
    }
}

impl FromStr for Throwable {
    type Err = ParseError;

    /// Reads `class: message`.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        Ok(match text.split_once(": ") {
            Some((class, message)) => Self::new(class, message),
            None => Self { class: text.to_owned(), ..Self::default() },
        })
    }
}
