//! The compact form of dates and times that a Java peer can be told to send: one number in place of an
//! object. It is read, never written.

use std::fmt;
use std::marker::PhantomData;

use ::serde::de::value::MapAccessDeserializer;
use ::serde::de::{self, Deserializer, MapAccess, Visitor};
use ::serde::ser::Serializer;
use ::serde::{Deserialize, Serialize};

/// A handle object, or the number in its place.
pub(crate) enum Compact<H> {
    /// Days from 1970 on of a date, nanoseconds from midnight on of a time.
    Number(i64),
    /// The usual form.
    Handle(H),
}

impl<H: Serialize> Serialize for Compact<H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Compact::Number(number) => serializer.serialize_i64(*number),
            Compact::Handle(handle) => handle.serialize(serializer),
        }
    }
}

impl<'de, H: Deserialize<'de>> Deserialize<'de> for Compact<H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Either(PhantomData))
    }
}

struct Either<H>(PhantomData<H>);

impl<'de, H: Deserialize<'de>> Visitor<'de> for Either<H> {
    type Value = Compact<H>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a date or time")
    }

    fn visit_i32<E: de::Error>(self, number: i32) -> Result<Compact<H>, E> {
        Ok(Compact::Number(number.into()))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Compact<H>, E> {
        Ok(Compact::Number(number))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Compact<H>, A::Error> {
        H::deserialize(MapAccessDeserializer::new(map)).map(Compact::Handle)
    }
}
