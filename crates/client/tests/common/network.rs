//! A network in memory: providers by address, each with a door (how it takes connections) and a
//! script (how it answers), and a record of everything that reached it. Time is the runtime's, so
//! with a paused clock nothing here waits. Opens no socket.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use bytes::Bytes;
use equipoise_core::outcome::{Failure, FailureKind};
use equipoise_core::port::{Body, BoxFuture, Connection, Protocol, Reply, Request};
use equipoise_core::stream::{Duplex, StreamRequest};
use equipoise_core::url::Url;
use tokio::sync::watch;
use tokio::time::Instant;

use super::script::{Door, Seen, Step, Then, answers};
use super::streams::echo;

struct Provider {
    door: Door,
    script: VecDeque<Step>,
    always: Step,
    connects: Vec<Instant>,
    lines: Vec<Weak<Line>>,
    in_flight: usize,
    peak: usize,
    withdrawn: usize,
}

impl Default for Provider {
    fn default() -> Self {
        Self {
            door: Door::Open,
            script: VecDeque::new(),
            always: answers(1),
            connects: Vec::new(),
            lines: Vec::new(),
            in_flight: 0,
            peak: 0,
            withdrawn: 0,
        }
    }
}

#[derive(Default)]
struct Inner {
    providers: Mutex<BTreeMap<String, Provider>>,
    seen: Mutex<Vec<Seen>>,
    abandoned: AtomicUsize,
}

/// All providers. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Network {
    inner: Arc<Inner>,
    wire: Arc<Wire>,
}

/// The protocol that reaches them. Every link holds one handle of it.
struct Wire(Arc<Inner>);

impl Network {
    /// Every address answers with itself after 1 ms.
    pub(crate) fn new() -> Self {
        let inner = Arc::new(Inner::default());
        Self { wire: Arc::new(Wire(inner.clone())), inner }
    }

    pub(crate) fn protocol(&self) -> Arc<dyn Protocol> {
        self.wire.clone()
    }

    /// How many parts of consumers (one each) and links (one each) are alive.
    pub(crate) fn users(&self) -> usize {
        Arc::strong_count(&self.wire) - 1
    }

    pub(crate) fn at<'a>(&'a self, address: &'a str) -> At<'a> {
        At { inner: &self.inner, address }
    }

    /// Every request, in order of arrival.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.inner.seen.lock().unwrap().clone()
    }

    /// Who was asked, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.inner.seen.lock().unwrap().iter().map(|s| s.address.clone()).collect()
    }

    /// Forgets what has been asked so far.
    pub(crate) fn forget(&self) {
        self.inner.seen.lock().unwrap().clear();
    }

    /// Connections that were let go of without a word.
    pub(crate) fn abandoned(&self) -> usize {
        self.inner.abandoned.load(SeqCst)
    }

    /// Open connections to anybody.
    pub(crate) fn open(&self) -> usize {
        self.inner.providers.lock().unwrap().values().map(Provider::open).sum()
    }
}

impl Provider {
    fn open(&self) -> usize {
        self.lines.iter().filter_map(Weak::upgrade).filter(|line| !line.is_closed()).count()
    }
}

/// One provider.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    inner: &'a Arc<Inner>,
    address: &'a str,
}

