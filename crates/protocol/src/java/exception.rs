//! Java's exceptions as plain data: read from the object that travelled, and built for a provider to
//! throw.
//!
//! On the wire an exception is an object of its class with the fields `detailMessage`, `cause`,
//! `stackTrace`, `suppressedExceptions` and its own. One without a cause is its own cause.

use std::collections::HashSet;
use std::fmt;

use equipoise_core::outcome::Exception;
use equipoise_hessian::{Error, Node, NodeId, Value};

use crate::java::graph;

/// How many times the places of a document may be copied into the fields of exceptions, which do not
/// share them any more; fields beyond that are left out.
const COPIES: usize = 8;

/// Causes that are followed. More of them is a chain that nobody built by hand.
const MOST_CAUSES: usize = 256;

const MESSAGE: &str = "detailMessage";
const CAUSE: &str = "cause";
const STACK: &str = "stackTrace";
const SUPPRESSED: &str = "suppressedExceptions";

/// An exception.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JavaException {
    /// Name of its class.
    pub class: String,
    /// Its message.
    pub message: Option<String>,
    /// What caused it.
    pub cause: Option<Box<JavaException>>,
    /// Where it was thrown, innermost first.
    pub stack: Vec<StackFrame>,
    /// The fields that its class adds, in the order of the wire.
    pub fields: Vec<(String, Value)>,
}

/// One line of a stack trace.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct StackFrame {
    /// Name of the class.
    pub class: String,
    /// Name of the method.
    pub method: String,
    /// Name of the file, where it is known.
    pub file: Option<String>,
    /// Line in the file; negative where there is none.
    pub line: i32,
}

impl JavaException {
    /// An exception of `class`, without cause, stack trace and fields of its own.
    pub fn new(class: impl Into<String>, message: impl Into<String>) -> Self {
        Self { class: class.into(), message: Some(message.into()), ..Self::default() }
    }

    /// With one more field of its class.
    pub fn with(mut self, name: impl Into<String>, value: Value) -> Self {
        self.fields.push((name.into(), value));
        self
    }

    /// With a cause.
    pub fn caused_by(mut self, cause: JavaException) -> Self {
        self.cause = Some(Box::new(cause));
        self
    }

    /// The field of that name that its class adds, if it is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        let (_, value) = self.fields.iter().rev().find(|(field, _)| field == name)?;
        value.str(value.root())
    }

    /// Reads the one exception in `bytes`, its causes included. What is no exception gives its class
    /// and what there is of the rest.
    ///
    /// # Errors
    /// The bytes are no Hessian, or exceed its default limits.
    pub fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let value = Value::decode(bytes)?;
        Ok(Self::read(&value, value.root()))
    }

    /// Reads the exception that a node is.
    pub fn read(value: &Value, root: NodeId) -> Self {
        let mut seen = HashSet::from([root]);
        let mut room = graph::places(value, root).saturating_mul(COPIES);
        let mut chain = vec![one(value, root, &mut room)];
        let mut at = root;
        while let Some(cause) = value.get(at, CAUSE)
            && value.node(cause).is_container()
            && seen.insert(cause)
            && chain.len() < MOST_CAUSES
        {
            chain.push(one(value, cause, &mut room));
            at = cause;
        }
        let mut read = chain.pop().unwrap_or_default();
        while let Some(outer) = chain.pop() {
            read = outer.caused_by(read);
        }
        read
    }

    /// As a value, to be put into another one.
    pub fn to_value(&self) -> Value {
        let mut value = Value::empty();
        let mut chain = Vec::new();
        let mut next = Some(self);
        while let Some(exception) = next {
            chain.push((exception, value.add(Node::Null)));
            next = exception.cause.as_deref();
        }
        for (at, (exception, id)) in chain.iter().enumerate() {
            let cause = chain.get(at + 1).map_or(*id, |(_, cause)| *cause);
            exception.write(&mut value, *id, cause);
        }
        if let Some((_, root)) = chain.first() {
            value.set_root(*root);
        }
        value
    }

    /// As it travels.
    pub fn to_exception(&self) -> Exception {
        Exception { class: self.class.clone(), body: self.to_value().encode().into() }
    }

    fn write(&self, value: &mut Value, id: NodeId, cause: NodeId) {
        let suppressed = Node::typed_list("java.util.Collections$EmptyList", Vec::new());
        let suppressed = value.add(suppressed);
        let frames: Vec<_> = self.stack.iter().map(|frame| frame.write(value)).collect();
        let stack = value.add(Node::typed_list("[java.lang.StackTraceElement", frames));
        let message = match &self.message {
            Some(text) => value.add_text(text),
            None => value.add(Node::Null),
        };
        let own: Vec<_> =
            self.fields.iter().map(|(name, field)| (name.as_str(), value.graft(field))).collect();
        let base = [(SUPPRESSED, suppressed), (STACK, stack), (CAUSE, cause), (MESSAGE, message)];
        value.put(id, Node::object(&self.class, base.into_iter().chain(own)));
    }
}

