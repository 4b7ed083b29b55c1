//! The retry budget: retries may be at most a share of recent calls, so that they cannot multiply
//! an outage. Off unless configured.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// Thousandths of a token.
const TOKEN: i64 = 1000;

/// A bucket of tokens: each call adds `share`, each retry takes one.
#[derive(Debug)]
pub struct RetryBudget {
    tokens: AtomicI64,
    per_call: i64,
    most: i64,
}

impl RetryBudget {
    /// Retries for at most `share` (0 to 1) of calls, and `spare` retries at once in a quiet time
    /// (also what it starts with).
    pub fn new(share: f64, spare: u32) -> Self {
        let most = i64::from(spare).max(1) * TOKEN;
        let per_call = (share.clamp(0.0, 1.0) * TOKEN as f64).round() as i64;
        Self { tokens: AtomicI64::new(most), per_call, most }
    }

    /// Notes a call.
    pub fn called(&self) {
        let add = |tokens: i64| Some((tokens + self.per_call).min(self.most));
        let _ = self.tokens.fetch_update(Relaxed, Relaxed, add);
    }

    /// Takes a token for a retry; `false` when there is none.
    pub fn retry(&self) -> bool {
        let take = |tokens: i64| (tokens >= TOKEN).then(|| tokens - TOKEN);
        self.tokens.fetch_update(Relaxed, Relaxed, take).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_are_a_share_of_calls() {
        let budget = RetryBudget::new(0.2, 10);
        let spare = (0..100).filter(|_| budget.retry()).count();
        assert_eq!(spare, 10);
        let mut granted = 0;
        for _ in 0..1000 {
            budget.called();
            granted += usize::from(budget.retry());
        }
        assert_eq!(granted, 200);
    }
}
