//! What `consistenthash` hashes: the text form of the chosen arguments, as Java prints it, and
//! its 32-bit hash. Pure; text is streamed into the digest, never collected.
//!
//! # Rule
//!
//! `hash.arguments` lists argument indexes. The texts of these arguments, in that order and with
//! nothing between them, are the key; an index that is negative or past the end is skipped. The
//! hash is the first four bytes of the key's MD5, least significant first. The method name is no
//! part of it.
//!
//! # Dubbo
//!
//! `ConsistentHashLoadBalance.ConsistentHashSelector` (3.3) and Java's `String.valueOf`. Text forms
//! are UTF-8. What has no text of its own in Java (an array, an object that does not override
//! `toString`) prints an identity there and agrees with nobody; give the part that matters as text.

use std::fmt::{self, Write};

use md5::{Digest, Md5};

mod decimal;

/// `hash.arguments` when it is not set: the first argument.
pub const DEFAULT_ARGUMENTS: [usize; 1] = [0];

/// `hash.nodes` when it is not set: points per provider.
pub const DEFAULT_NODES: u32 = 160;

/// The largest `hash.nodes` that is accepted. A provider may set it, and a consumer pays eight
/// bytes for each point of each provider.
pub const MAX_NODES: u32 = 1_000_000;

/// One argument of a call, with the text form of its Java type. [`Display`](fmt::Display) prints
/// that form.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A `byte`, `short`, `int` or `long`.
    Int(i64),
    /// An integer above `i64::MAX`; a `BigInteger` in Java. Larger ones are [`Argument::Text`] of
    /// the same digits.
    UInt(u64),
    /// A `float`, in the form of JDK 19 and later.
    Float(f32),
    /// A `double`, in the form of JDK 19 and later: `1.0`, `1.0E10`, `1.0E-4`.
    Double(f64),
    /// A `String`, as it is.
    Text(String),
    /// A `java.util.List`: `[a, b]`.
    List(Vec<Argument>),
    /// A `java.util.Map`: `{k=v, l=w}` in this order.
    Map(Vec<(Argument, Argument)>),
}

impl Argument {
    /// Streams the text form into `sink`.
    ///
    /// # Errors
    /// Only those of `sink`.
    pub fn write_text(&self, sink: &mut dyn Write) -> fmt::Result {
        match self {
            Argument::Null => sink.write_str("null"),
            Argument::Bool(value) => write!(sink, "{value}"),
            Argument::Int(value) => write!(sink, "{value}"),
            Argument::UInt(value) => write!(sink, "{value}"),
            Argument::Float(value) => decimal::write_float(*value, sink),
            Argument::Double(value) => decimal::write_double(*value, sink),
            Argument::Text(text) => sink.write_str(text),
            Argument::List(items) => {
                sink.write_char('[')?;
                for (i, item) in items.iter().enumerate() {
                    separate(i, sink)?;
                    item.write_text(sink)?;
                }
                sink.write_char(']')
            }
            Argument::Map(entries) => {
                sink.write_char('{')?;
                for (i, (key, value)) in entries.iter().enumerate() {
                    separate(i, sink)?;
                    key.write_text(sink)?;
                    sink.write_char('=')?;
                    value.write_text(sink)?;
                }
                sink.write_char('}')
            }
        }
    }
}

fn separate(position: usize, sink: &mut dyn Write) -> fmt::Result {
    if position == 0 { Ok(()) } else { sink.write_str(", ") }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_text(f)
    }
}

impl From<&str> for Argument {
    fn from(text: &str) -> Self {
        Argument::Text(text.to_owned())
    }
}

impl From<String> for Argument {
    fn from(text: String) -> Self {
        Argument::Text(text)
    }
}

impl From<i64> for Argument {
    fn from(value: i64) -> Self {
        Argument::Int(value)
    }
}

impl From<f64> for Argument {
    fn from(value: f64) -> Self {
        Argument::Double(value)
    }
}

impl From<bool> for Argument {
    fn from(value: bool) -> Self {
        Argument::Bool(value)
    }
}

/// A value of `hash.arguments` or `hash.nodes` that cannot be used.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum KeyError {
    /// A piece of `hash.arguments` is no index.
    #[error("{piece:?} is not a decimal integer of 32 bits; write indexes as 0 or 0,2")]
    Argument {
        /// The piece between two commas.
        piece: String,
    },
    /// `hash.nodes` is no number or out of range.
    #[error("{text:?} is not an integer from 4 to {MAX_NODES}")]
    Nodes {
        /// The value as written.
        text: String,
    },
}

/// Reads `hash.arguments`: decimal integers between commas. Blanks beside a comma and a run of
/// commas count as one comma; what follows the last one may be missing. Negative indexes point at
/// no argument and are left out. The empty text is a value that is not set, so it gives
/// [`DEFAULT_ARGUMENTS`]; commas alone give no index at all.
///
/// # Errors
/// A piece that is no integer of 32 bits. So are blanks at either end of the text and an empty
/// first piece.
pub fn parse_arguments(text: &str) -> Result<Vec<usize>, KeyError> {
    if text.is_empty() {
        return Ok(DEFAULT_ARGUMENTS.to_vec());
    }
    let mut pieces = split_at_commas(text);
    while pieces.last().is_some_and(|piece| piece.is_empty()) {
        pieces.pop();
    }
    let mut indexes = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let refused = |_| KeyError::Argument { piece: piece.to_owned() };
        let index: i32 = piece.parse().map_err(refused)?;
        indexes.extend(usize::try_from(index));
    }
    Ok(indexes)
}

/// Cuts at what Java's pattern `\s*[,]+\s*` matches.
fn split_at_commas(text: &str) -> Vec<&str> {
    const BLANKS: [char; 6] = [' ', '\t', '\n', '\x0b', '\x0c', '\r'];
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((piece, after)) = rest.split_once(',') {
        pieces.push(piece.trim_end_matches(BLANKS));
        rest = after.trim_start_matches(',').trim_start_matches(BLANKS);
    }
    pieces.push(rest);
    pieces
}

/// Reads `hash.nodes`.
///
/// # Errors
/// Anything but a decimal integer from 4 to [`MAX_NODES`]. Fewer than 4 would make no point at all:
/// a digest gives four.
pub fn parse_nodes(text: &str) -> Result<u32, KeyError> {
    let nodes = text.parse().ok().filter(|nodes| (4..=MAX_NODES).contains(nodes));
    nodes.ok_or_else(|| KeyError::Nodes { text: text.to_owned() })
}

/// The hash of a key given as text.
pub fn hash_of_key(text: &str) -> u32 {
    first_word(Md5::new_with_prefix(text))
}

/// The hash of the key that `indexes` choose from `arguments`. Nothing is allocated.
pub fn hash_of_arguments(indexes: &[usize], arguments: &[Argument]) -> u32 {
    let mut key = Streamed(Md5::new());
    for argument in indexes.iter().filter_map(|index| arguments.get(*index)) {
        // Only a sink can fail, and a digest does not.
        let _ = argument.write_text(&mut key);
    }
    first_word(key.0)
}

fn first_word(key: Md5) -> u32 {
    let [a, b, c, d, ..] = <[u8; 16]>::from(key.finalize());
    u32::from_le_bytes([a, b, c, d])
}

/// A digest that text is written into.
struct Streamed(Md5);

impl Write for Streamed {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
