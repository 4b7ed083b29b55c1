//! A cell: one thing that two implementations must agree on, and what became of it.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::peers::stage::Stage;

/// What a cell ends with: what it saw, for people, or what was wrong.
pub(crate) type Seen = anyhow::Result<String>;

/// Time for one cell. Nothing waits for it to pass; a cell that hangs ends by it.
const LIMIT: Duration = Duration::from_secs(30);

/// A check that runs.
type Running = Pin<Box<dyn Future<Output = Seen> + Send>>;

/// One check against a peer.
pub(crate) struct Cell {
    /// Who is who, and what is checked.
    pub(crate) name: &'static str,
    /// The check.
    pub(crate) run: fn(Arc<Stage>) -> Running,
}

/// A list of cells: names and the functions that check them.
macro_rules! cells {
    ($($name:literal => $run:path),* $(,)?) => {
        &[$($crate::peers::cell::Cell { name: $name, run: |stage| Box::pin($run(stage)) }),*]
    };
}
pub(crate) use cells;

/// A cell that has run.
pub(crate) struct Ended {
    /// How long it took.
    pub(crate) took: Duration,
    /// What became of it.
    pub(crate) seen: Seen,
}

impl Cell {
    /// Runs it, whatever it does: a panic and a hang are failures.
    pub(crate) async fn judge(&self, stage: Arc<Stage>) -> Ended {
        let started = Instant::now();
        let mut task = tokio::spawn((self.run)(stage));
        let seen = match tokio::time::timeout(LIMIT, &mut task).await {
            Ok(Ok(seen)) => seen,
            Ok(Err(panic)) => Err(anyhow::anyhow!("{panic}")),
            Err(_) => {
                task.abort();
                // Its peers are killed when it is dropped, and it must be by then.
                let _ = task.await;
                Err(anyhow::anyhow!("no end within {LIMIT:?}"))
            }
        };
        Ended { took: started.elapsed(), seen }
    }
}

/// Fails unless `got` is `want`.
pub(crate) fn same<T: PartialEq + std::fmt::Debug>(
    what: &str,
    got: T,
    want: T,
) -> anyhow::Result<()> {
    anyhow::ensure!(got == want, "{what}: {got:?}, not {want:?}");
    Ok(())
}
