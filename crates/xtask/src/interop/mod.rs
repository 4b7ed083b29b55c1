//! `cargo xtask interop`: calls and serves real Dubbo, of Java and of Go.
//!
//! ```text
//!  outside: download, build ──► one private network, inside: peers, cells, table
//! ```
//!
//! Everything is downloaded and built first. Then the runner executes itself once more in a network
//! of its own, from which no route leads out, and all peers live there. What must come out of every
//! cell is in `interop/matrix.json`; a result that differs, either way, is a failure.

mod ask;
mod build;
mod calling;
mod cell;
mod messages;
mod network;
mod peer;
mod samples;
mod security;
mod serving;
mod shop;
mod stage;
mod stock;
mod table;
mod warehouse;

use std::process::ExitCode;
use std::sync::Arc;

use crate::interop::cell::{Cell, Shown};
use crate::interop::stage::Stage;
use crate::interop::table::{State, Table};

/// Tells the second execution from the first.
const INSIDE: &str = "--inside";

/// Runs the cells whose names hold one of `words`, or all.
pub(crate) fn run(words: &[String]) -> ExitCode {
    let result = match words.split_first() {
        Some((first, words)) if first == INSIDE => inside(words),
        _ => build::all().and_then(|()| network::enter(words)).map(|never| match never {}),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("interop: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether everything was as the table says.
fn inside(words: &[String]) -> anyhow::Result<bool> {
    network::set()?;
    let table = Table::read()?;
    let cells: Vec<&Cell> =
        calling::CELLS.iter().chain(serving::CELLS).copied().flatten().collect();
    table.covers(&cells)?;
    let cells: Vec<&Cell> = cells
        .into_iter()
        .filter(|cell| words.is_empty() || words.iter().any(|word| cell.to_string().contains(word)))
        .collect();
    anyhow::ensure!(!cells.is_empty(), "no cell has {words:?} in its name");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let stage = Arc::new(Stage::set()?);
        let ended = act(&stage, &table, &cells).await;
        stage.clear().await;
        anyhow::Ok(ended)
    })?;
    print!("{}", table.shown(&ended));
    Ok(ended.iter().all(|(_, ended)| ended.good))
}

/// What a cell came to, against the table.
struct Ended {
    /// As the table says.
    good: bool,
    /// For the table that is printed.
    word: &'static str,
}

/// Runs cell after cell and prints a row for each.
async fn act<'a>(stage: &Arc<Stage>, table: &Table, cells: &[&'a Cell]) -> Vec<(&'a Cell, Ended)> {
    let width = cells.iter().map(|cell| cell.to_string().len()).max().unwrap_or(0);
    println!("RESULT      MS  {:width$}  DETAIL", "CELL");
    let mut all = Vec::new();
    for &cell in cells {
        let (took, seen) = cell.judge(stage.clone()).await;
        let (ended, detail) = compare(table.state(cell), seen);
        println!("{:6}  {:6}  {:width$}  {detail}", ended.word, took.as_millis(), cell.to_string());
        all.push((cell, ended));
    }
    all
}

/// A result against what it must be.
fn compare(state: Option<&State>, seen: cell::Seen) -> (Ended, String) {
    match (state, seen) {
        (Some(State::Pass), Ok(Shown::Works(detail))) => {
            (Ended { good: true, word: "pass" }, detail)
        }
        (Some(State::PeerDefect { .. }), Ok(Shown::Defect(detail))) => {
            (Ended { good: true, word: "defect" }, detail)
        }
        (Some(State::PeerDefect { .. }), Ok(Shown::Works(detail))) => {
            let detail = format!("works, and is listed as the peer's defect: {detail}");
            (Ended { good: false, word: "FAIL" }, detail)
        }
        (_, Ok(Shown::Works(detail) | Shown::Defect(detail))) => {
            (Ended { good: false, word: "FAIL" }, format!("not as listed: {detail}"))
        }
        (_, Err(error)) => (Ended { good: false, word: "FAIL" }, format!("{error:#}")),
    }
}
