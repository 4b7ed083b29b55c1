//! What an operator looks at: per service, method and endpoint who got how much and why. Plain
//! data, filled from a view at one moment; nothing is counted twice for it.

use std::collections::BTreeMap;

use crate::candidates::{Candidate, Candidates};
use crate::clock::Clock;
use crate::view::View;

/// One service at one moment.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Report {
    /// `[group/]interface[:version]`.
    pub service: String,
    /// Generation of the view.
    pub generation: u64,
    /// The providers listed, whether or not anything calls them.
    pub endpoints: Vec<ListedEndpoint>,
    /// One entry per route and method that calls have used.
    pub methods: Vec<MethodReport>,
}

/// One line of the list.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ListedEndpoint {
    /// `host:port`.
    pub address: String,
    /// URL scheme; empty when the list named none.
    pub protocol: String,
    /// Whether it may be chosen.
    pub available: bool,
}

/// One method on one route.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MethodReport {
    /// Method name; `*` for those beyond the first 256.
    pub method: String,
    /// What the routers made of the calls, for example a tag; empty for calls without one.
    pub route: String,
    /// Name of the strategy.
    pub strategy: String,
    /// Name of the cluster policy.
    pub policy: String,
    /// The candidates in list order, then those that are left out because they are unavailable.
    pub endpoints: Vec<EndpointReport>,
}

/// One endpoint as a candidate for one method.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct EndpointReport {
    /// `host:port`.
    pub address: String,
    /// Whether it may be chosen.
    pub available: bool,
    /// Weight as configured.
    pub weight: u32,
    /// Weight with warmup.
    pub effective_weight: u32,
    /// Whether it has not reached its full weight yet.
    pub warming: bool,
    /// Share (0 to 1) that the strategy alone will give it, where it decides alone.
    pub expected_share: Option<f64>,
    /// Attempts started.
    pub picks: u64,
    /// Its part (0 to 1) of all attempts of the method.
    pub share: f64,
    /// Attempts ended per second, over the last 30 s.
    pub per_second: f64,
    /// Mean response time, ms.
    pub mean_ms: Option<f64>,
    /// 99th percentile of recent response times, ms.
    pub p99_ms: Option<f64>,
    /// Attempts answered with a result.
    pub success: u64,
    /// Attempts answered with an error of the service.
    pub business: u64,
    /// Attempts whose caller gave up.
    pub cancelled: u64,
    /// Failed attempts, by kind.
    pub errors: BTreeMap<&'static str, u64>,
    /// Failed attempts as a part (0 to 1) of those ended.
    pub error_rate: f64,
    /// Attempts in flight.
    pub active: u32,
}

impl Report {
    /// Reads everything from a view.
    pub fn of(view: &View, clock: &dyn Clock) -> Self {
        let mut methods = Vec::new();
        for route in view.open_routes() {
            for (method, candidates) in route.ready() {
                methods.push(MethodReport {
                    method: view.service().methods.name(method).to_string(),
                    route: route.label(),
                    strategy: candidates.plan().strategy.about().name.to_owned(),
                    policy: candidates.plan().policy.to_string(),
                    endpoints: endpoints(candidates, clock.nanos()),
                });
            }
        }
        methods.sort_by(|a, b| (&a.method, &a.route).cmp(&(&b.method, &b.route)));
        Self {
            service: view.service().key.to_string(),
            generation: view.generation(),
            endpoints: view
                .entries()
                .iter()
                .map(|e| ListedEndpoint {
                    address: e.endpoint().address().to_owned(),
                    protocol: e.endpoint().protocol().to_owned(),
                    available: e.endpoint().is_available(),
                })
                .collect(),
            methods,
        }
    }
}

fn endpoints(candidates: &Candidates, now_ns: u64) -> Vec<EndpointReport> {
    let mut all: Vec<EndpointReport> = candidates
        .all()
        .iter()
        .enumerate()
        .map(|(position, c)| endpoint(c, candidates.expected_share(position), now_ns))
        .collect();
    all.extend(candidates.left_out().iter().map(|c| endpoint(c, Some(0.0), now_ns)));
    let picks: u64 = all.iter().map(|e| e.picks).sum();
    for e in &mut all {
        e.share = e.picks as f64 / picks.max(1) as f64;
    }
    all
}

fn endpoint(candidate: &Candidate, expected_share: Option<f64>, now_ns: u64) -> EndpointReport {
    let s = candidate.measurements().snapshot(now_ns);
    let ms = |micros: u64| micros as f64 / 1000.0;
    EndpointReport {
        address: candidate.endpoint().address().to_owned(),
        available: candidate.endpoint().is_available(),
        weight: candidate.configured_weight(),
        effective_weight: candidate.weight(),
        warming: candidate.is_warming(),
        expected_share,
        picks: s.picks,
        share: 0.0,
        per_second: s.per_second,
        mean_ms: s.mean_micros().map(ms),
        p99_ms: s.p99_micros.map(ms),
        success: s.success,
        business: s.business,
        cancelled: s.cancelled,
        error_rate: s.failures() as f64 / s.ended().max(1) as f64,
        errors: s.failed.iter().map(|(kind, n)| (kind.name(), *n)).collect(),
        active: s.active,
    }
}
