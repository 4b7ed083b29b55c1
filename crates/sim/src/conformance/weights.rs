//! `weights`: shares by weight, as exactly as claimed.

use equipoise_core::balance::Weights;
use equipoise_core::call::Tried;

use super::load::in_flight;
use super::{Claim, Finding, PICKS, Suite};
use crate::chi_square::shares_of;
use crate::scene::{Scene, SceneError, providers};

const MAX: u32 = i32::MAX as u32;

pub(super) fn proportional(suite: &mut Suite) -> Result<(), SceneError> {
    let claim = Claim::Weights(suite.about.weights);
    if !matches!(suite.about.weights, Weights::Exact | Weights::Ties) {
        return Ok(());
    }
    let hundred: Vec<u32> = (0..100).map(|place| if place % 2 == 0 { 100 } else { 300 }).collect();
    for weights in [
        &[1, 1][..],
        &[1, 3],
        &[100, 300],
        &[5, 1, 1],
        &[10, 20, 70],
        &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
        &[0, 0, 5, 0, 5],
        &[0, 0, 0],
        &[MAX, MAX, MAX],
        &[MAX, MAX, 102],
        &hundred,
    ] {
        let mut scene = suite.scene(weights)?;
        let setting = match weights.len() {
            100 => "weights 100 and 300 in turn, a hundred endpoints".to_owned(),
            _ => format!("weights {weights:?}"),
        };
        let counts = suite.tally(&mut scene, &setting, PICKS);
        suite.expect_shares(claim, &setting, &counts, &shares_of(weights));
    }
    subset(suite, claim)
}

/// Shares among those that remain, when one is tried or unavailable.
fn subset(suite: &mut Suite, claim: Claim) -> Result<(), SceneError> {
    let left = shares_of(&[1, 2, 0, 4, 5]);
    let mut scene = suite.scene(&[1, 2, 30, 4, 5])?;
    let mut tried = Tried::new();
    tried.add(scene.endpoint(2).clone());
    let setting = "weights [1, 2, 30, 4, 5], the third tried";
    let counts = suite.tally_after(&mut scene, &tried, setting, PICKS);
    suite.expect_shares(claim, setting, &counts, &left);

    scene.endpoint(2).set_available(false);
    for view in ["the old", "a new"] {
        let setting = format!("weights [1, 2, 30, 4, 5], the third unavailable, {view} view");
        let counts = suite.tally(&mut scene, &setting, PICKS);
        suite.expect_shares(claim, &setting, &counts, &left);
        scene.rebuild()?;
    }
    Ok(())
}

/// Heavier ones get more while calls are in flight; equal ones get the same.
pub(super) fn biased(suite: &mut Suite) -> Result<(), SceneError> {
    if suite.about.weights != Weights::Bias {
        return Ok(());
    }
    let weights = [100, 300, 100, 300, 100, 300];
    let mut scene = suite.scene(&weights)?;
    heavier_get_more(suite, &mut scene, &weights);
    if suite.about.keyed {
        return Ok(());
    }
    for weights in [[100; 6], [0; 6], [MAX; 6]] {
        let mut scene = suite.scene(&weights)?;
        let setting = format!("weights {weights:?}");
        let counts = suite.tally(&mut scene, &setting, PICKS);
        let claim = Claim::Weights(Weights::Bias);
        suite.expect_shares(claim, &setting, &counts, &[1.0 / 6.0; 6]);
    }
    Ok(())
}

/// Requires the heavy half of the places to get at least a tenth more than the light half.
fn heavier_get_more(suite: &mut Suite, scene: &mut Scene, weights: &[u32]) {
    let setting = format!("weights {weights:?} and 60 calls in flight");
    let counts = in_flight(suite, scene, 60, 20_000);
    let heaviest = weights.iter().max().copied().unwrap_or(0);
    let light = |place: usize| weights.get(place).is_some_and(|w| *w < heaviest);
    let share = |keep: bool| -> f64 {
        let kept = counts.iter().enumerate().filter(|(place, _)| light(*place) == keep);
        kept.map(|(_, count)| *count as f64).sum::<f64>() / counts.iter().sum::<u64>().max(1) as f64
    };
    if share(true) * 1.1 > share(false) {
        let place = (0..weights.len()).find(|place| light(*place)).unwrap_or(0);
        let finding = Finding::TooMuch { place, share: share(true), most: share(false) / 1.1 };
        suite.found(Claim::Weights(Weights::Bias), &setting, finding);
    }
}

