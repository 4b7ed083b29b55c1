//! Java types as the annotations write them (`java.util.Set`, `int[]`), and what they are on the
//! wire: a descriptor, and the name of a typed list or map where there is one.
//!
//! # References
//!
//! *The Java Virtual Machine Specification*, 4.3 (descriptors).

use syn::{GenericArgument, LitStr, PathArguments, Result, Type};

/// A Java type that an annotation names.
pub(crate) struct JavaType {
    element: String,
    dimensions: usize,
}

impl JavaType {
    pub(crate) fn parse(text: &LitStr) -> Result<Self> {
        let whole = text.value();
        let mut element = whole.trim();
        let mut dimensions = 0;
        while let Some(inner) = element.strip_suffix("[]") {
            element = inner.trim_end();
            dimensions += 1;
        }
        let named = !element.is_empty()
            && element.split('.').all(|part| {
                let mut chars = part.chars();
                chars.next().is_some_and(|c| c.is_alphabetic() || c == '_' || c == '$')
                    && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '$')
            });
        if !named || dimensions > 255 || (element == "void" && dimensions > 0) {
            let reason = format!(
                "{whole:?} is no Java type; write it as Java does, without type arguments: \
                 java.util.Set, int[]"
            );
            return Err(syn::Error::new(text.span(), reason));
        }
        Ok(Self { element: element.to_owned(), dimensions })
    }

    /// `I`, `Ljava/lang/String;`, `[I`.
    pub(crate) fn descriptor(&self) -> String {
        let element = match primitive(&self.element) {
            Some((letter, _)) => letter.to_owned(),
            None => format!("L{};", self.element.replace('.', "/")),
        };
        "[".repeat(self.dimensions) + &element
    }

    /// Name under which serde hands the value to the codec, where it is written as a typed list or
    /// map: `$list:[int`.
    pub(crate) fn wire(&self) -> Option<String> {
        if self.dimensions > 0 {
            let element = match self.element.as_str() {
                "java.lang.String" => "string",
                "java.lang.Object" => "object",
                "java.util.Date" => "date",
                other => primitive(other).map_or(other, |(_, name)| name),
            };
            return Some(format!("$list:{}{element}", "[".repeat(self.dimensions)));
        }
        let (kind, class) = match self.element.as_str() {
            "java.util.Set" => ("list", "java.util.HashSet"),
            "java.util.SortedSet" | "java.util.NavigableSet" => ("list", "java.util.TreeSet"),
            "java.util.Queue" | "java.util.Deque" => ("list", "java.util.LinkedList"),
            "java.util.SortedMap" | "java.util.NavigableMap" => ("map", "java.util.TreeMap"),
            "java.util.concurrent.ConcurrentMap" => {
                ("map", "java.util.concurrent.ConcurrentHashMap")
            }
            // Written without a type: what Java reads there is an ArrayList and a HashMap.
            "java.util.List"
            | "java.util.Collection"
            | "java.lang.Iterable"
            | "java.util.ArrayList"
            | "java.util.Map"
            | "java.util.HashMap" => return None,
            class if class.starts_with("java.util.") && class.ends_with("Map") => ("map", class),
            class if class.starts_with("java.util.") && is_collection(class) => ("list", class),
            _ => return None,
        };
        Some(format!("${kind}:{class}"))
    }
}

fn is_collection(class: &str) -> bool {
    ["Set", "List", "Queue", "Deque", "Vector", "Stack"].iter().any(|end| class.ends_with(end))
}

/// Descriptor and array name of a primitive type.
fn primitive(name: &str) -> Option<(&'static str, &'static str)> {
    Some(match name {
        "boolean" => ("Z", "boolean"),
        "byte" => ("B", "byte"),
        "char" => ("C", "char"),
        "short" => ("S", "short"),
        "int" => ("I", "int"),
        "long" => ("J", "long"),
        "float" => ("F", "float"),
        "double" => ("D", "double"),
        "void" => ("V", "void"),
        _ => return None,
    })
}

/// What is in a Rust type that has one argument: of `Option<T>` the `T`.
pub(crate) fn inner<'t>(ty: &'t Type, outer: &str) -> Option<&'t Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match (last.ident == outer, arguments.args.first()) {
        (true, Some(GenericArgument::Type(inner))) if arguments.args.len() == 1 => Some(inner),
        _ => None,
    }
}

/// Whether a type is `Vec<u8>` or `Option<Vec<u8>>`, which are `byte[]`.
pub(crate) fn is_bytes(ty: &Type) -> bool {
    let ty = inner(ty, "Option").unwrap_or(ty);
    inner(ty, "Vec").is_some_and(|element| is_named(element, "u8"))
}

/// Whether a type is written with this name, with or without a path before it.
pub(crate) fn is_named(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == name))
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;

    use super::*;

    fn of(text: &str) -> Result<JavaType> {
        JavaType::parse(&LitStr::new(text, Span::call_site()))
    }

    #[test]
    fn descriptors_are_those_of_the_jvm() {
        for (java, descriptor) in [
            ("int", "I"),
            ("long[]", "[J"),
            ("java.lang.String", "Ljava/lang/String;"),
            ("java.lang.String[][]", "[[Ljava/lang/String;"),
            ("com.acme.Outer$Inner", "Lcom/acme/Outer$Inner;"),
        ] {
            assert_eq!(of(java).unwrap().descriptor(), descriptor);
        }
        for bad in ["", "[]", "java.util.List<String>", "a..b", "void[]", "1a"] {
            assert!(of(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn collections_and_arrays_have_a_name_on_the_wire() {
        for (java, wire) in [
            ("java.util.Set", Some("$list:java.util.HashSet")),
            ("java.util.LinkedHashSet", Some("$list:java.util.LinkedHashSet")),
            ("java.util.LinkedHashMap", Some("$map:java.util.LinkedHashMap")),
            ("int[]", Some("$list:[int")),
            ("byte[][]", Some("$list:[[byte")),
            ("java.lang.String[]", Some("$list:[string")),
            ("com.acme.User[]", Some("$list:[com.acme.User")),
            ("java.util.List", None),
            ("com.acme.User", None),
        ] {
            assert_eq!(of(java).unwrap().wire().as_deref(), wire, "{java}");
        }
    }
}
