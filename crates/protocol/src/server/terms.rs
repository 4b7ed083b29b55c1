//! What a service asks of its callers and how many calls it takes: [`ServiceOptions`] as the user
//! writes them, [`Terms`] as calls meet them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::status::{Status, code};

/// Methods with a count of their own; further names share one.
const MOST_METHODS: usize = 256;

/// Options of one service, for [`Server::service_with`](crate::Server::service_with).
#[derive(Clone, Debug, Default)]
pub struct ServiceOptions {
    token: Option<String>,
    executes: Option<usize>,
    methods: HashMap<String, usize>,
}

impl ServiceOptions {
    /// Open to everybody, without limit.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only calls that bring this token (attachment `token`) are answered. Default: the server's
    /// token, if it has one.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Calls at a time of each method (Dubbo's `executes`); 0 is no limit. Further ones are refused
    /// before they run: status 100 over `dubbo`, 8 over `tri`. Default no limit.
    pub fn executes(mut self, calls: usize) -> Self {
        self.executes = Some(calls);
        self
    }

    /// The same for one method, whatever [`executes`](Self::executes) says.
    pub fn method_executes(mut self, method: impl Into<String>, calls: usize) -> Self {
        self.methods.insert(method.into(), calls);
        self
    }
}

/// The options of a service in force, with its counts.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    token: Option<String>,
    limits: Option<Limits>,
}

#[derive(Debug)]
struct Limits {
    executes: usize,
    methods: HashMap<String, usize>,
    running: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// Why a call is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum Refused {
    /// It does not bring the service's token.
    #[error("the token is missing or wrong")]
    Token,
    /// As many calls of the method run as may.
    #[error("{0} calls of the method run already (option executes)")]
    Executes(usize),
}

impl From<Refused> for Status {
    fn from(refused: Refused) -> Self {
        let code = match refused {
            Refused::Token => code::PERMISSION_DENIED,
            Refused::Executes(_) => code::RESOURCE_EXHAUSTED,
        };
        Status::new(code, refused.to_string())
    }
}

impl Terms {
    /// The terms of a service with these options on a server with this token.
    pub(crate) fn new(options: ServiceOptions, token: Option<&str>) -> Self {
        let ServiceOptions { token: own, executes, methods } = options;
        let limits = (executes.is_some() || !methods.is_empty()).then(|| Limits {
            executes: executes.unwrap_or(0),
            methods,
            running: Mutex::default(),
        });
        Self { token: own.or_else(|| token.map(str::to_owned)), limits }
    }

    /// Lets a call in that brings `token`. It counts until the permit is dropped.
    pub(crate) fn admit(
        &self,
        method: &str,
        token: Option<&str>,
    ) -> Result<Option<OwnedSemaphorePermit>, Refused> {
        if let Some(own) = &self.token
            && !token.is_some_and(|token| same(own.as_bytes(), token.as_bytes()))
        {
            return Err(Refused::Token);
        }
        match &self.limits {
            None => Ok(None),
            Some(limits) => limits.enter(method),
        }
    }
}

impl Limits {
    fn enter(&self, method: &str) -> Result<Option<OwnedSemaphorePermit>, Refused> {
        let limit = self.methods.get(method).copied().unwrap_or(self.executes);
        if limit == 0 {
            return Ok(None);
        }
        let entered = self.count(method, limit).try_acquire_owned();
        entered.map(Some).map_err(|_| Refused::Executes(limit))
    }

    fn count(&self, method: &str, limit: usize) -> Arc<Semaphore> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = running.get(method) {
            return count.clone();
        }
        // Names come from callers: what they invent must not take memory without end.
        let configured = self.methods.contains_key(method);
        let name = if configured || running.len() < MOST_METHODS { method } else { "*" };
        let fresh = || Arc::new(Semaphore::new(limit.min(Semaphore::MAX_PERMITS)));
        running.entry(name.to_owned()).or_insert_with(fresh).clone()
    }
}

/// Whether both are the same, in a time that does not tell where they differ.
fn same(ours: &[u8], theirs: &[u8]) -> bool {
    let different = ours.iter().zip(theirs).fold(0, |different, (a, b)| different | (a ^ b));
    ours.len() == theirs.len() && different == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_asked_of_every_call() {
        let terms = Terms::new(ServiceOptions::new().token("own"), Some("server"));
        assert!(terms.admit("m", Some("own")).unwrap().is_none());
        for wrong in [None, Some(""), Some("server"), Some("owm"), Some("owner")] {
            assert_eq!(terms.admit("m", wrong).unwrap_err(), Refused::Token, "{wrong:?}");
        }
        let terms = Terms::new(ServiceOptions::new(), Some("server"));
        assert!(terms.admit("m", Some("server")).is_ok());
        assert_eq!(Status::from(terms.admit("m", None).unwrap_err()).code, code::PERMISSION_DENIED);
        assert!(Terms::default().admit("m", Some("anything")).is_ok());
    }

    #[test]
    fn each_method_has_its_own_count() {
        let options = ServiceOptions::new().executes(2).method_executes("one", 1);
        let terms = Terms::new(options.method_executes("free", 0), None);
        let admit = |method: &str| terms.admit(method, None);
        let held = [admit("two"), admit("two"), admit("one")].map(Result::unwrap);
        assert_eq!(admit("two").unwrap_err(), Refused::Executes(2));
        assert_eq!(admit("one").unwrap_err(), Refused::Executes(1));
        assert!(admit("free").unwrap().is_none());
        assert!(admit("other").is_ok());
        drop(held);
        assert!(admit("one").is_ok());
    }

    #[test]
    fn names_that_callers_invent_share_a_count() {
        let terms = Terms::new(ServiceOptions::new().executes(1).method_executes("real", 1), None);
        let held: Vec<_> =
            (0..MOST_METHODS).map(|n| terms.admit(&n.to_string(), None).unwrap()).collect();
        let shared = terms.admit("more", None).unwrap();
        assert_eq!(terms.admit("and more", None).unwrap_err(), Refused::Executes(1));
        assert!(terms.admit("real", None).is_ok());
        drop((held, shared));
        let limits = terms.limits.unwrap();
        assert_eq!(limits.running.lock().unwrap().len(), MOST_METHODS + 2);
    }
}
