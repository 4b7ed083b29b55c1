//! Reading typed values. A value that is referred to is read once more from its bytes, so what it
//! costs is bounded by [`Limits::expansion`](crate::Limits).

use std::borrow::Cow;

use ::serde::de::value::{BorrowedStrDeserializer, StringDeserializer};
use ::serde::de::{self, DeserializeSeed, IntoDeserializer as _, Visitor};
use ::serde::forward_to_deserialize_any;

use crate::error::{Error, ErrorKind};
use crate::read::{Reader, Token};
use crate::serde::VALUE;
use crate::text::Text;
use crate::value::Value;

/// Reads one value of a stream.
pub(crate) struct Deserializer<'r, 'de> {
    reader: &'r mut Reader<'de>,
    depth: usize,
}

impl<'r, 'de> Deserializer<'r, 'de> {
    pub(crate) fn new(reader: &'r mut Reader<'de>) -> Self {
        Self { reader, depth: 0 }
    }

    fn deeper(&self) -> Result<usize, Error> {
        let limit = self.reader.limits().depth;
        if self.depth >= limit {
            let (name, what) = ("depth", "values within each other");
            return Err(self.reader.error(ErrorKind::Limit { name, what, limit }));
        }
        Ok(self.depth + 1)
    }

    fn list<V: Visitor<'de>>(
        self,
        visitor: V,
        len: Option<usize>,
        number: usize,
    ) -> Result<V::Value, Error> {
        let depth = self.deeper()?;
        let mut elements = Elements { reader: self.reader, left: len, depth, at: 0 };
        let value = visitor.visit_seq(&mut elements)?;
        while elements.begin() {
            elements.reader.skip_value()?;
        }
        elements.end(len.is_none())?;
        self.reader.finish(number);
        Ok(value)
    }

    fn map<V: Visitor<'de>>(self, visitor: V, number: usize) -> Result<V::Value, Error> {
        let depth = self.deeper()?;
        let mut entries = Entries { reader: self.reader, depth, key: None };
        let value = visitor.visit_map(&mut entries)?;
        while entries.reader.peek() != Some(b'Z') {
            entries.reader.skip_value()?;
        }
        entries.reader.next()?;
        self.reader.finish(number);
        Ok(value)
    }

    fn object<V: Visitor<'de>>(
        self,
        visitor: V,
        class: usize,
        number: usize,
    ) -> Result<V::Value, Error> {
        let depth = self.deeper()?;
        let count = self.reader.class(class).fields.len();
        let mut fields = Fields { reader: self.reader, class, count, next: 0, depth };
        let value = visitor.visit_map(&mut fields)?;
        for _ in fields.next..count {
            fields.reader.skip_value()?;
        }
        self.reader.finish(number);
        Ok(value)
    }

    /// Reads what a reference stands for.
    fn refer<T>(
        self,
        number: usize,
        read: impl FnOnce(Deserializer<'_, 'de>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let depth = self.deeper()?;
        let resume = self.reader.replay(number)?;
        let result = read(Deserializer { reader: self.reader, depth });
        self.reader.resume(resume);
        result
    }

    /// What is no list, map or object; and these, where something else was hoped for.
    #[inline(never)]
    fn other<V: Visitor<'de>>(
        self,
        token: Token<'de>,
        offset: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let value = match token {
            Token::Null => visitor.visit_unit(),
            Token::Bool(value) => visitor.visit_bool(value),
            Token::Int(value) => visitor.visit_i32(value),
            Token::Long(value) | Token::Date(value) => visitor.visit_i64(value),
            Token::Double(value) => visitor.visit_f64(value),
            Token::Str(Text::Str(Cow::Borrowed(text))) => visitor.visit_borrowed_str(text),
            Token::Str(Text::Str(Cow::Owned(text))) => visitor.visit_string(text),
            Token::Str(Text::Utf16(_)) => Err(Error::new(ErrorKind::LoneSurrogate, offset)),
            Token::Binary(Cow::Borrowed(bytes)) => visitor.visit_borrowed_bytes(bytes),
            Token::Binary(Cow::Owned(bytes)) => visitor.visit_byte_buf(bytes),
            started => self.started(started, visitor),
        };
        value.map_err(|error| located(error, offset))
    }

    fn started<V: Visitor<'de>>(self, token: Token<'de>, visitor: V) -> Result<V::Value, Error> {
        match token {
            Token::List { len, number, .. } => self.list(visitor, len, number),
            Token::Map { number, .. } => self.map(visitor, number),
            Token::Object { class, number } => self.object(visitor, class, number),
            Token::Ref(number) => self.refer(number, |again| {
                let token = again.reader.next()?;
                again.started(token, visitor)
            }),
            _ => Err(self.reader.unexpected_end()),
        }
    }
}

