//! The lowest layer of reading: [`Reader`] turns bytes into [`Token`]s and keeps the three tables of a
//! stream (class definitions, type names, started values). It never recurses and never allocates for
//! what has not arrived.

mod parts;
mod quick;
mod replay;
mod strings;
mod token;

use std::borrow::Cow;

pub use token::{Class, Resume, Token};
use token::{Cursor, Started, Type};

use crate::error::{Error, ErrorKind};
use crate::limits::Limits;

/// Reads one stream.
#[derive(Debug)]
pub struct Reader<'a> {
    input: &'a [u8],
    at: usize,
    limits: Limits,
    classes: Vec<Class<'a>>,
    types: Vec<Type<'a>>,
    started: Vec<Started>,
    cursor: Cursor,
    /// Values that were read for the first time and count for the limit.
    values: usize,
    /// Elements of arrays of primitives, which do not.
    elements: usize,
    /// Values that were read again.
    again: usize,
    /// Elements to come of the array of primitives that is being read.
    flat: usize,
    memory: usize,
    /// Replays within each other.
    replaying: usize,
    /// Values of the whole input, once something is replayed.
    total: usize,
}

impl<'a> Reader<'a> {
    /// A reader of `input`, with [`Limits::default`].
    pub fn new(input: &'a [u8]) -> Self {
        Self::with_limits(input, &Limits::default())
    }

    /// A reader of `input`.
    pub fn with_limits(input: &'a [u8], limits: &Limits) -> Self {
        Self {
            input,
            at: 0,
            limits: *limits,
            classes: Vec::new(),
            types: Vec::new(),
            started: Vec::new(),
            cursor: Cursor::default(),
            values: 0,
            elements: 0,
            again: 0,
            flat: 0,
            memory: 0,
            replaying: 0,
            total: 0,
        }
    }

    /// Offset of the next byte.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Whether everything was read.
    pub fn at_end(&self) -> bool {
        self.at >= self.input.len()
    }

