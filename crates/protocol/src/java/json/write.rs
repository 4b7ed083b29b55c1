//! From JSON to a Java value, by declared type. Recursion is bounded by the JSON parser's own limit.

use equipoise_hessian::{Node, NodeId, Value};
use serde_json::{Number, Value as Json};

use super::JsonError;
use crate::java::handles;
use crate::java::types::{Element, JavaType, Primitive};

type Put = Result<NodeId, JsonError>;

/// Adds the value of `json` and gives its node.
pub(super) fn put(into: &mut Value, json: &Json, ty: Option<&JavaType>) -> Put {
    let Some(ty) = ty else { return natural(into, json) };
    if let Some(component) = ty.component() {
        return array(into, json, ty, &component);
    }
    match &ty.element {
        Element::Primitive(_) if json.is_null() => Err(JsonError::new(format!("null is no {ty}"))),
        Element::Primitive(primitive) => scalar(into, json, *primitive),
        Element::Class(_) if json.is_null() => Ok(into.add(Node::Null)),
        Element::Class(class) => of_class(into, json, class),
    }
}

/// What the JSON looks like.
fn natural(into: &mut Value, json: &Json) -> Put {
    let node = match json {
        Json::Null => Node::Null,
        Json::Bool(value) => Node::Bool(*value),
        Json::Number(number) => number_node(number)?,
        Json::String(text) => Node::Str(text.clone()),
        Json::Array(items) => Node::List(None, elements(into, items, None)?),
        Json::Object(entries) => return map(into, entries, None),
    };
    Ok(into.add(node))
}

fn number_node(number: &Number) -> Result<Node, JsonError> {
    if let Some(value) = number.as_i64() {
        return Ok(i32::try_from(value).map_or(Node::Long(value), Node::Int));
    }
    if number.is_u64() {
        let text = format!("{number} does not fit long; declare it java.math.BigInteger");
        return Err(JsonError::new(text));
    }
    number.as_f64().map(Node::Double).ok_or_else(|| wrong(&Json::Number(number.clone()), "double"))
}

fn elements(
    into: &mut Value,
    items: &[Json],
    ty: Option<&JavaType>,
) -> Result<Vec<NodeId>, JsonError> {
    let element = |(at, item)| {
        put(into, item, ty).map_err(|error: JsonError| error.within(format_args!("[{at}]")))
    };
    items.iter().enumerate().map(element).collect()
}

fn map(into: &mut Value, entries: &serde_json::Map<String, Json>, ty: Option<&str>) -> Put {
    let mut pairs = Vec::with_capacity(entries.len());
    for (name, json) in entries {
        let key = into.add_text(name);
        let value = natural(into, json).map_err(|error| error.within(format_args!(".{name}")))?;
        pairs.push((key, value));
    }
    Ok(into.add(Node::Map(ty.map(Into::into), pairs)))
}

fn array(into: &mut Value, json: &Json, ty: &JavaType, component: &JavaType) -> Put {
    match (json, component.primitive_of()) {
        (Json::Null, _) => Ok(into.add(Node::Null)),
        (Json::String(text), Some(Primitive::Byte)) => {
            let bytes = handles::bytes(text);
            let bytes = bytes.ok_or_else(|| JsonError::new("the text is no base64"))?;
            Ok(into.add(Node::Binary(bytes)))
        }
        (_, Some(Primitive::Byte)) => Err(expects(json, ty, "base64 text")),
        (Json::String(text), Some(Primitive::Char)) => Ok(into.add_text(text)),
        (_, Some(Primitive::Char)) => Err(expects(json, ty, "text")),
        (Json::Array(items), _) => {
            let items = elements(into, items, Some(component))?;
            let name = ty.list_type().unwrap_or_default();
            Ok(into.add(Node::typed_list(&name, items)))
        }
        _ => Err(expects(json, ty, "an array")),
    }
}

