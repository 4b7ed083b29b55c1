//! Every strategy that we ship is put to its claims, and every strategy and router that has a file
//! has a row in its table.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use equipoise_core::balance::{STRATEGIES, Strategies};
use equipoise_core::route::ROUTERS;
use equipoise_sim::conformance::check;

/// One test per row, so that they run side by side and fail by name.
macro_rules! conforms {
    ($($test:ident: $name:literal),* $(,)?) => {
        $(#[test]
        fn $test() {
            holds($name);
        })*

        #[test]
        fn every_row_has_a_test() {
            let tested = BTreeSet::from([$($name),*]);
            let rows: BTreeSet<_> = STRATEGIES.iter().map(|row| row.about().name).collect();
            assert_eq!(tested, rows);
        }
    };
}

conforms! {
    random: "random",
    round_robin: "roundrobin",
    least_active: "leastactive",
    shortest_response: "shortestresponse",
    consistent_hash: "consistenthash",
    adaptive: "adaptive",
    p2c: "p2c",
    peak_ewma: "peakewma",
    bounded_consistent_hash: "boundedconsistenthash",
}

fn holds(name: &str) {
    let strategy = Strategies::built_in().find(name).unwrap();
    if let Err(violations) = check(strategy) {
        let all: Vec<String> = violations.iter().map(ToString::to_string).collect();
        panic!("{} claims do not hold:\n{}", all.len(), all.join("\n"));
    }
}

#[test]
fn every_strategy_that_has_a_file_has_a_row() {
    let folder = core().join("balance");
    let with: Vec<String> = files_with(&folder, "impl Strategy for ", &["mod"]);
    assert_eq!(with.len(), STRATEGIES.len(), "{with:?}");
    let table = table_of(&folder.join("mod.rs"), "pub static STRATEGIES");
    for file in with {
        assert!(table.contains(&format!("&{file}::")), "balance/{file}.rs has no row");
    }
}

#[test]
fn every_router_that_has_a_file_has_a_row() {
    let folder = core().join("route");
    let with = files_with(&folder, "impl RouterKind for ", &["mod"]);
    assert_eq!(with.len(), ROUTERS.len(), "{with:?}");
    let table = table_of(&folder.join("mod.rs"), "pub static ROUTERS");
    for file in with {
        assert!(table.contains(&format!("&{file}::")), "route/{file}.rs has no row");
    }
}

#[test]
fn names_and_aliases_are_unique() {
    let mut seen = BTreeSet::new();
    for row in STRATEGIES {
        let about = row.about();
        for name in std::iter::once(&about.name).chain(about.aliases) {
            assert!(seen.insert(*name), "{name} twice");
            let found = Strategies::built_in().find(name).unwrap();
            assert_eq!(found.about().name, about.name);
        }
        for text in [about.summary, about.use_for, about.needs, about.cost] {
            assert!(!text.is_empty(), "{}: a column is empty", about.name);
        }
    }
}

fn core() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src")
}

/// Names, without `.rs`, of the files of a folder that hold this text.
fn files_with(folder: &Path, text: &str, but: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .filter(|path| std::fs::read_to_string(path).unwrap().contains(text))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|name| !but.contains(&name.as_str()))
        .collect();
    names.sort();
    names
}

/// The text of a table, from its name to the line that closes it.
fn table_of(file: &Path, name: &str) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    let start = text.find(name).unwrap();
    let end = text[start..].find("];").unwrap();
    text[start..start + end].to_owned()
}
