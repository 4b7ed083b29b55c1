//! The lowest layer of reading: [`Reader`] turns bytes into [`Token`]s and keeps the three tables of a
//! stream (class definitions, type names, started values). It never recurses and never allocates for
//! what has not arrived.
//!
//! A value that was started can be read once more from its bytes ([`Reader::replay`]): the tables
//! know which of their entries were there then, so reading again adds nothing.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::text::{self, Text};

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
        /// Type name, as an index into [`Reader::type_name`].
        ty: Option<usize>,
        /// How many elements, where that was said. Not to be believed.
        len: Option<usize>,
        /// Its number among the started values.
        number: usize,
    },
    /// A map starts: keys and values, up to [`Token::End`].
    Map {
        /// Type name, as an index into [`Reader::type_name`].
        ty: Option<usize>,
        /// Its number among the started values.
        number: usize,
    },
    /// An object starts; the values of its class's fields follow.
    Object {
        /// Its class, as an index into [`Reader::class`].
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
}

impl Class<'_> {
    /// Whether a later field has the same name. Typed values take the later one.
    pub fn is_hidden(&self, field: usize) -> bool {
        self.hidden.get(field).copied().unwrap_or(false)
    }
}

/// Which names come again later.
fn hidden(fields: &[Cow<'_, str>]) -> Vec<bool> {
    let mut later = HashSet::with_capacity(fields.len());
    let mut hidden: Vec<bool> = fields.iter().rev().map(|name| !later.insert(name)).collect();
    if hidden.contains(&true) {
        hidden.reverse();
    } else {
        hidden.clear();
    }
    hidden
}

/// Where a list, map or object starts, and what the tables held then.
#[derive(Clone, Copy, Debug)]
struct Started {
    offset: usize,
    classes: usize,
    types: usize,
    /// Where it ends; 0 while that is not known.
    end: usize,
}

/// What the reader goes back to after a replay.
#[derive(Clone, Copy, Debug)]
pub struct Resume {
    at: usize,
    cursor: Cursor,
}

/// How many entries of each table belong to what was read before here.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    started: usize,
    classes: usize,
    types: usize,
}

