//! Values on the command line that several commands read. Every refusal says what would do.

use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser};
use equipoise::STRATEGIES;
use equipoise::client::policy::POLICIES;
use equipoise::core::config::{Config, KEYS, Place, canonical_key, is_known, parse_duration};
use equipoise::core::url::Url;

/// Names of strategies, in every spelling; a new row of the table is accepted unasked.
pub(crate) fn strategies() -> PossibleValuesParser {
    PossibleValuesParser::new(STRATEGIES.iter().map(|row| {
        let about = row.about();
        PossibleValue::new(about.name).help(about.summary).aliases(about.aliases)
    }))
}

/// Names of cluster policies, in every spelling.
pub(crate) fn policies() -> PossibleValuesParser {
    PossibleValuesParser::new(POLICIES.iter().map(|row| {
        let about = row.about();
        PossibleValue::new(about.name).help(about.summary).aliases(about.aliases)
    }))
}

/// The name of a strategy, whatever spelling was given.
pub(crate) fn canonical_strategy(name: &str) -> String {
    let of = |row: &&&dyn equipoise::Strategy| {
        row.about().name == name || row.about().aliases.contains(&name)
    };
    STRATEGIES.iter().find(of).map_or(name, |row| row.about().name).to_owned()
}

/// An address with parameters.
pub(crate) fn url(text: &str) -> Result<Url, String> {
    Url::parse(text).map_err(|error| error.reason.to_owned())
}

/// Milliseconds, or a number with a unit.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text, Duration::from_millis(1)).map_err(str::to_owned)
}

/// The same, but not 0.
pub(crate) fn positive_duration(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("must be more than 0".to_owned()),
        time => Ok(time),
    }
}

/// A share from 0 to 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("not a number from 0 to 1".to_owned()),
    }
}

/// `KEY=VALUE`, with a key that is not empty.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write KEY=VALUE".to_owned()),
    }
}

/// A setting under its key in Dubbo URLs, `method.key` included. A key that nothing reads is a slip
/// of the pen and must not pass for a setting.
pub(crate) fn setting(text: &str) -> Result<(String, String), String> {
    let (key, value) = pair(text)?;
    if value.is_empty() {
        return Err("an empty value sets nothing".to_owned());
    }
    let of_method = key.strip_prefix("methods.").unwrap_or(&key).split_once('.');
    let known = is_known(canonical_key(&key))
        || of_method.is_some_and(|(_, rest)| is_known(canonical_key(rest)));
    if known {
        return Ok((key, value));
    }
    let keys: Vec<&str> = KEYS.iter().map(|(key, _, _)| *key).collect();
    Err(format!("no such key; there are {}", keys.join(", ")))
}

/// Settings with the options that they came from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings(pub(crate) Config);

impl Settings {
    /// Sets `key` where the option was given.
    pub(crate) fn option(mut self, option: &str, key: &str, value: Option<String>) -> Self {
        if let Some(value) = value {
            self.0.set(key, value, &Place(option.to_owned()));
        }
        self
    }

    /// Sets what was given as `--param KEY=VALUE`.
    pub(crate) fn params(mut self, params: &[(String, String)]) -> Self {
        for (key, value) in params {
            self.0.set(key, value.as_str(), &Place("--param".to_owned()));
        }
        self
    }
}

/// Writes a time as a setting.
pub(crate) fn written(time: Duration) -> String {
    format!("{}ns", time.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_known_keys_of_the_service_or_of_a_method() {
        for good in ["hash.nodes=320", "getUser.hash.nodes=8", "methods.a.weight=1", "tag=gray"] {
            assert!(setting(good).is_ok(), "{good}");
        }
        for bad in ["hash.node=320", "=1", "weight", "weight=", "getUser.nodes=1"] {
            assert!(setting(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn shares_are_from_0_to_1() {
        assert_eq!(share("0.25"), Ok(0.25));
        for bad in ["-0.1", "1.1", "NaN", "x", ""] {
            assert!(share(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn every_spelling_of_a_strategy_has_one_name() {
        assert_eq!(canonical_strategy("consistenthashing"), "consistenthash");
        assert_eq!(canonical_strategy("random"), "random");
    }
}
