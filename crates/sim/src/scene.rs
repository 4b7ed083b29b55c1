//! One service with its providers, as a client would see it, and the view in force. Owns the clock
//! and the chance of a test; builds views and picks through the public functions of `core`.

use std::sync::Arc;

use equipoise_core::balance::{NameTaken, STRATEGIES, Strategies, Strategy};
use equipoise_core::call::{Call, Tried};
use equipoise_core::candidates::Candidate;
use equipoise_core::clock::{Clock, ManualClock};
use equipoise_core::config::{Config, ConfigError, Place};
use equipoise_core::endpoint::{Endpoint, Service};
use equipoise_core::outcome::{Failure, Outcome};
use equipoise_core::rng::SeededRng;
use equipoise_core::service::ServiceKey;
use equipoise_core::ticket::Ticket;
use equipoise_core::url::{Url, UrlError};
use equipoise_core::view::{Build, View};

/// Wall clock of a new scene, in ms since the epoch: 14 November 2023, 22:13:20 UTC.
pub const START_MS: i64 = 1_700_000_000_000;

/// Name of a strategy in the scenes that are made [`with`](Scene::with) it. No strategy of ours has
/// it, so that one's own may have any name in `About`.
const UNDER_TEST: &str = "strategy-under-test";

/// Why a scene cannot be set.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SceneError {
    /// A provider's address cannot be read.
    #[error(transparent)]
    Address(#[from] UrlError),
    /// A view was refused.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A strategy has the name of a built-in one.
    #[error(transparent)]
    Name(#[from] NameTaken),
}

/// A service, its providers, and the view of them.
pub struct Scene {
    /// Stands at [`START_MS`] until it is moved.
    pub clock: Arc<ManualClock>,
    /// Where picks draw from.
    pub rng: SeededRng,
    service: Arc<Service>,
    strategies: Strategies,
    config: Arc<Config>,
    list: Vec<Arc<Url>>,
    view: Arc<View>,
}

impl Scene {
    /// A scene in which the strategy of this name chooses among `providers` (URLs).
    ///
    /// # Errors
    /// An unknown name or an unreadable address.
    pub fn new<A: AsRef<str>>(strategy: &str, providers: &[A]) -> Result<Self, SceneError> {
        let mut config = Config::new();
        config.global.set("loadbalance", strategy, &place());
        Self::configured(Strategies::built_in(), config, providers)
    }

    /// A scene in which this strategy chooses among `providers` (URLs).
    ///
    /// # Errors
    /// An unreadable address; a strategy that does not accept the default configuration.
    pub fn with<A: AsRef<str>>(
        strategy: Arc<dyn Strategy>,
        providers: &[A],
    ) -> Result<Self, SceneError> {
        let mut strategies = Strategies::built_in();
        strategies.register(UNDER_TEST, strategy)?;
        let mut config = Config::new();
        config.global.set("loadbalance", UNDER_TEST, &place());
        Self::configured(strategies, config, providers)
    }

    /// A scene with this configuration.
    ///
    /// # Errors
    /// A value that cannot be used, an unreadable address.
    pub fn configured<A: AsRef<str>>(
        strategies: Strategies,
        config: Config,
        providers: &[A],
    ) -> Result<Self, SceneError> {
        let service = Service::new(ServiceKey::new("com.ex.Svc"));
        let clock = Arc::new(ManualClock::at(START_MS));
        let (config, list) = (Arc::new(config), parse(providers)?);
        let build = Build {
            service: &service,
            list: &list,
            config: &config,
            strategies: &strategies,
            previous: None,
            clock: &*clock,
        };
        let view = Arc::new(View::build(&build)?);
        Ok(Self { clock, rng: SeededRng::new(0x5eed), service, strategies, config, list, view })
    }

    /// Sets a key of the consumer for the service (`key`) or for one method (`method.key`) and
    /// builds the next view.
    ///
    /// # Errors
    /// A value that cannot be used; the view in force then stays.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), SceneError> {
        let mut config = Config::clone(&self.config);
        config.set(key, value, &place());
        let before = std::mem::replace(&mut self.config, Arc::new(config));
        self.rebuild().inspect_err(|_| self.config = before)
    }

    /// Replaces the list, as a registry does, and builds the next view.
    ///
    /// # Errors
    /// An unreadable address.
    pub fn push<A: AsRef<str>>(&mut self, providers: &[A]) -> Result<(), SceneError> {
        self.list = parse(providers)?;
        self.rebuild()
    }

    /// Builds the next view of the same list, as after a change of health or of weights by time.
    ///
    /// # Errors
    /// A strategy that refuses the configuration.
    pub fn rebuild(&mut self) -> Result<(), SceneError> {
        self.view = Arc::new(self.next_view(&self.list)?);
        Ok(())
    }

    /// Moves the clock and builds every view that is due on the way, like the owner of a real one.
    ///
    /// # Errors
    /// A strategy that refuses the configuration.
    pub fn advance_ms(&mut self, ms: u64) -> Result<(), SceneError> {
        let end = self.clock.wall_ms().saturating_add(ms as i64);
        while let Some(due) = self.view.next_change_ms().filter(|due| *due <= end) {
            let step = due.saturating_sub(self.clock.wall_ms()).max(0);
            self.clock.advance_ms(step as u64);
            self.rebuild()?;
        }
        self.clock.advance_ms(end.saturating_sub(self.clock.wall_ms()).max(0) as u64);
        Ok(())
    }

    /// The view of another list that would follow the one in force. For tests in which views are
    /// published while other threads pick.
    ///
    /// # Errors
    /// A strategy that refuses the configuration.
    pub fn next_view(&self, list: &[Arc<Url>]) -> Result<View, ConfigError> {
        View::build(&Build {
            service: &self.service,
            list,
            config: &self.config,
            strategies: &self.strategies,
            previous: Some(&self.view),
            clock: &*self.clock,
        })
    }

    /// Puts a view in force.
    pub fn publish(&mut self, view: Arc<View>) {
        self.view = view;
    }

    /// The view in force.
    pub fn view(&self) -> &Arc<View> {
        &self.view
    }

    /// What outlives views.
    pub fn service(&self) -> &Arc<Service> {
        &self.service
    }

    /// The list in force.
    pub fn list(&self) -> &[Arc<Url>] {
        &self.list
    }

    /// The endpoint at a place of the list.
    ///
    /// # Panics
    /// Beyond the end of the list.
    pub fn endpoint(&self, place: usize) -> &Arc<Endpoint> {
        self.view.entries()[place].endpoint()
    }

    /// Where an endpoint stands in the list.
    pub fn place_of(&self, endpoint: &Arc<Endpoint>) -> Option<usize> {
        self.view.entries().iter().position(|e| Arc::ptr_eq(e.endpoint(), endpoint))
    }

    /// Chooses for a call: the place in the list. Nothing is counted.
    ///
    /// # Errors
    /// Nobody is left, or a keyed strategy got no key.
    pub fn pick(&mut self, call: &Call<'_>) -> Result<usize, Failure> {
        self.pick_after(call, &Tried::new())
    }

    /// The same after these endpoints have been tried.
    ///
    /// # Errors
    /// Nobody is left, or a keyed strategy got no key.
    pub fn pick_after(&mut self, call: &Call<'_>, tried: &Tried) -> Result<usize, Failure> {
        let chosen = self.view.choose(call, tried, &mut self.rng, &*self.clock)?;
        let place = self.place_of(chosen.endpoint());
        place.ok_or_else(|| self.view.no_provider(call))
    }

    /// Chooses for a call and counts the attempt in.
    ///
    /// # Errors
    /// Nobody is left, or a keyed strategy got no key.
    pub fn start(&mut self, call: &Call<'_>) -> Result<Ticket, Failure> {
        let chosen = self.view.choose(call, &Tried::new(), &mut self.rng, &*self.clock)?;
        Ok(Ticket::start(chosen, &*self.clock))
    }

    /// Starts an attempt at the endpoint at a place of the list, without choosing.
    ///
    /// # Panics
    /// That endpoint cannot serve the call.
    pub fn start_at(&self, call: &Call<'_>, place: usize) -> Ticket {
        self.candidate(call, place, |candidate| Ticket::start(candidate, &*self.clock))
    }

    /// One attempt at the endpoint at a place of the list that ends after `ms`, during which the
    /// clock moves.
    ///
    /// # Panics
    /// That endpoint cannot serve the call.
    pub fn attempt(&self, call: &Call<'_>, place: usize, ms: u64, outcome: Outcome) {
        let ticket = self.start_at(call, place);
        self.clock.advance_ms(ms);
        ticket.finish(outcome, &*self.clock);
    }

    /// Hands the endpoint at a place of the list to `look` as a candidate of the call.
    ///
    /// # Panics
    /// That endpoint cannot serve the call.
    pub fn candidate<T>(
        &self,
        call: &Call<'_>,
        place: usize,
        look: impl FnOnce(&Candidate) -> T,
    ) -> T {
        let found = self.view.candidate(call, self.endpoint(place), &*self.clock);
        let candidate = found.as_ref().and_then(|(all, at)| all.all().get(*at));
        match candidate {
            Some(candidate) => look(candidate),
            None => panic!("{} cannot serve {call:?}", self.endpoint(place)),
        }
    }

    /// Attempts in flight at the endpoint at a place of the list, for the call's method.
    ///
    /// # Panics
    /// That endpoint cannot serve the call.
    pub fn active(&self, call: &Call<'_>, place: usize) -> u32 {
        self.candidate(call, place, |candidate| candidate.measurements().active())
    }

    /// Effective weight of the endpoint at a place of the list, for the call's method.
    ///
    /// # Panics
    /// That endpoint cannot serve the call.
    pub fn weight(&self, call: &Call<'_>, place: usize) -> u32 {
        self.candidate(call, place, Candidate::weight)
    }
}

/// The names of all built-in strategies.
pub fn strategy_names() -> impl Iterator<Item = &'static str> {
    STRATEGIES.iter().map(|row| row.about().name)
}

/// The addresses 10.0.0.1:20880, 10.0.0.2:20880 and so on, one for each weight.
pub fn providers(weights: &[u32]) -> Vec<String> {
    let provider = |(place, weight): (usize, &u32)| {
        let (high, low) = (place / 250, place % 250 + 1);
        format!("10.0.{high}.{low}:20880?weight={weight}")
    };
    weights.iter().enumerate().map(provider).collect()
}

fn parse<A: AsRef<str>>(providers: &[A]) -> Result<Vec<Arc<Url>>, UrlError> {
    providers.iter().map(|text| Url::parse(text.as_ref()).map(Arc::new)).collect()
}

fn place() -> Place {
    Place("scene".to_owned())
}
