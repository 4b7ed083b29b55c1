//! `equipoise strategies`: what there is to choose from. Reads the library's own tables and adds
//! nothing to them.

use clap::Args;
use equipoise::STRATEGIES;
use equipoise::client::policy::POLICIES;
use equipoise::core::balance::{About, Weights};
use serde::Serialize;

use crate::output::{self, Column, Width};

/// Lists the strategies and cluster policies: what each does, needs, costs and is for.
#[derive(Debug, Args)]
pub(crate) struct StrategiesArgs {
    /// One JSON document.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Document {
    strategies: Vec<StrategyRow>,
    policies: Vec<PolicyRow>,
}

#[derive(Serialize)]
struct StrategyRow {
    name: &'static str,
    aliases: &'static [&'static str],
    origin: &'static str,
    summary: &'static str,
    use_for: &'static str,
    needs: &'static str,
    cost: &'static str,
    weights: &'static str,
    avoids_busy: bool,
    avoids_slow: bool,
    keyed: bool,
}

#[derive(Serialize)]
struct PolicyRow {
    name: &'static str,
    aliases: &'static [&'static str],
    summary: &'static str,
}

/// Runs the command.
pub(crate) fn run(args: &StrategiesArgs) -> anyhow::Result<()> {
    let document = Document {
        strategies: STRATEGIES.iter().map(|row| strategy(row.about())).collect(),
        policies: POLICIES
            .iter()
            .map(|row| row.about())
            .map(|a| PolicyRow { name: a.name, aliases: a.aliases, summary: a.summary })
            .collect(),
    };
    if args.json {
        return Ok(output::json(&document)?);
    }
    let width = Width::of_stdout();
    output::lines(strategy_table(&document.strategies, width))?;
    output::lines([String::new()])?;
    Ok(output::lines(policy_table(&document.policies, width))?)
}

fn strategy(about: About) -> StrategyRow {
    StrategyRow {
        name: about.name,
        aliases: about.aliases,
        origin: about.origin,
        summary: about.summary,
        use_for: about.use_for,
        needs: about.needs,
        cost: about.cost,
        weights: match about.weights {
            Weights::Exact => "exact",
            Weights::Ties => "ties",
            Weights::Bias => "bias",
            Weights::Ignored => "ignored",
        },
        avoids_busy: about.avoids_busy,
        avoids_slow: about.avoids_slow,
        keyed: about.keyed,
    }
}

fn strategy_table(rows: &[StrategyRow], width: Width) -> Vec<String> {
    let columns =
        ["STRATEGY", "CHOOSES", "FOR", "NEEDS", "COST", "WEIGHTS", "ORIGIN"].map(Column::Text);
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let name = with_aliases(row.name, row.aliases);
            let rest = [row.summary, row.use_for, row.needs, row.cost, row.weights, row.origin];
            std::iter::once(name).chain(rest.map(str::to_owned)).collect()
        })
        .collect();
    output::table(&columns, &rows, width)
}

fn policy_table(rows: &[PolicyRow], width: Width) -> Vec<String> {
    let columns = ["POLICY", "ON FAILURE"].map(Column::Text);
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| vec![with_aliases(row.name, row.aliases), row.summary.to_owned()])
        .collect();
    output::table(&columns, &rows, width)
}

fn with_aliases(name: &str, aliases: &[&str]) -> String {
    match aliases {
        [] => name.to_owned(),
        more => format!("{name} ({})", more.join(", ")),
    }
}
