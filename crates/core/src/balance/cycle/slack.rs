//! Whether a turn may be taken out of order without a later deadline being missed. Pure.
//!
//! Every deadline can be met if, for each instant d to come, the turns due by d and not yet taken
//! fit between now and d: if the sum of `1 - due(x)` over now < x <= d is not negative. Taking a turn
//! that is due by e spends one unit at every d before e.

use super::drawn::Drawn;
use super::opening::due;

/// Up to here each instant counts by itself. A turn that begins within the longest opening and is due
/// later is the first one of its candidate, and those have leaves of their own.
const NEAR: u64 = 65_536;

/// Sums of `1 - due(x)` over ranges, in a tree.
pub(super) struct Slack {
    /// The root is node 1, the children of i are 2i and 2i + 1, the leaves fill the second half.
    nodes: Vec<Node>,
    leaves: usize,
    near: u64,
    /// First deadlines beyond `near`, ascending; their leaves follow the near ones.
    far: Vec<u64>,
}

#[derive(Clone, Copy)]
struct Node {
    sum: i64,
    /// The lowest sum of a beginning of the range, itself included.
    lowest: i64,
}

impl Slack {
    /// With every turn still to be taken.
    pub(super) fn new(drawn: &Drawn) -> Self {
        let near = drawn.total.min(NEAR);
        let mut weights = drawn.weight.clone();
        weights.sort_unstable_by(|a, b| b.cmp(a));
        let mut room = vec![1; near as usize + 1];
        let (mut far, mut later) = (Vec::new(), Vec::new());
        let mut lighter = drawn.total;
        for class in weights.chunk_by(|a, b| a == b) {
            let first = due(0, class[0], drawn.total);
            if first > near {
                // Between this deadline and the next, only those due later are sure to leave room,
                // each as much as its share since the start.
                later.push(share_since(
                    far.last().copied().unwrap_or(near + 1),
                    lighter,
                    drawn.total,
                ));
                far.push(first);
            }
            lighter -= u64::from(class[0]) * class.len() as u64;
            let turns = (0..class[0]).map(|turn| due(turn, class[0], drawn.total));
            for due in turns.take_while(|due| *due <= near) {
                room[due as usize] -= class.len() as i64;
            }
        }
        later.push(0);
        room[0] = 0;
        let mut total: i64 = room.iter().sum();
        for sum in later {
            room.push(sum - total);
            total = sum;
        }
        Self::over(&room, near, far)
    }

    fn over(room: &[i64], near: u64, far: Vec<u64>) -> Self {
        let leaves = room.len().next_power_of_two();
        let mut nodes = vec![Node::EMPTY; 2 * leaves];
        for (node, room) in nodes[leaves..].iter_mut().zip(room) {
            *node = Node { sum: *room, lowest: *room };
        }
        for i in (1..leaves).rev() {
            nodes[i] = nodes[2 * i].then(nodes[2 * i + 1]);
        }
        Self { nodes, leaves, near, far }
    }

    /// Whether the turn at `now` may go to one that is due by `due`.
    pub(super) fn allows(&self, now: u64, due: u64) -> bool {
        let (mut from, mut to) = (self.leaf(now + 1), self.leaf(due));
        let (mut left, mut right) = (Node::EMPTY, Node::EMPTY);
        while from < to {
            if from % 2 == 1 {
                left = left.then(self.nodes[from]);
                from += 1;
            }
            if to % 2 == 1 {
                to -= 1;
                right = self.nodes[to].then(right);
            }
            (from, to) = (from / 2, to / 2);
        }
        left.then(right).lowest >= 1
    }

    /// A turn that is due by `due` is taken.
    pub(super) fn take(&mut self, due: u64) {
        let mut i = self.leaf(due);
        self.nodes[i].sum += 1;
        self.nodes[i].lowest += 1;
        while i > 1 {
            i /= 2;
            self.nodes[i] = self.nodes[2 * i].then(self.nodes[2 * i + 1]);
        }
    }

    fn leaf(&self, instant: u64) -> usize {
        if instant <= self.near {
            return self.leaves + instant as usize;
        }
        // The first far leaf stands for what lies before the first far deadline.
        self.leaves + self.near as usize + 1 + self.far.partition_point(|due| *due <= instant)
    }
}

impl Node {
    const EMPTY: Self = Self { sum: 0, lowest: i64::MAX / 4 };

    fn then(self, next: Self) -> Self {
        Self { sum: self.sum + next.sum, lowest: self.lowest.min(self.sum + next.lowest) }
    }
}

/// Turns that `weight` of `total` is owed by `instant`, rounded up: with what other shares add, the
/// room is a whole number.
fn share_since(instant: u64, weight: u64, total: u64) -> i64 {
    let owed = u128::from(instant) * u128::from(weight);
    owed.div_ceil(u128::from(total)).min(u128::from(u32::MAX)) as i64
}
