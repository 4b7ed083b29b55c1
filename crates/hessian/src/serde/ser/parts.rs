//! Writing what has parts: lists, maps, objects.

use ::serde::ser::{self, Serialize};

use super::{Form, Serializer};
use crate::error::{Error, ErrorKind};
use crate::write::{OpenList, Writer};

/// What is known of a list's length.
pub(super) enum Len {
    Told(usize),
    Open(OpenList),
}

/// A list.
pub(crate) struct Seq<'w> {
    pub(super) writer: &'w mut Writer,
    pub(super) len: Len,
    pub(super) written: usize,
    pub(super) form: Form,
}

impl Seq<'_> {
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let at = self.written;
        self.written += 1;
        value
            .serialize(Serializer { writer: self.writer, form: self.form })
            .map_err(|error| error.within(format_args!("[{at}]")))
    }

    fn finish(self) -> Result<(), Error> {
        match self.len {
            Len::Open(open) => self.writer.end_list(open, self.written),
            Len::Told(len) if len == self.written => {}
            Len::Told(len) => {
                let text = format!("a list of {len} elements has {}", self.written);
                return Err(Error::new(ErrorKind::Custom(text), self.writer.len()));
            }
        }
        Ok(())
    }
}

impl ser::SerializeSeq for Seq<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.element(value)
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}

impl ser::SerializeTuple for Seq<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.element(value)
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}

impl ser::SerializeTupleStruct for Seq<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.element(value)
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}

impl ser::SerializeTupleVariant for Seq<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.element(value)
    }

    fn end(mut self) -> Result<(), Error> {
        // The map with the variant's name is around the list.
        let len = std::mem::replace(&mut self.len, Len::Told(self.written));
        Seq { writer: self.writer, len, written: self.written, form: Form::Plain }.finish()?;
        self.writer.end();
        Ok(())
    }
}

/// A map.
pub(crate) struct Map<'w> {
    pub(super) writer: &'w mut Writer,
}

impl ser::SerializeMap for Map<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        key.serialize(Serializer::new(self.writer))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(Serializer::new(self.writer)).map_err(|e| e.within(format_args!("{{}}")))
    }

    fn end(self) -> Result<(), Error> {
        self.writer.end();
        Ok(())
    }
}

/// An object, or a map with the names of fields as keys.
pub(crate) struct Struct<'w> {
    pub(super) writer: &'w mut Writer,
    pub(super) object: bool,
    pub(super) in_variant: bool,
}

impl Struct<'_> {
    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        if self.object {
            self.writer.field_of_type(name)?;
        } else {
            self.writer.str(name);
        }
        value
            .serialize(Serializer::new(self.writer))
            .map_err(|error| error.within(format_args!(".{name}")))
    }

    fn finish(self) -> Result<(), Error> {
        if self.object {
            return self.writer.end_object();
        }
        self.writer.end();
        if self.in_variant {
            self.writer.end();
        }
        Ok(())
    }
}

impl ser::SerializeStruct for Struct<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.field(name, value)
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}

impl ser::SerializeStructVariant for Struct<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.field(name, value)
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}