/// A value of a primitive type or of its class.
fn scalar(into: &mut Value, json: &Json, ty: Primitive) -> Put {
    let node = match (ty, json) {
        (Primitive::Boolean, Json::Bool(value)) => Node::Bool(*value),
        (Primitive::Byte, Json::Number(number)) => int::<i8>(number, ty)?,
        (Primitive::Short, Json::Number(number)) => int::<i16>(number, ty)?,
        (Primitive::Int, Json::Number(number)) => int::<i32>(number, ty)?,
        (Primitive::Long, Json::Number(number)) => Node::Long(integer(number, ty)?),
        (Primitive::Float, Json::Number(number)) => {
            let value = float(number)?;
            if value.abs() > f64::from(f32::MAX) {
                return Err(wrong(json, ty.name()));
            }
            Node::Double(value)
        }
        (Primitive::Double, Json::Number(number)) => Node::Double(float(number)?),
        (Primitive::Float | Primitive::Double, Json::String(text)) => match text.as_str() {
            "NaN" => Node::Double(f64::NAN),
            "Infinity" => Node::Double(f64::INFINITY),
            "-Infinity" => Node::Double(f64::NEG_INFINITY),
            _ => return Err(wrong(json, ty.name())),
        },
        (Primitive::Char, Json::String(text)) if text.encode_utf16().count() == 1 => {
            Node::Str(text.clone())
        }
        _ => return Err(wrong(json, ty.name())),
    };
    Ok(into.add(node))
}

fn integer(number: &Number, ty: Primitive) -> Result<i64, JsonError> {
    number.as_i64().ok_or_else(|| wrong(&Json::Number(number.clone()), ty.name()))
}

fn int<T: TryFrom<i64> + Into<i32>>(number: &Number, ty: Primitive) -> Result<Node, JsonError> {
    let value = T::try_from(integer(number, ty)?);
    let value = value.map_err(|_| wrong(&Json::Number(number.clone()), ty.name()))?;
    Ok(Node::Int(value.into()))
}

fn float(number: &Number) -> Result<f64, JsonError> {
    number.as_f64().ok_or_else(|| wrong(&Json::Number(number.clone()), "double"))
}

/// A value, not null, of a class.
fn of_class(into: &mut Value, json: &Json, class: &str) -> Put {
    if let Some(primitive) = boxed(class) {
        return scalar(into, json, primitive);
    }
    if handles::is_date(class) {
        let millis = match json {
            Json::Number(number) => number.as_i64(),
            Json::String(text) => handles::millis(text),
            _ => None,
        };
        let example = "milliseconds since 1970 or text like 2024-12-31T10:15:30Z";
        let millis = millis.ok_or_else(|| expects(json, &class, example))?;
        return Ok(handles::of_millis(class, millis, into));
    }
    // Numbers are fine where the text is that of a number.
    let text = match json {
        Json::String(text) => text.clone(),
        Json::Number(number) if is_number(class) => number.to_string(),
        _ => String::new(),
    };
    if let Some(read) = handles::of_text(class, &text, into) {
        return read.map_err(|example| expects(json, &class, &format!("text like {example}")));
    }
    match class {
        "java.lang.String" | "java.lang.CharSequence" => match json {
            Json::String(text) => Ok(into.add_text(text)),
            _ => Err(expects(json, &class, "text")),
        },
        "java.lang.Number" => match json {
            Json::Number(_) => natural(into, json),
            _ => Err(expects(json, &class, "a number")),
        },
        "java.util.concurrent.atomic.AtomicInteger" => wrapped(into, json, class, Primitive::Int),
        "java.util.concurrent.atomic.AtomicLong" => wrapped(into, json, class, Primitive::Long),
        "java.util.concurrent.atomic.AtomicBoolean" => {
            wrapped(into, json, class, Primitive::Boolean)
        }
        "java.util.Optional" => {
            let value = natural(into, json)?;
            Ok(into.add(Node::object(class, [("value", value)])))
        }
        _ => collection(into, json, class),
    }
}

