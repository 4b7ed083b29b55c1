//! What a peer may ask of a decoder. Nothing it claims is believed before it is there.

/// Limits of one stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Bytes of input.
    pub input: usize,
    /// Lists, maps and objects within each other.
    pub depth: usize,
    /// Values of any kind, each visit of a value that is referred to included. Elements of arrays of
    /// primitives do not count.
    pub values: usize,
    /// Bytes of memory that decoded values take, roughly, and bytes that are read again where a value is
    /// referred to.
    pub memory: usize,
    /// Class definitions.
    pub classes: usize,
    /// Fields of one class.
    pub fields: usize,
    /// Type names of lists and maps.
    pub types: usize,
    /// How many times the values of the input may be visited for typed decoding, which reads a value
    /// again wherever it is referred to.
    pub expansion: usize,
}

impl Limits {
    /// The limits for inputs of at most `bytes` bytes.
    pub const fn for_payload(bytes: usize) -> Self {
        Self {
            input: bytes,
            depth: 512,
            values: bytes,
            // Small inputs may take what any table takes.
            memory: if bytes < 4096 { 65_536 } else { bytes.saturating_mul(16) },
            classes: 1024,
            fields: 1024,
            types: 1024,
            expansion: 4,
        }
    }
}

impl Default for Limits {
    /// For Dubbo's default payload of 8 388 608 bytes.
    fn default() -> Self {
        Self::for_payload(8 * 1024 * 1024)
    }
}
