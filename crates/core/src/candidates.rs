//! The candidates of one view, route and method, prepared: who may be chosen, with which weight
//! and timeout, and the picker that chooses. Built when something changes, only read by calls.

use std::sync::Arc;
use std::time::Duration;

use crate::balance::{Ask, Picker, Prepare, Shared, Shortcut, Spot, Weights};
use crate::call::{Key, Tried};
use crate::clock::{Clock, OneReading};
use crate::config::parse_duration;
use crate::endpoint::Endpoint;
use crate::hash::key::{hash_of_arguments, hash_of_key};
use crate::measure::Measurements;
use crate::outcome::{Failure, FailureKind};
use crate::plan::{DEFAULT_TIMEOUT, Plan, ProviderValue};
use crate::rng::Rng;
use crate::url::Url;
use crate::weight;

/// Default time to full weight, in ms (Dubbo's `warmup`).
const DEFAULT_WARMUP_MS: i64 = 600_000;

/// Prepared weights may lag the formula by at most this, or by a hundredth of the warmup.
const WARMUP_LAG_MS: i64 = 1_000;

/// One endpoint that may be chosen for one method. On one cache line.
#[repr(align(64))]
pub struct Candidate {
    measurements: Arc<Measurements>,
    weight: u32,
    configured_weight: u32,
    warmup: Option<Warmup>,
    timeout_ns: u64,
    actives: u32,
    feeds_adaptive: bool,
}

#[derive(Clone, Copy)]
struct Warmup {
    start_ms: i64,
    length_ms: i64,
}

impl Candidate {
    /// Who.
    #[inline]
    pub fn endpoint(&self) -> &Arc<Endpoint> {
        self.measurements.endpoint()
    }

    /// What was measured.
    #[inline]
    pub fn measurements(&self) -> &Arc<Measurements> {
        &self.measurements
    }

    /// Weight with warmup, as of the last change.
    #[inline]
    pub fn weight(&self) -> u32 {
        self.weight
    }

    /// Weight as configured.
    pub fn configured_weight(&self) -> u32 {
        self.configured_weight
    }

    /// Whether it has not reached its full weight yet.
    pub fn is_warming(&self) -> bool {
        self.weight < self.configured_weight
    }

    /// Time for one attempt.
    #[inline]
    pub fn timeout(&self) -> Duration {
        Duration::from_nanos(self.timeout_ns)
    }

    /// Most attempts in flight; 0 is unlimited.
    pub fn actives(&self) -> u32 {
        self.actives
    }

    /// The same in nanoseconds.
    #[inline]
    pub(crate) fn timeout_ns(&self) -> u64 {
        self.timeout_ns
    }

    #[inline]
    pub(crate) fn feeds_adaptive(&self) -> bool {
        self.feeds_adaptive
    }

    pub(crate) fn new(
        plan: &Plan,
        url: &Url,
        measurements: Arc<Measurements>,
        now_ms: i64,
    ) -> Self {
        let about = plan.strategy.about();
        let parameters = Parameters { plan, url, endpoint: measurements.endpoint() };
        let configured = parameters.weight();
        let warmup = parameters.warmup();
        let weight = match warmup {
            Some(w) => weight::effective(configured, w.start_ms, w.length_ms, now_ms),
            None => configured,
        };
        let (timeout, actives) = (parameters.timeout(), parameters.actives());
        if about.avoids_slow {
            measurements.keep_average();
            measurements.keep_ewma();
        }
        Self {
            weight,
            configured_weight: configured,
            warmup,
            timeout_ns: u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX),
            actives,
            feeds_adaptive: about.adaptive,
            measurements,
        }
    }

    /// When the weight changes next, in ms since the epoch.
    fn next_change(&self, now_ms: i64) -> Option<i64> {
        let w = self.warmup?;
        let exact = weight::next_change(self.configured_weight, w.start_ms, w.length_ms, now_ms)?;
        let lag = (w.length_ms / 100).clamp(1, WARMUP_LAG_MS);
        Some(exact.max(now_ms.saturating_add(lag)))
    }
}

/// Reads what applies to one provider. A value of the provider that cannot be read falls to its
/// default with one warning; the provider stays.
struct Parameters<'a> {
    plan: &'a Plan,
    url: &'a Url,
    endpoint: &'a Endpoint,
}

