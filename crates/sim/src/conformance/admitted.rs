//! Whom a strategy may choose at all: candidates that were not tried and are available, while there
//! are such.

use equipoise_core::call::{Call, Tried};

use super::{Claim, Finding, Suite};
use crate::scene::{Scene, SceneError, providers};

/// Picks per combination of tried or unavailable endpoints.
const FEW: u64 = 40;

pub(super) fn nobody_and_one(suite: &mut Suite) -> Result<(), SceneError> {
    let mut empty = suite.scene(&[])?;
    let call = suite.call();
    if let Ok(place) = empty.pick(&call) {
        suite.found(Claim::Admitted, "no endpoint", Finding::Picked { place, times: 1 });
    }
    for weight in [100, 0] {
        let mut scene = suite.scene(&[weight])?;
        suite.tally(&mut scene, &format!("one endpoint of weight {weight}"), FEW);
    }
    Ok(())
}

pub(super) fn tried(suite: &mut Suite) -> Result<(), SceneError> {
    const N: usize = 5;
    let mut scene = suite.scene(&[100, 300, 100, 50, 100])?;
    for mask in 1..1_u32 << N {
        only_admitted(suite, &mut scene, mask, 0, "of five endpoints");
    }
    // So many refusals that no number of repeated draws helps.
    let mut scene = suite.scene(&[100; 60])?;
    let tried = tried_of(&scene, |place| place % 30 != 7);
    let setting = "58 of 60 endpoints tried";
    let counts = suite.tally_after(&mut scene, &tried, setting, 400);
    suite.expect_only(Claim::Admitted, setting, &counts, |place| place % 30 == 7);
    for place in [7, 37] {
        if counts[place] == 0 {
            suite.found(Claim::Admitted, setting, Finding::NeverPicked { place, picks: 400 });
        }
    }
    Ok(())
}

pub(super) fn unavailable(suite: &mut Suite) -> Result<(), SceneError> {
    const N: usize = 5;
    for rebuilt in [false, true] {
        let mut scene = suite.scene(&[100, 300, 100, 50, 100])?;
        let call = suite.call();
        let _ = scene.pick(&call);
        for down in 1..1_u32 << N {
            for place in 0..N {
                scene.endpoint(place).set_available(down >> place & 1 == 0);
            }
            if rebuilt {
                scene.rebuild()?;
            }
            let when = if rebuilt { "in a new view" } else { "in the old view" };
            only_admitted(suite, &mut scene, 0, down, when);
            let tried = down.rotate_left(1) & ((1 << N) - 1);
            only_admitted(suite, &mut scene, tried, down, when);
        }
    }
    Ok(())
}

/// Picks with the places in `tried` tried while those in `down` are unavailable. With nobody left
/// `tried` is forgotten first.
fn only_admitted(suite: &mut Suite, scene: &mut Scene, tried: u32, down: u32, when: &str) {
    let n = scene.list().len();
    let setting = format!("tried {tried:05b}, unavailable {down:05b} (place 0 last) {when}");
    let all = (1_u32 << n) - 1;
    let up = all & !down;
    let admitted = match (up & !tried, up) {
        (0, 0) => all,
        (0, up) => up,
        (fresh, _) => fresh,
    };
    let tried = tried_of(scene, |place| tried >> place & 1 == 1);
    let counts = suite.tally_after(scene, &tried, &setting, FEW);
    suite.expect_only(Claim::Admitted, &setting, &counts, |place| admitted >> place & 1 == 1);
}

fn tried_of(scene: &Scene, which: impl Fn(usize) -> bool) -> Tried {
    let mut tried = Tried::new();
    for place in (0..scene.list().len()).filter(|place| which(*place)) {
        tried.add(scene.endpoint(place).clone());
    }
    tried
}

pub(super) fn tagged(suite: &mut Suite) -> Result<(), SceneError> {
    let mut list = providers(&[100; 6]);
    for gray in list.iter_mut().step_by(2) {
        gray.push_str("&dubbo.tag=gray");
    }
    let mut scene = suite.scene_of(&list)?;
    for tag in [Some("gray"), None] {
        let setting = format!("tag {tag:?} on every other endpoint");
        let mut counts = vec![0; list.len()];
        for _ in 0..10 * FEW {
            let call = Call { tag, ..suite.call() };
            if let Ok(place) = scene.pick(&call) {
                counts[place] += 1;
            }
        }
        let gray = |place: usize| place.is_multiple_of(2);
        suite.expect_only(Claim::Admitted, &setting, &counts, |p| gray(p) == tag.is_some());
        if counts.iter().sum::<u64>() < 10 * FEW {
            let times = 10 * FEW - counts.iter().sum::<u64>();
            suite.found(Claim::Admitted, &setting, Finding::Nobody { times, picks: 10 * FEW });
        }
    }
    Ok(())
}

pub(super) fn everybody_serves(suite: &mut Suite) -> Result<(), SceneError> {
    for n in [2, 5, 40] {
        let mut scene = suite.scene(&vec![100; n])?;
        let (setting, picks) = (format!("{n} equal endpoints"), 400 * n as u64);
        let counts = suite.tally(&mut scene, &setting, picks);
        for place in (0..n).filter(|place| counts[*place] == 0) {
            let finding = Finding::NeverPicked { place, picks };
            suite.found(Claim::EverybodyServes, &setting, finding);
        }
    }
    Ok(())
}
