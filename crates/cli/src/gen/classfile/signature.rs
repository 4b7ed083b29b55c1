//! Types of fields and methods: descriptors, and the generic signatures beside them.
//!
//! # References
//!
//! *The Java Virtual Machine Specification*, 4.3 (descriptors) and 4.7.9.1 (signatures).

use std::rc::Rc;

/// A Java type as source code has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JavaType {
    Primitive(Primitive),
    /// A class under its binary name, with type arguments where it has some.
    Class(Rc<str>, Vec<Argument>),
    Array(Box<JavaType>),
    /// A type variable.
    Variable(Rc<str>),
}

/// A type argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// `?`
    Any,
    /// `? super T`
    Super(JavaType),
    /// `? extends T`
    Extends(JavaType),
    Exact(JavaType),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Primitive {
    Boolean,
    Byte,
    Char,
    Short,
    Int,
    Long,
    Float,
    Double,
}

/// A type variable where it is declared, with its leftmost bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) name: Rc<str>,
    pub(crate) bound: Option<JavaType>,
}

/// What a method takes and gives; no result is `void`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MethodType {
    pub(crate) variables: Vec<Variable>,
    pub(crate) parameters: Vec<JavaType>,
    pub(crate) result: Option<JavaType>,
}

/// What a class is built on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClassType {
    pub(crate) variables: Vec<Variable>,
    /// Superclass, then interfaces.
    pub(crate) parents: Vec<JavaType>,
}

/// Types inside types, arrays included.
const DEPTH: usize = 100;

/// Type of a field. Without `generic` only what descriptors have.
pub(crate) fn field(text: &str, generic: bool) -> Option<JavaType> {
    let mut parser = Parser { rest: text, generic };
    let ty = parser.ty(0)?;
    parser.rest.is_empty().then_some(ty)
}

/// Type of a method. Without `generic` only what descriptors have.
pub(crate) fn method(text: &str, generic: bool) -> Option<MethodType> {
    let mut parser = Parser { rest: text, generic };
    let variables = parser.variables()?;
    parser.eat('(')?;
    let mut parameters = Vec::new();
    while !parser.rest.starts_with(')') {
        parameters.push(parser.ty(0)?);
    }
    parser.eat(')')?;
    let result = match parser.eat('V') {
        Some(()) => None,
        None => Some(parser.ty(0)?),
    };
    // What it throws is in the Exceptions attribute, too, and there without type variables.
    let end = parser.rest.is_empty() || (generic && parser.rest.starts_with('^'));
    end.then_some(MethodType { variables, parameters, result })
}

/// Type of a class.
pub(crate) fn class(text: &str) -> Option<ClassType> {
    let mut parser = Parser { rest: text, generic: true };
    let variables = parser.variables()?;
    let mut parents = Vec::new();
    while !parser.rest.is_empty() {
        parents.push(parser.ty(0)?);
    }
    Some(ClassType { variables, parents })
}

struct Parser<'t> {
    rest: &'t str,
    generic: bool,
}

impl<'t> Parser<'t> {
    fn eat(&mut self, c: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(c)?;
        Some(())
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.eat(c)?;
        Some(c)
    }

    /// A name up to one of the characters that end it, which stays.
    fn name(&mut self, ends: &[char]) -> Option<&'t str> {
        let (name, rest) = self.rest.split_at(self.rest.find(ends)?);
        self.rest = rest;
        (!name.is_empty()).then_some(name)
    }

    fn ty(&mut self, depth: usize) -> Option<JavaType> {
        if depth > DEPTH {
            return None;
        }
        let primitive = match self.next()? {
            'Z' => Primitive::Boolean,
            'B' => Primitive::Byte,
            'C' => Primitive::Char,
            'S' => Primitive::Short,
            'I' => Primitive::Int,
            'J' => Primitive::Long,
            'F' => Primitive::Float,
            'D' => Primitive::Double,
            '[' => return Some(JavaType::Array(Box::new(self.ty(depth + 1)?))),
            'L' => return self.class(depth),
            'T' if self.generic => {
                let name = self.name(&[';'])?.into();
                self.eat(';')?;
                return Some(JavaType::Variable(name));
            }
            _ => return None,
        };
        Some(JavaType::Primitive(primitive))
    }

    /// After `L`. Of `Outer<A>.Inner<B>` the arguments of the innermost class are kept.
    fn class(&mut self, depth: usize) -> Option<JavaType> {
        let mut name = self.name(&[';', '<', '.'])?.replace('/', ".");
        let mut arguments = Vec::new();
        loop {
            match self.next()? {
                ';' => return Some(JavaType::Class(name.into(), arguments)),
                '<' if self.generic => arguments = self.arguments(depth)?,
                '.' if self.generic => {
                    arguments.clear();
                    name.push('$');
                    name.push_str(self.name(&[';', '<', '.'])?);
                }
                _ => return None,
            }
        }
    }

    /// After `<`.
    fn arguments(&mut self, depth: usize) -> Option<Vec<Argument>> {
        let mut arguments = Vec::new();
        while self.eat('>').is_none() {
            arguments.push(match self.rest.chars().next()? {
                '*' => {
                    self.eat('*')?;
                    Argument::Any
                }
                '+' => {
                    self.eat('+')?;
                    Argument::Extends(self.ty(depth + 1)?)
                }
                '-' => {
                    self.eat('-')?;
                    Argument::Super(self.ty(depth + 1)?)
                }
                _ => Argument::Exact(self.ty(depth + 1)?),
            });
        }
        Some(arguments)
    }

    /// `<T:Lclass;:Linterface;U::Linterface;>`, or nothing.
    fn variables(&mut self) -> Option<Vec<Variable>> {
        let mut variables = Vec::new();
        if !self.generic || self.eat('<').is_none() {
            return Some(variables);
        }
        while self.eat('>').is_none() {
            let name = self.name(&[':'])?.into();
            let mut bound = None;
            while self.eat(':').is_some() {
                if !self.rest.starts_with([':', '>']) && self.bound_follows() {
                    let one = self.ty(0)?;
                    bound = bound.or(Some(one));
                }
            }
            variables.push(Variable { name, bound });
        }
        Some(variables)
    }

    /// After `T:` there may be no class bound; what follows then is the next variable's name and a
    /// colon before anything else that could end a type.
    fn bound_follows(&self) -> bool {
        let end = self.rest.find([':', ';', '<', '>']);
        end.and_then(|at| self.rest.get(at..)).is_some_and(|rest| !rest.starts_with(':'))
    }
}

