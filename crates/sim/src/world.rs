//! A world in virtual time: calls arrive, a strategy chooses among simulated endpoints, time passes
//! as their answers need. The strategy, the views and the tickets are those that production runs.
//!
//! Arrivals are open-loop: calls come whether or not earlier ones are answered, so a slow endpoint
//! does not slow the callers down. All chance comes from one seed, all time is counted in whole
//! microseconds: the same world and seed give the same report, byte for byte.
//!
//! ```
//! use equipoise_sim::world::{Model, World};
//!
//! let world = World::new(1)
//!     .endpoint("10.0.0.1:20880?weight=100", Model::constant_ms(5))
//!     .endpoint("10.0.0.2:20880?weight=300", Model::constant_ms(5));
//! let report = world.run("random").unwrap();
//! println!("{report}");
//! assert!((report.endpoints[1].share - 0.75).abs() < 0.02);
//! ```

mod model;
mod report;

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use equipoise_core::balance::{Strategies, Strategy};
use equipoise_core::call::{Call, Key, Tried};
use equipoise_core::clock::Clock;
use equipoise_core::outcome::Outcome;
use equipoise_core::rng::{Rng, SeededRng};
use equipoise_core::ticket::Ticket;

pub use self::model::Model;
use self::model::Simulated;
pub use self::report::{EndpointReport, Report};
use crate::scene::{START_MS, Scene, SceneError};

/// The method that is called.
const METHOD: &str = "call";

/// What happens in a run.
#[derive(Clone, Debug)]
pub struct World {
    seed: u64,
    calls: u64,
    per_second: u64,
    endpoints: Vec<(String, Model)>,
}

impl World {
    /// 20 000 calls, 1000 a second, and no endpoint yet.
    pub fn new(seed: u64) -> Self {
        Self { seed, calls: 20_000, per_second: 1000, endpoints: Vec::new() }
    }

    /// With one more endpoint: a URL, whose parameters count (weight, timestamp, timeout), and how
    /// it answers. A URL that is there already is ignored.
    pub fn endpoint(mut self, url: &str, model: Model) -> Self {
        self.endpoints.push((url.to_owned(), model));
        self
    }

    /// With this many calls.
    pub fn calls(mut self, calls: u64) -> Self {
        self.calls = calls;
        self
    }

    /// With this many calls a second on average, 1 to 1 000 000. The gaps between them are drawn
    /// evenly from nothing to twice the mean.
    pub fn per_second(mut self, calls: u64) -> Self {
        self.per_second = calls.clamp(1, 1_000_000);
        self
    }

    /// Runs it with the strategy of this name.
    ///
    /// # Errors
    /// An unknown name or an unreadable URL.
    pub fn run(&self, strategy: &str) -> Result<Report, SceneError> {
        self.run_in(Scene::new(strategy, &self.urls())?)
    }

    /// Runs it with this strategy.
    ///
    /// # Errors
    /// An unreadable URL; a strategy that refuses the default configuration.
    pub fn run_with(&self, strategy: Arc<dyn Strategy>) -> Result<Report, SceneError> {
        self.run_in(Scene::with(strategy, &self.urls())?)
    }

    /// Runs it with every built-in strategy, in the order of their table.
    ///
    /// # Errors
    /// An unreadable URL.
    pub fn run_all(&self) -> Result<Vec<Report>, SceneError> {
        Strategies::built_in().names().map(|name| self.run(name)).collect()
    }

    fn urls(&self) -> Vec<&str> {
        self.endpoints.iter().map(|(url, _)| url.as_str()).collect()
    }

    fn run_in(&self, scene: Scene) -> Result<Report, SceneError> {
        let mut run = Run::new(self, scene);
        // Apart from the chance of picks, so that every strategy meets the same arrivals.
        let mut chance = SeededRng::new(self.seed ^ 0x6172_7269_7665);
        let twice_the_gap = 2_000_000 / self.per_second;
        for _ in 0..self.calls {
            let gap = (&mut chance as &mut dyn Rng).below_u64(twice_the_gap + 1);
            run.advance_to(run.now + gap)?;
            run.arrive(chance.next_u64() as u32);
        }
        run.finish()
    }
}

