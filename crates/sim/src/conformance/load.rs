//! `avoids_busy` and `avoids_slow`, and shares that must not depend on load.

use std::collections::VecDeque;

use equipoise_core::balance::Weights;
use equipoise_core::clock::Clock;
use equipoise_core::outcome::Outcome;
use equipoise_core::ticket::Ticket;

use super::{Claim, Finding, PICKS, Suite, share_of};
use crate::chi_square::shares_of;
use crate::scene::{Scene, SceneError};

/// Picks of tests whose effect is large.
const SOME: u64 = 4000;

/// What a load-aware strategy may leave to an endpoint it avoids, as a part of its fair share.
const AVOIDED: f64 = 0.5;

/// Picks while `most` attempts are in flight: each new one ends the oldest.
pub(super) fn in_flight(suite: &mut Suite, scene: &mut Scene, most: usize, picks: u64) -> Vec<u64> {
    let mut counts = vec![0; scene.list().len()];
    let mut open: VecDeque<Ticket> = VecDeque::with_capacity(most);
    for _ in 0..picks {
        if open.len() == most
            && let Some(oldest) = open.pop_front()
        {
            end(suite, scene, oldest, Outcome::Success);
        }
        if let Ok(ticket) = scene.start(&suite.call()) {
            if let Some(place) = scene.place_of(ticket.endpoint()) {
                counts[place] += 1;
            }
            open.push_back(ticket);
        }
    }
    for ticket in open {
        end(suite, scene, ticket, Outcome::Success);
    }
    counts
}

/// Ends an attempt, with a report of equal load where the strategy listens to such.
fn end(suite: &Suite, scene: &Scene, ticket: Ticket, outcome: Outcome) {
    if suite.about.adaptive && outcome == Outcome::Success {
        ticket.report(&format!("curTime:{},load:50", scene.clock.wall_ms()), &*scene.clock);
    }
    ticket.finish(outcome, &*scene.clock);
}

/// Gives every endpoint `rounds` answers, each after the time that `ms` says for its place.
fn sample(suite: &mut Suite, scene: &Scene, rounds: usize, ms: impl Fn(usize) -> u64) {
    let call = suite.call();
    for _ in 0..rounds {
        for place in 0..scene.list().len() {
            let ticket = scene.start_at(&call, place);
            scene.clock.advance_ms(ms(place));
            end(suite, scene, ticket, Outcome::Success);
        }
    }
}

/// Exact weights do not yield to load.
pub(super) fn whatever_the_load(suite: &mut Suite) -> Result<(), SceneError> {
    if suite.about.weights != Weights::Exact {
        return Ok(());
    }
    let weights = [1, 2, 3, 4];
    let mut scene = suite.scene(&weights)?;
    sample(suite, &scene, 5, |place| if place == 3 { 400 } else { 10 });
    let call = suite.call();
    let held: Vec<Ticket> = (0..20).map(|_| scene.start_at(&call, 2)).collect();
    let setting = "weights [1, 2, 3, 4], the third busy, the fourth slow";
    let counts = suite.tally(&mut scene, setting, PICKS);
    let claim = Claim::Weights(Weights::Exact);
    suite.expect_shares(claim, setting, &counts, &shares_of(&weights));
    drop(held);
    Ok(())
}

/// One of four has twenty calls in flight, the others none.
pub(super) fn avoids_busy(suite: &mut Suite) -> Result<(), SceneError> {
    if !suite.about.avoids_busy {
        return Ok(());
    }
    for busy in [0, 3] {
        let mut scene = suite.scene(&[100; 4])?;
        sample(suite, &scene, 5, |_| 10);
        let call = suite.call();
        let held: Vec<Ticket> = (0..20).map(|_| scene.start_at(&call, busy)).collect();
        let setting = format!("20 calls in flight at place {busy} of 4");
        let counts = suite.tally(&mut scene, &setting, SOME);
        suite.expect_at_most(Claim::AvoidsBusy, &setting, &counts, (busy, AVOIDED / 4.0));
        for ticket in held {
            end(suite, &scene, ticket, Outcome::Success);
        }
        // Free again, it is one of four.
        let setting = format!("place {busy} of 4 no longer busy");
        let counts = suite.tally(&mut scene, &setting, SOME);
        if share_of(&counts, busy) == 0.0 {
            let finding = Finding::NeverPicked { place: busy, picks: SOME };
            suite.found(Claim::AvoidsBusy, &setting, finding);
        }
    }
    Ok(())
}

