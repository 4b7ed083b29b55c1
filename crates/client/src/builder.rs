//! Puts a consumer together. The only place that knows all its parts.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use equipoise_core::attachments::Attachments;
use equipoise_core::balance::{NameTaken, Strategies, Strategy};
use equipoise_core::clock::Clock;
use equipoise_core::config::{Config, ConfigError, Place};
use equipoise_core::endpoint::Service;
use equipoise_core::port::Protocol;
use equipoise_core::service::ServiceKey;
use equipoise_core::url::{Url, UrlError};

use crate::backoff::Backoff;
use crate::budget::RetryBudget;
use crate::consumer::{Background, Consumer, Handle, Shared, check_policies};
use crate::directory::{Directory, Steps};
use crate::intercept::Interceptor;
use crate::mailbox::{Mailbox, Protocols};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::time::TokioClock;

/// Why a consumer could not be built or changed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BuildError {
    /// A value that cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An address that cannot be read.
    #[error(transparent)]
    Address(#[from] UrlError),
    /// An address of a protocol that was not given to the builder.
    #[error("{address}: no protocol {protocol:?}; there are {known}")]
    UnknownProtocol {
        /// `host:port`.
        address: String,
        /// Scheme of the address.
        protocol: String,
        /// Schemes that are known.
        known: String,
    },
    /// A strategy under a name that is taken.
    #[error(transparent)]
    Name(#[from] NameTaken),
    /// No protocol was given.
    #[error("a consumer needs at least one protocol")]
    NoProtocol,
    /// Built outside of a tokio runtime.
    #[error("a consumer must be built inside a tokio runtime")]
    NoRuntime,
    /// The consumer is gone.
    #[error("the consumer is closed")]
    Closed,
}

/// Collects what a consumer is made of. Errors are kept until [`ConsumerBuilder::build`].
#[must_use = "nothing happens until it is built"]
pub struct ConsumerBuilder {
    service: ServiceKey,
    config: Config,
    list: Vec<Url>,
    strategies: Strategies,
    policies: HashMap<String, Arc<dyn Policy>>,
    protocols: Vec<Arc<dyn Protocol>>,
    clock: Option<Arc<dyn Clock>>,
    backoff: Backoff,
    budget: Option<RetryBudget>,
    attachments: Attachments,
    interceptors: Vec<Arc<dyn Interceptor>>,
    error: Option<BuildError>,
}

impl fmt::Debug for ConsumerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsumerBuilder").field("service", &self.service).finish_non_exhaustive()
    }
}

impl ConsumerBuilder {
    pub(crate) fn new() -> Self {
        Self {
            service: ServiceKey::default(),
            config: Config::new(),
            list: Vec::new(),
            strategies: Strategies::built_in(),
            policies: HashMap::new(),
            protocols: Vec::new(),
            clock: None,
            backoff: Backoff::default(),
            budget: None,
            attachments: Attachments::new(),
            interceptors: Vec::new(),
            error: None,
        }
    }

    /// Interface that is called, for example `com.acme.Stock`.
    pub fn service(mut self, interface: impl Into<String>) -> Self {
        self.service.interface = interface.into();
        self
    }

