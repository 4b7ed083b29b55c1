//! The directory: the one writer of a consumer's view. Lists, settings, health and warmup go in,
//! the next view comes out, swapped whole. Changes that arrive together become one view.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::Duration;

use equipoise_core::balance::Strategies;
use equipoise_core::clock::Clock;
use equipoise_core::config::{Config, ConfigError};
use equipoise_core::endpoint::Service;
use equipoise_core::url::Url;
use equipoise_core::view::{Build, Entry, View};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::backoff::Backoff;
use crate::consumer::Shared;
use crate::link::EndpointLink;
use crate::mailbox::{Answer, Mailbox};

/// Shortest time between two views.
const COALESCE: Duration = Duration::from_millis(10);

/// When weights move next, as far as the directory knows. A method that is called for the first
/// time may bring an earlier instant.
pub(crate) struct Steps {
    awaited_ms: AtomicI64,
    sooner: Notify,
}

impl Default for Steps {
    fn default() -> Self {
        Self { awaited_ms: AtomicI64::new(i64::MAX), sooner: Notify::new() }
    }
}

impl Steps {
    /// Wakes the directory if it awaits a later instant than the view's.
    pub(crate) fn look(&self, view: &View) {
        if view.next_change_ms().is_some_and(|at| at < self.awaited_ms.load(Relaxed)) {
            self.sooner.notify_one();
        }
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
            if self.apply(&shared) {
                built = Instant::now();
            }
        }
        for link in self.links.values() {
            link.leave();
        }
    }

    /// Waits for a change of any kind; `false` when the consumer is gone.
    async fn changed(&self, shared: &Shared) -> bool {
        loop {
            let due = shared.view.load().next_change_ms();
            shared.steps.awaited_ms.store(due.unwrap_or(i64::MAX), Relaxed);
            let left =
                due.map(|at| at.saturating_sub(shared.clock.wall_ms()).max(0).unsigned_abs());
            let step = async {
                match left {
                    Some(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.mailbox.changed.notified() => break,
                () = step => break,
                () = shared.steps.sooner.notified() => {}
            }
        }
        !self.mailbox.is_closed()
    }

    /// Does what has been asked for, all of it in one view where that is possible. Returns whether
    /// there was anything to do.
    fn apply(&mut self, shared: &Shared) -> bool {
        let inputs = self.mailbox.take();
        if inputs.is_empty() && !is_outdated(shared) {
            return false;
        }
        let list = inputs.list.map(|list| list.into_iter().map(Arc::new).collect::<Vec<_>>());
        let edited = inputs.edits.iter().fold(None::<Config>, |config, (edit, _)| {
            Some(edit.of(config.as_ref().unwrap_or(&self.config)))
        });
        let parts = usize::from(list.is_some()) + inputs.edits.len();
        let together = self.publish(shared, list.clone(), edited.map(Arc::new));
        if together.is_ok() || parts <= 1 {
            let edited = inputs.edits.into_iter().map(|(_, answer)| answer);
            tell(&together, inputs.listed.into_iter().chain(edited));
            return true;
        }
        // One of them is bad, and the others must not go down with it.
        if list.is_some() {
            tell(&self.publish(shared, list, None), inputs.listed);
        }
        for (edit, answer) in inputs.edits {
            let config = Arc::new(edit.of(&self.config));
            tell(&self.publish(shared, None, Some(config)), [answer]);
        }
        true
    }

    /// Makes and publishes the next view. After an error everything is as before.
    fn publish(
        &mut self,
        shared: &Shared,
        list: Option<Vec<Arc<Url>>>,
        config: Option<Arc<Config>>,
    ) -> Result<(), ConfigError> {
        let before = (self.list.clone(), self.config.clone());
        self.list = list.unwrap_or_else(|| before.0.clone());
        self.config = config.unwrap_or_else(|| before.1.clone());
        let previous = shared.view.load_full();
        let built = self.build(&shared.strategies, &*shared.clock, Some(&previous));
        let view = Arc::new(built.inspect_err(|_| (self.list, self.config) = before)?);
        tracing::debug!(
            service = %self.service.key,
            generation = view.generation(),
            endpoints = view.entries().len(),
            "new view"
        );
        shared.view.store(view.clone());
        // After the view is published, so that no new call meets a connection that is closing.
        self.disconnect(&view);
        Ok(())
    }
}

fn tell(result: &Result<(), ConfigError>, waiting: impl IntoIterator<Item = Answer>) {
    if let Err(error) = result {
        tracing::error!(%error, "refused, what is in force stays");
    }
    for answer in waiting {
        // Nobody waits any more: the change stands all the same.
        let _ = answer.send(result.clone());
    }
}

/// Whether health or time has moved on since the view in force was made.
fn is_outdated(shared: &Shared) -> bool {
    let view = shared.view.load();
    let due = view.next_change_ms().is_some_and(|at| at <= shared.clock.wall_ms());
    due || view.health_changed()
}
