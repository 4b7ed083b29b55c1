//! Why bytes cannot be read, or a value cannot be written.

use std::fmt;
use std::ops::Deref;

/// An error of the codec. Its fields are those of [`Detail`]; it is one pointer wide, because every
/// level of a nested value has room for one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Error(Box<Detail>);

/// What, where in the bytes, and where in the value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Detail {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Offset in bytes from the start of the stream. When writing: how much was written before.
    pub offset: usize,
    /// Where in the value: `order.items[3].price`; empty for the value as a whole or when it is not
    /// known.
    pub path: String,
}

/// What is wrong.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes end in the middle of a value.
    #[error("the input ends in the middle of a value")]
    EndOfInput,
    /// A tag that means nothing.
    #[error("{0:#04x} is no tag")]
    Tag(u8),
    /// Something else than what must stand here.
    #[error("{expected} is expected here, not {found}")]
    Unexpected {
        /// What must stand here.
        expected: &'static str,
        /// What does.
        found: &'static str,
    },
    /// A string that is no sequence of UTF-16 units, each as up to three bytes.
    #[error("a string is not encoded as Hessian has it: {0}")]
    Text(&'static str),
    /// A length, count or index that is negative.
    #[error("{what} is negative: {value}")]
    Negative {
        /// Of what.
        what: &'static str,
        /// The number.
        value: i32,
    },
    /// An index into a table that has no such entry.
    #[error("{what} {index}, but there are {known}")]
    Index {
        /// Which table.
        what: &'static str,
        /// The index.
        index: usize,
        /// Entries of the table.
        known: usize,
    },
    /// A limit is exceeded.
    #[error("more than {limit} {what} (limit {name})")]
    Limit {
        /// The limit's name in [`Limits`](crate::Limits).
        name: &'static str,
        /// Of what there is too much.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// A reference to a list, map or object that is not finished: a cycle, which a typed value
    /// cannot hold.
    #[error("the value contains itself")]
    Cyclic,
    /// A string with half of a surrogate pair, where Rust text is wanted.
    #[error("the text has half of a surrogate pair and is no Unicode")]
    LoneSurrogate,
    /// A number that does not fit where it belongs.
    #[error("{value} does not fit {target}")]
    Range {
        /// The number.
        value: String,
        /// The Rust type.
        target: &'static str,
    },
    /// Bytes after the value.
    #[error("{0} more bytes follow the value")]
    Trailing(usize),
    /// A class that is written with other fields than before in the same stream.
    #[error("class {0} is written with different fields in one stream")]
    Fields(String),
    /// What serde's types say.
    #[error("{0}")]
    Custom(String),
}

impl Deref for Error {
    type Target = Detail;

    fn deref(&self) -> &Detail {
        &self.0
    }
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: ErrorKind, offset: usize) -> Self {
        Self(Box::new(Detail { kind, offset, path: String::new() }))
    }

    /// The same, at an offset that was not known.
    pub(crate) fn at(mut self, offset: usize) -> Self {
        self.0.offset = offset;
        self
    }

    /// The same, inside the field or element `step` (`.name` or `[3]`).
    pub(crate) fn within(mut self, step: fmt::Arguments<'_>) -> Self {
        self.0.path.insert_str(0, &step.to_string());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.trim_start_matches('.') {
            "" => write!(f, "{} (at byte {})", self.kind, self.offset),
            path => write!(f, "{path}: {} (at byte {})", self.kind, self.offset),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        None
    }
}

impl serde::de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(ErrorKind::Custom(message.to_string()), 0)
    }
}

impl serde::ser::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(ErrorKind::Custom(message.to_string()), 0)
    }
}
