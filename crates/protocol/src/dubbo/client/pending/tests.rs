//! The table under every order of answer, withdrawal and loss.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Wake;

use proptest::prelude::*;

use super::*;
use crate::dubbo::frame::status;

fn response(id: u64) -> Answer {
    Answer::Response(Header::response(id, status::OK, 0), Bytes::new())
}

fn poll(pending: &Pending, id: u64) -> Poll<Result<Answer, Lost>> {
    pending.poll(id, &mut Context::from_waker(Waker::noop()))
}

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn an_answer_wakes_its_own_call_and_no_other() {
    let pending = Pending::new(u64::MAX - 3);
    let woken: Vec<_> = (0..100).map(|_| Arc::new(Woken::default())).collect();
    let ids: Vec<_> = woken.iter().map(|w| pending.begin(w.clone().into()).unwrap()).collect();
    let mut unique = ids.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), 100);
    assert!(pending.answer(ids[42], response(ids[42])));
    assert!(!pending.answer(ids[42], response(ids[42])), "answered twice");
    for (i, woken) in woken.iter().enumerate() {
        assert_eq!(woken.0.load(Ordering::Relaxed), usize::from(i == 42));
    }
    assert_eq!(poll(&pending, ids[42]), Poll::Ready(Ok(response(ids[42]))));
    assert_eq!(poll(&pending, ids[41]), Poll::Pending);
    assert_eq!(pending.waiting(), 99);
}

#[test]
fn a_late_answer_is_nobodys_even_when_its_slot_is_used_again() {
    let pending = Pending::new(7);
    let ids: Vec<_> = (0..SHARDS).map(|_| pending.begin(Waker::noop().clone()).unwrap()).collect();
    for id in &ids {
        pending.end(*id);
        pending.end(*id);
    }
    assert_eq!(pending.waiting(), 0);
    let again: Vec<_> =
        (0..SHARDS).map(|_| pending.begin(Waker::noop().clone()).unwrap()).collect();
    for id in &ids {
        assert!(!again.contains(id));
        assert!(!pending.answer(*id, response(*id)));
    }
    for unknown in [0, 1, u64::MAX, 7 + (1 << 63)] {
        assert!(!pending.answer(unknown, response(unknown)));
    }
    assert!(again.iter().all(|id| poll(&pending, *id).is_pending()));
    let slots: usize = pending.shards.iter().map(|s| s.lock().unwrap().slots.len()).sum();
    assert_eq!(slots, SHARDS, "slots are used again");
}

#[test]
fn a_loss_ends_all_but_those_that_have_their_answer() {
    let pending = Pending::new(0);
    let woken = Arc::new(Woken::default());
    let ids: Vec<_> = (0..20).map(|_| pending.begin(woken.clone().into()).unwrap()).collect();
    assert!(pending.answer(ids[3], response(ids[3])));
    pending.close();
    assert_eq!(woken.0.load(Ordering::Relaxed), 20);
    for (i, id) in ids.iter().enumerate() {
        let expected = if i == 3 { Ok(response(*id)) } else { Err(Lost) };
        assert_eq!(poll(&pending, *id), Poll::Ready(expected));
    }
    assert_eq!(pending.begin(Waker::noop().clone()), Err(Refused::Closed));
}

#[test]
fn the_table_is_bounded() {
    let pending = Pending::new(1);
    let ids: Vec<_> = (0..MOST).map(|_| pending.begin(Waker::noop().clone()).unwrap()).collect();
    assert_eq!(pending.begin(Waker::noop().clone()), Err(Refused::Full));
    pending.end(ids[MOST / 2]);
    assert!(pending.begin(Waker::noop().clone()).is_ok());
}

proptest! {
    #[test]
    fn every_order_of_steps_keeps_count(
        base in any::<u64>(),
        steps in prop::collection::vec((0_u8..4, any::<prop::sample::Index>()), 0..200),
    ) {
        let pending = Pending::new(base);
        let (mut waiting, mut answered) = (Vec::new(), Vec::new());
        for (step, index) in steps {
            let pick = |all: &mut Vec<u64>| (!all.is_empty()).then(|| {
                let at = index.index(all.len());
                all.swap_remove(at)
            });
            match step {
                0 => waiting.push(pending.begin(Waker::noop().clone()).unwrap()),
                1 => if let Some(id) = pick(&mut waiting) {
                    prop_assert!(pending.answer(id, response(id)));
                    answered.push(id);
                },
                2 => if let Some(id) = pick(&mut answered) {
                    prop_assert_eq!(poll(&pending, id), Poll::Ready(Ok(response(id))));
                    prop_assert!(!pending.answer(id, response(id)));
                },
                _ => if let Some(id) = pick(&mut waiting) {
                    pending.end(id);
                    prop_assert!(!pending.answer(id, response(id)));
                },
            }
            prop_assert_eq!(pending.waiting(), waiting.len());
        }
    }
}
