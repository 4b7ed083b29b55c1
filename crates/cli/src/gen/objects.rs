//! The inside of types: fields of classes, superclasses first, and constants of enums.

use std::rc::Rc;

use super::classfile::signature::JavaType;
use super::classfile::{Access, ClassFile};
use super::closed::{Bindings, Closed};
use super::error::GenError;
use super::known;
use super::map::{Mapper, Waiting};
use super::model::{Field, Kind};
use super::names::{Scope, snake, variant};

/// A field, before it has its Rust name.
struct Found {
    name: Rc<str>,
    ty: Closed,
    /// Index of its class, from the topmost.
    level: usize,
    note: Option<String>,
}

impl Mapper<'_> {
    /// Reads what waits, and what that brings.
    ///
    /// # Errors
    /// A class file cannot be read, or there are too many types.
    pub(crate) fn fill(&mut self) -> Result<(), GenError> {
        while let Some(waiting) = self.waiting.pop_front() {
            let throwable = match self.types.get(waiting.id).map(|declared| &declared.kind) {
                Some(Kind::Constants(_)) => {
                    let constants = Kind::Constants(constants(&waiting.class));
                    self.set(waiting.id, constants, Vec::new());
                    continue;
                }
                Some(Kind::Throwable(_)) => true,
                _ => false,
            };
            let (found, notes) = self.fields(&waiting)?;
            self.within(Some(waiting.key));
            let fields = self.named(found, throwable)?;
            self.within(None);
            let kind = if throwable { Kind::Throwable(fields) } else { Kind::Object(fields) };
            self.set(waiting.id, kind, notes);
        }
        Ok(())
    }

    fn set(&mut self, id: usize, kind: Kind, notes: Vec<String>) {
        if let Some(declared) = self.types.get_mut(id) {
            declared.kind = kind;
            declared.notes = notes;
        }
    }

    /// All fields that travel; of equal names the one nearest to the class.
    fn fields(&mut self, of: &Waiting) -> Result<(Vec<Found>, Vec<String>), GenError> {
        let (ancestors, top) = self.ancestors(&of.class)?;
        let mut notes = Vec::new();
        if !known::of_java(&top) {
            let note = format!("{top}, a superclass of {}, is not there", of.class.name);
            self.note(format!("{note}: its fields are missing"));
            notes.push(format!("The fields of `{top}` are missing: its class file is not there."));
        }
        let mut chain = vec![(of.class.clone(), of.bindings.clone())];
        for ancestor in ancestors {
            let bindings = chain.last().map_or_else(Bindings::default, |(below, bindings)| {
                Bindings::of(&ancestor.ty.variables, &arguments_of_superclass(below, bindings))
            });
            chain.push((ancestor, bindings));
        }
        chain.reverse();
        let mut found: Vec<Found> = Vec::new();
        for (level, (class, bindings)) in chain.iter().enumerate() {
            for field in travelling(class) {
                let same = found.iter().position(|other| other.name == field.name);
                let hidden = same.map(|at| found.remove(at));
                let owner = hidden.and_then(|hidden| chain.get(hidden.level));
                let note = owner.map(|(owner, _)| format!("Hides the one of `{}`.", owner.name));
                let (name, ty) = (field.name.clone(), bindings.close(&field.ty));
                found.push(Found { name, ty, level, note });
            }
        }
        Ok((found, notes))
    }

    fn named(&mut self, found: Vec<Found>, throwable: bool) -> Result<Vec<Field>, GenError> {
        // Every exception has a message, which its class does not declare.
        let mut scope = Scope::with(if throwable { &["message"] } else { &[] });
        let mut fields = Vec::with_capacity(found.len());
        for field in found {
            let wanted = snake(&field.name);
            let plain = wanted.strip_prefix("r#").unwrap_or(&wanted);
            let rust = scope.take([wanted.clone(), format!("own_{plain}")]);
            let typed = self.typed(&field.ty)?;
            fields.push(Field { java: field.name.to_string(), rust, typed, note: field.note });
        }
        Ok(fields)
    }
}

/// The fields of a class that are written, in their order.
fn travelling(class: &ClassFile) -> impl Iterator<Item = &super::classfile::Field> {
    let stays = Access::STATIC | Access::TRANSIENT | Access::SYNTHETIC;
    let mut fields: Vec<_> = class.fields.iter().filter(|field| !field.access.has(stays)).collect();
    if let Some(components) = &class.record {
        fields.sort_by_key(|field| components.iter().position(|name| *name == field.name));
    }
    fields.into_iter()
}

fn arguments_of_superclass(class: &ClassFile, bindings: &Bindings) -> Vec<Closed> {
    match class.ty.parents.first() {
        Some(JavaType::Class(_, arguments)) => bindings.arguments(arguments),
        _ => Vec::new(),
    }
}

/// Names of the constants in Java and in Rust.
fn constants(class: &ClassFile) -> Vec<(String, String)> {
    let mut scope = Scope::with(&["Other"]);
    let constants = class.fields.iter().filter(|field| field.access.has(Access::ENUM));
    constants.map(|field| (field.name.to_string(), scope.take([variant(&field.name)]))).collect()
}