    /// Group of the service.
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.service.group = group.into();
        self
    }

    /// Version of the service.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.service.version = version.into();
        self
    }

    /// Providers, as URLs with their parameters; no registry is needed.
    pub fn endpoints<S: AsRef<str>>(mut self, endpoints: impl IntoIterator<Item = S>) -> Self {
        for text in endpoints {
            match Url::parse(text.as_ref()) {
                Ok(url) => self.list.push(url),
                Err(error) => return self.fail(error.into()),
            }
        }
        self
    }

    /// A protocol. The first one serves addresses without a scheme.
    pub fn protocol(mut self, protocol: impl Protocol) -> Self {
        self.protocols.push(Arc::new(protocol));
        self
    }

    /// A protocol that is shared with other consumers.
    pub fn shared_protocol(mut self, protocol: Arc<dyn Protocol>) -> Self {
        self.protocols.push(protocol);
        self
    }

    /// Any setting, under its key in Dubbo URLs; `method.key` reaches one method.
    pub fn set(mut self, key: &str, value: impl Into<String>) -> Self {
        self.config.set(key, value, &Place(format!("builder, {key}")));
        self
    }

    /// A whole configuration, with the places its values came from.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Strategy, by name.
    pub fn strategy(self, name: &str) -> Self {
        self.set("loadbalance", name)
    }

    /// Cluster policy, by name.
    pub fn policy(self, name: &str) -> Self {
        self.set("cluster", name)
    }

    /// Attempts after the first.
    pub fn retries(self, retries: u32) -> Self {
        self.set("retries", retries.to_string())
    }

    /// Time for one attempt.
    pub fn timeout(self, time: Duration) -> Self {
        self.set("timeout", in_nanos(time))
    }

    /// Time for all attempts of a call together.
    pub fn deadline(self, time: Duration) -> Self {
        self.set("deadline", in_nanos(time))
    }

    /// Keep to one provider while it is available.
    pub fn sticky(self, sticky: bool) -> Self {
        self.set("sticky", sticky.to_string())
    }

    /// Settings of one method.
    pub fn method(
        mut self,
        name: &str,
        settings: impl FnOnce(MethodBuilder<'_>) -> MethodBuilder<'_>,
    ) -> Self {
        settings(MethodBuilder { name, config: &mut self.config });
        self
    }

    /// One of the user's own strategies, under a name that configuration can use.
    pub fn register(mut self, name: &str, strategy: impl Strategy) -> Self {
        match self.strategies.register(name, Arc::new(strategy)) {
            Ok(()) => self,
            Err(error) => self.fail(error.into()),
        }
    }

    /// One of the user's own cluster policies, under a name that configuration can use. The names
    /// of built-in ones keep their meaning.
    pub fn register_policy(mut self, name: &str, policy: impl Policy + 'static) -> Self {
        if crate::policy::find(name).is_some() {
            return self.fail(BuildError::Name(NameTaken(name.to_owned())));
        }
        self.policies.insert(name.to_owned(), Arc::new(policy));
        self
    }

    /// Attachments of every call.
    pub fn attachment(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.attachments.set(key, value);
        self
    }

    /// Code around every call and attempt. The first one given is the outermost.
    pub fn interceptor(mut self, interceptor: impl Interceptor) -> Self {
        self.interceptors.push(Arc::new(interceptor));
        self
    }

    /// Retries for at most this share (0 to 1) of calls, and ten at once in a quiet time.
    pub fn retry_budget(mut self, share: f64) -> Self {
        self.budget = Some(RetryBudget::new(share, 10));
        self
    }

    /// Time between attempts to connect.
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// The clock; tokio's where none is given.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Builds the consumer and starts to connect. Does not wait for connections: the first calls
    /// do.
    ///
    /// # Errors
    /// The first thing that was wrong, with key, value and place; no protocol; no tokio runtime.
    pub fn build(self) -> Result<Consumer, BuildError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if self.protocols.is_empty() {
            return Err(BuildError::NoProtocol);
        }
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(BuildError::NoRuntime);
        }
        let mailbox = Mailbox::new(Protocols(self.protocols));
        mailbox.check(&self.list)?;
        let service = Service::new(self.service);
        let clock = self.clock.unwrap_or_else(|| Arc::new(TokioClock::new()));
        let mut directory = Directory {
            service: service.clone(),
            list: self.list.into_iter().map(Arc::new).collect(),
            config: Arc::new(self.config),
            mailbox: mailbox.clone(),
            backoff: self.backoff,
            links: HashMap::new(),
        };
        let view = directory.build(&self.strategies, &*clock, None)?;
        let config = view.config().clone();
        let shared = Arc::new(Shared {
            view: Snapshot::new(view),
            clock,
            strategies: self.strategies,
            sticky: ArcSwapOption::empty(),
            background: Background::default(),
            steps: Steps::default(),
            budget: self.budget,
            attachments: self.attachments,
            policies: self.policies,
            interceptors: self.interceptors.into(),
        });
        // The consumer first: should the check fail, dropping it ends what has been started.
        let consumer = Consumer::new(Handle { shared: shared.clone(), service, mailbox });
        tokio::spawn(directory.run(shared.clone()));
        check_policies(&shared, &config)?;
        Ok(consumer)
    }

    fn fail(mut self, error: BuildError) -> Self {
        self.error.get_or_insert(error);
        self
    }
}

/// Settings of one method.
#[derive(Debug)]
pub struct MethodBuilder<'a> {
    name: &'a str,
    config: &'a mut Config,
}

impl MethodBuilder<'_> {
    /// Any setting, under its key in Dubbo URLs.
    pub fn set(self, key: &str, value: impl Into<String>) -> Self {
        let place = Place(format!("builder, {}.{key}", self.name));
        self.config.set_method(self.name, key, value, &place);
        self
    }

    /// Strategy, by name.
    pub fn strategy(self, name: &str) -> Self {
        self.set("loadbalance", name)
    }

    /// Cluster policy, by name.
    pub fn policy(self, name: &str) -> Self {
        self.set("cluster", name)
    }

    /// Attempts after the first.
    pub fn retries(self, retries: u32) -> Self {
        self.set("retries", retries.to_string())
    }

    /// Time for one attempt.
    pub fn timeout(self, time: Duration) -> Self {
        self.set("timeout", in_nanos(time))
    }
}

fn in_nanos(time: Duration) -> String {
    format!("{}ns", time.as_nanos())
}
