//! Parts of tokens: lengths, indexes, names, class definitions and types, and the tables.

use std::borrow::Cow;

use super::{Class, Reader, Started, Token, Type};
use crate::error::{Error, ErrorKind};
use crate::text::Text;

impl<'a> Reader<'a> {
    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, Error> {
        match self.input.get(self.at) {
            Some(byte) => {
                self.at += 1;
                Ok(*byte)
            }
            None => Err(self.error(ErrorKind::EndOfInput)),
        }
    }

    #[inline]
    pub(super) fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        match self.rest().first_chunk::<N>() {
            Some(bytes) => {
                self.at += N;
                Ok(*bytes)
            }
            None => Err(self.error(ErrorKind::EndOfInput)),
        }
    }

    /// An int in any of its forms, as lengths and indexes are written.
    pub(super) fn int(&mut self, what: &'static str) -> Result<usize, Error> {
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

    /// A class definition, after its tag. One that is met again is passed over in one step, so that
    /// a long one costs nothing wherever the value around it is referred to.
    pub(super) fn definition(&mut self) -> Result<(), Error> {
        if let Some(known) = self.classes.get(self.cursor.classes) {
            self.at = known.end;
            self.cursor.classes += 1;
            return Ok(());
        }
        if self.classes.len() >= self.limits.classes {
            return Err(self.limit("classes", "class definitions", self.limits.classes));
        }
        let name = self.name()?;
        let count = self.int("number of fields")?;
        if count > self.limits.fields {
            return Err(self.limit("fields", "fields of a class", self.limits.fields));
        }
        let fields = match self.short_names(count) {
            Some(fields) => fields,
            None => self.names(count)?,
        };
        let fields = with_value(&name, fields);
        self.take_memory(size_of::<Class<'_>>() + fields.len() * size_of::<Cow<'_, str>>())?;
        self.classes.push(Class::new(name, fields, self.at));
        self.cursor.classes += 1;
        Ok(())
    }

    /// So many names, if all are short and of ASCII. Their lengths are ASCII then, too.
    fn short_names(&mut self, count: usize) -> Option<Vec<Cow<'a, str>>> {
        let rest = self.rest();
        let mut end = 0;
        for _ in 0..count {
            let len = rest.get(end).filter(|len| **len <= 0x1F)?;
            end += 1 + usize::from(*len);
        }
        let all = rest.get(..end).filter(|all| all.is_ascii())?;
        let all = std::str::from_utf8(all).ok()?;
        let mut names = Vec::with_capacity(count);
        let mut at = 0;
        for _ in 0..count {
            let start = at + 1;
            at = start + usize::from(*rest.get(at)?);
            names.push(Cow::Borrowed(all.get(start..at)?));
        }
        self.at += end;
        Some(names)
    }

    fn names(&mut self, count: usize) -> Result<Vec<Cow<'a, str>>, Error> {
        // Each name takes at least a byte.
        let mut names = Vec::with_capacity(count.min(self.rest().len()));
        for _ in 0..count {
            names.push(self.name()?);
        }
        Ok(names)
    }

    /// A string that is a name.
    fn name(&mut self) -> Result<Cow<'a, str>, Error> {
        let at = self.at;
        let tag = self.byte()?;
        let text = match tag {
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
        match text {
            Text::Str(name) => Ok(name),
            Text::Utf16(_) => Err(Error::new(ErrorKind::LoneSurrogate, at)),
        }
    }

    /// The type of a list or map: a name the first time, an index later.
    fn ty(&mut self) -> Result<usize, Error> {
        let known = self.cursor.types;
        if !matches!(self.peek(), Some(0x00..=0x1F | 0x30..=0x33 | 0x52 | 0x53)) {
            let at = self.at;
            let index = self.int("type")?;
            if index >= known {
                return Err(Error::new(ErrorKind::Index { what: "type", index, known }, at));
            }
            return Ok(index);
        }
        match self.types.get(known) {
            Some(again) => self.at = again.end,
            None => {
                if known >= self.limits.types {
                    return Err(self.limit("types", "type names", self.limits.types));
                }
                let name = self.name()?;
                self.take_memory(size_of::<Type<'_>>())?;
                self.types.push(Type::new(name, self.at));
            }
        }
        self.cursor.types += 1;
        Ok(known)
    }

    /// What the tables hold before a value whose tag is at `offset`.
    fn mark(&self, offset: usize) -> Started {
        // The input's length was checked to fit, and no table is longer than it.
        let short = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Started {
            offset: short(offset),
            classes: short(self.cursor.classes),
            types: short(self.cursor.types),
            open: true,
        }
    }

    fn start(&mut self, mark: Started) -> Result<usize, Error> {
        let number = self.cursor.started;
        match self.started.get_mut(number) {
            Some(again) => again.open = true,
            None => {
                self.take_memory(size_of::<Started>())?;
                self.started.push(mark);
            }
        }
        self.cursor.started += 1;
        Ok(number)
    }

    pub(super) fn list(
        &mut self,
        start: usize,
        typed: bool,
        len: Option<usize>,
    ) -> Result<Token<'a>, Error> {
        let mark = self.mark(start);
        let ty = if typed { Some(self.ty()?) } else { None };
        self.list_of(ty, len, mark)
    }

    pub(super) fn sized_list(&mut self, start: usize, typed: bool) -> Result<Token<'a>, Error> {
        let mark = self.mark(start);
        let ty = if typed { Some(self.ty()?) } else { None };
        let len = self.int("length of a list")?;
        self.list_of(ty, Some(len), mark)
    }

    fn list_of(
        &mut self,
        ty: Option<usize>,
        len: Option<usize>,
        mark: Started,
    ) -> Result<Token<'a>, Error> {
        let number = self.start(mark)?;
        if ty.and_then(|ty| self.types.get(ty)).is_some_and(|ty| ty.flat) {
            self.flat = len.unwrap_or(usize::MAX);
        }
        Ok(Token::List { ty, len, number })
    }

    pub(super) fn map(&mut self, start: usize, typed: bool) -> Result<Token<'a>, Error> {
        let mark = self.mark(start);
        let ty = if typed { Some(self.ty()?) } else { None };
        let number = self.start(mark)?;
        Ok(Token::Map { ty, number })
    }

    /// The class and the number of an object that starts.
    pub(super) fn object(&mut self, start: usize, class: usize) -> Result<(usize, usize), Error> {
        let known = self.cursor.classes;
        if class >= known {
            let kind = ErrorKind::Index { what: "class definition", index: class, known };
            return Err(Error::new(kind, start));
        }
        let mark = self.mark(start);
        let number = self.start(mark)?;
        Ok((class, number))
    }

    pub(super) fn reference(&mut self) -> Result<Token<'a>, Error> {
        let at = self.at;
        let index = self.int("reference")?;
        let known = self.cursor.started;
        if index >= known {
            return Err(Error::new(ErrorKind::Index { what: "reference", index, known }, at));
        }
        Ok(Token::Ref(index))
    }
}

/// Dates and times of the compact form are objects without fields, with a long behind them that
/// belongs to them: as if it were a field.
fn with_value<'a>(class: &str, fields: Vec<Cow<'a, str>>) -> Vec<Cow<'a, str>> {
    match class {
        "java.time.LocalDate" | "java.time.LocalTime" if fields.is_empty() => {
            vec![Cow::Borrowed("value")]
        }
        _ => fields,
    }
}
