//! `reads_clock`, and weights that grow with time.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use equipoise_core::balance::Weights;
use equipoise_core::call::Tried;
use equipoise_core::clock::Clock;
use equipoise_core::weight::effective;

use super::{Claim, Finding, PICKS, Suite, share_of};
use crate::chi_square::shares_of;
use crate::scene::{START_MS, Scene, SceneError, providers};

/// Counts readings.
struct Counted<'a> {
    clock: &'a dyn Clock,
    reads: AtomicU64,
}

impl Clock for Counted<'_> {
    fn wall_ms(&self) -> i64 {
        self.reads.fetch_add(1, Relaxed);
        self.clock.wall_ms()
    }

    fn nanos(&self) -> u64 {
        self.reads.fetch_add(1, Relaxed);
        self.clock.nanos()
    }
}

pub(super) fn reads(suite: &mut Suite) -> Result<(), SceneError> {
    const N: u64 = 1000;
    let mut scene = suite.scene(&[100, 300, 100, 50])?;
    // The first call prepares, which reads the clock.
    let call = suite.call();
    let _ = scene.pick(&call);
    let view = scene.view().clone();
    let counted = Counted { clock: &*scene.clock, reads: AtomicU64::new(0) };
    for _ in 0..N {
        let call = suite.call();
        let _ = view.choose(&call, &Tried::new(), &mut scene.rng, &counted);
    }
    let reads = counted.reads.into_inner();
    let most = if suite.about.reads_clock { N } else { 0 };
    if reads > most {
        let finding = Finding::ClockRead { reads, picks: N };
        suite.found(Claim::ReadsClock, "four endpoints", finding);
    }
    Ok(())
}

/// The first of four providers starts now; its share grows as its weight does.
pub(super) fn warmup(suite: &mut Suite) -> Result<(), SceneError> {
    for warmup_ms in [600_000, 20_000] {
        let mut list = providers(&[100; 4]);
        list[0].push_str(&format!("&timestamp={START_MS}&warmup={warmup_ms}"));
        let mut scene = suite.scene_of(&list)?;
        let call = suite.call();
        let _ = scene.pick(&call);
        if suite.about.weights == Weights::Ignored {
            if scene.view().next_change_ms().is_some() {
                let finding = Finding::Refused("a view is due though weights are ignored".into());
                suite.found(Claim::Warmup, "one of four providers is new", finding);
            }
            continue;
        }
        for percent in 1..=100 {
            scene.advance_ms(warmup_ms / 100)?;
            follows_the_formula(suite, &scene, warmup_ms as i64);
            // The longer ramp has the finer steps; one look at the other one will do.
            let looks = if warmup_ms > 100_000 { &[1, 10, 25, 50, 100][..] } else { &[50] };
            if looks.contains(&percent) {
                shares_follow(suite, &mut scene, percent);
            }
        }
    }
    Ok(())
}

/// A prepared weight is one that held at some moment of the last second, or of the last hundredth
/// of the warmup if that is shorter.
fn follows_the_formula(suite: &mut Suite, scene: &Scene, warmup_ms: i64) {
    let (call, now) = (suite.call(), scene.clock.wall_ms());
    let lag = (warmup_ms / 100).min(1000);
    let at = |instant: i64| effective(100, START_MS, warmup_ms, instant);
    let (least, most) = (at((now - lag).max(START_MS)), at(now));
    let weight = scene.weight(&call, 0);
    if !(least..=most).contains(&weight) {
        let uptime_ms = now - START_MS;
        let finding = Finding::Weight { place: 0, uptime_ms, weight, least, most };
        suite.found(Claim::Warmup, &format!("warmup {warmup_ms} ms"), finding);
    }
}

fn shares_follow(suite: &mut Suite, scene: &mut Scene, percent: u32) {
    let call = suite.call();
    let weights: Vec<u32> = (0..4).map(|place| scene.weight(&call, place)).collect();
    let setting = format!("one of four providers at {percent} % of its warmup");
    match suite.about.weights {
        Weights::Exact | Weights::Ties => {
            let counts = suite.tally(scene, &setting, PICKS);
            suite.expect_shares(Claim::Warmup, &setting, &counts, &shares_of(&weights));
        }
        // How much less is not claimed; that a provider of a tenth of the weight gets less is.
        Weights::Bias if percent <= 10 => {
            let counts = super::load::in_flight(suite, scene, 40, 8000);
            let most = if suite.about.keyed { 0.25 } else { 0.2 };
            suite.expect_at_most(Claim::Warmup, &setting, &counts, (0, most));
        }
        Weights::Bias if percent == 100 && !suite.about.keyed => {
            let counts = suite.tally(scene, &setting, PICKS);
            if share_of(&counts, 0) < 0.2 {
                let expected = shares_of(&weights);
                suite.expect_shares(Claim::Warmup, &setting, &counts, &expected);
            }
        }
        _ => {}
    }
}
