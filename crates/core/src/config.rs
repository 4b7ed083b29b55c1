//! Configuration as written: text under the keys of Dubbo URLs, at three levels (global, service,
//! method), each value with the place it came from. [`Plan`](crate::plan::Plan) is what it means.
//! Pure data; reads no file and no environment.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// Every key that this library reads, with its default and what it means.
#[rustfmt::skip] // one key, one line
pub const KEYS: &[(&str, &str, &str)] = &[
    ("loadbalance", "random", "strategy, by name"),
    ("cluster", "failover", "cluster policy, by name"),
    ("retries", "2", "attempts after the first (failback: background runs, 3)"),
    ("timeout", "1000", "time for one attempt, ms or with a unit"),
    ("deadline", "none", "time for all attempts of a call together, ms or with a unit"),
    ("sticky", "false", "keep to one provider while it is available"),
    ("actives", "0", "attempts in flight per provider and method; 0 is unlimited"),
    ("forks", "2", "parallel attempts of forking; 0 or more than there are: all"),
    ("failbacktasks", "100", "pending background runs of failback"),
    ("broadcast.fail.percent", "100", "share of failures at which broadcast stops early"),
    ("hash.nodes", "160", "points per provider on the ring, at least 4"),
    ("hash.arguments", "0", "indexes of the arguments that make the key"),
    ("adaptive.compat", "none", "`java`: the reference's arithmetic, quirks included"),
    ("dubbo.tag", "", "tag of the request"),
    ("dubbo.force.tag", "false", "no fallback to providers without a tag"),
    ("weight", "100", "share of a provider; set by providers, rules, or here for all"),
    ("warmup", "600000", "time to full weight after a provider's start, ms or with a unit"),
];

/// Where a value was set, for error messages.
#[derive(Clone, Debug, Eq, PartialEq, Hash)]
pub struct Place(pub String);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A value that cannot be used. Names the key, the value and the place.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{key} = {value:?} ({place}): {reason}")]
pub struct ConfigError {
    /// The key.
    pub key: String,
    /// The value as written.
    pub value: String,
    /// Where it was written.
    pub place: Place,
    /// What is wrong with it.
    pub reason: String,
}

/// One written value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Setting {
    /// The text.
    pub value: String,
    /// Where it was written.
    pub place: Place,
}

impl Setting {
    /// An error about this value.
    pub fn error(&self, key: &str, reason: impl Into<String>) -> ConfigError {
        ConfigError {
            key: key.to_owned(),
            value: self.value.clone(),
            place: self.place.clone(),
            reason: reason.into(),
        }
    }
}

/// The values of one level.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Settings(BTreeMap<String, Setting>);

impl Settings {
    /// Sets a value; an empty one counts as not set. Spellings of dubbo-go and of configuration
    /// files are folded into the URL's.
    pub fn set(&mut self, key: &str, value: impl Into<String>, place: &Place) {
        let value = value.into();
        if key == "virtual.nodes" {
            tracing::warn!(%value, %place, "`virtual.nodes` is not a key of Dubbo: read as `hash.nodes`");
        }
        let key = canonical_key(key);
        if value.is_empty() {
            self.0.remove(key);
        } else {
            self.0.insert(key.to_owned(), Setting { value, place: place.clone() });
        }
    }

    /// The value of a key.
    pub fn find(&self, key: &str) -> Option<&Setting> {
        self.0.get(key)
    }

    /// All values, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Setting)> {
        self.0.iter().map(|(k, v)| (k.as_str(), v))
    }
}

/// The configuration of one consumer of one service, as written.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Config {
    /// For every service.
    pub global: Settings,
    /// For this service.
    pub service: Settings,
    /// For single methods of this service.
    pub methods: BTreeMap<String, Settings>,
}

impl Config {
    /// Nothing set: every default.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a value for the service; `method.key` reaches the method (`getUser.timeout`), as in a
    /// URL, when what follows the first dot is a known key.
    pub fn set(&mut self, key: &str, value: impl Into<String>, place: &Place) {
        match split_method(key) {
            Some((method, key)) => self.set_method(method, key, value, place),
            None => {
                warn_unknown(key, place);
                self.service.set(key, value, place);
            }
        }
    }

    /// Sets a value for one method.
    pub fn set_method(&mut self, method: &str, key: &str, value: impl Into<String>, place: &Place) {
        warn_unknown(key, place);
        self.methods.entry(method.to_owned()).or_default().set(key, value, place);
    }

    /// The value written for exactly this method.
    pub fn of_method(&self, method: &str, key: &str) -> Option<&Setting> {
        self.methods.get(method).and_then(|m| m.find(key))
    }

    /// The value written for the service, else for every service.
    pub fn of_service(&self, key: &str) -> Option<&Setting> {
        self.service.find(key).or_else(|| self.global.find(key))
    }

    /// Method level, then service level, then global.
    pub fn lookup(&self, method: &str, key: &str) -> Option<&Setting> {
        self.of_method(method, key).or_else(|| self.of_service(key))
    }
}

/// Whether this library reads the key.
pub fn is_known(key: &str) -> bool {
    KEYS.iter().any(|(k, _, _)| *k == key)
}