/// One of four takes 500 ms, the others 10 ms; then one fails at once.
pub(super) fn avoids_slow(suite: &mut Suite) -> Result<(), SceneError> {
    if !suite.about.avoids_slow {
        return Ok(());
    }
    for slow in [0, 3] {
        let mut scene = suite.scene(&[100; 4])?;
        sample(suite, &scene, 10, |place| if place == slow { 500 } else { 10 });
        let setting = format!("place {slow} of 4 takes 500 ms, the others 10 ms");
        let counts = suite.tally(&mut scene, &setting, SOME);
        suite.expect_at_most(Claim::AvoidsSlow, &setting, &counts, (slow, AVOIDED / 4.0));
        comes_back(suite, &mut scene, slow);
    }
    let mut scene = suite.scene(&[100; 4])?;
    let call = suite.call();
    for _ in 0..10 {
        scene.attempt(&call, 0, 1, Outcome::NETWORK);
        (1..4).for_each(|place| scene.attempt(&call, place, 10, Outcome::Success));
    }
    let setting = "place 0 of 4 fails after 1 ms, the others answer after 10 ms";
    let counts = suite.tally(&mut scene, setting, SOME);
    suite.expect_at_most(Claim::AvoidsSlow, setting, &counts, (0, AVOIDED / 4.0));
    Ok(())
}

/// For ten minutes each call takes 10 ms, wherever it goes: who was slow once must get some again.
fn comes_back(suite: &mut Suite, scene: &mut Scene, slow: usize) {
    const CALLS: u64 = 6000;
    let mut served = 0;
    for _ in 0..CALLS {
        scene.clock.advance_ms(90);
        if let Ok(ticket) = scene.start(&suite.call()) {
            served += u64::from(scene.place_of(ticket.endpoint()) == Some(slow));
            scene.clock.advance_ms(10);
            end(suite, scene, ticket, Outcome::Success);
        }
    }
    if served == 0 {
        let setting = format!("place {slow} of 4 was slow and is not any more");
        let finding = Finding::NeverPicked { place: slow, picks: CALLS };
        suite.found(Claim::AvoidsSlow, &setting, finding);
    }
}

/// However attempts end, nothing is in flight afterwards.
pub(super) fn counts_return(suite: &mut Suite) -> Result<(), SceneError> {
    let mut scene = suite.scene(&[100; 3])?;
    let ends = [Outcome::Success, Outcome::Business, Outcome::NETWORK, Outcome::TIMEOUT];
    for round in 0..50 {
        let open: Vec<Ticket> = (0..7).filter_map(|_| scene.start(&suite.call()).ok()).collect();
        scene.clock.advance_ms(3);
        for (ticket, outcome) in open.into_iter().zip(ends.iter().cycle().skip(round)) {
            // Every seventh is dropped, as when its caller gives up.
            if (round + ticket.endpoint().address().len()) % 7 == 0 {
                drop(ticket);
            } else {
                end(suite, &scene, ticket, *outcome);
            }
        }
    }
    let call = suite.call();
    for place in 0..3 {
        let active = scene.active(&call, place);
        if active != 0 {
            let finding = Finding::InFlight { place, active };
            suite.found(Claim::Counts, "350 attempts that ended in every way", finding);
        }
    }
    Ok(())
}
