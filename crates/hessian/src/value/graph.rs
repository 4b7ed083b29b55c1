//! Values as graphs: equality, and parts of them.

use std::collections::HashMap;

use crate::value::{Node, NodeId, Value};

/// Two values are equal when they are built the same way: equal numbers and texts at equal places, and
/// what is shared in one is shared in the other. NaN equals NaN, and 0.0 is not -0.0.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        if self.roots.len() != other.roots.len() {
            return false;
        }
        let (mut here, mut there) = (HashMap::new(), HashMap::new());
        let mut pairs: Vec<_> =
            self.roots.iter().copied().zip(other.roots.iter().copied()).collect();
        while let Some((a, b)) = pairs.pop() {
            let (left, right) = (self.node(a), other.node(b));
            if left.is_container() {
                // One to one: a node stands for one node of the other value, and no other does.
                match (here.get(&a), there.get(&b)) {
                    (None, None) => {
                        here.insert(a, b);
                        there.insert(b, a);
                    }
                    (Some(known), Some(back)) if *known == b && *back == a => continue,
                    _ => return false,
                }
            }
            if !same(left, right) {
                return false;
            }
            let (left, right) = (children(left), children(right));
            if left.len() != right.len() {
                return false;
            }
            pairs.extend(left.into_iter().zip(right));
        }
        true
    }
}

/// Whether two nodes are equal but for what they contain.
fn same(a: &Node, b: &Node) -> bool {
    match (a, b) {
        (Node::Null, Node::Null) => true,
        (Node::Bool(a), Node::Bool(b)) => a == b,
        (Node::Int(a), Node::Int(b)) => a == b,
        (Node::Long(a), Node::Long(b)) | (Node::Date(a), Node::Date(b)) => a == b,
        (Node::Double(a), Node::Double(b)) => {
            a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
        }
        (Node::Str(a), Node::Str(b)) => a == b,
        (Node::Utf16(a), Node::Utf16(b)) => a == b,
        (Node::Binary(a), Node::Binary(b)) => a == b,
        (Node::List(a, _), Node::List(b, _)) => a == b,
        (Node::Map(a, _), Node::Map(b, _)) => a == b,
        (Node::Object(a, _), Node::Object(b, _)) => a == b,
        _ => false,
    }
}

/// What a node contains, in order.
pub(crate) fn children(node: &Node) -> Vec<NodeId> {
    match node {
        Node::List(_, items) => items.clone(),
        Node::Map(_, pairs) => pairs.iter().flat_map(|(key, value)| [*key, *value]).collect(),
        Node::Object(_, values) => values.clone(),
        _ => Vec::new(),
    }
}

/// The value that a node is, without what it does not refer to.
pub(super) fn part(value: &Value, root: NodeId) -> Value {
    let mut part = Value::empty();
    let mut known: HashMap<NodeId, NodeId> = HashMap::new();
    let mut todo = vec![root];
    let mut order = Vec::new();
    while let Some(id) = todo.pop() {
        if known.contains_key(&id) {
            continue;
        }
        known.insert(id, part.add(Node::Null));
        order.push(id);
        todo.extend(children(value.node(id)));
    }
    let moved = |id: &NodeId| known.get(id).copied().unwrap_or(NodeId(0));
    for id in &order {
        let node = match value.node(*id) {
            Node::List(ty, items) => Node::List(ty.clone(), items.iter().map(moved).collect()),
            Node::Map(ty, pairs) => {
                let pairs = pairs.iter().map(|(k, v)| (moved(k), moved(v))).collect();
                Node::Map(ty.clone(), pairs)
            }
            Node::Object(shape, values) => {
                Node::Object(shape.clone(), values.iter().map(moved).collect())
            }
            plain => plain.clone(),
        };
        part.put(moved(id), node);
    }
    part.set_root(moved(&root));
    part
}
