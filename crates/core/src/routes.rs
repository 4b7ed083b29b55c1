//! Routes of a view: for each combination of router branches that a call has used, who may serve
//! it and, per method, the prepared candidates. Written once, read without a lock, bounded.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::balance::Shared;
use crate::candidates::Candidates;
use crate::methods::MethodId;

/// Most combinations of branches (16 bytes each) that a view accepts.
const MAX_PLACES: usize = 1 << 20;

/// A method's candidates are dropped with the first view that is built after this long without a
/// call.
const IDLE: Duration = Duration::from_secs(600);

/// Who may serve the calls of one combination of branches.
pub struct Route {
    /// Names of the branches, one per line.
    pub(crate) name: String,
    /// Positions in the view's list, ascending.
    pub(crate) kept: Vec<u32>,
    /// Who may serve but is unavailable, while others are not. Their measurements live on here.
    pub(crate) left_out: Vec<u32>,
    /// How many each stage left.
    pub(crate) stages: Vec<(&'static str, usize)>,
    /// Parts that the pickers of this route have in common.
    pub(crate) shared: Shared,
    methods: Box<[OnceLock<Arc<Candidates>>]>,
}

impl Route {
    pub(crate) fn new(
        name: String,
        kept: Vec<u32>,
        left_out: Vec<u32>,
        stages: Vec<(&'static str, usize)>,
        previous: Option<&Route>,
    ) -> Self {
        Self {
            name,
            kept,
            left_out,
            stages,
            shared: Shared::after(previous.map(|p| &p.shared)),
            methods: (0..MethodId::COUNT).map(|_| OnceLock::new()).collect(),
        }
    }

    /// The prepared candidates of a method, once a call has used them.
    #[inline]
    pub fn candidates(&self, method: MethodId) -> Option<&Arc<Candidates>> {
        self.methods.get(method.index())?.get()
    }

    /// Names of its branches, for people; empty for the default route.
    pub fn label(&self) -> String {
        self.name.lines().filter(|name| !name.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Positions in the view's list of who may serve, ascending.
    pub fn kept(&self) -> &[u32] {
        &self.kept
    }

    /// Every method that calls have used, with its candidates.
    pub fn ready(&self) -> impl Iterator<Item = (MethodId, &Arc<Candidates>)> {
        self.methods.iter().filter_map(|place| {
            let ready = place.get()?;
            Some((ready.method()?, ready))
        })
    }

    pub(crate) fn prepare(
        &self,
        method: MethodId,
        make: impl FnOnce() -> Arc<Candidates>,
    ) -> &Arc<Candidates> {
        // An index is below COUNT by construction; the last place is that of `*`.
        let place = self.methods.get(method.index()).unwrap_or(&self.methods[MethodId::COUNT - 1]);
        place.get_or_init(make)
    }
}

impl Candidates {
    /// The method, by index; `None` without candidates.
    fn method(&self) -> Option<MethodId> {
        self.all().first().map(|c| c.measurements().method())
    }

    /// Whether any of them has a call in flight or had one in the last ten minutes.
    pub(crate) fn in_use(&self, now_ns: u64) -> bool {
        self.all().iter().any(|c| {
            let m = c.measurements();
            m.active() > 0 || now_ns.saturating_sub(m.last_used_ns()) < IDLE.as_nanos() as u64
        })
    }
}

/// One place per combination of branches. A combination is bounded by the list and the rules, so
/// the table is too.
pub(crate) struct Routes {
    radix: Vec<usize>,
    places: Box<[OnceLock<Box<Route>>]>,
}

impl Routes {
    /// For routers with these numbers of branches; `None` when they multiply to more than a
    /// million combinations.
    pub(crate) fn new(branches: impl Iterator<Item = usize>) -> Option<Self> {
        let radix: Vec<usize> = branches.map(|b| b.max(1)).collect();
        let all = radix.iter().try_fold(1_usize, |all, b| all.checked_mul(*b));
        let places = all.filter(|all| *all <= MAX_PLACES)?;
        Some(Self { radix, places: (0..places).map(|_| OnceLock::new()).collect() })
    }

    /// The route of these branches, worked out by `open` when it is used for the first time.
    #[inline]
    pub(crate) fn route(
        &self,
        branches: impl Iterator<Item = usize>,
        open: impl FnOnce() -> Route,
    ) -> &Route {
        // In range: each digit is below its radix, and the places are their product.
        self.places[self.number(branches)].get_or_init(|| Box::new(open()))
    }

    /// The route with this number, once a call has used it.
    #[inline]
    pub(crate) fn get(&self, number: usize) -> Option<&Route> {
        self.places.get(number)?.get().map(|route| &**route)
    }

    /// The number of the route of these branches.
    #[inline]
    pub(crate) fn number(&self, branches: impl Iterator<Item = usize>) -> usize {
        branches
            .zip(&self.radix)
            .fold(0, |number, (branch, radix)| number * radix + branch.min(radix - 1))
    }

    /// Every route that a call has used.
    pub(crate) fn open(&self) -> impl Iterator<Item = &Route> {
        self.places.iter().filter_map(|place| place.get().map(|route| &**route))
    }
}
