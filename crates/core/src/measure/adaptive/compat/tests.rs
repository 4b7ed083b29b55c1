//! Dubbo's arithmetic against the reference rows, to the bit.

use serde_json::{Value, json};

use super::*;
use crate::measure::adaptive::tests::vectors;

fn state_of(row: &Value) -> CompatState {
    let integer = |key: &str| AtomicI64::new(row[key].as_i64().unwrap());
    let double = |key: &str| AtomicU64::new(row[key].as_f64().unwrap().to_bits());
    CompatState {
        provider_time: integer("current_provider_time"),
        cpu_load: double("provider_cpu_load"),
        last_latency: integer("last_latency"),
        current_time: integer("current_time"),
        picked_at: integer("pick_time"),
        requests: integer("consumer_req"),
        successes: integer("consumer_success"),
        errors: integer("error_req"),
        ewma: double("ewma"),
    }
}

fn snapshot(state: &CompatState) -> Value {
    json!({
        "current_provider_time": state.provider_time.load(Relaxed),
        "provider_cpu_load": f64::from_bits(state.cpu_load.load(Relaxed)),
        "last_latency": state.last_latency.load(Relaxed),
        "current_time": state.current_time.load(Relaxed),
        "pick_time": state.picked_at.load(Relaxed),
        "consumer_req": state.requests.load(Relaxed),
        "consumer_success": state.successes.load(Relaxed),
        "error_req": state.errors.load(Relaxed),
        "ewma": f64::from_bits(state.ewma.load(Relaxed)),
    })
}

fn bits(score: f64) -> String {
    format!("{:#018x}", score.to_bits())
}

#[test]
fn every_row_of_the_reference_holds() {
    let vectors = vectors();
    let rows = vectors["rows"].as_array().unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        let state = state_of(&row["state"]);
        let integer = |key: &str| row[key].as_i64().unwrap();
        let (weight, timeout) = (integer("weight") as u32, integer("timeout_ms") as u32);
        let load = state.load(integer("now"), weight, timeout);
        assert_eq!(bits(load), row["load_bits"], "row {}", row["id"]);
        assert_eq!(snapshot(&state), row["state_after"], "row {}", row["id"]);
    }
}

#[test]
fn every_scenario_of_the_reference_holds() {
    let vectors = vectors();
    let scenarios = vectors["scenarios"].as_array().unwrap();
    assert!(!scenarios.is_empty());
    for scenario in scenarios {
        let start = scenario["t0"].as_i64().unwrap();
        let weight = scenario["weight"].as_u64().unwrap() as u32;
        let timeout = scenario["timeout_ms"].as_u64().unwrap() as u32;
        let state = CompatState::new(start);
        for event in scenario["events"].as_array().unwrap() {
            let now = start + event["at"].as_i64().unwrap();
            let text = |key: &str| event[key].as_str().unwrap();
            match text("do") {
                "load" => assert_eq!(bits(state.load(now, weight, timeout)), event["load_bits"]),
                "pick" => state.picked(now),
                "success" => state.succeeded(),
                "error" => state.failed(),
                "report" => {
                    let report = format!("curTime:{},load:{}", text("curTime"), text("load_text"));
                    // Ours is measured, not text; what is no number counts as 0 there.
                    state.report(&report, text("rt").parse().unwrap_or(0));
                }
                other => panic!("unknown event {other}"),
            }
            assert_eq!(snapshot(&state), event["state_after"], "{}: {event}", scenario["name"]);
        }
    }
}

#[test]
fn a_report_older_than_the_last_is_ignored() {
    let state = CompatState::new(1000);
    state.report("curTime:2000,load:50", 20);
    let before = snapshot(&state);
    state.report("curTime:1999,load:1", 1);
    assert_eq!(snapshot(&state), before);
}

#[test]
fn extreme_arguments_do_not_overflow() {
    let extremes = [i64::MIN, -1, 0, 1, i64::MAX];
    for picked in extremes {
        for now in extremes {
            for timeout in [0, 1, u32::MAX] {
                let state = CompatState::new(picked);
                state.report("curTime:9223372036854775807,load:9", i64::MAX);
                state.picked(picked);
                assert!(!state.load(now, u32::MAX, timeout).is_nan());
                state.undone();
                assert_eq!(state.requests.load(Relaxed), 0);
            }
        }
    }
}
