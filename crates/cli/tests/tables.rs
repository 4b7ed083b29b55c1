//! The tables of what there is: every row of the library, and scripts for shells.

#![allow(clippy::unwrap_used)] // a test may panic

mod common;

use common::run;
use equipoise::STRATEGIES;
use equipoise::client::policy::POLICIES;

#[test]
fn every_strategy_and_policy_has_its_line() {
    let ran = run("strategies");
    assert_eq!(ran.code, Some(0));
    assert!(!ran.stdout.contains('\x1b'));
    for row in STRATEGIES {
        let about = row.about();
        let line = ran.stdout.lines().find(|line| line.starts_with(about.name)).unwrap();
        for words in [about.summary, about.use_for, about.needs, about.cost] {
            assert!(line.contains(words), "{words:?} is not in {line:?}");
        }
    }
    for row in POLICIES {
        let about = row.about();
        let line = ran.stdout.lines().find(|line| line.starts_with(about.name)).unwrap();
        assert!(line.contains(about.summary), "{line:?}");
    }
}

#[test]
fn every_strategy_and_policy_is_in_the_document() {
    let document = run("strategies --json").json();
    let names = |key: &str| -> Vec<String> {
        let rows = document[key].as_array().unwrap();
        rows.iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("strategies"), STRATEGIES.iter().map(|r| r.about().name).collect::<Vec<_>>());
    assert_eq!(names("policies"), POLICIES.iter().map(|r| r.about().name).collect::<Vec<_>>());
    let hash = &document["strategies"][4];
    assert_eq!((&hash["name"], &hash["keyed"]), (&"consistenthash".into(), &true.into()));
}

#[test]
fn help_lists_every_strategy_unasked() {
    let ran = run("pick --help");
    for row in STRATEGIES {
        assert!(ran.stdout.contains(row.about().name), "{}", row.about().name);
    }
}

#[test]
fn shells_get_scripts_that_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = run(&format!("completions {shell}"));
        assert_eq!(ran.code, Some(0), "{shell}");
        for command in ["demo", "serve", "call", "pick", "strategies", "completions"] {
            assert!(ran.stdout.contains(command), "{shell}: {command}");
        }
    }
}