/// `com.acme.Full: no room`, as Java prints it.
impl fmt::Display for JavaException {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.message {
            Some(message) => write!(f, "{}: {message}", self.class),
            None => f.write_str(&self.class),
        }
    }
}

impl StackFrame {
    fn write(&self, value: &mut Value) -> NodeId {
        let class = value.add_text(&self.class);
        let method = value.add_text(&self.method);
        let file = match &self.file {
            Some(file) => value.add_text(file),
            None => value.add(Node::Null),
        };
        let line = value.add(Node::Int(self.line));
        let fields = [
            ("declaringClass", class),
            ("methodName", method),
            ("fileName", file),
            ("lineNumber", line),
        ];
        value.add(Node::object("java.lang.StackTraceElement", fields))
    }

    fn read(value: &Value, id: NodeId) -> Self {
        let text = |name| value.get(id, name).and_then(|id| value.str(id)).map(str::to_owned);
        let line = value.get(id, "lineNumber").and_then(|id| value.integer(id));
        Self {
            class: text("declaringClass").unwrap_or_default(),
            method: text("methodName").unwrap_or_default(),
            file: text("fileName"),
            line: line.and_then(|line| i32::try_from(line).ok()).unwrap_or(-1),
        }
    }
}

/// One exception without its cause. `room` is how many more places may be copied.
fn one(value: &Value, id: NodeId, room: &mut usize) -> JavaException {
    let message = value.get(id, MESSAGE).and_then(|id| text(value, id));
    let stack = value.get(id, STACK).and_then(|id| value.items(id)).unwrap_or_default();
    let fields = match value.node(id) {
        Node::Object(shape, values) => shape
            .fields
            .iter()
            .zip(values)
            .filter(|(name, _)| ![MESSAGE, CAUSE, STACK, SUPPRESSED].contains(&name.as_str()))
            .map_while(|(name, field)| {
                *room = room.checked_sub(1)?;
                let field = value.part(*field);
                *room = room.saturating_sub(graph::places(&field, field.root()));
                Some((name.clone(), field))
            })
            .collect(),
        _ => Vec::new(),
    };
    JavaException {
        class: class(value, id),
        message,
        cause: None,
        stack: stack.iter().map(|frame| StackFrame::read(value, *frame)).collect(),
        fields,
    }
}

/// The class of an object, or of a map that says it.
fn class(value: &Value, id: NodeId) -> String {
    let said = || value.get(id, "class").and_then(|id| value.str(id));
    value.class(id).or_else(said).unwrap_or("java.lang.Throwable").to_owned()
}

