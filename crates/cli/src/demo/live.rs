//! The live view: one line per provider, made of the consumer's own report and of nothing else.

use std::collections::HashSet;
use std::time::Duration;

use equipoise::Report;
use equipoise::core::report::EndpointReport;

use crate::output::{self, Column, Width};

const COLUMNS: [Column; 9] = [
    Column::Name("PROVIDER"),
    Column::Text(""),
    Column::Number("CALLS"),
    Column::Number("SHARE"),
    Column::Number("QPS"),
    Column::Number("MEAN MS"),
    Column::Number("P99 MS"),
    Column::Number("ERRORS"),
    Column::Number("ACTIVE"),
];

/// How far a run has got.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress<'a> {
    /// What is running.
    pub(crate) title: &'a str,
    /// Since when.
    pub(crate) elapsed: Duration,
    /// For how long.
    pub(crate) length: Duration,
}

/// The lines of the view.
pub(crate) fn lines(
    progress: &Progress<'_>,
    report: &Report,
    slow: &HashSet<String>,
) -> Vec<String> {
    let rows: Vec<Vec<String>> = report
        .endpoints
        .iter()
        .map(|listed| {
            let kind = match slow.contains(&listed.address) {
                true => "slow",
                false => "",
            };
            let of = |e: &&EndpointReport| e.address == listed.address;
            let measured = report.methods.iter().flat_map(|m| &m.endpoints).find(of);
            let mut row = vec![listed.address.clone(), kind.to_owned()];
            match measured {
                Some(e) if listed.available => row.extend(numbers(e)),
                _ if listed.available => row.push("-".to_owned()),
                _ => row.push("down".to_owned()),
            }
            row
        })
        .collect();
    let mut lines = vec![bar(progress), String::new()];
    lines.extend(output::table(&COLUMNS, &rows, Width::Free));
    lines
}

fn numbers(e: &EndpointReport) -> [String; 7] {
    [
        e.picks.to_string(),
        output::percent(e.share),
        format!("{:.0}", e.per_second),
        output::ms(e.mean_ms),
        output::ms(e.p99_ms),
        output::percent(e.error_rate),
        e.active.to_string(),
    ]
}

fn bar(progress: &Progress<'_>) -> String {
    const WIDTH: usize = 20;
    let (elapsed, length) = (progress.elapsed.as_secs_f64(), progress.length.as_secs_f64());
    let done = (elapsed / length.max(1e-3)).clamp(0.0, 1.0);
    let full = (done * WIDTH as f64).round() as usize;
    format!(
        "{}  [{}{}] {:.1} of {length:.1} s",
        progress.title,
        "#".repeat(full),
        "-".repeat(WIDTH - full),
        elapsed.min(length),
    )
}

#[cfg(test)]
mod tests {
    use equipoise::core::report::ListedEndpoint;

    use super::*;

    #[test]
    fn providers_are_shown_in_list_order_and_the_one_that_is_down_as_that() {
        let listed = |address: &str, available| ListedEndpoint {
            address: address.to_owned(),
            protocol: "tri".to_owned(),
            available,
        };
        let report = Report {
            endpoints: vec![listed("b:1", true), listed("a:1", false)],
            ..Report::default()
        };
        let ms = Duration::from_millis;
        let progress = Progress { title: "random", elapsed: ms(500), length: ms(1000) };
        let lines = lines(&progress, &report, &HashSet::from(["a:1".to_owned()]));
        assert_eq!(lines[0], "random  [##########----------] 0.5 of 1.0 s");
        assert!(lines[3].starts_with("b:1"), "{lines:#?}");
        assert!(lines[4].starts_with("a:1       slow   down"), "{lines:#?}");
    }
}
