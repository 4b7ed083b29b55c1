//! `equipoise pick` for every strategy: exact orders, shares and owners, and what measurements do.

#![allow(clippy::unwrap_used)] // a test may panic

mod common;

use std::io::Write;

use common::{chi_square, equipoise, run, vectors};
use serde_json::Value;

/// Picks per address, in list order.
fn picks(document: &Value) -> Vec<u64> {
    document["endpoints"].as_array().unwrap().iter().map(|e| e["picks"].as_u64().unwrap()).collect()
}

fn sequence(document: &Value) -> Vec<String> {
    let all = document["sequence"].as_array().unwrap();
    all.iter().map(|a| a.as_str().unwrap().to_owned()).collect()
}

fn pick(line: &str) -> Value {
    run(&format!("pick --json {line}")).json()
}

#[test]
fn random_draws_each_as_often_as_its_weight_says() {
    let document = pick(
        "--strategy random --seed 1 --calls 20000 --endpoint a:1?weight=1 --endpoint b:1?weight=2 \
         --endpoint c:1?weight=3 --endpoint d:1?weight=4 --endpoint e:1?weight=0",
    );
    assert_eq!(document["strategy"], "random");
    let shares: Vec<f64> = document["endpoints"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["expected_share"].as_f64().unwrap())
        .collect();
    assert_eq!(shares, [0.1, 0.2, 0.3, 0.4, 0.0]);
    let picks = picks(&document);
    assert_eq!(picks[4], 0);
    // 3 degrees of freedom: above this once in a million runs, and the seed is fixed.
    assert!(chi_square(&picks[..4], &shares[..4]) < 30.7, "{picks:?}");
}

#[test]
fn a_seed_repeats_and_none_does_not_have_to() {
    let line = "--strategy random --calls 50 --endpoint a:1 --endpoint b:1 --seed";
    assert_eq!(pick(&format!("{line} 7")), pick(&format!("{line} 7")));
    assert_ne!(pick(&format!("{line} 7")), pick(&format!("{line} 8")));
}

#[test]
fn round_robin_gives_every_static_vector_exactly() {
    let address = |place: usize| format!("10.0.0.{}:20880", place + 1);
    let mut rows = 0;
    for row in vectors("smooth-round-robin.json")["static"].as_array().unwrap() {
        let ids: Vec<&str> =
            row["ids"].as_array().unwrap().iter().map(|i| i.as_str().unwrap()).collect();
        let expected: Vec<String> = row["sequence"]
            .as_array()
            .unwrap()
            .iter()
            .map(|id| address(ids.iter().position(|i| id == i).unwrap()))
            .collect();
        let mut words = vec!["pick".to_owned(), "--json".to_owned()];
        words.extend(["--strategy".to_owned(), "roundrobin".to_owned()]);
        words.extend(["--calls".to_owned(), expected.len().to_string()]);
        for (place, weight) in row["weights"].as_array().unwrap().iter().enumerate() {
            words.push("--endpoint".to_owned());
            words.push(format!("{}?weight={weight}", address(place)));
        }
        let document = equipoise(&words).json();
        assert_eq!(sequence(&document), expected, "row {}", row["id"]);
        rows += 1;
    }
    assert_eq!(rows, 17);
}

#[test]
fn least_active_takes_the_least_and_draws_ties_by_weight() {
    // E 3.3.1
    let document = pick(
        "--strategy leastactive --seed 3 --calls 4000 --active a:1=2 --endpoint a:1?weight=100 \
         --endpoint b:1?weight=1 --endpoint c:1?weight=3",
    );
    let counts = picks(&document);
    assert_eq!(counts[0], 0);
    // 1 degree of freedom.
    assert!(chi_square(&counts[1..], &[0.25, 0.75]) < 24.0, "{counts:?}");
    assert_eq!(document["endpoints"][1]["expected_share"], Value::Null);
    // E 3.3.2
    let document = pick(
        "--strategy leastactive --calls 3 --active a:1=1 --active c:1=1 --endpoint a:1 \
         --endpoint b:1 --endpoint c:1",
    );
    assert_eq!(sequence(&document), ["b:1", "b:1", "b:1"]);
}

#[test]
fn held_calls_stay_in_flight() {
    let document = pick(
        "--strategy leastactive --calls 9 --hold --endpoint a:1 --endpoint b:1 \
                         --endpoint c:1",
    );
    assert_eq!(picks(&document), [3, 3, 3]);
}

#[test]
fn shortest_response_goes_by_samples_and_attempts_in_flight() {
    // E 3.4.1: 100 x 3 against an unmeasured one without calls.
    let line = "--strategy shortestresponse --calls 2 --active a:1=2 --sample a:1=100x10 \
                --endpoint a:1 --endpoint b:1";
    assert_eq!(sequence(&pick(line)), ["b:1", "b:1"]);
    let line = "--strategy shortestresponse --calls 2 --sample a:1=10 --sample b:1=30x5 \
                --endpoint a:1 --endpoint b:1";
    assert_eq!(sequence(&pick(line)), ["a:1", "a:1"]);
    // 10 x 4 against 30: in flight counts.
    assert_eq!(sequence(&pick(&format!("{line} --active a:1=3"))), ["b:1", "b:1"]);
}

