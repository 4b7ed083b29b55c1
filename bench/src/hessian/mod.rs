//! `hessian`: objects per second and bytes per second through serde, both ways, beside `serde_json`
//! with the same types and the one other crate for Hessian that reads and writes.

mod sets;

use std::hint::black_box;
use std::time::{Duration, Instant};

use fastrand::Rng;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::options::Options;
use crate::table::{Table, short};
use crate::{alloc, machine, stats};

use sets::{Customer, Order, Trade};

/// Objects of a set that travels as one list.
const OBJECTS: usize = 200;
/// How much time one contender has in a round, for each way.
const BATCH: Duration = Duration::from_millis(4);
const OURS: &str = "equipoise-hessian";
const JSON: &str = "serde_json";
const OTHER: &str = "hessian2 0.0.10 (objects as maps)";

/// Measures and prints.
pub(crate) fn run(options: &Options) {
    println!("Measured on {}.\n", machine::describe());
    machine::prefer_process();
    machine::pin(0);
    let rounds = options.rounds(101, 15);
    let mut rng = Rng::with_seed(7);
    let mut all = vec![
        set("texts, a list of 200", OBJECTS, &many(&mut rng, Customer::new)),
        set("numbers, a list of 200", OBJECTS, &many(&mut rng, Trade::new)),
        set("orders, a list of 200", OBJECTS, &many(&mut rng, Order::new)),
        set("texts, one object", 1, &Customer::new(&mut rng)),
        set("numbers, one object", 1, &Trade::new(&mut rng)),
        set("one order", 1, &Order::new(&mut rng)),
    ];
    all.retain(|set| options.wants("", set.name));
    for _ in 0..rounds {
        for contender in all.iter_mut().flat_map(|set| &mut set.contenders) {
            for way in &mut contender.ways {
                way.measure();
            }
        }
    }
    for set in &all {
        print(set);
    }
    println!("{rounds} rounds of {BATCH:?}; load average at the end {}.", machine::load());
}

fn many<T>(rng: &mut Rng, new: fn(&mut Rng) -> T) -> Vec<T> {
    (0..OBJECTS).map(|_| new(rng)).collect()
}

/// The same objects, through every contender.
struct Set {
    name: &'static str,
    objects: usize,
    contenders: Vec<Contender>,
}

struct Contender {
    name: &'static str,
    /// How long the bytes are, or why it cannot do it.
    bytes: Result<usize, String>,
    /// Writing and reading.
    ways: Vec<Way>,
}

/// One way, and what it took.
struct Way {
    /// So many times; the answer is only there not to be optimised away.
    work: Box<dyn Fn(usize)>,
    /// How often fits into a batch.
    times: usize,
    /// Nanoseconds for the whole set, of each round.
    took: Vec<f64>,
    allocations: u64,
}

impl Way {
    fn new(work: impl Fn(usize) + 'static) -> Self {
        let start = Instant::now();
        work(16);
        let each = start.elapsed().as_nanos().max(16) / 16;
        let times = (BATCH.as_nanos() / each).max(1) as usize;
        let allocated = alloc::here();
        work(1);
        let allocations = alloc::here() - allocated;
        Self { work: Box::new(work), times, took: Vec::new(), allocations }
    }

    fn measure(&mut self) {
        let start = Instant::now();
        (self.work)(self.times);
        self.took.push(start.elapsed().as_nanos() as f64 / self.times as f64);
    }
}

fn set<T>(name: &'static str, objects: usize, value: &T) -> Set
where
    T: Clone + PartialEq + Serialize + DeserializeOwned + 'static,
{
    let contenders = vec![
        contender(OURS, value, equipoise_hessian::to_vec, |bytes| {
            equipoise_hessian::from_slice(bytes)
        }),
        contender(JSON, value, serde_json::to_vec, |bytes| serde_json::from_slice(bytes)),
        contender(OTHER, value, hessian2::to_vec, |bytes| hessian2::from_reader(bytes)),
    ];
    Set { name, objects, contenders }
}

fn contender<T, W, R>(
    name: &'static str,
    value: &T,
    write: fn(&T) -> Result<Vec<u8>, W>,
    read: fn(&[u8]) -> Result<T, R>,
) -> Contender
where
    T: Clone + PartialEq + 'static,
    W: ToString + 'static,
    R: ToString + 'static,
{
    let written = write(value).map_err(|error| error.to_string());
    let bytes = written.and_then(|bytes| match read(&bytes) {
        Ok(back) if back == *value => Ok(bytes),
        Ok(_) => Err("reads something else than was written".to_owned()),
        Err(error) => Err(error.to_string()),
    });
    let (len, ways) = match bytes {
        Err(error) => (Err(error), Vec::new()),
        Ok(bytes) => {
            let (len, value) = (bytes.len(), value.clone());
            let writing = Way::new(move |times| {
                for _ in 0..times {
                    drop(black_box(write(black_box(&value))));
                }
            });
            let reading = Way::new(move |times| {
                for _ in 0..times {
                    drop(black_box(read(black_box(&bytes))));
                }
            });
            (Ok(len), vec![writing, reading])
        }
    };
    Contender { name, bytes: len, ways }
}

fn print(set: &Set) {
    println!("**{}**\n", set.name);
    let head = ["contender", "bytes"].map(str::to_owned).into_iter();
    let ways = ["write", "read"].into_iter().flat_map(|way| {
        ["objects/s", "MB/s", "/ serde_json", "allocations"].map(|what| format!("{way}: {what}"))
    });
    let mut table = Table::new(head.chain(ways));
    let json = set.contenders.iter().find(|contender| contender.name == JSON);
    for contender in &set.contenders {
        let bytes = match &contender.bytes {
            Ok(bytes) => *bytes,
            Err(error) => {
                println!("{}: {error}\n", contender.name);
                continue;
            }
        };
        let ways = contender.ways.iter().enumerate().flat_map(|(at, way)| {
            let nanos = stats::median(&way.took);
            let base = json.and_then(|json| json.ways.get(at));
            // Of the same round, so that whatever slowed it down slowed both.
            let ratios = base.map(|base| base.took.iter().zip(&way.took).map(|(b, own)| b / own));
            let ratios: Vec<f64> = ratios.into_iter().flatten().collect();
            [
                short(set.objects as f64 * 1e9 / nanos),
                short(bytes as f64 * 1e3 / nanos),
                format!("{:.2}", stats::median(&ratios)),
                way.allocations.to_string(),
            ]
        });
        table.row([contender.name.to_owned(), bytes.to_string()].into_iter().chain(ways));
    }
    table.print();
}
