//! The options of the client and the parameters of a provider's URL, put together.

use std::time::Duration;

use equipoise_core::url::Url;

use crate::MAX_MESSAGE_BYTES;
use crate::dubbo::client::Options;

/// Connections to one provider. More would only take sockets from others.
const MOST_CONNECTIONS: usize = 64;
const HEARTBEAT: Duration = Duration::from_secs(60);
/// A longer time without a sign of life is as good as never.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// What holds for the connections to one provider.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Settings {
    /// Bytes of a body, both ways.
    pub(crate) payload: usize,
    /// Silence after which to ask, and after which to give up.
    pub(crate) heartbeat: Option<(Duration, Duration)>,
    pub(crate) connections: usize,
    pub(crate) countdown: bool,
    pub(crate) application: Option<String>,
    pub(crate) token: Option<String>,
    /// The name that the provider exports the interface of that name under, if it is another one.
    pub(crate) path: Option<(String, String)>,
}

impl Settings {
    pub(crate) fn new(options: &Options, target: &Url) -> Self {
        let positive = |key| number(target, key).filter(|n| *n > 0 || bad(target, key));
        let payload = options.payload.or_else(|| positive("payload"));
        // 0 is Dubbo's word for "shared by all", which it is here in any case.
        let connections = options.connections.or_else(|| number(target, "connections"));
        Self {
            payload: payload.unwrap_or(MAX_MESSAGE_BYTES).min(i32::MAX as usize),
            heartbeat: heartbeat(options, target),
            connections: connections.unwrap_or(1).clamp(1, MOST_CONNECTIONS),
            countdown: options.countdown.unwrap_or_else(|| {
                target.param("enable-timeout-countdown").is_none_or(|value| value != "false")
            }),
            application: options.application.clone(),
            token: target.param("token").map(str::to_owned),
            path: target
                .param("interface")
                .filter(|interface| !target.path.is_empty() && *interface != target.path)
                .map(|interface| (interface.to_owned(), target.path.clone())),
        }
    }
}

fn heartbeat(options: &Options, target: &Url) -> Option<(Duration, Duration)> {
    let millis = |key| number(target, key).map(|ms| Duration::from_millis(ms as u64));
    let every = match options.heartbeat {
        Some(every) => every.filter(|every| !every.is_zero())?,
        None => millis("heartbeat").unwrap_or(HEARTBEAT),
    };
    if every.is_zero() {
        return None;
    }
    let every = every.min(LONGEST);
    // Dubbo's rule: one lost heartbeat must not be the end.
    let own = millis("heartbeat.timeout").filter(|_| options.heartbeat.is_none());
    let own = own.filter(|dead| *dead >= 2 * every || bad(target, "heartbeat.timeout"));
    Some((every, own.unwrap_or(3 * every).min(3 * LONGEST)))
}

fn number(target: &Url, key: &'static str) -> Option<usize> {
    let text = target.param(key)?;
    // Dubbo's are ints.
    let number = text.trim().parse().ok().filter(|n: &usize| *n <= i32::MAX as usize);
    if number.is_none() {
        bad(target, key);
    }
    number
}

/// The default holds. Always false.
fn bad(target: &Url, key: &'static str) -> bool {
    tracing::warn!(
        address = %target.address(), key, value = target.param(key).unwrap_or_default(),
        "a parameter of a provider is out of range and counts as not given"
    );
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dubbo::Dubbo;

    fn settings(client: &Dubbo, query: &str) -> Settings {
        let target = Url::parse(&format!("dubbo://h:1/a.B?{query}")).unwrap();
        Settings::new(&client.options, &target)
    }

    #[test]
    fn defaults_parameters_and_options_each_win_over_the_one_before() {
        let bare = settings(&Dubbo::new(), "");
        assert_eq!(bare.payload, 8_388_608);
        assert_eq!(bare.heartbeat, Some((Duration::from_secs(60), Duration::from_secs(180))));
        assert_eq!((bare.connections, bare.countdown), (1, true));
        assert_eq!((bare.token, bare.path), (None, None));
        let query = "payload=100&heartbeat=1000&connections=3&token=t&enable-timeout-countdown=false\
                     &interface=a.C";
        let own = settings(&Dubbo::new(), query);
        assert_eq!((own.payload, own.connections, own.countdown), (100, 3, false));
        assert_eq!(own.heartbeat, Some((Duration::from_secs(1), Duration::from_secs(3))));
        assert_eq!(own.token.as_deref(), Some("t"));
        assert_eq!(own.path, Some(("a.C".to_owned(), "a.B".to_owned())));
        let client = Dubbo::new().payload_bytes(5).heartbeat(None).connections(2).countdown(true);
        let given = settings(&client, query);
        assert_eq!((given.payload, given.connections, given.countdown), (5, 2, true));
        assert_eq!(given.heartbeat, None);
    }

    #[test]
    fn parameters_out_of_range_count_as_not_given() {
        let query = "payload=-1&heartbeat=x&connections=99999999999&heartbeat.timeout=7";
        assert_eq!(settings(&Dubbo::new(), query), settings(&Dubbo::new(), ""));
        assert_eq!(settings(&Dubbo::new(), "payload=0").payload, 8_388_608);
        assert_eq!(settings(&Dubbo::new(), "connections=0").connections, 1);
        assert_eq!(settings(&Dubbo::new(), "connections=9999").connections, MOST_CONNECTIONS);
        assert_eq!(settings(&Dubbo::new(), "heartbeat=0").heartbeat, None);
        let two = settings(&Dubbo::new(), "heartbeat=1000&heartbeat.timeout=2000").heartbeat;
        assert_eq!(two, Some((Duration::from_secs(1), Duration::from_secs(2))));
        let huge = settings(&Dubbo::new().heartbeat(Some(Duration::MAX)), "").heartbeat;
        assert_eq!(huge, Some((LONGEST, 3 * LONGEST)));
    }
}
