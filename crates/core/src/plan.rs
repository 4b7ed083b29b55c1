//! Configuration as meant: one [`Plan`] per method, every field typed and every default filled in.
//! A call reads fields; nothing here is parsed again until the configuration or the list changes.
//!
//! Precedence of keys that providers may set too (`loadbalance`, `sticky`, `timeout`, `actives`,
//! `hash.*`, `weight`, `warmup`): consumer method, provider method, consumer service, provider
//! service, default: that of an interface-level registry or a direct URL in Dubbo.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::balance::{Strategies, Strategy};
use crate::config::{Config, ConfigError, Place, Setting, parse_duration};
use crate::hash::key::parse_arguments;
use crate::url::Url;

/// Default of `timeout`: what Dubbo Java waits for one attempt.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(1);

/// What the configuration means for one method.
#[derive(Clone)]
pub struct Plan {
    /// The method.
    pub method: Arc<str>,
    /// Who does: the strategy.
    pub strategy: Arc<dyn Strategy>,
    /// What happens on failure: name of the cluster policy as configured.
    pub policy: Arc<str>,
    /// `retries` as written; policies differ in their default and in what a negative one means.
    pub retries: Option<i64>,
    /// Bound on all attempts together; `None` leaves it to the timeouts.
    pub deadline: Option<Duration>,
    /// Keep to one provider while it is available.
    pub sticky: bool,
    /// Parallel attempts of `forking`, as written.
    pub forks: i64,
    /// Pending background runs of `failback`, at least 1.
    pub failback_tasks: usize,
    /// Share of failures (0 to 100) at which `broadcast` stops early.
    pub fail_percent: u32,
    /// Points per provider on the hash ring, at least 4.
    pub hash_nodes: u32,
    /// Indexes of the arguments that make the key.
    pub hash_arguments: Arc<[usize]>,
    /// Whether `adaptive` counts as the reference does.
    pub adaptive_compat: bool,
    /// Tag of a request that names none.
    pub tag: Option<Arc<str>>,
    /// Whether the tag must be met.
    pub force_tag: bool,
    config: Arc<Config>,
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("method", &self.method)
            .field("strategy", &self.strategy.about().name)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

impl Plan {
    /// Resolves what `config` and the providers' parameters say about `method`.
    ///
    /// # Errors
    /// A value that cannot be read, out of range, or a name that no strategy has, set by the user.
    /// The same in a provider's parameters is ignored there with a warning.
    pub fn resolve(
        method: &str,
        config: &Arc<Config>,
        strategies: &Strategies,
        providers: &[Arc<Url>],
    ) -> Result<Plan, ConfigError> {
        let read = Reader { method, config, providers };
        let strategy = read.shared("loadbalance", |s| {
            strategies.find(&s.value).ok_or_else(|| strategies.unknown(s))
        })?;
        let strategy = strategy.unwrap_or_else(|| strategies.default_strategy());
        let plan = Plan {
            method: Arc::from(method),
            strategy,
            policy: read
                .own("cluster", |s| Ok(Arc::from(s.value.as_str())))?
                .unwrap_or("failover".into()),
            retries: read.own("retries", integer("retries"))?,
            deadline: read.own("deadline", positive_duration("deadline"))?,
            sticky: read.shared("sticky", boolean)?.unwrap_or(false),
            forks: read.own("forks", integer("forks"))?.unwrap_or(2),
            failback_tasks: read
                .own("failbacktasks", integer("failbacktasks"))?
                .and_then(|n| usize::try_from(n).ok())
                .filter(|n| *n > 0)
                .unwrap_or(100),
            fail_percent: read.own("broadcast.fail.percent", percent)?.unwrap_or(100),
            hash_nodes: read.shared("hash.nodes", hash_nodes)?.unwrap_or(160),
            hash_arguments: read
                .shared("hash.arguments", hash_arguments)?
                .unwrap_or_else(|| Arc::from([0_usize].as_slice())),
            adaptive_compat: read.shared("adaptive.compat", compat)?.unwrap_or(false),
            tag: read.own("dubbo.tag", |s| Ok(Arc::from(s.value.as_str())))?,
            force_tag: read.own("dubbo.force.tag", boolean)?.unwrap_or(false),
            config: config.clone(),
        };
        // Values that are read per provider are checked here too, so that a bad one is an error
        // when the configuration is read and not a warning at the first call.
        read.own("timeout", positive_duration("timeout"))?;
        read.own("actives", integer("actives"))?;
        read.own("weight", weight)?;
        read.own("warmup", duration("warmup"))?;
        plan.strategy.check(&plan)?;
        Ok(plan)
    }

