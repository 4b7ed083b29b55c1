//! How large a value is once its parts are copied.

use std::collections::HashSet;

use equipoise_hessian::{Node, NodeId, Value};

/// How many places of the value `root` is hold something: itself, and every element, key, value and
/// field in it. Nodes that are met again count once, but every mention of them does.
pub(crate) fn places(value: &Value, root: NodeId) -> usize {
    let mut seen = HashSet::new();
    let mut todo = vec![root];
    let mut places: usize = 1;
    let mut inside = |ids: &mut dyn Iterator<Item = NodeId>, todo: &mut Vec<NodeId>| {
        for id in ids {
            places += 1;
            if value.node(id).is_container() {
                todo.push(id);
            }
        }
    };
    while let Some(id) = todo.pop() {
        if !seen.insert(id) {
            continue;
        }
        match value.node(id) {
            Node::List(_, items) => inside(&mut items.iter().copied(), &mut todo),
            Node::Object(_, fields) => inside(&mut fields.iter().copied(), &mut todo),
            Node::Map(_, pairs) => {
                inside(&mut pairs.iter().flat_map(|(key, value)| [*key, *value]), &mut todo);
            }
            _ => {}
        }
    }
    places
}
