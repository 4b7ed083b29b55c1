//! Callers: each makes one call after another until the time is up.

use std::pin::Pin;
use std::time::{Duration, Instant};

use crate::{alloc, stats};

pub(super) type Future<T> = Pin<Box<dyn std::future::Future<Output = T> + Send>>;

/// A way to have a message sent back.
pub(super) trait Echo: Send + Sync + 'static {
    /// Calls in sequence until `end`, noting the nanoseconds of each. Boxed once per caller, not
    /// per call.
    fn caller(&self, end: Instant) -> Future<Vec<f64>>;
}

/// What one run of callers has shown.
pub(super) struct Taken {
    pub(super) per_second: f64,
    pub(super) p50_us: f64,
    pub(super) p99_us: f64,
    /// Requests for memory per call, client and server together.
    pub(super) allocations: f64,
}

/// Runs so many callers for so long.
pub(super) async fn drive(echo: &dyn Echo, callers: usize, length: Duration) -> Taken {
    let allocated = alloc::told();
    let start = Instant::now();
    let end = start + length;
    let tasks: Vec<_> = (0..callers).map(|_| tokio::spawn(echo.caller(end))).collect();
    let mut nanos = Vec::new();
    for task in tasks {
        nanos.extend(task.await.expect("callers do not fail"));
    }
    let calls = nanos.len() as f64;
    Taken {
        per_second: calls / start.elapsed().as_secs_f64(),
        p50_us: stats::quantile(&nanos, 0.5) / 1_000.0,
        p99_us: stats::quantile(&nanos, 0.99) / 1_000.0,
        allocations: (alloc::told() - allocated) as f64 / calls,
    }
}

/// The loop of one caller.
pub(super) async fn until<F: std::future::Future<Output = ()>>(
    end: Instant,
    mut call: impl FnMut() -> F,
) -> Vec<f64> {
    let mut nanos = Vec::with_capacity(1 << 15);
    let mut before = Instant::now();
    while before < end {
        call().await;
        alloc::tell();
        let after = Instant::now();
        nanos.push((after - before).as_nanos() as f64);
        before = after;
    }
    nanos
}