fn text(value: &Value, id: NodeId) -> Option<String> {
    match value.node(id) {
        Node::Str(text) => Some(text.clone()),
        Node::Utf16(units) => Some(String::from_utf16_lossy(units)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(name: &str) -> Vec<u8> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/hessian2.json");
        let all: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let rows = all["vectors"].as_array().unwrap();
        let row = rows.iter().find(|row| row["id"] == name).unwrap();
        equipoise_hessian::unhex(row["hex"].as_str().unwrap()).unwrap()
    }

    #[test]
    fn what_java_sends_is_read() {
        let read = JavaException::decode(&vector("exc_runtime")).unwrap();
        assert_eq!(read.to_string(), "java.lang.RuntimeException: boom");
        assert_eq!((read.cause.as_deref(), read.stack.len()), (None, 1));
        assert!(!read.stack[0].method.is_empty() && read.stack[0].line > 0, "{read:?}");
    }

    #[test]
    fn what_is_built_is_read_again_with_its_causes() {
        let inner = JavaException::new("a.Inner", "why");
        let mut built = JavaException::new("a.Outer", "what")
            .with("code", Value::of(Node::Int(7)))
            .with("name", Value::text("x"))
            .caused_by(inner);
        built.stack.push(StackFrame {
            class: "a.B".into(),
            method: "m".into(),
            file: Some("B.java".into()),
            line: 3,
        });
        let exception = built.to_exception();
        assert_eq!(exception.class, "a.Outer");
        let read = JavaException::decode(&exception.body).unwrap();
        assert_eq!(read, built);
        assert_eq!(
            (read.text("name"), read.text("code"), read.text("none")),
            (Some("x"), None, None)
        );
    }

    #[test]
    fn one_without_a_cause_is_its_own() {
        let mut bare = JavaException::new("a.B", "");
        bare.message = None;
        let value = Value::decode(&bare.to_exception().body).unwrap();
        assert_eq!(value.get(value.root(), CAUSE), Some(value.root()));
        let stack = value.get(value.root(), STACK).unwrap();
        assert_eq!(value.class(stack), Some("[java.lang.StackTraceElement"));
        assert_eq!(JavaException::decode(&bare.to_exception().body).unwrap(), bare);
        assert_eq!(bare.to_string(), "a.B");
    }

    #[test]
    fn causes_in_a_circle_end() {
        let mut value = Value::empty();
        let (a, b) = (value.add(Node::Null), value.add(Node::Null));
        value.put(a, Node::object("a.A", [(CAUSE, b)]));
        value.put(b, Node::object("a.B", [(CAUSE, a)]));
        value.set_root(a);
        let read = JavaException::decode(&value.encode()).unwrap();
        assert_eq!(read.cause.as_deref().map(|cause| cause.class.as_str()), Some("a.B"));
        assert_eq!(read.cause.unwrap().cause, None);
    }

    #[test]
    fn what_is_no_exception_is_read_as_far_as_it_goes() {
        for (value, class) in [
            (Value::text("x"), "java.lang.Throwable"),
            (Value::null(), "java.lang.Throwable"),
            (Value::of(Node::Map(Some("a.M".into()), vec![])), "a.M"),
        ] {
            assert_eq!(JavaException::decode(&value.encode()).unwrap().class, class);
        }
        assert!(JavaException::decode(&[0x43]).is_err());
    }

    #[test]
    fn fields_that_share_a_lot_are_not_copied_without_end() {
        let mut value = Value::empty();
        let items = (0..1000).map(|_| value.add(Node::Null)).collect();
        let list = value.add(Node::List(None, items));
        let names: Vec<String> = (0..500).map(|at| format!("f{at}")).collect();
        let object = Node::object("a.B", names.iter().map(|name| (name.as_str(), list)));
        let root = value.add(object);
        value.set_root(root);
        let read = JavaException::decode(&value.encode()).unwrap();
        let copied: usize =
            read.fields.iter().map(|(_, field)| graph::places(field, field.root())).sum();
        assert!(copied <= (COPIES + 1) * graph::places(&value, root), "{copied}");
        let first = &read.fields[0].1;
        assert_eq!(first.items(first.root()).map(<[_]>::len), Some(1000));
    }
}
