//! `rebuild`: what a change costs until every pick sees it, beside building Dubbo's ring in an
//! ordered map in the same run.

use std::time::Instant;

use equipoise::core::url::Url;
use equipoise::{Balancer, Call};

use crate::options::Options;
use crate::picks::{Dubbo, METHOD, STRATEGIES};
use crate::table::{Table, short};
use crate::world::{Weighting, World};
use crate::{machine, stats};

/// Most of the textbook's time that a change may take.
const RING: f64 = 0.5;
const OTHERS: f64 = 0.05;

const CHANGES: [&str; 3] = ["a weight changes", "one joins", "one leaves"];

/// Measures and prints.
pub(crate) fn run(options: &Options) {
    println!("Measured on {}.\n", machine::describe());
    machine::prefer_process();
    machine::pin(0);
    let rounds = options.rounds(11, 3);
    for n in options.sizes(&[2, 10, 100, 1_000, 10_000], &[10, 1_000]) {
        table(options, &World::new(n, Weighting::Mixed), rounds);
    }
    println!("Load average at the end {}.", machine::load());
}

/// One strategy's balancer and what its changes took, in microseconds.
struct Site {
    strategy: &'static str,
    balancer: Balancer,
    took: [Vec<f64>; 3],
}

fn table(options: &Options, world: &World, rounds: usize) {
    let list = urls(world);
    let wanted = |s: &&&'static str| options.wants(s, "ours");
    let mut sites: Vec<Site> = STRATEGIES.iter().filter(wanted).map(|s| site(s, &list)).collect();
    let mut textbook = Vec::new();
    for round in 0..rounds {
        let start = Instant::now();
        let ring = Dubbo::of((0..world.n()).map(World::address));
        textbook.push(micros(start));
        assert!(ring.len() > 100 * world.n(), "a ring without points");
        for site in &mut sites {
            // Another place in every round, so that no order is special.
            change(site, &list, (7 * round + 1) % world.n());
        }
    }
    let base = stats::median(&textbook);
    println!("**n = {}**: the textbook's ring takes {} µs\n", world.n(), short(base));
    let head = CHANGES.iter().flat_map(|c| [format!("{c}, µs"), "/ textbook".to_owned()]);
    let mut table = Table::new(["strategy".to_owned()].into_iter().chain(head));
    for site in &sites {
        let most = if site.strategy.ends_with("consistenthash") { RING } else { OTHERS };
        let cells = site.took.iter().flat_map(|took| {
            let took = stats::median(took);
            let ratio = took / base;
            // The bound is stated for 10 000.
            let verdict = match world.n() {
                10_000 if ratio > most => format!("**miss** {} > {most}", short3(ratio)),
                10_000 => format!("hit {} ≤ {most}", short3(ratio)),
                _ => short3(ratio),
            };
            [short(took), verdict]
        });
        table.row([site.strategy.to_owned()].into_iter().chain(cells));
    }
    table.print();
}

fn site(strategy: &'static str, list: &[Url]) -> Site {
    let balancer = Balancer::builder().strategy(strategy).urls(list.iter().cloned()).build();
    let balancer = balancer.expect("a strategy and addresses");
    // Only what calls have used is prepared for the next view.
    balancer
        .pick(&Call::new(METHOD).key("k"))
        .expect("providers")
        .finish(equipoise::Outcome::Success);
    Site { strategy, balancer, took: Default::default() }
}

fn urls(world: &World) -> Vec<Url> {
    world.urls().map(|text| Url::parse(&text).expect("an address")).collect()
}

/// One weight changes and changes back, one joins and leaves again; the four changes are timed as
/// three kinds.
fn change(site: &mut Site, list: &[Url], at: usize) {
    let mut heavier = list.to_vec();
    heavier[at] = Url::parse(&format!("{}?weight=7", World::address(at))).expect("an address");
    let mut more = list.to_vec();
    let newcomer = World::address(list.len() + at);
    more.insert(at, Url::parse(&format!("{newcomer}?weight=2")).expect("an address"));
    for (kind, next) in [(0, heavier), (0, list.to_vec()), (1, more), (2, list.to_vec())] {
        let before = site.balancer.view().generation();
        let start = Instant::now();
        site.balancer.update_urls(next).expect("a usable list");
        site.took[kind].push(micros(start));
        assert_eq!(site.balancer.view().generation(), before + 1);
    }
}

fn micros(start: Instant) -> f64 {
    start.elapsed().as_nanos() as f64 / 1_000.0
}

fn short3(ratio: f64) -> String {
    if ratio < 0.1 { format!("{ratio:.4}") } else { short(ratio) }
}