#[test]
fn a_finished_call_leaves_no_sample() {
    // Were the time 0 of a call recorded, it would pull the average of `a` under that of `b`.
    let line = "--strategy shortestresponse --calls 60 --sample a:1=20 --sample b:1=20 \
                --sample c:1=10 --endpoint a:1 --endpoint b:1 --endpoint c:1";
    assert_eq!(picks(&pick(line)), [0, 0, 60]);
}

#[test]
fn peak_ewma_goes_by_samples_and_attempts_in_flight() {
    let line = "--strategy peakewma --calls 5 --sample a:1=50 --sample b:1=5 --endpoint a:1 \
                --endpoint b:1";
    assert_eq!(picks(&pick(line)), [0, 5]);
    assert_eq!(picks(&pick(&format!("{line} --active b:1=20"))), [5, 0]);
}

#[test]
fn p2c_takes_the_less_loaded_of_two_by_weight() {
    let line = "--strategy p2c --calls 5 --active a:1=1 --endpoint a:1 --endpoint b:1";
    assert_eq!(picks(&pick(line)), [0, 5]);
    let line = "--strategy p2c --calls 5 --active a:1=1 --endpoint a:1?weight=300 --endpoint b:1";
    assert_eq!(picks(&pick(line)), [5, 0]);
}

#[test]
fn adaptive_goes_by_reports_of_load() {
    let line = "--strategy adaptive --calls 3 --now 1700000000000 --endpoint a:1 --endpoint b:1 \
                --report a:1=curTime:1700000000000,load:80 \
                --report b:1=curTime:1700000000000,load:20 --sample a:1=10 --sample b:1=10";
    assert_eq!(picks(&pick(line)), [0, 3]);
    // Less load does not help where the latency is that much longer: 20 x (sqrt(800 / 2) + 1) is
    // more than 80 x (sqrt(10 / 2) + 1).
    let line = line.replace("b:1=10", "b:1=800");
    assert_eq!(picks(&pick(&line)), [3, 0]);
}

#[test]
fn consistent_hash_gives_every_vector_exactly() {
    let file = vectors("consistent-hash.json");
    let rings = file["rings"].as_array().unwrap();
    let mut rows = 0;
    for row in file["vectors"].as_array().unwrap() {
        // Generic calls are unwrapped by the client, not by a calculator.
        if row.get("call").is_some() {
            continue;
        }
        let ring = rings.iter().find(|ring| ring["id"] == row["ring"]).unwrap();
        let mut words = vec!["pick".to_owned(), "--json".to_owned()];
        words.extend(["--strategy".to_owned(), "consistenthash".to_owned()]);
        words.extend(["--param".to_owned(), format!("hash.nodes={}", ring["hash_nodes"])]);
        let indexes = row["hash_arguments"].as_str().unwrap();
        words.extend(["--param".to_owned(), format!("hash.arguments={indexes}")]);
        for address in ring["addresses"].as_array().unwrap() {
            words.extend(["--endpoint".to_owned(), address.as_str().unwrap().to_owned()]);
        }
        match row["arguments"].as_array() {
            Some(arguments) => {
                for argument in arguments {
                    words.extend(["--arg".to_owned(), json(argument)]);
                }
            }
            None => words.extend(["--key".to_owned(), String::new()]),
        }
        let document = equipoise(&words).json();
        assert_eq!(sequence(&document), [row["chosen_address"].as_str().unwrap()], "{row:#}");
        rows += 1;
    }
    assert_eq!(rows, 115);
}

/// An argument of the vectors as JSON.
fn json(argument: &Value) -> String {
    let text = argument["text"].as_str().unwrap();
    match argument["type"].as_str().unwrap() {
        "string" => Value::from(text).to_string(),
        "list" => "[\"a\",\"b\"]".to_owned(),
        "map" => "{\"k\":\"v\"}".to_owned(),
        _ => text.to_owned(),
    }
}

#[test]
fn shares_of_the_circle_add_up_and_the_owner_follows_the_key() {
    let line = "--strategy consistenthash --key user-0 --calls 2 --endpoint 10.0.0.1:20880 \
                --endpoint 10.0.0.2:20880 --endpoint 10.0.0.3:20880";
    let document = pick(line);
    // E 3.5.2
    assert_eq!(sequence(&document), ["10.0.0.2:20880", "10.0.0.2:20880"]);
    let share = |d: &Value, i: usize| d["endpoints"][i]["expected_share"].as_f64().unwrap();
    assert_eq!(share(&document, 0) + share(&document, 1) + share(&document, 2), 1.0);
    // A tried owner is passed over, and its part of the circle falls to the others.
    let without = pick(&format!("{line} --tried 10.0.0.2:20880"));
    assert!(!sequence(&without).contains(&"10.0.0.2:20880".to_owned()));
    assert_eq!(share(&without, 1), 0.0);
    assert_eq!(share(&without, 0) + share(&without, 2), 1.0);
}

