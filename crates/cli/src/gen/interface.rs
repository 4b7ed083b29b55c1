//! The methods of an interface: its own, and those of the interfaces that it extends.

use std::collections::HashSet;
use std::rc::Rc;

use super::classfile::signature::JavaType;
use super::classfile::{self, Access, ClassFile};
use super::closed::{Bindings, Closed};
use super::error::GenError;
use super::known::{self, Library, library};
use super::map::Mapper;
use super::model::{
    Faults, Interface, Member, Method, Named, Parameter, RustType, Thrown, TypeId, Typed,
};
use super::names::{Scope, camel, shouted, snake};
use super::naming::{declaration, simple};

/// A method, before it has its Rust name.
struct Found {
    method: Method,
    throws: Vec<TypeId>,
    /// Simple names of the parameters' types: what tells overloads apart.
    types: Vec<String>,
}

/// What is read of one interface.
#[derive(Default)]
struct Reading {
    members: Vec<Entry>,
    /// Names and erased parameters of the methods so far.
    seen: HashSet<(Rc<str>, Vec<String>)>,
}

enum Entry {
    Method(Box<Found>),
    LeftOut(String, String),
}

/// Interfaces that one interface extends, directly or not.
const PARENTS: usize = 500;

/// Reads one interface.
///
/// # Errors
/// A class file cannot be read, or there are too many types.
pub(crate) fn read(
    mapper: &mut Mapper<'_>,
    class: &Rc<ClassFile>,
    faults: &mut Vec<Faults>,
) -> Result<Interface, GenError> {
    mapper.from(&class.name);
    let mut reading = Reading::default();
    let bindings = Bindings::of(&class.ty.variables, &[]);
    let mut waiting = vec![(class.clone(), bindings)];
    let mut visited = HashSet::from([class.name.clone()]);
    let mut at = 0;
    while let Some((class, bindings)) = waiting.get(at).cloned() {
        at += 1;
        for method in class.methods.iter().filter(|method| is_callable(method)) {
            mapper.method(&mut reading, method, &bindings)?;
        }
        for (name, arguments) in parents(&class, &bindings) {
            if !visited.insert(name.clone()) || visited.len() > PARENTS {
                continue;
            }
            match mapper.classes.find(&name)? {
                Some(parent) => {
                    let bindings = Bindings::of(&parent.ty.variables, &arguments);
                    waiting.push((parent, bindings));
                }
                None => reading.absent(mapper, &name),
            }
        }
    }
    let constants = constants(class);
    let (java, rust) = (class.name.to_string(), camel(&simple(&class.name).replace('.', "_")));
    let members = named(reading.members, faults);
    Ok(Interface { java, rust, members, constants })
}

/// Static methods belong to nobody's instance, private and synthetic ones to the compiler.
fn is_callable(method: &classfile::Method) -> bool {
    let none = Access::STATIC | Access::PRIVATE | Access::SYNTHETIC;
    !method.access.has(none) && !method.name.starts_with('<')
}

fn parents(class: &ClassFile, bindings: &Bindings) -> Vec<(Rc<str>, Vec<Closed>)> {
    let class_of = |parent: &JavaType| match parent {
        JavaType::Class(name, arguments) => Some((name.clone(), bindings.arguments(arguments))),
        _ => None,
    };
    // The first is the superclass, which is java.lang.Object for every interface.
    class.ty.parents.iter().skip(1).filter_map(class_of).collect()
}

impl Reading {
    fn absent(&mut self, mapper: &mut Mapper<'_>, name: &str) {
        if ["java.io.Serializable", "java.lang.Cloneable"].contains(&name) {
            return;
        }
        let reason = "its class file is not there".to_owned();
        self.members.push(Entry::LeftOut(name.to_owned(), reason));
        mapper.note(format!("{name} is not there: its methods are left out"));
    }
}

