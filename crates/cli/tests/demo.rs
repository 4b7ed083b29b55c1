//! The demo, in small: its document, its tables, and that it leaves no provider behind.

#![allow(clippy::unwrap_used)] // a test may panic

mod common;

use std::net::TcpStream;

use common::run;
use serde_json::Value;

/// Whether nobody listens at any address of the document any more.
fn all_gone(document: &Value) -> bool {
    let rows = document["chapters"]["strategies"].as_array().unwrap();
    let endpoints = rows.iter().flat_map(|row| row["providers"].as_array().unwrap());
    let mut addresses: Vec<&str> = endpoints.map(|e| e["address"].as_str().unwrap()).collect();
    addresses.sort_unstable();
    addresses.dedup();
    assert_eq!(addresses.len(), 3);
    addresses.iter().all(|address| TcpStream::connect(address).is_err())
}

#[test]
fn two_strategies_make_a_document_and_leave_no_provider() {
    let ran = run("demo --chapter strategies --seconds 1 --strategy random,leastactive \
                   --providers 3 --json");
    let document = ran.json();
    assert!(!ran.stdout.contains('\x1b'));
    let rows = document["chapters"]["strategies"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["strategy"].as_str().unwrap()).collect();
    assert_eq!(names, ["random", "leastactive"]);
    for row in rows {
        let endpoints = row["providers"].as_array().unwrap();
        let picks: u64 = endpoints.iter().map(|e| e["picks"].as_u64().unwrap()).sum();
        let calls = row["calls"].as_u64().unwrap();
        assert!(calls > 0 && picks >= calls, "{row:#}");
        assert!(!row["verdict"].as_str().unwrap().is_empty());
    }
    assert_eq!(
        (&document["fleet"]["providers"], &document["fleet"]["slow"]),
        (&3.into(), &2.into())
    );
    assert_eq!(document["findings"].as_array().unwrap().len(), 1);
    assert!(all_gone(&document));
}

#[test]
fn every_chapter_shows_what_it_promises() {
    let document =
        run("demo --seconds 0.5 --strategy random,consistenthash --providers 3 --slow 1 \
                        --rate 200 --json")
        .json();
    let chapters = &document["chapters"];
    let hits = |i: usize| chapters["affinity"][i]["hit_rate"].as_f64().unwrap();
    assert!(hits(1) > hits(0), "{:#}", chapters["affinity"]);
    let [failover, failfast] = chapters["kill"].as_array().unwrap().as_slice() else {
        panic!("{:#}", chapters["kill"])
    };
    assert_eq!(
        (&failover["policy"], &failfast["policy"]),
        (&"failover".into(), &"failfast".into())
    );
    assert_eq!(failover["failed"], 0, "{failover:#}");
    assert_ne!(failover["killed"], failfast["killed"]);
    let phases = chapters["weight"]["phases"].as_array().unwrap();
    let seen: Vec<(u64, bool)> = phases
        .iter()
        .map(|p| (p["weight"].as_u64().unwrap(), p["share"].as_f64().unwrap() > 0.0))
        .collect();
    assert_eq!(seen, [(100, true), (0, false), (100, true)]);
    assert_eq!(chapters["weight"]["failed"], 0);
    let weights: Vec<u64> = chapters["warmup"]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["effective_weight"].as_u64().unwrap())
        .collect();
    assert!(weights.is_sorted() && weights.last() == Some(&100), "{weights:?}");
    assert_eq!(document["findings"].as_array().unwrap().len(), 5);
    assert!(all_gone(&document));
}

#[test]
fn without_a_terminal_the_demo_is_plain_text_that_ends_with_a_table() {
    let ran = run("demo --chapter strategies,weight --seconds 0.3 --strategy roundrobin \
                   --providers 2");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:#?}");
    assert!(!ran.stdout.contains('\x1b'));
    let (_, end) = ran.stdout.split_once("What to make of it").unwrap();
    for word in ["WHEN", "BEST HERE", "SET", "loadbalance=roundrobin", "weight=0"] {
        assert!(end.contains(word), "{end}");
    }
}

#[cfg(target_os = "linux")] // whose files tell the children of a process
mod ended_early {
    use std::io::{BufRead, BufReader, Lines};
    use std::process::{Child, ChildStdout, Command, Stdio};

    use super::common;

    /// A demo whose providers listen.
    fn started() -> (Child, Lines<BufReader<ChildStdout>>) {
        let mut demo = common::command()
            .args(["demo", "--seconds", "60", "--providers", "3"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines();
        assert!(lines.by_ref().any(|line| line.unwrap().starts_with("1/5")));
        (demo, lines)
    }

    /// Ids of its providers.
    fn children(demo: &Child) -> Vec<u32> {
        let id = demo.id();
        let mut all = Vec::new();
        for thread in std::fs::read_dir(format!("/proc/{id}/task")).unwrap() {
            let file = thread.unwrap().path().join("children");
            let text = std::fs::read_to_string(file).unwrap();
            all.extend(text.split_whitespace().map(|id| id.parse::<u32>().unwrap()));
        }
        assert_eq!(all.len(), 3);
        all
    }

    /// Whether a process runs; one that has ended and was not yet asked for does not.
    fn runs(id: u32) -> bool {
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{id}/stat")) else { return false };
        let state = stat.rsplit_once(") ").unwrap().1.chars().next();
        state != Some('Z') && state != Some('X')
    }

    #[test]
    fn ctrl_c_ends_the_providers_first() {
        let (mut demo, _lines) = started();
        let providers = children(&demo);
        let id = demo.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        assert_eq!(demo.wait().unwrap().code(), Some(130));
        assert!(!providers.into_iter().any(runs));
    }

    #[test]
    fn providers_end_by_themselves_when_the_demo_is_killed() {
        let (mut demo, _lines) = started();
        let providers = children(&demo);
        demo.kill().unwrap();
        demo.wait().unwrap();
        // Their standard input has closed; they need no more than a moment.
        while providers.iter().any(|id| runs(*id)) {
            std::thread::yield_now();
        }
    }
}
