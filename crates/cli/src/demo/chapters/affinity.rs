//! Key affinity: each provider remembers the keys it was asked for last. Who gets which key decides
//! whether it has seen it before.

use serde::Serialize;

use crate::demo::load::{Load, Summary};
use crate::demo::stage::Stage;
use crate::output::{self, Column};

/// One strategy.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) strategy: String,
    #[serde(flatten)]
    pub(crate) summary: Summary,
    /// Part (0 to 1) of the calls whose key was in the cache of the provider that got them.
    pub(crate) hit_rate: f64,
}

const COLUMNS: [Column; 5] = [
    Column::Name("STRATEGY"),
    Column::Number("CALLS"),
    Column::Number("HITS"),
    Column::Number("MEAN MS"),
    Column::Number("P50 MS"),
];

/// Calls for each of the keys in one run, on average: the first one can never be a hit.
const CALLS_PER_KEY: f64 = 6.0;

/// Most calls per second, however short the run: a hit is to be worth something.
const MOST_PER_SECOND: f64 = 2_000.0;

/// Part of the usual time that each strategy gets.
const PART: f64 = 0.5;

/// Runs the chapter.
///
/// # Errors
/// The screen cannot be written to.
pub(crate) async fn run(stage: &mut Stage) -> anyhow::Result<Vec<Row>> {
    let strategies = stage.plan.strategies();
    let (keys, cache) = (stage.plan.keys, stage.plan.cache);
    let length = stage.plan.time(PART);
    let rate = f64::from(keys) * CALLS_PER_KEY / length.as_secs_f64();
    let mut rows: Vec<Row> = Vec::new();
    for (number, strategy) in (1..).zip(&strategies) {
        let load = Load {
            method: "get",
            rate: rate.min(MOST_PER_SECOND),
            length,
            keys,
            // Keys of its own, so that no strategy finds the caches filled by another one.
            prefix: format!("{strategy}-"),
        };
        let consumer = stage.consumer(strategy, "failover")?;
        let title = format!("{number}/{}  {strategy}", strategies.len());
        let tally = stage.watch(&title, &consumer, &load).await?;
        let (summary, hit_rate) = (tally.summary(), tally.hit_rate());
        rows.push(Row { strategy: strategy.clone(), summary, hit_rate });
    }
    let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
    stage.screen.table(&COLUMNS, &cells)?;
    let calls = rows.iter().map(|row| row.summary.calls).max().unwrap_or(0);
    let most = 1.0 - f64::from(keys).min(calls as f64) / calls.max(1) as f64;
    stage.screen.line(&format!(
        "{keys} keys, of which {cache} fit into each cache; a hit is answered at once. Each key is new \
         at first, so about {} is the most there can be.",
        output::percent(most)
    ))?;
    Ok(rows)
}

fn cells(row: &Row) -> Vec<String> {
    vec![
        row.strategy.clone(),
        row.summary.calls.to_string(),
        output::percent(row.hit_rate),
        output::ms(Some(row.summary.mean_ms)),
        output::ms(Some(row.summary.p50_ms)),
    ]
}
