//! Writing typed values.

mod parts;

use ::serde::ser::{self, Serialize};
use parts::{Len, Map, Seq, Struct};

use crate::error::{Error, ErrorKind};
use crate::serde::{DATE, LIST, MAP, THIS, VALUE};
use crate::value::Value;
use crate::write::Writer;

/// Writes one value to a stream.
pub(crate) struct Serializer<'w> {
    writer: &'w mut Writer,
    form: Form,
}

/// What a newtype struct around the value said of it.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Plain,
    List(&'static str),
    Map(&'static str),
    Date,
    Value,
    /// An element of a `float[]`, which is widened bit for bit.
    Float,
}

impl<'w> Serializer<'w> {
    pub(crate) fn new(writer: &'w mut Writer) -> Self {
        Self { writer, form: Form::Plain }
    }

    fn error(&self, kind: ErrorKind) -> Error {
        Error::new(kind, self.writer.len())
    }

    fn list_type(&self) -> Option<&'static str> {
        if let Form::List(ty) = self.form { Some(ty) } else { None }
    }

    fn map_type(&self) -> Option<&'static str> {
        if let Form::Map(ty) = self.form { Some(ty) } else { None }
    }

    fn list(self, len: Option<usize>) -> Seq<'w> {
        let ty = self.list_type();
        let open = match len {
            Some(len) => {
                self.writer.list(ty, len);
                Len::Told(len)
            }
            None => Len::Open(self.writer.open_list(ty)),
        };
        let form = if ty == Some("[float") { Form::Float } else { Form::Plain };
        Seq { writer: self.writer, len: open, written: 0, form }
    }

    /// `{"variant": …}`.
    fn variant(self, variant: &'static str) -> &'w mut Writer {
        self.writer.map(None);
        self.writer.str(variant);
        self.writer
    }
}

/// Whether a name is one of a Java class.
fn is_class(name: &str) -> bool {
    name.contains('.')
}

impl<'w> ser::Serializer for Serializer<'w> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Seq<'w>;
    type SerializeTuple = Seq<'w>;
    type SerializeTupleStruct = Seq<'w>;
    type SerializeTupleVariant = Seq<'w>;
    type SerializeMap = Map<'w>;
    type SerializeStruct = Struct<'w>;
    type SerializeStructVariant = Struct<'w>;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.writer.bool(value);
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), Error> {
        self.serialize_i32(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), Error> {
        self.serialize_i32(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), Error> {
        self.writer.int(value);
        Ok(())
    }

    fn serialize_i64(self, value: i64) -> Result<(), Error> {
        match self.form {
            Form::Date => self.writer.date(value),
            _ => self.writer.long(value),
        }
        Ok(())
    }

    fn serialize_u8(self, value: u8) -> Result<(), Error> {
        self.serialize_i32(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), Error> {
        self.serialize_i32(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), Error> {
        self.serialize_i64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<(), Error> {
        match i64::try_from(value) {
            Ok(value) => self.serialize_i64(value),
            Err(_) => {
                let value = value.to_string();
                Err(self.error(ErrorKind::Range { value, target: "a Java long" }))
            }
        }
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        let wide = f64::from(value);
        let value = match self.form {
            Form::Float => wide,
            // The shortest text of a float is a number that reads as a double, too.
            _ => value.to_string().parse().unwrap_or(wide),
        };
        self.writer.double(value);
        Ok(())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        self.writer.double(value);
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.writer.str(value.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        self.writer.str(value);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        match self.form {
            Form::Value => Value::decode(value)?.write(self.writer),
            _ => self.writer.binary(value),
        }
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.writer.null();
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.writer.null();
        Ok(())
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<(), Error> {
        match self.writer.innermost().filter(|_| name == THIS) {
            Some(number) => self.writer.reference(number),
            None => self.writer.null(),
        }
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        if !is_class(name) {
            return self.serialize_str(variant);
        }
        self.writer.object_of_type(name, 1);
        self.writer.field_of_type("name")?;
        self.writer.str(variant);
        self.writer.end_object()
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        if name.starts_with('$') {
            if let Some(ty) = name.strip_prefix(LIST) {
                self.form = Form::List(ty);
            } else if let Some(ty) = name.strip_prefix(MAP) {
                self.form = Form::Map(ty);
            } else if name == DATE {
                self.form = Form::Date;
            } else if name == VALUE {
                self.form = Form::Value;
            }
        }
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let writer = self.variant(variant);
        value
            .serialize(Serializer::new(writer))
            .map_err(|e| e.within(format_args!(".{variant}")))?;
        writer.end();
        Ok(())
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Seq<'w>, Error> {
        Ok(self.list(len))
    }

    fn serialize_tuple(self, len: usize) -> Result<Seq<'w>, Error> {
        Ok(self.list(Some(len)))
    }

    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<Seq<'w>, Error> {
        Ok(self.list(Some(len)))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Seq<'w>, Error> {
        let mut seq = Serializer::new(self.variant(variant)).list(Some(len));
        seq.form = Form::Plain;
        Ok(seq)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Map<'w>, Error> {
        let ty = self.map_type();
        self.writer.map(ty);
        Ok(Map { writer: self.writer })
    }

    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Struct<'w>, Error> {
        let object = is_class(name);
        if object {
            self.writer.object_of_type(name, len);
        } else {
            let ty = self.map_type();
            self.writer.map(ty);
        }
        Ok(Struct { writer: self.writer, object, in_variant: false })
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Struct<'w>, Error> {
        let writer = self.variant(variant);
        writer.map(None);
        Ok(Struct { writer, object: false, in_variant: true })
    }
}
