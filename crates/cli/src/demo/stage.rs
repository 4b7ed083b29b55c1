//! What every chapter works with: the providers, the screen, and a way to run load while
//! something happens.

use std::future::Future;
use std::time::Duration;

use equipoise::{Consumer, Report};
use tokio::time::{Instant, MissedTickBehavior};

use super::fleet::{Fleet, Role};
use super::live::{self, Progress};
use super::load::{self, Load, Tally};
use super::plan::{PAUSE_EVERY, Plan};
use super::screen::Screen;
use crate::serve::SERVICE;

/// From one picture of the live view to the next.
const REPAINT: Duration = Duration::from_millis(120);

/// The demo in progress.
pub(crate) struct Stage {
    pub(crate) plan: Plan,
    pub(crate) screen: Screen,
    pub(crate) fleet: Fleet,
}

impl Stage {
    /// Starts the providers.
    ///
    /// # Errors
    /// One does not start.
    pub(crate) async fn open(plan: Plan, mut screen: Screen) -> anyhow::Result<Self> {
        let steady = plan.providers - plan.slow;
        let mut roles = vec![Role::Steady; steady];
        // The slow ones take turns in standing still.
        let apart = PAUSE_EVERY / u32::try_from(plan.slow.max(1)).unwrap_or(1);
        roles.extend((0..plan.slow).map(|i| Role::Slow(apart * u32::try_from(i).unwrap_or(0))));
        screen.line(&format!(
            "Equipoise demo: {} providers in processes of their own, {} of them stalling for 200 ms \
             every {} ms; {} calls per second.",
            plan.providers,
            plan.slow,
            PAUSE_EVERY.as_millis(),
            plan.rate
        ))?;
        let fleet = Fleet::start(&roles, plan.cache).await?;
        Ok(Self { plan, screen, fleet })
    }

    /// A consumer of all providers there are now, with nothing measured yet.
    ///
    /// # Errors
    /// What the library refuses.
    pub(crate) fn consumer(&self, strategy: &str, policy: &str) -> anyhow::Result<Consumer> {
        let urls = self.fleet.urls();
        let builder = equipoise::consumer(SERVICE)
            .endpoints(urls.iter().map(ToString::to_string))
            .strategy(strategy)
            .policy(policy);
        Ok(builder.build()?)
    }

    /// Calls of `echo`, for a part of the usual time.
    pub(crate) fn echo(&self, part: f64) -> Load {
        Load {
            method: "echo",
            rate: f64::from(self.plan.rate),
            length: self.plan.time(part),
            keys: 1_000,
            prefix: "user-".to_owned(),
        }
    }

    /// Runs load to its end, and beside it whatever is to happen to the fleet in the meantime.
    ///
    /// # Errors
    /// The screen cannot be written to, or what happened beside failed.
    pub(crate) async fn drive<'a, T, F>(
        &'a mut self,
        title: &str,
        consumer: &'a Consumer,
        load: &Load,
        beside: impl FnOnce(&'a mut Fleet) -> F,
    ) -> anyhow::Result<(Tally, T)>
    where
        F: Future<Output = anyhow::Result<T>> + 'a,
    {
        let slow = self.fleet.slow();
        let (screen, fleet) = (&mut self.screen, &mut self.fleet);
        let both = async { tokio::join!(load::run(consumer, load), beside(fleet)) };
        let mut both = std::pin::pin!(both);
        let started = Instant::now();
        let mut tick = tokio::time::interval(REPAINT);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            tokio::select! {
                (tally, done) = &mut both => {
                    screen.clear()?;
                    return Ok((tally, done?));
                }
                _ = tick.tick(), if screen.is_live() => {
                    let elapsed = started.elapsed();
                    let progress = Progress { title, elapsed, length: load.length };
                    screen.paint(&live::lines(&progress, &consumer.report(), &slow))?;
                }
            }
        }
    }

    /// Runs load while nothing happens.
    ///
    /// # Errors
    /// The screen cannot be written to.
    pub(crate) async fn watch(
        &mut self,
        title: &str,
        consumer: &Consumer,
        load: &Load,
    ) -> anyhow::Result<Tally> {
        let (tally, ()) = self.drive(title, consumer, load, |_| async { Ok(()) }).await?;
        Ok(tally)
    }
}

/// Attempts per address, from a report.
pub(crate) fn picks(report: &Report, of: impl Fn(&str) -> bool) -> u64 {
    let endpoints = report.methods.iter().flat_map(|m| &m.endpoints);
    endpoints.filter(|e| of(&e.address)).map(|e| e.picks).sum()
}

/// A part of attempts between two reports that an address got, from 0 to 1.
pub(crate) fn share_between(before: &Report, after: &Report, address: &str) -> f64 {
    let added = |of: &dyn Fn(&str) -> bool| picks(after, of).saturating_sub(picks(before, of));
    let (own, all) = (added(&|a| a == address), added(&|_| true));
    own as f64 / all.max(1) as f64
}