    /// The text configured for any key, for strategies with parameters of their own.
    pub fn param(&self, key: &str) -> Option<&Setting> {
        self.config.lookup(&self.method, key)
    }

    /// What applies to `provider`: consumer method, provider method, consumer service, provider
    /// service.
    pub(crate) fn provider_value<'a>(
        &'a self,
        provider: &'a Url,
        key: &str,
    ) -> Option<ProviderValue<'a>> {
        let service = provider.param(key);
        let own = provider.own_method_param(&self.method, key);
        if let Some(s) = self.config.of_method(&self.method, key) {
            Some(ProviderValue::Consumer(s))
        } else if let Some(text) = own {
            Some(ProviderValue::Provider(text))
        } else if let Some(s) = self.config.of_service(key) {
            Some(ProviderValue::Consumer(s))
        } else {
            service.map(ProviderValue::Provider)
        }
    }
}

/// Who said it: values of the consumer have been checked, values of a provider have not.
pub(crate) enum ProviderValue<'a> {
    Consumer(&'a Setting),
    Provider(&'a str),
}

impl ProviderValue<'_> {
    pub(crate) fn text(&self) -> &str {
        match self {
            ProviderValue::Consumer(s) => &s.value,
            ProviderValue::Provider(text) => text,
        }
    }
}

struct Reader<'a> {
    method: &'a str,
    config: &'a Config,
    providers: &'a [Arc<Url>],
}

impl Reader<'_> {
    /// A key that only the consumer decides.
    fn own<T>(
        &self,
        key: &str,
        read: impl Fn(&Setting) -> Result<T, ConfigError>,
    ) -> Result<Option<T>, ConfigError> {
        self.config.lookup(self.method, key).map(read).transpose()
    }

    /// A key that providers may set too, one value for all of them. A provider's value counts only
    /// when all providers agree: list order must not decide.
    fn shared<T>(
        &self,
        key: &str,
        read: impl Fn(&Setting) -> Result<T, ConfigError>,
    ) -> Result<Option<T>, ConfigError> {
        if let Some(s) = self.config.of_method(self.method, key) {
            return read(s).map(Some);
        }
        let service = |url: &Url| url.param(key).map(str::to_owned);
        let method = |url: &Url| url.own_method_param(self.method, key).map(str::to_owned);
        if let Some(value) = self.agreed(key, method, &read) {
            return Ok(Some(value));
        }
        if let Some(s) = self.config.of_service(key) {
            return read(s).map(Some);
        }
        Ok(self.agreed(key, service, &read))
    }

    fn agreed<T>(
        &self,
        key: &str,
        find: impl Fn(&Url) -> Option<String>,
        read: impl Fn(&Setting) -> Result<T, ConfigError>,
    ) -> Option<T> {
        let mut all = self.providers.iter().map(|url| (url, find(url)));
        let (first, value) = all.next()?;
        if let Some((other, differs)) = all.find(|(_, v)| *v != value) {
            tracing::warn!(
                key,
                method = self.method,
                "providers disagree, so none decides: {} says {value:?}, {} says {differs:?}",
                first.address(),
                other.address(),
            );
            return None;
        }
        let place = Place(format!("provider {}", first.address()));
        match read(&Setting { value: value?, place }) {
            Ok(value) => Some(value),
            Err(error) => {
                tracing::warn!(%error, "ignored, the default applies");
                None
            }
        }
    }
}

fn integer(key: &'static str) -> impl Fn(&Setting) -> Result<i64, ConfigError> {
    move |s| s.value.trim().parse().map_err(|_| s.error(key, "not a whole number"))
}

fn duration(key: &'static str) -> impl Fn(&Setting) -> Result<Duration, ConfigError> {
    move |s| {
        parse_duration(&s.value, Duration::from_millis(1)).map_err(|reason| s.error(key, reason))
    }
}

fn positive_duration(key: &'static str) -> impl Fn(&Setting) -> Result<Duration, ConfigError> {
    move |s| match duration(key)(s)? {
        Duration::ZERO => Err(s.error(key, "must be more than 0")),
        time => Ok(time),
    }
}

fn percent(s: &Setting) -> Result<u32, ConfigError> {
    let percent = s.value.trim().parse().ok().filter(|n| *n <= 100);
    percent.ok_or_else(|| s.error("broadcast.fail.percent", "not a whole number from 0 to 100"))
}

fn boolean(s: &Setting) -> Result<bool, ConfigError> {
    Ok(s.value.trim().eq_ignore_ascii_case("true"))
}

