//! Feedback for adaptive load balancing: how loaded this provider is, told to callers that ask.
//!
//! # Rule
//!
//! A request with a non-empty attachment `lb_adaptive` gets the attachment
//! `lb_adaptive: curTime:<ms>,load:<number>` back, with errors too. `curTime` is the provider's
//! clock in milliseconds since 1970; the load is the system's load average of one minute x 100 /
//! processors, so 100 means that every processor has one runnable thread.
//!
//! # Dubbo
//!
//! `ProfilerServerFilter` (3.3). The number is never written with an exponent, because the Java
//! side reads such a one as 0.

use std::fmt;
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use equipoise_core::attachments::{AttachmentValue, Attachments};
use tokio::time::Instant;

/// The attachment, in both directions.
pub(crate) const KEY: &str = "lb_adaptive";

/// Tells how loaded this provider is.
pub trait LoadSource: Send + Sync + 'static {
    /// The load: 0 is idle, 100 is every processor busy, more is queueing. `None` when it cannot
    /// be told; the caller then gets no feedback, which means "no data" and not "no load". So
    /// does a negative number or one that is not finite.
    ///
    /// *Called by* the server, once per answer to a caller that asks.
    /// *Blocking*: must not.
    fn load(&self) -> Option<f64>;
}

/// The operating system's load average of one minute, from `/proc/loadavg`.
#[derive(Debug)]
pub struct SystemLoad {
    processors: f64,
    /// When it was read and what it was. The kernel itself computes it every five seconds.
    latest: Mutex<Option<(Instant, Option<f64>)>>,
}

/// How long a reading is used.
const FRESH: Duration = Duration::from_secs(1);

impl SystemLoad {
    /// The load of this machine, per processor that this process may use.
    pub fn new() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, |count| count.get());
        Self { processors: processors as f64, latest: Mutex::new(None) }
    }
}

impl Default for SystemLoad {
    fn default() -> Self {
        Self::new()
    }
}

impl LoadSource for SystemLoad {
    fn load(&self) -> Option<f64> {
        let mut latest = self.latest.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let now = Instant::now();
        match *latest {
            Some((read, load)) if now.saturating_duration_since(read) < FRESH => load,
            _ => {
                let text = std::fs::read_to_string("/proc/loadavg").ok();
                let load = text.and_then(|text| parse(&text)).map(|l| l * 100.0 / self.processors);
                *latest = Some((now, load));
                load
            }
        }
    }
}

/// The first number of `/proc/loadavg`.
fn parse(text: &str) -> Option<f64> {
    text.split_ascii_whitespace().next()?.parse().ok()
}

/// Whether a request asks for feedback.
pub(crate) fn asked(request: &Attachments) -> bool {
    match request.value(KEY) {
        Some(AttachmentValue::Text(text)) => !text.is_empty(),
        Some(AttachmentValue::Binary(bytes)) => !bytes.is_empty(),
        None => false,
    }
}

/// Adds the feedback to an answer.
pub(crate) fn answer(source: &dyn LoadSource, response: &mut Attachments) {
    if let Some(load) = source.load().filter(|load| load.is_finite() && *load >= 0.0) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        response.set(KEY, report(now, load));
    }
}

fn report(now: Duration, load: f64) -> String {
    format!("curTime:{},load:{load}", now.as_millis())
}

impl fmt::Debug for dyn LoadSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LoadSource")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_have_no_exponent() {
        let at = Duration::from_millis(1_795_994_737_041);
        assert_eq!(report(at, 480.078125), "curTime:1795994737041,load:480.078125");
        assert_eq!(report(at, 1e-7), "curTime:1795994737041,load:0.0000001");
        assert_eq!(report(at, 1e21), "curTime:1795994737041,load:1000000000000000000000");
    }

    #[test]
    fn the_first_number_of_the_file_is_the_load() {
        assert_eq!(parse("0.52 0.58 0.59 1/467 12345\n"), Some(0.52));
        assert_eq!(parse(""), None);
    }

    #[test]
    fn a_load_that_is_none_is_left_out() {
        struct Fixed(Option<f64>);
        impl LoadSource for Fixed {
            fn load(&self) -> Option<f64> {
                self.0
            }
        }
        for (load, told) in
            [(None, false), (Some(f64::NAN), false), (Some(-1.0), false), (Some(0.0), true)]
        {
            let mut response = Attachments::new();
            answer(&Fixed(load), &mut response);
            assert_eq!(response.text(KEY).is_some(), told, "{load:?}");
        }
    }

    #[test]
    fn only_a_request_with_a_value_asks() {
        let with = |value: &str| [(KEY, value)].into_iter().collect::<Attachments>();
        assert!(asked(&with("mem,load")));
        assert!(!asked(&with("")));
        assert!(!asked(&Attachments::new()));
    }
}
