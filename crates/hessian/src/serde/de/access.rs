//! Reading what has parts: elements, entries, fields, variants.

use std::borrow::Cow;

use ::serde::de::value::{BorrowedStrDeserializer, StringDeserializer};
use ::serde::de::{self, DeserializeSeed, IntoDeserializer as _, Visitor};

use super::Deserializer;
use crate::error::Error;
use crate::read::{Reader, Token};
use crate::text::Text;

/// The elements of a list.
pub(super) struct Elements<'r, 'de> {
    pub(super) reader: &'r mut Reader<'de>,
    /// `None` is up to the end.
    pub(super) left: Option<usize>,
    pub(super) depth: usize,
    pub(super) at: usize,
}

impl Elements<'_, '_> {
    /// Whether one more element follows, which is then to be read.
    pub(super) fn begin(&mut self) -> bool {
        match &mut self.left {
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
            None => self.reader.peek() != Some(b'Z'),
        }
    }

    pub(super) fn end(&mut self, marked: bool) -> Result<(), Error> {
        if marked {
            self.reader.next()?;
        }
        Ok(())
    }
}

impl<'de> de::SeqAccess<'de> for &mut Elements<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if !self.begin() {
            return Ok(None);
        }
        let at = self.at;
        self.at += 1;
        let element = Deserializer { reader: self.reader, depth: self.depth };
        let value = seed.deserialize(element);
        value.map(Some).map_err(|error| error.within(format_args!("[{at}]")))
    }

    fn size_hint(&self) -> Option<usize> {
        // Each element takes at least a byte.
        self.left.map(|left| left.min(self.reader.rest().len()))
    }
}

/// The entries of a map.
pub(super) struct Entries<'r, 'de> {
    pub(super) reader: &'r mut Reader<'de>,
    pub(super) depth: usize,
    /// Where the last key is, for paths of errors.
    pub(super) key: Option<usize>,
}

impl<'de> de::MapAccess<'de> for &mut Entries<'_, 'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        if self.reader.peek() == Some(b'Z') {
            return Ok(None);
        }
        self.key = Some(self.reader.position());
        seed.deserialize(Deserializer { reader: self.reader, depth: self.depth }).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let key = self.key;
        let value = seed.deserialize(Deserializer { reader: self.reader, depth: self.depth });
        value.map_err(|error| match key.and_then(|at| text_at(self.reader, at)) {
            Some(key) => error.within(format_args!(".{key}")),
            None => error.within(format_args!("{{}}")),
        })
    }
}

/// The text at an offset, if there is one.
fn text_at<'de>(reader: &Reader<'de>, at: usize) -> Option<Cow<'de, str>> {
    let mut key = Reader::new(reader.input().get(at..)?);
    match key.next() {
        Ok(Token::Str(Text::Str(text))) => Some(text),
        _ => None,
    }
}

/// The fields of an object.
pub(super) struct Fields<'r, 'de> {
    pub(super) reader: &'r mut Reader<'de>,
    pub(super) class: usize,
    pub(super) count: usize,
    pub(super) next: usize,
    pub(super) depth: usize,
}

impl<'de> de::MapAccess<'de> for &mut Fields<'_, 'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        while self.reader.class(self.class).is_hidden(self.next) {
            self.reader.skip_value()?;
            self.next += 1;
        }
        if self.next >= self.count {
            return Ok(None);
        }
        match self.reader.class(self.class).fields.get(self.next) {
            Some(Cow::Borrowed(name)) => {
                seed.deserialize(BorrowedStrDeserializer::new(name)).map(Some)
            }
            Some(Cow::Owned(name)) => {
                let name: StringDeserializer<Error> = name.clone().into_deserializer();
                seed.deserialize(name).map(Some)
            }
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let at = self.next;
        self.next += 1;
        let name = |fields: &Self| fields.reader.class(fields.class).fields.get(at).cloned();
        // An exception without a cause is its own cause.
        if self.reader.peek() == Some(b'Q') && name(self).as_deref() == Some("cause") {
            let before = self.reader.position();
            if let Token::Ref(number) = self.reader.next()?
                && self.reader.is_open(number)
            {
                return seed.deserialize(().into_deserializer());
            }
            self.reader.rewind(before);
        }
        let value = seed.deserialize(Deserializer { reader: self.reader, depth: self.depth });
        value.map_err(|error| {
            error.within(format_args!(".{}", name(self).as_deref().unwrap_or_default()))
        })
    }
}

/// A variant with content: a map of one entry.
pub(super) struct Variant<'r, 'de> {
    pub(super) reader: &'r mut Reader<'de>,
    pub(super) depth: usize,
}

impl<'r, 'de> de::EnumAccess<'de> for Variant<'r, 'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let name = seed.deserialize(Deserializer { reader: self.reader, depth: self.depth })?;
        Ok((name, self))
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        self.reader.skip_value()
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(Deserializer { reader: self.reader, depth: self.depth })
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        de::Deserializer::deserialize_any(
            Deserializer { reader: self.reader, depth: self.depth },
            visitor,
        )
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.tuple_variant(0, visitor)
    }
}
