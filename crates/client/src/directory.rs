//! The directory: the one writer of a consumer's view. Lists, settings, health and warmup go in,
//! the next view comes out, swapped whole. Changes that arrive together become one view.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use equipoise_core::balance::Strategies;
use equipoise_core::clock::Clock;
use equipoise_core::config::{Config, ConfigError};
use equipoise_core::endpoint::Service;
use equipoise_core::port::{EndpointSink, Protocol};
use equipoise_core::url::Url;
use equipoise_core::view::{Build, Entry, View};
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use crate::backoff::Backoff;
use crate::builder::BuildError;
use crate::consumer::Shared;
use crate::link::EndpointLink;

/// Shortest time between two views.
const COALESCE: Duration = Duration::from_millis(10);

/// What has been asked for and not yet been done.
#[derive(Default)]
pub(crate) struct Inputs {
    pub(crate) list: Option<Vec<Url>>,
    pub(crate) config: Option<Arc<Config>>,
    pub(crate) waiting: Vec<oneshot::Sender<Result<(), ConfigError>>>,
}

/// Where changes are left for the directory; only the newest list and settings are kept.
pub(crate) struct Mailbox {
    inputs: Mutex<Inputs>,
    pub(crate) changed: Arc<Notify>,
    closed: AtomicBool,
    protocols: Protocols,
}

impl Mailbox {
    pub(crate) fn new(protocols: Protocols) -> Arc<Self> {
        Arc::new(Self {
            inputs: Mutex::default(),
            changed: Arc::new(Notify::new()),
            closed: AtomicBool::new(false),
            protocols,
        })
    }

    pub(crate) fn put(&self, change: impl FnOnce(&mut Inputs)) {
        change(&mut self.inputs.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_one();
    }

    pub(crate) fn check(&self, urls: &[Url]) -> Result<(), BuildError> {
        match urls.iter().find(|url| self.protocols.find(&url.protocol).is_none()) {
            None => Ok(()),
            Some(url) => Err(BuildError::UnknownProtocol {
                address: url.address(),
                protocol: url.protocol.clone(),
                known: self.protocols.names(),
            }),
        }
    }

    pub(crate) fn close(&self) {
        self.closed.store(true, Relaxed);
        self.changed.notify_one();
    }

    fn take(&self) -> Inputs {
        std::mem::take(&mut self.inputs.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl EndpointSink for Mailbox {
    fn endpoints(&self, list: Vec<Url>) {
        let known: Vec<Url> = list
            .into_iter()
            .filter(|url| {
                let known = self.protocols.find(&url.protocol).is_some();
                if !known {
                    tracing::warn!(%url, "left out: no such protocol here");
                }
                known
            })
            .collect();
        self.put(|inputs| inputs.list = Some(known));
    }
}

/// The protocols by scheme; an address without a scheme speaks the first one.
#[derive(Clone)]
pub(crate) struct Protocols(pub(crate) Vec<Arc<dyn Protocol>>);

impl Protocols {
    pub(crate) fn find(&self, scheme: &str) -> Option<&Arc<dyn Protocol>> {
        match scheme {
            "" => self.0.first(),
            // Other names of the same protocol, in use in configurations.
            "triple" | "grpc" => self.0.iter().find(|p| p.scheme() == "tri"),
            scheme => self.0.iter().find(|p| p.scheme() == scheme),
        }
    }

    fn names(&self) -> String {
        self.0.iter().map(|p| p.scheme()).collect::<Vec<_>>().join(", ")
    }
}

/// The task's own state.
pub(crate) struct Directory {
    pub(crate) service: Arc<Service>,
    pub(crate) list: Vec<Arc<Url>>,
    pub(crate) config: Arc<Config>,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) backoff: Backoff,
    /// Connections of the endpoints in the list, by protocol and address.
    pub(crate) links: HashMap<(String, String), Arc<EndpointLink>>,
}

impl Directory {
    /// Builds the next view from what is in force, and the connections it needs.
    pub(crate) fn build(
        &mut self,
        strategies: &Strategies,
        clock: &dyn Clock,
        previous: Option<&View>,
    ) -> Result<View, ConfigError> {
        let view = View::build(&Build {
            service: &self.service,
            list: &self.list,
            config: &self.config,
            strategies,
            previous,
            clock,
        })?;
        for entry in view.entries() {
            self.connect(entry);
        }
        Ok(view)
    }

    /// Gives an endpoint a connection that is kept. An endpoint that returns while a ticket of its
    /// earlier time is open still has its link, and uses it again.
    fn connect(&mut self, entry: &Entry) {
        let endpoint = entry.endpoint();
        let Some(protocol) = self.mailbox.protocols.find(&entry.url().protocol) else { return };
        let identity = (endpoint.protocol().to_owned(), endpoint.address().to_owned());
        let earlier = || endpoint.link()?.clone().as_any_arc().downcast::<EndpointLink>().ok();
        let link = earlier().unwrap_or_else(|| {
            let mut target = Url::clone(entry.url());
            if target.port == 0 {
                target.port = protocol.default_port();
            }
            let changed = self.mailbox.changed.clone();
            let link = EndpointLink::new(target, protocol.clone(), self.backoff, changed);
            endpoint.attach(link.clone());
            link
        });
        link.want(endpoint);
        self.links.insert(identity, link);
    }

    /// Lets go of the connections of endpoints that the view no longer lists.
    fn disconnect(&mut self, view: &View) {
        let listed: HashSet<(&str, &str)> = view
            .entries()
            .iter()
            .map(|e| (e.endpoint().protocol(), e.endpoint().address()))
            .collect();
        self.links.retain(|(protocol, address), link| {
            let stays = listed.contains(&(protocol.as_str(), address.as_str()));
            if !stays {
                link.leave();
            }
            stays
        });
    }

    /// Runs until the consumer is dropped.
    pub(crate) async fn run(mut self, shared: Arc<Shared>) {
        let mut built = Instant::now();
        while self.changed(&shared).await {
            tokio::time::sleep_until(built + COALESCE).await;
            self.apply(&shared);
            built = Instant::now();
        }
        for link in self.links.values() {
            link.leave();
        }
    }

    /// Waits for a change of any kind; `false` when the consumer is gone.
    async fn changed(&self, shared: &Shared) -> bool {
        let due = shared.view.load().next_change_ms();
        let wait = due.map(|at| at.saturating_sub(shared.clock.wall_ms()).max(0).unsigned_abs());
        let step = async {
            match wait {
                Some(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.mailbox.changed.notified() => {}
            () = step => {}
        }
        !self.mailbox.closed.load(Relaxed)
    }

    fn apply(&mut self, shared: &Shared) {
        let inputs = self.mailbox.take();
        let before = (self.list.clone(), self.config.clone());
        if let Some(list) = inputs.list {
            self.list = list.into_iter().map(Arc::new).collect();
        }
        if let Some(config) = inputs.config {
            self.config = config;
        }
        let previous = shared.view.load_full();
        let result = self.build(&shared.strategies, &*shared.clock, Some(&previous));
        let result = result.map(|view| {
            tracing::debug!(
                service = %self.service.key,
                generation = view.generation(),
                endpoints = view.entries().len(),
                "new view"
            );
            let view = Arc::new(view);
            shared.view.store(view.clone());
            // After the view is published, so that no new call meets a connection that is closing.
            self.disconnect(&view);
        });
        if let Err(error) = &result {
            tracing::error!(%error, "refused, what is in force stays");
            (self.list, self.config) = before;
        }
        for waiting in inputs.waiting {
            let _ = waiting.send(result.clone());
        }
    }
}
