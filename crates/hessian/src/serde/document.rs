//! [`Value`] as a part of typed values: in Hessian with everything it holds, in other formats as its
//! plain form.

use std::fmt;

use ::serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use ::serde::ser::{Error as _, Serialize, Serializer};

use crate::serde::VALUE;
use crate::value::{Node, Value};

struct Stream(Vec<u8>);

impl Serialize for Stream {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return self.to_json().serialize(serializer);
        }
        if self.roots().len() != 1 {
            return Err(S::Error::custom("a value of several roots has no place in another one"));
        }
        serializer.serialize_newtype_struct(VALUE, &Stream(self.encode()))
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return deserializer.deserialize_any(Plain);
        }
        deserializer.deserialize_newtype_struct(VALUE, Encoded)
    }
}

/// The bytes of a stream.
struct Encoded;

impl Visitor<'_> for Encoded {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Value, E> {
        Value::decode(bytes).map_err(E::custom)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::null())
    }
}

/// Any value of another format.
struct Plain;

impl<'de> Visitor<'de> for Plain {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::null())
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::of(Node::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::of(match i32::try_from(value) {
            Ok(small) => Node::Int(small),
            Err(_) => Node::Long(value),
        }))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        match i64::try_from(value) {
            Ok(value) => self.visit_i64(value),
            Err(_) => Err(E::custom(format!("{value} does not fit a Java long"))),
        }
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::of(Node::Double(value)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let (mut value, mut items) = (Value::empty(), Vec::new());
        while let Some(item) = seq.next_element::<Value>()? {
            items.push(value.graft(&item));
        }
        let root = value.add(Node::List(None, items));
        value.set_root(root);
        Ok(value)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let (mut value, mut pairs) = (Value::empty(), Vec::new());
        while let Some((key, item)) = map.next_entry::<String, Value>()? {
            let key = value.add_text(key);
            pairs.push((key, value.graft(&item)));
        }
        let root = value.add(Node::Map(None, pairs));
        value.set_root(root);
        Ok(value)
    }
}
