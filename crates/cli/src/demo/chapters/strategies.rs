//! Every strategy under the same load: who calls the slow providers, and what that costs.

use equipoise::core::report::EndpointReport;
use equipoise::{Report, STRATEGIES};
use serde::Serialize;

use crate::demo::load::Summary;
use crate::demo::plan::{PAUSE, Plan};
use crate::demo::stage::{Stage, picks};
use crate::output::{self, Column};

/// One strategy.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) strategy: String,
    #[serde(flatten)]
    pub(crate) summary: Summary,
    /// Part (0 to 1) of the attempts that went to slow providers.
    pub(crate) slow_share: f64,
    /// What to make of it.
    pub(crate) verdict: String,
    /// What the library reports of each provider.
    pub(crate) providers: Vec<EndpointReport>,
}

const COLUMNS: [Column; 8] = [
    Column::Name("STRATEGY"),
    Column::Number("CALLS"),
    Column::Number("FAILED"),
    Column::Number("MEAN MS"),
    Column::Number("P50 MS"),
    Column::Number("P99 MS"),
    Column::Number("TO SLOW"),
    Column::Text("VERDICT"),
];

/// Runs the chapter.
///
/// # Errors
/// The screen cannot be written to.
pub(crate) async fn run(stage: &mut Stage) -> anyhow::Result<Vec<Row>> {
    let load = stage.echo(1.0);
    let strategies = stage.plan.strategies();
    let mut rows = Vec::new();
    for (number, strategy) in (1..).zip(&strategies) {
        let consumer = stage.consumer(strategy, "failover")?;
        let title = format!("{number}/{}  {strategy}", strategies.len());
        let tally = stage.watch(&title, &consumer, &load).await?;
        let summary = tally.summary();
        let report = consumer.report();
        let slow = stage.fleet.slow();
        let all = picks(&report, |_| true).max(1);
        let slow_share = picks(&report, |address| slow.contains(address)) as f64 / all as f64;
        rows.push(Row {
            strategy: strategy.clone(),
            verdict: verdict(strategy, &stage.plan, slow_share, summary.p99_ms),
            summary,
            slow_share,
            providers: providers(report),
        });
    }
    show(stage, &rows)?;
    Ok(rows)
}

fn providers(report: Report) -> Vec<EndpointReport> {
    report.methods.into_iter().flat_map(|method| method.endpoints).collect()
}

/// Where a slow provider gets less than this part of what a fast one gets, it is avoided.
const AVOIDED: f64 = 0.8;

fn verdict(strategy: &str, plan: &Plan, slow_share: f64, p99_ms: f64) -> String {
    let fast = plan.providers - plan.slow;
    if plan.slow == 0 || fast == 0 {
        return "all providers are alike".to_owned();
    }
    let per_slow = slow_share / plan.slow as f64;
    let per_fast = (1.0 - slow_share) / fast as f64;
    let part = per_slow / per_fast.max(f64::MIN_POSITIVE);
    let about = STRATEGIES.iter().map(|row| row.about()).find(|about| about.name == strategy);
    let keyed = about.is_some_and(|about| about.keyed);
    let spills = about.is_some_and(|about| about.avoids_busy);
    let stall_ms = PAUSE.as_secs_f64() * 1000.0;
    match part {
        _ if part < AVOIDED && p99_ms < stall_ms / 4.0 => {
            format!(
                "a slow one gets {} of a fast one's calls; 99 of 100 calls meet no stall",
                output::percent(part)
            )
        }
        _ if part < AVOIDED => {
            format!("a slow one gets {} of a fast one's calls", output::percent(part))
        }
        _ if keyed && spills => "a key moves only while its provider is full".to_owned(),
        _ if keyed => "a key keeps its provider, slow or not".to_owned(),
        _ => "does not see who is slow".to_owned(),
    }
}

fn show(stage: &mut Stage, rows: &[Row]) -> anyhow::Result<()> {
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            vec![
                row.strategy.clone(),
                row.summary.calls.to_string(),
                row.summary.failed.to_string(),
                output::ms(Some(row.summary.mean_ms)),
                output::ms(Some(row.summary.p50_ms)),
                output::ms(Some(row.summary.p99_ms)),
                output::percent(row.slow_share),
                row.verdict.clone(),
            ]
        })
        .collect();
    stage.screen.table(&COLUMNS, &cells)?;
    let not_made: u64 = rows.iter().map(|row| row.summary.not_made).sum();
    if not_made > 0 {
        stage.screen.line(&format!(
            "{not_made} calls were due but not made: too many were in flight. This machine cannot \
             keep up; lower --rate."
        ))?;
    }
    let late_ms = rows.iter().map(|row| row.summary.late_p99_ms).fold(0.0, f64::max);
    if late_ms > BUSY_MS {
        stage.screen.line(&format!(
            "This machine was busy with something else: 1 of 100 calls started {late_ms:.0} ms late or \
             later, so the times are longer than they should be."
        ))?;
    }
    Ok(())
}

/// Calls that start later than this say more about the machine than about a strategy.
const BUSY_MS: f64 = 20.0;