    /// The bytes that were not read.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.input.get(self.at..).unwrap_or_default()
    }

    /// All bytes of the stream.
    pub fn input(&self) -> &'a [u8] {
        self.input
    }

    /// The limits in force.
    #[inline]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// How many values were read, those read again included.
    pub fn visited(&self) -> usize {
        self.values + self.elements + self.again
    }

    /// How many bytes were counted against [`Limits::memory`].
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// The class with this index, as tokens give it.
    #[inline]
    pub fn class(&self, index: usize) -> &Class<'a> {
        static NONE: Class<'static> = Class::NONE;
        self.classes.get(index).unwrap_or(&NONE)
    }

    /// The type name with this index, as tokens give it.
    pub fn type_name(&self, index: usize) -> &Cow<'a, str> {
        static NONE: Cow<'static, str> = Cow::Borrowed("");
        self.types.get(index).map_or(&NONE, |ty| &ty.name)
    }

    /// How many lists, maps and objects were started.
    pub fn started(&self) -> usize {
        self.cursor.started
    }

    /// The tag of the next value, not read.
    #[inline]
    pub fn peek(&self) -> Option<u8> {
        self.input.get(self.at).copied()
    }

    /// An error at the next byte.
    #[cold]
    pub fn error(&self, kind: ErrorKind) -> Error {
        Error::new(kind, self.at)
    }

    /// Counts memory that a decoded value takes.
    ///
    /// # Errors
    /// The budget is used up.
    #[inline]
    pub fn take_memory(&mut self, bytes: usize) -> Result<(), Error> {
        self.memory = self.memory.saturating_add(bytes);
        if self.memory > self.limits.memory {
            return Err(self.limit("memory", "bytes of decoded values", self.limits.memory));
        }
        Ok(())
    }

    #[cold]
    fn limit(&self, name: &'static str, what: &'static str, limit: usize) -> Error {
        self.error(ErrorKind::Limit { name, what, limit })
    }

    /// Counts one value.
    #[inline]
    fn visit(&mut self) -> Result<(), Error> {
        if self.replaying > 0 {
            return self.visit_again();
        }
        if self.flat > 0 {
            self.flat -= 1;
            self.elements += 1;
            return Ok(());
        }
        self.values += 1;
        if self.values > self.limits.values {
            return Err(self.limit("values", "values", self.limits.values));
        }
        Ok(())
    }

    /// Takes one value off the count: the end of something is none.
    fn unvisit(&mut self) {
        let count = if self.replaying > 0 { &mut self.again } else { &mut self.values };
        *count = count.saturating_sub(1);
    }

    /// The next token. Class definitions before it are taken in.
    ///
    /// # Errors
    /// The bytes are no Hessian, or a limit is exceeded.
    #[expect(clippy::should_implement_trait, reason = "an error does not end it")]
    pub fn next(&mut self) -> Result<Token<'a>, Error> {
        self.visit()?;
        if self.at == 0 {
            self.check_input()?;
        }
        let mut tag = self.byte()?;
        while tag == b'C' {
            self.definition()?;
            tag = self.byte()?;
        }
        match tag {
            0x00..=0x1F => self.string(usize::from(tag), true).map(Token::Str),
            0x20..=0x2F => self.binary(usize::from(tag - 0x20), true),
            0x30..=0x33 => {
                let low = self.byte()?;
                self.string(usize::from(tag - 0x30) << 8 | usize::from(low), true).map(Token::Str)
            }
            0x34..=0x37 => {
                let low = self.byte()?;
                self.binary(usize::from(tag - 0x34) << 8 | usize::from(low), true)
            }
            0x38..=0x3F => {
                let low = u16::from_be_bytes(self.bytes()?);
                Ok(Token::Long((i64::from(tag) - 0x3C) << 16 | i64::from(low)))
            }
            0x41 | 0x42 => {
                let len = u16::from_be_bytes(self.bytes()?);
                self.binary(usize::from(len), tag == 0x42)
            }
            b'D' => Ok(Token::Double(f64::from_be_bytes(self.bytes()?))),
            b'F' => Ok(Token::Bool(false)),
            b'T' => Ok(Token::Bool(true)),
            b'I' => Ok(Token::Int(i32::from_be_bytes(self.bytes()?))),
            0x4A => Ok(Token::Date(i64::from_be_bytes(self.bytes()?))),
            0x4B => {
                let minutes = i32::from_be_bytes(self.bytes()?);
                Ok(Token::Date(i64::from(minutes) * 60_000))
            }
            b'L' => Ok(Token::Long(i64::from_be_bytes(self.bytes()?))),
            b'N' => Ok(Token::Null),
            0x52 | 0x53 => {
                let len = u16::from_be_bytes(self.bytes()?);
                self.string(usize::from(len), tag == 0x53).map(Token::Str)
            }
            b'Y' => Ok(Token::Long(i64::from(i32::from_be_bytes(self.bytes()?)))),
            0x5B => Ok(Token::Double(0.0)),
            0x5C => Ok(Token::Double(1.0)),
            0x5D => Ok(Token::Double(f64::from(i8::from_be_bytes(self.bytes()?)))),
            0x5E => Ok(Token::Double(f64::from(i16::from_be_bytes(self.bytes()?)))),
            0x5F => {
                // A product, as Java's decoder has it: its encoder tests with the same one.
                Ok(Token::Double(f64::from(i32::from_be_bytes(self.bytes()?)) * 0.001))
            }
            0x80..=0xBF => Ok(Token::Int(i32::from(tag) - 0x90)),
            0xC0..=0xCF => {
                let low = self.byte()?;
                Ok(Token::Int((i32::from(tag) - 0xC8) << 8 | i32::from(low)))
            }
            0xD0..=0xD7 => {
                let low = u16::from_be_bytes(self.bytes()?);
                Ok(Token::Int((i32::from(tag) - 0xD4) << 16 | i32::from(low)))
            }
            0xD8..=0xEF => Ok(Token::Long(i64::from(tag) - 0xE0)),
            0xF0..=0xFF => {
                let low = self.byte()?;
                Ok(Token::Long((i64::from(tag) - 0xF8) << 8 | i64::from(low)))
            }
            _ => self.structure(tag),
        }
    }

    /// The rest of a token that starts, ends or refers to a list, map or object.
    fn structure(&mut self, tag: u8) -> Result<Token<'a>, Error> {
        let start = self.at.saturating_sub(1);
        // Nothing of this is an element of an array of primitives.
        self.flat = 0;
        match tag {
            b'U' => self.list(start, true, None),
            b'V' => self.sized_list(start, true),
            b'W' => self.list(start, false, None),
            b'X' => self.sized_list(start, false),
            0x70..=0x77 => self.list(start, true, Some(usize::from(tag - 0x70))),
            0x78..=0x7F => self.list(start, false, Some(usize::from(tag - 0x78))),
            b'H' => self.map(start, false),
            b'M' => self.map(start, true),
            b'O' => {
                let class = self.int("class definition")?;
                let (class, number) = self.object(start, class)?;
                Ok(Token::Object { class, number })
            }
            0x60..=0x6F => {
                let (class, number) = self.object(start, usize::from(tag - 0x60))?;
                Ok(Token::Object { class, number })
            }
            b'Q' => self.reference(),
            b'Z' => {
                self.unvisit();
                Ok(Token::End)
            }
            _ => Err(Error::new(ErrorKind::Tag(tag), start)),
        }
    }

    fn check_input(&self) -> Result<(), Error> {
        // Offsets are kept in 32 bits.
        let most = self.limits.input.min(u32::MAX as usize);
        if self.input.len() > most {
            return Err(self.limit("input", "bytes of input", most));
        }
        Ok(())
    }

    /// The error of an end where a value must be.
    pub fn unexpected_end(&self) -> Error {
        let kind = ErrorKind::Unexpected { expected: "a value", found: "the end of a list or map" };
        Error::new(kind, self.at.saturating_sub(1))
    }
}
