//! What to make of the numbers: for each question that somebody runs a demo for, what was seen here
//! and what to set. Reads the numbers of the chapters and nothing else.

use equipoise::STRATEGIES;
use serde::Serialize;

use super::chapters::{Chapters, affinity, kill, strategies, warmup, weight};
use crate::output::{self, Column};

/// One row of the last table.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Finding {
    /// The situation.
    pub(crate) when: &'static str,
    /// What did best in it, in this run.
    pub(crate) best: String,
    /// What it is compared with.
    pub(crate) instead_of: String,
    /// What to set, as keys of configuration and of URLs.
    pub(crate) set: String,
}

/// Headings of the table.
pub(crate) const COLUMNS: [Column; 4] = [
    Column::Text("WHEN"),
    Column::Text("BEST HERE"),
    Column::Text("INSTEAD OF"),
    Column::Name("SET"),
];

/// The findings as rows.
pub(crate) fn rows(findings: &[Finding]) -> Vec<Vec<String>> {
    let row =
        |f: &Finding| vec![f.when.to_owned(), f.best.clone(), f.instead_of.clone(), f.set.clone()];
    findings.iter().map(row).collect()
}

/// One finding for each chapter that ran.
pub(crate) fn of(chapters: &Chapters) -> Vec<Finding> {
    let all = [
        chapters.strategies.as_deref().and_then(stalls),
        chapters.affinity.as_deref().and_then(caches),
        chapters.kill.as_deref().and_then(deaths),
        chapters.weight.as_ref().and_then(weights),
        chapters.warmup.as_ref().and_then(starts),
    ];
    all.into_iter().flatten().collect()
}

/// What applies when nothing is set, and what others are therefore compared with.
const DEFAULT: &str = "random";

fn stalls(rows: &[strategies::Row]) -> Option<Finding> {
    let order =
        |a: &&strategies::Row, b: &&strategies::Row| a.summary.p99_ms.total_cmp(&b.summary.p99_ms);
    let told =
        |row: &strategies::Row| format!("{}: p99 {:.1} ms", row.strategy, row.summary.p99_ms);
    let best = rows.iter().min_by(order)?;
    let usual = rows.iter().find(|row| row.strategy == DEFAULT).or(rows.iter().max_by(order))?;
    Some(Finding {
        when: "some providers stall",
        best: told(best),
        instead_of: other(&best.strategy, &usual.strategy, told(usual)),
        set: format!("loadbalance={}", best.strategy),
    })
}

fn caches(rows: &[affinity::Row]) -> Option<Finding> {
    let order = |a: &&affinity::Row, b: &&affinity::Row| a.hit_rate.total_cmp(&b.hit_rate);
    let told =
        |row: &affinity::Row| format!("{}: {} hits", row.strategy, output::percent(row.hit_rate));
    // Where no strategy goes by the key, the differences are chance.
    let keyed = |row: &&affinity::Row| {
        let about = STRATEGIES.iter().map(|s| s.about()).find(|about| about.name == row.strategy);
        about.is_some_and(|about| about.keyed)
    };
    let best = rows.iter().filter(keyed).max_by(order)?;
    let usual = rows.iter().find(|row| row.strategy == DEFAULT).or(rows.iter().min_by(order))?;
    Some(Finding {
        when: "providers keep a cache",
        best: told(best),
        instead_of: other(&best.strategy, &usual.strategy, told(usual)),
        set: format!("loadbalance={}", best.strategy),
    })
}

/// What is said of the other one, where there is another one.
fn other(best: &str, usual: &str, told: String) -> String {
    if best == usual { "-".to_owned() } else { told }
}

fn deaths(rows: &[kill::Row]) -> Option<Finding> {
    let order = |row: &&kill::Row| row.summary.failed;
    let told = |row: &kill::Row| {
        format!("{}: {} of {} calls failed", row.policy, row.summary.failed, row.summary.calls)
    };
    let (best, worst) = (rows.iter().min_by_key(order)?, rows.iter().max_by_key(order)?);
    Some(Finding {
        when: "a provider dies",
        best: told(best),
        instead_of: told(worst),
        set: format!("cluster={}", best.policy),
    })
}

fn weights(numbers: &weight::Numbers) -> Option<Finding> {
    let told = |phase: &weight::Phase| {
        format!("weight {}: {} of the calls", phase.weight, output::percent(phase.share))
    };
    let out = numbers.phases.iter().min_by_key(|phase| phase.weight)?;
    Some(Finding {
        when: "a provider is taken out",
        best: format!("{}, {} failed", told(out), numbers.failed),
        instead_of: told(numbers.phases.first()?),
        set: "weight=0".to_owned(),
    })
}

fn starts(numbers: &warmup::Numbers) -> Option<Finding> {
    let (first, last) = (numbers.steps.first()?, numbers.steps.last()?);
    let full = output::percent(last.share);
    Some(Finding {
        when: "a provider has just started",
        best: format!(
            "warmup: {} of the calls, {full} after {:.1} s",
            output::percent(first.share),
            numbers.warmup_ms as f64 / 1000.0
        ),
        instead_of: format!("no warmup: {full} at once"),
        set: "timestamp, warmup=600000".to_owned(),
    })
}
