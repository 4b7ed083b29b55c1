//! One generation of the world: what a call sees, all of it, unchanged. Building the next one is a
//! plain function with two callers: the client's directory task and the facade's `Balancer`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use crate::balance::{Shared, Strategies};
use crate::call::{Call, Key, Method, Tried};
use crate::candidates::{Candidate, Candidates};
use crate::clock::Clock;
use crate::config::{Config, ConfigError, Place};
use crate::endpoint::{Endpoint, Service};
use crate::listed::{Walk, entries, listed};
use crate::methods::MethodId;
use crate::outcome::{Failure, FailureKind};
use crate::plan::Plan;
use crate::rng::Rng;
use crate::route::{ROUTERS, Router};
use crate::routes::{Route, Routes};
use crate::url::Url;

/// One line of a view's list: the endpoint and the parameters it has in this generation.
#[derive(Clone, Debug)]
pub struct Entry {
    endpoint: Arc<Endpoint>,
    url: Arc<Url>,
}

impl Entry {
    pub(crate) fn new(endpoint: Arc<Endpoint>, url: Arc<Url>) -> Self {
        Self { endpoint, url }
    }

    /// Who.
    pub fn endpoint(&self) -> &Arc<Endpoint> {
        &self.endpoint
    }

    /// Address and parameters as listed.
    pub fn url(&self) -> &Arc<Url> {
        &self.url
    }
}

/// What a view is built from.
pub struct Build<'a> {
    /// What outlives views.
    pub service: &'a Arc<Service>,
    /// The full list of providers, in the order received.
    pub list: &'a [Arc<Url>],
    /// Configuration as written.
    pub config: &'a Arc<Config>,
    /// What strategy names mean.
    pub strategies: &'a Strategies,
    /// The view in force, if there is one.
    pub previous: Option<&'a View>,
    /// Time.
    pub clock: &'a dyn Clock,
}

/// Endpoints, routers, plans and pickers, built for each other and published together.
pub struct View {
    generation: u64,
    service: Arc<Service>,
    entries: Arc<[Entry]>,
    config: Arc<Config>,
    strategies: Strategies,
    routers: Vec<(&'static str, Box<dyn Router>)>,
    routes: Routes,
    /// The route of all calls that name no tag, where they have one in common.
    untagged: Option<usize>,
    /// Plan of a method without settings of its own; resolved first, so that a bad value is found
    /// before the view is published.
    common: Arc<Plan>,
    plans: Box<[OnceLock<Arc<Plan>>]>,
    health_epoch: u64,
    next_change_ms: AtomicI64,
}

/// Nothing will change by time alone.
const NEVER: i64 = i64::MAX;

impl View {
    /// Builds the next view. Endpoints with the identity of one in force, or of one that an open
    /// ticket still holds, are the same objects; pickers in use are prepared before the view is
    /// handed out, so that no call waits for them.
    ///
    /// # Errors
    /// A value that the user set and that cannot be used. The view in force is untouched.
    pub fn build(build: &Build<'_>) -> Result<View, ConfigError> {
        let urls = listed(build.list);
        let previous = build.previous.map(View::entries).unwrap_or_default();
        let entries = entries(&urls, build.service, previous);
        let mut routers = Vec::new();
        for kind in ROUTERS {
            if let Some(router) = kind.compile(&entries, build.config)? {
                routers.push((kind.name(), router));
            }
        }
        let routes =
            Routes::new(routers.iter().map(|(_, r)| r.branches())).ok_or_else(|| ConfigError {
                key: "routers".to_owned(),
                value: format!("{} providers", entries.len()),
                place: Place(build.service.key.to_string()),
                reason: "more than a million combinations of routes".to_owned(),
            })?;
        let resolve = |method: &str| {
            Plan::resolve(method, build.config, build.strategies, &urls).map(Arc::new)
        };
        let plans: Box<[OnceLock<Arc<Plan>>]> =
            (0..MethodId::COUNT).map(|_| OnceLock::new()).collect();
        for method in build.config.methods.keys() {
            let plan = resolve(method)?;
            if let Some(place) = plans.get(build.service.methods.id(method).index()) {
                let _ = place.set(plan);
            }
        }
        let view = View {
            generation: build.previous.map_or(1, |v| v.generation + 1),
            service: build.service.clone(),
            // Read before any endpoint is asked: a change in between is then noticed.
            health_epoch: build.service.health_epoch(),
            config: build.config.clone(),
            strategies: build.strategies.clone(),
            untagged: untagged(&routers, &routes),
            routes,
            common: resolve("*")?,
            entries,
            routers,
            plans,
            next_change_ms: AtomicI64::new(NEVER),
        };
        if let Some(previous) = build.previous {
            view.take_over(previous, build.clock);
        }
        Ok(view)
    }

