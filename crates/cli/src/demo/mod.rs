//! `equipoise demo`: real providers in processes of their own, real calls over the loopback, and
//! what each strategy and policy makes of them. Ends with a table that says what to set.

mod chapters;
mod findings;
mod fleet;
mod live;
mod load;
mod plan;
mod screen;
mod stage;

use std::time::Instant;

use clap::{Parser, ValueEnum};
use serde::Serialize;

use crate::failure::Interrupted;
use crate::signals::Signals;
use crate::{options, output};

use chapters::Chapters;
use plan::Plan;
use screen::Screen;
use stage::Stage;

/// Starts providers on this machine, sends them calls through every strategy, and shows who gets
/// how much and why. Runs without arguments, within a minute.
///
/// Two of the ten providers stall for 200 ms again and again. Calls arrive by a schedule that waits
/// for no answer. All that is shown of providers is what the library reports to any consumer.
#[derive(Debug, Parser)]
#[command(after_help = "Example: equipoise demo --chapter strategies --strategy random,peakewma")]
pub(crate) struct DemoArgs {
    /// Only these strategies, with commas in between.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = options::strategies())]
    strategy: Vec<String>,
    /// Only these chapters, with commas in between.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    chapter: Vec<Chapter>,
    /// How many providers.
    #[arg(long, value_name = "N", default_value_t = 10,
          value_parser = clap::value_parser!(u16).range(2..=64))]
    providers: u16,
    /// How many of them stall; 2, or all but one where there are fewer than 3.
    #[arg(long, value_name = "N")]
    slow: Option<u16>,
    /// Calls per second.
    #[arg(long, value_name = "N", default_value_t = 500,
          value_parser = clap::value_parser!(u32).range(1..=20_000))]
    rate: u32,
    /// Seconds for each strategy of the first chapter; the other chapters go by it.
    #[arg(long, value_name = "N", default_value = "2", value_parser = seconds)]
    seconds: f64,
    /// One JSON document.
    #[arg(long)]
    json: bool,
}

/// A part of the demo.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Chapter {
    /// Every strategy under the same load.
    Strategies,
    /// Which strategies keep the caches of the providers warm.
    Affinity,
    /// A provider is killed under load.
    Kill,
    /// A weight is changed at run time.
    Weight,
    /// A provider joins and warms up.
    Warmup,
}

#[derive(Serialize)]
struct Document<'a> {
    fleet: &'a Plan,
    chapters: Chapters,
    findings: Vec<findings::Finding>,
    elapsed_seconds: f64,
}

/// Runs the command.
pub(crate) fn run(args: DemoArgs) -> anyhow::Result<()> {
    let json = args.json;
    let plan = Plan::of(args)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut signals = Signals::listen()?;
        // Dropping the performance ends the providers: no way out of here leaves one behind.
        tokio::select! {
            done = perform(plan, json) => done,
            () = signals.asked_to_end() => Err(Interrupted.into()),
        }
    })
}

async fn perform(plan: Plan, json: bool) -> anyhow::Result<()> {
    let started = Instant::now();
    let mut stage = Stage::open(plan, Screen::new(json)).await?;
    let chapters = chapters::run(&mut stage).await?;
    let findings = findings::of(&chapters);
    let Stage { plan, mut screen, fleet } = stage;
    drop(fleet);
    let elapsed_seconds = started.elapsed().as_secs_f64();
    if json {
        let document = Document { fleet: &plan, chapters, findings, elapsed_seconds };
        return Ok(output::json(&document)?);
    }
    screen.heading("What to make of it")?;
    screen.table(&findings::COLUMNS, &findings::rows(&findings))?;
    screen.line(&format!("\nDone in {elapsed_seconds:.0} s; all providers have been ended."))?;
    Ok(())
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.1..=60.0).contains(&seconds) => Ok(seconds),
        _ => Err("not a number of seconds from 0.1 to 60".to_owned()),
    }
}
