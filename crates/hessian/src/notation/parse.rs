//! From the exact notation to a [`Value`].

use std::sync::Arc;

use serde_json::Value as Json;

use super::{DEPTH, unhex};
use crate::error::{Error, ErrorKind};
use crate::value::{Node, NodeId, Shape, Value};

impl Value {
    /// The value that [`to_notation`](Self::to_notation) wrote. Three more forms describe long data:
    /// `["strrep",text,n]` and `["strcat",[[text,n],…]]` are texts n times, `["binpat",n]` is n bytes
    /// that count up.
    ///
    /// # Errors
    /// It is no such notation; says where.
    pub fn from_notation(notation: &Json) -> Result<Self, Error> {
        let mut parsing = Parsing { value: Value::empty(), started: Vec::new() };
        let root = parsing.node(notation, 0)?;
        parsing.value.set_root(root);
        Ok(parsing.value)
    }
}

struct Parsing {
    value: Value,
    /// Containers by the number they were started as.
    started: Vec<NodeId>,
}

fn wrong(what: &str) -> Error {
    Error::new(ErrorKind::Custom(format!("the notation has no {what} here")), 0)
}

fn text(of: Option<&Json>) -> Result<&str, Error> {
    of.and_then(Json::as_str).ok_or_else(|| wrong("text"))
}

fn all(of: Option<&Json>) -> Result<&[Json], Error> {
    of.and_then(Json::as_array).map(Vec::as_slice).ok_or_else(|| wrong("array"))
}

fn count(of: Option<&Json>) -> Result<usize, Error> {
    let number = of.and_then(Json::as_u64).and_then(|number| usize::try_from(number).ok());
    number.filter(|number| *number <= 1 << 28).ok_or_else(|| wrong("count"))
}

impl Parsing {
    fn node(&mut self, notation: &Json, depth: usize) -> Result<NodeId, Error> {
        if depth > DEPTH {
            return Err(wrong("room for more levels"));
        }
        let parts = all(Some(notation))?;
        let kind = text(parts.first())?;
        if kind == "ref" {
            let number = count(parts.get(1))?;
            return self.started.get(number).copied().ok_or_else(|| wrong("value of that number"));
        }
        if !matches!(kind, "list" | "map" | "object") {
            return Ok(self.value.add(plain(kind, parts)?));
        }
        let id = self.value.add(Node::Null);
        self.started.push(id);
        let mut into = empty(kind, parts)?;
        for (at, part) in all(parts.get(2))?.iter().enumerate() {
            self.part(part, &mut into, depth)
                .map_err(|error| error.within(format_args!("[{at}]")))?;
        }
        self.value.put(id, into);
        Ok(id)
    }

    /// One element, entry or field.
    fn part(&mut self, part: &Json, into: &mut Node, depth: usize) -> Result<(), Error> {
        match into {
            Node::List(_, items) => items.push(self.node(part, depth + 1)?),
            Node::Map(_, pairs) => {
                let [key, value] = all(Some(part))? else { return Err(wrong("pair")) };
                let key = self.node(key, depth + 1)?;
                pairs.push((key, self.node(value, depth + 1)?));
            }
            Node::Object(_, values) => {
                let [_, value] = all(Some(part))? else { return Err(wrong("field")) };
                values.push(self.node(value, depth + 1)?);
            }
            _ => {}
        }
        Ok(())
    }
}

/// A container with nothing in it yet.
fn empty(kind: &str, parts: &[Json]) -> Result<Node, Error> {
    let ty = || match parts.get(1) {
        Some(Json::Null) => Ok(None),
        name => text(name).map(|name| Some(Arc::from(name))),
    };
    Ok(match kind {
        "list" => Node::List(ty()?, Vec::new()),
        "map" => Node::Map(ty()?, Vec::new()),
        _ => {
            let name = |field: &Json| Ok(text(field.get(0))?.to_owned());
            let fields = all(parts.get(2))?.iter().map(name).collect::<Result<_, Error>>()?;
            let shape = Shape { name: text(parts.get(1))?.to_owned(), fields };
            Node::Object(Arc::new(shape), Vec::new())
        }
    })
}

/// A node that is no container.
fn plain(kind: &str, parts: &[Json]) -> Result<Node, Error> {
    let first = parts.get(1);
    let bytes = || unhex(text(first)?).map_err(|_| wrong("hex"));
    Ok(match kind {
        "null" => Node::Null,
        "bool" => Node::Bool(first.and_then(Json::as_bool).ok_or_else(|| wrong("boolean"))?),
        "int" => {
            let number = first.and_then(Json::as_i64).and_then(|number| i32::try_from(number).ok());
            Node::Int(number.ok_or_else(|| wrong("int"))?)
        }
        "long" => Node::Long(text(first)?.parse().map_err(|_| wrong("long"))?),
        "double" => Node::Double(double(text(first)?)?),
        "date" => Node::Date(first.and_then(Json::as_i64).ok_or_else(|| wrong("date"))?),
        "string" => Node::Str(text(first)?.to_owned()),
        "utf16" => utf16(&bytes()?)?,
        "strrep" => Node::Str(repeated(text(first)?, parts.get(2))?),
        "strcat" => {
            let part = |part: &Json| repeated(text(part.get(0))?, part.get(1));
            Node::Str(all(first)?.iter().map(part).collect::<Result<_, Error>>()?)
        }
        "binary" => Node::Binary(bytes()?),
        // The low eight bits are what counts up.
        "binpat" => Node::Binary((0..count(first)?).map(|at| at as u8).collect()),
        _ => return Err(wrong("such kind of value")),
    })
}

fn double(text: &str) -> Result<f64, Error> {
    match text {
        "NaN" => Ok(f64::NAN),
        "Infinity" => Ok(f64::INFINITY),
        "-Infinity" => Ok(f64::NEG_INFINITY),
        number => number.parse().map_err(|_| wrong("double")),
    }
}

fn repeated(text: &str, times: Option<&Json>) -> Result<String, Error> {
    let times = count(times)?;
    match text.len().checked_mul(times) {
        Some(0..=0x1000_0000) => Ok(text.repeat(times)),
        _ => Err(wrong("room for so long a text")),
    }
}

/// Units are Unicode where they can be.
fn utf16(bytes: &[u8]) -> Result<Node, Error> {
    let (pairs, []) = bytes.as_chunks::<2>() else { return Err(wrong("whole unit")) };
    let units: Vec<u16> = pairs.iter().map(|pair| u16::from_be_bytes(*pair)).collect();
    Ok(match String::from_utf16(&units) {
        Ok(text) => Node::Str(text),
        Err(_) => Node::Utf16(units),
    })
}