/// Reads one stream.
#[derive(Debug)]
pub struct Reader<'a> {
    input: &'a [u8],
    at: usize,
    limits: Limits,
    classes: Vec<Class<'a>>,
    types: Vec<Cow<'a, str>>,
    started: Vec<Started>,
    cursor: Cursor,
    values: usize,
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
    pub fn rest(&self) -> &'a [u8] {
        self.input.get(self.at..).unwrap_or_default()
    }

    /// All bytes of the stream.
    pub fn input(&self) -> &'a [u8] {
        self.input
    }

    /// The limits in force.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// How many values were read, those read again included.
    pub fn visited(&self) -> usize {
        self.values
    }

    /// The class with this index, as tokens give it.
    pub fn class(&self, index: usize) -> &Class<'a> {
        static NONE: Class<'static> =
            Class { name: Cow::Borrowed(""), fields: Vec::new(), hidden: Vec::new() };
        self.classes.get(index).unwrap_or(&NONE)
    }

    /// The type name with this index, as tokens give it.
    pub fn type_name(&self, index: usize) -> &Cow<'a, str> {
        static NONE: Cow<'static, str> = Cow::Borrowed("");
        self.types.get(index).unwrap_or(&NONE)
    }

    /// How many lists, maps and objects were started.
    pub fn started(&self) -> usize {
        self.cursor.started
    }

    /// The tag of the next value, not read.
    pub fn peek(&self) -> Option<u8> {
        self.input.get(self.at).copied()
    }

    /// An error at the next byte.
    pub fn error(&self, kind: ErrorKind) -> Error {
        Error::new(kind, self.at)
    }

    /// Counts memory that a decoded value takes.
    ///
    /// # Errors
    /// The budget is used up.
    pub fn take_memory(&mut self, bytes: usize) -> Result<(), Error> {
        self.memory = self.memory.saturating_add(bytes);
        if self.memory > self.limits.memory {
            return Err(self.limit("memory", "bytes of decoded values", self.limits.memory));
        }
        Ok(())
    }

    fn limit(&self, name: &'static str, what: &'static str, limit: usize) -> Error {
        self.error(ErrorKind::Limit { name, what, limit })
    }

    /// The next token. Class definitions before it are taken in.
    ///
    /// # Errors
    /// The bytes are no Hessian, or a limit is exceeded.
    #[expect(clippy::should_implement_trait, reason = "an error ends a stream, not a None")]
    pub fn next(&mut self) -> Result<Token<'a>, Error> {
        self.values += 1;
        if self.replaying > 0 {
            let limit = self.total.saturating_mul(self.limits.expansion);
            if self.values > limit {
                let what = "visits of values that are referred to";
                return Err(self.limit("expansion", what, limit));
            }
        } else if self.values > self.limits.values.saturating_mul(self.limits.expansion.max(1)) {
            return Err(self.limit("values", "values", self.limits.values));
        }
        if self.input.len() > self.limits.input {
            return Err(self.limit("input", "bytes of input", self.limits.input));
        }
        let start = self.at;
        let mut tag = self.byte()?;
        while tag == b'C' {
            self.definition()?;
            tag = self.byte()?;
        }
        match tag {
            0x00..=0x1F => self.string(usize::from(tag), true),
            0x20..=0x2F => self.binary(usize::from(tag - 0x20), true),
            0x30..=0x33 => {
                let low = self.byte()?;
                self.string(usize::from(tag - 0x30) << 8 | usize::from(low), true)
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
            b'H' => self.map(start, None),
            b'I' => Ok(Token::Int(i32::from_be_bytes(self.bytes()?))),
            0x4A => Ok(Token::Date(i64::from_be_bytes(self.bytes()?))),
            0x4B => {
                let minutes = i32::from_be_bytes(self.bytes()?);
                Ok(Token::Date(i64::from(minutes) * 60_000))
            }
            b'L' => Ok(Token::Long(i64::from_be_bytes(self.bytes()?))),
            b'M' => {
                let mark = self.mark(start);
                let ty = self.ty()?;
                let number = self.start(mark)?;
                Ok(Token::Map { ty: Some(ty), number })
            }
            b'N' => Ok(Token::Null),
            b'O' => {
                let class = self.index("class definition")?;
                self.object(start, class)
            }
            0x60..=0x6F => self.object(start, usize::from(tag - 0x60)),
            b'Q' => self.reference(),
            0x52 | 0x53 => {
                let len = u16::from_be_bytes(self.bytes()?);
                self.string(usize::from(len), tag == 0x53)
            }
            b'U' => self.list(start, true, None),
            b'V' => self.sized_list(start, true),
            b'W' => self.list(start, false, None),
            b'X' => self.sized_list(start, false),
            b'Y' => Ok(Token::Long(i64::from(i32::from_be_bytes(self.bytes()?)))),
            b'Z' => Ok(Token::End),
            0x5B => Ok(Token::Double(0.0)),
            0x5C => Ok(Token::Double(1.0)),
            0x5D => Ok(Token::Double(f64::from(i8::from_be_bytes(self.bytes()?)))),
            0x5E => Ok(Token::Double(f64::from(i16::from_be_bytes(self.bytes()?)))),
            0x5F => {
                // A product, as Java's decoder has it: its encoder tests with the same one.
                Ok(Token::Double(f64::from(i32::from_be_bytes(self.bytes()?)) * 0.001))
            }
            0x70..=0x77 => self.list(start, true, Some(usize::from(tag - 0x70))),
            0x78..=0x7F => self.list(start, false, Some(usize::from(tag - 0x78))),
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
            0x40 | 0x43 | 0x45 | 0x47 | 0x50 => Err(Error::new(ErrorKind::Tag(tag), self.at - 1)),
        }
    }

    /// Notes that the value with this number was read to its end, so that it may be referred to.
    pub fn finish(&mut self, number: usize) {
        let at = self.at;
        if let Some(started) = self.started.get_mut(number) {
            started.end = at;
        }
    }

    /// Whether the value that was started as `number` has not been read to its end.
    pub fn is_open(&self, number: usize) -> bool {
        self.started.get(number).is_some_and(|started| started.end == 0)
    }

    /// Goes back to the value that was started as `number`; [`resume`](Self::resume) returns.
    ///
    /// # Errors
    /// There is no such value, or it is not finished (it would contain itself).
    pub fn replay(&mut self, number: usize) -> Result<Resume, Error> {
        let known = self.started.len();
        let started = self.started.get(number).copied().ok_or_else(|| {
            self.error(ErrorKind::Index { what: "reference", index: number, known })
        })?;
        if started.end == 0 {
            return Err(self.error(ErrorKind::Cyclic));
        }
        if self.total == 0 {
            self.total = self.count();
        }
        if self.replaying >= self.limits.depth {
            return Err(self.limit("depth", "values within each other", self.limits.depth));
        }
        self.replaying += 1;
        let resume = Resume { at: self.at, cursor: self.cursor };
        self.at = started.offset;
        self.cursor = Cursor { started: number, classes: started.classes, types: started.types };
        Ok(resume)
    }

    /// Goes back to a position from which only values without parts were read.
    pub(crate) fn rewind(&mut self, position: usize) {
        self.at = position;
        self.values = self.values.saturating_sub(1);
    }

    /// Goes on where [`replay`](Self::replay) went away.
    pub fn resume(&mut self, resume: Resume) {
        self.at = resume.at;
        self.cursor = resume.cursor;
        self.replaying = self.replaying.saturating_sub(1);
    }

    /// How many values the input has, as far as it can be read. Linear, and asked once.
    fn count(&self) -> usize {
        let mut all = Reader::with_limits(self.input, &self.limits);
        while !all.at_end() && all.skip_value().is_ok() {}
        all.values
    }

    /// Reads one value and everything in it, for the tables only.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn skip_value(&mut self) -> Result<(), Error> {
        let first = self.next()?;
        self.skip_rest(first)
    }

    /// Reads what is left of the value whose first token was `first`.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn skip_rest(&mut self, first: Token<'a>) -> Result<(), Error> {
        // What is open: values still to come (`None` is up to the end) and its number.
        let mut open: Vec<(Option<usize>, usize)> = Vec::new();
        let mut token = first;
        loop {
            match token {
                Token::List { len, number, .. } => open.push((len, number)),
                Token::Map { number, .. } => open.push((None, number)),
                Token::Object { class, number } => {
                    open.push((Some(self.class(class).fields.len()), number));
                }
                Token::End => match open.pop() {
                    Some((None, number)) => self.finish(number),
                    _ => return Err(self.unexpected_end()),
                },
                _ => {}
            }
            if open.len() > self.limits.depth {
                return Err(self.limit("depth", "values within each other", self.limits.depth));
            }
            while let Some((Some(0), number)) = open.last() {
                let number = *number;
                self.finish(number);
                open.pop();
            }
            match open.last_mut() {
                None => return Ok(()),
                Some((Some(left), _)) => *left -= 1,
                Some((None, _)) => {}
            }
            token = self.next()?;
        }
    }

    /// The error of an end where a value must be.
    pub fn unexpected_end(&self) -> Error {
        let kind = ErrorKind::Unexpected { expected: "a value", found: "the end of a list or map" };
        Error::new(kind, self.at.saturating_sub(1))
    }

    fn byte(&mut self) -> Result<u8, Error> {
        let byte = self.input.get(self.at).copied();
        let byte = byte.ok_or_else(|| self.error(ErrorKind::EndOfInput))?;
        self.at += 1;
        Ok(byte)
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let bytes = self.rest().first_chunk::<N>().copied();
        let bytes = bytes.ok_or_else(|| self.error(ErrorKind::EndOfInput))?;
        self.at += N;
        Ok(bytes)
    }

    /// An int in any of its forms, as lengths and indexes are written.
    fn int(&mut self, what: &'static str) -> Result<usize, Error> {
        let at = self.at;
        let tag = self.byte()?;
        let value = match tag {
            0x80..=0xBF => i32::from(tag) - 0x90,
            0xC0..=0xCF => (i32::from(tag) - 0xC8) << 8 | i32::from(self.byte()?),
            0xD0..=0xD7 => {
                let low = u16::from_be_bytes(self.bytes()?);
                (i32::from(tag) - 0xD4) << 16 | i32::from(low)
            }
            b'I' => i32::from_be_bytes(self.bytes()?),
            _ => {
                let kind = ErrorKind::Unexpected { expected: what, found: "another value" };
                return Err(Error::new(kind, at));
            }
        };
        usize::try_from(value).map_err(|_| Error::new(ErrorKind::Negative { what, value }, at))
    }

    fn index(&mut self, what: &'static str) -> Result<usize, Error> {
        self.int(what)
    }

    fn definition(&mut self) -> Result<(), Error> {
        let again = self.cursor.classes < self.classes.len();
        let name = self.name()?;
        let count = self.int("number of fields")?;
        if count > self.limits.fields {
            return Err(self.limit("fields", "fields of a class", self.limits.fields));
        }
        if again {
            for _ in 0..count {
                self.name()?;
            }
            self.cursor.classes += 1;
            return Ok(());
        }
        if self.classes.len() >= self.limits.classes {
            return Err(self.limit("classes", "class definitions", self.limits.classes));
        }
        // Each name takes at least a byte.
        let mut fields = Vec::with_capacity(count.min(self.rest().len()));
        for _ in 0..count {
            fields.push(self.name()?);
        }
        self.take_memory(64 + fields.len() * 24)?;
        let hidden = hidden(&fields);
        self.classes.push(Class { name, fields, hidden });
        self.cursor.classes += 1;
        Ok(())
    }

    /// A string that is a name.
    fn name(&mut self) -> Result<Cow<'a, str>, Error> {
        let at = self.at;
        let tag = self.byte()?;
        let token = match tag {
            0x00..=0x1F => self.string(usize::from(tag), true)?,
            0x30..=0x33 => {
                let low = self.byte()?;
                self.string(usize::from(tag - 0x30) << 8 | usize::from(low), true)?
            }
            0x52 | 0x53 => {
                let len = u16::from_be_bytes(self.bytes()?);
                self.string(usize::from(len), tag == 0x53)?
            }
            _ => {
                let kind = ErrorKind::Unexpected { expected: "a name", found: "another value" };
                return Err(Error::new(kind, at));
            }
        };
        match token {
            Token::Str(Text::Str(name)) => Ok(name),
            _ => Err(Error::new(ErrorKind::LoneSurrogate, at)),
        }
    }

    /// The type of a list or map: a name the first time, an index later.
    fn ty(&mut self) -> Result<usize, Error> {
        if !matches!(self.peek(), Some(0x00..=0x1F | 0x30..=0x33 | 0x52 | 0x53)) {
            let at = self.at;
            let index = self.index("type")?;
            let known = self.cursor.types;
            if index >= known {
                return Err(Error::new(ErrorKind::Index { what: "type", index, known }, at));
            }
            return Ok(index);
        }
        let name = self.name()?;
        let index = self.cursor.types;
        if index >= self.types.len() {
            if index >= self.limits.types {
                return Err(self.limit("types", "type names", self.limits.types));
            }
            self.take_memory(32)?;
            self.types.push(name);
        }
        self.cursor.types += 1;
        Ok(index)
    }

    /// What the tables hold before a value that starts at `offset`. Class definitions in front of a
    /// value belong to it when it is read again.
    fn mark(&self, offset: usize) -> Started {
        let definitions = match self.input.get(offset) {
            Some(b'C') => self.definitions_since(offset),
            _ => 0,
        };
        Started {
            offset,
            classes: self.cursor.classes - definitions,
            types: self.cursor.types,
            end: 0,
        }
    }

    /// How many definitions stand in front of the value that starts at `offset`.
    fn definitions_since(&self, offset: usize) -> usize {
        let mut again = Reader::with_limits(self.input, &self.limits);
        again.at = offset;
        let mut count = 0;
        while again.peek() == Some(b'C') && again.at < self.at {
            again.at += 1;
            if again.definition().is_err() {
                break;
            }
            count += 1;
        }
        count
    }

    fn start(&mut self, mark: Started) -> Result<usize, Error> {
        let number = self.cursor.started;
        if number >= self.started.len() {
            self.take_memory(32)?;
            self.started.push(mark);
        }
        self.cursor.started += 1;
        Ok(number)
    }

    fn list(&mut self, start: usize, typed: bool, len: Option<usize>) -> Result<Token<'a>, Error> {
        let mark = self.mark(start);
        let ty = if typed { Some(self.ty()?) } else { None };
        let number = self.start(mark)?;
        Ok(Token::List { ty, len, number })
    }

    fn sized_list(&mut self, start: usize, typed: bool) -> Result<Token<'a>, Error> {
        let mark = self.mark(start);
        let ty = if typed { Some(self.ty()?) } else { None };
        let len = self.int("length of a list")?;
        let number = self.start(mark)?;
        Ok(Token::List { ty, len: Some(len), number })
    }

    fn map(&mut self, start: usize, ty: Option<usize>) -> Result<Token<'a>, Error> {
        let mark = self.mark(start);
        let number = self.start(mark)?;
        Ok(Token::Map { ty, number })
    }

    fn object(&mut self, start: usize, class: usize) -> Result<Token<'a>, Error> {
        let known = self.cursor.classes;
        if class >= known {
            let kind = ErrorKind::Index { what: "class definition", index: class, known };
            return Err(self.error(kind));
        }
        let mark = self.mark(start);
        let number = self.start(mark)?;
        Ok(Token::Object { class, number })
    }

    fn reference(&mut self) -> Result<Token<'a>, Error> {
        let at = self.at;
        let index = self.index("reference")?;
        let known = self.cursor.started;
        if index >= known {
            return Err(Error::new(ErrorKind::Index { what: "reference", index, known }, at));
        }
        Ok(Token::Ref(index))
    }

    fn string(&mut self, units: usize, last: bool) -> Result<Token<'a>, Error> {
        let start = self.at;
        let broken = |(kind, at): text::Broken| Error::new(kind, start + at);
        let (len, surrogate) = text::measure(self.rest(), units).map_err(broken)?;
        let chunk = self.rest().get(..len).unwrap_or_default();
        self.at += len;
        if last && !surrogate {
            // Whole units without surrogates are UTF-8.
            let text = std::str::from_utf8(chunk)
                .map_err(|e| Error::new(ErrorKind::Text("no UTF-8"), start + e.valid_up_to()))?;
            return Ok(Token::Str(Text::Str(Cow::Borrowed(text))));
        }
        let mut all = Vec::with_capacity(units);
        text::units(chunk, &mut all).map_err(broken)?;
        self.take_memory(2 * units)?;
        if !last {
            self.more_text(&mut all)?;
        }
        Ok(Token::Str(text::from_units(all)))
    }

    /// The chunks after the first.
    fn more_text(&mut self, all: &mut Vec<u16>) -> Result<(), Error> {
        loop {
            let at = self.at;
            let tag = self.byte()?;
            let (units, last) = match tag {
                0x00..=0x1F => (usize::from(tag), true),
                0x30..=0x33 => (usize::from(tag - 0x30) << 8 | usize::from(self.byte()?), true),
                0x52 | 0x53 => (usize::from(u16::from_be_bytes(self.bytes()?)), tag == 0x53),
                _ => {
                    let expected = "the next part of a string";
                    let kind = ErrorKind::Unexpected { expected, found: "another value" };
                    return Err(Error::new(kind, at));
                }
            };
            let start = self.at;
            let broken = |(kind, at): text::Broken| Error::new(kind, start + at);
            let (len, _) = text::measure(self.rest(), units).map_err(broken)?;
            let chunk = self.rest().get(..len).unwrap_or_default();
            text::units(chunk, all).map_err(broken)?;
            self.at += len;
            self.take_memory(2 * units)?;
            if last {
                return Ok(());
            }
        }
    }

    fn binary(&mut self, len: usize, last: bool) -> Result<Token<'a>, Error> {
        let first = self.chunk(len)?;
        if last {
            return Ok(Token::Binary(Cow::Borrowed(first)));
        }
        let mut all = first.to_vec();
        self.take_memory(first.len())?;
        loop {
            let at = self.at;
            let tag = self.byte()?;
            let (len, last) = match tag {
                0x20..=0x2F => (usize::from(tag - 0x20), true),
                0x34..=0x37 => (usize::from(tag - 0x34) << 8 | usize::from(self.byte()?), true),
                0x41 | 0x42 => (usize::from(u16::from_be_bytes(self.bytes()?)), tag == 0x42),
                _ => {
                    let expected = "the next part of binary data";
                    let kind = ErrorKind::Unexpected { expected, found: "another value" };
                    return Err(Error::new(kind, at));
                }
            };
            let chunk = self.chunk(len)?;
            self.take_memory(chunk.len())?;
            all.extend_from_slice(chunk);
            if last {
                return Ok(Token::Binary(Cow::Owned(all)));
            }
        }
    }

    fn chunk(&mut self, len: usize) -> Result<&'a [u8], Error> {
        let chunk = self.rest().get(..len);
        let chunk = chunk.ok_or_else(|| self.error(ErrorKind::EndOfInput))?;
        self.at += len;
        Ok(chunk)
    }
}
