//! The lowest layer of writing: [`Writer`] turns values into bytes, each in its shortest form, and
//! keeps the three tables of a stream. What it writes is what Dubbo's own encoder writes, except that
//! binary data is cut into the largest chunks (see [`Writer::java_chunks`]) and that the sign of -0.0
//! is kept. Lists without a length are never written: Dubbo's decoder cannot read them.

use crate::error::{Error, ErrorKind};
use crate::text;

/// Units of one part of a long string, as Java cuts it.
const TEXT_PART: usize = 0x8000;
/// Bytes of one part of long binary data.
const BINARY_PART: usize = 0xFFFF;
/// The output buffer of Java's encoder, which decides where it cuts binary data.
const JAVA_BUFFER: usize = 8192;

/// Writes one stream.
#[derive(Debug, Default)]
pub struct Writer {
    out: Vec<u8>,
    classes: Vec<Class>,
    types: Vec<String>,
    started: usize,
    java_chunks: bool,
    java_zero: bool,
    /// Of the innermost objects: what will be known at their end.
    open: Vec<Open>,
}

#[derive(Debug)]
struct Class {
    name: String,
    fields: Vec<String>,
    /// Whether an object of it has ended, so that all fields are known.
    complete: bool,
}

/// An object whose fields are being written.
#[derive(Debug)]
struct Open {
    class: usize,
    /// Where its definition goes, if this is the first of its class.
    defined_at: Option<usize>,
    written: usize,
    number: usize,
}

impl Writer {
    /// An empty stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cuts binary data where Java's encoder does: the first part fills its buffer of 8 192 bytes
    /// from wherever the stream is, each further one the whole of it. For comparing bytes only.
    pub fn java_chunks(mut self, as_java: bool) -> Self {
        self.java_chunks = as_java;
        self
    }

    /// Writes -0.0 as 0.0, as Java's encoder does. For comparing bytes only.
    pub fn java_zero(mut self, as_java: bool) -> Self {
        self.java_zero = as_java;
        self
    }

    /// How many bytes were written.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// The bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    /// How many lists, maps and objects were started: the number that the next one gets.
    pub fn started(&self) -> usize {
        self.started
    }

    /// Null.
    pub fn null(&mut self) {
        self.out.push(b'N');
    }

    /// A boolean.
    pub fn bool(&mut self, value: bool) {
        self.out.push(if value { b'T' } else { b'F' });
    }

    /// A 32-bit number.
    pub fn int(&mut self, value: i32) {
        match value {
            -0x10..=0x2F => self.out.push((value + 0x90) as u8),
            -0x800..=0x7FF => self.out.extend([((value >> 8) + 0xC8) as u8, value as u8]),
            -0x40000..=0x3FFFF => {
                self.out.extend([((value >> 16) + 0xD4) as u8, (value >> 8) as u8, value as u8]);
            }
            _ => self.tagged(b'I', value.to_be_bytes()),
        }
    }

    /// A 64-bit number.
    pub fn long(&mut self, value: i64) {
        match value {
            -0x8..=0xF => self.out.push((value + 0xE0) as u8),
            -0x800..=0x7FF => self.out.extend([((value >> 8) + 0xF8) as u8, value as u8]),
            -0x40000..=0x3FFFF => {
                self.out.extend([((value >> 16) + 0x3C) as u8, (value >> 8) as u8, value as u8]);
            }
            _ => match i32::try_from(value) {
                Ok(short) => self.tagged(b'Y', short.to_be_bytes()),
                Err(_) => self.tagged(b'L', value.to_be_bytes()),
            },
        }
    }

    /// A floating-point number.
    pub fn double(&mut self, value: f64) {
        let small = value as i32;
        let negative_zero = small == 0 && value.is_sign_negative() && !self.java_zero;
        if f64::from(small) == value && !negative_zero {
            match small {
                0 => return self.out.push(0x5B),
                1 => return self.out.push(0x5C),
                -0x80..=0x7F => return self.out.extend([0x5D, small as u8]),
                -0x8000..=0x7FFF => {
                    return self.out.extend([0x5E, (small >> 8) as u8, small as u8]);
                }
                _ => {}
            }
        }
        // As Java computes it: the product cut to 32 bits, and taken if it comes back the same.
        let thousandths = (value * 1000.0) as i32;
        if 0.001 * f64::from(thousandths) == value && !(thousandths == 0 && negative_zero) {
            return self.tagged(0x5F, thousandths.to_be_bytes());
        }
        let bits = if value.is_nan() { f64::NAN } else { value };
        self.tagged(b'D', bits.to_be_bytes());
    }

    /// Milliseconds since 1970.
    pub fn date(&mut self, milliseconds: i64) {
        if milliseconds % 60_000 == 0
            && let Ok(minutes) = i32::try_from(milliseconds / 60_000)
        {
            return self.tagged(0x4B, minutes.to_be_bytes());
        }
        self.tagged(0x4A, milliseconds.to_be_bytes());
    }

