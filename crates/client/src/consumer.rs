//! A consumer of one service: what calls share, and the handle that users hold.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwapOption;
use equipoise_core::balance::Strategies;
use equipoise_core::candidates::Candidate;
use equipoise_core::clock::Clock;
use equipoise_core::config::{Config, ConfigError, Place};
use equipoise_core::endpoint::{Endpoint, Service};
use equipoise_core::outcome::{Failure, FailureKind, Outcome};
use equipoise_core::port::EndpointSink;
use equipoise_core::report::Report;
use equipoise_core::ticket::Ticket;
use equipoise_core::url::Url;
use equipoise_core::view::View;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::budget::RetryBudget;
use crate::builder::{BuildError, ConsumerBuilder};
use crate::call::CallBuilder;
use crate::directory::{Inputs, Mailbox};
use crate::link::EndpointLink;
use crate::policy::{self, Policy};
use crate::snapshot::Snapshot;

/// What all calls of one consumer share.
pub(crate) struct Shared {
    pub(crate) view: Snapshot<View>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) strategies: Strategies,
    /// The one provider remembered by `sticky`, for all methods.
    pub(crate) sticky: ArcSwapOption<Endpoint>,
    pub(crate) background: Background,
    pub(crate) budget: Option<RetryBudget>,
    pub(crate) attachments: equipoise_core::attachments::Attachments,
    pub(crate) policies: HashMap<String, Arc<dyn Policy + 'static>>,
}

impl Shared {
    /// Counts an attempt in, waiting for a place where the number of attempts in flight is
    /// limited, at most until `until`.
    pub(crate) async fn admit(
        &self,
        candidate: &Candidate,
        until: Instant,
    ) -> Result<Admitted, Failure> {
        if candidate.actives() == 0 {
            return Ok(Admitted {
                ticket: Some(Ticket::start(candidate, &*self.clock)),
                wake: None,
            });
        }
        let link = candidate.endpoint().link().cloned();
        let link = || link.as_ref()?.as_any().downcast_ref::<EndpointLink>();
        loop {
            let Some(link) = link() else {
                return Err(Failure::not_sent(FailureKind::Invalid, "the endpoint has no link"));
            };
            // Enrolled before the count is read, so that a release in between is not missed.
            let mut released = std::pin::pin!(link.released.notified());
            released.as_mut().enable();
            if let Some(ticket) = Ticket::try_start(candidate, candidate.actives(), &*self.clock) {
                let wake = candidate.endpoint().clone();
                return Ok(Admitted { ticket: Some(ticket), wake: Some(wake) });
            }
            if tokio::time::timeout_at(until, released).await.is_err() {
                return Err(Failure::not_sent(
                    FailureKind::LimitExceeded,
                    format!(
                        "actives = {} attempts in flight at {}, none ended in time",
                        candidate.actives(),
                        candidate.endpoint().address()
                    ),
                ));
            }
        }
    }

    pub(crate) fn policy(&self, name: &str) -> Result<PolicyRef, ConfigError> {
        if let Some(own) = self.policies.get(name.trim()) {
            return Ok(PolicyRef::Own(own.clone()));
        }
        policy::find(name).map(PolicyRef::BuiltIn).ok_or_else(|| unknown_policy(name))
    }
}

/// A policy, built in or the user's.
pub(crate) enum PolicyRef {
    BuiltIn(&'static dyn Policy),
    Own(Arc<dyn Policy>),
}

impl PolicyRef {
    pub(crate) fn policy(&self) -> &dyn Policy {
        match self {
            PolicyRef::BuiltIn(policy) => *policy,
            PolicyRef::Own(policy) => &**policy,
        }
    }
}

pub(crate) fn unknown_policy(name: &str) -> ConfigError {
    let names: Vec<_> = policy::POLICIES.iter().map(|p| p.about().name).collect();
    ConfigError {
        key: "cluster".to_owned(),
        value: name.to_owned(),
        place: Place("configuration".to_owned()),
        reason: format!("no such cluster policy; there are {}", names.join(", ")),
    }
}

/// A ticket that wakes whoever waits for its place when it ends, however it ends.
pub(crate) struct Admitted {
    ticket: Option<Ticket>,
    wake: Option<Arc<Endpoint>>,
}

impl Admitted {
    pub(crate) fn finish(mut self, outcome: Outcome, clock: &dyn Clock) {
        if let Some(ticket) = self.ticket.take() {
            ticket.finish(outcome, clock);
        }
    }

