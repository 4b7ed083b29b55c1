//! What the case tests share: the four providers of the cases, and comparison of counts.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use equipoise_core::call::Call;
use equipoise_core::outcome::Outcome;
use equipoise_sim::chi_square::{fit, shares_of};
use equipoise_sim::scene::Scene;

/// Addresses of A, B, C and D.
pub(crate) const ABCD: [&str; 4] =
    ["10.0.0.1:20880", "10.0.0.2:20880", "10.0.0.3:20880", "10.0.0.4:20880"];

/// The method of the cases.
pub(crate) const METHOD: &str = "getUser";

/// A call without a key.
pub(crate) const CALL: Call<'static> = Call::new(METHOD);

/// URLs of A, B, .. with these parameters each.
pub(crate) fn with(parameters: &[&str]) -> Vec<String> {
    let url = |(address, parameters): (&&str, &&str)| match parameters.is_empty() {
        true => (*address).to_owned(),
        false => format!("{address}?{parameters}"),
    };
    ABCD.iter().zip(parameters).map(url).collect()
}

/// URLs of A, B, .. with these weights.
pub(crate) fn weighted(weights: &[u32]) -> Vec<String> {
    let parameters: Vec<String> = weights.iter().map(|w| format!("weight={w}")).collect();
    with(&parameters.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A scene with this strategy and these weights.
pub(crate) fn scene(strategy: &str, weights: &[u32]) -> Scene {
    Scene::new(strategy, &weighted(weights)).unwrap()
}

/// `A` for place 0 and so on.
pub(crate) fn letter(place: usize) -> char {
    char::from(b'A' + place as u8)
}

/// Who serves the next calls, each over before the next, as letters.
pub(crate) fn letters(scene: &mut Scene, calls: usize) -> String {
    (0..calls).map(|_| letter(scene.pick(&CALL).unwrap())).collect()
}

/// How often each place serves the next calls, each over before the next and in no time.
pub(crate) fn counts(scene: &mut Scene, calls: u64) -> Vec<u64> {
    let mut counts = vec![0; scene.list().len()];
    for _ in 0..calls {
        counts[scene.pick(&CALL).unwrap()] += 1;
    }
    counts
}

/// The same with attempts that are counted in and out.
pub(crate) fn served(scene: &mut Scene, calls: u64, ms: u64, outcome: Outcome) -> Vec<u64> {
    let mut counts = vec![0; scene.list().len()];
    for _ in 0..calls {
        let ticket = scene.start(&CALL).unwrap();
        counts[scene.place_of(ticket.endpoint()).unwrap()] += 1;
        scene.clock.advance_ms(ms);
        ticket.finish(outcome, &*scene.clock);
    }
    counts
}

/// Requires counts to fit these weights at a false alarm of one in a million.
#[track_caller]
pub(crate) fn assert_weights(counts: &[u64], weights: &[u32]) {
    let fit = fit(counts, &shares_of(weights));
    assert!(fit.is_good(), "{counts:?} does not fit weights {weights:?}: {fit:?}");
}

/// Requires a share in percent to be as given, within `points` percentage points.
#[track_caller]
pub(crate) fn assert_percent(counts: &[u64], place: usize, percent: f64, points: f64) {
    let share = counts[place] as f64 * 100.0 / counts.iter().sum::<u64>() as f64;
    assert!((share - percent).abs() <= points, "{counts:?}: {share} %, not {percent} %");
}

/// Tells threads that it is over when it goes, also when the test fails: otherwise they would never
/// end and the failure would never be seen.
pub(crate) struct Over<'a>(pub(crate) &'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}
