//! Errors of a call: who was asked, how long it took and why it failed, every attempt of it.

use std::fmt;
use std::time::Duration;

use equipoise_core::outcome::Failure;

/// One attempt that failed.
#[derive(Clone, Debug)]
pub struct AttemptRecord {
    /// `host:port`; empty when nobody could be chosen.
    pub address: String,
    /// How long it took.
    pub elapsed: Duration,
    /// Why it failed.
    pub failure: Failure,
}

/// A call that got no answer.
#[derive(Clone, Debug)]
pub struct CallError {
    /// `[group/]interface[:version]`.
    pub service: String,
    /// Method name.
    pub method: String,
    /// Name of the strategy.
    pub strategy: String,
    /// Name of the cluster policy.
    pub policy: String,
    /// Every attempt that failed, in order.
    pub attempts: Vec<AttemptRecord>,
    /// The last real failure: of an attempt if there was one, else why none could be made.
    pub failure: Failure,
}

impl CallError {
    /// Addresses that were asked, without repetitions.
    pub fn addresses(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for a in &self.attempts {
            if !a.address.is_empty() && !all.contains(&a.address.as_str()) {
                all.push(&a.address);
            }
        }
        all
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}.{} failed ({}, {} over {})",
            self.service, self.method, self.failure.kind, self.policy, self.strategy
        )?;
        if self.attempts.is_empty() {
            return write!(f, ": {}", self.failure.message);
        }
        for (i, a) in self.attempts.iter().enumerate() {
            let lead = if i == 0 { " after" } else { ";" };
            let address = if a.address.is_empty() { "nobody" } else { &a.address };
            let ms = a.elapsed.as_secs_f64() * 1000.0;
            write!(f, "{lead} {address} ({ms:.1} ms, {})", a.failure)?;
        }
        Ok(())
    }
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.failure)
    }
}
