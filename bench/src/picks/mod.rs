//! `picks`: what one pick costs, for every strategy, beside textbook code and the machine's limit.

mod check;
mod floor;
mod operations;
mod ours;
mod report;
mod ring;
mod targets;
mod textbook;
mod two;
mod yardstick;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::harness::{self, Contender, Course, Sample, Second, Timed};
use crate::options::Options;
use crate::world::{Weighting, World};
use crate::{machine, stats};

use check::Expect;
pub(crate) use ours::METHOD;
pub(crate) use ring::Dubbo;

/// What a row stands for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// Our picker on a snapshot at hand, nothing counted.
    Choose,
    /// Our pick with its ticket, from start to finish.
    Ticket,
    /// Ours in another form.
    Variant,
    /// The documented algorithm, written down as it is; nothing counted.
    Textbook,
    /// The same, counting attempts in and out.
    TextbookCounted,
    /// Only what cannot be left out.
    Floor,
    /// What a ticket is compared with: a count up and down and one owned handle.
    Yardstick,
    /// The same and all that a report and a window need to be measured.
    Measured,
    /// One single operation.
    Operation,
}

/// A contender that can be built for a world.
pub(crate) struct Row {
    pub(crate) strategy: &'static str,
    pub(crate) kind: Kind,
    pub(crate) name: &'static str,
    expect: Expect,
    build: Build,
}

type Build = Box<dyn Fn(&World) -> Arc<dyn Timed>>;

impl Row {
    fn new<C: Contender>(
        strategy: &'static str,
        kind: Kind,
        name: &'static str,
        expect: Expect,
        build: impl Fn(&World) -> C + 'static,
    ) -> Self {
        let build = Box::new(move |world: &World| Arc::new(Course::new(build(world))) as Arc<_>);
        Self { strategy, kind, name, expect, build }
    }
}

/// What was measured of a row in one world.
pub(crate) struct Cell {
    strategy: &'static str,
    kind: Kind,
    name: &'static str,
    n: usize,
    weighting: Weighting,
    one: Vec<f64>,
    two: Vec<f64>,
    allocations: f64,
    disturbed: usize,
    /// What is wrong with where its traffic went.
    wrong: Option<String>,
}

impl Cell {
    /// Nanoseconds per pick with one thread or with two.
    fn nanos(&self, threads: usize) -> f64 {
        stats::median(if threads == 1 { &self.one } else { &self.two })
    }
}

/// The strategies in the order of the tables.
pub(crate) const STRATEGIES: [&str; 9] = [
    "random",
    "roundrobin",
    "leastactive",
    "shortestresponse",
    "p2c",
    "peakewma",
    "adaptive",
    "consistenthash",
    "boundedconsistenthash",
];

/// Where the strategy does not look at weights, or looks like with equal ones.
fn has_weights(strategy: &str) -> bool {
    strategy != "consistenthash"
}

fn rows() -> Vec<Row> {
    let mut rows = ours::rows();
    rows.extend(textbook::rows());
    rows.extend(two::rows());
    rows.extend(ring::rows());
    rows.extend(floor::rows());
    rows.extend(yardstick::rows());
    rows
}

/// Runs everything that the options ask for and prints tables.
pub(crate) fn run(options: &Options) {
    let began = Instant::now();
    println!("Measured on {}.\n", machine::describe());
    machine::prefer_process();
    machine::pin(0);
    let second = Second::start();
    let sizes = options.sizes(&[2, 10, 100, 1_000, 10_000], &[10, 1_000]);
    let plan = Plan::new(options, &second);

    let mut cells = plan.measure(operations::rows(), &World::new(16, Weighting::Equal));
    for weighting in [Weighting::Equal, Weighting::Mixed, Weighting::Fine] {
        for &n in &sizes {
            let wanted = |row: &Row| {
                options.wants(row.strategy, row.name)
                    && match weighting {
                        Weighting::Equal => true,
                        Weighting::Mixed => has_weights(row.strategy),
                        // Only to show cycles that are too long for a table.
                        Weighting::Fine => row.strategy == "roundrobin" && n >= 1_000,
                    }
            };
            let rows = rows().into_iter().filter(wanted).collect();
            cells.extend(plan.measure(rows, &World::new(n, weighting)));
            eprintln!("{:7.1} s  n = {n}, {}", began.elapsed().as_secs_f64(), weighting.name());
        }
    }
    report::print(&cells, &sizes);
    let samples: usize = cells.iter().map(|c| c.one.len() + c.two.len()).sum();
    let disturbed: usize = cells.iter().map(|c| c.disturbed).sum();
    println!(
        "\n{samples} batches, {disturbed} of them disturbed; {:.0} s; load average at the end {}.",
        began.elapsed().as_secs_f64(),
        machine::load()
    );
}

/// How much is measured.
struct Plan<'a> {
    rounds: usize,
    batch: Duration,
    watch: Duration,
    second: &'a Second,
}

/// A row on its way.
struct Running {
    cell: Cell,
    timed: Arc<dyn Timed>,
    picks: [u64; 2],
    sum: Sample,
}

impl<'a> Plan<'a> {
    fn new(options: &Options, second: &'a Second) -> Self {
        let micros = |quick, full| Duration::from_micros(if options.quick { quick } else { full });
        Self {
            rounds: options.rounds(21, 9),
            batch: micros(600, 1_000),
            watch: micros(15_000, 60_000),
            second,
        }
    }

    /// All rows in one world: built, watched, then measured in turns.
    fn measure(&self, rows: Vec<Row>, world: &World) -> Vec<Cell> {
        let mut running: Vec<Running> = rows.iter().map(|row| self.prepare(row, world)).collect();
        self.second.awake(true);
        for it in &mut running {
            let run = |picks| harness::both(&it.timed, picks, self.second)[0];
            it.picks[1] = harness::fitting(self.batch, run);
        }
        for _ in 0..self.rounds {
            self.second.awake(false);
            running.iter_mut().for_each(|it| it.alone());
            self.second.awake(true);
            running.iter_mut().for_each(|it| it.both(self.second));
        }
        self.second.awake(false);
        running.into_iter().map(Running::done).collect()
    }

    fn prepare(&self, row: &Row, world: &World) -> Running {
        let timed = (row.build)(world);
        let cell = Cell {
            strategy: row.strategy,
            kind: row.kind,
            name: row.name,
            n: world.n(),
            weighting: world.weighting,
            one: Vec::new(),
            two: Vec::new(),
            allocations: 0.0,
            disturbed: 0,
            wrong: check::wrong(row.expect, world, &timed, Instant::now() + self.watch),
        };
        let picks = harness::fitting(self.batch, |picks| harness::alone(&timed, picks));
        Running { cell, timed, picks: [picks, picks], sum: Sample::default() }
    }
}

impl Running {
    fn alone(&mut self) {
        let [sample] = harness::undisturbed(|| [harness::alone(&self.timed, self.picks[0])]);
        self.cell.one.push(sample.per_pick());
        self.cell.disturbed += usize::from(sample.disturbed);
        self.sum.picks += sample.picks;
        self.sum.allocations += sample.allocations;
    }

    fn both(&mut self, second: &Second) {
        for sample in harness::undisturbed(|| harness::both(&self.timed, self.picks[1], second)) {
            self.cell.two.push(sample.per_pick());
            self.cell.disturbed += usize::from(sample.disturbed);
        }
    }

    fn done(mut self) -> Cell {
        self.cell.allocations = self.sum.allocations as f64 / self.sum.picks as f64;
        self.cell
    }
}
