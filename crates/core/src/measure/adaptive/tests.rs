//! Scores by default: the faults that users met, reports, and the comparison rows.

use serde_json::Value;

use super::*;

const NOW: i64 = 1_700_000_000_000;

pub(super) fn vectors() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/adaptive.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// An endpoint with this load and average, last picked and reported at `instant`.
fn endpoint_at(
    instant: i64,
    load: &str,
    ewma: i64,
    requests: usize,
    successes: usize,
) -> AdaptiveState {
    let state = AdaptiveState::new(instant);
    (0..requests).for_each(|_| state.picked(instant));
    (0..successes).for_each(|_| state.succeeded());
    // The first sample counts half against an average of 0.
    state.report(&format!("curTime:{instant},load:{load}"), 2 * ewma, instant);
    state
}

/// The same at `NOW`.
fn endpoint(load: &str, ewma: i64, requests: usize, successes: usize) -> AdaptiveState {
    endpoint_at(NOW, load, ewma, requests, successes)
}

fn measured(score: Score) -> f64 {
    match score {
        Score::Measured(score) => score,
        Score::Neutral => panic!("nothing was reported"),
    }
}

/// Rounded to thousandths, as the expectations are written.
fn thousandths(score: Score) -> f64 {
    (measured(score) * 1000.0).round() / 1000.0
}

#[test]
fn case_065_the_measured_latency_survives_reading() {
    let a = endpoint("50", 5, 11, 10);
    let b = endpoint("50", 100, 10, 10);
    let scores = || (a.score(NOW, 100, 100, Some(NOW)), b.score(NOW, 100, 100, None));
    assert_eq!((thousandths(scores().0), thousandths(scores().1)), (3.837, 5.984));
    assert_eq!(scores(), scores());
    assert_eq!(scores().0.compare(scores().1), Ordering::Less);

    // Two seconds of silence at B, while A goes on.
    let later = NOW + 2000;
    let fresh_a = |now: i64| {
        a.picked(now);
        a.succeeded();
        a.report(&format!("curTime:{now},load:50"), 5, now);
        a.score(now, 100, 100, None)
    };
    assert_eq!(b.score(later, 100, 100, None), Score::Measured(0.0));
    assert_eq!(b.score(later, 100, 100, None).compare(fresh_a(later)), Ordering::Less);
    // One probe is sent; until it is answered, B counts as slow and not as the fastest.
    b.picked(later);
    let silent = b.score(later, 100, 100, Some(later));
    assert_eq!(silent.compare(fresh_a(later)), Ordering::Greater);
    let expected = 50.0 * (200.0_f64.sqrt() + 1.0) * 2.0 / (10.0 / 12.0 * 100.0 + 1.0);
    assert_eq!(silent, Score::Measured(expected));
    // The answer puts the measured latency back in its place.
    b.succeeded();
    b.report(&format!("curTime:{later},load:50"), 100, later);
    let expected = 50.0 * (100.0_f64.sqrt() + 1.0) / (11.0 / 12.0 * 100.0 + 1.0);
    assert_eq!(b.score(later, 100, 100, None), Score::Measured(expected));
}

#[test]
fn case_065_a_silent_endpoint_is_probed_once_per_period() {
    let (a, b) = (endpoint("50", 5, 11, 11), endpoint("50", 100, 10, 10));
    let mut probes = Vec::new();
    for now in (NOW + 1..NOW + 2000).step_by(10) {
        // B never answers again, so what it was given stays unanswered.
        let oldest = probes.first().copied();
        let order = b.score(now, 100, 100, oldest).compare(a.score(now, 100, 100, None));
        if order == Ordering::Less {
            b.picked(now);
            probes.push(now);
        } else {
            a.picked(now);
            a.succeeded();
            a.report(&format!("curTime:{now},load:50"), 5, now);
        }
    }
    assert!((8..=10).contains(&probes.len()), "{probes:?}");
    assert!(probes.windows(2).all(|pair| pair[1] - pair[0] > 200));
}

