//! Strings: lengths count UTF-16 units, and each unit is written as UTF-8 would write that code
//! point, so that a character outside the basic plane is two units and six bytes (CESU-8).

use std::borrow::Cow;

use crate::error::ErrorKind;

/// A decoded string. Java's may hold halves of surrogate pairs, which no Rust text can.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Text<'a> {
    /// Unicode.
    Str(Cow<'a, str>),
    /// UTF-16 units that are no Unicode.
    Utf16(Vec<u16>),
}

impl Text<'_> {
    /// As Rust text; `None` when it is none.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Text::Str(text) => Some(text),
            Text::Utf16(_) => None,
        }
    }

    /// As Rust text, with U+FFFD for what is none.
    pub fn to_string_lossy(&self) -> String {
        match self {
            Text::Str(text) => text.clone().into_owned(),
            Text::Utf16(units) => String::from_utf16_lossy(units),
        }
    }
}

const OVERLONG: ErrorKind = ErrorKind::Text("a unit takes more bytes than it needs");
const CONTINUATION: ErrorKind = ErrorKind::Text("a continuation byte is missing or alone");
const FOUR_BYTES: ErrorKind = ErrorKind::Text("a character of four bytes");

/// Why the units cannot be taken, and how many bytes before.
pub(crate) type Broken = (ErrorKind, usize);

/// How many bytes `units` units at the start of `bytes` take, and whether any is a surrogate. Only the
/// first byte of each unit is looked at: [`whole`] and [`units`] find what else is wrong.
pub(crate) fn measure(bytes: &[u8], units: usize) -> Result<(usize, bool), Broken> {
    if bytes.len() < units {
        // There are fewer bytes than units: no need to look at them.
        return Err((ErrorKind::EndOfInput, bytes.len()));
    }
    let (mut at, mut surrogate) = (0, false);
    for _ in 0..units {
        let Some(first) = bytes.get(at) else { return Err((ErrorKind::EndOfInput, at)) };
        at += match first {
            0x00..=0x7F => 1,
            0xC2..=0xDF => 2,
            0xED => {
                surrogate |= bytes.get(at + 1).is_some_and(|second| *second >= 0xA0);
                3
            }
            0xE0..=0xEF => 3,
            // For the error.
            _ => unit(bytes, at)?.1,
        };
    }
    if at > bytes.len() {
        return Err((ErrorKind::EndOfInput, bytes.len()));
    }
    Ok((at, surrogate))
}

/// The text that measured units without surrogates are: UTF-8.
pub(crate) fn whole(bytes: &[u8]) -> Result<&str, Broken> {
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        // For what is wrong there.
        unit(bytes, at).err().unwrap_or((ErrorKind::Text("no UTF-8"), at))
    })
}

/// One unit, and how many bytes it takes.
fn unit(bytes: &[u8], at: usize) -> Result<(u16, usize), Broken> {
    let byte = |offset: usize| match bytes.get(at + offset) {
        Some(byte) => Ok(u16::from(*byte)),
        None => Err((ErrorKind::EndOfInput, at)),
    };
    let more = |offset: usize| match byte(offset)? {
        byte if byte & 0xC0 == 0x80 => Ok(byte & 0x3F),
        _ => Err((CONTINUATION, at)),
    };
    let first = byte(0)?;
    match first {
        0x00..=0x7F => Ok((first, 1)),
        0xC2..=0xDF => Ok(((first & 0x1F) << 6 | more(1)?, 2)),
        0xE0..=0xEF => {
            let unit = (first & 0x0F) << 12 | more(1)? << 6 | more(2)?;
            if unit < 0x800 { Err((OVERLONG, at)) } else { Ok((unit, 3)) }
        }
        0xC0 | 0xC1 => Err((OVERLONG, at)),
        0x80..=0xBF => Err((CONTINUATION, at)),
        _ => Err((FOUR_BYTES, at)),
    }
}

/// Decodes all of `bytes`.
pub(crate) fn units(bytes: &[u8], into: &mut Vec<u16>) -> Result<(), Broken> {
    let mut at = 0;
    while at < bytes.len() {
        let (unit, width) = unit(bytes, at)?;
        into.push(unit);
        at += width;
    }
    Ok(())
}

/// Units as text, where they are.
pub(crate) fn from_units(units: Vec<u16>) -> Text<'static> {
    match String::from_utf16(&units) {
        Ok(text) => Text::Str(Cow::Owned(text)),
        Err(_) => Text::Utf16(units),
    }
}

/// Writes one unit.
pub(crate) fn put_unit(unit: u16, out: &mut Vec<u8>) {
    let [high, low] = unit.to_be_bytes();
    match unit {
        0..=0x7F => out.push(low),
        0x80..=0x7FF => out.extend([0xC0 | (unit >> 6) as u8, 0x80 | (low & 0x3F)]),
        _ => out.extend([0xE0 | high >> 4, 0x80 | ((unit >> 6) as u8 & 0x3F), 0x80 | (low & 0x3F)]),
    }
}
