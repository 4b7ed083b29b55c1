//! Who served: the difference of two reports of one consumer.

use std::collections::BTreeMap;

use equipoise::Report;

/// Attempts and answers per address.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counts(BTreeMap<String, Count>);

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Count {
    attempts: u64,
    answers: u64,
}

impl Counts {
    /// What a report says, over all methods and routes.
    pub(crate) fn of(report: &Report) -> Self {
        let mut all: BTreeMap<String, Count> = BTreeMap::new();
        for method in &report.methods {
            for endpoint in &method.endpoints {
                // An endpoint on several routes has one set of counts.
                let count = all.entry(endpoint.address.clone()).or_default();
                count.attempts = count.attempts.max(endpoint.picks);
                count.answers = count.answers.max(endpoint.success + endpoint.business);
            }
        }
        Self(all)
    }

    /// What has been added since `earlier`.
    pub(crate) fn since(&self, earlier: &Counts) -> Counts {
        let added = |(address, now): (&String, &Count)| {
            let before = earlier.0.get(address).copied().unwrap_or_default();
            let count = Count {
                attempts: now.attempts.saturating_sub(before.attempts),
                answers: now.answers.saturating_sub(before.answers),
            };
            (address.clone(), count)
        };
        Counts(self.0.iter().map(added).collect())
    }

    /// Attempts, of all addresses.
    pub(crate) fn attempts(&self) -> u64 {
        self.0.values().map(|c| c.attempts).sum()
    }

    /// Addresses that answered, with a result or with an error of the service.
    pub(crate) fn answered(&self) -> Vec<String> {
        let answered = self.0.iter().filter(|(_, c)| c.answers > 0);
        answered.map(|(address, _)| address.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use equipoise::core::report::{EndpointReport, MethodReport};

    use super::*;

    fn report(of: &[(&str, u64, u64)]) -> Report {
        let endpoint = |(address, picks, success): &(&str, u64, u64)| EndpointReport {
            address: (*address).to_owned(),
            available: true,
            weight: 100,
            effective_weight: 100,
            warming: false,
            expected_share: None,
            picks: *picks,
            share: 0.0,
            per_second: 0.0,
            mean_ms: None,
            p99_ms: None,
            success: *success,
            business: 0,
            cancelled: 0,
            errors: BTreeMap::new(),
            error_rate: 0.0,
            active: 0,
        };
        let method = MethodReport {
            method: "m".to_owned(),
            route: String::new(),
            strategy: "random".to_owned(),
            policy: "failover".to_owned(),
            endpoints: of.iter().map(endpoint).collect(),
        };
        Report { methods: vec![method], ..Report::default() }
    }

    #[test]
    fn the_difference_tells_who_answered_and_who_was_asked() {
        let before = Counts::of(&report(&[("a:1", 4, 4), ("b:1", 2, 1)]));
        let after = Counts::of(&report(&[("a:1", 5, 4), ("b:1", 3, 2), ("c:1", 0, 0)]));
        let since = after.since(&before);
        assert_eq!(since.attempts(), 2);
        assert_eq!(since.answered(), ["b:1"]);
    }
}
