//! What all types share that are an object in Hessian and a text for people.

use std::fmt;

/// A text that is no value of its type.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{text:?} is no {what}")]
pub struct ParseError {
    /// The text.
    pub text: String,
    /// What it should be, with an example.
    pub what: &'static str,
}

impl ParseError {
    pub(crate) fn new(text: &str, what: &'static str) -> Self {
        Self { text: text.to_owned(), what }
    }
}

/// Gives a type its two forms: the object `$wire`, made by `From` both ways, and its text.
macro_rules! wire_and_text {
    ($ty:ty, $wire:ty) => {
        impl ::serde::Serialize for $ty {
            fn serialize<S: ::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    return serializer.collect_str(self);
                }
                <$wire>::from(self.clone()).serialize(serializer)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $ty {
            fn deserialize<D: ::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                use ::serde::de::Error as _;
                if deserializer.is_human_readable() {
                    let text = <String as ::serde::Deserialize>::deserialize(deserializer)?;
                    return text.parse().map_err(D::Error::custom);
                }
                let wire = <$wire as ::serde::Deserialize>::deserialize(deserializer)?;
                Self::try_from(wire).map_err(D::Error::custom)
            }
        }
    };
}

pub(crate) use wire_and_text;

/// Parts of a text between separators, each a number.
pub(crate) fn numbers<const N: usize>(text: &str, separator: char) -> Option<[i64; N]> {
    let mut all = [0; N];
    let mut parts = text.split(separator);
    for place in &mut all {
        let part = parts.next().filter(|part| !part.is_empty())?;
        let plain = part.bytes().all(|byte| byte.is_ascii_digit());
        *place = part.parse().ok().filter(|_| plain)?;
    }
    parts.next().is_none().then_some(all)
}

/// A fraction of a second as Java prints it: three, six or nine digits, or none.
pub(crate) struct Fraction(pub(crate) i32);

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            nano if nano % 1_000_000 == 0 => write!(f, ".{:03}", nano / 1_000_000),
            nano if nano % 1_000 == 0 => write!(f, ".{:06}", nano / 1_000),
            nano => write!(f, ".{nano:09}"),
        }
    }
}

/// The nanoseconds of the digits after a point.
pub(crate) fn nanos(digits: &str) -> Option<i32> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !plain || digits.len() > 9 {
        return None;
    }
    format!("{digits:0<9}").parse().ok()
}
