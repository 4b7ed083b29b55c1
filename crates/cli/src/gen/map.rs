//! From Java types to Rust types. Classes that are met become types to be written, each once per set
//! of type arguments; what they hold is read later, so that types may refer to each other.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use super::classes::Classes;
use super::classfile::signature::{JavaType, Primitive};
use super::classfile::{Access, ClassFile};
use super::closed::{Bindings, Closed};
use super::error::GenError;
use super::known::{self, Library, known, library};
use super::model::{Declared, Kind, RustType, TypeId, Typed};

/// What the user may choose.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Choices {
    /// Elements of collections and arrays may be null.
    pub(crate) nullable_elements: bool,
}

/// Where a type stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A field, a parameter, a result.
    Top,
    /// An element of an array: a Java peer knows its class.
    Component,
    /// An element of a collection: a Java peer takes what comes.
    Element,
}

/// Maps types, and collects the classes among them.
#[derive(Debug)]
pub(crate) struct Mapper<'c> {
    pub(crate) classes: &'c mut Classes,
    pub(crate) types: Vec<Declared>,
    pub(crate) notes: Vec<String>,
    choices: Choices,
    ids: HashMap<Closed, Option<TypeId>>,
    /// Types whose fields have not been read yet.
    pub(crate) waiting: VecDeque<Waiting>,
    /// The class whose fields are read.
    within: Option<Closed>,
    /// The interface that all this is for.
    interface: String,
}

/// A type whose fields have not been read yet.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) id: TypeId,
    pub(crate) class: Rc<ClassFile>,
    pub(crate) bindings: Bindings,
    /// The class with its type arguments.
    pub(crate) key: Closed,
}

/// Types in one output.
const TYPES: usize = 2_000;

/// Superclasses above one class.
const ANCESTORS: usize = 60;

impl<'c> Mapper<'c> {
    pub(crate) fn new(classes: &'c mut Classes, choices: Choices) -> Self {
        let (types, notes, ids) = (Vec::new(), Vec::new(), HashMap::new());
        let (waiting, within, interface) = (VecDeque::new(), None, String::new());
        Self { classes, types, notes, choices, ids, waiting, within, interface }
    }

    /// What follows is reached from this interface.
    pub(crate) fn from(&mut self, interface: &str) {
        interface.clone_into(&mut self.interface);
    }

    /// The type of a field, a parameter or a result.
    ///
    /// # Errors
    /// A class file cannot be read.
    pub(crate) fn typed(&mut self, ty: &Closed) -> Result<Typed, GenError> {
        Ok(Typed { ty: self.map(ty, Place::Top)?, java: ty.erased() })
    }

    /// A type, where it stands.
    ///
    /// # Errors
    /// A class file cannot be read.
    pub(crate) fn map(&mut self, ty: &Closed, place: Place) -> Result<RustType, GenError> {
        let mapped = match ty {
            Closed::Primitive(primitive) => return Ok(RustType::Primitive(*primitive)),
            Closed::Any => return Ok(RustType::Value),
            // A collection inside a collection has no type on the wire, and would arrive as a list.
            Closed::Array(_) if place == Place::Element => return Ok(RustType::Value),
            Closed::Array(element) if **element == Closed::Primitive(Primitive::Byte) => {
                if place == Place::Component {
                    return Ok(RustType::Value);
                }
                RustType::Bytes
            }
            // An array of characters travels as a text.
            Closed::Array(element) if **element == Closed::Primitive(Primitive::Char) => {
                RustType::Text
            }
            Closed::Array(element) => {
                RustType::List(Box::new(self.map(element, Place::Component)?))
            }
            Closed::Class(name, arguments) => self.class(name, arguments, place)?,
        };
        let nullable = place == Place::Top || self.choices.nullable_elements;
        Ok(if nullable { mapped.nullable() } else { mapped })
    }

    fn class(
        &mut self,
        name: &Rc<str>,
        arguments: &[Closed],
        place: Place,
    ) -> Result<RustType, GenError> {
        let argument = |at: usize| arguments.get(at).unwrap_or(&Closed::Any);
        Ok(match library(name) {
            Some(Library::Boxed(primitive)) => RustType::Primitive(primitive),
            Some(Library::Text) => RustType::Text,
            Some(Library::Void) => RustType::Unit,
            Some(Library::List { untyped } | Library::Map { untyped })
                if place == Place::Element && !untyped =>
            {
                RustType::Value
            }
            Some(Library::List { .. }) => {
                RustType::List(Box::new(self.map(argument(0), Place::Element)?))
            }
            Some(Library::Map { .. }) => RustType::Map(
                Box::new(self.key(argument(0))?),
                Box::new(self.map(argument(1), Place::Element)?),
            ),
            Some(Library::Optional) => {
                RustType::Optional(Box::new(self.map(argument(0), Place::Element)?))
            }
            Some(Library::Object | Library::Future | Library::Stream) => RustType::Value,
            None => match known(name) {
                Some(known) => RustType::Known(known),
                None => match self.declared(name, arguments)? {
                    Some(id) => RustType::Declared(id),
                    None => RustType::Value,
                },
            },
        })
    }

    /// Keys are never null.
    fn key(&mut self, ty: &Closed) -> Result<RustType, GenError> {
        Ok(match self.map(ty, Place::Element)? {
            RustType::Option(inner) => *inner,
            other => other,
        })
    }

