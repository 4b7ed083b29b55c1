//! Lists that change while other threads pick: a pick made on a view is a member of that view.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};

use equipoise_core::call::{Call, Key, Tried};
use equipoise_core::clock::Clock;
use equipoise_core::outcome::Outcome;
use equipoise_core::rng::{Rng, SeededRng};
use equipoise_core::ticket::Ticket;
use equipoise_core::view::{Entry, View};

use super::{Claim, Finding, METHOD, Suite};
use crate::scene::{Scene, SceneError, providers};

const THREADS: u64 = 4;

/// Lists published while the threads pick.
const PUSHES: usize = 200;

/// Picks that each thread makes at least.
const LEAST: u64 = 2000;

/// What the threads share.
struct Stage {
    view: RwLock<Arc<View>>,
    over: AtomicBool,
    strangers: AtomicU64,
    nobody: AtomicU64,
    picks: AtomicU64,
}

impl Stage {
    fn view(&self) -> Arc<View> {
        self.view.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn publish(&self, view: Arc<View>) {
        *self.view.write().unwrap_or_else(PoisonError::into_inner) = view;
    }
}

/// Ends the threads, also when building a view panics.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

pub(super) fn members_only(suite: &mut Suite) -> Result<(), SceneError> {
    let weights = [100, 300, 0, 1, 50, 100, 100, 7];
    let mut scene = suite.scene(&weights)?;
    let stage = Stage {
        view: RwLock::new(scene.view().clone()),
        over: AtomicBool::new(false),
        strangers: AtomicU64::new(0),
        nobody: AtomicU64::new(0),
        picks: AtomicU64::new(0),
    };
    let (clock, keyed) = (scene.clock.clone(), suite.about.keyed);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (stage, clock) = (&stage, &clock);
            scope.spawn(move || pick(stage, &**clock, keyed, SeededRng::new(thread)));
        }
        let _over = Over(&stage.over);
        push(&mut scene, &stage, &weights)
    })?;
    scene.push(&providers(&weights))?;
    (0..weights.len()).for_each(|place| _ = scene.endpoint(place).set_available(true));
    report(suite, &scene, &stage);
    Ok(())
}

/// One thread: picks on the newest view and looks whether that view has who was picked.
fn pick(stage: &Stage, clock: &dyn Clock, keyed: bool, mut rng: SeededRng) {
    let mut picks = 0;
    while picks < LEAST || !stage.over.load(Relaxed) {
        picks += 1;
        let view = stage.view();
        let key = if keyed { Key::Hashed(rng.next_u64() as u32) } else { Key::Missing };
        let call = Call { key, ..Call::new(METHOD) };
        let Ok(chosen) = view.choose(&call, &Tried::new(), &mut rng, clock) else {
            stage.nobody.fetch_add(1, Relaxed);
            continue;
        };
        let ticket = Ticket::start(chosen, clock);
        let member = |e: &Entry| Arc::ptr_eq(e.endpoint(), ticket.endpoint());
        if !view.entries().iter().any(member) {
            stage.strangers.fetch_add(1, Relaxed);
        }
        if picks % 3 > 0 {
            ticket.finish(Outcome::Success, clock);
        }
    }
    stage.picks.fetch_add(picks, Relaxed);
}

/// Publishes lists of one to eight of the providers, with other weights and availability each time.
fn push(scene: &mut Scene, stage: &Stage, weights: &[u32]) -> Result<(), SceneError> {
    let mut chance = SeededRng::new(0xc4u64);
    for _ in 0..PUSHES {
        let bits = chance.next_u64();
        let mut list = providers(weights);
        if bits & 1 == 0 {
            list = providers(&weights.iter().map(|w| w / 2).collect::<Vec<_>>());
        }
        let mut place = 0;
        list.retain(|_| {
            place += 1;
            place == 1 || bits >> place & 1 == 0
        });
        scene.push(&list)?;
        let sick = (bits >> 32) as usize % list.len();
        scene.endpoint(sick).set_available(bits >> 63 == 0);
        stage.publish(scene.view().clone());
    }
    Ok(())
}

fn report(suite: &mut Suite, scene: &Scene, stage: &Stage) {
    let setting = "lists that change while four threads pick";
    let (strangers, nobody) = (stage.strangers.load(Relaxed), stage.nobody.load(Relaxed));
    let picks = stage.picks.load(Relaxed);
    if strangers > 0 {
        let finding = Finding::Stranger { times: strangers, picks };
        suite.found(Claim::Admitted, setting, finding);
    }
    if nobody > 0 {
        suite.found(Claim::Admitted, setting, Finding::Nobody { times: nobody, picks });
    }
    let call = suite.call();
    for place in 0..scene.list().len() {
        let active = scene.active(&call, place);
        if active != 0 {
            suite.found(Claim::Counts, setting, Finding::InFlight { place, active });
        }
    }
}
