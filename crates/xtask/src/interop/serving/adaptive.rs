//! Adaptive load balancing: a consumer of theirs follows the loads that our providers report.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, ensure};
use equipoise::core::measure::adaptive::{CompatState, compare_bits};
use equipoise::protocol::LoadSource;
use serde_json::json;

use crate::interop::ask::Ask;
use crate::interop::cell::{Seen, same, works};
use crate::interop::peer::Peer;
use crate::interop::shop::Recording;
use crate::interop::stage::{Stage, Wire};
use crate::interop::stock::STOCK;

/// Loads of two providers.
const LOADS: [[f64; 2]; 3] = [[10.0, 40.0], [60.0, 20.0], [25.0, 25.0]];

/// Calls for each.
const CALLS: usize = 400;

/// Between calls, ms: the reference keeps time in ms and takes reports in on another thread.
const PAUSE: u32 = 3;

/// The timeout of calls, ms, which is part of the formula.
const TIMEOUT: u32 = 1000;

/// Chi-square with one degree of freedom passes this once in a million times.
const LIMIT: f64 = 23.93;

/// A load that does not change.
struct Scripted(f64);

impl LoadSource for Scripted {
    fn load(&self) -> Option<f64> {
        Some(self.0)
    }
}

/// How many calls each of two providers gets from the formula, at equal latency and weight.
fn formula(loads: [f64; 2]) -> [usize; 2] {
    let mut now = 1_000_000;
    let states = loads.map(|_| CompatState::new(now));
    let mut calls = [0; 2];
    for _ in 0..CALLS {
        now += i64::from(PAUSE);
        let scores = states.each_ref().map(|state| state.load(now, 100, TIMEOUT));
        // They are equal before the first call only.
        let chosen = usize::from(compare_bits(scores[0], scores[1]).is_gt());
        states[chosen].picked(now);
        states[chosen].succeeded();
        states[chosen].report(&format!("curTime:{now},load:{}", loads[chosen]), 1);
        calls[chosen] += 1;
    }
    calls
}

/// How many calls each of two providers gets from the peer.
async fn measured(peer: &Peer, wire: Wire, loads: [f64; 2]) -> anyhow::Result<[usize; 2]> {
    let serve = |load| Recording::serve(move |server| server.load_source(Arc::new(Scripted(load))));
    let providers = [serve(loads[0]).await?, serve(loads[1]).await?];
    let command = json!({
        "url": providers.each_ref().map(|provider| provider.url(wire.scheme)).join(";"),
        "interface": STOCK, "loadbalance": "adaptive", "timeout": TIMEOUT, "pause": PAUSE,
        "args": vec!["a"; CALLS],
    });
    let answer = peer.ask("greets", command).await?;
    same("thrown by the peer", answer.get("thrown"), None)?;
    Ok(providers.each_ref().map(|provider| provider.greeted().len()))
}

/// Our providers say how loaded they are, and the peer's choice follows its formula.
pub(super) async fn steers(stage: Arc<Stage>, wire: Wire) -> Seen {
    let peer = stage.consumer(wire).await?;
    let mut shown = Vec::new();
    for loads in LOADS {
        let want = formula(loads);
        let got = measured(peer, wire, loads).await?;
        same("calls", got[0] + got[1], CALLS)?;
        let part = |at: usize| (got[at] as f64 - want[at] as f64).powi(2) / want[at] as f64;
        let chi_square = part(0) + part(1);
        let line = format!("loads {loads:?}: {got:?} of {want:?}, chi-square {chi_square:.2}");
        ensure!(chi_square < LIMIT, "{line}");
        shown.push(line);
    }
    works(shown.join("; "))
}

/// What our provider says of this machine, unmodified.
pub(super) async fn figures(stage: Arc<Stage>, wire: Wire) -> Seen {
    let provider = Recording::serve(|server| server).await?;
    let ask = Ask::new(provider.url(wire.scheme), STOCK, "greet");
    let ask = ask.arg("java.lang.String", json!("a")).arg("int", json!(1));
    let ask = ask.with("attachments", json!({ "lb_adaptive": "mem,load" }));
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map(|time| time.as_millis());
    let before = now()?;
    let answer = ask.call(stage.consumer(wire).await?).await?;
    let after = now()?;
    answer.value()?;
    let text = answer.attachment("lb_adaptive").context("no answer to lb_adaptive")?;
    let parts = text.strip_prefix("curTime:").and_then(|rest| rest.split_once(",load:"));
    let (time, load) = parts.with_context(|| format!("form of {text}"))?;
    ensure!((before..=after).contains(&time.parse()?), "{text}: not between {before} and {after}");
    // Java reads nothing but these.
    ensure!(load.bytes().all(|b| b.is_ascii_digit() || b == b'.'), "{text}: form of the load");
    let load: f64 = load.parse()?;
    // A load average is far below a thousand for each processor.
    ensure!((0.0..100_000.0).contains(&load), "{text}: the load");
    works(text)
}
