//! A consumer of one service: what calls share, and the handle that users hold.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwapOption;
use equipoise_core::balance::Strategies;
use equipoise_core::call::Call;
use equipoise_core::candidates::Candidates;
use equipoise_core::clock::Clock;
use equipoise_core::config::{Config, ConfigError, Place};
use equipoise_core::endpoint::{Endpoint, Service};
use equipoise_core::port::EndpointSink;
use equipoise_core::report::Report;
use equipoise_core::url::Url;
use equipoise_core::view::View;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::budget::RetryBudget;
use crate::builder::{BuildError, ConsumerBuilder};
use crate::call::CallBuilder;
use crate::directory::Steps;
use crate::intercept::Interceptor;
use crate::mailbox::{Answer, Edit, Inputs, Mailbox};
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
    pub(crate) steps: Steps,
    pub(crate) budget: Option<RetryBudget>,
    pub(crate) attachments: equipoise_core::attachments::Attachments,
    pub(crate) policies: HashMap<String, Arc<dyn Policy + 'static>>,
    /// Around every call and attempt, the outermost first.
    pub(crate) interceptors: Box<[Arc<dyn Interceptor>]>,
}

impl Shared {
    /// The prepared candidates of a call. If they are the first whose weights move with time, the
    /// directory is told when.
    pub(crate) fn candidates<'v>(&self, view: &'v View, call: &Call<'_>) -> &'v Arc<Candidates> {
        let candidates = view.candidates(call, &*self.clock);
        self.steps.look(view);
        candidates
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

/// Work that outlives its call: bounded, and ended with the consumer, after which nothing starts.
pub(crate) struct Background(Mutex<Option<JoinSet<()>>>);

impl Default for Background {
    fn default() -> Self {
        Self(Mutex::new(Some(JoinSet::new())))
    }
}

impl Background {
    /// Starts a task unless `most` are pending.
    pub(crate) fn spawn(
        &self,
        most: usize,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> bool {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(tasks) = tasks.as_mut() else { return false };
        while tasks.try_join_next().is_some() {}
        if tasks.len() >= most {
            return false;
        }
        tasks.spawn(work);
        true
    }

    fn end(&self) {
        // Dropped outside of the lock: the tasks hold what this belongs to.
        let tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(tasks);
    }

    /// How many are pending.
    pub(crate) fn pending(&self) -> usize {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(tasks) = tasks.as_mut() else { return 0 };
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
        self.tell(|inputs, answer| {
            inputs.list = Some(urls);
            inputs.listed.push(answer);
        })
        .await
    }

    /// Changes one setting at run time (`method.key` reaches one method; an empty value takes the
    /// setting back). Returns once calls see it.
    ///
    /// # Errors
    /// A value that cannot be used; the configuration in force stays.
    pub async fn set(&self, key: &str, value: &str) -> Result<(), BuildError> {
        self.edit(Edit::Set(key.to_owned(), value.to_owned())).await
    }

    /// Replaces the configuration at run time. Returns once calls see it.
    ///
    /// # Errors
    /// A value that cannot be used; the configuration in force stays.
    pub async fn configure(&self, config: Config) -> Result<(), BuildError> {
        self.edit(Edit::Whole(config)).await
    }

    async fn edit(&self, edit: Edit) -> Result<(), BuildError> {
        let shared = &self.0.shared;
        check_policies(shared, &edit.of(shared.view.load().config()))?;
        self.tell(|inputs, answer| inputs.edits.push((edit, answer))).await
    }

    async fn tell(&self, change: impl FnOnce(&mut Inputs, Answer)) -> Result<(), BuildError> {
        let (done, answer) = oneshot::channel();
        self.0.mailbox.put(|inputs| change(inputs, done));
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
