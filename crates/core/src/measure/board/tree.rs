//! The index over the slots of one block: a tree of lower bounds, sixteen to a node.

use super::node::{NOTHING, Node};

/// Children of a node, and slots of a group. The model gets along with small ones.
pub(super) const FAN: usize = if cfg!(loom) { 2 } else { 16 };

/// The bounds of sixteen siblings, on two cache lines of their own.
#[repr(align(128))]
struct Row([Node; FAN]);

/// Rows are numbered as in a heap: below lane `l` of row `r` lies row `16 r + l + 1`, down to the
/// rows from `leaf` on, whose lanes stand for one group of slots each.
pub(super) struct Tree {
    rows: Box<[Row]>,
    leaf: usize,
    /// Lanes of the first row that have something below them.
    width: usize,
}

/// What a lane stands for.
#[derive(Clone, Copy)]
pub(super) enum Below {
    Group(usize),
    Row(usize),
}

impl Tree {
    /// Over this many groups, of which nothing is known yet: 0 is below every key.
    pub(super) fn new(groups: usize) -> Self {
        let (mut leaf, mut reach) = (0, FAN);
        while reach < groups {
            leaf = leaf * FAN + 1;
            reach *= FAN;
        }
        let row = |_| Row(std::array::from_fn(|_| Node::new(NOTHING)));
        let mut rows: Box<[Row]> = (0..leaf + groups.div_ceil(FAN)).map(row).collect();
        let (mut first, mut width) = (leaf, groups);
        loop {
            for at in 0..width {
                rows[first + at / FAN].0[at % FAN] = Node::new(0);
            }
            if first == 0 {
                return Self { rows, leaf, width };
            }
            (first, width) = ((first - 1) / FAN, width.div_ceil(FAN));
        }
    }

    #[inline(always)]
    pub(super) fn row(&self, row: usize) -> &[Node; FAN] {
        &self.rows[row].0
    }

    #[inline(always)]
    pub(super) fn below(&self, row: usize, lane: usize) -> Below {
        if row < self.leaf {
            Below::Row(row * FAN + lane + 1)
        } else {
            Below::Group((row - self.leaf) * FAN + lane)
        }
    }

    /// The least bound of a row.
    pub(super) fn least(&self, row: usize) -> u64 {
        self.row(row).iter().map(Node::bound).fold(NOTHING, u64::min)
    }

    /// A lower bound of all keys.
    #[inline(always)]
    pub(super) fn floor(&self) -> u64 {
        let mut floor = NOTHING;
        for node in self.row(0).iter().take(self.width) {
            floor = floor.min(node.bound());
        }
        floor
    }

    /// The bound of a group.
    #[inline(always)]
    pub(super) fn bound(&self, group: usize) -> u64 {
        self.node(group).bound()
    }

    /// Lets the bounds above a group know of a key that fell.
    #[inline(always)]
    pub(super) fn lower(&self, group: usize, key: u64) {
        if self.node(group).is_above(key) {
            self.lower_from(group, key);
        }
    }

    /// Lowers the bounds for a key that is about to fall.
    #[inline(always)]
    pub(super) fn prepare(&self, group: usize, key: u64) {
        if self.node(group).is_above(key) {
            self.prepare_from(group, key);
        }
    }

    /// Where a bound is low enough, so are those above it, or whoever lowered it is still on the way
    /// up.
    #[cold]
    #[inline(never)]
    fn lower_from(&self, group: usize, key: u64) {
        let mut at = Some((self.leaf + group / FAN, group % FAN));
        while let Some((row, lane)) = at {
            if !self.rows[row].0[lane].lower(key) {
                return;
            }
            at = Self::above(row);
        }
    }

    /// First downwards, so that where the bound of a group is low enough those above it have been
    /// before, and the next finish that finds it so need not look at them. Then upwards, since
    /// somebody may have raised one of them while a bound below it was not lowered yet.
    #[cold]
    #[inline(never)]
    fn prepare_from(&self, group: usize, key: u64) {
        let leaf = (self.leaf + group / FAN, group % FAN);
        self.lower_down(leaf, key);
        let mut at = Self::above(leaf.0);
        while let Some((row, lane)) = at {
            self.rows[row].0[lane].lower(key);
            at = Self::above(row);
        }
    }

    fn lower_down(&self, (row, lane): (usize, usize), key: u64) {
        if let Some(above) = Self::above(row) {
            self.lower_down(above, key);
        }
        self.rows[row].0[lane].lower(key);
    }

    /// Row and lane of the node over a row.
    #[inline(always)]
    fn above(row: usize) -> Option<(usize, usize)> {
        row.checked_sub(1).map(|node| (node / FAN, node % FAN))
    }

    #[inline(always)]
    fn node(&self, group: usize) -> &Node {
        &self.rows[self.leaf + group / FAN].0[group % FAN]
    }
}
