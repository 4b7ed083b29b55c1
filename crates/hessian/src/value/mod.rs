//! [`Value`]: what a stream holds, with nothing lost. An arena of nodes that name each other by id, so
//! that shared nodes stay shared and a node may contain itself.

mod decode;
mod encode;
mod graph;

use std::sync::Arc;

/// Names a node of one [`Value`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct NodeId(pub(crate) u32);

/// Name and fields of an object's class.
#[derive(Clone, Debug, Default, Eq, PartialEq, Hash)]
pub struct Shape {
    /// Name of the class.
    pub name: String,
    /// Names of its fields, in the order of the values. A name may be there twice, where a subclass
    /// hides a field.
    pub fields: Vec<String>,
}

/// One node.
#[derive(Clone, Debug)]
pub enum Node {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// A 32-bit number.
    Int(i32),
    /// A 64-bit number.
    Long(i64),
    /// A floating-point number.
    Double(f64),
    /// Milliseconds since 1970.
    Date(i64),
    /// Text.
    Str(String),
    /// A string that is no Unicode: UTF-16 units.
    Utf16(Vec<u16>),
    /// Bytes.
    Binary(Vec<u8>),
    /// A list, with the name of its type if it has one.
    List(Option<Arc<str>>, Vec<NodeId>),
    /// A map in its order, with the name of its type if it has one.
    Map(Option<Arc<str>>, Vec<(NodeId, NodeId)>),
    /// An object: its class, and a value for each field.
    Object(Arc<Shape>, Vec<NodeId>),
}

/// One value, or several of one stream.
#[derive(Clone, Debug)]
pub struct Value {
    pub(crate) nodes: Vec<Node>,
    pub(crate) roots: Vec<NodeId>,
}

impl Default for Value {
    fn default() -> Self {
        Self::null()
    }
}

impl Value {
    /// Without any node: to be built with [`add`](Self::add) and [`set_root`](Self::set_root).
    pub fn empty() -> Self {
        Self { nodes: Vec::new(), roots: Vec::new() }
    }

    /// Null.
    pub fn null() -> Self {
        Self::of(Node::Null)
    }

    /// A value of one node, which refers to no other.
    pub fn of(node: Node) -> Self {
        Self { nodes: vec![node], roots: vec![NodeId(0)] }
    }

    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(Node::Str(text.into()))
    }

    /// Adds a node. It may name nodes that are added later, but until they are, the value cannot be
    /// used.
    pub fn add(&mut self, node: Node) -> NodeId {
        // Four thousand million nodes do not fit into any budget.
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
        id
    }

    /// Adds a text.
    pub fn add_text(&mut self, text: impl Into<String>) -> NodeId {
        self.add(Node::Str(text.into()))
    }

    /// Adds all nodes of another value; gives the id of its root here.
    pub fn graft(&mut self, other: &Value) -> NodeId {
        let offset = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let moved = |id: &NodeId| NodeId(id.0.saturating_add(offset));
        for node in &other.nodes {
            let node = match node {
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
            self.nodes.push(node);
        }
        moved(&other.root())
    }

    /// Replaces a node that was added. In a value that was read, equal numbers may be one node.
    pub fn put(&mut self, id: NodeId, node: Node) {
        if let Some(place) = self.nodes.get_mut(id.0 as usize) {
            *place = node;
        }
    }

    /// Makes a node the value; others are what it names.
    pub fn set_root(&mut self, id: NodeId) {
        self.roots = vec![id];
    }

    /// Adds one more value to the stream.
    pub fn add_root(&mut self, id: NodeId) {
        self.roots.push(id);
    }

    /// The value, of several the first.
    pub fn root(&self) -> NodeId {
        self.roots.first().copied().unwrap_or(NodeId(0))
    }

    /// All values of the stream.
    pub fn roots(&self) -> &[NodeId] {
        &self.roots
    }

    /// The value that one of the nodes is, with everything it refers to, as a value of its own.
    pub fn part(&self, id: NodeId) -> Value {
        graph::part(self, id)
    }

    /// A node. An id of another value may name nothing, which is null.
    pub fn node(&self, id: NodeId) -> &Node {
        static NULL: Node = Node::Null;
        self.nodes.get(id.0 as usize).unwrap_or(&NULL)
    }

    /// The node that is the value.
    pub fn root_node(&self) -> &Node {
        self.node(self.root())
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The value of a field of an object, or of an entry of a map with that text as key. Of a
    /// repeated name the last one counts.
    pub fn get(&self, id: NodeId, name: &str) -> Option<NodeId> {
        match self.node(id) {
            Node::Object(shape, values) => {
                let at = shape.fields.iter().rposition(|field| field == name)?;
                values.get(at).copied()
            }
            Node::Map(_, pairs) => {
                let is = |key: NodeId| matches!(self.node(key), Node::Str(key) if key == name);
                pairs.iter().rev().find(|(key, _)| is(*key)).map(|(_, value)| *value)
            }
            _ => None,
        }
    }

    /// The text of a node; `None` when it is none.
    pub fn str(&self, id: NodeId) -> Option<&str> {
        match self.node(id) {
            Node::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The number that a node is, whether 32 or 64 bits wide.
    pub fn integer(&self, id: NodeId) -> Option<i64> {
        match self.node(id) {
            Node::Int(value) => Some(i64::from(*value)),
            Node::Long(value) => Some(*value),
            _ => None,
        }
    }

    /// The elements of a list.
    pub fn items(&self, id: NodeId) -> Option<&[NodeId]> {
        match self.node(id) {
            Node::List(_, items) => Some(items),
            _ => None,
        }
    }

    /// The class of an object, or the type of a list or map that says one.
    pub fn class(&self, id: NodeId) -> Option<&str> {
        match self.node(id) {
            Node::Object(shape, _) => Some(&shape.name),
            Node::List(ty, _) | Node::Map(ty, _) => ty.as_deref(),
            _ => None,
        }
    }
}

impl Node {
    /// An object of `class` with these fields.
    pub fn object<'f>(class: &str, fields: impl IntoIterator<Item = (&'f str, NodeId)>) -> Self {
        let (names, values) =
            fields.into_iter().map(|(name, value)| (name.to_owned(), value)).unzip();
        Node::Object(Arc::new(Shape { name: class.to_owned(), fields: names }), values)
    }

    /// A list with a type.
    pub fn typed_list(ty: &str, items: Vec<NodeId>) -> Self {
        Node::List(Some(ty.into()), items)
    }

    /// Whether others can refer to it: lists, maps and objects.
    pub fn is_container(&self) -> bool {
        matches!(self, Node::List(..) | Node::Map(..) | Node::Object(..))
    }
}
