//! Strings and binary data, whole or in parts.

use std::borrow::Cow;

use super::{Reader, Token};
use crate::error::{Error, ErrorKind};
use crate::text::{self, Text};

impl<'a> Reader<'a> {
    /// A string whose first part has `units` units.
    #[inline]
    pub(super) fn string(&mut self, units: usize, last: bool) -> Result<Text<'a>, Error> {
        // Nearly all strings of RPC are ASCII and in one part.
        if last
            && let Some(head) = self.rest().get(..units)
            && head.is_ascii()
            && let Ok(text) = std::str::from_utf8(head)
        {
            self.at += units;
            return Ok(Text::Str(Cow::Borrowed(text)));
        }
        self.other_string(units, last)
    }

    fn other_string(&mut self, units: usize, last: bool) -> Result<Text<'a>, Error> {
        let start = self.at;
        let (chunk, surrogate) = self.units(units)?;
        if last && !surrogate {
            return text::whole(chunk)
                .map(|text| Text::Str(Cow::Borrowed(text)))
                .map_err(|(kind, at)| Error::new(kind, start + at));
        }
        let mut all = Vec::with_capacity(units);
        self.take_memory(2 * units)?;
        text::units(chunk, &mut all).map_err(|(kind, at)| Error::new(kind, start + at))?;
        if !last {
            self.more_text(&mut all)?;
        }
        Ok(text::from_units(all))
    }

    /// The bytes of the next `units` units, and whether any may be a surrogate.
    fn units(&mut self, units: usize) -> Result<(&'a [u8], bool), Error> {
        let start = self.at;
        let (len, surrogate) =
            text::measure(self.rest(), units).map_err(|(kind, at)| Error::new(kind, start + at))?;
        let chunk = self.chunk(len)?;
        Ok((chunk, surrogate))
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
            let (chunk, _) = self.units(units)?;
            self.take_memory(2 * units)?;
            text::units(chunk, all).map_err(|(kind, at)| Error::new(kind, start + at))?;
            if last {
                return Ok(());
            }
        }
    }

    pub(super) fn binary(&mut self, len: usize, last: bool) -> Result<Token<'a>, Error> {
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

    #[inline]
    fn chunk(&mut self, len: usize) -> Result<&'a [u8], Error> {
        match self.rest().get(..len) {
            Some(chunk) => {
                self.at += len;
                Ok(chunk)
            }
            None => Err(self.error(ErrorKind::EndOfInput)),
        }
    }
}
