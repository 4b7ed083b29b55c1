//! Our strategies, as an adopter uses them: `Local::choose` and `Local::pick`.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use equipoise::core::call::Method;
use equipoise::core::candidates::Candidate;
use equipoise::core::clock::Clock;
use equipoise::core::methods::MethodId;
use equipoise::core::ticket::Ticket as CoreTicket;
use equipoise::core::view::View;
use equipoise::{Balancer, Call, Local, Outcome, SystemClock, Ticket, Tried};

use super::check::Expect;
use super::{Kind, Row, STRATEGIES};
use crate::harness::Contender;
use crate::world::{Key, World};

/// The method that is called.
pub(crate) const METHOD: &str = "getUser";

/// Nobody was tried: what a caller keeps rather than makes for each call.
static UNTRIED: Tried = Tried::new();

/// A balancer over a world, with load at rest and answer times known.
struct Site {
    balancer: Balancer,
    view: Arc<View>,
    method: MethodId,
    keyed: bool,
    /// Address of the first candidate.
    base: usize,
    by_endpoint: HashMap<usize, usize>,
    /// Never finished: the calls at rest.
    at_rest: Vec<CoreTicket>,
    clock: Answering,
}

impl Site {
    fn new(strategy: &str, world: &World) -> Self {
        let balancer = Balancer::new(strategy, world.urls()).expect("a strategy and addresses");
        let clock = Answering(SystemClock::new());
        let view = balancer.view();
        let method = view.method(Method::Name(METHOD));
        let candidates = view.candidates(&Call::of(method), &clock).clone();
        let (keyed, all) = (candidates.is_keyed(), candidates.all());
        let mut site = Self {
            base: std::ptr::from_ref(&all[0]).addr(),
            by_endpoint: HashMap::new(),
            at_rest: Vec::new(),
            balancer,
            view: view.clone(),
            method,
            keyed,
            clock,
        };
        for (i, candidate) in all.iter().enumerate() {
            site.by_endpoint.insert(Arc::as_ptr(candidate.endpoint()).addr(), i);
            site.learn(i, candidate);
            let busy = (0..World::at_rest(i)).map(|_| CoreTicket::start(candidate, &site.clock));
            site.at_rest.extend(busy);
        }
        site
    }

    /// Some answers, so that averages and loads are known.
    fn learn(&self, i: usize, candidate: &Candidate) {
        for time in 1..=3 {
            let ticket = CoreTicket::start(candidate, &self.clock);
            ticket.report(&report(i, time), &self.clock);
            self.clock.after(World::answer_ns(i), || ticket.finish(Outcome::Success, &self.clock));
        }
    }

    fn call<'a>(&self, key: Key) -> Call<'a> {
        let call = Call::of(self.method);
        if self.keyed { call.key(key) } else { call }
    }

    #[inline]
    fn index(&self, candidate: &Candidate) -> usize {
        (std::ptr::from_ref(candidate).addr() - self.base) / size_of::<Candidate>()
    }

    fn by_endpoint(&self, endpoint: &Arc<equipoise::Endpoint>) -> usize {
        self.by_endpoint[&Arc::as_ptr(endpoint).addr()]
    }
}

/// What a provider reports of its load.
fn report(i: usize, time: u64) -> String {
    format!("curTime:{time},mem:4000,load:{}", 20 + i % 40)
}

/// The system's clock, and for the end of a call the time that its provider takes to answer.
struct Answering(SystemClock);

thread_local! {
    static LATER: Cell<u64> = const { Cell::new(0) };
}

impl Answering {
    #[inline]
    fn after<R>(&self, nanos: u64, end: impl FnOnce() -> R) -> R {
        LATER.set(nanos);
        let result = end();
        LATER.set(0);
        result
    }
}

impl Clock for Answering {
    fn wall_ms(&self) -> i64 {
        self.0.wall_ms()
    }

    #[inline]
    fn nanos(&self) -> u64 {
        self.0.nanos() + LATER.get()
    }
}

/// Choosing alone.
struct Choose(Site);

impl Contender for Choose {
    type Local = Local;
    type Held = usize;

    fn local(&self) -> Local {
        self.0.balancer.local()
    }

    #[inline(always)]
    fn pick(&self, local: &mut Local, key: Key) -> usize {
        let candidate = local.choose(&self.0.call(key), &UNTRIED).expect("providers");
        std::ptr::from_ref(candidate).addr()
    }

    fn provider(&self, held: &usize) -> usize {
        (held - self.0.base) / size_of::<Candidate>()
    }
}

/// Choosing alone, the method given by its name.
struct ChooseByName(Site);

impl Contender for ChooseByName {
    type Local = Local;
    type Held = usize;

    fn local(&self) -> Local {
        self.0.balancer.local()
    }

    #[inline(always)]
    fn pick(&self, local: &mut Local, _: Key) -> usize {
        let candidate = local.choose(&Call::new(METHOD), &UNTRIED).expect("providers");
        std::ptr::from_ref(candidate).addr()
    }

    fn provider(&self, held: &usize) -> usize {
        (held - self.0.base) / size_of::<Candidate>()
    }
}

/// Choosing while one endpoint was tried before.
struct ChooseAnother(Site, Arc<Tried>);

impl Contender for ChooseAnother {
    type Local = Local;
    type Held = usize;

    fn local(&self) -> Local {
        self.0.balancer.local()
    }