fn weight(s: &Setting) -> Result<u32, ConfigError> {
    crate::weight::parse(&s.value).ok_or_else(|| s.error("weight", "not a whole number"))
}

fn hash_nodes(s: &Setting) -> Result<u32, ConfigError> {
    match s.value.trim().parse::<u32>() {
        Ok(n) if (4..=1_000_000).contains(&n) => Ok(n),
        _ => Err(s.error("hash.nodes", "must be a whole number from 4 to 1000000")),
    }
}

fn hash_arguments(s: &Setting) -> Result<Arc<[usize]>, ConfigError> {
    parse_arguments(&s.value).map(Arc::from).map_err(|e| s.error("hash.arguments", e.to_string()))
}

fn compat(s: &Setting) -> Result<bool, ConfigError> {
    match s.value.trim() {
        "java" => Ok(true),
        "none" | "false" => Ok(false),
        _ => Err(s.error("adaptive.compat", "either `java` or `none`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(consumer: &[(&str, &str)], provider: &str) -> Plan {
        let mut config = Config::new();
        for (key, value) in consumer {
            config.set(key, *value, &Place("test".into()));
        }
        let urls = [Arc::new(Url::parse(provider).unwrap())];
        Plan::resolve("getUser", &Arc::new(config), &Strategies::built_in(), &urls).unwrap()
    }

    fn timeout(consumer: &[(&str, &str)], provider: &str) -> Option<String> {
        let url = Url::parse(provider).unwrap();
        plan(consumer, provider).provider_value(&url, "timeout").map(|v| v.text().to_owned())
    }

    #[test]
    fn case_118_the_method_level_beats_the_service_level() {
        let provider = "h:1?timeout=1000&getUser.timeout=3000";
        assert_eq!(timeout(&[], provider).as_deref(), Some("3000"));
        assert_eq!(timeout(&[("timeout", "2000")], provider).as_deref(), Some("3000"));
        let both = [("timeout", "2000"), ("getUser.timeout", "500")];
        assert_eq!(timeout(&both, provider).as_deref(), Some("500"));
    }

    #[test]
    fn case_119_consumer_method_provider_method_consumer_service_provider_service() {
        let consumer = [("getUser.timeout", "100"), ("timeout", "300")];
        let provider = "h:1?getUser.timeout=200&timeout=400";
        assert_eq!(timeout(&consumer, provider).as_deref(), Some("100"));
        assert_eq!(timeout(&consumer[1..], provider).as_deref(), Some("200"));
        assert_eq!(timeout(&consumer[1..], "h:1?timeout=400").as_deref(), Some("300"));
        assert_eq!(timeout(&[], "h:1?timeout=400").as_deref(), Some("400"));
        assert_eq!(timeout(&[], "h:1"), None);
    }

    #[test]
    fn a_method_value_of_the_provider_counts_also_when_it_repeats_its_service_value() {
        let provider = "h:1?getUser.timeout=400&timeout=400";
        assert_eq!(timeout(&[("timeout", "300")], provider).as_deref(), Some("400"));
    }

    #[test]
    fn a_provider_decides_the_strategy_only_where_the_consumer_does_not() {
        let name = |consumer: &[(&str, &str)]| {
            plan(consumer, "h:1?loadbalance=leastactive").strategy.about().name
        };
        assert_eq!(name(&[]), "leastactive");
        assert_eq!(name(&[("loadbalance", "roundrobin")]), "roundrobin");
    }

    #[test]
    fn bad_values_of_the_user_are_errors_with_key_value_and_place() {
        for (key, value) in [
            ("loadbalance", "nosuch"),
            ("hash.nodes", "3"),
            ("hash.nodes", "x"),
            ("hash.arguments", "0,a"),
            ("retries", "two"),
            ("timeout", "0"),
            ("timeout", "fast"),
            ("weight", "abc"),
            ("adaptive.compat", "go"),
            ("broadcast.fail.percent", "101"),
        ] {
            let mut config = Config::new();
            config.set(key, value, &Place("file.yml:3".into()));
            let error = Plan::resolve("m", &Arc::new(config), &Strategies::built_in(), &[]);
            let error = error.unwrap_err().to_string();
            for part in [key, value, "file.yml:3"] {
                assert!(error.contains(part), "{error}");
            }
        }
    }

    #[test]
    fn both_spellings_of_a_strategy_are_known() {
        for (spelling, name) in [
            ("consistenthashing", "consistenthash"),
            ("interleavedweightedroundrobin", "roundrobin"),
            ("aliasmethod", "random"),
        ] {
            assert_eq!(plan(&[("loadbalance", spelling)], "h:1").strategy.about().name, name);
        }
    }
}
