//! What happened in a world: who got how much, and how long it took. Whole numbers and their
//! quotients, so that the same run gives the same text.

use std::fmt;

use equipoise_core::outcome::Outcome;

/// A run, summed up.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Name of the strategy.
    pub strategy: String,
    /// Seed of the world.
    pub seed: u64,
    /// Calls that arrived.
    pub calls: u64,
    /// Calls for which nobody could be chosen.
    pub nobody: u64,
    /// Attempts that failed or were answered too late.
    pub errors: u64,
    /// Mean time of all attempts, microseconds.
    pub mean_micros: u64,
    /// 99th percentile of the time of all attempts, microseconds.
    pub p99_micros: u64,
    /// In list order.
    pub endpoints: Vec<EndpointReport>,
    times: Vec<Vec<u64>>,
}

/// One endpoint in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndpointReport {
    /// `host:port`.
    pub address: String,
    /// Attempts it got.
    pub picks: u64,
    /// Its part (0 to 1) of all attempts.
    pub share: f64,
    /// Attempts that failed or were answered too late.
    pub errors: u64,
    /// Mean time of its attempts, microseconds.
    pub mean_micros: u64,
    /// 99th percentile of the time of its attempts, microseconds.
    pub p99_micros: u64,
}

impl Report {
    pub(super) fn new(strategy: &str, seed: u64, addresses: impl Iterator<Item = String>) -> Self {
        let named = |address| EndpointReport { address, ..EndpointReport::default() };
        let endpoints: Vec<EndpointReport> = addresses.map(named).collect();
        Self {
            strategy: strategy.to_owned(),
            seed,
            calls: 0,
            nobody: 0,
            errors: 0,
            mean_micros: 0,
            p99_micros: 0,
            times: vec![Vec::new(); endpoints.len()],
            endpoints,
        }
    }

    /// Counts an arrival; how many there were before it.
    pub(super) fn started(&mut self) -> u64 {
        self.calls += 1;
        self.calls - 1
    }

    pub(super) fn picked(&mut self, place: usize) {
        if let Some(endpoint) = self.endpoints.get_mut(place) {
            endpoint.picks += 1;
        }
    }

    pub(super) fn ended(&mut self, place: usize, took: u64, outcome: Outcome) {
        let (Some(endpoint), Some(times)) =
            (self.endpoints.get_mut(place), self.times.get_mut(place))
        else {
            return;
        };
        times.push(took);
        if outcome != Outcome::Success {
            endpoint.errors += 1;
            self.errors += 1;
        }
    }

    /// Fills in what follows from the single times.
    pub(super) fn sum_up(mut self) -> Self {
        let all: u64 = self.endpoints.iter().map(|e| e.picks).sum();
        let mut together = Vec::new();
        for (endpoint, times) in self.endpoints.iter_mut().zip(&mut self.times) {
            together.extend_from_slice(times);
            endpoint.share = endpoint.picks as f64 / all.max(1) as f64;
            (endpoint.mean_micros, endpoint.p99_micros) = mean_and_p99(times);
        }
        (self.mean_micros, self.p99_micros) = mean_and_p99(&mut together);
        self.times = Vec::new();
        self
    }
}

/// The mean, and the smallest time that 99 % keep to.
fn mean_and_p99(times: &mut [u64]) -> (u64, u64) {
    times.sort_unstable();
    let sum: u64 = times.iter().sum();
    let rank = (times.len() * 99).div_ceil(100);
    let p99 = rank.checked_sub(1).and_then(|last| times.get(last)).copied();
    (sum.checked_div(times.len() as u64).unwrap_or(0), p99.unwrap_or(0))
}

/// One line for the run and one for each endpoint.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |micros: u64| micros as f64 / 1000.0;
        writeln!(
            f,
            "{} (seed {}): {} calls, {} errors, {} without endpoint, mean {:.3} ms, p99 {:.3} ms",
            self.strategy,
            self.seed,
            self.calls,
            self.errors,
            self.nobody,
            ms(self.mean_micros),
            ms(self.p99_micros)
        )?;
        for e in &self.endpoints {
            writeln!(
                f,
                "  {}: {} picks ({:.2} %), {} errors, mean {:.3} ms, p99 {:.3} ms",
                e.address,
                e.picks,
                e.share * 100.0,
                e.errors,
                ms(e.mean_micros),
                ms(e.p99_micros)
            )?;
        }
        Ok(())
    }
}
