//! A cursor over the bytes of a class file: every read is checked, every error knows its offset.

use std::fmt;

/// What is wrong with a class file, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Bytes before the one that is wrong.
    pub(crate) offset: usize,
    pub(crate) kind: FaultKind,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// It ends in the middle.
    Ends,
    /// It does not start with `CAFEBABE`.
    NotAClass,
    /// A constant of an unknown kind.
    Constant(u8),
    /// An index to a constant that is not there, or of another kind.
    Index(u16),
    /// A text that is not in the encoding of class files.
    Text,
    /// A descriptor or a generic signature that does not follow the grammar.
    Signature,
    /// Bytes are left over at the end of an attribute or of the file.
    Trailing,
    /// Its names and signatures, written out, are longer than any compiler's.
    TooMuch,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            FaultKind::Ends => write!(f, "the file ends too early"),
            FaultKind::NotAClass => write!(f, "this is no class file"),
            FaultKind::Constant(tag) => write!(f, "no constant has the kind {tag}"),
            FaultKind::Index(index) => {
                write!(f, "constant {index} is not there or not of the right kind")
            }
            FaultKind::Text => write!(f, "a text is not in the encoding of class files"),
            FaultKind::Signature => write!(f, "a signature does not follow the grammar"),
            FaultKind::Trailing => write!(f, "there are bytes left over"),
            FaultKind::TooMuch => write!(f, "its names and signatures are too long"),
        }?;
        write!(f, " (offset {})", self.offset)
    }
}

impl std::error::Error for Fault {}

/// Reads big-endian numbers and pieces.
#[derive(Clone, Debug)]
pub(crate) struct Bytes<'b> {
    rest: &'b [u8],
    /// Where `rest` starts in the file.
    offset: usize,
}

impl<'b> Bytes<'b> {
    /// All of a file.
    pub(crate) fn new(file: &'b [u8]) -> Self {
        Self { rest: file, offset: 0 }
    }

    /// Bytes before the next one.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// An error at the next byte.
    pub(crate) fn fault(&self, kind: FaultKind) -> Fault {
        Fault { offset: self.offset, kind }
    }

    /// The next `length` bytes.
    pub(crate) fn take(&mut self, length: usize) -> Result<&'b [u8], Fault> {
        let (taken, rest) =
            self.rest.split_at_checked(length).ok_or_else(|| self.fault(FaultKind::Ends))?;
        self.rest = rest;
        self.offset += length;
        Ok(taken)
    }

    /// The next `length` bytes, to be read in turn.
    pub(crate) fn part(&mut self, length: usize) -> Result<Bytes<'b>, Fault> {
        let offset = self.offset;
        Ok(Bytes { rest: self.take(length)?, offset })
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Fault> {
        Ok(self.number::<1>()?[0])
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Fault> {
        Ok(u16::from_be_bytes(self.number()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Fault> {
        Ok(u32::from_be_bytes(self.number()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Fault> {
        Ok(u64::from_be_bytes(self.number()?))
    }

    /// A length in four bytes.
    pub(crate) fn length(&mut self) -> Result<usize, Fault> {
        let fault = self.fault(FaultKind::Ends);
        usize::try_from(self.u32()?).map_err(|_| fault)
    }

    /// How many bytes are left.
    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }

    /// Nothing may be left.
    pub(crate) fn end(&self) -> Result<(), Fault> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.fault(FaultKind::Trailing)) }
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let fault = self.fault(FaultKind::Ends);
        self.take(N)?.try_into().map_err(|_| fault)
    }
}