#[test]
fn case_066_each_candidate_is_measured_by_its_own_timeout() {
    let b = endpoint_at(NOW, "50", 400, 10, 10);
    // When B was last picked that long ago, and A 100 ms ago.
    let scores = |after: i64| {
        let now = NOW + after;
        let a = endpoint_at(now - 100, "50", 100, 10, 10);
        (a.score(now, 100, 1000, None), b.score(now, 100, 5000, None))
    };
    let (a_score, b_score) = scores(3000);
    assert_eq!((thousandths(a_score), thousandths(b_score)), (5.984, 11.424));
    assert_eq!(a_score.compare(b_score), Ordering::Less);
    assert_eq!(b_score.compare(a_score), Ordering::Greater);
    assert!(measured(scores(10_000).1) > 0.0);

    let (a_score, b_score) = scores(10_001);
    assert_eq!(b_score, Score::Measured(0.0));
    assert_eq!(b_score.compare(a_score), Ordering::Less);
    assert_eq!(a_score.compare(b_score), Ordering::Greater);
    // Once: the pick ends it.
    b.picked(NOW + 10_001);
    let (a_score, b_score) = scores(10_001);
    assert_eq!(b_score.compare(a_score), Ordering::Greater);
}

/// Shares of the picks between two endpoints under a clock that stands still.
fn race(one: &AdaptiveState, other: &AdaptiveState) -> [u32; 2] {
    let mut rng = fastrand::Rng::with_seed(67);
    let mut picks = [0; 2];
    for _ in 0..10_000 {
        let order = one.score(NOW, 100, 1000, None).compare(other.score(NOW, 100, 1000, None));
        let first = first_wins(order, 100, 100, |bound| rng.u64(..bound));
        picks[usize::from(!first)] += 1;
    }
    picks
}

#[test]
fn case_067_a_load_that_is_no_number_is_ignored() {
    let normal = endpoint("50", 100, 10, 10);
    for load in ["-1", "-25.0", "NaN", "nan", "inf", "Infinity", "", "abc", "1.0E-4", "1.5.2", "."]
    {
        let odd = endpoint(load, 100, 10, 10);
        assert_eq!(odd.score(NOW, 100, 1000, None), Score::Neutral, "{load}");
        let picks = race(&odd, &normal);
        assert!(picks.iter().all(|count| *count > 4000), "{load}: {picks:?}");
        // Where a usable load is known it stays.
        normal.report(&format!("curTime:{NOW},load:{load}"), 100, NOW);
        assert_eq!(thousandths(normal.score(NOW, 100, 1000, None)), 5.984, "{load}");
    }
    let silent = AdaptiveState::new(NOW);
    silent.report(&format!("curTime:{NOW}"), 100, NOW);
    silent.report("", 100, NOW);
    assert_eq!(silent.score(NOW, 100, 1000, None), Score::Neutral);
    // A time taken when the clock had stepped back counts as none.
    normal.report(&format!("curTime:{NOW},load:50"), -5, NOW);
    let expected = 50.0 * (50.0_f64.sqrt() + 1.0) / (10.0 / 11.0 * 100.0 + 1.0);
    assert_eq!(normal.score(NOW, 100, 1000, None), Score::Measured(expected));
}

#[test]
fn case_068_a_clock_that_steps_back_changes_nothing() {
    let state = endpoint("50", 100, 10, 10);
    let before = state.score(NOW, 100, 1000, Some(NOW));
    assert_eq!(state.score(NOW - 5, 100, 1000, Some(NOW)), before);
    assert_eq!(state.score(i64::MIN, 100, 1000, Some(i64::MAX)), before);
}

#[test]
fn derived_2_a_timeout_of_zero_divides_nothing() {
    let state = endpoint("50", 100, 10, 10);
    for timeout in [0, 1, u32::MAX] {
        for now in [NOW, NOW + 1, NOW + 3, i64::MAX, i64::MIN] {
            for weight in [0, 100, u32::MAX] {
                let score = measured(state.score(now, weight, timeout, Some(NOW)));
                assert!(score.is_finite() && score >= 0.0);
            }
        }
    }
}

#[test]
fn the_latency_floor_holds_while_an_attempt_is_overdue() {
    let state = endpoint("50", 100, 11, 10);
    let score = |oldest| state.score(NOW, 100, 1000, Some(oldest));
    let with = |latency: f64| {
        Score::Measured(50.0 * (latency.sqrt() + 1.0) * 2.0 / (10.0 / 12.0 * 100.0 + 1.0))
    };
    assert_eq!(score(NOW - 1000), with(100.0));
    assert_eq!(score(NOW - 1001), with(2000.0));
    // Who is slower than 2T stays so.
    assert_eq!(endpoint("50", 100, 11, 10).score(NOW, 100, 20, Some(NOW - 21)), with(100.0));
}

