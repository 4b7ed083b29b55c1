//! The connection of one endpoint and the task that looks after it.
//!
//! ```text
//!             wanted                      lost, told to go away
//!  idle ───────────────► connecting ──► ready ────────┐
//!    ▲                     │   ▲                      │
//!    │ not wanted: drain   │   └── backoff ◄── down ◄─┘ (first try at once)
//!    └─────────────────────┴───────────────────┘
//! ```
//!
//! One task per endpoint, so one sequence of attempts to connect whatever happens. A call that
//! finds the endpoint down asks for one attempt now and waits for its end. A connection that did not
//! last is no success: the delay goes on growing, so that a provider which takes connections and
//! hangs up is not hammered.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{AcqRel, Release},
};
use std::sync::{Arc, Weak};
use std::time::Duration;

use equipoise_core::endpoint::{Endpoint, Link};
use equipoise_core::outcome::{Failure, FailureKind, Sent};
use equipoise_core::port::{BoxFuture, Connection, Protocol, Reply, Request};
use equipoise_core::stream::{Duplex, StreamRequest};
use equipoise_core::url::Url;
use futures_util::FutureExt;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::admit::Places;
use crate::backoff::Backoff;

/// Bound on one attempt to connect.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Clone)]
enum State {
    /// Nobody wants a connection.
    Idle,
    Connecting,
    Ready(Arc<dyn Connection>),
    /// The attempt that failed: why, when, and its number, so that a waiter knows its own.
    Down(Arc<Failure>, Instant, u64),
}

impl State {
    fn ready(&self) -> Option<Arc<dyn Connection>> {
        match self {
            State::Ready(connection) if connection.is_available() => Some(connection.clone()),
            _ => None,
        }
    }
}

/// An endpoint's connection.
pub(crate) struct EndpointLink {
    target: Url,
    protocol: Arc<dyn Protocol>,
    backoff: Backoff,
    state: watch::Sender<State>,
    wanted: watch::Sender<bool>,
    running: AtomicBool,
    /// Number of the failed attempt after which a call asks for the next one now. A number, so
    /// that a wish which has been granted is not granted again.
    asked: watch::Sender<u64>,
    /// Tells the directory that availability has changed.
    changed: Arc<Notify>,
    pub(crate) places: Places,
}

impl EndpointLink {
    pub(crate) fn new(
        target: Url,
        protocol: Arc<dyn Protocol>,
        backoff: Backoff,
        changed: Arc<Notify>,
    ) -> Arc<Self> {
        Arc::new(Self {
            target,
            protocol,
            backoff,
            state: watch::Sender::new(State::Idle),
            wanted: watch::Sender::new(false),
            running: AtomicBool::new(false),
            asked: watch::Sender::new(0),
            changed,
            places: Places::default(),
        })
    }

    /// Connects, and stays connected. Called by the directory for every endpoint of a new view.
    pub(crate) fn want(self: &Arc<Self>, endpoint: &Arc<Endpoint>) {
        self.wanted.send_if_modified(|wanted| !std::mem::replace(wanted, true));
        if !self.running.swap(true, AcqRel) {
            if !matches!(*self.state.borrow(), State::Ready(_)) {
                self.state.send_replace(State::Connecting);
            }
            tokio::spawn(run(self.clone(), Arc::downgrade(endpoint)));
        }
    }

    /// The endpoint has left the list: no new call, and the connection closes when it is empty.
    pub(crate) fn leave(&self) {
        self.wanted.send_if_modified(|wanted| std::mem::replace(wanted, false));
    }

    /// The connection, waiting for an attempt in progress or for one made now.
    async fn connection(&self) -> Result<Arc<dyn Connection>, Failure> {
        if self.noticed().await {
            // Told to go away a moment ago: somebody else may be up.
            return Err(gone(&self.target));
        }
        let mut state = self.state.subscribe();
        let seen = match &*state.borrow_and_update() {
            State::Ready(c) => return Ok(c.clone()),
            State::Down(failure, since, _) if since.elapsed() < self.backoff.base / 10 => {
                return Err(Failure::clone(failure));
            }
            State::Down(_, _, attempts) => {
                self.asked.send_if_modified(|asked| {
                    *asked < *attempts && {
                        *asked = *attempts;
                        true
                    }
                });
                Some(*attempts)
            }
            State::Idle => return Err(gone(&self.target)),
            _ => None,
        };
        loop {
            if state.changed().await.is_err() {
                return Err(gone(&self.target));
            }
            match &*state.borrow_and_update() {
                State::Ready(c) => return Ok(c.clone()),
                State::Down(failure, _, attempts) if Some(*attempts) != seen => {
                    return Err(Failure::clone(failure));
                }
                State::Idle => return Err(gone(&self.target)),
                _ => {}
            }
        }
    }

    /// Lets the task see that the connection takes no new calls, so that whoever chooses next does
    /// not choose it again. Returns whether there was anything to see.
    async fn noticed(&self) -> bool {
        let leaving = |state: &State| matches!(state, State::Ready(c) if !c.is_available());
        let mut state = self.state.subscribe();
        if !leaving(&state.borrow()) {
            return false;
        }
        let _ = state.wait_for(|state| !leaving(state)).await;
        true
    }

