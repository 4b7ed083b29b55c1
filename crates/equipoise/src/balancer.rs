//! The runtime-free way in: pick, send with whatever transport, finish. May touch a view, a clock
//! and a generator; never a socket.

use std::fmt;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Release},
};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use equipoise_core::balance::{NameTaken, Strategies, Strategy};
use equipoise_core::call::{Call, Tried};
use equipoise_core::candidates::{Candidate, Candidates};
use equipoise_core::clock::{Clock, OneReading};
use equipoise_core::config::{Config, ConfigError, Place};
use equipoise_core::endpoint::{Endpoint, Service};
use equipoise_core::outcome::{Failure, Outcome};
use equipoise_core::report::Report;
use equipoise_core::rng::{Rng, RngSource};
use equipoise_core::service::ServiceKey;
use equipoise_core::ticket::Ticket as CoreTicket;
use equipoise_core::url::{Url, UrlError};
use equipoise_core::view::{Build, View};

use crate::system::{OwnRng, SystemClock, SystemRng};

/// Why a balancer could not be built or changed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BalancerError {
    /// A value that cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An address that cannot be read.
    #[error(transparent)]
    Address(#[from] UrlError),
    /// A strategy under a name that is taken.
    #[error(transparent)]
    Name(#[from] NameTaken),
}

/// Chooses endpoints of one service. Cheap to clone; every clone is the same balancer.
#[derive(Clone)]
pub struct Balancer(Arc<Inner>);

struct Inner {
    view: ArcSwap<View>,
    /// Grows after each new view, so that whoever keeps one at hand sees with one read whether it
    /// is still the newest.
    version: AtomicU64,
    service: Arc<Service>,
    strategies: Strategies,
    clock: AnyClock,
    rng: Arc<dyn RngSource>,
    /// List and configuration in force; held only while a view is built.
    written: Mutex<(Vec<Arc<Url>>, Arc<Config>)>,
    /// Whether some pick is rebuilding the view because weights have moved.
    stepping: AtomicBool,
}

impl fmt::Debug for Balancer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Balancer").field("service", &self.0.service.key).finish_non_exhaustive()
    }
}

impl Balancer {
    /// A balancer with this strategy over these addresses (with parameters, as in
    /// `10.0.0.1:20880?weight=200`).
    ///
    /// # Errors
    /// An unknown strategy or an address that cannot be read.
    pub fn new<S: AsRef<str>>(
        strategy: &str,
        endpoints: impl IntoIterator<Item = S>,
    ) -> Result<Self, BalancerError> {
        Self::builder().strategy(strategy).endpoints(endpoints).build()
    }

    /// Starts a configuration.
    pub fn builder() -> BalancerBuilder {
        BalancerBuilder {
            service: ServiceKey::new("default"),
            config: Config::new(),
            list: Vec::new(),
            strategies: Strategies::built_in(),
            clock: None,
            rng: None,
            error: None,
        }
    }

    /// Replaces the list, from any thread. Counts of endpoints that stay are kept.
    ///
    /// # Errors
    /// An address that cannot be read; the list in force stays.
    pub fn update<S: AsRef<str>>(
        &self,
        endpoints: impl IntoIterator<Item = S>,
    ) -> Result<(), BalancerError> {
        self.update_urls(parse_all(endpoints)?)
    }

    /// Replaces the list, from any thread.
    ///
    /// # Errors
    /// Parameters that together cannot be used; the list in force stays.
    pub fn update_urls(&self, urls: Vec<Url>) -> Result<(), BalancerError> {
        self.0.rewrite(|(list, _)| *list = urls.into_iter().map(Arc::new).collect())
    }

    /// Changes one setting at run time (`method.key` reaches one method; an empty value takes the
    /// setting back).
    ///
    /// # Errors
    /// A value that cannot be used; the configuration in force stays.
    pub fn set(&self, key: &str, value: &str) -> Result<(), BalancerError> {
        self.0.rewrite(|(_, config)| {
            Arc::make_mut(config).set(key, value, &Place("set at run time".to_owned()));
        })
    }

    /// Chooses an endpoint and counts the attempt in.
    ///
    /// # Errors
    /// There is no endpoint, or a keyed strategy got no key.
    pub fn pick(&self, call: &Call<'_>) -> Result<Ticket, Failure> {
        self.pick_except(call, &UNTRIED)
    }

