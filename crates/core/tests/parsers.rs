//! Nothing that comes from outside as text makes a parser panic, and what was read can be written
//! and read again.

use std::sync::Arc;
use std::time::Duration;

use equipoise_core::balance::Strategies;
use equipoise_core::clock::ManualClock;
use equipoise_core::config::{Config, Place, parse_duration};
use equipoise_core::endpoint::Service;
use equipoise_core::hash::key::parse_arguments;
use equipoise_core::service::ServiceKey;
use equipoise_core::url::Url;
use equipoise_core::view::{Build, View};
use equipoise_core::{call::Call, weight};
use proptest::prelude::*;

/// Text with many of the characters that parsers look for.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-z0-9:/?&=@%.,\\[\\]~+ -]{0,60}",
        "(tri|dubbo)?(://)?[a-z0-9.:\\[\\]]{0,20}(\\?[a-z.]{1,12}=[a-z0-9%.,-]{0,12}){0,1}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_url_that_was_read_is_written_and_read_again(text in text()) {
        if let Ok(url) = Url::parse(&text) {
            prop_assert_eq!(Url::parse(&url.to_string()), Ok(url));
        }
    }

    #[test]
    fn small_parsers_take_any_text(text in text()) {
        let _ = parse_duration(&text, Duration::from_millis(1));
        let _ = parse_arguments(&text);
        let _ = weight::parse(&text);
    }

    #[test]
    fn a_view_is_built_of_any_parameters(
        pairs in proptest::collection::vec((0_usize..8, text()), 0..6)
    ) {
        const KEYS: [&str; 8] = [
            "weight", "warmup", "timestamp", "timeout", "actives", "hash.nodes", "dubbo.tag", "m.weight",
        ];
        let mut url = Url::parse("10.0.0.1:20880").unwrap();
        for (key, value) in pairs {
            url.set(KEYS[key], &value);
        }
        let service = Service::new(ServiceKey::new("s"));
        let clock = ManualClock::at(1_700_000_000_000);
        let view = View::build(&Build {
            service: &service,
            list: &[Arc::new(url)],
            config: &Arc::new(Config::new()),
            strategies: &Strategies::built_in(),
            previous: None,
            clock: &clock,
        });
        let view = view.unwrap();
        prop_assert!(view.candidates(&Call::new("m"), &clock).all().len() <= 1);
    }

    #[test]
    fn a_configuration_is_refused_or_taken_but_never_panics(key in text(), value in text()) {
        let mut config = Config::new();
        config.set(&key, value.clone(), &Place("test".into()));
        config.set("timeout", value.clone(), &Place("test".into()));
        config.set("hash.nodes", value, &Place("test".into()));
        let service = Service::new(ServiceKey::new("s"));
        let clock = ManualClock::at(1_700_000_000_000);
        let _ = View::build(&Build {
            service: &service,
            list: &[],
            config: &Arc::new(config),
            strategies: &Strategies::built_in(),
            previous: None,
            clock: &clock,
        });
    }
}
