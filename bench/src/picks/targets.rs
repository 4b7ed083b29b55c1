//! The targets that are checked on every run. A miss is printed, nothing else.

use super::operations::{NOTHING, SHARED_ADD, STAMP, UP_AND_DOWN};
use super::{Cell, Kind, has_weights};
use crate::table::{Table, short};
use crate::world::Weighting;

/// Sizes that targets are stated for.
const AT: [usize; 4] = [10, 100, 1_000, 10_000];

/// What one strategy should reach.
struct Target {
    strategy: &'static str,
    /// How many times faster than the textbook, at each size.
    faster: [f64; 4],
    /// Most times the floor, at each size.
    floor: [f64; 4],
    /// Whether choosing must be about as fast with as without many providers.
    flat: bool,
    /// Counting that the floor has and choosing has not.
    counts: bool,
    /// Clock readings that the floor has and choosing has not (one serves a pick and its start).
    clocks: f64,
}

const fn target(strategy: &'static str, faster: [f64; 4], floor: [f64; 4]) -> Target {
    Target { strategy, faster, floor, flat: true, counts: false, clocks: 0.0 }
}

const TARGETS: [Target; 7] = [
    target("random", [4.0, 18.0, 260.0, 3_900.0], [1.3; 4]),
    target("roundrobin", [16.0, 55.0, 500.0, 5_500.0], [1.5; 4]),
    Target {
        counts: true,
        ..target("leastactive", [7.0, 10.0, 65.0, 1_000.0], [1.6, 3.0, 3.0, 3.0])
    },
    Target {
        counts: true,
        clocks: 1.0,
        ..target("shortestresponse", [3.5, 13.0, 100.0, 650.0], [3.0; 4])
    },
    Target { counts: true, ..target("p2c", [0.9, 0.9, 0.9, 1.7], [1.15; 4]) },
    Target { counts: true, clocks: 1.0, ..target("peakewma", [3.8, 4.0, 3.8, 2.8], [1.3; 4]) },
    // This ring leaves the cache, so it may grow with the number of providers.
    Target { flat: false, ..target("consistenthash", [1.25, 1.4, 1.8, 3.0], [1.1, 1.1, 1.3, 1.7]) },
];

struct Book<'a>(&'a [Cell]);

impl Book<'_> {
    fn nanos(&self, strategy: &str, kind: Kind, n: usize, threads: usize) -> f64 {
        let weighting = if has_weights(strategy) { Weighting::Mixed } else { Weighting::Equal };
        let here = |c: &&Cell| {
            c.strategy == strategy && c.kind == kind && c.n == n && c.weighting == weighting
        };
        self.0.iter().find(here).map_or(f64::NAN, |c| c.nanos(threads))
    }

    fn operation(&self, name: &str, threads: usize) -> f64 {
        let cell = self.0.iter().find(|c| c.kind == Kind::Operation && c.name == name);
        cell.map_or(f64::NAN, |c| c.nanos(threads))
    }

    /// Time of an operation without that of the harness.
    fn bare(&self, name: &str) -> f64 {
        self.operation(name, 1) - self.operation(NOTHING, 1)
    }
}

/// Whether a number may be at least or at most so much.
#[derive(Clone, Copy)]
enum Bound {
    Least(f64),
    Most(f64),
}

impl Bound {
    fn judge(self, number: f64) -> String {
        let (met, bound, sign) = match self {
            Bound::Least(bound) => (number >= bound, bound, '≥'),
            Bound::Most(bound) => (number <= bound, bound, '≤'),
        };
        match number.is_nan() {
            true => String::new(),
            false => format!(
                "{} {} {sign} {}",
                if met { "hit" } else { "**miss**" },
                short(number),
                short(bound)
            ),
        }
    }
}

