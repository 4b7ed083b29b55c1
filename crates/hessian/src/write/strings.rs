//! Strings and binary data, whole or in parts.

use super::Writer;
use crate::text;

/// Units of one part of a long string, as Java cuts it.
const TEXT_PART: usize = 0x8000;
/// Bytes of one part of long binary data.
const BINARY_PART: usize = 0xFFFF;
/// The output buffer of Java's encoder, which decides where it cuts binary data.
const JAVA_BUFFER: usize = 8192;

impl Writer {
    /// A string.
    #[inline]
    pub fn str(&mut self, value: &str) {
        if value.len() <= 31 && value.is_ascii() {
            self.out.push(value.len() as u8);
            self.out.extend_from_slice(value.as_bytes());
            return;
        }
        self.other_str(value);
    }

    fn other_str(&mut self, value: &str) {
        // As long as no character is outside the basic plane, the bytes are those of UTF-8. There are
        // no more units than bytes.
        if value.len() <= TEXT_PART && value.bytes().all(|byte| byte < 0xF0) {
            self.text_head(value.chars().count(), true);
            self.out.extend_from_slice(value.as_bytes());
            return;
        }
        let mut rest = value;
        loop {
            let part = text_part(rest);
            let (now, later) = rest.split_at(part.bytes);
            self.text_head(part.units, later.is_empty());
            self.units(now);
            if later.is_empty() {
                return;
            }
            rest = later;
        }
    }

    /// The units of a text, without its length.
    fn units(&mut self, text: &str) {
        if text.is_ascii() {
            self.out.extend_from_slice(text.as_bytes());
            return;
        }
        let mut buffer = [0; 4];
        for c in text.chars() {
            if c.len_utf16() == 1 {
                self.out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
            } else {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    text::put_unit(*unit, &mut self.out);
                }
            }
        }
    }

    /// A string of UTF-16 units, which need not be Unicode.
    pub fn utf16(&mut self, units: &[u16]) {
        let mut rest = units;
        while rest.len() > TEXT_PART {
            let high = rest.get(TEXT_PART - 1).is_some_and(|unit| (0xD800..0xDC00).contains(unit));
            let (now, later) = rest.split_at(TEXT_PART - usize::from(high));
            self.text_head(now.len(), false);
            now.iter().for_each(|unit| text::put_unit(*unit, &mut self.out));
            rest = later;
        }
        self.text_head(rest.len(), true);
        rest.iter().for_each(|unit| text::put_unit(*unit, &mut self.out));
    }

    fn text_head(&mut self, units: usize, last: bool) {
        match units {
            0..=31 if last => self.out.push(units as u8),
            32..=1023 if last => self.out.extend([0x30 + (units >> 8) as u8, units as u8]),
            _ => {
                let tag = if last { b'S' } else { b'R' };
                self.out.extend([tag, (units >> 8) as u8, units as u8]);
            }
        }
    }

    /// Bytes.
    pub fn binary(&mut self, value: &[u8]) {
        let mut rest = value;
        loop {
            let most = self.binary_room();
            if rest.len() <= most {
                break;
            }
            let (now, later) = rest.split_at(most);
            self.out.extend([b'A', (most >> 8) as u8, most as u8]);
            self.out.extend_from_slice(now);
            rest = later;
        }
        match rest.len() {
            len @ 0..=15 => self.out.push(0x20 + len as u8),
            len @ 16..=1023 => self.out.extend([0x34 + (len >> 8) as u8, len as u8]),
            len => self.out.extend([b'B', (len >> 8) as u8, len as u8]),
        }
        self.out.extend_from_slice(rest);
    }

    /// How many bytes the next part of binary data may have.
    fn binary_room(&self) -> usize {
        if !self.java_chunks {
            return BINARY_PART;
        }
        match JAVA_BUFFER - self.out.len() % JAVA_BUFFER {
            left if left > 3 => left - 3,
            _ => JAVA_BUFFER - 3,
        }
    }
}

/// The next part of a text.
struct Part {
    units: usize,
    bytes: usize,
}

/// As much as fits into one part; never half a pair.
fn text_part(text: &str) -> Part {
    let mut part = Part { units: 0, bytes: 0 };
    for c in text.chars() {
        if part.units + c.len_utf16() > TEXT_PART {
            break;
        }
        part.units += c.len_utf16();
        part.bytes += c.len_utf8();
    }
    part
}