#[test]
fn bounded_consistent_hash_spills_over_when_the_owner_is_full() {
    let line = "--strategy boundedconsistenthash --key user-0 --endpoint 10.0.0.1:20880 \
                --endpoint 10.0.0.2:20880 --endpoint 10.0.0.3:20880";
    assert_eq!(sequence(&pick(line)), ["10.0.0.2:20880"]);
    let full = pick(&format!("{line} --active 10.0.0.2:20880=5"));
    assert_ne!(sequence(&full), ["10.0.0.2:20880"]);
}

#[test]
fn every_warmup_vector_holds_at_a_given_time() {
    const NOW: i64 = 1_700_000_000_000;
    let file = vectors("warmup.json");
    let rows = file["effective_weight"].as_array().unwrap();
    let mut list = tempfile::NamedTempFile::new().unwrap();
    writeln!(list, "# {} rows\n", rows.len()).unwrap();
    for (place, row) in rows.iter().enumerate() {
        let (weight, warmup) = (&row["weight"], &row["warmup_ms"]);
        write!(list, "10.0.{}.{}:20880?weight={weight}&warmup={warmup}", place / 200, place % 200)
            .unwrap();
        if let Some(uptime) = row["uptime_ms"].as_i64() {
            write!(list, "&timestamp={}", NOW - uptime).unwrap();
        }
        writeln!(list).unwrap();
    }
    let document = equipoise(&[
        "pick",
        "--json",
        "--now",
        &NOW.to_string(),
        "--endpoints-file",
        list.path().to_str().unwrap(),
    ])
    .json();
    let endpoints = document["endpoints"].as_array().unwrap();
    assert_eq!(endpoints.len(), rows.len());
    for (row, endpoint) in rows.iter().zip(endpoints) {
        assert_eq!(endpoint["effective_weight"], row["effective"], "{row:#}");
    }
}

#[test]
fn duplicates_keep_their_lines_and_share_their_numbers() {
    let document = pick(
        "--strategy roundrobin --calls 4 --endpoint a:1?weight=5 --endpoint b:1?weight=1 \
         --endpoint a:1?weight=3",
    );
    let endpoints = document["endpoints"].as_array().unwrap();
    let addresses: Vec<&str> = endpoints.iter().map(|e| e["address"].as_str().unwrap()).collect();
    assert_eq!(addresses, ["a:1", "b:1", "a:1"]);
    assert_eq!(endpoints[0], endpoints[2]);
    assert_eq!(endpoints[0]["weight"], 3);
    assert_eq!(picks(&document), [3, 1, 3]);
}

#[test]
fn tags_and_disabled_endpoints_leave_the_others_their_share() {
    let line = "--strategy random --calls 3 --endpoint a:1?dubbo.tag=gray&weight=7 --endpoint b:1 \
                --endpoint c:1?disabled=true";
    let document = pick(line);
    assert_eq!(picks(&document), [0, 3, 0]);
    assert_eq!(document["endpoints"][0]["weight"], 7);
    assert_eq!(document["endpoints"][0]["expected_share"], 0.0);
    assert_eq!(picks(&pick(&format!("{line} --tag gray"))), [3, 0, 0]);
}

#[test]
fn tried_endpoints_are_asked_again_only_when_nobody_is_left() {
    let line = "--strategy random --calls 6 --endpoint a:1?weight=3 --endpoint b:1?weight=1 \
                --endpoint c:1?weight=1 --tried a:1";
    let document = pick(line);
    assert_eq!(picks(&document)[0], 0);
    assert_eq!(document["endpoints"][1]["expected_share"], 0.5);
    let all = pick(&format!("{line} --tried b:1 --tried c:1"));
    assert_eq!(all["endpoints"][0]["expected_share"], 0.6);
    assert_eq!(picks(&all).iter().sum::<u64>(), 6);
}

#[test]
fn providers_may_say_the_strategy() {
    let document = pick(
        "--calls 2 --endpoint a:1?loadbalance=roundrobin --endpoint b:1?loadbalance=roundrobin",
    );
    assert_eq!(document["strategy"], "roundrobin");
    assert_eq!(sequence(&document), ["a:1", "b:1"]);
}

#[test]
fn a_method_has_its_own_weights() {
    let line = "--strategy roundrobin --calls 6 --endpoint a:1?weight=1&getUser.weight=5 \
                --endpoint b:1?weight=1";
    assert_eq!(picks(&pick(line)), [3, 3]);
    assert_eq!(picks(&pick(&format!("{line} --method getUser"))), [5, 1]);
}

#[test]
fn people_get_a_table_without_escape_codes() {
    let ran = run("pick --strategy roundrobin --calls 7 --endpoint a:1?weight=5 --endpoint b:1 \
                   --param weight=1");
    assert_eq!(ran.code, Some(0));
    assert!(!ran.stdout.contains('\x1b'));
    assert!(ran.stdout.starts_with("ENDPOINT"), "{}", ran.stdout);
}
