//! A provider is killed under load, while calls are in flight there: once under `failover`, once
//! under `failfast`.

use std::time::Duration;

use anyhow::Context;
use equipoise::{Consumer, Report};
use serde::Serialize;
use tokio::time::Instant;

use crate::demo::load::Summary;
use crate::demo::stage::Stage;
use crate::output::{self, Column};

/// One policy.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) policy: String,
    pub(crate) strategy: String,
    #[serde(flatten)]
    pub(crate) summary: Summary,
    /// Address of the provider that was killed.
    pub(crate) killed: String,
    /// Calls that were in flight there at that moment.
    pub(crate) in_flight: u32,
    /// How the first call failed, if one did.
    pub(crate) first_error: Option<String>,
}

const COLUMNS: [Column; 6] = [
    Column::Name("POLICY"),
    Column::Number("CALLS"),
    Column::Number("IN FLIGHT THERE"),
    Column::Number("FAILED CALLS"),
    Column::Number("P99 MS"),
    Column::Text("VERDICT"),
];

/// Calls in flight that are worth waiting for before the blow.
const WORTH_IT: u32 = 3;

/// Runs the chapter.
///
/// # Errors
/// A provider cannot be killed or replaced, or the screen cannot be written to.
pub(crate) async fn run(stage: &mut Stage) -> anyhow::Result<Vec<Row>> {
    let strategy = stage.plan.strategy("roundrobin");
    let load = stage.echo(1.0);
    let mut rows = Vec::new();
    for policy in ["failover", "failfast"] {
        let victim = stage.fleet.victim().context("there is nobody to kill")?;
        let consumer = stage.consumer(&strategy, policy)?;
        let title = format!("{policy} over {strategy}");
        let (address, gone) = (victim.address(), victim.clone());
        let watched = &consumer;
        let (tally, in_flight) = stage
            .drive(&title, &consumer, &load, |fleet| async move {
                let in_flight = best_moment(watched, &gone.address(), load.length).await;
                fleet.kill(&gone)?;
                Ok(in_flight)
            })
            .await?;
        stage.fleet.replace(&victim).await?;
        rows.push(Row {
            policy: policy.to_owned(),
            strategy: strategy.clone(),
            summary: tally.summary(),
            killed: address,
            in_flight,
            first_error: tally.first_error,
        });
    }
    let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
    stage.screen.table(&COLUMNS, &cells)?;
    stage.screen.line(
        "failover asks again although the first provider may have done the work; for calls that must \
         not be done twice there is failfast.",
    )?;
    Ok(rows)
}

/// Waits until calls have piled up at the victim, and says how many; not for ever.
async fn best_moment(consumer: &Consumer, address: &str, length: Duration) -> u32 {
    const LOOK: Duration = Duration::from_millis(1);
    tokio::time::sleep(length / 4).await;
    let last = Instant::now() + length / 2;
    loop {
        let active = active(&consumer.report(), address);
        if active >= WORTH_IT || Instant::now() >= last {
            return active;
        }
        tokio::time::sleep(LOOK).await;
    }
}

fn active(report: &Report, address: &str) -> u32 {
    let endpoints = report.methods.iter().flat_map(|m| &m.endpoints);
    endpoints.filter(|e| e.address == address).map(|e| e.active).sum()
}

fn cells(row: &Row) -> Vec<String> {
    let verdict = match (row.policy.as_str(), row.summary.failed) {
        ("failover", 0) => "nobody noticed: other providers took the calls over".to_owned(),
        ("failfast", 0) => "no call was in flight there".to_owned(),
        (_, failed) => format!("{failed} callers saw an error"),
    };
    vec![
        row.policy.clone(),
        row.summary.calls.to_string(),
        row.in_flight.to_string(),
        row.summary.failed.to_string(),
        output::ms(Some(row.summary.p99_ms)),
        verdict,
    ]
}