    /// [`Self::connection`] for at most `time`: a call that got no connection was not sent.
    async fn connection_within(
        &self,
        time: Option<Duration>,
    ) -> Result<Arc<dyn Connection>, Failure> {
        let Some(time) = time else { return self.connection().await };
        tokio::time::timeout(time, self.connection()).await.unwrap_or_else(|_| {
            let address = self.target.address();
            Err(Failure::not_sent(
                FailureKind::Timeout,
                format!("no connection to {address} within {time:?}"),
            ))
        })
    }

    /// Opens a stream over the endpoint's connection.
    ///
    /// *Cancellation*: dropping the future withdraws the call.
    pub(crate) async fn open(&self, request: StreamRequest) -> Result<Duplex, Failure> {
        let connection = self.state.borrow().ready();
        let connection = match connection {
            Some(connection) => connection,
            None => self.connection().await?,
        };
        let result = connection.open(request).await;
        if result.as_ref().is_err_and(|failure| failure.sent == Sent::No) {
            self.noticed().await;
        }
        result
    }

    fn up(&self, endpoint: &Weak<Endpoint>, available: bool) {
        let news = endpoint.upgrade().is_some_and(|e| e.set_available(available));
        if news {
            tracing::info!(address = %self.target.address(), available, "availability changed");
            self.changed.notify_one();
        }
    }

    async fn connect(&self) -> Result<Arc<dyn Connection>, Failure> {
        let attempt = AssertUnwindSafe(async { self.protocol.connect(&self.target).await });
        match tokio::time::timeout(CONNECT_TIMEOUT, attempt.catch_unwind()).await {
            Ok(Ok(result)) => result.map_err(|mut failure| {
                failure.sent = Sent::No;
                failure
            }),
            // It must not take the task along that looks after the endpoint.
            Ok(Err(_)) => Err(Failure::not_sent(
                FailureKind::Network,
                format!("the protocol panicked while connecting to {}", self.target.address()),
            )),
            Err(_) => Err(Failure::not_sent(
                FailureKind::Network,
                format!("no connection to {} within {CONNECT_TIMEOUT:?}", self.target.address()),
            )),
        }
    }
}

impl Link for EndpointLink {
    fn send(&self, mut request: Request) -> BoxFuture<'_, Result<Reply, Failure>> {
        // The common case costs no extra future.
        let ready = match &*self.state.borrow() {
            State::Ready(c) if c.is_available() => Some(c.clone()),
            _ => None,
        };
        Box::pin(async move {
            let connection = match ready {
                Some(connection) => connection,
                None => {
                    let started = Instant::now();
                    let connection = self.connection_within(request.timeout).await?;
                    request.timeout =
                        request.timeout.map(|time| time.saturating_sub(started.elapsed()));
                    connection
                }
            };
            let result = connection.send(request).await;
            if result.as_ref().is_err_and(|failure| failure.sent == Sent::No) {
                self.noticed().await;
            }
            result
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_arc(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

fn gone(target: &Url) -> Failure {
    let address = target.address();
    Failure::not_sent(FailureKind::Network, format!("{address} takes no new calls"))
}

/// Keeps the connection until nobody wants it.
async fn run(link: Arc<EndpointLink>, endpoint: Weak<Endpoint>) {
    loop {
        keep_connected(&link, &endpoint).await;
        link.state.send_replace(State::Idle);
        link.running.store(false, Release);
        // Wanted again in the meantime: whoever sets `running` first goes on.
        if !*link.wanted.borrow() || link.running.swap(true, AcqRel) {
            return;
        }
        link.state.send_replace(State::Connecting);
    }
}

async fn keep_connected(link: &EndpointLink, endpoint: &Weak<Endpoint>) {
    let mut wanted = link.wanted.subscribe();
    let mut failures = 0_u32;
    let mut attempts = 0_u64;
    link.asked.send_replace(0);
    while *wanted.borrow_and_update() {
        let connected = tokio::select! {
            connected = link.connect() => connected,
            _ = wanted.wait_for(|wanted| !wanted) => return,
        };
        attempts += 1;
        let failure = match connected {
            Ok(connection) => {
                let since = Instant::now();
                link.state.send_replace(State::Ready(connection.clone()));
                link.up(endpoint, true);
                tokio::select! {
                    () = connection.unavailable() => {}
                    _ = wanted.wait_for(|wanted| !wanted) => {
                        connection.drain();
                        return;
                    }
                }
                // Told to go away or lost. Known before the state changes: see `noticed`.
                link.up(endpoint, false);
                connection.drain();
                let lasted = since.elapsed() >= link.backoff.base;
                failures = if lasted { 0 } else { failures.saturating_add(1) };
                if failures <= 1 {
                    // The first attempt to come back is made at once; calls wait for it only when
                    // there is nobody else.
                    link.state.send_replace(State::Connecting);
                    continue;
                }
                let address = link.target.address();
                let reason = format!("connections to {address} do not last");
                Failure::not_sent(FailureKind::Network, reason)
            }
            Err(failure) => {
                failures = failures.saturating_add(1);
                failure
            }
        };
        tracing::debug!(address = %link.target.address(), %failure, failures, "no connection");
        link.state.send_replace(State::Down(Arc::new(failure), Instant::now(), attempts));
        link.up(endpoint, false);
        let mut asked = link.asked.subscribe();
        tokio::select! {
            () = tokio::time::sleep(link.backoff.delay(failures, fastrand::f64())) => {}
            _ = asked.wait_for(|asked| *asked >= attempts) => {}
            _ = wanted.wait_for(|wanted| !wanted) => return,
        }
    }
}
