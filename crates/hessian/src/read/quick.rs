//! Short cuts for typed reading: the value that is asked for, if that is what comes, without a token
//! in between. Everything else is left to [`Reader::next`].

use super::Reader;
use crate::error::Error;

impl<'a> Reader<'a> {
    /// The next value if it is an int.
    #[inline]
    pub(crate) fn int_here(&mut self) -> Result<Option<i32>, Error> {
        let (value, len) = match *self.rest() {
            [tag @ 0x80..=0xBF, ..] => (i32::from(tag) - 0x90, 1),
            [tag @ 0xC0..=0xCF, low, ..] => ((i32::from(tag) - 0xC8) << 8 | i32::from(low), 2),
            [tag @ 0xD0..=0xD7, high, low, ..] => {
                let low = u16::from_be_bytes([high, low]);
                ((i32::from(tag) - 0xD4) << 16 | i32::from(low), 3)
            }
            [b'I', a, b, c, d, ..] => (i32::from_be_bytes([a, b, c, d]), 5),
            _ => return Ok(None),
        };
        self.pass(len)?;
        Ok(Some(value))
    }

    /// The next value if it is a long.
    #[inline]
    pub(crate) fn long_here(&mut self) -> Result<Option<i64>, Error> {
        let (value, len) = match *self.rest() {
            [tag @ 0xD8..=0xEF, ..] => (i64::from(tag) - 0xE0, 1),
            [tag @ 0xF0..=0xFF, low, ..] => ((i64::from(tag) - 0xF8) << 8 | i64::from(low), 2),
            [tag @ 0x38..=0x3F, high, low, ..] => {
                let low = u16::from_be_bytes([high, low]);
                ((i64::from(tag) - 0x3C) << 16 | i64::from(low), 3)
            }
            [b'Y', a, b, c, d, ..] => (i64::from(i32::from_be_bytes([a, b, c, d])), 5),
            [b'L', a, b, c, d, e, f, g, h, ..] => (i64::from_be_bytes([a, b, c, d, e, f, g, h]), 9),
            _ => return Ok(None),
        };
        self.pass(len)?;
        Ok(Some(value))
    }

    /// The next value if it is a double.
    #[inline]
    pub(crate) fn double_here(&mut self) -> Result<Option<f64>, Error> {
        let (value, len) = match *self.rest() {
            [0x5B, ..] => (0.0, 1),
            [0x5C, ..] => (1.0, 1),
            [0x5D, a, ..] => (f64::from(i8::from_be_bytes([a])), 2),
            [0x5E, a, b, ..] => (f64::from(i16::from_be_bytes([a, b])), 3),
            [0x5F, a, b, c, d, ..] => (f64::from(i32::from_be_bytes([a, b, c, d])) * 0.001, 5),
            [b'D', a, b, c, d, e, f, g, h, ..] => (f64::from_be_bytes([a, b, c, d, e, f, g, h]), 9),
            _ => return Ok(None),
        };
        self.pass(len)?;
        Ok(Some(value))
    }

    /// The next value if it is a boolean.
    #[inline]
    pub(crate) fn bool_here(&mut self) -> Result<Option<bool>, Error> {
        let value = match self.peek() {
            Some(b'T') => true,
            Some(b'F') => false,
            _ => return Ok(None),
        };
        self.pass(1)?;
        Ok(Some(value))
    }

    /// Whether the next value is null, which is passed over then.
    #[inline]
    pub(crate) fn null_here(&mut self) -> Result<bool, Error> {
        let null = self.peek() == Some(b'N');
        if null {
            self.pass(1)?;
        }
        Ok(null)
    }

    /// The next value if it is a text of ASCII in one part.
    #[inline]
    pub(crate) fn ascii_here(&mut self) -> Result<Option<&'a str>, Error> {
        let rest = self.rest();
        let (head, units) = match *rest {
            [units @ 0x00..=0x1F, ..] => (1, usize::from(units)),
            [tag @ 0x30..=0x33, low, ..] => (2, usize::from(tag - 0x30) << 8 | usize::from(low)),
            _ => return Ok(None),
        };
        let Some(bytes) = rest.get(head..head + units).filter(|bytes| bytes.is_ascii()) else {
            return Ok(None);
        };
        let Ok(text) = std::str::from_utf8(bytes) else { return Ok(None) };
        self.pass(head + units)?;
        Ok(Some(text))
    }

    /// The class and the number of the next value if it is an object of one of the first classes.
    #[inline]
    pub(crate) fn object_here(&mut self) -> Result<Option<(usize, usize)>, Error> {
        if self.at == 0 {
            self.check_input()?;
        }
        while self.peek() == Some(b'C') {
            self.at += 1;
            self.definition()?;
        }
        let (Some(tag @ 0x60..=0x6F), start) = (self.peek(), self.at) else { return Ok(None) };
        self.pass(1)?;
        self.flat = 0;
        self.object(start, usize::from(tag - 0x60)).map(Some)
    }

    /// Counts one value of `len` bytes.
    #[inline]
    fn pass(&mut self, len: usize) -> Result<(), Error> {
        self.visit()?;
        if self.at == 0 {
            self.check_input()?;
        }
        self.at += len;
        Ok(())
    }
}
