//! `rpc`: calls per second and latency of a 1 KiB echo on loopback, through our consumer, through
//! tonic, and bare. Client and servers share one process and two workers; every path gets its turn
//! in every round.

mod bare;
mod load;
mod ours;
mod peers;

use std::time::Duration;

use bytes::Bytes;

use crate::options::Options;
use crate::table::{Table, short};
use crate::{machine, stats};

use load::{Echo, Taken};

/// What travels both ways.
#[derive(Clone, PartialEq, prost::Message)]
struct Payload {
    #[prost(bytes = "bytes", tag = "1")]
    data: Bytes,
}

impl Payload {
    fn new() -> Self {
        Self { data: Bytes::from(vec![7_u8; SIZE]) }
    }
}

/// Bytes of the payload.
const SIZE: usize = 1024;
/// Servers behind the balanced paths.
const SERVERS: usize = 10;
/// Time of each call, told to the server and enforced by the client on every path but the bare one.
const TIMEOUT: Duration = Duration::from_secs(1);
const SERVICE: &str = "bench.Echo";
const METHOD: &str = "Unary";
/// Calls in flight.
const IN_FLIGHT: [usize; 3] = [1, 16, 64];

/// One way from a caller to a server.
struct Path {
    name: &'static str,
    /// Index of the path without a balancer over as many connections, to compare with.
    plain: Option<usize>,
    echo: Box<dyn Echo>,
}

impl Path {
    fn new(name: &'static str, plain: Option<usize>, echo: impl Echo) -> Self {
        Self { name, plain, echo: Box::new(echo) }
    }
}

/// Measures and prints.
pub(crate) fn run(options: &Options) {
    println!("Measured on {}.\n", machine::describe());
    machine::prefer_process();
    machine::keep_awake();
    let rounds = options.rounds(9, 3);
    let length = Duration::from_millis(if options.quick { 150 } else { 400 });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .on_thread_start(|| machine::prefer(-20))
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let paths = paths().await;
        let mut taken: Vec<[Vec<Taken>; 3]> = paths.iter().map(|_| Default::default()).collect();
        for path in &paths {
            load::drive(&*path.echo, 16, length / 2).await;
        }
        for _ in 0..rounds {
            for (level, in_flight) in IN_FLIGHT.into_iter().enumerate() {
                for (path, taken) in paths.iter().zip(&mut taken) {
                    taken[level].push(load::drive(&*path.echo, in_flight, length).await);
                }
            }
        }
        print(&paths, &taken);
    });
    println!("\n{rounds} rounds of {length:?}; load average at the end {}.", machine::load());
    // What keeps the cores awake never ends by itself.
    std::process::exit(0);
}

async fn paths() -> Vec<Path> {
    let (tonics, tris) = (peers::serve(SERVERS).await, ours::serve(SERVERS).await);
    let one = std::slice::from_ref;
    vec![
        Path::new("bare TCP, a connection per caller", None, bare::Bare::serve().await),
        Path::new("tonic, one channel", None, peers::Plain::connect(one(&tonics[0])).await),
        Path::new("tonic, 10 channels by a counter", None, peers::Plain::connect(&tonics).await),
        Path::new("tonic, Channel::balance_list over 10", Some(2), peers::Listed::new(&tonics)),
        Path::new("tower p2c in a Buffer over 10", Some(2), peers::P2c::connect(&tonics).await),
        Path::new("tri, one connection", None, ours::Plain::connect(one(&tris.addresses[0])).await),
        Path::new(
            "tri, 10 connections by a counter",
            None,
            ours::Plain::connect(&tris.addresses).await,
        ),
        Path::new(
            "tri consumer over 1",
            Some(5),
            ours::Consumed::new(one(&tris.addresses[0]), "p2c"),
        ),
        Path::new(
            "tri consumer over 10, random",
            Some(6),
            ours::Consumed::new(&tris.addresses, "random"),
        ),
        Path::new(
            "tri consumer over 10, p2c",
            Some(6),
            ours::Consumed::new(&tris.addresses, "p2c"),
        ),
        Path::new(
            "tri consumer over 10, leastactive",
            Some(6),
            ours::Consumed::new(&tris.addresses, "leastactive"),
        ),
        Path::new(
            "tri consumer over 10, p2c, tonic's servers",
            None,
            ours::Consumed::new(&tonics, "p2c").keeping(tris.running),
        ),
    ]
}

fn print(paths: &[Path], taken: &[[Vec<Taken>; 3]]) {
    let middle = |taken: &[Taken], of: fn(&Taken) -> f64| {
        stats::median(&taken.iter().map(of).collect::<Vec<_>>())
    };
    let head = IN_FLIGHT.iter().flat_map(|n| {
        ["calls/s", "p50 µs", "p99 µs", "/ plain"].map(|what| format!("{n}: {what}"))
    });
    let head = ["path".to_owned()].into_iter().chain(head).chain(["allocations".to_owned()]);
    let mut table = Table::new(head);
    for (path, levels) in paths.iter().zip(taken) {
        let mut cells = vec![path.name.to_owned()];
        for (level, rounds) in levels.iter().enumerate() {
            cells.push(format!("{:.0}", middle(rounds, |t| t.per_second)));
            cells.push(short(middle(rounds, |t| t.p50_us)));
            cells.push(short(middle(rounds, |t| t.p99_us)));
            // Of the same round, so that whatever slowed it down slowed both.
            let ratios = path.plain.map(|plain| {
                let pairs = rounds.iter().zip(&taken[plain][level]);
                pairs.map(|(own, plain)| own.per_second / plain.per_second).collect::<Vec<_>>()
            });
            cells.push(ratios.map_or(String::new(), |r| format!("{:.3}", stats::median(&r))));
        }
        cells.push(format!("{:.0}", middle(&levels[1], |t| t.allocations)));
        table.row(cells);
    }
    table.print();
}
