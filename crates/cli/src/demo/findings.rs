//! What to make of the numbers: for each question that somebody runs a demo for, what was seen here
//! and what to set. Reads the numbers of the chapters and nothing else.

use serde::Serialize;

use super::chapters::{Chapters, affinity, kill, strategies, warmup, weight};
use super::plan::Plan;
use crate::output::{self, Column};

/// One row of the last table.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Finding {
    /// The situation.
    pub(crate) when: &'static str,
    /// What was seen in this run.
    pub(crate) seen: String,
    /// What to set, as keys of configuration and of URLs.
    pub(crate) set: String,
}

/// Headings of the table.
pub(crate) const COLUMNS: [Column; 3] =
    [Column::Text("WHEN"), Column::Text("SEEN HERE"), Column::Text("SET")];

/// The findings as rows.
pub(crate) fn rows(findings: &[Finding]) -> Vec<Vec<String>> {
    let row = |f: &Finding| vec![f.when.to_owned(), f.seen.clone(), f.set.clone()];
    findings.iter().map(row).collect()
}

/// One finding for each chapter that ran.
pub(crate) fn of(chapters: &Chapters, plan: &Plan) -> Vec<Finding> {
    let of_strategies = chapters.strategies.as_deref().and_then(|rows| stalls(rows, plan));
    let all = [
        of_strategies,
        chapters.affinity.as_deref().and_then(caches),
        chapters.kill.as_deref().map(deaths),
        chapters.weight.as_ref().map(weights),
        chapters.warmup.as_ref().and_then(starts),
    ];
    all.into_iter().flatten().collect()
}

fn stalls(rows: &[strategies::Row], plan: &Plan) -> Option<Finding> {
    let by_p99 =
        |a: &&strategies::Row, b: &&strategies::Row| a.summary.p99_ms.total_cmp(&b.summary.p99_ms);
    let best = rows.iter().min_by(by_p99)?;
    let worst = rows.iter().max_by(by_p99)?;
    let told = |row: &strategies::Row| {
        format!(
            "{}: p99 {:.1} ms, {} to slow ones",
            row.strategy,
            row.summary.p99_ms,
            output::percent(row.slow_share)
        )
    };
    let fair = output::percent(plan.fair_slow_share());
    Some(Finding {
        when: "some providers stall",
        seen: match rows.len() {
            1 => told(best),
            _ => format!("{}; {} (they are {fair} of all)", told(best), told(worst)),
        },
        set: format!("loadbalance={}", best.strategy),
    })
}

fn caches(rows: &[affinity::Row]) -> Option<Finding> {
    let by_hits = |a: &&affinity::Row, b: &&affinity::Row| a.hit_rate.total_cmp(&b.hit_rate);
    let best = rows.iter().max_by(by_hits)?;
    let worst = rows.iter().min_by(by_hits)?;
    let told =
        |row: &affinity::Row| format!("{}: {} hits", row.strategy, output::percent(row.hit_rate));
    Some(Finding {
        when: "providers keep a cache",
        seen: match rows.len() {
            1 => told(best),
            _ => format!("{}; {}", told(best), told(worst)),
        },
        set: format!("loadbalance={}, hash.arguments=0", best.strategy),
    })
}

fn deaths(rows: &[kill::Row]) -> Finding {
    let told = |row: &kill::Row| {
        format!("{}: {} of {} calls failed", row.policy, row.summary.failed, row.summary.calls)
    };
    Finding {
        when: "a provider may die",
        seen: rows.iter().map(told).collect::<Vec<_>>().join("; "),
        set: "cluster=failover, retries=2 (calls that must not run twice: cluster=failfast)"
            .to_owned(),
    }
}

fn weights(numbers: &weight::Numbers) -> Finding {
    let told =
        |p: &weight::Phase| format!("weight {}: {} of calls", p.weight, output::percent(p.share));
    let phases: Vec<String> = numbers.phases.iter().map(told).collect();
    Finding {
        when: "a provider is to be taken out",
        seen: format!("{}; {} failed", phases.join(", "), numbers.failed),
        set: "weight=0 on the provider, then back".to_owned(),
    }
}

fn starts(numbers: &warmup::Numbers) -> Option<Finding> {
    let (first, last) = (numbers.steps.first()?, numbers.steps.last()?);
    Some(Finding {
        when: "a provider has just started",
        seen: format!(
            "from {} to {} of calls in {:.1} s",
            output::percent(first.share),
            output::percent(last.share),
            numbers.warmup_ms as f64 / 1000.0
        ),
        set: "timestamp (its start) and warmup on the provider; 10 minutes by default".to_owned(),
    })
}
