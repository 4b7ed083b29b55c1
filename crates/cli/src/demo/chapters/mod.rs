//! The chapters of the demo, one per file: each runs its load, shows a table and keeps the numbers.

pub(crate) mod affinity;
pub(crate) mod kill;
pub(crate) mod strategies;
pub(crate) mod warmup;
pub(crate) mod weight;

use serde::Serialize;

use super::Chapter;
use super::stage::Stage;

/// The numbers of the chapters that ran.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Chapters {
    /// Every strategy under the same load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) strategies: Option<Vec<strategies::Row>>,
    /// Which strategies keep caches warm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) affinity: Option<Vec<affinity::Row>>,
    /// A provider is killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kill: Option<Vec<kill::Row>>,
    /// A weight is changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) weight: Option<weight::Numbers>,
    /// A provider warms up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) warmup: Option<warmup::Numbers>,
}

/// Runs the chapters that were asked for.
///
/// # Errors
/// A provider does not start, or the screen cannot be written to.
pub(crate) async fn run(stage: &mut Stage) -> anyhow::Result<Chapters> {
    let mut chapters = Chapters::default();
    let plan = stage.plan.chapters.clone();
    for (number, chapter) in (1..).zip(&plan) {
        let title = match chapter {
            Chapter::Strategies => "Every strategy under the same load",
            Chapter::Affinity => "Key affinity: each provider has a small cache",
            Chapter::Kill => "A provider is killed under load",
            Chapter::Weight => "A weight goes to 0 and back, at run time",
            Chapter::Warmup => "A provider joins and warms up",
        };
        stage.screen.heading(&format!("{number}/{}  {title}", plan.len()))?;
        match chapter {
            Chapter::Strategies => chapters.strategies = Some(strategies::run(stage).await?),
            Chapter::Affinity => chapters.affinity = Some(affinity::run(stage).await?),
            Chapter::Kill => chapters.kill = Some(kill::run(stage).await?),
            Chapter::Weight => chapters.weight = Some(weight::run(stage).await?),
            Chapter::Warmup => chapters.warmup = Some(warmup::run(stage).await?),
        }
    }
    Ok(chapters)
}
