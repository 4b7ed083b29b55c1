//! The index under every interleaving that `loom` can make of two and three threads. Groups and
//! rows have two places here, so that two slots already have a group and eight have two rows of
//! bounds, one above the other.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p equipoise-core --release model_`

use loom::sync::Arc;
use loom::thread;

use super::order::{ByActive, ByEstimate};
use super::*;

struct World {
    board: Board,
    slots: Vec<SlotId>,
    members: Members,
}

impl World {
    /// Slots with these counts. Two searches make the bounds right, unless they shall lag behind.
    fn new(counts: &[u32], lag: bool) -> Arc<Self> {
        let board = Board::new(counts.len());
        let slots: Vec<_> = counts.iter().map(|_| board.join()).collect();
        let members = Members::new(&slots, &vec![1; slots.len()]);
        let world = Self { board, slots, members };
        for (slot, count) in world.slots.iter().zip(counts) {
            for n in 0..*count {
                if lag && n + 1 == *count {
                    world.least();
                }
                world.board.start(*slot);
            }
        }
        if !lag {
            world.least();
            assert_eq!(Some(world.board.floor::<ByActive>()), world.counts().min().map(u64::from));
        }
        Arc::new(world)
    }

    fn counts(&self) -> impl Iterator<Item = u32> {
        settle();
        self.slots.iter().map(|slot| self.board.active(*slot))
    }

    /// A pick by the index.
    fn least(&self) -> usize {
        settle();
        let found = self.members.least_by_index::<ByActive>(&self.board, 1, None);
        found.unwrap_or_else(|| unreachable!("all slots are in use"))
    }

    /// A pick by the index while others only finish: then the least count only falls, and what was
    /// taken has at most one more than the least had before.
    fn least_while_others_finish(&self) {
        let before = self.counts().min().unwrap_or(0);
        let position = self.least();
        let taken = self.counts().nth(position).unwrap_or(0);
        assert!(taken <= before + 1, "took {taken} where {before} was");
    }

    /// Nobody changes anything any more: the bounds are right, and so is a pick.
    fn assert_exact(&self) {
        let least = self.counts().min();
        assert!(self.board.floor::<ByActive>() <= least.map_or(0, u64::from));
        assert_eq!(self.counts().nth(self.least()), least);
    }
}

/// Every interleaving with up to so many preemptions.
fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

fn finish(world: &Arc<World>, position: usize) -> thread::JoinHandle<()> {
    let world = world.clone();
    thread::spawn(move || {
        world.board.finish(world.slots[position]);
    })
}

fn join(threads: impl IntoIterator<Item = thread::JoinHandle<()>>) {
    for thread in threads {
        assert!(thread.join().is_ok());
    }
}

#[test]
fn model_two_finish_at_one_endpoint() {
    explore(4, || {
        let world = World::new(&[2, 2], false);
        let threads = [finish(&world, 0), finish(&world, 0)];
        world.least_while_others_finish();
        join(threads);
        world.assert_exact();
    });
}

#[test]
fn model_two_finish_at_two_endpoints() {
    explore(4, || {
        let world = World::new(&[2, 3], false);
        let threads = [finish(&world, 0), finish(&world, 1)];
        world.least_while_others_finish();
        join(threads);
        world.assert_exact();
    });
}

#[test]
fn model_one_finishes_while_two_raise_the_bounds() {
    explore(3, || {
        let world = World::new(&[3, 3], true);
        let other = world.clone();
        let threads = [finish(&world, 0), thread::spawn(move || other.least_while_others_finish())];
        world.least_while_others_finish();
        join(threads);
        world.assert_exact();
    });
}

#[test]
fn model_two_finish_while_the_third_picks_twice() {
    explore(4, || {
        let world = World::new(&[3, 3], true);
        let threads = [finish(&world, 0), finish(&world, 0)];
        world.least_while_others_finish();
        world.least_while_others_finish();
        join(threads);
        world.assert_exact();
    });
}

#[test]
fn model_start_and_finish_while_others_finish_and_pick() {
    explore(4, || {
        let world = World::new(&[2, 3], true);
        let other = world.clone();
        let busy = thread::spawn(move || {
            other.board.start(other.slots[0]);
            other.board.finish(other.slots[0]);
        });
        let threads = [busy, finish(&world, 0)];
        world.least();
        world.least();
        join(threads);
        world.assert_exact();
    });
}

#[test]
fn model_bounds_above_bounds() {
    explore(8, || {
        let world = World::new(&[2, 2, 2, 2, 2, 2, 2, 2], false);
        let other = world.clone();
        let raiser = thread::spawn(move || {
            other.board.start(other.slots[1]);
            other.least();
        });
        let finisher = finish(&world, 0);
        join([finisher, raiser]);
        world.assert_exact();
    });
}

#[test]
fn model_three_levels_of_bounds() {
    explore(7, || {
        let world = World::new(&[2; 16], false);
        let other = world.clone();
        let raiser = thread::spawn(move || {
            other.board.start(other.slots[1]);
            other.least();
            other.least();
        });
        let finisher = finish(&world, 0);
        join([finisher, raiser]);
        world.assert_exact();
    });
}

#[test]
fn model_two_lower_the_same_way_up() {
    explore(4, || {
        let world = World::new(&[3, 3, 3, 3, 3, 3, 3, 3], false);
        let threads = [finish(&world, 0), finish(&world, 2)];
        world.least_while_others_finish();
        join(threads);
        world.assert_exact();
    });
}

#[test]
fn model_join_while_another_raises_the_bounds() {
    explore(8, || {
        let world = World::new(&[1, 2], true);
        world.board.finish(world.slots[0]);
        world.board.leave(world.slots[0]);
        let other = world.clone();
        let joiner = thread::spawn(move || {
            assert_eq!(other.board.join(), other.slots[0]);
        });
        world.least();
        join([joiner]);
        world.assert_exact();
    });
}

#[test]
fn model_estimates_fall_for_three_reasons() {
    explore(4, || {
        let world = World::new(&[1, 1], false);
        world.board.set_average(world.slots[0], Some(8));
        world.board.set_mean(9);
        let least = |world: &World| {
            settle();
            world.members.least_by_index::<ByEstimate>(&world.board, 1, None)
        };
        assert_eq!(least(&world), Some(0));
        let (other, third) = (world.clone(), world.clone());
        let average = thread::spawn(move || other.board.set_average(other.slots[0], Some(3)));
        let finish = thread::spawn(move || {
            third.board.finish(third.slots[0]);
        });
        world.board.set_mean(2);
        assert!(least(&world).is_some());
        join([average, finish]);
        // Three for the first, four for the second.
        assert!(world.board.floor::<ByEstimate>() <= 3);
        assert_eq!(least(&world), Some(0));
    });
}

#[test]
fn model_a_scan_overlooks_nothing() {
    explore(4, || {
        let world = World::new(&[2, 2], false);
        let threads = [finish(&world, 0), finish(&world, 0)];
        let before = world.counts().min().unwrap_or(0);
        let position = world.members.least_of_few::<ByActive>(&world.board, 1).unwrap_or(0);
        assert!(world.counts().nth(position).unwrap_or(0) <= before + 1);
        join(threads);
    });
}
