//! Models of picks beside attempts that start and finish, on two endpoints and three threads. Small
//! sets are looked at one by one; under the model they go through the index too.

use loom::sync::Arc;
use loom::thread;

use super::{Board, Members, SlotId};

struct World {
    board: Board,
    slots: [SlotId; 2],
    members: Members,
}

impl World {
    /// Two endpoints with these many attempts in flight, and bounds that know of them.
    fn new(counts: [u32; 2]) -> Arc<Self> {
        let board = Board::new(2);
        let slots = [board.join(), board.join()];
        for (slot, count) in slots.iter().zip(counts) {
            for _ in 0..count {
                board.start(*slot);
            }
        }
        let members = Members::new(&slots, &[1, 1]);
        let world = Arc::new(Self { board, slots, members });
        // Raises the bounds to what is true now.
        world.pick();
        world
    }

    fn pick(&self) -> usize {
        self.members.least_active(&self.board, 0x1234_5678_9abc_def0, None).unwrap()
    }

    fn counts(&self) -> [u32; 2] {
        self.slots.map(|slot| self.board.active(slot))
    }
}

fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(model);
}

#[test]
fn model_a_pick_is_at_most_one_above_the_least() {
    check(|| {
        let world = World::new([3, 1]);
        let falling = world.clone();
        let falling = thread::spawn(move || {
            for _ in 0..3 {
                falling.board.finish(falling.slots[0]);
            }
        });
        let rising = world.clone();
        let rising = thread::spawn(move || {
            for _ in 0..2 {
                rising.board.start(rising.slots[1]);
            }
        });
        // The first only falls and the second only rises: the second was best placed when the pick
        // began, the first when it ended.
        let before = world.counts();
        let picked = world.pick();
        let after = world.counts();
        match picked {
            0 => assert!(after[0] <= after[1] + 1, "{before:?} to {after:?}"),
            _ => assert!(before[1] <= before[0] + 1, "{before:?} to {after:?}"),
        }
        falling.join().unwrap();
        rising.join().unwrap();
        assert_eq!(world.counts(), [0, 3]);
        assert_eq!(world.pick(), 0);
    });
}

#[test]
fn model_a_raise_never_hides_a_finished_attempt() {
    check(|| {
        // Bounds say 1; both counts are 2, so the first pick raises them while one falls.
        let world = World::new([1, 1]);
        world.board.start(world.slots[0]);
        world.board.start(world.slots[1]);
        let falling = world.clone();
        let falling = thread::spawn(move || {
            falling.board.finish(falling.slots[1]);
            falling.board.finish(falling.slots[1]);
        });
        let raising = world.clone();
        let raising = thread::spawn(move || raising.pick());
        world.pick();
        falling.join().unwrap();
        raising.join().unwrap();
        assert_eq!(world.counts(), [2, 0]);
        assert_eq!(world.pick(), 1);
    });
}
