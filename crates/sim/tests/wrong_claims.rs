//! Strategies that claim what they do not keep: the suite must say so, and say what. A suite that
//! lets everything pass would pass every other test.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

use std::any::Any;
use std::sync::Arc;

use equipoise_core::balance::{About, Ask, Picker, Prepare, Strategy, Weights};
use equipoise_core::candidates::Candidate;
use equipoise_sim::conformance::{Claim, Finding, Violation, check};

type Rule = fn(&mut Ask<'_>) -> Option<usize>;

/// A strategy that is one function and a claim.
struct Made {
    about: About,
    rule: Rule,
}

struct MadePicker(Rule);

impl Strategy for Made {
    fn about(&self) -> About {
        self.about
    }

    fn prepare(&self, _: &Prepare<'_>) -> Box<dyn Picker> {
        Box::new(MadePicker(self.rule))
    }
}

impl Picker for MadePicker {
    fn pick(&self, ask: &mut Ask<'_>) -> Option<usize> {
        (self.0)(ask)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

const PLAIN: About = About::named("made", "made for a test");

fn violations(about: About, rule: Rule) -> Vec<Violation> {
    check(Arc::new(Made { about, rule })).err().unwrap_or_default()
}

#[track_caller]
fn refuses(about: About, rule: Rule, claims: &[Claim]) {
    let found = violations(about, rule);
    for claim in claims {
        assert!(found.iter().any(|v| v.claim == *claim), "{claim:?} is not among {found:#?}");
    }
}

/// Draws by weight, as `random` does.
fn by_weight(ask: &mut Ask<'_>) -> Option<usize> {
    ask.scan_by_weight(|_| true)
}

/// Draws evenly among those it may.
fn evenly(ask: &mut Ask<'_>) -> Option<usize> {
    let admitted: Vec<usize> = (0..ask.candidates.len()).filter(|p| ask.admits(*p)).collect();
    admitted.get(ask.rng.below(admitted.len())).copied()
}

/// The best by some measure, the first of equal ones.
fn least(ask: &mut Ask<'_>, measure: impl Fn(&Candidate) -> u64) -> Option<usize> {
    let admitted = (0..ask.candidates.len()).filter(|p| ask.admits(*p));
    admitted.min_by_key(|p| measure(&ask.candidates[*p]))
}

#[test]
fn right_ones_pass() {
    let exact = About { weights: Weights::Exact, ..PLAIN };
    assert_eq!(violations(exact, by_weight), []);
    assert_eq!(violations(PLAIN, evenly), []);
    let busy = About { weights: Weights::Ignored, avoids_busy: true, ..PLAIN };
    let least_active: Rule = |ask| {
        let admitted = |p: &usize| ask.admits(*p);
        let active = |p: usize| ask.candidates[p].measurements().active();
        let all: Vec<usize> = (0..ask.candidates.len()).filter(admitted).collect();
        let fewest = all.iter().map(|p| active(*p)).min()?;
        let tied: Vec<usize> = all.into_iter().filter(|p| active(*p) == fewest).collect();
        tied.get(ask.rng.below(tied.len())).copied()
    };
    assert_eq!(violations(busy, least_active), []);
}

#[test]
fn always_the_first() {
    for weights in [Weights::Exact, Weights::Ties] {
        let about = About { weights, ..PLAIN };
        refuses(about, |_| Some(0), &[Claim::Weights(weights), Claim::ZeroWeight]);
    }
    refuses(PLAIN, |_| Some(0), &[Claim::EverybodyServes, Claim::Admitted]);
    let admitted: Rule = |ask| (0..ask.candidates.len()).find(|p| ask.admits(*p));
    refuses(PLAIN, admitted, &[Claim::EverybodyServes]);
}

#[test]
fn weighted_but_blind_to_weights() {
    for weights in [Weights::Exact, Weights::Ties, Weights::Bias] {
        refuses(About { weights, ..PLAIN }, evenly, &[Claim::Weights(weights), Claim::ZeroWeight]);
    }
}

#[test]
fn says_that_it_ignores_weights_and_does_not() {
    refuses(PLAIN, by_weight, &[Claim::Weights(Weights::Ignored)]);
}

/// The smallest fault that is promised to be seen: 2 % of the calls go to the wrong one.
#[test]
fn two_percent_astray() {
    let astray: Rule = |ask| {
        let first = ask.admits(0) && ask.weight(0) > 0;
        if first && ask.rng.below(100) < 2 { Some(0) } else { by_weight(ask) }
    };
    let about = About { weights: Weights::Exact, ..PLAIN };
    refuses(about, astray, &[Claim::Weights(Weights::Exact)]);
}

#[test]
fn a_weight_of_zero_counts_as_one() {
    let rule: Rule = |ask| {
        let weight = |p: usize| u64::from(ask.weight(p).max(1));
        let all: Vec<usize> = (0..ask.candidates.len()).filter(|p| ask.admits(*p)).collect();
        let total = all.iter().map(|p| weight(*p)).sum();
        let mut left = ask.rng.below_u64(total);
        for p in all {
            let weight = u64::from(ask.weight(p).max(1));
            if left < weight {
                return Some(p);
            }
            left -= weight;
        }
        None
    };
    refuses(About { weights: Weights::Exact, ..PLAIN }, rule, &[Claim::ZeroWeight]);
}

#[test]
fn lighter_ones_get_more() {
    let rule: Rule = |ask| {
        let (a, b) = (evenly(ask)?, evenly(ask)?);
        Some(if ask.weight(a) < ask.weight(b) { a } else { b })
    };
    let about = About { weights: Weights::Bias, ..PLAIN };
    refuses(about, rule, &[Claim::Weights(Weights::Bias)]);
}

#[test]
fn exact_until_there_is_load() {
    let rule: Rule = |ask| {
        let n = ask.candidates.len();
        let busy = |p: usize| ask.candidates[p].measurements().active() > 10;
        let any = (0..n).any(|p| ask.admits(p) && !busy(p) && ask.weight(p) > 0);
        let busy: Vec<bool> = (0..n).map(busy).collect();
        if any { ask.scan_by_weight(|p| !busy[p]) } else { by_weight(ask) }
    };
    let about = About { weights: Weights::Exact, ..PLAIN };
    refuses(about, rule, &[Claim::Weights(Weights::Exact)]);
}

#[test]
fn says_that_it_avoids_busy_or_slow_ones_and_does_not() {
    refuses(About { avoids_busy: true, ..PLAIN }, evenly, &[Claim::AvoidsBusy]);
    refuses(About { avoids_slow: true, ..PLAIN }, evenly, &[Claim::AvoidsSlow]);
}

/// Looks at answers only, so that failing makes an endpoint look fast.
#[test]
fn flees_slow_answers_into_failures() {
    let rule: Rule = |ask| {
        let total = |c: &Candidate| {
            let seen = c.measurements().snapshot(ask.clock.nanos());
            seen.recent.micros.checked_div(seen.success).unwrap_or(0)
        };
        let admitted = |p: &usize| ask.admits(*p);
        (0..ask.candidates.len()).filter(admitted).min_by_key(|p| total(&ask.candidates[*p]))
    };
    let about = About { avoids_slow: true, reads_clock: true, ..PLAIN };
    let found = violations(about, rule);
    let failing = |v: &Violation| {
        v.claim == Claim::AvoidsSlow
            && matches!(v.finding, Finding::TooMuch { place: 0, share, .. } if share > 0.9)
            && v.setting.contains("fails")
    };
    assert!(found.iter().any(failing), "{found:#?}");
}

/// Whoever was slow once is never asked again, so nobody can see that it has recovered.
#[test]
fn never_forgives() {
    let rule: Rule = |ask| {
        let mean = |c: &Candidate| c.measurements().snapshot(0).mean_micros();
        let slow = |c: &Candidate| mean(c).is_some_and(|micros| micros > 100_000);
        let slow: Vec<bool> = ask.candidates.iter().map(slow).collect();
        let all: Vec<usize> = (0..slow.len()).filter(|p| ask.admits(*p)).collect();
        let fast: Vec<usize> = all.iter().copied().filter(|p| !slow[*p]).collect();
        let from = if fast.is_empty() { all } else { fast };
        from.get(ask.rng.below(from.len())).copied()
    };
    let found = violations(About { avoids_slow: true, ..PLAIN }, rule);
    let starved = |v: &Violation| {
        v.claim == Claim::AvoidsSlow && matches!(v.finding, Finding::NeverPicked { .. })
    };
    assert!(found.iter().any(starved), "{found:#?}");
}

#[test]
fn says_that_it_is_keyed_and_is_not() {
    refuses(About { keyed: true, ..PLAIN }, evenly, &[Claim::Keyed]);
}

#[test]
fn reads_the_clock_unasked_or_too_often() {
    let once: Rule = |ask| {
        let _ = ask.clock.nanos();
        evenly(ask)
    };
    refuses(PLAIN, once, &[Claim::ReadsClock]);
    assert_eq!(violations(About { reads_clock: true, ..PLAIN }, once), []);
    let twice: Rule = |ask| {
        let _ = (ask.clock.nanos(), ask.clock.wall_ms());
        evenly(ask)
    };
    refuses(About { reads_clock: true, ..PLAIN }, twice, &[Claim::ReadsClock]);
}

#[test]
fn does_not_ask_who_may_serve() {
    let rule: Rule = |ask| Some(ask.rng.below(ask.candidates.len()));
    refuses(PLAIN, rule, &[Claim::Admitted]);
}

#[test]
fn gives_up_or_points_beyond_the_list() {
    let gives_up: Rule = |ask| if ask.rng.below(50) == 0 { None } else { evenly(ask) };
    refuses(PLAIN, |_| None, &[Claim::Admitted]);
    // The view then takes it that all were tried, and lets one of them serve again.
    refuses(PLAIN, gives_up, &[Claim::Admitted]);
    let beyond: Rule = |ask| Some(ask.rng.below(ask.candidates.len() + 1));
    refuses(PLAIN, beyond, &[Claim::Admitted]);
}

#[test]
fn least_of_equal_ones_is_not_by_weight() {
    let rule: Rule = |ask| least(ask, |c| u64::from(c.measurements().active()));
    let about = About { weights: Weights::Ties, avoids_busy: true, ..PLAIN };
    refuses(about, rule, &[Claim::Weights(Weights::Ties), Claim::EverybodyServes]);
}

/// Keeps the weights it was first prepared with.
struct Frozen;

struct FrozenPicker(Vec<u32>);

impl Strategy for Frozen {
    fn about(&self) -> About {
        About { weights: Weights::Exact, ..PLAIN }
    }

    fn prepare(&self, prepare: &Prepare<'_>) -> Box<dyn Picker> {
        let before = prepare.previous.and_then(|(p, _)| p.as_any().downcast_ref::<FrozenPicker>());
        let now = || prepare.candidates.iter().map(Candidate::weight).collect::<Vec<_>>();
        let weights = before.filter(|b| b.0.len() == prepare.candidates.len());
        Box::new(FrozenPicker(weights.map_or_else(now, |b| b.0.clone())))
    }
}

impl Picker for FrozenPicker {
    fn pick(&self, ask: &mut Ask<'_>) -> Option<usize> {
        let weight = |p: usize| u64::from(self.0[p]);
        let all: Vec<usize> = (0..self.0.len()).filter(|p| ask.admits(*p)).collect();
        let total: u64 = all.iter().map(|p| weight(*p)).sum();
        let mut left = ask.rng.below_u64(total);
        for p in &all {
            if left < weight(*p) {
                return Some(*p);
            }
            left -= weight(*p);
        }
        all.first().copied()
    }

    /// The shares of the weights it ought to have seen.
    fn expected_share(&self, _: usize) -> Option<f64> {
        Some(1.0 / self.0.len() as f64)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[test]
fn stale_weights_and_wrong_announcements() {
    let found = check(Arc::new(Frozen)).unwrap_err();
    for claim in [Claim::Warmup, Claim::Weights(Weights::Exact), Claim::ExpectedShare] {
        assert!(found.iter().any(|v| v.claim == claim), "{claim:?} is not among {found:#?}");
    }
}

#[test]
fn a_violation_speaks_in_numbers() {
    let about = About { weights: Weights::Exact, ..PLAIN };
    let found = violations(about, |_| Some(0));
    let first = found.iter().find(|v| v.claim == Claim::Weights(Weights::Exact)).unwrap();
    let Finding::Shares { observed, expected, p, .. } = &first.finding else {
        panic!("{first:?}");
    };
    assert_eq!((observed.as_slice(), expected.as_slice()), (&[100_000, 0][..], &[0.5, 0.5][..]));
    assert_eq!(*p, 0.0);
    assert_eq!(
        first.to_string(),
        "made claims weights Exact; with weights [1, 1]: [100000, 0] does not fit \
         [0.5000, 0.5000] (chi-square 100000.0, p 0.0e0)"
    );
}
