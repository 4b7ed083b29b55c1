//! One address of one service. The object outlives updates of the list: the same identity
//! (protocol, address, service) is the same object, so that counts survive a push. Its parameters
//! belong to the view's entry; its measurements hang on it and die with it.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use crate::measure::board::Board;
use crate::measure::{AdaptiveMeasures, Measurements, MethodTotal};
use crate::methods::{MethodId, MethodTable};
use crate::outcome::Failure;
use crate::port::{BoxFuture, Reply, Request};
use crate::service::ServiceKey;

/// What all endpoints, views and calls of one service share.
pub struct Service {
    /// Interface, group and version.
    pub key: Arc<ServiceKey>,
    /// Names of its methods.
    pub methods: MethodTable,
    /// Grows when the availability of any endpoint changes.
    health: AtomicU64,
    /// Whether any endpoint has ever reported remaining capacity.
    reports_remaining: AtomicBool,
    /// Weak, so that an endpoint dies with the last view and ticket that hold it, and one that
    /// returns while a ticket is open is the same object.
    endpoints: Mutex<HashMap<(String, String), Weak<Endpoint>>>,
    boards: Box<[OnceLock<Arc<Board>>]>,
    totals: Box<[OnceLock<Arc<MethodTotal>>]>,
}

impl Service {
    /// A service nobody has called yet.
    pub fn new(key: ServiceKey) -> Arc<Self> {
        Arc::new(Self {
            key: Arc::new(key),
            methods: MethodTable::new(),
            health: AtomicU64::new(0),
            reports_remaining: AtomicBool::new(false),
            endpoints: Mutex::default(),
            boards: (0..MethodId::COUNT).map(|_| OnceLock::new()).collect(),
            totals: (0..MethodId::COUNT).map(|_| OnceLock::new()).collect(),
        })
    }

    /// The endpoint with this identity: the one in use, or a new one.
    pub fn endpoint(self: &Arc<Self>, protocol: &str, address: &str) -> Arc<Endpoint> {
        let mut known = self.endpoints.lock().unwrap_or_else(PoisonError::into_inner);
        let identity = (protocol.to_owned(), address.to_owned());
        if let Some(endpoint) = known.get(&identity).and_then(Weak::upgrade) {
            return endpoint;
        }
        // Forgotten ones are swept out when the map is about to grow, so that it never holds many
        // more than there are.
        if known.len() == known.capacity() {
            known.retain(|_, e| e.strong_count() > 0);
        }
        let fresh = Endpoint::new(protocol, address, self.clone());
        known.insert(identity, Arc::downgrade(&fresh));
        fresh
    }

    /// How many endpoints are alive.
    pub fn live_endpoints(&self) -> usize {
        let known = self.endpoints.lock().unwrap_or_else(PoisonError::into_inner);
        known.values().filter(|e| e.strong_count() > 0).count()
    }

    /// What is measured of one endpoint and method, made now if nothing was yet. The first time for
    /// a method, room is made for `listed` endpoints.
    pub(crate) fn measurements(
        &self,
        endpoint: &Arc<Endpoint>,
        method: MethodId,
        listed: usize,
        keep_total: bool,
        now_ns: u64,
    ) -> Arc<Measurements> {
        endpoint.measurements(method, || {
            // The index of a method is below COUNT by construction.
            let board = self.boards[method.index()].get_or_init(|| Arc::new(Board::new(listed)));
            let total = keep_total.then(|| self.totals[method.index()].get_or_init(Arc::default));
            Measurements::new(endpoint.clone(), method, board.clone(), total.cloned(), now_ns)
        })
    }

    /// Whether any endpoint has ever reported remaining capacity, so that it is worth a look.
    #[inline]
    pub fn reports_remaining(&self) -> bool {
        self.reports_remaining.load(Relaxed)
    }

    /// Changes whenever an endpoint becomes available or unavailable.
    #[inline]
    pub fn health_epoch(&self) -> u64 {
        self.health.load(Relaxed)
    }
}

/// What the client keeps for an endpoint: its connection and the task that looks after it.
pub trait Link: Send + Sync {
    /// Sends one request over the endpoint's connection.
    ///
    /// *Cancellation*: dropping the future withdraws the call.
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Reply, Failure>>;

