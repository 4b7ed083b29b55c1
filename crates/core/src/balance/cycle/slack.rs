//! Whether a turn may be taken out of order without a later deadline being missed. Pure.
//!
//! Every deadline can be met if, for each instant d to come, the turns due by d and not yet taken
//! fit between now and d: if the sum of `1 - due(x)` over now < x <= d is not negative. Taking a turn
//! that is due by e spends one unit at every d before e.

use super::drawn::Drawn;
use super::opening::{LONGEST, due};

/// Up to here each instant counts by itself. A turn that begins within the longest opening and is due
/// later is the first one of its candidate, as three times that opening lie between; those have
/// leaves of their own.
const NEAR: u64 = 3 * LONGEST;

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
    sum: i32,
    /// The lowest sum of a beginning of the range, itself included.
    lowest: i32,
}

impl Slack {
    /// With every turn still to be taken.
    pub(super) fn new(drawn: &Drawn) -> Self {
        Self::with_near(drawn, drawn.total.min(NEAR))
    }

    fn with_near(drawn: &Drawn, near: u64) -> Self {
        let mut weights = drawn.weight.clone();
        weights.sort_unstable_by(|a, b| b.cmp(a));
        let mut room = vec![1; near as usize + 1];
        room[0] = 0;
        let mut far = Vec::new();
        // What the sums come to from one far deadline to the next: only candidates due later are
        // sure to leave room there, each as much as its share since the start.
        let mut far_sums = Vec::new();
        let mut lighter = drawn.total;
        for class in weights.chunk_by(|a, b| a == b) {
            let first = due(0, class[0], drawn.total);
            if first > near {
                let since = far.last().copied().unwrap_or(near + 1);
                far_sums.push(share_since(since, lighter, drawn.total));
                far.push(first);
            }
            lighter -= u64::from(class[0]) * class.len() as u64;
            let turns = (0..class[0]).map(|turn| due(turn, class[0], drawn.total));
            for due in turns.take_while(|due| *due <= near) {
                room[due as usize] -= class.len() as i32;
            }
        }
        far_sums.push(0);
        let mut sum: i32 = room.iter().sum();
        for far_sum in far_sums {
            room.push(far_sum - sum);
            sum = far_sum;
        }
        Self::over(&room, near, far)
    }

    fn over(room: &[i32], near: u64, far: Vec<u64>) -> Self {
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
    const EMPTY: Self = Self { sum: 0, lowest: i32::MAX / 2 };

    fn then(self, next: Self) -> Self {
        Self { sum: self.sum + next.sum, lowest: self.lowest.min(self.sum + next.lowest) }
    }
}

/// Turns that `weight` of `total` is owed by `instant`, rounded up: with what other shares add, the
/// room is a whole number.
fn share_since(instant: u64, weight: u64, total: u64) -> i32 {
    let owed = (u128::from(instant) * u128::from(weight)).div_ceil(u128::from(total));
    // No opening is long enough to use up the limit.
    owed.min(1 << 28) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether earliest deadline first meets every deadline of the cycle from here.
    fn in_reach(drawn: &Drawn, now: u64, served: &[u32]) -> bool {
        let mut served = served.to_vec();
        for now in now..drawn.total {
            let begun = (0..served.len()).filter(|i| {
                let begins = u64::from(served[*i]) * drawn.total / u64::from(drawn.weight[*i]);
                begins <= now
            });
            let next = begun.min_by_key(|i| due(served[*i], drawn.weight[*i], drawn.total));
            let Some(next) = next else { return false };
            if due(served[next], drawn.weight[next], drawn.total) <= now {
                return false;
            }
            served[next] += 1;
        }
        true
    }

    /// Takes turns at random among those allowed. Where every deadline is near, exactly those are
    /// allowed that leave the rest in reach; else never one that does not.
    fn check(rng: &mut fastrand::Rng, near: u64, weights: &[u32]) -> (u32, u32) {
        let drawn = Drawn::new(weights).unwrap();
        let near = near.min(drawn.total);
        let mut slack = Slack::with_near(&drawn, near);
        let mut served = vec![0_u32; weights.len()];
        let (mut allowed, mut refused) = (0, 0);
        for now in 0..drawn.total.min(near) {
            let mut open = Vec::new();
            for i in 0..served.len() {
                let turn = served[i];
                let begins = u64::from(turn) * drawn.total / u64::from(drawn.weight[i]);
                let due = due(turn, drawn.weight[i], drawn.total);
                if begins > now || turn > 0 && due > near {
                    continue;
                }
                served[i] += 1;
                let (says, is) = (slack.allows(now, due), in_reach(&drawn, now + 1, &served));
                served[i] -= 1;
                assert!(!says || is, "{weights:?} {now} {i}");
                assert!(near < drawn.total || says == is, "{weights:?} {now} {i}");
                if says {
                    open.push((i, due))
                }
                *(if says { &mut allowed } else { &mut refused }) += 1;
            }
            let Some((i, due)) = rng.choice(open) else { break };
            slack.take(due);
            served[i] += 1;
        }
        (allowed, refused)
    }

    #[test]
    fn allows_what_leaves_every_deadline_in_reach() {
        let mut rng = fastrand::Rng::with_seed(1);
        let (mut near, mut far) = ((0, 0), (0, 0));
        for _ in 0..300 {
            let n = rng.usize(2..8);
            let weights: Vec<u32> = (0..n).map(|_| 1 + rng.u32(0..4) * rng.u32(0..5)).collect();
            let (allowed, refused) = check(&mut rng, u64::MAX, &weights);
            near = (near.0 + allowed, near.1 + refused);
            let (allowed, refused) = check(&mut rng, 6, &weights);
            far = (far.0 + allowed, far.1 + refused);
        }
        assert!(near.0 > 1000 && near.1 > 1000 && far.0 > 500 && far.1 > 500, "{near:?} {far:?}");
    }
}