impl<'de> de::Deserializer<'de> for Deserializer<'_, 'de> {
    type Error = Error;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let offset = self.reader.position();
        match self.reader.next()? {
            started @ (Token::List { .. } | Token::Map { .. } | Token::Object { .. }) => {
                self.started(started, visitor)
            }
            other => self.other(other, offset, visitor),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let offset = self.reader.position();
        match self.reader.next()? {
            Token::List { len, number, .. } => self.list(visitor, len, number),
            other => self.other(other, offset, visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let offset = self.reader.position();
        match self.reader.next()? {
            Token::Object { class, number } => self.object(visitor, class, number),
            other => self.other(other, offset, visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.reader.peek() == Some(b'N') {
            self.reader.next()?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if name == VALUE {
            let value = Value::read(self.reader)?;
            return visitor.visit_byte_buf(value.encode());
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let offset = self.reader.position();
        let value = match self.reader.next()? {
            Token::Str(Text::Str(name)) => {
                visitor.visit_enum(name.into_owned().into_deserializer())
            }
            Token::Object { class, number } => {
                let name = constant(self.reader, class)?;
                self.reader.finish(number);
                visitor.visit_enum(name.into_deserializer())
            }
            Token::Map { number, .. } => {
                let depth = self.deeper()?;
                let value = visitor.visit_enum(Variant { reader: self.reader, depth })?;
                match self.reader.next()? {
                    Token::End => self.reader.finish(number),
                    _ => return Err(self.reader.error(one_entry())),
                }
                Ok(value)
            }
            Token::Ref(number) => {
                return self.refer(number, |again| again.deserialize_enum("", &[], visitor));
            }
            _ => Err(Error::new(
                ErrorKind::Unexpected { expected: "a constant of an enum", found: "another value" },
                offset,
            )),
        };
        value.map_err(|error| located(error, offset))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.reader.skip_value()?;
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct tuple tuple_struct map identifier
    }
}

/// What serde's types say knows no offset.
fn located(error: Error, offset: usize) -> Error {
    let nowhere = error.offset == 0 && matches!(error.kind, ErrorKind::Custom(_));
    if nowhere { error.at(offset) } else { error }
}

fn one_entry() -> ErrorKind {
    ErrorKind::Unexpected { expected: "a map of one entry", found: "another one" }
}

/// The name of a constant: its field `name`. Other fields are passed over.
fn constant(reader: &mut Reader<'_>, class: usize) -> Result<String, Error> {
    let mut name = None;
    for at in 0..reader.class(class).fields.len() {
        let is_name = reader.class(class).fields.get(at).is_some_and(|field| field == "name");
        if is_name && let Token::Str(Text::Str(text)) = peeked(reader)? {
            name = Some(text.into_owned());
        } else if !is_name {
            reader.skip_value()?;
        }
    }
    name.ok_or_else(|| {
        let kind = ErrorKind::Unexpected { expected: "the name of a constant", found: "none" };
        reader.error(kind)
    })
}

/// The next value if it is no container, which is passed over.
fn peeked<'de>(reader: &mut Reader<'de>) -> Result<Token<'de>, Error> {
    let token = reader.next()?;
    match token {
        Token::List { .. } | Token::Map { .. } | Token::Object { .. } | Token::End => {
            reader.skip_rest(token)?;
            Ok(Token::Null)
        }
        plain => Ok(plain),
    }
}

/// The elements of a list.
struct Elements<'r, 'de> {
    reader: &'r mut Reader<'de>,
    /// `None` is up to the end.
    left: Option<usize>,
    depth: usize,
    at: usize,
}

impl Elements<'_, '_> {
    /// Whether one more element follows, which is then to be read.
    fn begin(&mut self) -> bool {
        match &mut self.left {
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
            None => self.reader.peek() != Some(b'Z'),
        }
    }

    fn end(&mut self, marked: bool) -> Result<(), Error> {
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
struct Entries<'r, 'de> {
    reader: &'r mut Reader<'de>,
    depth: usize,
    /// Where the last key is, for paths of errors.
    key: Option<usize>,
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
struct Fields<'r, 'de> {
    reader: &'r mut Reader<'de>,
    class: usize,
    count: usize,
    next: usize,
    depth: usize,
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
        match self.reader.class(self.class).fields.get(self.next).cloned() {
            Some(Cow::Borrowed(name)) => {
                seed.deserialize(BorrowedStrDeserializer::new(name)).map(Some)
            }
            Some(Cow::Owned(name)) => {
                let name: StringDeserializer<Error> = name.into_deserializer();
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
struct Variant<'r, 'de> {
    reader: &'r mut Reader<'de>,
    depth: usize,
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