    #[inline(always)]
    fn pick(&self, local: &mut Local, key: Key) -> usize {
        let candidate = local.choose(&self.0.call(key), &self.1).expect("providers");
        std::ptr::from_ref(candidate).addr()
    }

    fn provider(&self, held: &usize) -> usize {
        (held - self.0.base) / size_of::<Candidate>()
    }
}

/// From pick to finish.
struct Whole(Site);

impl Contender for Whole {
    type Local = Local;
    type Held = Ticket;

    fn local(&self) -> Local {
        self.0.balancer.local()
    }

    #[inline(always)]
    fn pick(&self, local: &mut Local, key: Key) -> Ticket {
        local.pick(&self.0.call(key)).expect("providers")
    }

    #[inline(always)]
    fn end(&self, _: &mut Local, held: Ticket) {
        held.finish(Outcome::Success);
    }

    fn provider(&self, held: &Ticket) -> usize {
        self.0.by_endpoint(held.endpoint())
    }
}

/// From pick to finish on the shared handle, without a `Local`.
struct Shared(Site);

impl Contender for Shared {
    type Local = ();
    type Held = Ticket;

    fn local(&self) {}

    #[inline(always)]
    fn pick(&self, (): &mut (), key: Key) -> Ticket {
        self.0.balancer.pick(&self.0.call(key)).expect("providers")
    }

    #[inline(always)]
    fn end(&self, (): &mut (), held: Ticket) {
        held.finish(Outcome::Success);
    }

    fn provider(&self, held: &Ticket) -> usize {
        self.0.by_endpoint(held.endpoint())
    }
}

/// From pick to finish, where providers take their time to answer: the same work as [`Whole`], put
/// together from the parts so that the end can be told a later time.
struct Answered(Site);

impl Contender for Answered {
    type Local = Local;
    type Held = (CoreTicket, usize);

    fn local(&self) -> Local {
        self.0.balancer.local()
    }

    #[inline(always)]
    fn pick(&self, local: &mut Local, key: Key) -> (CoreTicket, usize) {
        let candidate = local.choose(&self.0.call(key), &UNTRIED).expect("providers");
        (CoreTicket::start(candidate, &self.0.clock), self.0.index(candidate))
    }

    #[inline(always)]
    fn end(&self, _: &mut Local, (ticket, provider): (CoreTicket, usize)) {
        let clock = &self.0.clock;
        clock.after(World::answer_ns(provider), || ticket.finish(Outcome::Success, clock));
    }

    fn provider(&self, held: &(CoreTicket, usize)) -> usize {
        held.1
    }
}

/// From pick to finish, every answer with a report of its provider's load.
struct Reported(Site, String);

impl Contender for Reported {
    type Local = Local;
    type Held = Ticket;

    fn local(&self) -> Local {
        self.0.balancer.local()
    }

    #[inline(always)]
    fn pick(&self, local: &mut Local, key: Key) -> Ticket {
        local.pick(&self.0.call(key)).expect("providers")
    }

    #[inline(always)]
    fn end(&self, _: &mut Local, held: Ticket) {
        held.report(&self.1);
        held.finish(Outcome::Success);
    }

    fn provider(&self, held: &Ticket) -> usize {
        self.0.by_endpoint(held.endpoint())
    }
}

/// What each strategy promises, while its own calls count or while they do not.
fn expect(strategy: &str, counted: bool) -> Expect {
    match strategy {
        "random" => Expect::Drawn,
        "roundrobin" => Expect::Turns,
        "leastactive" => Expect::Fewest { counted },
        "shortestresponse" => Expect::Soonest { counted },
        "consistenthash" => Expect::Owner,
        "boundedconsistenthash" => Expect::Bounded { counted },
        _ => Expect::Spread,
    }
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for s in STRATEGIES {
        let site = move |world: &World| Site::new(s, world);
        let plain = expect(s, false);
        rows.push(Row::new(s, Kind::Choose, "ours, choose", plain, move |w| Choose(site(w))));
        let name = "ours, ticket";
        let counted = expect(s, true);
        // Where answer times decide, providers must take some.
        rows.push(match s {
            "shortestresponse" | "peakewma" => {
                Row::new(s, Kind::Ticket, name, counted, move |w| Answered(site(w)))
            }
            _ => Row::new(s, Kind::Ticket, name, counted, move |w| Whole(site(w))),
        });
    }
    let variant = Kind::Variant;
    rows.push(Row::new("random", variant, "ours, choose, method by name", Expect::Drawn, |w| {
        ChooseByName(Site::new("random", w))
    }));
    rows.push(Row::new("random", variant, "ours, ticket, shared handle", Expect::Drawn, |w| {
        Shared(Site::new("random", w))
    }));
    for s in ["random", "leastactive", "consistenthash"] {
        let name = "ours, choose, one tried before";
        rows.push(Row::new(s, variant, name, Expect::Nothing, move |w| another(s, w)));
    }
    let name = "ours, ticket, load reported";
    rows.push(Row::new("adaptive", variant, name, Expect::Spread, |w| {
        Reported(Site::new("adaptive", w), report(0, 9))
    }));
    rows
}

fn another(strategy: &str, world: &World) -> ChooseAnother {
    let site = Site::new(strategy, world);
    let mut tried = Tried::new();
    let candidates = site.view.candidates(&Call::of(site.method), &site.clock).clone();
    tried.add(candidates.all()[0].endpoint().clone());
    ChooseAnother(site, Arc::new(tried))
}
