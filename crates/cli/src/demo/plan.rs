//! What the demo is going to do: its options, checked, with every default filled in. Plain data.

use std::time::Duration;

use equipoise::STRATEGIES;
use equipoise::core::balance::Weights;
use serde::Serialize;

use super::{Chapter, DemoArgs};
use crate::failure::usage;
use crate::options::canonical_strategy;

/// Time that an answer takes.
pub(crate) const DELAY: Duration = Duration::from_millis(5);

/// How long a slow provider stands still.
pub(crate) const PAUSE: Duration = Duration::from_millis(200);

/// From one stop to the next.
pub(crate) const PAUSE_EVERY: Duration = Duration::from_millis(700);

/// What the demo does.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Plan {
    /// How many providers.
    pub(crate) providers: usize,
    /// How many of them stall.
    pub(crate) slow: usize,
    delay_ms: u128,
    pause_ms: u128,
    pause_every_ms: u128,
    /// Calls per second.
    pub(crate) rate: u32,
    /// Length of one run of the first chapter.
    pub(crate) seconds: f64,
    /// Keys in use, in the chapter on affinity.
    pub(crate) keys: u32,
    /// Keys that the cache of one provider holds.
    pub(crate) cache: u32,
    /// Strategies that were asked for; empty for all.
    #[serde(skip)]
    asked: Vec<String>,
    #[serde(skip)]
    pub(crate) chapters: Vec<Chapter>,
}

impl Plan {
    /// Checks what belongs together.
    ///
    /// # Errors
    /// More slow providers than there are.
    pub(crate) fn of(args: DemoArgs) -> anyhow::Result<Self> {
        let slow = args.slow.unwrap_or_else(|| 2.min(args.providers - 1));
        if slow > args.providers {
            anyhow::bail!(usage(format!(
                "--slow {slow}: there are only {} providers (--providers)",
                args.providers
            )));
        }
        let asked: Vec<String> = args.strategy.iter().map(|n| canonical_strategy(n)).collect();
        // In the order of the story, however they were typed.
        let wanted = |c: &Chapter| args.chapter.is_empty() || args.chapter.contains(c);
        let all = [
            Chapter::Strategies,
            Chapter::Affinity,
            Chapter::Kill,
            Chapter::Weight,
            Chapter::Warmup,
        ];
        Ok(Self {
            providers: usize::from(args.providers),
            slow: usize::from(slow),
            delay_ms: DELAY.as_millis(),
            pause_ms: PAUSE.as_millis(),
            pause_every_ms: PAUSE_EVERY.as_millis(),
            rate: args.rate,
            seconds: args.seconds,
            // Each provider's part of the keys fits twice into its cache, so that what differs is
            // who gets which key; all keys do not fit into any.
            keys: 20 * u32::from(args.providers),
            cache: 40,
            asked,
            chapters: all.into_iter().filter(wanted).collect(),
        })
    }

    /// Strategies to compare.
    pub(crate) fn strategies(&self) -> Vec<String> {
        match self.asked.as_slice() {
            [] => STRATEGIES.iter().map(|row| row.about().name.to_owned()).collect(),
            asked => asked.to_vec(),
        }
    }

    /// The strategy of a chapter that is not about strategies: `usual` unless others were asked for.
    pub(crate) fn strategy(&self, usual: &str) -> String {
        self.asked.first().map_or(usual, String::as_str).to_owned()
    }

    /// The same, but one that keeps exactly to weights.
    pub(crate) fn weighted_strategy(&self, usual: &str) -> String {
        let exact = |name: &&String| {
            let row = STRATEGIES.iter().find(|row| row.about().name == name.as_str());
            row.is_some_and(|row| row.about().weights == Weights::Exact)
        };
        self.asked.iter().find(exact).map_or(usual, String::as_str).to_owned()
    }

    /// Length of a run, as a part of the length of a run of the first chapter.
    pub(crate) fn time(&self, part: f64) -> Duration {
        Duration::from_secs_f64(self.seconds * part)
    }
}
