//! The weight of one provider goes to 0 and back while calls go on, as when it is taken out of
//! service by hand.

use anyhow::Context;
use equipoise::core::report::EndpointReport;
use equipoise::core::url::Url;
use equipoise::{Consumer, Report};
use serde::Serialize;

use crate::demo::stage::{Stage, share_between};
use crate::output::{self, Column};

/// What was seen.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Numbers {
    pub(crate) strategy: String,
    /// Address of the provider.
    pub(crate) provider: String,
    pub(crate) phases: Vec<Phase>,
    /// Calls that failed, in all phases.
    pub(crate) failed: u64,
}

/// One weight, and what it was good for.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Phase {
    pub(crate) weight: u32,
    /// Share (0 to 1) that the strategy says it will give.
    pub(crate) expected_share: Option<f64>,
    /// Share of the attempts made from the change on.
    pub(crate) share: f64,
}

const COLUMNS: [Column; 4] = [
    Column::Name("PROVIDER"),
    Column::Number("WEIGHT"),
    Column::Number("EXPECTED"),
    Column::Number("SEEN"),
];

/// The weights, one after the other.
const WEIGHTS: [u32; 3] = [100, 0, 100];

/// Runs the chapter.
///
/// # Errors
/// The library refuses a weight, or the screen cannot be written to.
pub(crate) async fn run(stage: &mut Stage) -> anyhow::Result<Numbers> {
    let strategy = stage.plan.weighted_strategy("roundrobin");
    let urls = stage.fleet.urls();
    let provider = urls.first().context("there is no provider")?.address();
    let consumer = stage.consumer(&strategy, "failover")?;
    let mut phases = Vec::new();
    let mut failed = 0;
    for weight in WEIGHTS {
        consumer.update_urls(weighted(&urls, &provider, weight)).await?;
        // Whatever is counted from here on was chosen with the new weight.
        let before = consumer.report();
        let title = format!("{strategy}, weight of {provider}: {weight}");
        let load = stage.echo(0.5);
        let tally = stage.watch(&title, &consumer, &load).await?;
        failed += tally.summary().failed;
        phases.push(phase(&consumer, &before, &provider, weight));
    }
    let numbers = Numbers { strategy, provider, phases, failed };
    let cells: Vec<Vec<String>> = numbers.phases.iter().map(|p| cells(&numbers, p)).collect();
    stage.screen.table(&COLUMNS, &cells)?;
    stage.screen.line(&format!("{failed} calls failed."))?;
    Ok(numbers)
}

fn weighted(urls: &[Url], address: &str, weight: u32) -> Vec<Url> {
    let mut urls = urls.to_vec();
    for url in urls.iter_mut().filter(|url| url.address() == address) {
        url.set("weight", &weight.to_string());
    }
    urls
}

fn phase(consumer: &Consumer, before: &Report, address: &str, weight: u32) -> Phase {
    let after = consumer.report();
    let of = |e: &&EndpointReport| e.address == address;
    let expected = after.methods.iter().flat_map(|m| &m.endpoints).find(of);
    Phase {
        weight,
        expected_share: expected.and_then(|e| e.expected_share),
        share: share_between(before, &after, address),
    }
}

fn cells(numbers: &Numbers, phase: &Phase) -> Vec<String> {
    vec![
        numbers.provider.clone(),
        phase.weight.to_string(),
        phase.expected_share.map_or_else(|| "-".to_owned(), output::percent),
        output::percent(phase.share),
    ]
}