impl Parameters<'_> {
    fn value(&self, key: &str) -> Option<ProviderValue<'_>> {
        self.plan.provider_value(self.url, key)
    }

    fn read<T>(&self, key: &str, default: T, parse: impl Fn(&str) -> Option<T>) -> T {
        let Some(value) = self.value(key) else { return default };
        parse(value.text()).unwrap_or_else(|| {
            self.warn(key, value.text());
            default
        })
    }

    fn warn(&self, key: &str, value: &str) {
        if self.endpoint.first_warning(&format!("{key}={value}")) {
            tracing::warn!(
                address = self.endpoint.address(),
                key,
                value,
                "not a usable value, the default applies"
            );
        }
    }

    fn weight(&self) -> u32 {
        self.read("weight", 100, weight::parse)
    }

    fn timeout(&self) -> Duration {
        self.read("timeout", DEFAULT_TIMEOUT, |text| {
            parse_duration(text, Duration::from_millis(1)).ok().filter(|t| !t.is_zero())
        })
    }

    fn actives(&self) -> u32 {
        self.read("actives", 0, |text| {
            let n: i64 = text.trim().parse().ok()?;
            Some(u32::try_from(n.max(0)).unwrap_or(u32::MAX))
        })
    }

    /// The provider's own start time decides, never the consumer's. dubbo-go writes seconds: a
    /// ten-digit time tells, and then a bare `warmup` is in seconds too.
    fn warmup(&self) -> Option<Warmup> {
        let key =
            if self.url.param("timestamp").is_some() { "timestamp" } else { "remote.timestamp" };
        let text = self.url.param(key)?;
        let Ok(written) = text.trim().parse::<i64>() else {
            self.warn(key, text);
            return None;
        };
        let start_ms = weight::normal_start(written);
        let bare = Duration::from_millis(if start_ms == written { 1 } else { 1000 });
        let length_ms = self.read("warmup", DEFAULT_WARMUP_MS, |text| {
            // Not positive is legal and means no warmup.
            if text.trim().parse::<i64>().is_ok_and(|n| n <= 0) {
                return Some(0);
            }
            i64::try_from(parse_duration(text, bare).ok()?.as_millis()).ok()
        });
        (start_ms > 0 && length_ms > 0).then_some(Warmup { start_ms, length_ms })
    }
}

/// Candidates with their picker.
pub struct Candidates {
    plan: Arc<Plan>,
    all: Vec<Candidate>,
    left_out: Vec<Candidate>,
    /// The shortcut, if it takes no longer than a call.
    spot: Spot,
    /// What the picker does while everybody is admitted, if that is simple.
    shortcut: Option<Shortcut>,
    picker: Box<dyn Picker>,
    keyed: bool,
    next_change_ms: Option<i64>,
}

impl Candidates {
    pub(crate) fn prepare(
        plan: Arc<Plan>,
        all: Vec<Candidate>,
        previous: Option<&Candidates>,
        shared: &Shared,
        now_ms: i64,
    ) -> Self {
        let about = plan.strategy.about();
        let previous = previous
            .filter(|p| p.plan.strategy.about().name == about.name)
            .map(|p| (&*p.picker, p.all.as_slice()));
        let prepare = Prepare { plan: &plan, candidates: &all, previous, shared, now_ms };
        let picker = plan.strategy.prepare(&prepare);
        // With one candidate there is nothing to choose.
        let shortcut = if all.len() > 1 { picker.shortcut() } else { None };
        let spot = shortcut.as_ref().map_or(Spot::None, Shortcut::spot);
        let next_change_ms = match about.weights {
            Weights::Ignored => None,
            _ => all.iter().filter_map(|c| c.next_change(now_ms)).min(),
        };
        Self {
            keyed: about.keyed,
            plan,
            all,
            left_out: Vec::new(),
            spot,
            shortcut,
            picker,
            next_change_ms,
        }
    }

    /// With those that would be candidates if they were available: what was measured of them is
    /// kept for when they are back, and shown in reports.
    pub(crate) fn leaving_out(self, left_out: Vec<Candidate>) -> Self {
        Self { left_out, ..self }
    }

    /// Those that would be candidates if they were available, in list order.
    pub fn left_out(&self) -> &[Candidate] {
        &self.left_out
    }

    /// The configuration of the method.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// In list order.
    #[inline]
    pub fn all(&self) -> &[Candidate] {
        &self.all
    }

    /// Whether calls need a key.
    #[inline]
    pub fn is_keyed(&self) -> bool {
        self.keyed
    }

