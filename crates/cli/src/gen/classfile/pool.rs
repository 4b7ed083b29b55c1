//! The constant pool of a class file. Texts are decoded when they are asked for, once each, since most
//! of them belong to code that nobody reads here.
//!
//! # References
//!
//! *The Java Virtual Machine Specification*, 4.4.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use super::bytes::{Bytes, Fault, FaultKind};

/// The constants, by their index.
#[derive(Debug)]
pub(crate) struct Pool<'b> {
    entries: Vec<Entry<'b>>,
    /// Bytes of text that may still be handed out: one long text can be named by very many members,
    /// and what is made of it grows with their number.
    budget: Cell<usize>,
}

#[derive(Debug)]
enum Entry<'b> {
    Text {
        offset: usize,
        bytes: &'b [u8],
        text: OnceCell<Rc<str>>,
    },
    Class(u16),
    Number(Number),
    String(u16),
    /// Something that only code refers to, or the second half of a long constant.
    Other,
}

/// A numeric constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
}

/// The value of a `static final` field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Constant {
    Number(Number),
    String(Rc<str>),
}

/// Of texts that one class may have handed out, in bytes.
const BUDGET: usize = 32 << 20;

impl<'b> Pool<'b> {
    /// Reads the pool.
    pub(crate) fn read(bytes: &mut Bytes<'b>) -> Result<Self, Fault> {
        let count = bytes.u16()?;
        let mut entries = vec![Entry::Other];
        while entries.len() < usize::from(count) {
            let entry = Entry::read(bytes)?;
            let long = matches!(entry, Entry::Number(Number::Long(_) | Number::Double(_)));
            entries.push(entry);
            if long {
                entries.push(Entry::Other);
            }
        }
        Ok(Self { entries, budget: Cell::new(BUDGET) })
    }

    /// A text.
    pub(crate) fn text(&self, index: u16, at: &Bytes<'_>) -> Result<Rc<str>, Fault> {
        let Some(Entry::Text { offset, bytes, text }) = self.entries.get(usize::from(index)) else {
            return Err(at.fault(FaultKind::Index(index)));
        };
        let left = self.budget.get().checked_sub(bytes.len() + 1);
        self.budget.set(left.ok_or_else(|| at.fault(FaultKind::TooMuch))?);
        if let Some(text) = text.get() {
            return Ok(text.clone());
        }
        let decoded: Rc<str> =
            decode(bytes).ok_or(Fault { offset: *offset, kind: FaultKind::Text })?.into();
        Ok(text.get_or_init(|| decoded).clone())
    }

    /// A text, or none where the index is 0.
    pub(crate) fn optional_text(
        &self,
        index: u16,
        at: &Bytes<'_>,
    ) -> Result<Option<Rc<str>>, Fault> {
        if index == 0 { Ok(None) } else { self.text(index, at).map(Some) }
    }

    /// The binary name of a class, with dots: `com.acme.Order$Line`.
    pub(crate) fn class(&self, index: u16, at: &Bytes<'_>) -> Result<Rc<str>, Fault> {
        match self.entries.get(usize::from(index)) {
            Some(Entry::Class(name)) => Ok(self.text(*name, at)?.replace('/', ".").into()),
            _ => Err(at.fault(FaultKind::Index(index))),
        }
    }

    /// The binary name of a class, or none where the index is 0.
    pub(crate) fn optional_class(
        &self,
        index: u16,
        at: &Bytes<'_>,
    ) -> Result<Option<Rc<str>>, Fault> {
        if index == 0 { Ok(None) } else { self.class(index, at).map(Some) }
    }

    /// The value of a field; none for a text that Rust's strings cannot hold.
    pub(crate) fn constant(&self, index: u16, at: &Bytes<'_>) -> Result<Option<Constant>, Fault> {
        match self.entries.get(usize::from(index)) {
            Some(Entry::Number(number)) => Ok(Some(Constant::Number(*number))),
            Some(Entry::String(text)) => match self.text(*text, at) {
                Ok(text) => Ok(Some(Constant::String(text))),
                Err(Fault { kind: FaultKind::Text, .. }) => Ok(None),
                Err(fault) => Err(fault),
            },
            _ => Err(at.fault(FaultKind::Index(index))),
        }
    }
}