impl Mapper<'_> {
    fn method(
        &mut self,
        reading: &mut Reading,
        method: &classfile::Method,
        bindings: &Bindings,
    ) -> Result<(), GenError> {
        let bindings = bindings.and(&method.ty.variables);
        let closed: Vec<Closed> =
            method.ty.parameters.iter().map(|parameter| bindings.close(parameter)).collect();
        // A method overrides an inherited one even where erasure tells them apart.
        let key = closed.iter().map(Closed::erased).collect();
        if !reading.seen.insert((method.name.clone(), key)) {
            return Ok(());
        }
        let names = parameter_names(method);
        let (names, shown): (Vec<String>, Vec<String>) = names.into_iter().unzip();
        let declaration = declaration(&method.name, &method.ty, &shown, &method.throws);
        let result = method.ty.result.as_ref().map(|result| bindings.close(result));
        if let Some(class) = closed.iter().chain(&result).find_map(stream) {
            let reason = format!("{} streams", simple(class));
            reading.members.push(Entry::LeftOut(declaration, reason));
            return Ok(());
        }
        let mut parameters = Vec::with_capacity(closed.len());
        for ((rust, ty), erased) in names.into_iter().zip(&closed).zip(&method.erased.parameters) {
            // The descriptor of a call has the types that are left after erasure.
            let typed = Typed { java: erased.erased(), ..self.typed(ty)? };
            parameters.push(Parameter { rust, typed });
        }
        let result = self.result(result)?;
        let mut throws = Vec::new();
        for class in method.throws.iter().filter(|class| !known::is_any_exception(class)) {
            let id = self.exception(class)?;
            if !throws.contains(&id) {
                throws.push(id);
            }
        }
        let java = method.name.to_string();
        let types = method.erased.parameters.iter().map(word).collect();
        let (rust, thrown) = (String::new(), Thrown::Nothing);
        let method = Method { java, rust, declaration, parameters, result, thrown };
        reading.members.push(Entry::Method(Box::new(Found { method, throws, types })));
        Ok(())
    }

    /// A method that answers later is called as one that answers.
    fn result(&mut self, result: Option<Closed>) -> Result<Typed, GenError> {
        let nothing = Typed { ty: RustType::Unit, java: "void".to_owned() };
        let later = match result {
            None => return Ok(nothing),
            Some(Closed::Class(name, arguments)) if library(&name) == Some(Library::Future) => {
                arguments.into_iter().next().unwrap_or(Closed::Any)
            }
            Some(other) => other,
        };
        let typed = self.typed(&later)?;
        Ok(if typed.ty == RustType::Unit { nothing } else { typed })
    }
}

/// The class that makes a method one that streams.
fn stream(ty: &Closed) -> Option<&str> {
    match ty {
        Closed::Class(name, _) => (library(name) == Some(Library::Stream)).then_some(&**name),
        _ => None,
    }
}

/// Names of the parameters in Rust and in Java.
fn parameter_names(method: &classfile::Method) -> Vec<(String, String)> {
    // What the macros call their own.
    let mut scope = Scope::with(&["arguments", "context"]);
    let named = method.parameters.iter().enumerate().map(|(at, name)| {
        let java = name.as_ref().map_or_else(|| format!("arg{at}"), |name| name.to_string());
        let rust = snake(&java);
        (scope.take([rust.clone(), format!("{rust}_")]), java)
    });
    named.collect()
}

/// A type as a part of a name.
fn word(ty: &JavaType) -> String {
    match ty {
        JavaType::Array(element) => format!("{}_array", word(element)),
        other => {
            let word = snake(&simple(&other.erased()).replace('.', "_"));
            word.strip_prefix("r#").map_or(word.clone(), str::to_owned)
        }
    }
}

/// Gives methods their names. Of overloads, the one with the fewest parameters keeps the name, and
/// the others say which parameters they have.
fn named(entries: Vec<Entry>, faults: &mut Vec<Faults>) -> Vec<Member> {
    // What the macros' client has already.
    let mut scope = Scope::with(&["builder", "consumer", "new"]);
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|at| match entries.get(*at) {
        Some(Entry::Method(found)) => found.types.len(),
        _ => 0,
    });
    let mut names = vec![String::new(); entries.len()];
    for at in order {
        if let (Some(Entry::Method(found)), Some(name)) = (entries.get(at), names.get_mut(at)) {
            let plain = snake(&found.method.java);
            let bare = plain.strip_prefix("r#").unwrap_or(&plain).trim_end_matches('_').to_owned();
            let longer = match &found.types[..] {
                [] => format!("{bare}_"),
                types => format!("{bare}_{}", types.join("_")),
            };
            *name = scope.take([plain, longer]);
        }
    }
    let member = |(entry, rust): (Entry, String)| match entry {
        Entry::LeftOut(what, why) => Member::LeftOut(what, why),
        Entry::Method(found) => Member::Method(finished(*found, rust, faults)),
    };
    entries.into_iter().zip(names).map(member).collect()
}

fn finished(found: Found, rust: String, faults: &mut Vec<Faults>) -> Method {
    let Found { mut method, throws, .. } = found;
    method.thrown = match throws[..] {
        [] => Thrown::Nothing,
        [one] => Thrown::One(one),
        _ => {
            let wanted = camel(rust.strip_prefix("r#").unwrap_or(&rust)) + "Fault";
            faults.push(Faults { rust: wanted, method: rust.clone(), exceptions: throws });
            Thrown::OneOf(faults.len() - 1)
        }
    };
    method.rust = rust;
    method
}

fn constants(class: &ClassFile) -> Vec<Named> {
    let constant = |field: &classfile::Field| {
        let ty = match field.erased {
            JavaType::Primitive(primitive) => Some(primitive),
            _ => None,
        };
        let java = format!("{}.{}", simple(&class.name), field.name);
        let value = field.constant.clone()?;
        Some(Named { rust: shouted(&field.name), java, ty, value })
    };
    class.fields.iter().filter_map(constant).collect()
}