impl Primitive {
    /// Its name in Java.
    pub(crate) fn java(self) -> &'static str {
        match self {
            Primitive::Boolean => "boolean",
            Primitive::Byte => "byte",
            Primitive::Char => "char",
            Primitive::Short => "short",
            Primitive::Int => "int",
            Primitive::Long => "long",
            Primitive::Float => "float",
            Primitive::Double => "double",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> JavaType {
        JavaType::Class(name.into(), Vec::new())
    }

    #[test]
    fn types_are_read_with_their_arguments() {
        let ty =
            field("Ljava/util/Map<TK;[Ljava/util/List<+Lcom/acme/Item;>;>.Entry<*-TT;>;", true);
        let entry = vec![Argument::Any, Argument::Super(JavaType::Variable("T".into()))];
        assert_eq!(ty, Some(JavaType::Class("java.util.Map$Entry".into(), entry)));
        let list = field("Ljava/util/List<+Lcom/acme/Item;>;", true);
        let items = vec![Argument::Extends(of("com.acme.Item"))];
        assert_eq!(list, Some(JavaType::Class("java.util.List".into(), items)));
    }

    #[test]
    fn variables_have_their_leftmost_bound() {
        let text = "<T:Ljava/lang/Object;U::Ljava/lang/Runnable;V:Lcom/acme/Item;:Ljava/lang/A;>\
                    (TT;I)V^Lcom/acme/Oops;";
        let method = method(text, true).unwrap();
        let bounds: Vec<_> = method.variables.iter().map(|v| (&*v.name, v.bound.clone())).collect();
        assert_eq!(
            bounds,
            [
                ("T", Some(of("java.lang.Object"))),
                ("U", Some(of("java.lang.Runnable"))),
                ("V", Some(of("com.acme.Item")))
            ]
        );
        assert_eq!(method.parameters.len(), 2);
        assert_eq!(method.result, None);
    }

    #[test]
    fn classes_have_parents() {
        let class = class("<T:Ljava/lang/Object;>Lcom/acme/Base<TT;>;Ljava/io/Serializable;");
        let class = class.unwrap();
        assert_eq!(class.variables.len(), 1);
        assert_eq!(class.parents[1], of("java.io.Serializable"));
    }

    #[test]
    fn what_is_not_a_type_is_none() {
        for bad in ["", "V", "L", "LA", "L;", "[", "TT", "II", "LA<", "LA<>", "LA<*>", "X", "LA;;"]
        {
            assert_eq!(field(bad, true), None, "{bad}");
        }
        for generic_only in ["TT;", "LA<*>;", "LA.B;"] {
            assert!(field(generic_only, true).is_some(), "{generic_only}");
            assert_eq!(field(generic_only, false), None, "{generic_only}");
        }
        assert_eq!(field(&("[".repeat(200) + "I"), false), None);
        assert_eq!(field(&("LA<".repeat(200) + "TT;" + &">;".repeat(200)), true), None);
        for bad in ["()", "(V)V", "(I", "I", "()V^", "()VV", "(TT;)V"] {
            assert_eq!(method(bad, false), None, "{bad}");
        }
        assert_eq!(super::class("<T>LA;"), None);
    }
}
