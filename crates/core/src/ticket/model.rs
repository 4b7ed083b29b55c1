//! Models of what tickets share: counts come back to 0 however attempts end, and survive a change
//! of the view in the middle of an attempt.

use std::sync::Arc;

use loom::thread;

use super::Ticket;
use crate::balance::Strategies;
use crate::call::Call;
use crate::candidates::Candidates;
use crate::clock::ManualClock;
use crate::config::{Config, Place};
use crate::endpoint::Service;
use crate::outcome::Outcome;
use crate::service::ServiceKey;
use crate::url::Url;
use crate::view::{Build, View};

struct World {
    service: Arc<Service>,
    clock: ManualClock,
}

impl World {
    fn new() -> Self {
        Self {
            service: Service::new(ServiceKey::new("s")),
            clock: ManualClock::at(1_700_000_000_000),
        }
    }

    fn view(&self, addresses: &[&str], previous: Option<&View>) -> View {
        let list: Vec<_> = addresses.iter().map(|a| Arc::new(Url::parse(a).unwrap())).collect();
        let mut config = Config::new();
        config.set("loadbalance", "leastactive", &Place("model".into()));
        let build = Build {
            service: &self.service,
            list: &list,
            config: &Arc::new(config),
            strategies: &Strategies::built_in(),
            previous,
            clock: &self.clock,
        };
        View::build(&build).unwrap()
    }
}

fn actives(candidates: &Candidates) -> Vec<u32> {
    candidates.all().iter().map(|c| c.measurements().active()).collect()
}

#[test]
fn model_counts_return_to_zero_however_attempts_end() {
    loom::model(|| {
        let world = Arc::new(World::new());
        let view = world.view(&["a:1"], None);
        let candidates = view.candidates(&Call::new("m"), &world.clock).clone();
        let (other, shared) = (world.clone(), candidates.clone());
        let dropping = thread::spawn(move || {
            drop(Ticket::start(&shared.all()[0], &other.clock));
        });
        let ticket = Ticket::start(&candidates.all()[0], &world.clock);
        assert!((1..=2).contains(&actives(&candidates)[0]));
        ticket.finish(Outcome::Success, &world.clock);
        dropping.join().unwrap();
        assert_eq!(actives(&candidates), [0]);
    });
}

#[test]
fn model_a_limit_is_never_passed_and_never_refuses_without_need() {
    loom::model(|| {
        let world = Arc::new(World::new());
        let view = world.view(&["a:1"], None);
        let candidates = view.candidates(&Call::new("m"), &world.clock).clone();
        let (other, shared) = (world.clone(), candidates.clone());
        let first =
            thread::spawn(move || Ticket::try_start(&shared.all()[0], 1, &other.clock).is_some());
        let second = Ticket::try_start(&candidates.all()[0], 1, &world.clock);
        assert!(actives(&candidates)[0] <= 1);
        // The other's ticket ended with its thread, so one of the two got in at least.
        assert!(first.join().unwrap() || second.is_some());
        drop(second);
        assert_eq!(actives(&candidates), [0]);
    });
}

#[test]
fn model_an_attempt_that_outlives_its_view_is_counted_out_of_the_next() {
    loom::model(|| {
        let world = Arc::new(World::new());
        let view = world.view(&["a:1", "b:1"], None);
        let before = view.candidates(&Call::new("m"), &world.clock).clone();
        let ticket = Ticket::start(&before.all()[0], &world.clock);
        let other = world.clone();
        let ending = thread::spawn(move || ticket.finish(Outcome::Success, &other.clock));
        let next = world.view(&["a:1", "b:1", "c:1"], Some(&view));
        let after = next.candidates(&Call::new("m"), &world.clock).clone();
        drop((view, before));
        assert!(actives(&after)[0] <= 1);
        ending.join().unwrap();
        assert_eq!(actives(&after), [0, 0, 0]);
    });
}
