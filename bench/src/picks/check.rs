//! Whether a contender's traffic goes where it promises. A fast pick of the wrong provider is no
//! pick.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use crate::harness::{IN_FLIGHT, Timed};
use crate::picks::ring::Dubbo;
use crate::stats;
use crate::world::World;

/// What is promised.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expect {
    /// Nothing: there are no providers.
    Nothing,
    /// Drawn by weight.
    Drawn,
    /// Within one turn of the exact share after whole cycles.
    Turns,
    /// The fewest calls in flight, each time.
    Fewest {
        /// Whether its own calls count as well as those at rest.
        counted: bool,
    },
    /// The least answer time x (calls in flight + 1), each time, within a twentieth.
    Soonest {
        /// Whether its own calls count as well as those at rest.
        counted: bool,
    },
    /// Most of the providers, none of them far above its share.
    Spread,
    /// The owner on Dubbo's ring, each time.
    Owner,
    /// Someone with less than its cap of 5/4 of its share, each time.
    Bounded {
        /// Whether its own calls count as well as those at rest.
        counted: bool,
    },
}

/// Picks watched for one verdict.
const PICKS: usize = 20_000;

/// What is wrong, if anything.
pub(crate) fn wrong(
    expect: Expect,
    world: &World,
    timed: &Arc<dyn Timed>,
    until: Instant,
) -> Option<String> {
    match expect {
        Expect::Nothing => None,
        Expect::Drawn => {
            let counts = count(timed, PICKS.max(20 * world.n()), world, until);
            let shares: Vec<f64> = world.weights.iter().map(|w| f64::from(*w)).collect();
            let off = stats::distance(&counts, &shares);
            (off > 6.0).then(|| format!("{off:.1} standard deviations from its shares"))
        }
        Expect::Turns => turns(world, timed, until),
        Expect::Spread => spread(world, timed, until),
        Expect::Owner => {
            let ring = Dubbo::new(world);
            first_wrong(timed, until, |key, provider| {
                let owner = ring.owner(key);
                (owner != provider).then(|| format!("{key} went to {provider}, not {owner}"))
            })
        }
        Expect::Fewest { counted } => each(world, timed, counted, until, |load, provider| {
            let least = load.iter().min().copied().unwrap_or(0);
            (load[provider] > least).then(|| format!("{} in flight, not {least}", load[provider]))
        }),
        Expect::Soonest { counted } => {
            let time = |load: &[u32], i: usize| World::answer_ns(i) * (u64::from(load[i]) + 1);
            each(world, timed, counted, until, |load, provider| {
                let least = (0..load.len()).map(|i| time(load, i)).min().unwrap_or(0);
                let own = time(load, provider);
                (own * 20 > least * 21).then(|| format!("estimate {own}, not {least}"))
            })
        }
        Expect::Bounded { counted } => {
            let total = world.total();
            each(world, timed, counted, until, |load, provider| {
                let all: u64 = load.iter().map(|l| u64::from(*l)).sum();
                let weight = u64::from(world.weights[provider]);
                let cap = (5 * (all + 1) * weight).div_ceil(4 * total);
                (u64::from(load[provider]) >= cap)
                    .then(|| format!("{provider} is at its cap {cap}"))
            })
        }
    }
}

fn count(timed: &Arc<dyn Timed>, picks: usize, world: &World, until: Instant) -> Vec<u64> {
    let mut counts = vec![0; world.n()];
    timed.watch(picks, until, &mut |_, provider| counts[provider] += 1);
    counts
}

fn turns(world: &World, timed: &Arc<dyn Timed>, until: Instant) -> Option<String> {
    let cycle = world.total() as usize;
    let picks = PICKS.div_ceil(cycle) * cycle;
    let counts = count(timed, picks, world, until);
    let made: u64 = counts.iter().sum();
    let off = |(count, weight): (&u64, &u32)| {
        (*count as f64 - f64::from(*weight) * made as f64 / cycle as f64).abs()
    };
    let most = counts.iter().zip(&*world.weights).map(off).fold(0.0, f64::max);
    // A textbook's smooth order leaves its share by more than a turn within a cycle.
    let bound = if made as usize == picks { 1e-6 } else { 3.0 };
    (most > bound).then(|| format!("{most:.1} turns off after {made} picks"))
}

fn spread(world: &World, timed: &Arc<dyn Timed>, until: Instant) -> Option<String> {
    let counts = count(timed, PICKS.max(20 * world.n()), world, until);
    let made: u64 = counts.iter().sum();
    let seen = counts.iter().filter(|c| **c > 0).count();
    let share = |i: usize| f64::from(world.weights[i]) / world.total() as f64 * made as f64;
    let peak = (0..counts.len()).map(|i| counts[i] as f64 / share(i).max(1.0)).fold(0.0, f64::max);
    let few = 2 * seen < world.n().min(made as usize / 8);
    (few || peak > 20.0)
        .then(|| format!("{seen} of {} seen in {made} picks, peak {peak:.1} x", world.n()))
}

fn first_wrong(
    timed: &Arc<dyn Timed>,
    until: Instant,
    mut judge: impl FnMut(&'static str, usize) -> Option<String>,
) -> Option<String> {
    let mut wrong = None;
    timed.watch(PICKS, until, &mut |key, provider| {
        if wrong.is_none() {
            wrong = judge(key, provider);
        }
    });
    wrong
}

/// Judges each pick by the calls in flight at its moment, which on one thread are known.
fn each(
    world: &World,
    timed: &Arc<dyn Timed>,
    counted: bool,
    until: Instant,
    judge: impl Fn(&[u32], usize) -> Option<String>,
) -> Option<String> {
    let mut load: Vec<u32> = (0..world.n()).map(World::at_rest).collect();
    let mut held = VecDeque::new();
    // The judgement itself is linear: with many providers fewer picks must do.
    let mut left = 2_000_000 / world.n().max(100);
    first_wrong(timed, until, |_, provider| {
        if left == 0 {
            return None;
        }
        left -= 1;
        let wrong = judge(&load, provider);
        if counted {
            load[provider] += 1;
            held.push_back(provider);
            if held.len() > IN_FLIGHT {
                let ended: usize = held.pop_front().unwrap_or_default();
                load[ended] -= 1;
            }
        }
        wrong
    })
}
