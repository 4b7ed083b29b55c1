//! Effective weight against the reference rows, and the next change against walking.

use serde_json::Value;

use super::*;

const NOW: i64 = 1_700_000_000_000;
const WARMUP: i64 = DEFAULT_WARMUP_MS;

fn vectors() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/warmup.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A weight of the vectors; the reference's negative ones reach us through [`parse`].
fn weight_of(row: &Value) -> u32 {
    parse(&row["weight"].to_string()).unwrap()
}

#[test]
fn every_row_of_the_reference_holds() {
    let vectors = vectors();
    let rows = vectors["effective_weight"].as_array().unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        let start = row["uptime_ms"].as_i64().map_or(0, |uptime| NOW - uptime);
        let warmup = row["warmup_ms"].as_i64().unwrap();
        // An uptime that would put the start before the epoch needs a later now.
        let (start, now) = if row["uptime_ms"].is_i64() && start <= 0 {
            (1, 1 + row["uptime_ms"].as_i64().unwrap())
        } else {
            (start, NOW)
        };
        assert_eq!(
            u64::from(effective(weight_of(row), start, warmup, now)),
            row["effective"].as_u64().unwrap(),
            "row {}",
            row["id"]
        );
    }
}

#[test]
fn every_row_of_the_inner_formula_holds() {
    let vectors = vectors();
    let rows = vectors["formula"].as_array().unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        let warmup = row["warmup_ms"].as_i64().unwrap();
        let uptime = row["uptime_ms"].as_i64().unwrap();
        let result = row["result"].as_u64().unwrap();
        assert_eq!(u64::from(ramp(weight_of(row), warmup, uptime)), result, "{row}");
    }
}

#[test]
fn case_002_a_clock_ahead_and_uptimes_beyond_32_bits() {
    let weights = |now: i64| {
        [NOW + 5000, NOW - 60_000, NOW - (1 << 31) - 60_000, NOW - (1 << 32) - 60_000]
            .map(|start| effective(100, start, WARMUP, now))
    };
    assert_eq!(weights(NOW), [1, 10, 100, 100]);
    assert_eq!(weights(NOW + 5001)[0], 1);
    assert_eq!(effective(100, NOW + 5000, WARMUP, NOW + 5000 + 12_000), 2);
}

#[test]
fn case_003_the_ramp_is_no_integer_division() {
    let at = |weight, uptime| effective(weight, NOW - uptime, WARMUP, NOW);
    let uptimes = [1, 999, 6000, 59_999, 60_000, 300_000, 599_999, 600_000];
    assert_eq!(uptimes.map(|uptime| at(100, uptime)), [1, 1, 1, 9, 10, 50, 99, 100]);
    assert_eq!([at(200, 60_000), at(3, 300_000), at(3, 599_999)], [20, 1, 2]);
}

/// Walks a whole ramp from well before the start and compares each answer with what really
/// changes next.
fn check_by_walking(weight: u32, start: i64, warmup: i64) {
    let end = start + warmup.max(0) + 3;
    let mut next = None;
    for now in (start - 3..=end).rev() {
        if effective(weight, start, warmup, now + 1) != effective(weight, start, warmup, now) {
            next = Some(now + 1);
        }
        assert_eq!(
            next_change(weight, start, warmup, now),
            next,
            "weight {weight}, start {start}, warmup {warmup}, now {now}"
        );
    }
}

#[test]
fn next_change_is_the_first_instant_with_another_weight() {
    for weight in [0, 1, 2, 3, 14, 28, 100, 999, MAX_WEIGHT, u32::MAX] {
        for warmup in [-5, 0, 1, 2, 3, 100, 997] {
            for start in [-10, 0, 1, 2, 5000] {
                check_by_walking(weight, start, warmup);
            }
        }
    }
}

#[test]
fn next_change_of_the_default_ramp() {
    assert_eq!(next_change(100, NOW, WARMUP, NOW + 60_000), Some(NOW + 66_000));
    // Ahead of our clock by an hour: the first step of the ramp is at weight 2.
    assert_eq!(next_change(100, NOW + 3_600_000, WARMUP, NOW), Some(NOW + 3_612_000));
    // Without a warmup the start itself is the change.
    assert_eq!(next_change(100, NOW + 3_600_000, 0, NOW), Some(NOW + 3_600_000));
    assert_eq!(next_change(100, NOW, WARMUP, NOW + WARMUP), None);
    assert_eq!(next_change(1, NOW, WARMUP, NOW), None);
    assert_eq!(next_change(100, 0, WARMUP, NOW), None);
}

#[test]
fn extreme_arguments_neither_overflow_nor_loop() {
    let extremes = [i64::MIN, i64::MIN + 1, -1, 0, 1, NOW, i64::MAX - 1, i64::MAX];
    for weight in [0, 1, 100, MAX_WEIGHT, u32::MAX] {
        for start in extremes {
            for warmup in extremes {
                for now in extremes {
                    let current = effective(weight, start, warmup, now);
                    assert!(current <= weight && (current > 0 || weight == 0));
                    if let Some(next) = next_change(weight, start, warmup, now) {
                        assert!(next > now);
                        assert_ne!(effective(weight, start, warmup, next), current);
                        assert_eq!(effective(weight, start, warmup, next - 1), current);
                    }
                }
            }
        }
    }
}

#[test]
fn seconds_become_milliseconds() {
    assert_eq!(normal_start(1_700_000_000), 1_700_000_000_000);
    assert_eq!(normal_start(9_999_999_999), 9_999_999_999_000);
    assert_eq!(normal_start(1_000_000_000), 1_000_000_000_000);
    assert_eq!(normal_start(10_000_000_000), 10_000_000_000);
    assert_eq!(normal_start(999_999_999), 999_999_999);
    assert_eq!(normal_start(NOW), NOW);
    assert_eq!([normal_start(0), normal_start(-5), normal_start(i64::MIN)], [0, 0, 0]);
}

#[test]
fn a_weight_is_clamped_or_refused() {
    let good = [
        ("100", 100),
        ("+7", 7),
        ("007", 7),
        ("0", 0),
        ("-0", 0),
        ("-10", 0),
        ("2147483647", MAX_WEIGHT),
        ("2147483648", MAX_WEIGHT),
        ("4294967296", MAX_WEIGHT),
        ("99999999999999999999999", MAX_WEIGHT),
        ("-99999999999999999999999", 0),
    ];
    for (text, weight) in good {
        assert_eq!(parse(text), Some(weight), "{text}");
    }
    for text in ["", "-", "+", "abc", "1.5", " 1", "1 ", "1e3", "+-1", "0x10", "١"] {
        assert_eq!(parse(text), None, "{text:?}");
    }
}