    /// For its maker, who knows more about it.
    fn as_any(&self) -> &dyn Any;

    /// For its maker, who knows more about it.
    fn as_any_arc(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// No report of remaining capacity yet.
const NO_REMAINING: i64 = i64::MIN;

/// One address of one service.
pub struct Endpoint {
    protocol: String,
    address: String,
    service: Arc<Service>,
    available: AtomicBool,
    remaining: AtomicI64,
    link: OnceLock<Arc<dyn Link>>,
    methods: Mutex<BTreeMap<MethodId, Weak<Measurements>>>,
    adaptive: OnceLock<Arc<AdaptiveMeasures>>,
    warned: Mutex<BTreeSet<String>>,
}

impl Endpoint {
    /// An endpoint that is available and has measured nothing yet.
    pub fn new(protocol: &str, address: &str, service: Arc<Service>) -> Arc<Self> {
        Arc::new(Self {
            protocol: protocol.to_owned(),
            address: address.to_owned(),
            service,
            available: AtomicBool::new(true),
            remaining: AtomicI64::new(NO_REMAINING),
            link: OnceLock::new(),
            methods: Mutex::default(),
            adaptive: OnceLock::new(),
            warned: Mutex::default(),
        })
    }

    /// `host:port`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// URL scheme of its protocol; empty when the list named none.
    pub fn protocol(&self) -> &str {
        &self.protocol
    }

    /// The service it serves.
    pub fn service(&self) -> &Arc<Service> {
        &self.service
    }

    /// Whether it may be chosen.
    #[inline]
    pub fn is_available(&self) -> bool {
        self.available.load(Relaxed)
    }

    /// Says whether it may be chosen. Returns whether that is news; views notice at once, and the
    /// one writer of the list is expected to build the next view.
    pub fn set_available(&self, available: bool) -> bool {
        let news = self.available.swap(available, Relaxed) != available;
        if news {
            self.service.health.fetch_add(1, Relaxed);
        }
        news
    }

    /// Its connection, once the client has attached one.
    pub fn link(&self) -> Option<&Arc<dyn Link>> {
        self.link.get()
    }

    /// Attaches the connection; the first one stays.
    pub fn attach(&self, link: Arc<dyn Link>) {
        let _ = self.link.set(link);
    }

    /// Remaining capacity as the provider reported it (`adaptive-service.remaining`), which may be
    /// negative.
    pub fn remaining(&self) -> Option<i64> {
        Some(self.remaining.load(Relaxed)).filter(|r| *r != NO_REMAINING)
    }

    /// Keeps a report of remaining capacity.
    pub fn report_remaining(&self, remaining: i64) {
        self.remaining.store(remaining.max(NO_REMAINING + 1), Relaxed);
        if !self.service.reports_remaining() {
            self.service.reports_remaining.store(true, Relaxed);
        }
    }

    /// What `adaptive` knows about it, over all methods.
    pub fn adaptive(&self, now_ms: i64) -> &Arc<AdaptiveMeasures> {
        self.adaptive.get_or_init(|| Arc::new(AdaptiveMeasures::new(now_ms)))
    }

    /// What was measured of one method, made now if nothing was yet.
    pub(crate) fn measurements(
        self: &Arc<Self>,
        method: MethodId,
        make: impl FnOnce() -> Arc<Measurements>,
    ) -> Arc<Measurements> {
        let mut methods = self.methods.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = methods.get(&method).and_then(Weak::upgrade) {
            return known;
        }
        methods.retain(|_, m| m.strong_count() > 0);
        let fresh = make();
        methods.insert(method, Arc::downgrade(&fresh));
        fresh
    }

    /// Whether this problem is reported for the first time, so that each is logged once.
    pub(crate) fn first_warning(&self, about: &str) -> bool {
        const BOUND: usize = 64;
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        warned.len() < BOUND && warned.insert(about.to_owned())
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({self})")
    }
}

/// `protocol://address`, or the address alone.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.protocol.is_empty() {
            write!(f, "{}://", self.protocol)?;
        }
        f.write_str(&self.address)
    }
}