/// A world while it runs. Instants are microseconds since its beginning.
struct Run {
    scene: Scene,
    adaptive: bool,
    simulated: Vec<Simulated>,
    service_times: SeededRng,
    now: u64,
    open: BinaryHeap<Open>,
    report: Report,
}

impl Run {
    fn new(world: &World, mut scene: Scene) -> Self {
        scene.rng = SeededRng::new(world.seed);
        let about = scene.view().plan(scene.service().methods.id(METHOD)).strategy.about();
        let addresses = scene.view().entries().iter().map(|e| e.endpoint().address().to_owned());
        Self {
            report: Report::new(about.name, world.seed, addresses),
            simulated: world.endpoints.iter().map(|(_, model)| Simulated::new(*model)).collect(),
            service_times: SeededRng::new(world.seed ^ 0x0073_6572_7665),
            adaptive: about.adaptive,
            scene,
            now: 0,
            open: BinaryHeap::new(),
        }
    }

    /// A call with this key arrives, is given to an endpoint and will end some time.
    fn arrive(&mut self, key: u32) {
        let call = Call { key: Key::Hashed(key), ..Call::new(METHOD) };
        let started = self.report.started();
        let Some((place, timeout, ticket)) = self.start(&call) else {
            self.report.nobody += 1;
            return;
        };
        let Some(simulated) = self.simulated.get_mut(place) else { return };
        let (answered, outcome) = simulated.answer(self.now, &mut self.service_times);
        let late = answered - self.now > timeout;
        let ends = answered.min(self.now.saturating_add(timeout));
        let outcome = if late { Outcome::TIMEOUT } else { outcome };
        let took = ends - self.now;
        self.report.picked(place);
        self.open.push(Open { ends, started, place, took, outcome, ticket });
    }

    /// Who serves, for how many microseconds at most, and the attempt at it.
    fn start(&mut self, call: &Call<'_>) -> Option<(usize, u64, Ticket)> {
        let scene = &mut self.scene;
        let view = scene.view().clone();
        let chosen = view.choose(call, &Tried::new(), &mut scene.rng, &*scene.clock).ok()?;
        let place = scene.place_of(chosen.endpoint())?;
        let timeout = u64::try_from(chosen.timeout().as_micros()).unwrap_or(u64::MAX);
        Some((place, timeout, Ticket::start(chosen, &*scene.clock)))
    }

    /// Lets time pass: attempts end and views that are due are built, in the order of instants.
    fn advance_to(&mut self, instant: u64) -> Result<(), SceneError> {
        while let Some(next) = self.open.peek().filter(|open| open.ends <= instant) {
            let ends = next.ends;
            self.move_clock(ends)?;
            if let Some(open) = self.open.pop() {
                self.end(open);
            }
        }
        self.move_clock(instant)
    }

    fn move_clock(&mut self, instant: u64) -> Result<(), SceneError> {
        let clock = &self.scene.clock;
        clock.shift_micros(instant.saturating_sub(self.now) as i64);
        clock.set_wall_ms(START_MS + (instant / 1000) as i64);
        self.now = instant;
        let due = self.scene.view().next_change_ms();
        if due.is_some_and(|due| due <= self.scene.clock.wall_ms()) {
            self.scene.rebuild()?;
        }
        Ok(())
    }

    fn end(&mut self, open: Open) {
        let clock = &*self.scene.clock;
        if self.adaptive
            && open.outcome == Outcome::Success
            && let Some(simulated) = self.simulated.get(open.place)
        {
            let load = simulated.load_percent(self.now);
            open.ticket.report(&format!("curTime:{},load:{load}", clock.wall_ms()), clock);
        }
        open.ticket.finish(open.outcome, clock);
        self.report.ended(open.place, open.took, open.outcome);
    }

    /// No more arrivals: what is in flight ends.
    fn finish(mut self) -> Result<Report, SceneError> {
        while let Some(last) = self.open.peek().map(|open| open.ends) {
            self.advance_to(last)?;
        }
        Ok(self.report.sum_up())
    }
}

/// An attempt that will end.
struct Open {
    ends: u64,
    /// Which attempt it is, counted from the first; decides between equal instants.
    started: u64,
    place: usize,
    took: u64,
    outcome: Outcome,
    ticket: Ticket,
}

/// The greatest is the one that ends first, as a heap wants it.
impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.ends, other.started).cmp(&(self.ends, self.started))
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Open {}
