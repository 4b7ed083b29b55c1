//! Every cluster policy with every strategy, end to end.

use std::collections::BTreeSet;

use equipoise_client::policy::POLICIES;
use equipoise_client::{CallError, Consumer};
use equipoise_core::balance::STRATEGIES;
use equipoise_core::outcome::FailureKind;

use crate::common::*;

/// What one call may end with while A fails and B and C answer, by who was asked.
fn check(policy: &str, result: &Result<String, CallError>, asked: &[String]) {
    let met = asked.iter().any(|a| a == A);
    match policy {
        "failover" => {
            assert!(result.as_deref().is_ok_and(|who| who != A), "{result:?}");
            assert_eq!(asked.len(), 1 + usize::from(met), "{asked:?}");
        }
        "failfast" => {
            assert_eq!(asked.len(), 1);
            assert_eq!(result.is_err(), met);
        }
        "failsafe" | "failback" => {
            assert_eq!(asked.len(), 1);
            assert_eq!(result.as_deref().unwrap().is_empty(), met);
        }
        "forking" => {
            assert!(result.as_deref().is_ok_and(|who| who != A), "{result:?}");
            assert_eq!(BTreeSet::from_iter(asked).len(), 2, "{asked:?}");
        }
        "broadcast" => {
            assert_eq!(asked, [A, B, C]);
            assert_eq!(result.as_ref().unwrap_err().addresses(), [A]);
        }
        "available" => {
            assert_eq!(asked, [A]);
            assert_eq!(result.as_ref().unwrap_err().failure.kind, FailureKind::NoAnswer);
        }
        other => panic!("no expectation for the policy {other}: write one"),
    }
}

fn consumer(net: &Network, policy: &str, strategy: &str) -> Consumer {
    net.consumer([A, B, C]).policy(policy).strategy(strategy).build().unwrap()
}

fn combinations() -> impl Iterator<Item = (&'static str, &'static str)> {
    POLICIES.iter().flat_map(|policy| {
        STRATEGIES.iter().map(|strategy| (policy.about().name, strategy.about().name))
    })
}

#[tokio::test(start_paused = true)]
async fn every_policy_answers_with_every_strategy() {
    for (policy, strategy) in combinations() {
        let net = Network::new();
        let consumer = consumer(&net, policy, strategy);
        for i in 0..10 {
            let who = ask_key(&consumer, &format!("k{i}")).await;
            let who = who.unwrap_or_else(|e| panic!("{policy} over {strategy}: {e}"));
            assert!([A, B, C].contains(&who.as_str()), "{policy} over {strategy}: {who:?}");
        }
        assert_eq!(active(&consumer), 0, "{policy} over {strategy}");
        assert_eq!(consumer.pending_background(), 0, "{policy} over {strategy}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_policy_meets_a_failing_provider_with_every_strategy() {
    fastrand::seed(11);
    for (policy, strategy) in combinations() {
        let net = Network::new();
        net.at(A).always(fails(FailureKind::NoAnswer, 1));
        let consumer = consumer(&net, policy, strategy);
        settle().await;
        for i in 0..30 {
            net.forget();
            let result = ask_key(&consumer, &format!("k{i}")).await;
            if let Err(error) = &result {
                assert_eq!((error.policy.as_str(), error.strategy.as_str()), (policy, strategy));
            }
            check(policy, &result, &net.asked());
        }
        assert_eq!(active(&consumer), 0, "{policy} over {strategy}");
        let a = of(&consumer, A);
        assert!(a.errors["no-answer"] > 0, "{policy} over {strategy} never met the failing one");
    }
}

#[tokio::test(start_paused = true)]
async fn every_policy_leaves_nothing_behind_when_its_caller_gives_up() {
    for (policy, strategy) in combinations() {
        let net = Network::new();
        for address in [A, B, C] {
            net.at(address).always(silence());
        }
        let consumer = consumer(&net, policy, strategy);
        let given_up = tokio::time::timeout(ms(50), ask(&consumer)).await;
        assert!(given_up.is_err(), "{policy} over {strategy}");
        assert_eq!(active(&consumer), 0, "{policy} over {strategy}");
        let in_flight: usize = [A, B, C].iter().map(|a| net.at(a).in_flight()).sum();
        assert_eq!(in_flight, 0, "{policy} over {strategy}");
    }
}

#[test]
fn every_file_of_a_policy_has_a_row() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/policy");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().replace('_', ""))
        .filter(|name| name != "mod" && name != "tests")
        .collect();
    let rows: BTreeSet<String> = POLICIES.iter().map(|p| p.about().name.to_owned()).collect();
    assert_eq!(files, rows);
}

#[test]
fn names_and_spellings_of_policies_are_unique_and_found() {
    let mut seen = BTreeSet::new();
    for policy in POLICIES {
        let about = policy.about();
        assert!(!about.summary.is_empty());
        for name in about.aliases.iter().chain([&about.name]) {
            assert!(seen.insert(*name), "{name} twice");
            let found = equipoise_client::policy::find(&format!(" {name} ")).unwrap();
            assert_eq!(found.about().name, about.name);
        }
    }
    assert!(equipoise_client::policy::find("nonsense").is_none());
}
