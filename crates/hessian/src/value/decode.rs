//! From bytes to a [`Value`]: linear in the input, without recursion, except into values that are
//! before the first one here.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::read::{Reader, Token};
use crate::text::Text;
use crate::value::{Node, NodeId, Shape, Value};

/// What a node costs besides what it holds.
const NODE: usize = size_of::<Node>() + size_of::<NodeId>();
/// From how many nodes on small ones are shared, which have no identity: long arrays of small numbers
/// must not take many times the room of their bytes.
const SHARE_FROM: usize = 256;
/// Ints and longs from -2048 to 2047, and null, the booleans, 0.0 and 1.0.
const SHARED: usize = 2 * 4096 + 5;

impl Value {
    /// The one value of `bytes`, with [`Limits::default`].
    ///
    /// # Errors
    /// The bytes are no Hessian, end early or go on after the value, or exceed a limit.
    pub fn decode(bytes: &[u8]) -> Result<Self, Error> {
        Self::decode_with(bytes, &Limits::default())
    }

    /// The one value of `bytes`.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_with(bytes: &[u8], limits: &Limits) -> Result<Self, Error> {
        let mut reader = Reader::with_limits(bytes, limits);
        let value = Self::read(&mut reader)?;
        match reader.rest().len() {
            0 => Ok(value),
            more => Err(reader.error(ErrorKind::Trailing(more))),
        }
    }

    /// All values of `bytes`, whose tables they share.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_sequence(bytes: &[u8], limits: &Limits) -> Result<Self, Error> {
        let mut reader = Reader::with_limits(bytes, limits);
        let mut decoding = Decoding::new();
        while !reader.at_end() {
            decoding.value(&mut reader)?;
        }
        Ok(decoding.value)
    }

    /// The next value of a stream.
    ///
    /// # Errors
    /// The bytes are no Hessian, end early, exceed a limit, or refer to a value around this one.
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let mut decoding = Decoding { base: reader.started(), ..Decoding::new() };
        decoding.value(reader)?;
        Ok(decoding.value)
    }
}

/// A list, map or object that is not complete.
struct Open {
    id: NodeId,
    number: usize,
    /// Values still to come; `None` is up to the end.
    left: Option<usize>,
    /// A key that waits for its value.
    key: Option<NodeId>,
}

/// The state between the values of a stream.
pub(crate) struct Decoding {
    pub(crate) value: Value,
    /// Nodes by the number they were started as.
    started: Vec<NodeId>,
    /// Values that were started before the first one here.
    base: usize,
    /// Shapes and types by their index in the reader's tables.
    shapes: Vec<Arc<Shape>>,
    types: Vec<Arc<str>>,
    /// Nodes of values before the first one here, by their number.
    copies: HashMap<usize, NodeId>,
    /// Small nodes that are there already; empty in small values.
    shared: Vec<Option<NodeId>>,
}

impl Decoding {
    pub(crate) fn new() -> Self {
        Self {
            value: Value::empty(),
            started: Vec::new(),
            base: 0,
            shapes: Vec::new(),
            types: Vec::new(),
            copies: HashMap::new(),
            shared: Vec::new(),
        }
    }