    /// Grows by one with each view.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// What outlives views.
    pub fn service(&self) -> &Arc<Service> {
        &self.service
    }

    /// The list, in the order received.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Configuration as written.
    pub fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// Whether availability has changed since this view was built.
    #[inline]
    pub fn health_changed(&self) -> bool {
        self.service.health_epoch() != self.health_epoch
    }

    /// When prepared weights fall behind the warmup formula, in ms since the epoch.
    #[inline]
    pub fn next_change_ms(&self) -> Option<i64> {
        Some(self.next_change_ms.load(Relaxed)).filter(|at| *at != NEVER)
    }

    /// The index of the call's method.
    #[inline]
    pub fn method(&self, method: Method<'_>) -> MethodId {
        match method {
            Method::Id(id) => id,
            Method::Name(name) => self.service.methods.id(name),
        }
    }

    /// The configuration of a method.
    pub fn plan(&self, method: MethodId) -> &Arc<Plan> {
        let Some(place) = self.plans.get(method.index()) else { return &self.common };
        place.get_or_init(|| {
            let name = self.service.methods.name(method);
            let urls: Vec<_> = self.entries.iter().map(|e| e.url.clone()).collect();
            let plan = Plan::resolve(&name, &self.config, &self.strategies, &urls);
            plan.map_or_else(
                |error| {
                    // What the user set was checked when the view was built; what is left comes
                    // from a provider and must not fail a call.
                    tracing::warn!(%error, method = &*name, "the service's own plan applies");
                    self.common.clone()
                },
                Arc::new,
            )
        })
    }

    /// The prepared candidates of a call; prepared now if this is the first one on its route.
    #[inline]
    pub fn candidates(&self, call: &Call<'_>, clock: &dyn Clock) -> &Arc<Candidates> {
        if call.tag.is_none()
            && call.force_tag.is_none()
            && let Some(route) = self.untagged.and_then(|number| self.routes.get(number))
            && let Some(ready) = route.candidates(self.method(call.method))
        {
            return ready;
        }
        self.candidates_by_routers(call, clock)
    }

    /// Whether calls that name no tag differ in nothing but their method: what
    /// [`candidates`](Self::candidates) gave for one of them then holds for the others, as long as
    /// this view does.
    pub fn routes_by_tag_alone(&self) -> bool {
        self.untagged.is_some()
    }

    fn candidates_by_routers(&self, call: &Call<'_>, clock: &dyn Clock) -> &Arc<Candidates> {
        let branches = self.routers.iter().map(|(_, router)| router.branch(call));
        let route = self.routes.route(branches, || self.open_route(call));
        let method = self.method(call.method);
        match route.candidates(method) {
            Some(ready) => ready,
            None => self.prepare(route, method, None, clock),
        }
    }