    /// The same, preferring endpoints that were not tried.
    ///
    /// # Errors
    /// There is no endpoint, or a keyed strategy got no key.
    pub fn pick_except(&self, call: &Call<'_>, tried: &Tried) -> Result<Ticket, Failure> {
        let inner = &*self.0;
        let view = inner.view.load();
        if inner.due(&view) {
            return inner.pick_on(&inner.step(), call, tried);
        }
        inner.pick_on(&view, call, tried)
    }

    /// A handle for one thread or task that keeps the view at hand and has a generator of its own:
    /// the fastest way to pick.
    pub fn local(&self) -> Local {
        Local {
            version: self.0.version.load(Acquire),
            ready: Vec::new(),
            view: self.0.view.load_full(),
            rng: OwnRng(fastrand::Rng::with_seed(self.0.rng.next_u64())),
            inner: self.0.clone(),
        }
    }

    /// Says that an endpoint may or may not be chosen. Picks notice at once.
    ///
    /// # Errors
    /// Never for what was built before; the next view is built as by [`Balancer::update`].
    pub fn set_available(&self, endpoint: &Endpoint, available: bool) -> Result<(), BalancerError> {
        if endpoint.set_available(available) { self.0.rewrite(|_| ()) } else { Ok(()) }
    }

    /// The view in force.
    pub fn view(&self) -> Arc<View> {
        self.0.view.load_full()
    }

    /// Who gets how much and why, now.
    pub fn report(&self) -> Report {
        Report::of(&self.0.view.load(), &self.0.clock)
    }
}

impl Inner {
    /// Whether weights have moved since the view was built. Only a view with a warming endpoint
    /// looks at the clock.
    #[inline]
    fn due(&self, view: &View) -> bool {
        view.next_change_ms().is_some_and(|at| self.clock.wall_ms() >= at)
    }

    /// Rebuilds for moved weights: one pick does, the others go on with the view they have.
    #[cold]
    fn step(&self) -> Arc<View> {
        if !self.stepping.swap(true, Acquire) {
            // Nothing was written, so what was accepted before is accepted again.
            if let Err(error) = self.rewrite(|_| ()) {
                debug_assert!(false, "{error}");
            }
            self.stepping.store(false, Release);
        }
        self.view.load_full()
    }

    fn rewrite(
        &self,
        change: impl FnOnce(&mut (Vec<Arc<Url>>, Arc<Config>)),
    ) -> Result<(), BalancerError> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = written.clone();
        change(&mut next);
        let previous = self.view.load_full();
        let view = View::build(&Build {
            service: &self.service,
            list: &next.0,
            config: &next.1,
            strategies: &self.strategies,
            previous: Some(&previous),
            clock: &self.clock,
        })?;
        *written = next;
        self.view.store(Arc::new(view));
        self.version.fetch_add(1, Release);
        Ok(())
    }

    #[inline]
    fn pick_on(&self, view: &View, call: &Call<'_>, tried: &Tried) -> Result<Ticket, Failure> {
        let mut rng = Borrowed(&*self.rng);
        let moment = OneReading::of(&self.clock);
        let candidate = view.choose(call, tried, &mut rng, &moment)?;
        let ticket = CoreTicket::start(candidate, &moment);
        Ok(Ticket { ticket, clock: self.clock.clone() })
    }
}

/// Nobody was tried.
static UNTRIED: Tried = Tried::new();

/// A generator shared by all threads, as the one that a pick may change.
struct Borrowed<'a>(&'a dyn RngSource);

impl Rng for Borrowed<'_> {
    #[inline]
    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// The system's clock costs nothing to hand on; any other one is counted.
#[derive(Clone)]
struct AnyClock(Option<Arc<dyn Clock>>);

impl Clock for AnyClock {
    #[inline]
    fn wall_ms(&self) -> i64 {
        match &self.0 {
            None => SystemClock::new().wall_ms(),
            Some(own) => own.wall_ms(),
        }
    }

    #[inline]
    fn nanos(&self) -> u64 {
        match &self.0 {
            None => SystemClock::new().nanos(),
            Some(own) => own.nanos(),
        }
    }
}

/// One attempt in flight. Dropping it says that the caller gave up.
#[must_use = "an attempt that is not finished counts as given up"]
pub struct Ticket {
    ticket: CoreTicket,
    clock: AnyClock,
}

impl Ticket {
    /// Whom to send to.
    #[inline]
    pub fn endpoint(&self) -> &Arc<Endpoint> {
        self.ticket.endpoint()
    }