impl<'b> Entry<'b> {
    fn read(bytes: &mut Bytes<'b>) -> Result<Self, Fault> {
        let unknown = bytes.clone();
        Ok(match bytes.u8()? {
            1 => {
                let length = usize::from(bytes.u16()?);
                let offset = bytes.offset();
                Entry::Text { offset, bytes: bytes.take(length)?, text: OnceCell::new() }
            }
            3 => Entry::Number(Number::Int(bytes.u32()?.cast_signed())),
            4 => Entry::Number(Number::Float(f32::from_bits(bytes.u32()?))),
            5 => Entry::Number(Number::Long(bytes.u64()?.cast_signed())),
            6 => Entry::Number(Number::Double(f64::from_bits(bytes.u64()?))),
            7 => Entry::Class(bytes.u16()?),
            8 => Entry::String(bytes.u16()?),
            16 | 19 | 20 => skip(bytes, 2)?,
            15 => skip(bytes, 3)?,
            9..=12 | 17 | 18 => skip(bytes, 4)?,
            tag => return Err(unknown.fault(FaultKind::Constant(tag))),
        })
    }
}

fn skip<'b>(bytes: &mut Bytes<'b>, length: usize) -> Result<Entry<'b>, Fault> {
    bytes.take(length)?;
    Ok(Entry::Other)
}

/// Decodes "modified UTF-8": NUL is two bytes, and a character beyond the first plane is two
/// surrogates of three bytes each.
fn decode(bytes: &[u8]) -> Option<String> {
    if let Ok(text) = std::str::from_utf8(bytes)
        && !text.contains('\0')
    {
        // The common case; four-byte sequences, which only proper UTF-8 has, do no harm.
        return Some(text.to_owned());
    }
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&first, after)) = rest.split_first() {
        let tail = |at: usize| {
            let byte = after.get(at).copied()?;
            (byte & 0xC0 == 0x80).then_some(u16::from(byte & 0x3F))
        };
        let (unit, used) = match first {
            1..=0x7F => (u16::from(first), 0),
            0xC0..=0xDF => (u16::from(first & 0x1F) << 6 | tail(0)?, 1),
            0xE0..=0xEF => (u16::from(first & 0x0F) << 12 | tail(0)? << 6 | tail(1)?, 2),
            _ => return None,
        };
        units.push(unit);
        rest = after.get(used..)?;
    }
    String::from_utf16(&units).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_modified_utf_8() {
        for (bytes, text) in [
            (&b"plain"[..], Some("plain")),
            (b"\xC0\x80", Some("\0")),
            ("über 库".as_bytes(), Some("über 库")),
            (b"a\xC0\x80\xED\xA0\xBD\xED\xB8\x80b", Some("a\0\u{1F600}b")),
            (b"\xED\xA0\xBD", None),
            (b"\0\xC0\x80", None),
            (b"\xC3", None),
            (b"\xE4\xBA", None),
            (b"\xC0\x41", None),
            (b"\x80", None),
            (b"\xFF", None),
        ] {
            assert_eq!(decode(bytes).as_deref(), text, "{bytes:X?}");
        }
    }

    #[test]
    fn a_text_that_everything_refers_to_is_not_handed_out_for_ever() {
        let mut file = vec![0, 2, 1, 0xFF, 0xFF];
        file.extend([b'a'; 0xFFFF]);
        let mut bytes = Bytes::new(&file);
        let pool = Pool::read(&mut bytes).unwrap();
        let handed_out = (0..100_000).take_while(|_| pool.text(1, &bytes).is_ok()).count();
        assert_eq!(handed_out, BUDGET / 0x1_0000);
        assert_eq!(pool.text(1, &bytes).unwrap_err().kind, FaultKind::TooMuch);
    }
}
