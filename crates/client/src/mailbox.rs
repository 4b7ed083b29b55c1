//! Where changes of a consumer are left for its directory: lists from users and registries, settings
//! at run time. Refuses what names a protocol that nobody speaks here.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use equipoise_core::config::{Config, ConfigError, Place};
use equipoise_core::port::{EndpointSink, Protocol};
use equipoise_core::url::Url;
use tokio::sync::{Notify, oneshot};

use crate::builder::BuildError;

/// Tells who waits how a change ended.
pub(crate) type Answer = oneshot::Sender<Result<(), ConfigError>>;

/// A change of settings; made of whatever is in force when its turn comes, so that none undoes
/// another.
pub(crate) enum Edit {
    /// One key and its value.
    Set(String, String),
    /// Everything.
    Whole(Config),
}

impl Edit {
    /// What it makes of a configuration.
    pub(crate) fn of(&self, config: &Config) -> Config {
        match self {
            Edit::Set(key, value) => {
                let mut config = config.clone();
                config.set(key, value, &Place("set at run time".to_owned()));
                config
            }
            Edit::Whole(config) => config.clone(),
        }
    }
}

/// What has been asked for and not yet been done. Of several lists the newest counts.
#[derive(Default)]
pub(crate) struct Inputs {
    pub(crate) list: Option<Vec<Url>>,
    pub(crate) listed: Vec<Answer>,
    pub(crate) edits: Vec<(Edit, Answer)>,
}

impl Inputs {
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_none() && self.edits.is_empty()
    }
}

/// Where changes are left for the directory.
pub(crate) struct Mailbox {
    inputs: Mutex<Inputs>,
    pub(crate) changed: Arc<Notify>,
    closed: AtomicBool,
    pub(crate) protocols: Protocols,
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

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Relaxed)
    }

    pub(crate) fn take(&self) -> Inputs {
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
