//! The lowest layer of writing: [`Writer`] turns values into bytes, each in its shortest form, and
//! keeps the three tables of a stream. What it writes is what Dubbo's own encoder writes, except that
//! binary data is cut into the largest chunks (see [`Writer::java_chunks`]) and that the sign of -0.0
//! is kept. Lists without a length are never written: Dubbo's decoder cannot read them.

mod object;
mod strings;

use object::{Class, Open};

/// What a stream is given to begin with.
const CAPACITY: usize = 256;

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

impl Writer {
    /// An empty stream.
    pub fn new() -> Self {
        Self { out: Vec::with_capacity(CAPACITY), ..Self::default() }
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
    #[inline]
    pub fn null(&mut self) {
        self.out.push(b'N');
    }

    /// A boolean.
    #[inline]
    pub fn bool(&mut self, value: bool) {
        self.out.push(if value { b'T' } else { b'F' });
    }

    /// A 32-bit number.
    #[inline]
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
    #[inline]
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
    #[inline]
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
        let start = self.out.len();
        let ty = ty.map(|ty| {
            self.ty(ty);
            self.out.split_off(start)
        });
        self.begin();
        OpenList { at: start, ty }
    }

    /// Ends a list of `len` elements, which were written since.
    pub fn end_list(&mut self, list: OpenList, len: usize) {
        let end = self.out.len();
        match (&list.ty, len) {
            (Some(_), 0..=7) => self.out.push(0x70 + len as u8),
            (Some(_), _) => self.out.push(b'V'),
            (None, 0..=7) => self.out.push(0x78 + len as u8),
            (None, _) => self.out.push(b'X'),
        }
        self.out.extend(list.ty.into_iter().flatten());
        if len > 7 {
            self.int(i32::try_from(len).unwrap_or(i32::MAX));
        }
        // The head goes in front.
        let head = self.out.len() - end;
        if let Some(list) = self.out.get_mut(list.at..) {
            list.rotate_right(head);
        }
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
