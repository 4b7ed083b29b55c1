//! `equipoise pick`: who would get the call? A calculator: it runs the library's own strategies on
//! a list that is typed in, with a clock that stands still, and opens no socket.

mod list;
mod named;
mod world;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;
use clap::Args;
use equipoise::core::hash::key::Argument;
use equipoise::core::rng::RngSource;
use equipoise::core::url::Url;
use equipoise::{Call, Endpoint, Failure, FailureKind, SystemRng};
use serde::Serialize;

use crate::failure::usage;
use crate::options::{self, Settings};
use crate::output::{self, Column, Width};

use named::{Active, LoadReport, Sample};
use world::{Line, World};

/// Calculates who gets the next calls, without a network.
///
/// Runs the library's own strategies over the endpoints given. Each call ends before the next one
/// starts, successfully, in no time and without a sample; the clock stands still.
#[derive(Debug, Args)]
#[command(after_help = "Example: equipoise pick --strategy roundrobin --calls 7 \
                        --endpoint '10.0.0.1:20880?weight=5' --endpoint 10.0.0.2:20880")]
pub(crate) struct PickArgs {
    /// Strategy; what the endpoints say where it is not given, else random.
    #[arg(long, value_name = "NAME", value_parser = options::strategies())]
    strategy: Option<String>,
    /// An endpoint with its parameters, such as '10.0.0.1:20880?weight=5&timestamp=1700000000000'.
    #[arg(long = "endpoint", value_name = "URL", value_parser = options::url)]
    endpoints: Vec<Url>,
    /// A file of endpoints, one per line; blank lines and lines that start with # do not count.
    #[arg(long, value_name = "FILE")]
    endpoints_file: Option<PathBuf>,
    /// A setting under its key in Dubbo URLs, such as hash.nodes=320 or getUser.weight=10.
    #[arg(long = "param", value_name = "KEY=VALUE", value_parser = options::setting)]
    params: Vec<(String, String)>,
    /// Method that is called.
    #[arg(long, value_name = "NAME", default_value = "invoke")]
    method: String,
    /// An argument of the call, as JSON; hash.arguments says which ones make the key.
    #[arg(long = "arg", value_name = "JSON", allow_hyphen_values = true,
          value_parser = crate::arguments::argument)]
    arguments: Vec<Argument>,
    /// The key itself, instead of arguments.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "arguments")]
    key: Option<String>,
    /// Tag of the call.
    #[arg(long)]
    tag: Option<String>,
    /// An endpoint that has attempts in flight all the time.
    #[arg(long, value_name = "ADDRESS=N", value_parser = named::active)]
    active: Vec<Active>,
    /// An endpoint that the call has tried before.
    #[arg(long, value_name = "ADDRESS")]
    tried: Vec<String>,
    /// Earlier answers of an endpoint: N (1) of MS milliseconds each.
    #[arg(long = "sample", value_name = "ADDRESS=MS[xN]", value_parser = named::sample)]
    samples: Vec<Sample>,
    /// What an endpoint reports about its load: curTime:MS,load:NUMBER. Comes with the last of its
    /// samples.
    #[arg(long = "report", value_name = "ADDRESS=REPORT", value_parser = named::report)]
    reports: Vec<LoadReport>,
    /// The time, in ms since 1970; now where it is not given.
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    now: Option<i64>,
    /// How many calls, one after the other.
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    calls: u32,
    /// Makes draws repeatable; another one each time where it is not given.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Calls stay in flight instead of ending.
    #[arg(long)]
    hold: bool,
    /// One JSON document.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Document {
    strategy: &'static str,
    endpoints: Vec<Line>,
    sequence: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(args: &PickArgs) -> anyhow::Result<()> {
    let mut urls = args.endpoints.clone();
    if let Some(file) = &args.endpoints_file {
        urls.extend(list::read(file)?);
    }
    if urls.is_empty() {
        bail!("no endpoint: give --endpoint URL or --endpoints-file FILE");
    }
    let seed = args.seed.unwrap_or_else(|| SystemRng.next_u64());
    let settings = Settings::default().params(&args.params).option(
        "--strategy",
        "loadbalance",
        args.strategy.clone(),
    );
    let world = World::new(urls, settings.0, args.now, seed)?;
    let call = call(args);
    let _in_flight = world.measure(&call, &args.samples, &args.reports, &args.active)?;
    let picked = picks(args, &world, &call)?;
    let document = Document {
        strategy: world.about(&call).name,
        endpoints: world.lines(&call, &world.tried(&args.tried)?, &picked)?,
        sequence: picked.iter().map(|e| e.address().to_owned()).collect(),
    };
    if args.json { Ok(output::json(&document)?) } else { print(&document, seed) }
}

fn call(args: &PickArgs) -> Call<'_> {
    let mut call = Call::new(&args.method);
    if let Some(key) = &args.key {
        call = call.key(key);
    } else if !args.arguments.is_empty() {
        call = call.arguments(&args.arguments);
    }
    match &args.tag {
        Some(tag) => call.tag(tag),
        None => call,
    }
}

fn picks(args: &PickArgs, world: &World, call: &Call<'_>) -> anyhow::Result<Vec<Arc<Endpoint>>> {
    let tried = world.tried(&args.tried)?;
    let mut held = Vec::new();
    let mut picked = Vec::new();
    for _ in 0..args.calls {
        let ticket = world.pick(call, &tried).map_err(explain)?;
        picked.push(ticket.endpoint().clone());
        if args.hold {
            held.push(ticket);
        } else {
            world.end(call, ticket);
        }
    }
    Ok(picked)
}

/// What the library says, in words of the command line.
fn explain(failure: Failure) -> anyhow::Error {
    match failure.kind {
        FailureKind::Invalid => usage(format!(
            "{} (--key TEXT or --arg JSON; --key '' for a method without arguments)",
            failure.message
        ))
        .into(),
        _ => anyhow::anyhow!(failure.message),
    }
}

/// Most picks that the table for people spells out.
const SPELLED_OUT: usize = 40;

fn print(document: &Document, seed: u64) -> anyhow::Result<()> {
    let columns = [
        Column::Name("ENDPOINT"),
        Column::Number("WEIGHT"),
        Column::Number("EFFECTIVE"),
        Column::Number("EXPECTED"),
        Column::Number("PICKS"),
        Column::Number("SHARE"),
    ];
    let calls = document.sequence.len();
    let share = |picks: u64| output::percent(picks as f64 / calls.max(1) as f64);
    let rows: Vec<Vec<String>> = document
        .endpoints
        .iter()
        .map(|line| {
            vec![
                line.address.clone(),
                line.weight.to_string(),
                line.effective_weight.to_string(),
                line.expected_share.map_or_else(|| "-".to_owned(), output::percent),
                line.picks.to_string(),
                share(line.picks),
            ]
        })
        .collect();
    output::lines(output::table(&columns, &rows, Width::of_stdout()))?;
    let spelled: Vec<&str> =
        document.sequence.iter().take(SPELLED_OUT).map(String::as_str).collect();
    let more = match calls.saturating_sub(SPELLED_OUT) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let plural = if calls == 1 { "" } else { "s" };
    output::lines([
        String::new(),
        format!("{}, {calls} call{plural}, --seed {seed}", document.strategy),
        format!("{}{more}", spelled.join(" ")),
    ])?;
    Ok(())
}
