//! Types without variables: what is left of a generic type where it is used.

use std::collections::HashMap;
use std::rc::Rc;

use super::classfile::signature::{Argument, JavaType, Primitive, Variable};

/// A type without variables and wildcards.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Closed {
    Primitive(Primitive),
    Class(Rc<str>, Vec<Closed>),
    Array(Box<Closed>),
    /// Nothing is known about it.
    Any,
}

/// What type variables stand for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bindings(HashMap<Rc<str>, Closed>);

/// Parts of one type, and types within each other. Types that grow with every step, as those of two
/// classes may that refer to each other, end here.
const SIZE: usize = 60;
const DEPTH: usize = 6;

impl Bindings {
    /// Binds the variables of a class to arguments; where there are none, or nothing is known, to
    /// their bounds.
    pub(crate) fn of(variables: &[Variable], arguments: &[Closed]) -> Self {
        let mut bindings = Self::default();
        for (at, variable) in variables.iter().enumerate() {
            let bound = match arguments.get(at) {
                Some(argument) if *argument != Closed::Any => argument.clone(),
                _ => bindings.bound(variable),
            };
            bindings.0.insert(variable.name.clone(), bound);
        }
        bindings
    }

    /// Binds the variables of a method to their bounds.
    pub(crate) fn and(&self, variables: &[Variable]) -> Self {
        let mut bindings = self.clone();
        for variable in variables {
            bindings.0.remove(&variable.name);
        }
        for variable in variables {
            let bound = bindings.bound(variable);
            bindings.0.insert(variable.name.clone(), bound);
        }
        bindings
    }

    fn bound(&self, variable: &Variable) -> Closed {
        variable.bound.as_ref().map_or(Closed::Any, |bound| self.close(bound))
    }

    /// Puts what they stand for in the place of variables.
    pub(crate) fn close(&self, ty: &JavaType) -> Closed {
        let mut size = SIZE;
        self.part(ty, &mut size, 0)
    }

    /// The arguments of a type.
    pub(crate) fn arguments(&self, arguments: &[Argument]) -> Vec<Closed> {
        let mut size = SIZE;
        arguments.iter().map(|argument| self.argument(argument, &mut size, 1)).collect()
    }

    fn part(&self, ty: &JavaType, size: &mut usize, depth: usize) -> Closed {
        match size.checked_sub(1) {
            Some(left) if depth < DEPTH => *size = left,
            _ => return Closed::Any,
        }
        match ty {
            JavaType::Primitive(primitive) => Closed::Primitive(*primitive),
            JavaType::Array(element) => {
                Closed::Array(Box::new(self.part(element, size, depth + 1)))
            }
            JavaType::Class(name, _) if &**name == "java.lang.Object" => Closed::Any,
            JavaType::Class(name, arguments) => {
                let argument = |argument| self.argument(argument, size, depth + 1);
                Closed::Class(name.clone(), arguments.iter().map(argument).collect())
            }
            JavaType::Variable(name) => match self.0.get(name) {
                Some(bound) if bound.size() <= *size => {
                    *size -= bound.size();
                    bound.cut(depth)
                }
                _ => Closed::Any,
            },
        }
    }

    fn argument(&self, argument: &Argument, size: &mut usize, depth: usize) -> Closed {
        match argument {
            // What may be of any superclass is not known to be of this class.
            Argument::Any | Argument::Super(_) => Closed::Any,
            Argument::Extends(ty) | Argument::Exact(ty) => self.part(ty, size, depth),
        }
    }
}

impl Closed {
    /// Without what would be too deep at this depth.
    fn cut(&self, depth: usize) -> Self {
        match self {
            _ if depth >= DEPTH => Closed::Any,
            Closed::Array(element) => Closed::Array(Box::new(element.cut(depth + 1))),
            Closed::Class(name, arguments) => {
                let arguments = arguments.iter().map(|argument| argument.cut(depth + 1));
                Closed::Class(name.clone(), arguments.collect())
            }
            other => other.clone(),
        }
    }

    /// Of how many parts it consists.
    pub(crate) fn size(&self) -> usize {
        match self {
            Closed::Primitive(_) | Closed::Any => 1,
            Closed::Array(element) => 1 + element.size(),
            Closed::Class(_, arguments) => 1 + arguments.iter().map(Closed::size).sum::<usize>(),
        }
    }

    /// As the virtual machine has it, in the notation of annotations.
    pub(crate) fn erased(&self) -> String {
        match self {
            Closed::Primitive(primitive) => primitive.java().to_owned(),
            Closed::Class(name, _) => name.to_string(),
            Closed::Array(element) => element.erased() + "[]",
            Closed::Any => "java.lang.Object".to_owned(),
        }
    }
}

impl JavaType {
    /// In the notation of annotations, which has no type arguments: `java.util.Set`, `int[]`.
    pub(crate) fn erased(&self) -> String {
        match self {
            JavaType::Primitive(primitive) => primitive.java().to_owned(),
            JavaType::Class(name, _) => name.to_string(),
            JavaType::Array(element) => element.erased() + "[]",
            JavaType::Variable(_) => "java.lang.Object".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::classfile::signature::{class, field};
    use super::*;

    fn closed(bindings: &Bindings, text: &str) -> Closed {
        bindings.close(&field(text, true).unwrap())
    }

    #[test]
    fn variables_stand_for_arguments_or_bounds() {
        let class = class("<T:Ljava/lang/Object;U:Lcom/acme/Item;>Ljava/lang/Object;").unwrap();
        let order = Closed::Class("com.acme.Order".into(), Vec::new());
        let item = Closed::Class("com.acme.Item".into(), Vec::new());
        let bindings = Bindings::of(&class.variables, &[order.clone(), Closed::Any]);
        assert_eq!(closed(&bindings, "TT;"), order);
        assert_eq!(closed(&bindings, "TU;"), item);
        assert_eq!(closed(&bindings, "TX;"), Closed::Any);
        let list = Closed::Class("java.util.List".into(), vec![item]);
        assert_eq!(closed(&bindings, "Ljava/util/List<+TU;>;"), list);
        assert_eq!(closed(&bindings, "[[TT;").erased(), "com.acme.Order[][]");
    }

    #[test]
    fn types_that_grow_come_to_an_end() {
        let class = class("<T:Ljava/lang/Object;>Ljava/lang/Object;").unwrap();
        for text in ["Lcom/acme/P<TT;>;", "[TT;", "Lcom/acme/Q<TT;TT;TT;>;"] {
            let mut arguments = vec![Closed::Any];
            for _ in 0..20 {
                let bindings = Bindings::of(&class.variables, &arguments[arguments.len() - 1..]);
                arguments.push(closed(&bindings, text));
            }
            let (last, before) = (&arguments[20], &arguments[19]);
            // What grows in width, too, goes on changing, and ends with the number of types.
            assert!(last == before || text.contains('Q'), "{text}");
            assert!(last.size() <= 2 * SIZE, "{text}");
        }
    }
}
