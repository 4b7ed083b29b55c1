//! Names of types: short where that is clear, with a part of the package where two classes share a
//! name or Rust uses the name itself.

use std::collections::HashMap;

use super::classfile::signature::{Argument, JavaType, MethodType};
use super::closed::Closed;
use super::model::Model;
use super::names::{Scope, camel, shouted};

/// What a type would be called if it were alone: `Order$Line` is `OrderLine`, `Page<Order>` is
/// `PageOfOrder`.
pub(crate) fn wanted(ty: &Closed) -> String {
    let name = words(ty);
    // A name of many type arguments helps nobody; numbers keep such types apart.
    if name.len() <= LONGEST { name } else { words(&bare(ty)) }
}

/// Letters of a name.
const LONGEST: usize = 60;

fn bare(ty: &Closed) -> Closed {
    match ty {
        Closed::Class(name, _) => Closed::Class(name.clone(), Vec::new()),
        other => other.clone(),
    }
}

fn words(ty: &Closed) -> String {
    match ty {
        Closed::Primitive(primitive) => camel(primitive.java()),
        Closed::Any => "Value".to_owned(),
        Closed::Array(element) => format!("ArrayOf{}", words(element)),
        Closed::Class(name, arguments) => {
            let simple = camel(name.rsplit('.').next().unwrap_or(name));
            if arguments.iter().all(|argument| *argument == Closed::Any) {
                return simple;
            }
            let arguments: Vec<String> = arguments.iter().map(words).collect();
            format!("{simple}Of{}", arguments.join("And"))
        }
    }
}

/// Gives every trait, type and constant its name.
pub(crate) fn name(model: &mut Model) {
    let mut scope = Scope::with(&TAKEN);
    let mut wanted: HashMap<String, usize> = HashMap::new();
    let interfaces = model.interfaces.iter().map(|interface| &interface.rust);
    for name in interfaces.chain(model.types.iter().map(|declared| &declared.rust)) {
        *wanted.entry(name.clone()).or_default() += 1;
    }
    let shared = |name: &str| wanted.get(name).is_some_and(|count| *count > 1);
    for interface in &mut model.interfaces {
        let several = shared(&interface.rust);
        interface.rust = scope.take(candidates(&interface.rust, &interface.java, several));
        // The macros make these two.
        scope.take([format!("{}Client", interface.rust)]);
        scope.take([format!("{}Provider", interface.rust)]);
    }
    for declared in &mut model.types {
        let several = shared(&declared.rust);
        declared.rust = scope.take(candidates(&declared.rust, &declared.class, several));
    }
    for faults in &mut model.faults {
        faults.rust = scope.take([faults.rust.clone()]);
    }
    for interface in &mut model.interfaces {
        let prefix = shouted(&interface.rust);
        for constant in &mut interface.constants {
            let longer = format!("{prefix}_{}", constant.rust);
            constant.rust = scope.take([constant.rust.clone(), longer]);
        }
    }
}

/// The name alone, then with more and more of the package before it.
fn candidates(name: &str, class: &str, several: bool) -> Vec<String> {
    let mut candidates = vec![name.to_owned()];
    let mut longer = name.to_owned();
    for package in class.split('.').rev().skip(1) {
        longer = camel(package) + &longer;
        candidates.push(longer.clone());
    }
    // Two classes of one name both get a longer one, so that none changes with the order.
    if several && candidates.len() > 1 {
        candidates.remove(0);
    }
    candidates
}

/// What the prelude has, what code that is generated says, and what the macros say.
const TAKEN: [&str; 52] = [
    "AsMut",
    "AsRef",
    "AsyncFn",
    "AsyncFnMut",
    "AsyncFnOnce",
    "Box",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "DoubleEndedIterator",
    "Drop",
    "Eq",
    "Err",
    "ExactSizeIterator",
    "Extend",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "FromIterator",
    "Future",
    "Hash",
    "Into",
    "IntoFuture",
    "IntoIterator",
    "Iterator",
    "JavaObject",
    "None",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Result",
    "Self",
    "Send",
    "Sized",
    "Some",
    "String",
    "Sync",
    "ToOwned",
    "ToString",
    "TryFrom",
    "TryInto",
    "Unpin",
    "Vec",
    "Value",
    "Fault",
    "Context",
    "Name",
    "D",
];

impl Closed {
    /// As Java's source has it, with simple names.
    pub(crate) fn shown(&self) -> String {
        match self {
            Closed::Primitive(primitive) => primitive.java().to_owned(),
            Closed::Any => "?".to_owned(),
            Closed::Array(element) => element.shown() + "[]",
            Closed::Class(name, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(Closed::shown).collect();
                with_arguments(name, &arguments)
            }
        }
    }
}

impl JavaType {
    /// As Java's source has it, with simple names.
    pub(crate) fn shown(&self) -> String {
        match self {
            JavaType::Primitive(primitive) => primitive.java().to_owned(),
            JavaType::Variable(name) => name.to_string(),
            JavaType::Array(element) => element.shown() + "[]",
            JavaType::Class(name, arguments) => {
                let arguments = arguments.iter().map(|argument| match argument {
                    Argument::Any => "?".to_owned(),
                    Argument::Super(ty) => format!("? super {}", ty.shown()),
                    Argument::Extends(ty) => format!("? extends {}", ty.shown()),
                    Argument::Exact(ty) => ty.shown(),
                });
                with_arguments(name, &arguments.collect::<Vec<_>>())
            }
        }
    }
}

/// `Map.Entry<String, Item>`.
fn with_arguments(class: &str, arguments: &[String]) -> String {
    let simple = simple(class);
    if arguments.is_empty() { simple } else { format!("{simple}<{}>", arguments.join(", ")) }
}

/// Name of a class without its package, as Java's source has it.
pub(crate) fn simple(class: &str) -> String {
    class.rsplit('.').next().unwrap_or(class).replace('$', ".")
}

/// A method as Java's source declares it: `Receipt reserve(Order order) throws OutOfStock`.
pub(crate) fn declaration<T: AsRef<str>>(
    name: &str,
    ty: &MethodType,
    parameters: &[String],
    throws: &[T],
) -> String {
    let variables: Vec<String> = ty
        .variables
        .iter()
        .map(|variable| match &variable.bound {
            Some(bound) if bound.erased() != "java.lang.Object" => {
                format!("{} extends {}", variable.name, bound.shown())
            }
            _ => variable.name.to_string(),
        })
        .collect();
    let variables =
        if variables.is_empty() { String::new() } else { format!("<{}> ", variables.join(", ")) };
    let result = ty.result.as_ref().map_or_else(|| "void".to_owned(), JavaType::shown);
    let parameters: Vec<String> =
        ty.parameters.iter().zip(parameters).map(|(ty, n)| format!("{} {n}", ty.shown())).collect();
    let throws: Vec<String> = throws.iter().map(|class| simple(class.as_ref())).collect();
    let throws =
        if throws.is_empty() { String::new() } else { format!(" throws {}", throws.join(", ")) };
    format!("{variables}{result} {name}({}){throws}", parameters.join(", "))
}
