//! `cargo xtask peers`: calls and serves implementations of gRPC and HTTP that share no code with
//! ours, gRPC's own for Python and curl.
//!
//! ```text
//!  cell ──► our client ──► Python servers (peers/server.py)
//!       ──► our server ◄── Python client (peers/client.py), curl
//! ```
//!
//! Everything runs on 127.0.0.1, on ports that the system gives. Cells wait for lines of the peers
//! and never for time to pass. A missing interpreter, package or curl is a failure, not a skip.

mod calling;
mod cell;
pub(crate) mod certificates;
mod client;
mod curl;
mod load;
mod puppet;
mod server;
mod serving;
mod stage;
mod temper;

use std::process::ExitCode;
use std::sync::Arc;

use crate::peers::cell::{Cell, Ended};
use crate::peers::stage::Stage;

/// Runs the cells whose names hold one of `words`, or all.
pub(crate) fn run(words: &[String]) -> ExitCode {
    match suite(words) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("peers: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether every cell passed.
fn suite(words: &[String]) -> anyhow::Result<bool> {
    let cells: Vec<&Cell> = [calling::CELLS, serving::CELLS, curl::CELLS]
        .into_iter()
        .flatten()
        .filter(|cell| words.is_empty() || words.iter().any(|word| cell.name.contains(word)))
        .collect();
    anyhow::ensure!(!cells.is_empty(), "no cell has {words:?} in its name");
    // A panic is told by the row of its cell, and one is asked for.
    std::panic::set_hook(Box::new(|_| {}));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let stage = Arc::new(Stage::set().await?);
        Ok(act(stage, &cells).await)
    })
}

/// Runs cell after cell and prints a row for each.
async fn act(stage: Arc<Stage>, cells: &[&Cell]) -> bool {
    let width = cells.iter().map(|cell| cell.name.len()).max().unwrap_or(0);
    println!("RESULT      MS  {:width$}  DETAIL", "CELL");
    let mut failed = 0;
    for cell in cells {
        let Ended { took, seen } = cell.judge(stage.clone()).await;
        let (result, detail) = match seen {
            Ok(detail) => ("pass", detail),
            Err(error) => {
                failed += 1;
                ("FAIL", format!("{error:#}"))
            }
        };

        println!("{result:6}  {:6}  {:width$}  {detail}", took.as_millis(), cell.name);
    }
    println!("\n{} passed, {failed} failed", cells.len() - failed);
    failed == 0
}