impl At<'_> {
    fn with<T>(&self, change: impl FnOnce(&mut Provider) -> T) -> T {
        let mut providers = self.inner.providers.lock().unwrap();
        change(providers.entry(self.address.to_owned()).or_default())
    }

    /// How it answers from now on, once its script is at its end.
    pub(crate) fn always(&self, step: Step) {
        self.with(|p| p.always = step);
    }

    /// How it answers the next request that has no step yet.
    pub(crate) fn next(&self, step: Step) {
        self.with(|p| p.script.push_back(step));
    }

    pub(crate) fn door(&self, door: Door) {
        self.with(|p| p.door = door);
    }

    /// Loses every connection, and with it what is in flight.
    pub(crate) fn cuts(&self) {
        self.move_lines(Life::Closed);
    }

    /// Tells every connection to go away; what is in flight is still answered.
    pub(crate) fn announces(&self) {
        self.move_lines(Life::Leaving);
    }

    /// Loses every connection and takes no new one.
    pub(crate) fn dies(&self) {
        self.door(Door::Refusing);
        self.cuts();
    }

    /// Takes connections again.
    pub(crate) fn returns(&self) {
        self.door(Door::Open);
    }

    fn move_lines(&self, to: Life) {
        let lines: Vec<_> = self.with(|p| p.lines.iter().filter_map(Weak::upgrade).collect());
        for line in lines {
            line.set(to);
        }
    }

    /// Requests that arrived.
    pub(crate) fn asked(&self) -> usize {
        let seen = self.inner.seen.lock().unwrap();
        seen.iter().filter(|s| s.address == self.address).count()
    }

    /// Attempts to connect, with their instants.
    pub(crate) fn connects(&self) -> Vec<Instant> {
        self.with(|p| p.connects.clone())
    }

    /// Open connections.
    pub(crate) fn open(&self) -> usize {
        self.with(|p| p.open())
    }

    /// Requests that are being answered.
    pub(crate) fn in_flight(&self) -> usize {
        self.with(|p| p.in_flight)
    }

    /// The most requests that were being answered at once.
    pub(crate) fn peak(&self) -> usize {
        self.with(|p| p.peak)
    }

    /// Requests whose caller gave up before the answer.
    pub(crate) fn withdrawn(&self) -> usize {
        self.with(|p| p.withdrawn)
    }
}

impl Protocol for Wire {
    fn scheme(&self) -> &'static str {
        "mem"
    }

    fn default_port(&self) -> u16 {
        20880
    }

    fn connect<'a>(
        &'a self,
        target: &'a Url,
    ) -> BoxFuture<'a, Result<Arc<dyn Connection>, Failure>> {
        let address = target.address();
        Box::pin(async move {
            let at = At { inner: &self.0, address: &address };
            let door = at.with(|p| {
                p.connects.push(Instant::now());
                p.lines.retain(|line| line.strong_count() > 0);
                p.door
            });
            match door {
                Door::Open | Door::HangingUp => {}
                Door::Slow(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
                Door::Silent => std::future::pending().await,
                Door::Panicking => panic!("scripted panic while connecting"),
                Door::Refusing => {
                    let reason = format!("{address} refuses");
                    return Err(Failure::not_sent(FailureKind::Network, reason));
                }
            }
            let line = Arc::new(Line {
                inner: self.0.clone(),
                address: address.clone(),
                life: watch::Sender::new(Life::Up),
                in_flight: AtomicUsize::new(0),
            });
            at.with(|p| p.lines.push(Arc::downgrade(&line)));
            if door == Door::HangingUp {
                line.set(Life::Closed);
            }
            Ok(line as Arc<dyn Connection>)
        })
    }
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Life {
    Up,
    Leaving,
    Closed,
}

/// One connection.
struct Line {
    inner: Arc<Inner>,
    address: String,
    life: watch::Sender<Life>,
    in_flight: AtomicUsize,
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Line({}, {:?})", self.address, self.life.borrow())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let abandoned = *self.life.borrow() == Life::Up;
        self.inner.abandoned.fetch_add(usize::from(abandoned), SeqCst);
    }
}

impl Line {
    /// A connection never comes back to life.
    fn set(&self, to: Life) {
        self.life.send_if_modified(|life| {
            let later = to > *life;
            *life = to.max(*life);
            later
        });
    }

    fn is_closed(&self) -> bool {
        match *self.life.borrow() {
            Life::Up => false,
            Life::Leaving => self.in_flight.load(SeqCst) == 0,
            Life::Closed => true,
        }
    }

