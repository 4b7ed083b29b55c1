//! Which services there are, and which of them a request means.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::server::call::Handler;
use crate::server::terms::Terms;
use crate::tri::server::stream::StreamHandler;
use equipoise_core::service::ServiceKey;

/// Who answers.
#[derive(Clone)]
pub(crate) enum Answers {
    /// A user's service.
    Unary(Arc<dyn Handler>),
    /// A service with streams.
    Stream(Arc<dyn StreamHandler>),
}

/// One registered service.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) key: Arc<ServiceKey>,
    pub(crate) answers: Answers,
    /// What a call must bring, and how many there may be.
    pub(crate) terms: Arc<Terms>,
}

/// Why there is nobody to answer a call that names its service exactly.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Missing {
    /// No such interface.
    Interface,
    /// The interface is there, the version is not.
    Version,
    /// The version is there, in other groups.
    Group,
}

/// All registered services, by interface.
#[derive(Clone, Debug, Default)]
pub(crate) struct Services(HashMap<String, Vec<Entry>>);

impl Services {
    /// Adds a service; one with the same key is replaced.
    pub(crate) fn add(&mut self, key: ServiceKey, answers: Answers, terms: Terms) {
        let entries = self.0.entry(key.interface.clone()).or_default();
        entries.retain(|entry| *entry.key != key);
        entries.push(Entry { key: Arc::new(key), answers, terms: Arc::new(terms) });
    }

    /// Adds a service of our own, unless the user has one by that name.
    pub(crate) fn add_builtin(&mut self, name: &str, service: Arc<dyn StreamHandler>) {
        if !self.0.contains_key(name) {
            self.add(ServiceKey::new(name), Answers::Stream(service), Terms::default());
        }
    }

    /// Names of all interfaces, sorted.
    pub(crate) fn interfaces(&self) -> Vec<String> {
        let mut names: Vec<String> = self.0.keys().cloned().collect();
        names.sort_unstable();
        names
    }

    /// The service that a request means: the one with exactly its group and version, else one
    /// without either (it serves everybody), else the first if the request names neither.
    pub(crate) fn find(&self, service: &str, group: &str, version: &str) -> Option<&Entry> {
        let entries = self.entries(service)?;
        let with = |group: &str, version: &str| {
            entries.iter().find(|entry| entry.key.group == group && entry.key.version == version)
        };
        with(group, version)
            .or_else(|| with("", ""))
            .or_else(|| entries.first().filter(|_| group.is_empty() && version.is_empty()))
    }

    /// The user's service with exactly this group and version, as Dubbo's own protocol has it.
    pub(crate) fn find_exact(
        &self,
        service: &str,
        group: &str,
        version: &str,
    ) -> Result<(&Entry, &Arc<dyn Handler>), Missing> {
        let mut missing = Missing::Interface;
        for entry in self.entries(service).unwrap_or_default() {
            let Answers::Unary(handler) = &entry.answers else { continue };
            match (entry.key.version == version, entry.key.group == group) {
                (true, true) => return Ok((entry, handler)),
                (true, false) => missing = Missing::Group,
                (false, _) if missing == Missing::Interface => missing = Missing::Version,
                (false, _) => {}
            }
        }
        Err(missing)
    }

    /// The user's services, sorted: all of them, or those of one interface.
    pub(crate) fn keys(&self, interface: Option<&str>) -> Vec<String> {
        let entries = self.0.values().flatten();
        let named =
            entries.filter(|entry| interface.is_none_or(|name| entry.key.interface == name));
        let unary = named.filter(|entry| matches!(entry.answers, Answers::Unary(_)));
        let mut keys: Vec<String> = unary.map(|entry| entry.key.to_string()).collect();
        keys.sort_unstable();
        keys
    }

    fn entries(&self, service: &str) -> Option<&[Entry]> {
        let entries = self.0.get(service).or_else(|| {
            // A context path may stand in front of the interface.
            self.0.get(service.rsplit('/').next()?)
        });
        entries.map(Vec::as_slice)
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.key)
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::server::call::CallContext;
    use crate::status::Status;

    fn found(services: &Services, path: &str, group: &str, version: &str) -> Option<String> {
        services.find(path, group, version).map(|entry| entry.key.to_string())
    }

    fn services(keys: &[ServiceKey]) -> Services {
        let mut services = Services::default();
        for key in keys {
            let handler = |call: CallContext| async move {
                Err(Status::unknown_method(&call.service.interface, call.method()))
            };
            services.add(key.clone(), Answers::Unary(Arc::new(handler)), Terms::default());
        }
        services
    }

    #[test]
    fn a_service_without_version_and_group_serves_everybody() {
        let services = services(&[ServiceKey::new("a.B"), ServiceKey::new("a.B").version("2")]);
        assert_eq!(found(&services, "a.B", "", "").as_deref(), Some("a.B"));
        assert_eq!(found(&services, "a.B", "", "2").as_deref(), Some("a.B:2"));
        assert_eq!(found(&services, "a.B", "g", "9").as_deref(), Some("a.B"));
        assert_eq!(found(&services, "ctx/a.B", "", "").as_deref(), Some("a.B"));
        assert_eq!(found(&services, "a.C", "", ""), None);
    }

    #[test]
    fn a_service_with_a_version_does_not_answer_for_another() {
        let services = services(&[ServiceKey::new("a.B").version("1").group("g")]);
        assert_eq!(found(&services, "a.B", "", "").as_deref(), Some("g/a.B:1"));
        assert_eq!(found(&services, "a.B", "g", "1").as_deref(), Some("g/a.B:1"));
        assert_eq!(found(&services, "a.B", "", "2"), None);
        assert_eq!(found(&services, "a.B", "h", ""), None);
    }

    #[test]
    fn case_131_an_exact_look_up_takes_no_other_group_or_version() {
        let key = || ServiceKey::new("a.B");
        let services = services(&[
            key().group("g1").version("1.0"),
            key().group("g1").version("2.0"),
            key().group("g2").version("1.0"),
            key(),
        ]);
        let exact = |path: &str, group: &str, version: &str| {
            services.find_exact(path, group, version).map(|(entry, _)| entry.key.to_string())
        };
        assert_eq!(exact("a.B", "g1", "1.0").as_deref(), Ok("g1/a.B:1.0"));
        assert_eq!(exact("ctx/a.B", "", "").as_deref(), Ok("a.B"));
        assert_eq!(exact("a.B", "g", "1.0"), Err(Missing::Group));
        assert_eq!(exact("a.B", "g1", "3.0"), Err(Missing::Version));
        assert_eq!(exact("a.B", "g1", ""), Err(Missing::Group));
        assert_eq!(exact("a.C", "", ""), Err(Missing::Interface));
        assert_eq!(services.keys(Some("a.B")).len(), 4);
        assert_eq!(services.keys(Some("a.C")), [""; 0]);
    }
}
