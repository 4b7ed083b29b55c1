//! `keyed`: the same key goes to the same endpoint, as long as load does not speak against it.

use equipoise_core::call::{Call, Key, Tried};

use super::{Claim, Finding, Suite};
use crate::scene::{Scene, SceneError};

/// Keys that are followed.
const KEYS: usize = 200;

/// Calls of each key.
const TIMES: usize = 10;

pub(super) fn same_key(suite: &mut Suite) -> Result<(), SceneError> {
    if !suite.about.keyed {
        return Ok(());
    }
    let mut scene = suite.scene(&[100; 6])?;
    let calls: Vec<_> = (0..KEYS).map(|_| suite.call()).collect();
    let mut homes = vec![None; KEYS];
    for step in ["", ", listed again", ", after another was away"] {
        if step == ", listed again" {
            scene.rebuild()?;
        } else if step == ", after another was away" {
            scene.endpoint(2).set_available(false);
            scene.rebuild()?;
            suite.tally(&mut scene, "one of six away", 100);
            scene.endpoint(2).set_available(true);
            scene.rebuild()?;
        }
        let setting = format!("six endpoints{step}");
        for (call, home) in calls.iter().zip(&mut homes) {
            stays(suite, &mut scene, (call, &Tried::new()), home, &setting);
        }
    }
    // The second choice of a key is as steady as the first.
    for (call, home) in calls.iter().zip(&homes) {
        let mut tried = Tried::new();
        tried.add(scene.endpoint(home.unwrap_or(0)).clone());
        stays(suite, &mut scene, (call, &tried), &mut None, "six endpoints, the key's own tried");
    }
    Ok(())
}

/// Calls several times and requires one endpoint: the one in `home`, where there is one already.
fn stays(
    suite: &mut Suite,
    scene: &mut Scene,
    (call, tried): (&Call<'_>, &Tried),
    home: &mut Option<usize>,
    setting: &str,
) {
    let key = match call.key {
        Key::Hashed(hash) => Some(hash),
        _ => None,
    };
    for _ in 0..TIMES {
        let Ok(to) = scene.pick_after(call, tried) else {
            suite.found(Claim::Keyed, setting, Finding::Nobody { times: 1, picks: 1 });
            return;
        };
        let from = *home.get_or_insert(to);
        if from != to {
            suite.found(Claim::Keyed, setting, Finding::Moved { key, from, to });
            return;
        }
    }
}
