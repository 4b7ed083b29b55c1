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
    output::lines(policy_table(&document.policies, width))?;
    let names = document.strategies.iter().map(|row| (row.name, row.aliases));
    let names = names.chain(document.policies.iter().map(|row| (row.name, row.aliases)));
    let aliases: Vec<String> = names
        .filter(|(_, aliases)| !aliases.is_empty())
        .map(|(name, aliases)| format!("{} is {name}", aliases.join(" or ")))
        .collect();
    output::lines([
        "\nWeights: exact, shares in proportion whatever the load; ties, in proportion among equals; \
         bias, the heavier the more; or ignored."
            .to_owned(),
        format!("Other spellings: {}.", aliases.join(", ")),
    ])?;
    Ok(())
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

/// Columns of a terminal from which on seven of ours are readable side by side.
const WIDE: u16 = 110;

fn strategy_table(rows: &[StrategyRow], width: Width) -> Vec<String> {
    match width {
        Width::Columns(columns) if columns < WIDE => narrow(rows, width),
        _ => wide(rows, width),
    }
}

fn wide(rows: &[StrategyRow], width: Width) -> Vec<String> {
    let columns = [
        Column::Name("STRATEGY"),
        Column::Text("CHOOSES"),
        Column::Text("FOR"),
        Column::Text("NEEDS"),
        Column::Text("COST"),
        Column::Text("WEIGHTS"),
        Column::Text("ORIGIN"),
    ];
    let cells = |row: &StrategyRow| {
        [row.name, row.summary, row.use_for, row.needs, row.cost, row.weights, row.origin]
            .map(str::to_owned)
            .to_vec()
    };
    output::table(&columns, &rows.iter().map(cells).collect::<Vec<_>>(), width)
}

fn narrow(rows: &[StrategyRow], width: Width) -> Vec<String> {
    let lines = |row: &StrategyRow| {
        [
            [row.name, row.summary],
            ["  for", row.use_for],
            ["  needs", row.needs],
            ["  cost", row.cost],
            ["  weights", row.weights],
            ["  origin", row.origin],
        ]
        .map(|cells| cells.map(str::to_owned).to_vec())
    };
    let columns = [Column::Name("STRATEGY"), Column::Text("")];
    output::table(&columns, &rows.iter().flat_map(lines).collect::<Vec<_>>(), width)
}

fn policy_table(rows: &[PolicyRow], width: Width) -> Vec<String> {
    let columns = [Column::Name("POLICY"), Column::Text("ON FAILURE")];
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| vec![row.name.to_owned(), row.summary.to_owned()]).collect();
    output::table(&columns, &rows, width)
}
