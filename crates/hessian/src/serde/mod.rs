//! Typed values through serde, both ways.
//!
//! # What becomes what
//!
//! | Rust | Hessian |
//! |---|---|
//! | `i8`, `i16`, `i32`, `u8`, `u16` | int |
//! | `i64`, `u32`, `u64` (in range) | long |
//! | `f32` (by its decimal text, as Java does), `f64` | double |
//! | `bool`, `char`, text, bytes | boolean, string, string, binary |
//! | `None`, `()` | null |
//! | sequence, tuple | list without a type |
//! | map, struct whose name has no dot | map without a type |
//! | struct whose name has a dot | object of that class |
//! | constant of an enum whose name has a dot | object of that class with a field `name` |
//! | other enums | text, or a map with one entry |
//!
//! Names of newtype structs that mean something: [`LIST`] and [`MAP`] followed by a type make a typed
//! list or map, [`DATE`] makes milliseconds a date, [`VALUE`] carries a [`Value`]; the unit struct
//! [`THIS`] is a reference to the object that it stands in. All others are transparent.
//!
//! Reading is lenient as Java is: numbers convert where they fit, an object, a typed and an untyped
//! map all make a struct, and of a repeated field the last counts.

mod de;
mod document;
mod ser;

use ::serde::{Deserialize, Serialize};
use bytes::Bytes;

use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::read::Reader;
use crate::value::Value;
use crate::write::Writer;

/// Before the type of a list in the name of a newtype struct: `$list:java.util.HashSet`, `$list:[int`.
pub const LIST: &str = "$list:";
/// Before the type of a map in the name of a newtype struct.
pub const MAP: &str = "$map:";
/// Name of a newtype struct that holds the milliseconds of a date.
pub const DATE: &str = "$date";
/// Name of a newtype struct that holds the bytes of a stream with one value.
pub const VALUE: &str = "$value";
/// Name of a unit struct that stands for the object it is in.
pub const THIS: &str = "$this";

/// Writes one value as a stream of its own.
///
/// # Errors
/// A value that has no form on the wire; says where.
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    let mut writer = Writer::new();
    value.serialize(ser::Serializer::new(&mut writer))?;
    Ok(writer.into_bytes())
}

/// Reads the one value of a stream.
///
/// # Errors
/// The bytes are no such value, or a limit is exceeded; says where.
pub fn from_slice<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, Error> {
    let mut decoder = Decoder::new(bytes);
    let value = decoder.next()?;
    match decoder.reader.rest().len() {
        0 => Ok(value),
        more => Err(decoder.reader.error(ErrorKind::Trailing(more))),
    }
}

/// Writes several values to one stream, whose tables they share.
#[derive(Debug, Default)]
pub struct Encoder {
    writer: Writer,
}

impl Encoder {
    /// An empty stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes one more value.
    ///
    /// # Errors
    /// It has no form on the wire; what was written of it stays, so the stream is of no more use.
    pub fn put<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(ser::Serializer::new(&mut self.writer))
    }

    /// The layer below, for values that are not typed.
    pub fn writer(&mut self) -> &mut Writer {
        &mut self.writer
    }

    /// The bytes.
    pub fn into_bytes(self) -> Bytes {
        self.writer.into_bytes().into()
    }
}

/// Reads several values of one stream.
#[derive(Debug)]
pub struct Decoder<'de> {
    reader: Reader<'de>,
}

impl<'de> Decoder<'de> {
    /// At the start of `bytes`, with [`Limits::default`].
    pub fn new(bytes: &'de [u8]) -> Self {
        Self { reader: Reader::new(bytes) }
    }

    /// At the start of `bytes`.
    pub fn with_limits(bytes: &'de [u8], limits: &Limits) -> Self {
        Self { reader: Reader::with_limits(bytes, limits) }
    }

    /// The next value.
    ///
    /// # Errors
    /// It is no such value, or a limit is exceeded; says where.
    #[expect(clippy::should_implement_trait, reason = "it is not one type that comes")]
    pub fn next<T: Deserialize<'de>>(&mut self) -> Result<T, Error> {
        T::deserialize(de::Deserializer::new(&mut self.reader))
    }

    /// The next value, with everything that is in the bytes.
    ///
    /// # Errors
    /// The bytes are no Hessian, or a limit is exceeded.
    pub fn next_value(&mut self) -> Result<Value, Error> {
        Value::read(&mut self.reader)
    }

    /// Passes over the next value.
    ///
    /// # Errors
    /// The bytes are no Hessian, or a limit is exceeded.
    pub fn skip(&mut self) -> Result<(), Error> {
        self.reader.skip_value()
    }

    /// Offset of the next byte.
    pub fn position(&self) -> usize {
        self.reader.position()
    }

    /// Whether everything was read.
    pub fn at_end(&self) -> bool {
        self.reader.at_end()
    }

    /// The layer below.
    pub fn reader(&mut self) -> &mut Reader<'de> {
        &mut self.reader
    }
}
