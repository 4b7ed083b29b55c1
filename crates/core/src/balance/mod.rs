//! Which of the candidates serves a call. One file per strategy; a strategy only chooses: it sees
//! candidates and what was measured of them, no socket, no task, no policy.
//!
//! To add one: write `balance/<name>.rs`, add its `mod` line and its row in [`STRATEGIES`]. The
//! command line, the reports and the conformance suite read the table and nothing else.

mod adaptive;
pub mod alias;
mod bounded_consistent_hash;
mod consistent_hash;
pub mod cycle;
mod least_active;
mod p2c;
mod peak_ewma;
mod random;
mod round_robin;
mod shortcut;
mod shortest_response;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::call::Tried;
use crate::candidates::Candidate;
use crate::clock::Clock;
use crate::config::{ConfigError, Setting};
use crate::endpoint::Endpoint;
use crate::plan::Plan;
use crate::rng::Rng;

pub use shortcut::Shortcut;
pub(crate) use shortcut::Spot;

/// Every strategy we ship.
#[rustfmt::skip] // one row, one line: a new strategy is a one-line diff here
pub static STRATEGIES: &[&dyn Strategy] = &[
    &random::Random,
    &round_robin::RoundRobin,
    &least_active::LeastActive,
    &shortest_response::ShortestResponse,
    &consistent_hash::ConsistentHash,
    &adaptive::Adaptive,
    &p2c::P2c,
    &peak_ewma::PeakEwma,
    &bounded_consistent_hash::BoundedConsistentHash,
];

/// A strategy: what it claims, and how it is prepared for a set of candidates.
pub trait Strategy: Send + Sync + 'static {
    /// Name and claims. Every claim made here is tested.
    fn about(&self) -> About;

    /// Whether the plan's parameters make sense for it.
    ///
    /// # Errors
    /// A parameter that it cannot work with; the configuration in force then stays.
    fn check(&self, plan: &Plan) -> Result<(), ConfigError> {
        let _ = plan;
        Ok(())
    }

    /// Prepares a picker. May be slow.
    ///
    /// *Called by* whoever builds a view, or by the first call of a method on it; never twice for
    /// one view, route and method.
    fn prepare(&self, prepare: &Prepare<'_>) -> Box<dyn Picker>;
}

/// Chooses one candidate. Called on every attempt, from any thread.
///
/// *Blocking*: never; no lock, no await, no allocation.
pub trait Picker: Send + Sync + 'static {
    /// The position of one candidate that [`Ask::admits`], or `None` when there is none.
    fn pick(&self, ask: &mut Ask<'_>) -> Option<usize>;

    /// What [`Picker::pick`] does while everybody is admitted, where that is so simple that asking
    /// would take longer than doing it.
    fn shortcut(&self) -> Option<Shortcut> {
        None
    }

    /// The exact long-run share (0 to 1) of the candidate at `position`, where the strategy alone
    /// decides it; `None` where load or time does.
    fn expected_share(&self, position: usize) -> Option<f64> {
        let _ = position;
        None
    }

    /// For the next picker of the same strategy, method and route, which may carry state over.
    fn as_any(&self) -> &dyn Any;
}

/// What a picker is prepared from.
pub struct Prepare<'a> {
    /// The configuration of the method.
    pub plan: &'a Plan,
    /// The candidates, in list order, with the weights they have now.
    pub candidates: &'a [Candidate],
    /// What served the same method and route before this change: picker and candidates.
    pub previous: Option<(&'a dyn Picker, &'a [Candidate])>,
    /// Parts that pickers of one view and route share, for example a hash ring.
    pub shared: &'a Shared,
    /// Wall clock in ms since the epoch.
    pub now_ms: i64,
}

impl Prepare<'_> {
    /// The candidate's position among the previous ones. Linear tables are built by the caller:
    /// see [`Prepare::previous_positions`].
    pub fn previous_positions(&self) -> std::collections::HashMap<*const Endpoint, usize> {
        let previous = self.previous.map(|(_, c)| c).unwrap_or_default();
        previous.iter().enumerate().map(|(i, c)| (Arc::as_ptr(c.endpoint()), i)).collect()
    }
}

/// Parts shared between the pickers of one view and route, by name. Filled while preparing, never
/// read by a pick.
#[derive(Default)]
pub struct Shared {
    parts: std::sync::Mutex<Vec<(String, Arc<dyn Any + Send + Sync>)>>,
    previous: Vec<(String, Arc<dyn Any + Send + Sync>)>,
}