    pub(crate) fn report(&self, text: &str, clock: &dyn Clock) {
        if let Some(ticket) = &self.ticket {
            ticket.report(text, clock);
        }
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        drop(self.ticket.take());
        let link = self.wake.as_ref().and_then(|endpoint| endpoint.link());
        if let Some(link) = link.and_then(|l| l.as_any().downcast_ref::<EndpointLink>()) {
            link.released.notify_waiters();
        }
    }
}

/// Work that outlives its call: bounded, and ended with the consumer.
#[derive(Default)]
pub(crate) struct Background(Mutex<JoinSet<()>>);

impl Background {
    /// Starts a task unless `most` are pending.
    pub(crate) fn spawn(
        &self,
        most: usize,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> bool {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        if tasks.len() >= most {
            return false;
        }
        tasks.spawn(work);
        true
    }

    fn end(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }

    /// How many are pending.
    pub(crate) fn pending(&self) -> usize {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.len()
    }
}

/// A consumer of one service. Cheap to clone; when the last clone is dropped its connections close
/// after the calls in flight, and its background work ends.
#[derive(Clone)]
pub struct Consumer(Arc<Handle>);

pub(crate) struct Handle {
    pub(crate) shared: Arc<Shared>,
    pub(crate) service: Arc<Service>,
    pub(crate) mailbox: Arc<Mailbox>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.background.end();
        self.mailbox.close();
    }
}

impl fmt::Debug for Consumer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer").field("service", &self.0.service.key).finish_non_exhaustive()
    }
}

impl Consumer {
    /// Starts a configuration.
    pub fn builder() -> ConsumerBuilder {
        ConsumerBuilder::new()
    }

    pub(crate) fn new(handle: Handle) -> Self {
        Self(Arc::new(handle))
    }

    /// A call of `method`, to be completed and sent.
    pub fn call(&self, method: &str) -> CallBuilder {
        CallBuilder::new(self.0.shared.clone(), method)
    }

    /// Replaces the list of providers. Returns once calls see it.
    ///
    /// # Errors
    /// An address that cannot be read, or whose protocol is not known; the list in force stays.
    pub async fn update<S: AsRef<str>>(
        &self,
        endpoints: impl IntoIterator<Item = S>,
    ) -> Result<(), BuildError> {
        let urls = endpoints
            .into_iter()
            .map(|text| Url::parse(text.as_ref()))
            .collect::<Result<Vec<_>, _>>()?;
        self.update_urls(urls).await
    }

    /// Replaces the list of providers. Returns once calls see it.
    ///
    /// # Errors
    /// A protocol that is not known; the list in force stays.
    pub async fn update_urls(&self, urls: Vec<Url>) -> Result<(), BuildError> {
        self.0.mailbox.check(&urls)?;
        self.tell(|inputs| inputs.list = Some(urls)).await
    }

    /// Changes one setting at run time (`method.key` reaches one method; an empty value takes the
    /// setting back). Returns once calls see it.
    ///
    /// # Errors
    /// A value that cannot be used; the configuration in force stays.
    pub async fn set(&self, key: &str, value: &str) -> Result<(), BuildError> {
        let mut config = Config::clone(self.0.shared.view.load().config());
        config.set(key, value, &Place("set at run time".to_owned()));
        self.configure(config).await
    }

    /// Replaces the configuration at run time. Returns once calls see it.
    ///
    /// # Errors
    /// A value that cannot be used; the configuration in force stays.
    pub async fn configure(&self, config: Config) -> Result<(), BuildError> {
        check_policies(&self.0.shared, &config)?;
        self.tell(|inputs| inputs.config = Some(Arc::new(config))).await
    }

    async fn tell(&self, change: impl FnOnce(&mut Inputs)) -> Result<(), BuildError> {
        let (done, answer) = oneshot::channel();
        self.0.mailbox.put(|inputs| {
            change(inputs);
            inputs.waiting.push(done);
        });
        match answer.await {
            Ok(result) => result.map_err(BuildError::from),
            Err(_) => Err(BuildError::Closed),
        }
    }

    /// Where a registry puts its lists.
    pub fn sink(&self) -> Arc<dyn EndpointSink> {
        self.0.mailbox.clone()
    }

    /// Who gets how much and why, now.
    pub fn report(&self) -> Report {
        Report::of(&self.0.shared.view.load(), &*self.0.shared.clock)
    }

    /// Background runs of `failback` that are pending.
    pub fn pending_background(&self) -> usize {
        self.0.shared.background.pending()
    }

    /// Generation of the view in force; grows with every change.
    pub fn generation(&self) -> u64 {
        self.0.shared.view.load().generation()
    }
}

pub(crate) fn check_policies(shared: &Shared, config: &Config) -> Result<(), ConfigError> {
    let levels = config.methods.values().chain([&config.service, &config.global]);
    for setting in levels.filter_map(|level| level.find("cluster")) {
        shared.policy(&setting.value).map_err(|e| setting.error("cluster", e.reason))?;
    }
    Ok(())
}