    /// Counts the attempt out, with its outcome and the time it took.
    #[inline]
    pub fn finish(self, outcome: Outcome) {
        self.ticket.finish(outcome, &self.clock);
    }

    /// Takes the provider's own report of its load (`curTime:..,load:..`) that came with the
    /// answer; `adaptive` listens.
    pub fn report(&self, text: &str) {
        self.ticket.report(text, &self.clock);
    }
}

/// A balancer with the view and a generator at hand, for one thread or task.
pub struct Local {
    inner: Arc<Inner>,
    view: Arc<View>,
    version: u64,
    /// By method: the candidates of calls without a tag, once they have been used and as long as
    /// nothing changes by time alone.
    ready: Vec<Option<Arc<Candidates>>>,
    rng: OwnRng,
}

impl Local {
    /// Chooses an endpoint and counts the attempt in.
    ///
    /// # Errors
    /// There is no endpoint, or a keyed strategy got no key.
    #[inline]
    pub fn pick(&mut self, call: &Call<'_>) -> Result<Ticket, Failure> {
        // A pick and the start of its ticket are one moment.
        let clock = self.inner.clock.clone();
        let moment = OneReading::of(&clock);
        let candidate = match self.at_hand(call, &UNTRIED) {
            Some(place) => {
                let Self { view, ready, rng, .. } = self;
                choose_at_hand(view, ready.get(place), call, rng, &moment)?
            }
            None => self.choose_on_view(call, &UNTRIED)?,
        };
        let ticket = CoreTicket::start(candidate, &moment);
        Ok(Ticket { ticket, clock })
    }

    /// Chooses without counting: for callers that keep no ticket. Strategies that go by attempts
    /// in flight then see none.
    ///
    /// # Errors
    /// There is no endpoint, or a keyed strategy got no key.
    #[inline(always)]
    pub fn choose(&mut self, call: &Call<'_>, tried: &Tried) -> Result<&Candidate, Failure> {
        match self.at_hand(call, tried) {
            Some(place) => {
                let Self { view, ready, rng, inner, .. } = self;
                choose_at_hand(view, ready.get(place), call, rng, &inner.clock)
            }
            None => self.choose_on_view(call, tried),
        }
    }

    /// Where the candidates are, if it is as for nearly all calls: no tag, nobody tried, nothing
    /// has changed, and the method was called before.
    #[inline(always)]
    fn at_hand(&self, call: &Call<'_>, tried: &Tried) -> Option<usize> {
        let plain = call.tag.is_none() && call.force_tag.is_none() && tried.is_empty();
        if !plain || self.inner.version.load(Acquire) != self.version || self.view.health_changed()
        {
            return None;
        }
        let place = self.view.method(call.method).index();
        self.ready.get(place)?.as_ref().map(|_| place)
    }

    #[inline(never)]
    fn choose_on_view(&mut self, call: &Call<'_>, tried: &Tried) -> Result<&Candidate, Failure> {
        if self.inner.version.load(Acquire) != self.version {
            self.renew();
        }
        if self.inner.due(&self.view) {
            self.step();
        }
        self.keep_at_hand(call);
        self.view.choose(call, tried, &mut self.rng, &self.inner.clock)
    }

    fn keep_at_hand(&mut self, call: &Call<'_>) {
        let plain = call.tag.is_none() && call.force_tag.is_none();
        let place = self.view.method(call.method).index();
        if !plain
            || !self.view.routes_by_tag_alone()
            || matches!(self.ready.get(place), Some(Some(_)))
        {
            return;
        }
        let candidates = self.view.candidates(call, &self.inner.clock);
        if candidates.next_change_ms().is_none() {
            self.ready.resize(self.ready.len().max(place + 1), None);
            self.ready[place] = Some(candidates.clone());
        }
    }

    #[cold]
    fn renew(&mut self) {
        self.ready.clear();
        // In this order: should another view come in between, the next pick renews once more.
        self.version = self.inner.version.load(Acquire);
        self.view = self.inner.view.load_full();
    }

    #[cold]
    fn step(&mut self) {
        self.inner.step();
        self.renew();
    }
}

