//! Reading typed values. A value that is referred to is read once more from its bytes, so what it
//! costs is bounded by [`Limits::expansion`](crate::Limits).

mod access;

use std::borrow::Cow;

use ::serde::de::{self, IntoDeserializer as _, Visitor};
use ::serde::forward_to_deserialize_any;
use access::{Elements, Entries, Fields, Variant};

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
        if let Some((class, number)) = self.reader.object_here()? {
            return self.object(visitor, class, number);
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.reader.null_here()? {
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

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.reader.bool_here()? {
            Some(value) => visitor.visit_bool(value),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.reader.int_here()? {
            Some(value) => visitor.visit_i32(value),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.reader.long_here()? {
            Some(value) => visitor.visit_i64(value),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.reader.double_here()? {
            Some(value) => visitor.visit_f64(value),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let offset = self.reader.position();
        match self.reader.ascii_here()? {
            Some(text) => visitor.visit_borrowed_str(text).map_err(|error| located(error, offset)),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    forward_to_deserialize_any! {
        i8 i16 i128 u8 u16 u32 u64 u128 f32 char bytes byte_buf unit
        unit_struct tuple tuple_struct map
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
