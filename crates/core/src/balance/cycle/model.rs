//! Every interleaving of a few picks around the end of a table.

use loom::sync::Arc;
use loom::thread;

use super::wheel::Wheel;
use super::*;

/// What `threads` threads take with `each` picks each, in no order.
fn taken<T, F>(shared: &Arc<T>, threads: usize, each: usize, next: F) -> Vec<usize>
where
    T: Send + Sync + 'static,
    F: Fn(&T) -> usize + Copy + Send + 'static,
{
    let spawn = |_| {
        let shared = shared.clone();
        thread::spawn(move || (0..each).map(|_| next(&shared)).collect::<Vec<_>>())
    };
    let others: Vec<_> = (1..threads).map(spawn).collect();
    let mut taken: Vec<_> = (0..each).map(|_| next(shared)).collect();
    taken.extend(others.into_iter().flat_map(|other| other.join().unwrap()));
    taken.sort_unstable();
    taken
}

#[test]
fn model_no_turn_is_lost_or_doubled_where_the_table_ends() {
    loom::model(|| {
        let wheel = Arc::new(Wheel::new(vec![9, 0, 1], 1));
        let next = |wheel: &Wheel| wheel.next() as usize;
        assert_eq!([next(&wheel), next(&wheel)], [9, 0]);
        // The last turn of the table and two beyond it.
        assert_eq!(taken(&wheel, 3, 1, next), [0, 1, 1]);
        assert_eq!([next(&wheel), next(&wheel)], [0, 1]);
    });
}

#[test]
fn model_two_threads_go_round_twice() {
    loom::model(|| {
        let rotation = Arc::new(Rotation::new(&[2, 1]).unwrap());
        assert_eq!(rotation.turns().unwrap(), [0, 1, 0]);
        assert_eq!(taken(&rotation, 2, 3, Rotation::next), [0, 0, 0, 0, 1, 1]);
        assert_eq!(rotation.next(), 0);
    });
}

#[test]
fn model_a_change_meets_picks() {
    loom::model(|| {
        let rotation = Arc::new(Rotation::new(&[1, 1]).unwrap());
        let picker = rotation.clone();
        let picker = thread::spawn(move || (picker.next(), picker.next()));
        let after = Rotation::succeed(&rotation, Some, &[1, 1]).unwrap();
        let first = after.next();
        assert_eq!(picker.join().unwrap(), (0, 1));
        // It saw one turn taken, or none, or both.
        assert!(first == 0 || after.next() == 0);
    });
}

#[test]
fn model_a_long_cycle_is_shared_by_a_lock() {
    loom::model(|| {
        let rotation = Arc::new(Rotation::new(&[40_000, 39_999]).unwrap());
        assert!(rotation.turns().is_none());
        assert_eq!(taken(&rotation, 2, 2, Rotation::next), [0, 0, 1, 1]);
    });
}
