//! The conformance suite: puts a strategy to the claims that it makes in its [`About`], all of them
//! and nothing else, through the public functions of `core` that a client calls.
//!
//! ```
//! use std::sync::Arc;
//! # use equipoise_core::balance::Strategies;
//! # let own = Strategies::built_in().default_strategy();
//! // let own: Arc<dyn Strategy> = Arc::new(MyStrategy);
//! if let Err(violations) = equipoise_sim::conformance::check(own) {
//!     for violation in &violations {
//!         eprintln!("{violation}");
//!     }
//!     panic!("{} claims do not hold", violations.len());
//! }
//! ```
//!
//! # Power
//!
//! Shares are compared by chi-square: what is right is refused once in a million seeds, and what
//! sends 2 % of the calls to the wrong endpoint passes less than once in a hundred
//! ([`chi_square`](crate::chi_square) has the sums). Chance comes from fixed seeds, so a strategy
//! that draws from its [`Ask`](equipoise_core::balance::Ask) alone passes always or never.
//!
//! # What every strategy claims
//!
//! It chooses somebody whenever there is a candidate; never one that was tried or is unavailable
//! while another remains; and no candidate goes without calls while all are equal.

mod admitted;
mod churn;
mod clock;
mod keyed;
mod load;
mod violation;
mod weights;

use std::sync::Arc;

use equipoise_core::balance::{About, Strategy};
use equipoise_core::call::{Call, Key, Tried};
use equipoise_core::rng::{Rng, SeededRng};

pub use self::violation::{Claim, Finding, Violation};
use crate::chi_square::fit;
use crate::scene::{Scene, SceneError, providers};

/// The method that the suite calls.
const METHOD: &str = "call";

/// Picks of a test of shares.
const PICKS: u64 = 100_000;

/// Puts a strategy to its claims. Takes some seconds in a debug build.
///
/// # Errors
/// The claims that do not hold, each with the numbers that say so.
pub fn check(strategy: Arc<dyn Strategy>) -> Result<(), Vec<Violation>> {
    let about = strategy.about();
    let mut suite = Suite { strategy, about, keys: SeededRng::new(0x6b65_7973), found: Vec::new() };
    for part in PARTS {
        if let Err(error) = part(&mut suite) {
            suite.found(Claim::Prepares, "a view", Finding::Refused(error.to_string()));
        }
    }
    if suite.found.is_empty() { Ok(()) } else { Err(suite.found) }
}

type Part = fn(&mut Suite) -> Result<(), SceneError>;

const PARTS: &[Part] = &[
    admitted::nobody_and_one,
    admitted::tried,
    admitted::unavailable,
    admitted::tagged,
    admitted::everybody_serves,
    weights::proportional,
    weights::biased,
    weights::ignored,
    weights::zero,
    weights::changed,
    weights::expected_share,
    load::whatever_the_load,
    load::avoids_busy,
    load::avoids_slow,
    load::counts_return,
    keyed::same_key,
    clock::reads,
    clock::warmup,
    churn::members_only,
];

/// A strategy on its way through the suite.
struct Suite {
    strategy: Arc<dyn Strategy>,
    about: About,
    /// Keys of calls, apart from the chance of picks.
    keys: SeededRng,
    found: Vec<Violation>,
}

impl Suite {
    /// A scene with one endpoint for each weight.
    fn scene(&self, weights: &[u32]) -> Result<Scene, SceneError> {
        self.scene_of(&providers(weights))
    }

    fn scene_of<A: AsRef<str>>(&self, providers: &[A]) -> Result<Scene, SceneError> {
        Scene::with(self.strategy.clone(), providers)
    }

    /// The next call: with a key, each as likely as any other, where the strategy is keyed.
    fn call(&mut self) -> Call<'static> {
        let key = match self.about.keyed {
            true => Key::Hashed(self.keys.next_u64() as u32),
            false => Key::Missing,
        };
        Call { key, ..Call::new(METHOD) }
    }

    fn found(&mut self, claim: Claim, setting: &str, finding: Finding) {
        let strategy = self.about.name.to_owned();
        let setting = setting.to_owned();
        self.found.push(Violation { strategy, claim, setting, finding });
    }

    /// Counts `picks` picks by place in the list, each over before the next.
    fn tally(&mut self, scene: &mut Scene, setting: &str, picks: u64) -> Vec<u64> {
        self.tally_after(scene, &Tried::new(), setting, picks)
    }

    fn tally_after(
        &mut self,
        scene: &mut Scene,
        tried: &Tried,
        setting: &str,
        picks: u64,
    ) -> Vec<u64> {
        let mut counts = vec![0; scene.list().len()];
        let mut nobody = 0;
        for _ in 0..picks {
            match scene.pick_after(&self.call(), tried) {
                Ok(place) => counts[place] += 1,
                Err(_) => nobody += 1,
            }
        }
        if nobody > 0 {
            self.found(Claim::Admitted, setting, Finding::Nobody { times: nobody, picks });
        }
        counts
    }

    /// Requires counts to fit shares.
    fn expect_shares(&mut self, claim: Claim, setting: &str, counts: &[u64], shares: &[f64]) {
        let fit = fit(counts, shares);
        if !fit.is_good() {
            let (observed, expected) = (counts.to_vec(), shares.to_vec());
            let (chi_square, p) = (fit.statistic, fit.p);
            self.found(claim, setting, Finding::Shares { observed, expected, chi_square, p });
        }
    }

    /// Requires that only the places for which `may` holds were picked.
    fn expect_only(
        &mut self,
        claim: Claim,
        setting: &str,
        counts: &[u64],
        may: impl Fn(usize) -> bool,
    ) {
        for (place, &times) in counts.iter().enumerate() {
            if times > 0 && !may(place) {
                self.found(claim, setting, Finding::Picked { place, times });
            }
        }
    }

    /// Requires a place to have at most this part of all counts.
    fn expect_at_most(&mut self, claim: Claim, setting: &str, counts: &[u64], most: (usize, f64)) {
        let (place, most) = most;
        let share = share_of(counts, place);
        if share > most {
            self.found(claim, setting, Finding::TooMuch { place, share, most });
        }
    }
}

/// A place's part of all counts.
fn share_of(counts: &[u64], place: usize) -> f64 {
    let total: u64 = counts.iter().sum();
    counts.get(place).copied().unwrap_or(0) as f64 / total.max(1) as f64
}
