//! From a [`Value`] to bytes, without recursion. A list, map or object that is met again is written as
//! a reference, so shared nodes stay shared and cycles end.

use crate::error::Error;
use crate::value::{Node, NodeId, Value};
use crate::write::Writer;

/// What is still to be written.
enum Step {
    Value(NodeId),
    EndMap,
    EndObject,
    /// The values of an object from this one on.
    Fields(NodeId, usize),
}

impl Value {
    /// All values, one after the other, as the bytes of one stream.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::new();
        self.write(&mut writer);
        writer.into_bytes()
    }

    /// Writes all values to a stream.
    pub fn write(&self, writer: &mut Writer) {
        let mut numbers = vec![None; self.nodes.len()];
        for root in &self.roots {
            self.write_from(*root, writer, &mut numbers);
        }
    }

    fn write_from(&self, root: NodeId, writer: &mut Writer, numbers: &mut [Option<usize>]) {
        let mut steps = vec![Step::Value(root)];
        while let Some(step) = steps.pop() {
            match step {
                Step::EndMap => writer.end(),
                Step::EndObject => ended(writer.end_object()),
                Step::Fields(id, at) => {
                    let Node::Object(shape, values) = self.node(id) else { continue };
                    let (Some(name), Some(value)) = (shape.fields.get(at), values.get(at)) else {
                        continue;
                    };
                    ended(writer.field(name));
                    if at + 1 < shape.fields.len().min(values.len()) {
                        steps.push(Step::Fields(id, at + 1));
                    }
                    steps.push(Step::Value(*value));
                }
                Step::Value(id) => {
                    let number = numbers.get(id.0 as usize).copied().flatten();
                    match number {
                        Some(number) => writer.reference(number),
                        None => {
                            let started = self.write_node(id, writer, &mut steps);
                            if let Some(place) = numbers.get_mut(id.0 as usize) {
                                *place = started;
                            }
                        }
                    }
                }
            }
        }
    }

    /// Writes a node, of a container its beginning. Its number is the answer.
    fn write_node(&self, id: NodeId, writer: &mut Writer, steps: &mut Vec<Step>) -> Option<usize> {
        match self.node(id) {
            Node::Null => writer.null(),
            Node::Bool(value) => writer.bool(*value),
            Node::Int(value) => writer.int(*value),
            Node::Long(value) => writer.long(*value),
            Node::Double(value) => writer.double(*value),
            Node::Date(value) => writer.date(*value),
            Node::Str(text) => writer.str(text),
            Node::Utf16(units) => writer.utf16(units),
            Node::Binary(bytes) => writer.binary(bytes),
            Node::List(ty, items) => {
                let number = writer.list(ty.as_deref(), items.len());
                steps.extend(items.iter().rev().map(|item| Step::Value(*item)));
                return Some(number);
            }
            Node::Map(ty, pairs) => {
                let number = writer.map(ty.as_deref());
                steps.push(Step::EndMap);
                for (key, value) in pairs.iter().rev() {
                    steps.extend([Step::Value(*value), Step::Value(*key)]);
                }
                return Some(number);
            }
            Node::Object(shape, values) => {
                let fields = shape.fields.iter().take(values.len()).map(String::as_str);
                let number = writer.object_with(&shape.name, fields);
                steps.push(Step::EndObject);
                if !values.is_empty() {
                    steps.push(Step::Fields(id, 0));
                }
                return Some(number);
            }
        }
        None
    }
}

/// The writer cannot refuse a class whose fields it was given before its first object.
fn ended(result: Result<(), Error>) {
    debug_assert!(result.is_ok(), "{result:?}");
}