#[inline(always)]
fn choose_at_hand<'r>(
    view: &View,
    ready: Option<&'r Option<Arc<Candidates>>>,
    call: &Call<'_>,
    rng: &mut OwnRng,
    clock: &dyn Clock,
) -> Result<&'r Candidate, Failure> {
    let Some(Some(ready)) = ready else { return Err(view.no_provider(call)) };
    let position = match ready.choose_on_the_spot(rng) {
        None => choose_by_call(ready, call, rng, clock)?,
        chosen => chosen,
    };
    match position.and_then(|position| ready.all().get(position)) {
        Some(candidate) => Ok(candidate),
        None => Err(view.no_provider(call)),
    }
}

/// The strategies that take longer than a call, so that each place that picks stays small.
#[inline(never)]
fn choose_by_call(
    ready: &Candidates,
    call: &Call<'_>,
    rng: &mut OwnRng,
    clock: &dyn Clock,
) -> Result<Option<usize>, Failure> {
    match ready.choose_simply(call.key, rng, clock) {
        Ok(position) => Ok(Some(position)),
        // Nobody was tried and everybody is available, or it would not be at hand.
        Err(clock) => Ok(ready.choose(ready.key_hash(call.key)?, &UNTRIED, false, rng, &clock)),
    }
}

/// Collects what a balancer is made of. Errors are kept until [`BalancerBuilder::build`].
#[must_use = "nothing happens until it is built"]
pub struct BalancerBuilder {
    service: ServiceKey,
    config: Config,
    list: Vec<Url>,
    strategies: Strategies,
    clock: Option<Arc<dyn Clock>>,
    rng: Option<Arc<dyn RngSource>>,
    error: Option<BalancerError>,
}

impl BalancerBuilder {
    /// Name of the service, for reports and errors.
    pub fn service(mut self, interface: impl Into<String>) -> Self {
        self.service = ServiceKey::new(interface);
        self
    }

    /// Addresses with parameters.
    pub fn endpoints<S: AsRef<str>>(mut self, endpoints: impl IntoIterator<Item = S>) -> Self {
        match parse_all(endpoints) {
            Ok(urls) => self.list.extend(urls),
            Err(error) => self.fail(error.into()),
        }
        self
    }

    /// Addresses that are parsed already.
    pub fn urls(mut self, urls: impl IntoIterator<Item = Url>) -> Self {
        self.list.extend(urls);
        self
    }

    /// Strategy, by name.
    pub fn strategy(self, name: &str) -> Self {
        self.set("loadbalance", name)
    }

    /// Any setting, under its key in Dubbo URLs; `method.key` reaches one method.
    pub fn set(mut self, key: &str, value: impl Into<String>) -> Self {
        self.config.set(key, value, &Place(format!("builder, {key}")));
        self
    }

    /// A whole configuration, with the places its values came from.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// One of the user's own strategies, under a name that configuration can use.
    pub fn register(mut self, name: &str, strategy: impl Strategy) -> Self {
        if let Err(error) = self.strategies.register(name, Arc::new(strategy)) {
            self.fail(error.into());
        }
        self
    }

    /// The clock; the system's where none is given.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// The generator; the system's where none is given.
    pub fn rng(mut self, rng: impl RngSource + 'static) -> Self {
        self.rng = Some(Arc::new(rng));
        self
    }

    /// Builds the balancer.
    ///
    /// # Errors
    /// The first thing that was wrong, with key, value and place.
    pub fn build(self) -> Result<Balancer, BalancerError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let service = Service::new(self.service);
        let clock = AnyClock(self.clock);
        let list: Vec<Arc<Url>> = self.list.into_iter().map(Arc::new).collect();
        let config = Arc::new(self.config);
        let view = View::build(&Build {
            service: &service,
            list: &list,
            config: &config,
            strategies: &self.strategies,
            previous: None,
            clock: &clock,
        })?;
        Ok(Balancer(Arc::new(Inner {
            view: ArcSwap::from_pointee(view),
            version: AtomicU64::new(0),
            service,
            strategies: self.strategies,
            clock,
            rng: self.rng.unwrap_or_else(|| Arc::new(SystemRng)),
            written: Mutex::new((list, config)),
            stepping: AtomicBool::new(false),
        })))
    }

    fn fail(&mut self, error: BalancerError) {
        self.error.get_or_insert(error);
    }
}

fn parse_all<S: AsRef<str>>(endpoints: impl IntoIterator<Item = S>) -> Result<Vec<Url>, UrlError> {
    endpoints.into_iter().map(|text| Url::parse(text.as_ref())).collect()
}
