//! The world of one calculation: a balancer over the endpoints given, a clock that stands still,
//! and what was measured before the first call. Everything that decides is the library's.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Context;
use equipoise::core::balance::About;
use equipoise::core::candidates::{Candidate, Candidates};
use equipoise::core::clock::{Clock, ManualClock};
use equipoise::core::config::{Config, Place};
use equipoise::core::rng::SharedSeededRng;
use equipoise::core::ticket::Ticket as CoreTicket;
use equipoise::core::url::Url;
use equipoise::{Balancer, Call, Endpoint, Failure, Outcome, SystemClock, Ticket, Tried};
use serde::Serialize;

use super::named::{Active, LONGEST_MS, LoadReport, Sample};
use crate::failure::usage;

/// One line of the answer: an endpoint as given.
#[derive(Debug, Serialize)]
pub(crate) struct Line {
    pub(crate) address: String,
    pub(crate) weight: u32,
    pub(crate) effective_weight: u32,
    pub(crate) expected_share: Option<f64>,
    pub(crate) picks: u64,
}

/// A balancer, its clock, and what they were made from.
pub(crate) struct World {
    balancer: Balancer,
    clock: Arc<ManualClock>,
    given: Vec<Url>,
    config: Config,
}

impl World {
    /// Builds the balancer. The wall stands at `now_ms`, at the present where that is not given.
    pub(crate) fn new(
        given: Vec<Url>,
        config: Config,
        now_ms: Option<i64>,
        seed: u64,
    ) -> anyhow::Result<Self> {
        let now_ms = now_ms.unwrap_or_else(|| SystemClock::new().wall_ms());
        let clock = Arc::new(ManualClock::at(now_ms));
        // Room for samples, which start before the present.
        clock.shift_micros(2 * (LONGEST_MS as i64) * 1000);
        let balancer = Balancer::builder()
            .service("pick")
            .config(config.clone())
            .urls(given.iter().cloned())
            .clock(clock.clone())
            .rng(SharedSeededRng::new(seed))
            .build()
            .map_err(|error| usage(error.to_string()))?;
        Ok(Self { balancer, clock, given, config })
    }

    /// What the strategy of the call claims.
    pub(crate) fn about(&self, call: &Call<'_>) -> About {
        self.candidates(call).plan().strategy.about()
    }

    /// The endpoints that an option names as tried.
    pub(crate) fn tried(&self, addresses: &[String]) -> anyhow::Result<Tried> {
        let mut tried = Tried::new();
        for address in addresses {
            tried.add(self.endpoint("--tried", address)?);
        }
        Ok(tried)
    }

    /// Feeds earlier answers and reports, and returns the attempts that stay in flight.
    pub(crate) fn measure(
        &self,
        call: &Call<'_>,
        samples: &[Sample],
        reports: &[LoadReport],
        active: &[Active],
    ) -> anyhow::Result<Vec<CoreTicket>> {
        let candidates = self.candidates(call);
        let of = |option: &str, address: &str| -> anyhow::Result<Option<&Candidate>> {
            let endpoint = self.endpoint(option, address)?;
            // One that no router lets serve this call is measured in vain.
            Ok(candidates.position(&endpoint).and_then(|p| candidates.all().get(p)))
        };
        let mut last: Vec<(&Candidate, CoreTicket)> = Vec::new();
        for sample in samples {
            let Some(candidate) = of("--sample", &sample.address)? else { continue };
            for _ in 0..sample.times {
                let ticket = self.started_before(candidate, sample.micros);
                // The newest ticket of an endpoint stays open for the report that it may bring.
                match last.iter_mut().find(|(c, _)| std::ptr::eq(*c, candidate)) {
                    Some((_, open)) => self.succeed(std::mem::replace(open, ticket)),
                    None => last.push((candidate, ticket)),
                }
            }
        }
        for report in reports {
            let Some(candidate) = of("--report", &report.address)? else { continue };
            match last.iter().find(|(c, _)| std::ptr::eq(*c, candidate)) {
                Some((_, ticket)) => ticket.report(&report.text, &*self.clock),
                // Without a sample it comes with an attempt that counts for nothing else.
                None => {
                    CoreTicket::start(candidate, &*self.clock).report(&report.text, &*self.clock)
                }
            }
        }
        last.into_iter().for_each(|(_, ticket)| self.succeed(ticket));
        let mut open = Vec::new();
        for active in active {
            if let Some(candidate) = of("--active", &active.address)? {
                open.extend((0..active.count).map(|_| CoreTicket::start(candidate, &*self.clock)));
            }
        }
        Ok(open)
    }

    /// Chooses, and counts the attempt in.
    pub(crate) fn pick(&self, call: &Call<'_>, tried: &Tried) -> Result<Ticket, Failure> {
        self.balancer.pick_except(call, tried)
    }

    /// Ends a call successfully, in no time and without a sample. To finish the ticket would record
    /// a response time of 0, so it is given up, which counts it out and records nothing; what
    /// `adaptive` would have counted besides is counted here.
    pub(crate) fn end(&self, call: &Call<'_>, ticket: Ticket) {
        let endpoint = ticket.endpoint().clone();
        drop(ticket);
        if self.about(call).adaptive {
            let now_ms = self.clock.wall_ms();
            let measures = endpoint.adaptive(now_ms);
            measures.state.picked(now_ms);
            measures.state.succeeded();
            measures.compat.picked(now_ms);
            measures.compat.succeeded();
        }
    }