/// One table of all targets.
pub(super) fn print(cells: &[Cell], sizes: &[usize]) {
    let book = Book(cells);
    let at: Vec<(usize, usize)> =
        AT.into_iter().enumerate().filter(|(_, n)| sizes.contains(n)).collect();
    let head = at.iter().map(|(_, n)| format!("n = {n}"));
    let mut table = Table::new(["strategy".to_owned(), "what".to_owned()].into_iter().chain(head));
    let mut row = |strategy: &str, what: &str, value: &dyn Fn(usize, usize) -> String| {
        let values: Vec<String> = at.iter().map(|(place, n)| value(*place, *n)).collect();
        if values.iter().any(|value| !value.is_empty()) {
            table.row([strategy.to_owned(), what.to_owned()].into_iter().chain(values));
        }
    };
    for target in &TARGETS {
        one(&book, target, &mut row);
    }
    row("all", "ticket / yardstick, on average", &|_, n| {
        let tickets: Vec<f64> = super::STRATEGIES
            .iter()
            .map(|s| book.nanos(s, Kind::Ticket, n, 1))
            .filter(|nanos| !nanos.is_nan())
            .collect();
        let mean = tickets.iter().sum::<f64>() / tickets.len() as f64;
        let ratio = mean / book.nanos("random", Kind::Yardstick, n, 1);
        if ratio.is_nan() { String::new() } else { short(ratio) }
    });
    table.print();
}

type Line<'a> = dyn FnMut(&str, &str, &dyn Fn(usize, usize) -> String) + 'a;

fn one(book: &Book<'_>, target: &Target, row: &mut Line<'_>) {
    let s = target.strategy;
    let choose = |n, threads| book.nanos(s, Kind::Choose, n, threads);
    let ticket = |n, threads| book.nanos(s, Kind::Ticket, n, threads);
    let floor = |n, threads| book.nanos(s, Kind::Floor, n, threads);
    // Where the textbook and the floor count and read clocks as well, so must we.
    let counting =
        if target.counts { book.bare(UP_AND_DOWN) } else { 0.0 } + target.clocks * book.bare(STAMP);
    let textbook = if target.counts { Kind::TextbookCounted } else { Kind::Textbook };
    let whole = if target.counts { "choose and count" } else { "choose" };
    row(s, &format!("{whole}: times faster than the textbook"), &|place, n| {
        let ratio = book.nanos(s, textbook, n, 1) / (choose(n, 1) + counting);
        Bound::Least(target.faster[place]).judge(ratio)
    });
    row(s, &format!("{whole} / floor"), &|place, n| {
        Bound::Most(target.floor[place]).judge((choose(n, 1) + counting) / floor(n, 1))
    });
    row(s, "ticket / yardstick", &|_, n| {
        let yardstick = book.nanos("random", Kind::Yardstick, n, 1);
        Bound::Most(1.5).judge(ticket(n, 1) / yardstick)
    });
    // No target: what is left when the measuring is paid for.
    row(s, "ticket / (choose + yardstick, measured)", &|_, n| {
        let rest = ticket(n, 1) / (choose(n, 1) + book.nanos("random", Kind::Measured, n, 1));
        if rest.is_nan() { String::new() } else { short(rest) }
    });
    if target.flat {
        row(s, "choose: times as long as with 10", &|place, n| match place {
            0 | 1 => String::new(),
            2 => Bound::Most(2.0).judge(choose(n, 1) / choose(10, 1)),
            _ => Bound::Most(5.0).judge(choose(n, 1) / choose(10, 1)),
        });
    }
    match s {
        "random" | "consistenthash" => row(s, "choose, two threads / one", &|_, n| {
            Bound::Most(1.1).judge(choose(n, 2) / choose(n, 1))
        }),
        "roundrobin" => row(s, "choose, two threads / shared addition", &|_, n| {
            Bound::Most(1.5).judge(choose(n, 2) / book.operation(SHARED_ADD, 2))
        }),
        _ => row(s, "ticket, two threads / floor, two threads", &|_, n| {
            let most = if target.floor[0] < 1.5 { target.floor[0].max(1.2) } else { 2.0 };
            Bound::Most(most).judge(ticket(n, 2) / floor(n, 2))
        }),
    }
}