    fn at(&self) -> At<'_> {
        At { inner: &self.inner, address: &self.address }
    }

    fn arrive(&self, request: &Request) -> (Step, InFlight<'_>) {
        let step = self.at().with(|p| {
            p.in_flight += 1;
            p.peak = p.peak.max(p.in_flight);
            p.script.pop_front().unwrap_or_else(|| p.always.clone())
        });
        self.in_flight.fetch_add(1, SeqCst);
        let flight = InFlight { line: self, answered: false };
        if !matches!(step.then, Then::GoAway) {
            self.inner.seen.lock().unwrap().push(Seen {
                address: self.address.clone(),
                method: request.method.to_string(),
                body: carried(request),
                attachments: request.attachments.clone(),
                timeout: request.timeout,
                at: Instant::now(),
            });
        }
        (step, flight)
    }

    async fn answer(&self, step: Step, request: &Request) -> Result<Reply, Failure> {
        match step.after_ms {
            0 => tokio::task::yield_now().await,
            ms => tokio::time::sleep(Duration::from_millis(ms)).await,
        }
        match step.then {
            Then::Answer(attachments) => {
                let body = match &request.body {
                    Body::Json(_) => Bytes::from(format!("\"{}\"", self.address)),
                    Body::Protobuf(_) | Body::Java(_) => carried(request),
                };
                Ok(Reply { body, attachments })
            }
            Then::Fail(failure) => Err(failure),
            Then::Silence => std::future::pending().await,
            Then::GoAway => {
                self.set(Life::Leaving);
                Err(Failure::not_sent(FailureKind::Network, "told to go away while writing"))
            }
            Then::Panic => panic!("scripted panic while answering"),
        }
    }
}

/// A request that is being answered.
struct InFlight<'a> {
    line: &'a Line,
    answered: bool,
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.line.in_flight.fetch_sub(1, SeqCst);
        self.line.at().with(|p| {
            p.in_flight -= 1;
            p.withdrawn += usize::from(!self.answered);
        });
    }
}

impl Connection for Line {
    fn send<'a>(&'a self, mut request: Request) -> BoxFuture<'a, Result<Reply, Failure>> {
        Box::pin(async move {
            if *self.life.borrow() != Life::Up {
                return Err(Failure::not_sent(FailureKind::Network, "the connection is closed"));
            }
            let mut life = self.life.subscribe();
            let (step, mut flight) = self.arrive(&request);
            // What a protocol adds for itself must never be seen by another attempt.
            request.attachments.set(":path", format!("/{}/{}", self.address, request.method));
            let result = tokio::select! {
                result = self.answer(step, &request) => result,
                _ = life.wait_for(|life| *life == Life::Closed) => {
                    Err(Failure::new(FailureKind::Network, "the connection was lost"))
                }
            };
            flight.answered = true;
            result
        })
    }

    fn open<'a>(&'a self, request: StreamRequest) -> BoxFuture<'a, Result<Duplex, Failure>> {
        Box::pin(async move {
            if *self.life.borrow() != Life::Up {
                return Err(Failure::not_sent(FailureKind::Network, "the connection is closed"));
            }
            let step = self.at().with(|p| p.script.pop_front().unwrap_or_else(|| p.always.clone()));
            self.inner.seen.lock().unwrap().push(Seen {
                address: self.address.clone(),
                method: request.method.to_string(),
                body: Bytes::new(),
                attachments: request.attachments.clone(),
                timeout: request.timeout,
                at: Instant::now(),
            });
            match step.then {
                // What is scripted for a call is how the answer of a stream begins.
                Then::Fail(failure) => Ok(echo((), Some(failure))),
                Then::GoAway => {
                    self.set(Life::Leaving);
                    Err(Failure::not_sent(FailureKind::Network, "told to go away while writing"))
                }
                Then::Silence => std::future::pending().await,
                _ => Ok(echo((), None)),
            }
        })
    }

    fn is_available(&self) -> bool {
        *self.life.borrow() == Life::Up
    }

    fn unavailable<'a>(&'a self) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let _ = self.life.subscribe().wait_for(|life| *life != Life::Up).await;
        })
    }

    fn drain(&self) {
        self.set(Life::Leaving);
    }
}

/// The bytes that a request carries.
fn carried(request: &Request) -> Bytes {
    match &request.body {
        Body::Protobuf(bytes) | Body::Json(bytes) => bytes.clone(),
        Body::Java(arguments) => arguments.joined().unwrap_or_default(),
    }
}