impl Shared {
    /// An empty set that can look at the parts of the view before.
    pub fn after(previous: Option<&Shared>) -> Self {
        let previous = match previous {
            Some(p) => p.parts.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone(),
            None => Vec::new(),
        };
        Self { parts: std::sync::Mutex::default(), previous }
    }

    /// The part called `name`, built at most once; `build` is given the one of the view before.
    pub fn part<T: Any + Send + Sync>(
        &self,
        name: &str,
        build: impl FnOnce(Option<&T>) -> T,
    ) -> Arc<T> {
        let mut parts = self.parts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let find = |parts: &[(String, Arc<dyn Any + Send + Sync>)]| {
            let (_, part) = parts.iter().find(|(n, _)| n == name)?;
            part.clone().downcast::<T>().ok()
        };
        if let Some(part) = find(&parts) {
            return part;
        }
        let part = Arc::new(build(find(&self.previous).as_deref()));
        parts.push((name.to_owned(), part.clone()));
        part
    }
}

/// What a pick may look at.
pub struct Ask<'a> {
    /// The candidates the picker was prepared for, in the same order.
    pub candidates: &'a [Candidate],
    /// Hash of the call's key; `Some` whenever the strategy claims to be keyed.
    pub key: Option<u32>,
    /// Chance.
    pub rng: &'a mut dyn Rng,
    /// Time, for strategies whose row claims that they read it.
    pub clock: &'a dyn Clock,
    pub(crate) tried: Option<&'a Tried>,
    pub(crate) check_available: bool,
}

/// How often a refused draw is repeated before the remaining candidates are scanned.
const REDRAWS: usize = 8;

impl Ask<'_> {
    /// Whether every candidate is admitted, so that nothing has to be asked one by one.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.tried.is_none() && !self.check_available
    }

    /// Whether the candidate at `position` may be chosen: not tried, and available.
    #[inline]
    pub fn admits(&self, position: usize) -> bool {
        if self.is_open() {
            return position < self.candidates.len();
        }
        self.admits_slowly(position)
    }

    #[cold]
    fn admits_slowly(&self, position: usize) -> bool {
        let Some(candidate) = self.candidates.get(position) else { return false };
        let endpoint = candidate.endpoint();
        (!self.check_available || endpoint.is_available())
            && self.tried.is_none_or(|tried| !tried.contains(endpoint))
    }

    /// Draws until a candidate is admitted, at most eight more times, then decides by `scan`.
    #[inline]
    pub fn redraw(
        &mut self,
        mut draw: impl FnMut(&mut dyn Rng) -> usize,
        scan: impl FnOnce(&mut Self) -> Option<usize>,
    ) -> Option<usize> {
        let first = draw(self.rng);
        if self.admits(first) {
            return Some(first);
        }
        for _ in 0..REDRAWS {
            let next = draw(self.rng);
            if self.admits(next) {
                return Some(next);
            }
        }
        scan(self)
    }

    /// One of the admitted candidates for which `keep` holds, drawn by weight; uniformly when all
    /// their weights are 0. Two passes, no memory.
    pub fn scan_by_weight(&mut self, keep: impl Fn(usize) -> bool) -> Option<usize> {
        let (mut total, mut count) = (0_u64, 0_usize);
        for position in 0..self.candidates.len() {
            if self.admits(position) && keep(position) {
                total += u64::from(self.weight(position));
                count += 1;
            }
        }
        let mut left =
            if total > 0 { self.rng.below_u64(total) } else { self.rng.below(count) as u64 };
        let mut last = None;
        for position in 0..self.candidates.len() {
            if !self.admits(position) || !keep(position) {
                continue;
            }
            let weight = if total > 0 { u64::from(self.weight(position)) } else { 1 };
            if left < weight {
                return Some(position);
            }
            left -= weight;
            // Availability may change between the passes: then the last one seen is as good.
            last = Some(position).filter(|_| weight > 0).or(last);
        }
        last
    }

    /// The weight of a candidate now, warmup included.
    #[inline]
    pub fn weight(&self, position: usize) -> u32 {
        self.candidates.get(position).map_or(0, Candidate::weight)
    }
}