    /// The position of an endpoint.
    pub fn position(&self, endpoint: &Arc<Endpoint>) -> Option<usize> {
        self.all.iter().position(|c| Arc::ptr_eq(c.endpoint(), endpoint))
    }

    /// When prepared weights fall behind the formula, in ms since the epoch.
    pub fn next_change_ms(&self) -> Option<i64> {
        self.next_change_ms
    }

    /// The exact long-run share (0 to 1) of a position, where the strategy alone decides it.
    pub fn expected_share(&self, position: usize) -> Option<f64> {
        match self.all.len() {
            1 => Some(1.0),
            _ => self.picker.expected_share(position),
        }
    }

    /// The hash that a keyed strategy needs, made once per call. `None` for other strategies.
    ///
    /// # Errors
    /// The strategy is keyed and the call has neither key nor arguments.
    pub fn key_hash(&self, key: Key<'_>) -> Result<Option<u32>, Failure> {
        if !self.keyed {
            return Ok(None);
        }
        match key {
            Key::Hashed(hash) => Ok(Some(hash)),
            Key::Text(text) => Ok(Some(hash_of_key(text))),
            Key::Arguments(arguments) => {
                Ok(Some(hash_of_arguments(&self.plan.hash_arguments, arguments)))
            }
            Key::Missing => Err(Failure::not_sent(
                FailureKind::Invalid,
                format!(
                    "method {} uses {}, which needs a key: set `key` or give the arguments",
                    self.plan.method,
                    self.plan.strategy.about().name
                ),
            )),
        }
    }

    /// The position of the one that serves. Tried and unavailable ones are left out; where that
    /// leaves nobody, `tried` is forgotten, then availability: one connection attempt to a known
    /// endpoint is better than a certain failure. `None` only when there are no candidates.
    #[inline]
    pub fn choose(
        &self,
        key: Option<u32>,
        tried: &Tried,
        check_available: bool,
        rng: &mut dyn Rng,
        clock: &dyn Clock,
    ) -> Option<usize> {
        let clock = if tried.is_empty() && !check_available {
            let key = key.map_or(Key::Missing, Key::Hashed);
            match self.choose_simply(key, rng, clock) {
                Ok(position) => return Some(position),
                Err(clock) => clock,
            }
        } else {
            OneReading::of(clock)
        };
        self.choose_by_picker(key, tried, check_available, rng, &clock)
    }

    /// The position of the one that serves, while nobody was tried and everybody is available,
    /// where that takes no longer than a call: a draw by weight, a turn. `None` for all other
    /// strategies.
    #[inline(always)]
    pub fn choose_on_the_spot(&self, rng: &mut dyn Rng) -> Option<usize> {
        self.spot.take(rng)
    }

    /// The position of the one that serves, while nobody was tried and everybody is available;
    /// where the strategy needs to know more than that, the clock for asking it.
    ///
    /// # Errors
    /// The clock, with the reading that was made of it.
    #[inline]
    pub fn choose_simply<'c>(
        &self,
        key: Key<'_>,
        rng: &mut dyn Rng,
        clock: &'c dyn Clock,
    ) -> Result<usize, OneReading<'c>> {
        match &self.shortcut {
            Some(shortcut) => shortcut.take(key, rng, clock),
            None => Err(OneReading::of(clock)),
        }
    }

    #[inline(never)]
    fn choose_by_picker(
        &self,
        key: Option<u32>,
        tried: &Tried,
        check_available: bool,
        rng: &mut dyn Rng,
        clock: &dyn Clock,
    ) -> Option<usize> {
        if self.all.len() <= 1 {
            return self.all.len().checked_sub(1);
        }
        let tried = (!tried.is_empty()).then_some(tried);
        let mut ask = Ask { candidates: &self.all, key, rng, clock, tried, check_available };
        match self.picker.pick(&mut ask) {
            Some(position) => Some(position),
            None => self.choose_anyway(ask),
        }
    }

    #[cold]
    fn choose_anyway(&self, mut ask: Ask<'_>) -> Option<usize> {
        let tried = ask.tried.take();
        if let Some(position) = self.picker.pick(&mut ask) {
            return Some(position);
        }
        // Nobody is available: each is worth one attempt before any is worth two.
        ask.check_available = false;
        ask.tried = tried;
        if let Some(position) = self.picker.pick(&mut ask) {
            return Some(position);
        }
        ask.tried = None;
        self.picker.pick(&mut ask)
    }
}
