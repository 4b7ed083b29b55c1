//! The index over one block of slots: a tree of lower bounds, sixteen to a node.

use super::node::{NOTHING, Node};

/// Children of a node, and slots of a group.
pub(super) const FAN: usize = 16;

/// The bounds of sixteen siblings, on two cache lines of their own.
#[repr(align(128))]
pub(super) struct Row([Node; FAN]);

/// Rows as in a heap: below lane `l` of row `r` lies row `16 r + l + 1`, down to the rows from
/// `leaf` on, whose nodes bound one group of slots each.
pub(super) struct Tree {
    rows: Box<[Row]>,
    leaf: usize,
    /// Lanes of the first row in use.
    width: usize,
}

impl Tree {
    /// For this many groups, of which nothing is known: all bounds are 0.
    pub(super) fn new(groups: usize) -> Self {
        let (mut leaf, mut reach) = (0, FAN);
        while reach < groups {
            leaf = leaf * FAN + 1;
            reach *= FAN;
        }
        let rows = leaf + groups.div_ceil(FAN).max(1);
        let mut rows: Box<[Row]> = (0..rows).map(|_| Row(std::array::from_fn(|_| Node::new(NOTHING)))).collect();
        let mut width = groups;
        let (mut start, mut used) = (leaf, groups);
        loop {
            for at in 0..used {
                rows[start + at / FAN].0[at % FAN] = Node::new(0);
            }
            width = used;
            if start == 0 {
                break;
            }
            used = used.div_ceil(FAN);
            start = (start - 1) / FAN;
        }
        Self { rows, leaf, width }
    }

    #[inline(always)]
    pub(super) fn row(&self, row: usize) -> &[Node; FAN] {
        &self.rows[row].0
    }

    /// The group that a node of a leaf row bounds, or else the row below.
    #[inline(always)]
    pub(super) fn below(&self, row: usize, lane: usize) -> Below {
        if row >= self.leaf {
            Below::Group((row - self.leaf) * FAN + lane)
        } else {
            Below::Row(row * FAN + lane + 1)
        }
    }

    /// The least bound of a row.
    #[inline(always)]
    pub(super) fn least(&self, row: usize) -> u64 {
        self.row(row).iter().map(Node::bound).fold(NOTHING, u64::min)
    }

    /// A lower bound of all keys of the block.
    #[inline(always)]
    pub(super) fn floor(&self) -> u64 {
        let mut least = NOTHING;
        for node in self.row(0).iter().take(self.width) {
            least = least.min(node.bound());
        }
        least
    }

    /// Lets the bounds above a group know of a key that fell.
    #[inline(always)]
    pub(super) fn lower(&self, group: usize, key: u64) {
        let (mut row, mut lane) = (self.leaf + group / FAN, group % FAN);
        while self.rows[row].0[lane].lower(key) && row > 0 {
            (row, lane) = ((row - 1) / FAN, (row - 1) % FAN);
        }
    }

    /// The same for a key that is about to fall, leaving nothing to others.
    #[inline(always)]
    pub(super) fn lower_all(&self, group: usize, key: u64) {
        let (mut row, mut lane) = (self.leaf + group / FAN, group % FAN);
        loop {
            self.rows[row].0[lane].lower(key);
            if row == 0 {
                return;
            }
            (row, lane) = ((row - 1) / FAN, (row - 1) % FAN);
        }
    }
}

pub(super) enum Below {
    Group(usize),
    Row(usize),
}