/// What a strategy claims about itself.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Name in configuration and in Dubbo URLs.
    pub name: &'static str,
    /// Other spellings, dubbo-go's for example.
    pub aliases: &'static [&'static str],
    /// What it chooses, in one line.
    pub summary: &'static str,
    /// When to use it, in one line.
    pub use_for: &'static str,
    /// What it needs from the caller or the provider, in a few words.
    pub needs: &'static str,
    /// Cost of a pick.
    pub cost: &'static str,
    /// Where the name comes from: `Dubbo`, or `own`.
    pub origin: &'static str,
    /// How it keeps to weights.
    pub weights: Weights,
    /// Sends less to an endpoint with many calls in flight.
    pub avoids_busy: bool,
    /// Sends less to an endpoint that answers slowly.
    pub avoids_slow: bool,
    /// The same key goes to the same endpoint.
    pub keyed: bool,
    /// Its picks read the clock.
    pub reads_clock: bool,
    /// Attachments that a request needs so that the provider reports its load.
    pub asks: &'static [(&'static str, &'static str)],
    /// Needs what `adaptive` measures per endpoint.
    pub adaptive: bool,
    /// Compares with the number of attempts in flight in all.
    pub counts_total: bool,
}

impl About {
    /// A strategy that claims nothing beyond its name.
    pub const fn named(name: &'static str, summary: &'static str) -> Self {
        Self {
            name,
            aliases: &[],
            summary,
            use_for: "",
            needs: "nothing",
            cost: "",
            origin: "own",
            weights: Weights::Ignored,
            avoids_busy: false,
            avoids_slow: false,
            keyed: false,
            reads_clock: false,
            asks: &[],
            adaptive: false,
            counts_total: false,
        }
    }
}

/// How a strategy keeps to weights.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Weights {
    /// Shares are in proportion to weights whatever the load.
    Exact,
    /// Shares are in proportion to weights among candidates that are otherwise equal.
    Ties,
    /// A heavier candidate gets more, without an exact proportion.
    Bias,
    /// Not looked at.
    Ignored,
}

/// The strategies that names can mean: the built-in ones and the user's own.
#[derive(Clone)]
pub struct Strategies(Vec<(String, Arc<dyn Strategy>)>);

impl Strategies {
    /// The built-in ones.
    pub fn built_in() -> Self {
        Self(
            STRATEGIES
                .iter()
                .map(|row| (row.about().name.to_owned(), Arc::new(Row(*row)) as Arc<dyn Strategy>))
                .collect(),
        )
    }

    /// Adds one of the user's own under `name`, or replaces one added before.
    ///
    /// # Errors
    /// The name (or a spelling of it) belongs to a built-in strategy: no old name changes meaning.
    pub fn register(&mut self, name: &str, strategy: Arc<dyn Strategy>) -> Result<(), NameTaken> {
        let taken = |row: &&dyn Strategy| {
            let about = row.about();
            about.name == name || about.aliases.contains(&name)
        };
        if STRATEGIES.iter().any(taken) {
            return Err(NameTaken(name.to_owned()));
        }
        self.0.retain(|(known, _)| known != name);
        self.0.push((name.to_owned(), strategy));
        Ok(())
    }

    /// The strategy that a name means, in Java's or Go's spelling.
    pub fn find(&self, name: &str) -> Option<Arc<dyn Strategy>> {
        let name = name.trim();
        let (_, strategy) = self
            .0
            .iter()
            .find(|(known, strategy)| known == name || strategy.about().aliases.contains(&name))?;
        if strategy.about().name == "p2c" {
            P2C_WARNING.call_once(|| {
                tracing::warn!(
                    "`p2c` is Equipoise's own rule (fewer calls in flight by weight); dubbo-go's \
                     compares remaining capacity, which is used where providers report it"
                );
            });
        }
        Some(strategy.clone())
    }

    /// What applies when nothing is configured: `random`, as in Dubbo.
    pub fn default_strategy(&self) -> Arc<dyn Strategy> {
        Arc::new(Row(&random::Random))
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    pub(crate) fn unknown(&self, setting: &Setting) -> ConfigError {
        let names: Vec<_> = self.names().collect();
        setting.error("loadbalance", format!("no such strategy; there are {}", names.join(", ")))
    }
}

static P2C_WARNING: std::sync::Once = std::sync::Once::new();

impl fmt::Debug for Strategies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// A name that a built-in strategy has.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the name {0:?} belongs to a built-in strategy")]
pub struct NameTaken(pub String);

/// A row of the table as an owned handle.
struct Row(&'static dyn Strategy);

impl Strategy for Row {
    fn about(&self) -> About {
        self.0.about()
    }
    fn check(&self, plan: &Plan) -> Result<(), ConfigError> {
        self.0.check(plan)
    }
    fn prepare(&self, prepare: &Prepare<'_>) -> Box<dyn Picker> {
        self.0.prepare(prepare)
    }
}
