//! JSON for Java values, both ways: the one place that knows what a JSON value is where a Java type is
//! declared.
//!
//! | Declared | JSON | travels as |
//! |---|---|---|
//! | nothing, `Object`, `Number` | integer | `int` if it fits, else `long` |
//! | | number with fraction or exponent | `double` |
//! | | array, object | list, map without a type |
//! | `byte` … `long` and their classes | integer within the type | `int` or `long` |
//! | `float`, `double` | number; `"NaN"`, `"Infinity"`, `"-Infinity"` | `double` |
//! | `char`, `String`, `char[]` | text | string |
//! | `BigDecimal`, `BigInteger` | text, or a number | object of the class |
//! | `java.util.Date`, `java.sql.*` | milliseconds since 1970, or RFC 3339 text | date |
//! | `java.time.*` | ISO 8601 text | handle of Dubbo's Hessian |
//! | `UUID`, `Locale`, `Class`, `File` | text | object |
//! | `byte[]` | base64 text | binary |
//! | other arrays | array | typed list, elements by their type |
//! | collections, maps | array, object | list, map, typed where the class is not the default |
//! | any other class | text (an enum's name), object | as it is; `class` only where it was written |
//!
//! Back: `long` stays an integer, `double` a number or one of the three texts, binary is base64, a date
//! milliseconds, an object a JSON object with `class`; what has a text above is that text. A node that
//! is met again is copied; one that contains itself is `{"$ref":n}`, the n-th list, map or object.

mod read;
#[cfg(test)]
mod tests;
mod write;

use std::fmt;

use bytes::Bytes;
use equipoise_hessian::{Limits, Value};
use serde_json::Value as Json;

use crate::java::types::{self, JavaType};

/// JSON and Java do not fit together, and where.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct JsonError {
    /// Where: `argument 0.items[3]`; empty for the value as a whole.
    pub place: String,
    /// What does not fit.
    pub reason: String,
}

impl JsonError {
    fn new(reason: impl Into<String>) -> Self {
        Self { place: String::new(), reason: reason.into() }
    }

    /// The same, inside `step`.
    fn within(mut self, step: fmt::Arguments<'_>) -> Self {
        self.place.insert_str(0, &step.to_string());
        self
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.trim_start_matches('.') {
            "" => f.write_str(&self.reason),
            place => write!(f, "{place}: {}", self.reason),
        }
    }
}

impl std::error::Error for JsonError {}

/// The arguments in a JSON document: the elements of a top-level array, else the one value; an empty
/// document has none. Without types, values become what they look like.
///
/// # Errors
/// The document is no JSON, has another number of arguments than there are types, or an argument does
/// not fit its type; the error names it.
pub fn arguments(document: &[u8], types: Option<&[JavaType]>) -> Result<Vec<Value>, JsonError> {
    let items = match document.trim_ascii() {
        b"" => Vec::new(),
        document => match serde_json::from_slice(document) {
            Ok(Json::Array(items)) => items,
            Ok(Json::Null) if types.is_some_and(<[_]>::is_empty) => Vec::new(),
            Ok(single) => vec![single],
            Err(error) => {
                return Err(JsonError::new(format!("the arguments are no JSON: {error}")));
            }
        },
    };
    if let Some(types) = types
        && types.len() != items.len()
    {
        return Err(JsonError::new(format!(
            "{} arguments for {} parameters ({}); a top-level array is the list of arguments",
            items.len(),
            types.len(),
            types::list(types),
        )));
    }
    let ty = |at| types.and_then(|types| types.get(at));
    let value = |(at, item)| {
        to_value(item, ty(at)).map_err(|error| error.within(format_args!("argument {at}")))
    };
    items.iter().enumerate().map(value).collect()
}

/// The Java value that a JSON value is where `ty` is declared, or by its looks.
///
/// # Errors
/// It does not fit the type.
pub fn to_value(json: &Json, ty: Option<&JavaType>) -> Result<Value, JsonError> {
    let mut value = Value::empty();
    let root = write::put(&mut value, json, ty)?;
    value.set_root(root);
    Ok(value)
}

/// The JSON of a Java value.
///
/// # Errors
/// It is nested too deeply, or copying what it shares would make it many times larger.
pub fn from_value(value: &Value) -> Result<Json, JsonError> {
    read::json(value, value.root())
}

/// The JSON document of one Hessian value in a stream of its own.
///
/// # Errors
/// The bytes are no Hessian; else as [`from_value`].
pub fn document(hessian: &[u8]) -> Result<Bytes, JsonError> {
    let value = decode(hessian).map_err(|error| JsonError::new(error.to_string()))?;
    Ok(from_value(&value)?.to_string().into())
}

/// Reads a value that has passed the limit on messages already.
pub(crate) fn decode(hessian: &[u8]) -> Result<Value, equipoise_hessian::Error> {
    let limits = Limits::for_payload(hessian.len().max(crate::MAX_MESSAGE_BYTES));
    Value::decode_with(hessian, &limits)
}