#[test]
fn scores_stay_finite_and_counts_never_negative() {
    let state = endpoint(&"9".repeat(308), i64::MAX / 2, 0, 1000);
    assert_eq!(state.score(NOW, 0, 1000, None), Score::Measured(f64::MAX));
    let heavy = endpoint("50", 100, 0, 3);
    assert!(measured(heavy.score(NOW, 100, 1000, None)) > 0.0);
    let idle = endpoint("0", 100, 10, 10);
    assert_eq!(idle.score(NOW, 100, 1000, None), Score::Measured(0.0));
}

#[test]
fn a_report_older_than_the_last_is_ignored_and_an_equal_one_is_not() {
    let state = endpoint("50", 100, 10, 10);
    let before = state.score(NOW, 100, 1000, None);
    state.report(&format!("curTime:{},load:1", NOW - 1), 1, NOW);
    assert_eq!(state.score(NOW, 100, 1000, None), before);
    state.report(&format!("curTime:{NOW},load:100"), 100, NOW);
    assert_eq!(measured(state.score(NOW, 100, 1000, None)), 2.0 * measured(before));
}

#[test]
fn who_never_reported_ties_with_everybody() {
    for other in [Score::Neutral, Score::Measured(0.0), Score::Measured(1e9)] {
        assert_eq!(Score::Neutral.compare(other), Ordering::Equal);
        assert_eq!(other.compare(Score::Neutral), Ordering::Equal);
    }
    let fresh = AdaptiveState::new(NOW);
    assert_eq!(fresh.score(NOW + 1_000_000, 100, 1000, None), Score::Neutral);
}

#[test]
fn reports_are_read_leniently() {
    let read = |text: &str| {
        let report = Report::parse(text);
        (report.provider_time, report.load)
    };
    assert_eq!(read("curTime:17,load:12.5"), (17, Some(12.5)));
    assert_eq!(read("load:5., curTime:17"), (17, Some(5.0)));
    assert_eq!(read("mem:1,curTime:17,load:.5,load:7"), (17, Some(7.0)));
    assert_eq!(read("curTime:1:2,load:3"), (0, Some(3.0)));
    assert_eq!(read("curTime:-17,load:+3"), (0, None));
    assert_eq!(read("curTime:99999999999999999999,load:"), (0, None));
    assert_eq!(read(&format!("load:{}", "9".repeat(400))), (0, None));
    assert_eq!(read("nonsense,,:,"), (0, None));
}

#[test]
fn every_comparison_of_the_reference_holds() {
    let vectors = vectors();
    let rows = vectors["compare"].as_array().unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        let score = |key: &str| row[key].as_f64().unwrap();
        let weight = |key: &str| row[key].as_u64().unwrap() as u32;
        let order = compare_bits(score("load1"), score("load2"));
        let (w1, w2) = (weight("weight1"), weight("weight2"));
        // The whole draw space, asked for at most once.
        let bound = std::cell::Cell::new(1);
        let with = |r: u64| {
            first_wins(order, w1, w2, |below| {
                bound.set(below);
                r
            })
        };
        with(0);
        let firsts = (0..bound.get()).filter(|r| with(*r)).count() as u64;
        let expected = row["expected"].as_str().unwrap();
        let (bound, firsts_expected) = match order {
            Ordering::Less => (1, 1),
            Ordering::Greater => (1, 0),
            Ordering::Equal if w1 + w2 == 0 => (2, 1),
            Ordering::Equal => (u64::from(w1) + u64::from(w2), u64::from(w1)),
        };
        assert_eq!(firsts, firsts_expected, "{expected}");
        let written = match expected {
            "second" => Ordering::Greater,
            text if text == "first" || text.contains("sign bit") || text.ends_with("so first") => {
                Ordering::Less
            }
            _ => Ordering::Equal,
        };
        assert_eq!(order, written, "{expected}");
        if expected.contains("[0,") {
            assert!(expected.contains(&format!("r < {w1} with r uniform in [0,{bound})")));
        }
    }
}