    /// A string.
    pub fn str(&mut self, value: &str) {
        if value.is_ascii() && value.len() <= TEXT_PART {
            self.text_head(value.len(), true);
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

    /// Starts a list of `len` elements, which must follow. Its number is the answer.
    pub fn list(&mut self, ty: Option<&str>, len: usize) -> usize {
        // Longer ones than an int can say do not fit into any payload.
        let count = i32::try_from(len).unwrap_or(i32::MAX);
        match (ty, len) {
            (Some(ty), 0..=7) => {
                self.out.push(0x70 + len as u8);
                self.ty(ty);
            }
            (Some(ty), _) => {
                self.out.push(b'V');
                self.ty(ty);
                self.int(count);
            }
            (None, 0..=7) => self.out.push(0x78 + len as u8),
            (None, _) => {
                self.out.push(b'X');
                self.int(count);
            }
        }
        self.begin()
    }

    /// Starts a list whose length is not known yet; [`end_list`](Self::end_list) says it.
    pub fn open_list(&mut self, ty: Option<&str>) -> OpenList {
        let mut name = Writer { types: std::mem::take(&mut self.types), ..Writer::new() };
        if let Some(ty) = ty {
            name.ty(ty);
        }
        self.types = name.types;
        self.begin();
        OpenList { at: self.out.len(), ty: ty.map(|_| name.out) }
    }

    /// Ends a list of `len` elements, which were written since.
    pub fn end_list(&mut self, list: OpenList, len: usize) {
        let mut head = Writer::new();
        match (&list.ty, len) {
            (Some(_), 0..=7) => head.out.push(0x70 + len as u8),
            (Some(_), _) => head.out.push(b'V'),
            (None, 0..=7) => head.out.push(0x78 + len as u8),
            (None, _) => head.out.push(b'X'),
        }
        head.out.extend(list.ty.into_iter().flatten());
        if len > 7 {
            head.int(i32::try_from(len).unwrap_or(i32::MAX));
        }
        self.out.splice(list.at..list.at, head.out);
    }

    /// Starts a map: keys and values follow, then [`end`](Self::end). Its number is the answer.
    pub fn map(&mut self, ty: Option<&str>) -> usize {
        match ty {
            Some(ty) => {
                self.out.push(b'M');
                self.ty(ty);
            }
            None => self.out.push(b'H'),
        }
        self.begin()
    }

    /// Ends a map.
    pub fn end(&mut self) {
        self.out.push(b'Z');
    }

    /// Refers to a list, map or object that was started as `number`.
    pub fn reference(&mut self, number: usize) {
        self.out.push(b'Q');
        self.int(i32::try_from(number).unwrap_or(i32::MAX));
    }

    /// Starts an object; for each field [`field`](Self::field) and its value follow, then
    /// [`end_object`](Self::end_object). Its number is the answer.
    pub fn object(&mut self, class: &str) -> usize {
        let known = self.classes.iter().rposition(|known| known.name == class);
        self.object_of(known, class)
    }

    /// The same with the fields known: a class that came before with other fields is defined anew.
    pub fn object_with<'f>(
        &mut self,
        class: &str,
        fields: impl Iterator<Item = &'f str> + Clone,
    ) -> usize {
        let same = |known: &Class| {
            known.name == class
                && known.complete
                && known.fields.iter().map(String::as_str).eq(fields.clone())
        };
        self.object_of(self.classes.iter().rposition(same), class)
    }

    fn object_of(&mut self, known: Option<usize>, class: &str) -> usize {
        let start = self.out.len();
        let index = known.unwrap_or_else(|| {
            self.classes.push(Class {
                name: class.to_owned(),
                fields: Vec::new(),
                complete: false,
            });
            self.classes.len() - 1
        });
        if index < 16 {
            self.out.push(0x60 + index as u8);
        } else {
            self.out.push(b'O');
            self.int(i32::try_from(index).unwrap_or(i32::MAX));
        }
        let number = self.begin();
        let defined_at = known.is_none().then_some(start);
        self.open.push(Open { class: index, defined_at, written: 0, number });
        number
    }

    /// Says which field of the innermost object comes next.
    ///
    /// # Errors
    /// The class had another field there before.
    pub fn field(&mut self, name: &str) -> Result<(), Error> {
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        let Some(class) = self.classes.get_mut(open.class) else { return Ok(()) };
        match class.fields.get(open.written) {
            Some(known) if known == name => {}
            // Also of an object in an object of the same class, which then ends first.
            None if !class.complete => class.fields.push(name.to_owned()),
            _ => {
                let kind = ErrorKind::Fields(class.name.clone());
                return Err(Error::new(kind, self.out.len()));
            }
        }
        open.written += 1;
        Ok(())
    }

    /// The number of the innermost object.
    pub fn innermost(&self) -> Option<usize> {
        self.open.last().map(|open| open.number)
    }

    /// Ends an object. The definition of a class goes in front of its first object; by then its
    /// fields are known.
    ///
    /// # Errors
    /// The class had more fields before.
    pub fn end_object(&mut self) -> Result<(), Error> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let Some(class) = self.classes.get_mut(open.class) else { return Ok(()) };
        class.complete = true;
        if open.written != class.fields.len() {
            let kind = ErrorKind::Fields(class.name.clone());
            return Err(Error::new(kind, self.out.len()));
        }
        if let Some(at) = open.defined_at {
            let mut definition = Writer::new();
            definition.out.push(b'C');
            definition.str(&class.name);
            definition.int(i32::try_from(class.fields.len()).unwrap_or(i32::MAX));
            class.fields.iter().for_each(|field| definition.str(field));
            self.out.splice(at..at, definition.out);
        }
        Ok(())
    }

    fn begin(&mut self) -> usize {
        self.started += 1;
        self.started - 1
    }

    fn ty(&mut self, name: &str) {
        match self.types.iter().position(|known| known == name) {
            Some(index) => self.int(i32::try_from(index).unwrap_or(i32::MAX)),
            None => {
                self.types.push(name.to_owned());
                self.str(name);
            }
        }
    }

    fn tagged<const N: usize>(&mut self, tag: u8, bytes: [u8; N]) {
        self.out.push(tag);
        self.out.extend_from_slice(&bytes);
    }
}

/// A list whose length is not known yet.
#[derive(Debug)]
pub struct OpenList {
    at: usize,
    ty: Option<Vec<u8>>,
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
