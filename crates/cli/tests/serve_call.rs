//! `equipoise serve` and `equipoise call` against each other, on the loopback.

#![allow(clippy::unwrap_used)] // a test may panic

mod common;

use std::net::TcpListener;

use common::{Serving, equipoise, run};

#[test]
fn a_url_with_a_path_names_the_service() {
    let provider = Serving::start("--weight 200");
    assert!(provider.url.ends_with("/equipoise.Demo?weight=200"), "{}", provider.url);
    let call = run(&format!("call {} echo [\"hello\",7] --json", provider.url)).json();
    assert_eq!(call["result"], serde_json::json!(["hello", 7]));
    assert_eq!(call["provider"], provider.address());
    assert_eq!(call["attempts"], 1);
    assert_eq!(call["service"], "equipoise.Demo");
}

#[test]
fn people_see_result_provider_and_attempts() {
    let provider = Serving::start("");
    let ran = run(&format!("call {} echo int,java.lang.String [1,\"a\"]", provider.url));
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.stdout.starts_with("[\n  1,\n  \"a\"\n]\n"), "{}", ran.stdout);
    let served = format!("served by {} in ", provider.address());
    assert!(ran.stdout.contains(&served), "{}", ran.stdout);
    assert!(ran.stdout.trim_end().ends_with(", 1 attempt"), "{}", ran.stdout);
}

#[test]
fn several_urls_are_called_by_strategy() {
    let (a, b) = (Serving::start("--service a.B"), Serving::start("--service a.B"));
    let line = format!(
        "call {},{} a.B get [\"k\"] --strategy roundrobin --calls 4 --json",
        a.address(),
        b.address()
    );
    let document = run(&line).json();
    let calls = document["calls"].as_array().unwrap();
    let by: Vec<&str> = calls.iter().map(|c| c["provider"].as_str().unwrap()).collect();
    assert_eq!(by, [a.address(), b.address(), a.address(), b.address()]);
    // Each provider sees the key for the first time once.
    let hits: Vec<bool> = calls.iter().map(|c| c["result"]["hit"].as_bool().unwrap()).collect();
    assert_eq!(hits, [false, false, true, true]);
    let picks = |i: usize| &document["report"]["methods"][0]["endpoints"][i]["picks"];
    assert_eq!((picks(0), picks(1)), (&2.into(), &2.into()));
}

#[test]
fn group_and_version_come_from_the_url_or_from_options() {
    let provider = Serving::start("--group blue --version 2.1.0");
    let call = run(&format!("call {} echo [] --json", provider.url)).json();
    assert_eq!(call["service"], "blue/equipoise.Demo:2.1.0");
    let bare = format!("call {} equipoise.Demo echo []", provider.address());
    let ran = run(&format!("{bare} --group green --version 2.1.0"));
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    let ran = run(&format!("{bare} --group blue --version 2.1.0"));
    assert_eq!(ran.code, Some(0), "{ran:#?}");
}

#[test]
fn an_error_of_the_service_is_shown_and_not_retried() {
    let provider = Serving::start("");
    let ran = run(&format!("call {} vanish []", provider.url));
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.error().contains("equipoise.Demo has no method vanish"), "{ran:#?}");
    let ran = run(&format!("call {} vanish [] --json", provider.url));
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&document["kind"], &document["attempts"]), (&"business".into(), &1.into()));
    assert_eq!(document["provider"], provider.address());
}

#[test]
fn a_policy_decides_how_often_a_failing_provider_is_asked() {
    let provider = Serving::start("--error-rate 1");
    for (options, attempts) in
        [("--policy failfast", 1), ("--policy failover", 3), ("--retries 4", 5)]
    {
        let ran = run(&format!("call {} echo [] --json {options}", provider.url));
        assert_eq!(ran.code, Some(1), "{ran:#?}");
        let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(document["attempts"], attempts, "{options}");
        assert_eq!(document["failed_attempts"].as_array().unwrap().len(), attempts, "{options}");
        assert!(ran.error().contains(provider.address()), "{ran:#?}");
    }
    let ran = run(&format!("call {} echo [] --policy failsafe --json", provider.url));
    assert_eq!(ran.json()["result"], serde_json::Value::Null);
}

#[test]
fn nobody_at_the_address_is_said_in_one_line() {
    // A port that was free a moment ago.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let ran = run(&format!("call tri://{address}/a.B m []"));
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(ran.error().contains(&address.to_string()), "{ran:#?}");
}

#[test]
fn the_same_key_goes_to_the_same_provider() {
    let providers = [Serving::start(""), Serving::start(""), Serving::start("")];
    let urls: Vec<&str> = providers.iter().map(|p| p.url.as_str()).collect();
    let of = |words: &[&str]| {
        let list = urls.join(",");
        let mut line = vec!["call", &list, "echo", "[\"user-1\"]", "--json"];
        line.extend(["--strategy", "consistenthash", "--calls", "4"]);
        line.extend(words);
        let document = equipoise(&line).json();
        let calls = document["calls"].as_array().unwrap().clone();
        calls.iter().map(|c| c["provider"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let by_argument = of(&[]);
    assert!(by_argument.iter().all(|p| *p == by_argument[0]), "{by_argument:?}");
    assert_eq!(of(&["--key", "user-1"]), by_argument);
}

#[test]
fn a_provider_ends_when_its_standard_input_closes() {
    let provider = Serving::start("");
    assert_eq!(provider.close_stdin(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_provider_ends_at_a_signal() {
    for signal in ["-TERM", "-INT"] {
        let mut provider = Serving::start("");
        let id = provider.child.id().to_string();
        assert!(std::process::Command::new("kill").args([signal, &id]).status().unwrap().success());
        assert_eq!(provider.child.wait().unwrap().code(), Some(0), "{signal}");
    }
}

#[test]
fn a_port_in_use_is_said_in_one_line() {
    let provider = Serving::start("");
    let port = provider.address().rsplit_once(':').unwrap().1;
    let ran = run(&format!("serve --port {port}"));
    assert_eq!(ran.code, Some(1));
    assert!(ran.error().contains(&format!("--port {port}")), "{ran:#?}");
}