fn is_number(class: &str) -> bool {
    matches!(class, "java.math.BigDecimal" | "java.math.BigInteger" | "java.time.Year")
}

fn boxed(class: &str) -> Option<Primitive> {
    Some(match class.strip_prefix("java.lang.")? {
        "Boolean" => Primitive::Boolean,
        "Byte" => Primitive::Byte,
        "Character" => Primitive::Char,
        "Short" => Primitive::Short,
        "Integer" => Primitive::Int,
        "Long" => Primitive::Long,
        "Float" => Primitive::Float,
        "Double" => Primitive::Double,
        _ => return None,
    })
}

fn wrapped(into: &mut Value, json: &Json, class: &str, of: Primitive) -> Put {
    let value = scalar(into, json, of)?;
    Ok(into.add(Node::object(class, [("value", value)])))
}

/// What a declared collection or map travels as.
enum Container {
    /// A list; `None` is Java's `ArrayList`.
    List(Option<&'static str>),
    /// A map; `None` is Java's `HashMap`.
    Map(Option<&'static str>),
}

/// The class that stands for an interface of `java.util` is the one that Java itself would take.
fn container(class: &str) -> Option<Container> {
    use Container::{List, Map};
    if class == "java.lang.Iterable" {
        return Some(List(None));
    }
    Some(match class.strip_prefix("java.util.")? {
        "Collection" | "List" | "ArrayList" | "AbstractList" | "AbstractCollection" => List(None),
        "Set" | "HashSet" | "AbstractSet" => List(Some("java.util.HashSet")),
        "LinkedHashSet" => List(Some("java.util.LinkedHashSet")),
        "SortedSet" | "NavigableSet" | "TreeSet" => List(Some("java.util.TreeSet")),
        "LinkedList" | "Queue" | "Deque" => List(Some("java.util.LinkedList")),
        "ArrayDeque" => List(Some("java.util.ArrayDeque")),
        "PriorityQueue" => List(Some("java.util.PriorityQueue")),
        "Vector" => List(Some("java.util.Vector")),
        "Map" | "HashMap" | "AbstractMap" => Map(None),
        "LinkedHashMap" => Map(Some("java.util.LinkedHashMap")),
        "SortedMap" | "NavigableMap" | "TreeMap" => Map(Some("java.util.TreeMap")),
        "Hashtable" => Map(Some("java.util.Hashtable")),
        "Properties" => Map(Some("java.util.Properties")),
        "concurrent.ConcurrentMap" | "concurrent.ConcurrentHashMap" => {
            Map(Some("java.util.concurrent.ConcurrentHashMap"))
        }
        _ => return None,
    })
}

/// A collection, a map, or a class that only the provider knows.
fn collection(into: &mut Value, json: &Json, class: &str) -> Put {
    match (container(class), json) {
        (None, _) => natural(into, json),
        (Some(Container::List(ty)), Json::Array(items)) => {
            let items = elements(into, items, None)?;
            Ok(into.add(Node::List(ty.map(Into::into), items)))
        }
        (Some(Container::Map(ty)), Json::Object(entries)) => map(into, entries, ty),
        (Some(Container::List(_)), _) => Err(expects(json, &class, "an array")),
        (Some(Container::Map(_)), _) => Err(expects(json, &class, "an object")),
    }
}

/// A value that is not in the range of its type, or of another kind.
fn wrong(json: &Json, ty: &str) -> JsonError {
    JsonError::new(format!("{} is no {ty}", shown(json)))
}

fn expects(json: &Json, ty: &dyn std::fmt::Display, what: &str) -> JsonError {
    JsonError::new(format!("{} is no {ty}, which is {what}", shown(json)))
}

fn shown(json: &Json) -> String {
    match json {
        Json::Array(_) => "an array".to_owned(),
        Json::Object(_) => "an object".to_owned(),
        Json::String(text) if text.len() > 60 => "the text".to_owned(),
        other => other.to_string(),
    }
}