    /// Every endpoint as given, in the order given; a repeated one shows what the library made of
    /// all its lines: the last parameters.
    pub(crate) fn lines(
        &self,
        call: &Call<'_>,
        tried: &Tried,
        picked: &[Arc<Endpoint>],
    ) -> anyhow::Result<Vec<Line>> {
        let candidates = self.candidates(call);
        let shares = self.shares(call, &candidates, tried)?;
        let mut picks: HashMap<*const Endpoint, u64> = HashMap::new();
        for endpoint in picked {
            *picks.entry(Arc::as_ptr(endpoint)).or_default() += 1;
        }
        let places: HashMap<(&str, &str), usize> = (0..)
            .zip(candidates.all())
            .map(|(position, c)| ((c.endpoint().protocol(), c.endpoint().address()), position))
            .collect();
        let mut lines = Vec::with_capacity(self.given.len());
        for url in &self.given {
            let address = url.address();
            let position = places.get(&(url.protocol.as_str(), address.as_str())).copied();
            let candidate = position.and_then(|p| candidates.all().get(p));
            let (weight, effective_weight) = match candidate {
                Some(c) => (c.configured_weight(), c.weight()),
                None => self.weights_of(url, call)?,
            };
            let own = candidate.and_then(|c| picks.get(&Arc::as_ptr(c.endpoint())));
            lines.push(Line {
                address,
                weight,
                effective_weight,
                expected_share: match position {
                    Some(position) => shares.get(position).copied().flatten(),
                    // Never chosen; known where shares are known at all.
                    None => shares.iter().any(Option::is_some).then_some(0.0),
                },
                picks: own.copied().unwrap_or(0),
            });
        }
        Ok(lines)
    }

    /// The exact long-run share of each candidate. Endpoints that were tried are no candidates
    /// unless all were, so the shares are then those of the others alone.
    fn shares(
        &self,
        call: &Call<'_>,
        candidates: &Candidates,
        tried: &Tried,
    ) -> anyhow::Result<Vec<Option<f64>>> {
        let all = candidates.all();
        let left: Vec<&Candidate> = all.iter().filter(|c| !tried.contains(c.endpoint())).collect();
        if left.len() == all.len() || left.is_empty() {
            return Ok((0..all.len()).map(|p| candidates.expected_share(p)).collect());
        }
        // A turn of one that was tried passes to the next in the order, not to all by weight.
        let by_turns = candidates.plan().strategy.about().name == "roundrobin" && left.len() > 1;
        if by_turns || candidates.expected_share(0).is_none() {
            return Ok(vec![None; all.len()]);
        }
        let view = self.balancer.view();
        let urls = view
            .entries()
            .iter()
            .filter(|e| left.iter().any(|c| Arc::ptr_eq(c.endpoint(), e.endpoint())));
        let alone = self.without_routers(urls.map(|e| Url::clone(e.url())).collect(), call)?;
        let mut shares = (0..alone.all().len()).map(|p| alone.expected_share(p));
        let share = |c: &Candidate| match tried.contains(c.endpoint()) {
            true => Some(0.0),
            false => shares.next().flatten(),
        };
        Ok(all.iter().map(share).collect())
    }

    /// Configured and effective weight of an endpoint that the list or a router leaves out.
    fn weights_of(&self, url: &Url, call: &Call<'_>) -> anyhow::Result<(u32, u32)> {
        let alone = self.without_routers(vec![url.clone()], call)?;
        let candidate = alone.all().first().context("the endpoint has vanished")?;
        Ok((candidate.configured_weight(), candidate.weight()))
    }

    /// The candidates of a list in which everybody may serve.
    fn without_routers(
        &self,
        mut urls: Vec<Url>,
        call: &Call<'_>,
    ) -> anyhow::Result<Arc<Candidates>> {
        for url in &mut urls {
            for key in ["dubbo.tag", "disabled", "enabled"] {
                url.set(key, "");
            }
        }
        let mut config = self.config.clone();
        for key in ["dubbo.tag", "dubbo.force.tag"] {
            config.set(key, "", &Place(String::new()));
        }
        let own = World::new(urls, config, Some(self.clock.wall_ms()), 0)?;
        Ok(own.candidates(&Call { tag: None, force_tag: None, ..*call }))
    }

    fn candidates(&self, call: &Call<'_>) -> Arc<Candidates> {
        self.balancer.view().candidates(call, &*self.clock).clone()
    }

    /// The endpoint of the list that an option means, with or without a scheme.
    fn endpoint(&self, option: &str, address: &str) -> anyhow::Result<Arc<Endpoint>> {
        let url = Url::parse(address).map_err(|error| usage(format!("{option}: {error}")))?;
        let view = self.balancer.view();
        let same = |e: &&Arc<Endpoint>| {
            e.address() == url.address()
                && (url.protocol.is_empty() || e.protocol() == url.protocol)
        };
        let found = view.entries().iter().map(|e| e.endpoint()).find(same).cloned();
        found.ok_or_else(|| usage(format!("{option}: {address} is none of the endpoints")).into())
    }

    fn started_before(&self, candidate: &Candidate, micros: i64) -> CoreTicket {
        let now_ms = self.clock.wall_ms();
        self.clock.set_wall_ms(now_ms.saturating_sub(micros / 1000));
        self.clock.shift_micros(-micros);
        let ticket = CoreTicket::start(candidate, &*self.clock);
        self.clock.shift_micros(micros);
        self.clock.set_wall_ms(now_ms);
        ticket
    }

    fn succeed(&self, ticket: CoreTicket) {
        ticket.finish(Outcome::Success, &*self.clock);
    }
}
