//! From a list of providers to the entries of a view: who is listed, once each, and as the same
//! endpoints as before. Pure but for the endpoints that it makes.

use std::collections::HashMap;
use std::sync::Arc;

use crate::endpoint::Service;
use crate::url::Url;
use crate::view::Entry;

/// The list without disabled providers and without repetitions: the first place counts, and the
/// last parameters.
pub(crate) fn listed(list: &[Arc<Url>]) -> Vec<Arc<Url>> {
    let mut urls: Vec<Arc<Url>> = Vec::with_capacity(list.len());
    let mut places = HashMap::with_capacity(list.len());
    for url in list.iter().filter(|url| is_enabled(url)) {
        match places.get(&identity(url)).and_then(|place: &usize| urls.get_mut(*place)) {
            Some(earlier) => *earlier = url.clone(),
            None => {
                places.insert(identity(url), urls.len());
                urls.push(url.clone());
            }
        }
    }
    urls
}

/// The entries of these URLs. `previous` is the view in force's: most of it stays in place, and is
/// found there without a look into the table of all endpoints.
pub(crate) fn entries(
    urls: &[Arc<Url>],
    service: &Arc<Service>,
    previous: &[Entry],
) -> Arc<[Entry]> {
    let mut walk = Walk::new(previous);
    let entry = |url: &Arc<Url>| {
        let endpoint = match walk.find(|before| identity(before.url()) == identity(url)) {
            Some(before) => before.endpoint().clone(),
            None => service.endpoint(&url.protocol, &url.address()),
        };
        Entry::new(endpoint, url.clone())
    };
    urls.iter().map(entry).collect()
}

/// What makes two URLs the same endpoint of a service.
fn identity(url: &Url) -> (&str, &str, u16) {
    (&url.protocol, &url.host, url.port)
}

/// `disabled` decides; `enabled` is read only where it is absent.
fn is_enabled(url: &Url) -> bool {
    let says = |key| url.param(key).map(|v| v.eq_ignore_ascii_case("true"));
    match says("disabled") {
        Some(disabled) => !disabled,
        None => says("enabled").unwrap_or(true),
    }
}

/// Walks an old list while a new one is walked that is nearly the same: finds what stayed where it
/// was, also behind one that joined or left.
pub(crate) struct Walk<'a, T> {
    before: &'a [T],
}

impl<'a, T> Walk<'a, T> {
    pub(crate) fn new(before: &'a [T]) -> Self {
        Self { before }
    }

    /// The old one that is the same as the next new one, if it is near.
    pub(crate) fn find(&mut self, same: impl Fn(&T) -> bool) -> Option<&'a T> {
        let near = self.before.iter().take(2).position(same)?;
        let (found, rest) = self.before.get(near..)?.split_first()?;
        self.before = rest;
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found of `before` for each of `after`.
    fn walked<'a>(before: &'a [&'a str], after: &[&str]) -> Vec<Option<&'a str>> {
        let mut walk = Walk::new(before);
        after.iter().map(|new| walk.find(|old| old == new).copied()).collect()
    }

    #[test]
    fn one_that_joins_or_leaves_is_stepped_over() {
        let before = ["a", "b", "c", "d"];
        let all = before.map(Some);
        assert_eq!(walked(&before, &before), all);
        assert_eq!(walked(&before, &["a", "c", "d"]), [all[0], all[2], all[3]]);
        assert_eq!(walked(&before, &["b", "c", "d"]), [all[1], all[2], all[3]]);
        assert_eq!(walked(&before, &["a", "x", "b", "c"]), [all[0], None, all[1], all[2]]);
        assert_eq!(walked(&before, &["d"]), [None]);
        assert_eq!(walked(&[], &["a"]), [None]);
    }

    #[test]
    fn an_endpoint_stays_the_same_however_the_list_changes() {
        let service = Service::new(crate::service::ServiceKey::new("s"));
        let urls = |texts: &[&str]| -> Vec<Arc<Url>> {
            texts.iter().map(|text| Arc::new(Url::parse(text).unwrap())).collect()
        };
        let first = entries(&urls(&["a:1", "b:1", "tri://b:1", "c:1"]), &service, &[]);
        let second = entries(&urls(&["c:1", "tri://b:1", "x:1", "a:1"]), &service, &first);
        for (new, old) in [(0, 3), (1, 2), (3, 0)] {
            assert!(Arc::ptr_eq(second[new].endpoint(), first[old].endpoint()), "{new}");
        }
        assert_eq!(service.live_endpoints(), 5);
    }
}