/// A key that nobody here reads is kept, for strategies of the user's own, but most are slips.
fn warn_unknown(key: &str, place: &Place) {
    if is_known(canonical_key(key)) {
        return;
    }
    match nearest_key(key) {
        Some(known) => tracing::warn!(key, %place, "not a known key; did you mean `{known}`?"),
        None => tracing::warn!(key, %place, "not a known key"),
    }
}

/// The known key that at most two changed, missing or added characters make of this one.
pub fn nearest_key(key: &str) -> Option<&'static str> {
    let distance = |known: &&(&'static str, &str, &str)| edit_distance(key, known.0);
    KEYS.iter().min_by_key(distance).filter(|k| distance(k) <= 2).map(|(known, _, _)| *known)
}

/// Levenshtein's distance, one row at a time.
fn edit_distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, y) in row.iter_mut().skip(1).zip(b.chars()) {
            let change = diagonal + usize::from(x != y);
            diagonal = *cell;
            left = change.min(left + 1).min(*cell + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

/// Cuts `getUser.hash.nodes` into method and key. A key that is known whole has no method.
fn split_method(key: &str) -> Option<(&str, &str)> {
    if is_known(canonical_key(key)) {
        return None;
    }
    let go = key.strip_prefix("methods.").unwrap_or(key);
    let (method, rest) = go.split_once('.')?;
    is_known(canonical_key(rest)).then_some((method, rest))
}

/// The URL's spelling of a key.
pub fn canonical_key(key: &str) -> &str {
    match key {
        "load-balance" | "loadBalance" | "strategy" => "loadbalance",
        "policy" => "cluster",
        "request-timeout" => "timeout",
        "virtual.nodes" | "hash-nodes" | "hashNodes" => "hash.nodes",
        "hash-arguments" | "hashArguments" => "hash.arguments",
        "fail-back-tasks" | "failback-tasks" => "failbacktasks",
        "tag" => "dubbo.tag",
        "force.tag" | "force-tag" => "dubbo.force.tag",
        key => key,
    }
}

/// Reads a duration: a bare number in `bare` units, or with `ns`, `us`, `ms`, `s`, `m`, `h`.
///
/// # Errors
/// Anything else, and what does not fit into 64 bits of milliseconds.
pub fn parse_duration(text: &str, bare: Duration) -> Result<Duration, &'static str> {
    const REASON: &str = "not a duration; write milliseconds (800) or a unit (800ms, 3s, 10m)";
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| REASON)?;
    let unit = match unit.trim() {
        "" => bare,
        "ns" => Duration::from_nanos(1),
        "us" | "µs" => Duration::from_micros(1),
        "ms" => Duration::from_millis(1),
        "s" => Duration::from_secs(1),
        "m" => Duration::from_secs(60),
        "h" => Duration::from_secs(3600),
        _ => return Err(REASON),
    };
    let nanos = u128::from(number) * unit.as_nanos();
    if nanos / 1_000_000 > i64::MAX as u128 {
        return Err(REASON);
    }
    Ok(Duration::new((nanos / 1_000_000_000) as u64, (nanos % 1_000_000_000) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place("test".into())
    }

    #[test]
    fn a_key_with_a_method_in_front_reaches_the_method() {
        let mut config = Config::new();
        config.set("getUser.hash.nodes", "320", &place());
        config.set("hash.nodes", "16", &place());
        config.set("methods.getUser.retries", "0", &place());
        assert_eq!(config.lookup("getUser", "hash.nodes").unwrap().value, "320");
        assert_eq!(config.lookup("other", "hash.nodes").unwrap().value, "16");
        assert_eq!(config.lookup("getUser", "retries").unwrap().value, "0");
    }

    #[test]
    fn an_empty_value_takes_a_setting_back() {
        let mut config = Config::new();
        config.set("retries", "1", &place());
        config.set("retries", "", &place());
        assert_eq!(config.lookup("m", "retries"), None);
    }

    #[test]
    fn levels_are_read_from_the_narrowest() {
        let mut config = Config::new();
        config.global.set("timeout", "1", &place());
        assert_eq!(config.lookup("m", "timeout").unwrap().value, "1");
        config.service.set("timeout", "2", &place());
        assert_eq!(config.lookup("m", "timeout").unwrap().value, "2");
        config.set_method("m", "timeout", "3", &place());
        assert_eq!(config.lookup("m", "timeout").unwrap().value, "3");
        assert_eq!(config.lookup("n", "timeout").unwrap().value, "2");
    }

    #[test]
    fn a_slip_is_recognised() {
        assert_eq!(nearest_key("timout"), Some("timeout"));
        assert_eq!(nearest_key("hash.node"), Some("hash.nodes"));
        assert_eq!(nearest_key("colour"), None);
    }

    #[test]
    fn durations_have_units() {
        let ms = Duration::from_millis(1);
        assert_eq!(parse_duration("3000", ms), Ok(Duration::from_secs(3)));
        assert_eq!(parse_duration("800ms", ms), Ok(Duration::from_millis(800)));
        assert_eq!(parse_duration("10m", ms), Ok(Duration::from_secs(600)));
        for bad in ["", "-1", "abc", "1x", "99999999999999999999", "18446744073709551615h"] {
            assert!(parse_duration(bad, ms).is_err(), "{bad}");
        }
    }
}
