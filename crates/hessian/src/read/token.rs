//! What a stream is made of: [`Token`]s, and the entries of a reader's tables.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::text::Text;

/// What comes next in a stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Token<'a> {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// A 32-bit number.
    Int(i32),
    /// A 64-bit number.
    Long(i64),
    /// A floating-point number.
    Double(f64),
    /// Milliseconds since 1970.
    Date(i64),
    /// A string.
    Str(Text<'a>),
    /// Bytes.
    Binary(Cow<'a, [u8]>),
    /// A list starts; `len` elements follow, or as many as there are before [`Token::End`].
    List {
        /// Type name, as an index for [`Reader::type_name`](crate::Reader::type_name).
        ty: Option<usize>,
        /// How many elements, where that was said. Not to be believed.
        len: Option<usize>,
        /// Its number among the started values.
        number: usize,
    },
    /// A map starts: keys and values, up to [`Token::End`].
    Map {
        /// Type name, as an index for [`Reader::type_name`](crate::Reader::type_name).
        ty: Option<usize>,
        /// Its number among the started values.
        number: usize,
    },
    /// An object starts; the values of its class's fields follow.
    Object {
        /// Its class, as an index for [`Reader::class`](crate::Reader::class).
        class: usize,
        /// Its number among the started values.
        number: usize,
    },
    /// The value that was started as this one.
    Ref(usize),
    /// The end of a list without length, or of a map.
    End,
}

/// A class definition.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Class<'a> {
    /// Name of the class.
    pub name: Cow<'a, str>,
    /// Names of its fields, in the order of the values. A name may be there twice.
    pub fields: Vec<Cow<'a, str>>,
    /// Which fields are hidden by a later one of the same name; empty when none is.
    hidden: Vec<bool>,
    /// Offset after the definition.
    pub(super) end: usize,
}

impl<'a> Class<'a> {
    pub(super) const NONE: Class<'static> =
        Class { name: Cow::Borrowed(""), fields: Vec::new(), hidden: Vec::new(), end: 0 };

    pub(super) fn new(name: Cow<'a, str>, fields: Vec<Cow<'a, str>>, end: usize) -> Self {
        let hidden = hidden(&fields);
        Self { name, fields, hidden, end }
    }

    /// Whether a later field has the same name. Typed values take the later one.
    pub fn is_hidden(&self, field: usize) -> bool {
        !self.hidden.is_empty() && self.hidden.get(field).copied().unwrap_or(false)
    }
}

/// Which names come again later.
fn hidden(fields: &[Cow<'_, str>]) -> Vec<bool> {
    // Nearly all classes have no name twice, and nearly all of those show it at a glance.
    let mut seen = 0_u128;
    let twice = fields.iter().any(|field| {
        let (before, bit) = (seen, 1 << (mixed(field) % 128));
        seen |= bit;
        before & bit != 0
    });
    if !twice {
        return Vec::new();
    }
    let mut later = HashSet::with_capacity(fields.len());
    let mut hidden: Vec<bool> = fields.iter().rev().map(|name| !later.insert(name)).collect();
    if hidden.contains(&true) {
        hidden.reverse();
    } else {
        hidden.clear();
    }
    hidden
}

/// A number that differs between most names.
fn mixed(name: &str) -> usize {
    let byte = |at: usize| name.as_bytes().get(at).copied().map_or(0, usize::from);
    let (last, middle) = (name.len().saturating_sub(1), name.len() / 2);
    name.len().wrapping_mul(29)
        ^ byte(0).wrapping_mul(37)
        ^ byte(middle).wrapping_mul(11)
        ^ byte(last)
}

/// A type name.
#[derive(Clone, Debug)]
pub(super) struct Type<'a> {
    pub(super) name: Cow<'a, str>,
    /// Whether it is an array of numbers, booleans or texts, whose elements have no parts.
    pub(super) flat: bool,
    /// Offset after the name.
    pub(super) end: usize,
}

impl<'a> Type<'a> {
    pub(super) fn new(name: Cow<'a, str>, end: usize) -> Self {
        let flat = matches!(
            name.as_ref(),
            "[int" | "[long" | "[short" | "[boolean" | "[double" | "[float" | "[byte" | "[char"
        );
        Self { name, flat, end }
    }
}

/// A list, map or object that was started.
#[derive(Clone, Copy, Debug)]
pub(super) struct Started {
    /// Of its tag. Definitions in front of it are not read again.
    pub(super) offset: u32,
    /// Class definitions before it.
    pub(super) classes: u32,
    /// Type names before it.
    pub(super) types: u32,
    /// Whether it was not read to its end.
    pub(super) open: bool,
}

/// What the reader goes back to after a replay.
#[derive(Clone, Copy, Debug)]
pub struct Resume {
    pub(super) at: usize,
    pub(super) cursor: Cursor,
    /// Where the replay began.
    pub(super) from: usize,
}

/// How many entries of each table belong to what was read before here.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cursor {
    pub(super) started: usize,
    pub(super) classes: usize,
    pub(super) types: usize,
}
