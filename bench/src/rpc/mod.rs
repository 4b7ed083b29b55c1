//! `rpc`: calls per second and latency of a 1 KiB echo on loopback, through our consumer, through
//! tonic, and bare. Client and servers share one process and two workers; every path gets its turn
//! in every round.

mod bare;
mod java;
mod load;
mod ours;
mod peers;

use std::net::SocketAddr;
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
    /// The path without a balancer over as many connections, to compare with.
    plain: Option<&'static str>,
    echo: Box<dyn Echo>,
}

impl Path {
    fn new(name: &'static str, plain: Option<&'static str>, echo: impl Echo) -> Self {
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
        let (tonics, tris) = (peers::serve(SERVERS).await, ours::serve(SERVERS).await);
        let objects = java::serve().await;
        let mut paths = paths(&tonics, &tris.addresses, objects.local_addr()).await;
        paths.retain(|path| options.wants("", path.name));
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

async fn paths(tonics: &[SocketAddr], tris: &[SocketAddr], objects: SocketAddr) -> Vec<Path> {
    let (tonic, tri) = (&tonics[..1], &tris[..1]);
    let consumed = |name, plain, addresses: &[SocketAddr], strategy| {
        Path::new(name, plain, ours::Consumed::new(addresses, strategy))
    };
    const TONIC: &str = "tonic, one channel";
    const TONICS: &str = "tonic, 10 channels by a counter";
    const ONE: &str = "tri, one connection";
    const TRIS: &str = "tri, 10 connections by a counter";
    vec![
        Path::new("bare TCP, a connection per caller", None, bare::Bare::serve().await),
        Path::new(TONIC, None, peers::Plain::connect(tonic).await),
        Path::new(TONICS, None, peers::Plain::connect(tonics).await),
        Path::new("tonic, balance_list over 10", Some(TONICS), peers::Listed::new(tonics)),
        Path::new("tower p2c in a Buffer over 10", Some(TONICS), peers::P2c::connect(tonics).await),
        Path::new(ONE, None, ours::Plain::connect(tri).await),
        Path::new(TRIS, None, ours::Plain::connect(tris).await),
        consumed("tri consumer over 1", Some(TONIC), tri, "random"),
        Path::new(
            "dubbo consumer over 1, a Java object",
            Some(TONIC),
            java::Consumed::new("dubbo", objects),
        ),
        Path::new(
            "tri consumer over 1, a Java object",
            Some(TONIC),
            java::Consumed::new("tri", objects),
        ),
        consumed("tri consumer over 10, random", Some(TRIS), tris, "random"),
        consumed("tri consumer over 10, leastactive", Some(TRIS), tris, "leastactive"),
        consumed("tri consumer over 10, p2c", Some(TRIS), tris, "p2c"),
        consumed("tri consumer over 10, leastactive, tonic's servers", None, tonics, "leastactive"),
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
            let plain = path.plain.and_then(|name| paths.iter().position(|p| p.name == name));
            let ratios = plain.map(|plain| {
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
