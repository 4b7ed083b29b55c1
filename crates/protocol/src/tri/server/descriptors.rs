//! Descriptors of `.proto` files, found by file name and by the names of what they declare.
//!
//! The bytes of each file are kept as they were given, so that options this crate knows nothing of
//! reach whoever asks.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use prost::{DecodeError, Message};
use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorProto};

/// A `google.protobuf.FileDescriptorSet` whose files stay encoded.
#[derive(Clone, PartialEq, prost::Message)]
struct RawSet {
    #[prost(bytes = "bytes", repeated, tag = "1")]
    file: Vec<Bytes>,
}

/// All known files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    by_name: HashMap<String, Bytes>,
    by_symbol: HashMap<String, Bytes>,
    /// Extensions: extended type, field number, file.
    extensions: HashMap<String, BTreeMap<i32, Bytes>>,
}

impl Files {
    /// Adds the files of an encoded set. Of files with the same name the first stays.
    pub(crate) fn add(&mut self, set: &[u8]) -> Result<(), DecodeError> {
        for raw in RawSet::decode(set)?.file {
            let file = FileDescriptorProto::decode(raw.clone())?;
            if !self.by_name.contains_key(file.name()) {
                self.by_name.insert(file.name().to_owned(), raw.clone());
                self.index(&file, &raw);
            }
        }
        Ok(())
    }

    /// The file of that name.
    pub(crate) fn by_name(&self, name: &str) -> Option<&Bytes> {
        self.by_name.get(name)
    }

    /// The file that declares a message, enum, enum value, field, service, method or extension.
    pub(crate) fn by_symbol(&self, symbol: &str) -> Option<&Bytes> {
        self.by_symbol.get(symbol.strip_prefix('.').unwrap_or(symbol))
    }

    /// The file that declares an extension.
    pub(crate) fn by_extension(&self, of: &str, number: i32) -> Option<&Bytes> {
        self.extensions.get(of)?.get(&number)
    }

    /// Numbers of all extensions of a type; `None` for a type that nobody knows.
    pub(crate) fn extension_numbers(&self, of: &str) -> Option<Vec<i32>> {
        match self.extensions.get(of) {
            Some(known) => Some(known.keys().copied().collect()),
            None => self.by_symbol.contains_key(of).then(Vec::new),
        }
    }

    fn index(&mut self, file: &FileDescriptorProto, raw: &Bytes) {
        let package = file.package();
        for message in &file.message_type {
            self.index_message(package, message, raw);
        }
        for of in &file.enum_type {
            self.index_enum(package, of, raw);
        }
        for service in &file.service {
            let name = join(package, service.name());
            for method in &service.method {
                self.symbol(join(&name, method.name()), raw);
            }
            self.symbol(name, raw);
        }
        self.index_extensions(package, &file.extension, raw);
    }

    fn index_message(&mut self, scope: &str, message: &DescriptorProto, raw: &Bytes) {
        let name = join(scope, message.name());
        for field in &message.field {
            self.symbol(join(&name, field.name()), raw);
        }
        for oneof in &message.oneof_decl {
            self.symbol(join(&name, oneof.name()), raw);
        }
        for nested in &message.nested_type {
            self.index_message(&name, nested, raw);
        }
        for of in &message.enum_type {
            self.index_enum(&name, of, raw);
        }
        self.index_extensions(&name, &message.extension, raw);
        self.symbol(name, raw);
    }

    fn index_enum(&mut self, scope: &str, of: &EnumDescriptorProto, raw: &Bytes) {
        let name = join(scope, of.name());
        for value in &of.value {
            // Values live in the scope of their enum's siblings; some tools ask for them inside.
            self.symbol(join(scope, value.name()), raw);
            self.symbol(join(&name, value.name()), raw);
        }
        self.symbol(name, raw);
    }

    fn index_extensions(
        &mut self,
        scope: &str,
        extensions: &[prost_types::FieldDescriptorProto],
        raw: &Bytes,
    ) {
        for extension in extensions {
            self.symbol(join(scope, extension.name()), raw);
            let of = extension.extendee();
            let of = of.strip_prefix('.').unwrap_or(of).to_owned();
            let known = self.extensions.entry(of).or_default();
            known.entry(extension.number()).or_insert_with(|| raw.clone());
        }
    }

    fn symbol(&mut self, name: String, raw: &Bytes) {
        self.by_symbol.entry(name).or_insert_with(|| raw.clone());
    }
}

fn join(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_owned() } else { format!("{scope}.{name}") }
}

#[cfg(test)]
mod tests {
    use prost_types::{EnumValueDescriptorProto, FieldDescriptorProto, FileDescriptorSet};

    use super::*;

    fn field(name: &str, number: i32, extendee: Option<&str>) -> FieldDescriptorProto {
        FieldDescriptorProto {
            name: Some(name.to_owned()),
            number: Some(number),
            extendee: extendee.map(str::to_owned),
            ..Default::default()
        }
    }

    #[test]
    fn everything_declared_is_found_and_bytes_are_kept() {
        let value = EnumValueDescriptorProto { name: Some("ON".to_owned()), ..Default::default() };
        let inner = DescriptorProto { name: Some("Inner".to_owned()), ..Default::default() };
        let message = DescriptorProto {
            name: Some("Outer".to_owned()),
            field: vec![field("id", 1, None)],
            nested_type: vec![inner],
            enum_type: vec![EnumDescriptorProto {
                name: Some("Switch".to_owned()),
                value: vec![value],
                ..Default::default()
            }],
            ..Default::default()
        };
        let file = FileDescriptorProto {
            name: Some("x.proto".to_owned()),
            package: Some("p".to_owned()),
            message_type: vec![message],
            extension: vec![field("more", 100, Some(".p.Outer"))],
            ..Default::default()
        };
        let set = FileDescriptorSet { file: vec![file.clone()] }.encode_to_vec();
        let mut files = Files::default();
        files.add(&set).unwrap();
        for symbol in [
            "p.Outer",
            ".p.Outer",
            "p.Outer.id",
            "p.Outer.Inner",
            "p.Outer.Switch",
            "p.Outer.ON",
            "p.Outer.Switch.ON",
            "p.more",
        ] {
            assert_eq!(files.by_symbol(symbol).unwrap()[..], file.encode_to_vec(), "{symbol}");
        }
        assert!(files.by_symbol("p").is_none());
        assert!(files.by_name("x.proto").is_some());
        assert!(files.by_extension("p.Outer", 100).is_some());
        assert_eq!(files.extension_numbers("p.Outer"), Some(vec![100]));
        assert_eq!(files.extension_numbers("p.Outer.Inner"), Some(vec![]));
        assert_eq!(files.extension_numbers("q.None"), None);
        assert!(files.add(b"\xff").is_err());
    }
}
