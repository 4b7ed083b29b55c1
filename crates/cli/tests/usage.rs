//! Wrong command lines: one line that names the option or key, and the right exit code.

#![allow(clippy::unwrap_used)] // a test may panic

mod common;

use common::{equipoise, run};

const LIST: &str = "--endpoint 10.0.0.1:20880 --endpoint 10.0.0.2:20880";

/// The command line is wrong: exit code 2, one line, with all of these words in it.
fn refused(line: &str, words: &[&str]) {
    let ran = run(line);
    assert_eq!(ran.code, Some(2), "{line}: {ran:#?}");
    assert_eq!(ran.stdout, "", "{line}");
    for word in words {
        assert!(ran.error().contains(word), "{line}: no {word:?} in {:?}", ran.error());
    }
}

#[test]
fn options_are_named() {
    refused("pick --strategy best --endpoint a:1", &["--strategy", "best", "random", "peakewma"]);
    refused("pick --endpoint a:0", &["--endpoint", "a:0", "port"]);
    refused(&format!("pick {LIST} --active 10.0.0.1:20880"), &["--active", "ADDRESS=N"]);
    refused(&format!("pick {LIST} --active 10.0.0.1:20880=x"), &["--active", "x"]);
    refused(&format!("pick {LIST} --active 10.0.0.9:20880=1"), &["--active", "10.0.0.9:20880"]);
    refused(&format!("pick {LIST} --tried 10.0.0.9:20880"), &["--tried", "10.0.0.9:20880"]);
    refused(&format!("pick {LIST} --sample 10.0.0.1:20880=-1"), &["--sample", "-1"]);
    refused(&format!("pick {LIST} --report 10.0.0.1:20880=x"), &["--report", "load"]);
    refused(&format!("pick {LIST} --calls x"), &["--calls", "x"]);
    refused(&format!("pick {LIST} --now x"), &["--now", "x"]);
    refused(&format!("pick {LIST} --arg user-0"), &["--arg", "user-0", "JSON"]);
    refused(&format!("pick {LIST} --colour"), &["--colour"]);
    refused("demo --providers 1", &["--providers", "1"]);
    refused("demo --providers 3 --slow 4", &["--slow 4", "3 providers"]);
    refused("demo --seconds 0", &["--seconds", "0"]);
    refused("demo --chapter six", &["--chapter", "six", "affinity"]);
    refused("serve --error-rate 2", &["--error-rate", "2"]);
    refused("serve --pause 200", &["--pause-every"]);
    refused("serve --pause 200 --pause-every 100", &["--pause", "--pause-every"]);
    refused("serve --delay soon", &["--delay", "soon"]);
    refused("completions tcsh", &["tcsh", "bash"]);
    refused("guess", &["guess"]);
}

#[test]
fn keys_of_settings_are_named() {
    for (setting, key) in [
        ("hash.nodes=3", "hash.nodes"),
        ("hash.nodes=-160", "hash.nodes"),
        ("hash.nodes=1e3", "hash.nodes"),
        ("hash.arguments=a", "hash.arguments"),
        ("hash.arguments=,0", "hash.arguments"),
        ("hash.arguments=1.5", "hash.arguments"),
        ("weight=heavy", "weight"),
        ("warmup=-1s", "warmup"),
        ("timeout=0", "timeout"),
        ("adaptive.compat=go", "adaptive.compat"),
        ("getUser.weight=x", "weight"),
    ] {
        let value = setting.split_once('=').unwrap().1;
        refused(&format!("pick {LIST} --param {setting}"), &[key, value, "--param"]);
    }
    refused(&format!("pick {LIST} --param hash.node=5"), &["--param", "hash.node", "hash.nodes"]);
}

#[test]
fn a_keyed_strategy_without_a_key_says_so() {
    refused(&format!("pick --strategy consistenthash {LIST}"), &["invoke", "key", "--arg"]);
}

#[test]
fn words_of_a_call_are_named() {
    refused("call tri://h:1/a.B m", &["METHOD [TYPES] JSON"]);
    refused("call h:1 a.B m", &["METHOD [TYPES] JSON"]);
    refused("call h:1", &["SERVICE METHOD"]);
    refused("call h:1/a.B m {", &["JSON"]);
    refused("call h:1/a.B m i-nt [1]", &["TYPES", "i-nt"]);
    refused("call h:99999/a.B m [1]", &["URL", "port"]);
    refused("call rest://h:1/a.B m [1]", &["rest", "dubbo", "tri"]);
    refused("call h:1/a.B m [1] --policy hope", &["--policy", "hope", "failover"]);
    refused("call h:1/a.B m [1] --attachment x", &["--attachment", "KEY=VALUE"]);
    refused("call h:1/a.B m [1] --timeout 0", &["--timeout", "0"]);
    refused("call", &["URL"]);
}

#[test]
fn without_endpoints_there_is_nothing_to_pick() {
    let ran = run("pick --strategy random --json");
    assert_eq!(ran.code, Some(1));
    assert!(ran.error().contains("--endpoint"), "{ran:#?}");
}

#[test]
fn a_file_of_endpoints_is_named_with_the_line() {
    let list = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(list.path(), "# good\n\n10.0.0.1:20880\n10.0.0.2:port\n").unwrap();
    let path = list.path().to_str().unwrap();
    let ran = equipoise(&["pick", "--endpoints-file", path]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.error().starts_with(&format!("{path}:4: ")), "{ran:#?}");
    let ran = equipoise(&["pick", "--endpoints-file", "/nowhere/list"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.error().contains("--endpoints-file /nowhere/list"), "{ran:#?}");
}

#[test]
fn a_bad_value_of_one_provider_is_a_warning_and_the_provider_stays() {
    let ran = run("pick --json --endpoint 10.0.0.1:20880?weight=abc --endpoint 10.0.0.2:20880");
    assert_eq!(ran.json()["endpoints"][0]["weight"], 100);
    for word in ["10.0.0.1:20880", "weight", "abc"] {
        assert!(ran.stderr.contains(word), "{ran:#?}");
    }
}

#[test]
fn nobody_left_is_a_failure_that_counts_the_stages() {
    let ran = run(&format!("pick {LIST} --tag gray --param dubbo.force.tag=true"));
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(ran.error().contains("listed 2, tag 0"), "{ran:#?}");
}

#[test]
fn help_and_version_are_no_errors() {
    for line in ["--help", "--version", "pick --help", "call --help", "demo -h"] {
        let ran = run(line);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{line}");
        assert!(ran.stdout.contains("equipoise"), "{line}");
    }
}