    /// The type of a class; none if values of it are of classes known at run time only.
    ///
    /// # Errors
    /// A class file cannot be read, or there are too many types.
    pub(crate) fn declared(
        &mut self,
        name: &Rc<str>,
        arguments: &[Closed],
    ) -> Result<Option<TypeId>, GenError> {
        if known::of_java(name) {
            return Ok(None);
        }
        let Some(class) = self.classes.find(name)? else {
            self.note(format!("{name} is not there: its values are java::Value"));
            return Ok(None);
        };
        let bindings = Bindings::of(&class.ty.variables, arguments);
        let raw = arguments.is_empty();
        let arguments: Vec<Closed> = class
            .ty
            .variables
            .iter()
            .map(|v| bindings.close(&JavaType::Variable(v.name.clone())))
            .collect();
        let key = Closed::Class(name.clone(), arguments);
        if let Some(Closed::Class(around, _)) = &self.within
            && around == name
            && !raw
            && self.within.as_ref().is_some_and(|within| key.size() > within.size())
        {
            // `Page<T>` with a field `Page<List<T>>` would need a type more with every step.
            return self.declared(name, &[]);
        }
        if let Some(id) = self.ids.get(&key) {
            return Ok(*id);
        }
        let id = match self.kind(&class)? {
            Some(kind) => Some(self.add(&key, kind)?),
            None => None,
        };
        self.ids.insert(key.clone(), id);
        if let Some(id) = id {
            self.waiting.push_back(Waiting { id, class, bindings, key });
        }
        Ok(id)
    }

    /// The type of an exception, which need not be there to be known by its class.
    ///
    /// # Errors
    /// A class file cannot be read, or there are too many types.
    pub(crate) fn exception(&mut self, name: &Rc<str>) -> Result<TypeId, GenError> {
        let key = Closed::Class(name.clone(), Vec::new());
        if let Some(Some(id)) = self.ids.get(&key) {
            return Ok(*id);
        }
        if known::of_java(name) {
            // Its own fields are nobody's business but Java's.
        } else if self.classes.find(name)?.is_none() {
            self.note(format!("{name} is not there: of its fields, only the message is known"));
        } else if let Some(id) = self.declared(name, &[])? {
            return Ok(id);
        }
        let id = self.add(&key, Kind::Throwable(Vec::new()))?;
        self.ids.insert(key, Some(id));
        Ok(id)
    }

    fn add(&mut self, key: &Closed, kind: Kind) -> Result<TypeId, GenError> {
        if self.types.len() >= TYPES {
            let interface = self.interface.clone();
            return Err(GenError::TooMany { interface, limit: TYPES });
        }
        let (class, rust) = (key.erased(), super::naming::wanted(key));
        let (shown, notes) = (key.shown(), Vec::new());
        self.types.push(Declared { class, shown, rust, kind, notes });
        Ok(self.types.len() - 1)
    }

    /// What a class becomes, still without its fields.
    fn kind(&mut self, class: &ClassFile) -> Result<Option<Kind>, GenError> {
        if class.access.has(Access::ENUM) {
            let empty = !class.fields.iter().any(|field| field.access.has(Access::ENUM));
            return Ok((!empty).then(|| Kind::Constants(Vec::new())));
        }
        let (_, top) = self.ancestors(class)?;
        let throwable = known::is_exception_of_java(&top);
        if class.access.has(Access::INTERFACE) {
            return Ok(None);
        }
        // An abstract exception is caught all the same; a value of an abstract class is of another.
        if class.access.has(Access::ABSTRACT) && !throwable {
            return Ok(None);
        }
        if throwable {
            return Ok(Some(Kind::Throwable(Vec::new())));
        }
        if known::of_java(&top) && top != "java.lang.Object" && top != "java.lang.Record" {
            return Ok(None);
        }
        if top.starts_with("com.google.protobuf.") {
            self.note(format!("{} is a protobuf message: use its .proto instead", class.name));
            return Ok(None);
        }
        Ok(Some(Kind::Object(Vec::new())))
    }

    /// The superclasses of a class that are there, nearest first, and the name of the one after them.
    ///
    /// # Errors
    /// A class file cannot be read.
    pub(crate) fn ancestors(
        &mut self,
        class: &ClassFile,
    ) -> Result<(Vec<Rc<ClassFile>>, String), GenError> {
        let mut ancestors: Vec<Rc<ClassFile>> = Vec::new();
        let mut next = superclass(class);
        while let Some(name) = next.take() {
            if known::of_java(&name) || ancestors.len() == ANCESTORS {
                return Ok((ancestors, name));
            }
            let Some(found) = self.classes.find(&name)? else { return Ok((ancestors, name)) };
            next = superclass(&found);
            ancestors.push(found);
        }
        Ok((ancestors, "java.lang.Object".to_owned()))
    }

    /// What follows are the fields of a class, or of none.
    pub(crate) fn within(&mut self, class: Option<Closed>) {
        self.within = class;
    }

    /// Says something once.
    pub(crate) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

fn superclass(class: &ClassFile) -> Option<String> {
    match class.ty.parents.first() {
        Some(JavaType::Class(name, _)) => Some(name.to_string()),
        _ => None,
    }
}
