//! A cell: one thing between one peer and us over one protocol, and what became of it.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::interop::stage::Stage;

/// What a cell came to.
#[derive(Debug)]
pub(crate) enum Shown {
    /// It works; what was seen, for people.
    Works(String),
    /// The peer did what it should not, and our side did what it then must.
    Defect(String),
}

/// What a cell ends with, or what was wrong.
pub(crate) type Seen = anyhow::Result<Shown>;

/// A cell that works.
pub(crate) fn works(what: impl Into<String>) -> Seen {
    Ok(Shown::Works(what.into()))
}

/// Time for one cell. Nothing waits for it to pass; a cell that hangs ends by it.
const LIMIT: Duration = Duration::from_secs(60);

/// A check that runs.
type Running = Pin<Box<dyn Future<Output = Seen> + Send>>;

/// One check against a peer.
pub(crate) struct Cell {
    /// Who calls whom over which protocol.
    pub(crate) column: &'static str,
    /// What is checked.
    pub(crate) row: &'static str,
    /// The check.
    pub(crate) run: fn(Arc<Stage>) -> Running,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.column, self.row)
    }
}

/// A list of cells of one column: rows and the functions that check them, which are told what the
/// column is about if that is given.
macro_rules! cells {
    ($column:literal, $wire:expr; $($row:literal => $run:path),* $(,)?) => {
        &[$($crate::interop::cell::Cell {
            column: $column,
            row: $row,
            run: |stage| Box::pin($run(stage, $wire)),
        }),*]
    };
    ($column:literal; $($row:literal => $run:path),* $(,)?) => {
        &[$($crate::interop::cell::Cell {
            column: $column,
            row: $row,
            run: |stage| Box::pin($run(stage)),
        }),*]
    };
}
pub(crate) use cells;

impl Cell {
    /// Runs it, whatever it does: a panic and a hang are failures.
    pub(crate) async fn judge(&self, stage: Arc<Stage>) -> (Duration, Seen) {
        let started = Instant::now();
        let mut task = tokio::spawn((self.run)(stage));
        let seen = match tokio::time::timeout(LIMIT, &mut task).await {
            Ok(Ok(seen)) => seen,
            Ok(Err(panic)) => Err(anyhow::anyhow!("{panic}")),
            Err(_) => {
                task.abort();
                // What it holds is gone when it is dropped, and it must be by then.
                let _ = task.await;
                Err(anyhow::anyhow!("no end within {LIMIT:?}"))
            }
        };
        (started.elapsed(), seen)
    }
}

/// Fails unless `got` is `want`.
pub(crate) fn same<T: PartialEq + fmt::Debug>(what: &str, got: T, want: T) -> anyhow::Result<()> {
    anyhow::ensure!(got == want, "{what}: {got:?}, not {want:?}");
    Ok(())
}
