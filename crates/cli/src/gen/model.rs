//! What is written, apart from how: interfaces and types in Rust's terms. Built from class files by
//! `interface` and `objects`, put into text by `emit`.

use super::classfile::Constant;
use super::classfile::signature::Primitive;
use super::known::Known;

/// Everything that goes into one file.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) interfaces: Vec<Interface>,
    pub(crate) types: Vec<Declared>,
    pub(crate) faults: Vec<Faults>,
    /// What the user should know, in the order it was found.
    pub(crate) notes: Vec<String>,
}

/// Place of a type in [`Model::types`].
pub(crate) type TypeId = usize;

/// A trait.
#[derive(Debug)]
pub(crate) struct Interface {
    /// Binary name of the interface.
    pub(crate) java: String,
    pub(crate) rust: String,
    pub(crate) members: Vec<Member>,
    pub(crate) constants: Vec<Named>,
}

/// A constant of an interface.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) rust: String,
    /// As Java's source refers to it.
    pub(crate) java: String,
    /// Its type, which decides what an integral constant is.
    pub(crate) ty: Option<Primitive>,
    pub(crate) value: Constant,
}

/// A method, or why there is none.
#[derive(Debug)]
pub(crate) enum Member {
    Method(Method),
    /// What is left out, and why.
    LeftOut(String, String),
}

/// A method.
#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) java: String,
    pub(crate) rust: String,
    /// As Java's source declares it.
    pub(crate) declaration: String,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) result: Typed,
    pub(crate) thrown: Thrown,
}

/// A parameter.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) rust: String,
    pub(crate) typed: Typed,
}

/// What a method throws besides what every method may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thrown {
    Nothing,
    One(TypeId),
    /// One of several: a place in [`Model::faults`].
    OneOf(usize),
}

/// An enum of the exceptions that one method declares.
#[derive(Debug)]
pub(crate) struct Faults {
    pub(crate) rust: String,
    /// The Rust name of the method, in the trait.
    pub(crate) method: String,
    pub(crate) exceptions: Vec<TypeId>,
}

/// A Rust type and the Java type that it stands for.
#[derive(Clone, Debug)]
pub(crate) struct Typed {
    pub(crate) ty: RustType,
    /// As annotations write it, without type arguments.
    pub(crate) java: String,
}

/// A Rust type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RustType {
    Unit,
    Primitive(Primitive),
    Text,
    Bytes,
    /// A value whose class is known at run time only.
    Value,
    Known(&'static Known),
    Declared(TypeId),
    Boxed(TypeId),
    List(Box<RustType>),
    Map(Box<RustType>, Box<RustType>),
    /// Java's own `Optional`, which is an object.
    Optional(Box<RustType>),
    Option(Box<RustType>),
}

/// A struct or an enum for a Java class.
#[derive(Debug)]
pub(crate) struct Declared {
    /// Binary name.
    pub(crate) class: String,
    /// With type arguments, as Java's source has it.
    pub(crate) shown: String,
    pub(crate) rust: String,
    pub(crate) kind: Kind,
    /// What a reader should know about it.
    pub(crate) notes: Vec<String>,
}

/// What a class is.
#[derive(Debug)]
pub(crate) enum Kind {
    Object(Vec<Field>),
    Throwable(Vec<Field>),
    /// Names of the constants in Java and in Rust.
    Constants(Vec<(String, String)>),
}

/// A field of a class.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) java: String,
    pub(crate) rust: String,
    pub(crate) typed: Typed,
    pub(crate) note: Option<String>,
}

impl RustType {
    /// As a part of another type: a value that may be null is an `Option`.
    pub(crate) fn nullable(self) -> Self {
        match self {
            // These have a null of their own, or none.
            RustType::Unit | RustType::Value | RustType::Optional(_) | RustType::Option(_) => self,
            other => RustType::Option(Box::new(other)),
        }
    }

    /// The Java type that it stands for where no annotation says otherwise.
    pub(crate) fn java<'m>(&self, types: &'m [Declared]) -> &'m str {
        match self {
            RustType::Unit => "void",
            RustType::Primitive(primitive) => primitive.java(),
            RustType::Text => "java.lang.String",
            RustType::Bytes => "byte[]",
            RustType::Value => "java.lang.Object",
            RustType::Known(known) => known.java,
            RustType::Declared(id) | RustType::Boxed(id) => {
                types.get(*id).map_or("", |declared| declared.class.as_str())
            }
            RustType::List(_) => "java.util.List",
            RustType::Map(..) => "java.util.Map",
            RustType::Optional(_) => "java.util.Optional",
            RustType::Option(inner) => match &**inner {
                RustType::Primitive(primitive) => primitive.boxed(),
                inner => inner.java(types),
            },
        }
    }
}

impl Typed {
    /// What an annotation must say.
    pub(crate) fn annotation(&self, types: &[Declared]) -> Option<&str> {
        (self.ty.java(types) != self.java).then_some(&self.java)
    }
}