/// With the same chance and the same keys, other weights give the same picks.
pub(super) fn ignored(suite: &mut Suite) -> Result<(), SceneError> {
    if suite.about.weights != Weights::Ignored {
        return Ok(());
    }
    let (mut even, mut uneven) = (suite.scene(&[100; 5])?, suite.scene(&[1, 1000, 7, 0, 300])?);
    for _ in 0..2000 {
        let call = suite.call();
        if let (Ok(from), Ok(to)) = (even.pick(&call), uneven.pick(&call))
            && from != to
        {
            let finding = Finding::Moved { key: None, from, to };
            suite.found(Claim::Weights(Weights::Ignored), "weights other than 100", finding);
            return Ok(());
        }
    }
    Ok(())
}

pub(super) fn zero(suite: &mut Suite) -> Result<(), SceneError> {
    if suite.about.weights == Weights::Ignored {
        return Ok(());
    }
    for weights in [&[0, 7][..], &[7, 0], &[0, 0, 5, 0, 5], &[100, 0, 100]] {
        let mut scene = suite.scene(weights)?;
        let positive = |place: usize| weights.get(place).is_some_and(|w| *w > 0);
        let setting = format!("weights {weights:?}");
        let counts = suite.tally(&mut scene, &setting, 2000);
        suite.expect_only(Claim::ZeroWeight, &setting, &counts, positive);
        let setting = format!("weights {weights:?} and 60 calls in flight");
        let counts = in_flight(suite, &mut scene, 60, 2000);
        suite.expect_only(Claim::ZeroWeight, &setting, &counts, positive);
    }
    // Nobody else is left.
    let mut scene = suite.scene(&[0, 5, 5])?;
    let mut tried = Tried::new();
    tried.add(scene.endpoint(1).clone());
    tried.add(scene.endpoint(2).clone());
    let setting = "weights [0, 5, 5], the others tried";
    let counts = suite.tally_after(&mut scene, &tried, setting, 100);
    suite.expect_only(Claim::ZeroWeight, setting, &counts, |place| place == 0);
    // All 0 is no reason to refuse a call.
    let mut scene = suite.scene(&[0, 0, 0])?;
    suite.tally(&mut scene, "weights [0, 0, 0]", 100);
    Ok(())
}

/// Weights, order and membership that change at run time: the new ones count from the next pick on.
pub(super) fn changed(suite: &mut Suite) -> Result<(), SceneError> {
    let exact = matches!(suite.about.weights, Weights::Exact | Weights::Ties);
    let claim = Claim::Weights(suite.about.weights);
    let mut scene = suite.scene(&[100, 100, 800])?;
    for weights in [&[100, 300][..], &[0, 100], &[100, 0, 300], &[300, 100, 100, 100], &[100, 100]]
    {
        scene.push(&providers(weights))?;
        let setting = format!("weights changed to {weights:?} at run time");
        let counts = suite.tally(&mut scene, &setting, if exact { PICKS } else { 2000 });
        if exact {
            suite.expect_shares(claim, &setting, &counts, &shares_of(weights));
        } else if suite.about.weights == Weights::Bias {
            suite.expect_only(Claim::ZeroWeight, &setting, &counts, |place| weights[place] > 0);
        }
    }
    if exact {
        let mut list = providers(&[1, 3, 0]);
        scene.push(&list)?;
        suite.tally(&mut scene, "weights [1, 3, 0]", 10);
        list.reverse();
        scene.push(&list)?;
        let setting = "the list [1, 3, 0] turned round";
        let counts = suite.tally(&mut scene, setting, PICKS);
        suite.expect_shares(claim, setting, &counts, &[0.0, 0.75, 0.25]);
    }
    Ok(())
}

/// Shares that the picker announces are those it gives.
pub(super) fn expected_share(suite: &mut Suite) -> Result<(), SceneError> {
    for weights in [&[100, 100][..], &[10, 20, 70], &[0, 0, 5, 0, 5], &[0, 0, 0], &[1, 3, 3, 7, 9]]
    {
        let mut scene = suite.scene(weights)?;
        let call = suite.call();
        let prepared = scene.view().candidates(&call, &*scene.clock).clone();
        let announced: Option<Vec<f64>> =
            (0..weights.len()).map(|place| prepared.expected_share(place)).collect();
        let Some(announced) = announced else { continue };
        let setting = format!("weights {weights:?}");
        let sum: f64 = announced.iter().sum();
        if announced.iter().any(|share| !(0.0..=1.0).contains(share)) || (sum - 1.0).abs() > 1e-6 {
            suite.found(Claim::ExpectedShare, &setting, Finding::NoShares { announced });
            continue;
        }
        let counts = suite.tally(&mut scene, &setting, PICKS);
        suite.expect_shares(Claim::ExpectedShare, &setting, &counts, &announced);
    }
    Ok(())
}