    /// Reads one more value.
    pub(crate) fn value(&mut self, reader: &mut Reader<'_>) -> Result<NodeId, Error> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            let token = reader.next()?;
            if token == Token::End {
                match open.pop() {
                    Some(Open { left: None, key: None, number, .. }) => reader.finish(number),
                    _ => return Err(reader.unexpected_end()),
                }
            } else {
                let before = open.len();
                let id = self.node(token, reader, &mut open)?;
                self.attach(id, open.get_mut(..before).unwrap_or_default());
            }
            while let Some(Open { left: Some(0), number, .. }) = open.last() {
                let number = *number;
                reader.finish(number);
                open.pop();
            }
            if open.is_empty() {
                let root = self.value.roots.last().copied();
                return root.ok_or_else(|| reader.unexpected_end());
            }
            if open.len() > reader.limits().depth {
                let (name, what) = ("depth", "values within each other");
                let limit = reader.limits().depth;
                return Err(reader.error(ErrorKind::Limit { name, what, limit }));
            }
        }
    }

    /// Puts a node where it belongs: into the innermost of the values that were open before it.
    fn attach(&mut self, id: NodeId, open: &mut [Open]) {
        let Some(outer) = open.last_mut() else { return self.value.roots.push(id) };
        match self.value.nodes.get_mut(outer.id.0 as usize) {
            Some(Node::List(_, items)) => items.push(id),
            Some(Node::Object(_, values)) => values.push(id),
            Some(Node::Map(_, pairs)) => match outer.key.take() {
                Some(key) => pairs.push((key, id)),
                None => outer.key = Some(id),
            },
            _ => {}
        }
        if let Some(left) = &mut outer.left {
            *left = left.saturating_sub(1);
        }
    }

    fn node(
        &mut self,
        token: Token<'_>,
        reader: &mut Reader<'_>,
        open: &mut Vec<Open>,
    ) -> Result<NodeId, Error> {
        let small = self.small(&token, reader)?;
        if let Some(id) = small.and_then(|at| self.shared.get(at).copied().flatten()) {
            reader.take_memory(size_of::<NodeId>())?;
            return Ok(id);
        }
        reader.take_memory(NODE)?;
        let id = NodeId(u32::try_from(self.value.nodes.len()).unwrap_or(u32::MAX));
        let node = match token {
            Token::Ref(number) => {
                let known = self.started.len();
                let kind = ErrorKind::Index { what: "reference", index: number, known };
                let Some(at) = number.checked_sub(self.base) else {
                    return self.copy(number, reader);
                };
                return self.started.get(at).copied().ok_or_else(|| reader.error(kind));
            }
            Token::List { ty, len, number } => {
                self.begin(Open { id, number, left: len, key: None }, open);
                // Each element takes at least a byte.
                let room = len.unwrap_or(0).min(reader.rest().len());
                Node::List(ty.map(|ty| self.ty(ty, reader)), Vec::with_capacity(room.min(1024)))
            }
            Token::Map { ty, number } => {
                self.begin(Open { id, number, left: None, key: None }, open);
                Node::Map(ty.map(|ty| self.ty(ty, reader)), Vec::new())
            }
            Token::Object { class, number } => {
                let shape = self.shape(class, reader);
                let left = Some(shape.fields.len());
                self.begin(Open { id, number, left, key: None }, open);
                Node::Object(shape.clone(), Vec::with_capacity(shape.fields.len().min(1024)))
            }
            Token::Str(Text::Str(text)) => {
                reader.take_memory(text.len())?;
                Node::Str(text.into_owned())
            }
            Token::Str(Text::Utf16(units)) => {
                reader.take_memory(2 * units.len())?;
                Node::Utf16(units)
            }
            Token::Binary(bytes) => {
                reader.take_memory(bytes.len())?;
                Node::Binary(bytes.into_owned())
            }
            Token::Bool(value) => Node::Bool(value),
            Token::Int(value) => Node::Int(value),
            Token::Long(value) => Node::Long(value),
            Token::Double(value) => Node::Double(value),
            Token::Date(value) => Node::Date(value),
            Token::Null | Token::End => Node::Null,
        };
        self.value.nodes.push(node);
        if let Some(place) = small.and_then(|at| self.shared.get_mut(at)) {
            *place = Some(id);
        }
        Ok(id)
    }

    /// Where the node of a token is shared, if it is.
    fn small(
        &mut self,
        token: &Token<'_>,
        reader: &mut Reader<'_>,
    ) -> Result<Option<usize>, Error> {
        if self.value.nodes.len() < SHARE_FROM {
            return Ok(None);
        }
        let at = match *token {
            Token::Int(value @ -2048..=2047) => usize::try_from(value + 2048).ok(),
            Token::Long(value @ -2048..=2047) => usize::try_from(value + 2048 + 4096).ok(),
            Token::Null => Some(2 * 4096),
            Token::Bool(value) => Some(2 * 4096 + 1 + usize::from(value)),
            Token::Double(value) if value.to_bits() == 0 => Some(2 * 4096 + 3),
            Token::Double(value) if value.to_bits() == 1_f64.to_bits() => Some(2 * 4096 + 4),
            _ => None,
        };
        if at.is_some() && self.shared.is_empty() {
            reader.take_memory(SHARED * size_of::<Option<NodeId>>())?;
            self.shared.resize(SHARED, None);
        }
        Ok(at)
    }

    /// A copy of a value before the first one here. What is in it is copied once.
    fn copy(&mut self, number: usize, reader: &mut Reader<'_>) -> Result<NodeId, Error> {
        if let Some(copied) = self.copies.get(&number) {
            return Ok(*copied);
        }
        let resume = reader.replay(number)?;
        let base = std::mem::replace(&mut self.base, number);
        let started = std::mem::take(&mut self.started);
        let copied = self.value(reader);
        self.base = base;
        let again = std::mem::replace(&mut self.started, started);
        self.copies.extend(again.into_iter().enumerate().map(|(at, id)| (number + at, id)));
        self.value.roots.pop();
        reader.resume(resume);
        copied
    }

    fn begin(&mut self, value: Open, open: &mut Vec<Open>) {
        self.started.push(value.id);
        open.push(value);
    }

    fn shape(&mut self, class: usize, reader: &Reader<'_>) -> Arc<Shape> {
        while self.shapes.len() <= class {
            let class = reader.class(self.shapes.len());
            self.shapes.push(Arc::new(Shape {
                name: class.name.clone().into_owned(),
                fields: class.fields.iter().map(|field| field.clone().into_owned()).collect(),
            }));
        }
        self.shapes.get(class).cloned().unwrap_or_default()
    }

    fn ty(&mut self, ty: usize, reader: &Reader<'_>) -> Arc<str> {
        while self.types.len() <= ty {
            self.types.push(reader.type_name(self.types.len()).as_ref().into());
        }
        self.types.get(ty).cloned().unwrap_or_else(|| "".into())
    }
}
