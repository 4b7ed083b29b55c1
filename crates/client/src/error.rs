//! Errors of a call: who was asked, how long it took and why it failed, every attempt of it.

use std::fmt;
use std::time::Duration;

use equipoise_core::outcome::Failure;

/// Most failed attempts that an error lists.
const MAX_RECORDS: usize = 64;

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
    /// How many attempts failed.
    pub made: usize,
    /// The attempts that failed, in order; of more than 64 the first and the last ones.
    pub attempts: Vec<AttemptRecord>,
    /// The last real failure: of an attempt if there was one, else why none could be made.
    pub failure: Failure,
}

/// What has failed so far in one call.
#[derive(Debug, Default)]
pub(crate) struct Failed {
    /// Attempts at somebody.
    pub(crate) made: usize,
    pub(crate) records: Vec<AttemptRecord>,
}

impl Failed {
    pub(crate) fn note(&mut self, record: AttemptRecord) {
        self.made += usize::from(!record.address.is_empty());
        // The first and the last ones tell what happened; a call with endless retries must not
        // remember them all.
        if self.records.len() == MAX_RECORDS {
            self.records.remove(MAX_RECORDS / 2);
        }
        self.records.push(record);
    }
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
        let shown = self.attempts.iter().filter(|a| !a.address.is_empty()).count();
        match self.made {
            0 => return write!(f, ": {}", self.failure.message),
            1 => f.write_str(" after 1 attempt")?,
            made => write!(f, " after {made} attempts")?,
        }
        if shown < self.made {
            write!(f, " ({shown} shown)")?;
        }
        for (i, a) in self.attempts.iter().enumerate() {
            let lead = if i == 0 { ":" } else { ";" };
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