    /// Chooses who serves the call. `Err` says how many candidates each stage left.
    ///
    /// # Errors
    /// Nobody is left, or a keyed strategy got no key.
    #[inline]
    pub fn choose<'v>(
        &'v self,
        call: &Call<'_>,
        tried: &Tried,
        rng: &mut dyn Rng,
        clock: &dyn Clock,
    ) -> Result<&'v Candidate, Failure> {
        let candidates = self.candidates(call, clock);
        let key = if candidates.is_keyed() { candidates.key_hash(call.key)? } else { None };
        let position = candidates.choose(key, tried, self.health_changed(), rng, clock);
        match position.and_then(|p| candidates.all().get(p)) {
            Some(candidate) => Ok(candidate),
            None => Err(self.no_provider(call)),
        }
    }

    /// Why nobody is left: how many candidates each stage left.
    #[cold]
    pub fn no_provider(&self, call: &Call<'_>) -> Failure {
        let stages: Vec<String> =
            self.stages(call).into_iter().map(|(name, left)| format!("{name} {left}")).collect();
        let name = match call.method {
            Method::Name(name) => name.to_owned(),
            Method::Id(id) => self.service.methods.name(id).to_string(),
        };
        Failure::not_sent(
            FailureKind::NoProvider,
            format!(
                "no provider available for {} method {name}: {}",
                self.service.key,
                stages.join(", ")
            ),
        )
    }

    /// Everybody the routers let serve the call, in list order, unavailable ones included.
    pub fn eligible(&self, call: &Call<'_>) -> Vec<Arc<Endpoint>> {
        let mut kept: Vec<u32> = (0..self.entries.len() as u32).collect();
        for (_, router) in &self.routers {
            router.narrow(router.branch(call), &self.entries, &mut kept);
        }
        let endpoint = |p: &u32| Some(self.entries.get(*p as usize)?.endpoint.clone());
        kept.iter().filter_map(endpoint).collect()
    }

    /// A given endpoint as a candidate of the call, also while it is unavailable; `None` once it
    /// has left the list or a router leaves it out.
    pub fn candidate(
        &self,
        call: &Call<'_>,
        endpoint: &Arc<Endpoint>,
        clock: &dyn Clock,
    ) -> Option<(Arc<Candidates>, usize)> {
        let ready = self.candidates(call, clock);
        if let Some(position) = ready.position(endpoint) {
            return Some((ready.clone(), position));
        }
        let entry = self.entries.iter().find(|e| Arc::ptr_eq(&e.endpoint, endpoint))?;
        if !self.eligible(call).iter().any(|e| Arc::ptr_eq(e, endpoint)) {
            return None;
        }
        let (now_ms, now_ns) = (clock.wall_ms(), clock.nanos());
        let plan = ready.plan().clone();
        let keep_total = plan.strategy.about().counts_total;
        let method = self.method(call.method);
        let listed = self.entries.len();
        let measurements = self.service.measurements(endpoint, method, listed, keep_total, now_ns);
        let alone = vec![Candidate::new(&plan, &entry.url, measurements, now_ms)];
        let alone = Candidates::prepare(plan, alone, None, &Shared::default(), now_ms);
        Some((Arc::new(alone), 0))
    }

    /// How many candidates each stage leaves for the call: `listed`, each router, `available`.
    pub fn stages(&self, call: &Call<'_>) -> Vec<(&'static str, usize)> {
        let branches = self.routers.iter().map(|(_, router)| router.branch(call));
        self.routes.route(branches, || self.open_route(call)).stages.clone()
    }

    /// Routes that calls have used, with their names (empty: no router left anybody out by name).
    pub fn open_routes(&self) -> impl Iterator<Item = &Route> {
        self.routes.open()
    }

    fn open_route(&self, call: &Call<'_>) -> Route {
        let branches: Vec<usize> = self.routers.iter().map(|(_, r)| r.branch(call)).collect();
        self.narrow(&branches, None)
    }

    /// Works out who may serve the calls of these branches.
    fn narrow(&self, branches: &[usize], previous: Option<&Route>) -> Route {
        let mut kept: Vec<u32> = (0..self.entries.len() as u32).collect();
        let mut stages = vec![("listed", kept.len())];
        let mut name = String::new();
        for ((router_name, router), branch) in self.routers.iter().zip(branches) {
            router.narrow(*branch, &self.entries, &mut kept);
            stages.push((router_name, kept.len()));
            name.push_str(&router.branch_name(*branch));
            name.push('\n');
        }
        let up = |p: &u32| self.entries.get(*p as usize).is_some_and(|e| e.endpoint.is_available());
        let (available, left_out): (Vec<u32>, Vec<u32>) = kept.into_iter().partition(up);
        stages.push(("available", available.len()));
        // With nobody available all are candidates: an attempt to connect may still help.
        let (kept, left_out) = match available.is_empty() {
            true => (left_out, available),
            false => (available, left_out),
        };
        Route::new(name, kept, left_out, stages, previous)
    }

    fn prepare<'r>(
        &self,
        route: &'r Route,
        method: MethodId,
        previous: Option<&Candidates>,
        clock: &dyn Clock,
    ) -> &'r Arc<Candidates> {
        route.prepare(method, || {
            let plan = self.plan(method).clone();
            let keep_total = plan.strategy.about().counts_total;
            let (now_ms, now_ns) = (clock.wall_ms(), clock.nanos());
            let mut walk = Walk::new(previous.map(Candidates::all).unwrap_or_default());
            let mut candidate = |position: &u32| {
                let entry = self.entries.get(*position as usize)?;
                let (endpoint, listed) = (&entry.endpoint, self.entries.len());
                let measurements = match walk.find(|c| Arc::ptr_eq(c.endpoint(), endpoint)) {
                    Some(before) => before.measurements().clone(),
                    None => self.service.measurements(endpoint, method, listed, keep_total, now_ns),
                };
                Some(Candidate::new(&plan, &entry.url, measurements, now_ms))
            };
            let all: Vec<Candidate> = route.kept.iter().filter_map(&mut candidate).collect();
            let left_out = route.left_out.iter().filter_map(candidate).collect();
            let ready = Candidates::prepare(plan.clone(), all, previous, &route.shared, now_ms)
                .leaving_out(left_out);
            if let Some(at) = ready.next_change_ms() {
                self.next_change_ms.fetch_min(at, Relaxed);
            }
            Arc::new(ready)
        })
    }

    /// Prepares what calls used on the view before, handing each picker its predecessor. Methods
    /// that nobody has called for ten minutes are left behind, and with them their measurements.
    fn take_over(&self, previous: &View, clock: &dyn Clock) {
        let now_ns = clock.nanos();
        let mut names: Vec<HashMap<String, usize>> = Vec::new();
        for (_, router) in &self.routers {
            names.push((0..router.branches()).map(|b| (router.branch_name(b), b)).collect());
        }
        for old in previous.routes.open() {
            let parts = old.name.split('\n');
            let branches: Option<Vec<usize>> =
                names.iter().zip(parts).map(|(known, part)| known.get(part).copied()).collect();
            let Some(branches) = branches else { continue };
            let route =
                self.routes.route(branches.iter().copied(), || self.narrow(&branches, Some(old)));
            for (method, candidates) in old.ready() {
                if candidates.in_use(now_ns) {
                    self.prepare(route, method, Some(candidates), clock);
                }
            }
        }
    }

    /// The hash of the call's key, for callers that make several attempts.
    ///
    /// # Errors
    /// The strategy is keyed and the call has neither key nor arguments.
    pub fn key_hash(&self, call: &Call<'_>, clock: &dyn Clock) -> Result<Key<'static>, Failure> {
        let hash = self.candidates(call, clock).key_hash(call.key)?;
        Ok(hash.map_or(Key::Missing, Key::Hashed))
    }
}

/// The route of calls without a tag, if no router looks at anything else of them.
fn untagged(routers: &[(&'static str, Box<dyn Router>)], routes: &Routes) -> Option<usize> {
    let branches: Option<Vec<usize>> = routers.iter().map(|(_, r)| r.untagged()).collect();
    Some(routes.number(branches?.into_iter()))
}
