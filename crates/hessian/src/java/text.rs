//! What all types share that are an object in Hessian and a text for people.

use std::fmt;
use std::marker::PhantomData;

use ::serde::Deserialize;
use ::serde::de::value::MapAccessDeserializer;
use ::serde::de::{self, IntoDeserializer as _, MapAccess, Visitor};

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
                // Generic calls of Java carry the text in either case.
                let given = deserializer.deserialize_any($crate::java::text::Given(
                    ::std::marker::PhantomData::<$wire>,
                ))?;
                match given {
                    $crate::java::text::TextOr::Text(text) => {
                        text.parse().map_err(D::Error::custom)
                    }
                    $crate::java::text::TextOr::Wire(wire) => {
                        Self::try_from(wire).map_err(D::Error::custom)
                    }
                }
            }
        }
    };
}

pub(crate) use wire_and_text;

/// A value in one of its two forms.
pub(crate) enum TextOr<W> {
    /// As people write it.
    Text(String),
    /// As the wire has it.
    Wire(W),
}

/// Takes whichever form comes.
pub(crate) struct Given<W>(pub(crate) PhantomData<W>);

impl<'de, W: Deserialize<'de>> Visitor<'de> for Given<W> {
    type Value = TextOr<W>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, or an object with the parts")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<TextOr<W>, E> {
        Ok(TextOr::Text(text.to_owned()))
    }

    fn visit_i32<E: de::Error>(self, value: i32) -> Result<TextOr<W>, E> {
        W::deserialize(value.into_deserializer()).map(TextOr::Wire)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<TextOr<W>, E> {
        W::deserialize(value.into_deserializer()).map(TextOr::Wire)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TextOr<W>, A::Error> {
        W::deserialize(MapAccessDeserializer::new(map)).map(TextOr::Wire)
    }
}

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
