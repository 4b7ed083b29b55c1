//! A provider joins and warms up: its weight, and with it its share, grows from its start on.

use std::time::Duration;

use equipoise::Consumer;
use equipoise::core::report::EndpointReport;
use serde::Serialize;
use tokio::time::Instant;

use crate::demo::fleet::Role;
use crate::demo::stage::{Stage, share_between};
use crate::output::{self, Column};

/// What was seen.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Numbers {
    pub(crate) strategy: String,
    /// Address of the provider that joined.
    pub(crate) provider: String,
    /// Time to full weight.
    pub(crate) warmup_ms: u128,
    pub(crate) steps: Vec<Step>,
    /// Calls that failed.
    pub(crate) failed: u64,
}

/// A stretch of time.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Step {
    /// Since the provider joined.
    pub(crate) from_ms: u128,
    /// Since the provider joined.
    pub(crate) to_ms: u128,
    /// At the end of the stretch.
    pub(crate) effective_weight: u32,
    /// As configured.
    pub(crate) weight: u32,
    /// Share (0 to 1) that the strategy gives it with the weight it has at the end.
    pub(crate) expected_share: Option<f64>,
    /// Share of the attempts made in the stretch.
    pub(crate) share: f64,
}

const COLUMNS: [Column; 4] = [
    Column::Text("SINCE IT JOINED"),
    Column::Number("WEIGHT AT THE END"),
    Column::Number("EXPECTED AT THE END"),
    Column::Number("SEEN ON AVERAGE"),
];

/// Stretches of time that are told apart.
const STEPS: u32 = 6;

/// Of which the warmup takes so many.
const WARMING: u32 = 5;

/// Runs the chapter.
///
/// # Errors
/// The provider does not start, or the screen cannot be written to.
pub(crate) async fn run(stage: &mut Stage) -> anyhow::Result<Numbers> {
    let strategy = stage.plan.weighted_strategy("roundrobin");
    let consumer = stage.consumer(&strategy, "failover")?;
    let load = stage.echo(2.0);
    let stretch = load.length / STEPS;
    let warmup = stretch * WARMING;
    let title = format!("{strategy}, warmup of {:.1} s", warmup.as_secs_f64());
    let watched = &consumer;
    let (tally, (provider, steps)) = stage
        .drive(&title, &consumer, &load, |fleet| async move {
            let joined = fleet.join(Role::Warming(warmup)).await?;
            watched.update_urls(fleet.urls()).await?;
            let address = joined.address();
            let steps = observe(watched, &address, stretch).await;
            Ok((address, steps))
        })
        .await?;
    drop(consumer);
    stage.fleet.part();
    let numbers = Numbers {
        strategy,
        provider,
        warmup_ms: warmup.as_millis(),
        steps,
        failed: tally.summary().failed,
    };
    let cells: Vec<Vec<String>> = numbers.steps.iter().map(cells).collect();
    stage.screen.table(&COLUMNS, &cells)?;
    stage.screen.line(&format!("{} calls failed.", numbers.failed))?;
    Ok(numbers)
}

/// Reads the report at the end of every stretch but the one that may outlast the load.
async fn observe(consumer: &Consumer, address: &str, stretch: Duration) -> Vec<Step> {
    let joined = Instant::now();
    let mut before = consumer.report();
    let mut steps = Vec::new();
    for step in 0..STEPS {
        tokio::time::sleep_until(joined + stretch * (step + 1)).await;
        let after = consumer.report();
        let of = |e: &&EndpointReport| e.address == address;
        if let Some(e) = after.methods.iter().flat_map(|m| &m.endpoints).find(of) {
            steps.push(Step {
                from_ms: (stretch * step).as_millis(),
                to_ms: (stretch * (step + 1)).as_millis(),
                effective_weight: e.effective_weight,
                weight: e.weight,
                expected_share: e.expected_share,
                share: share_between(&before, &after, address),
            });
        }
        before = after;
    }
    steps
}

fn cells(step: &Step) -> Vec<String> {
    let seconds = |ms: u128| ms as f64 / 1000.0;
    vec![
        format!("{:.1} to {:.1} s", seconds(step.from_ms), seconds(step.to_ms)),
        format!("{} of {}", step.effective_weight, step.weight),
        step.expected_share.map_or_else(|| "-".to_owned(), output::percent),
        output::percent(step.share),
    ]
}
