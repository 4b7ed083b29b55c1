//! Prints what was measured: operations, a table per strategy, targets with hits and misses, and
//! whose traffic went astray.

use super::{Cell, Kind, STRATEGIES, operations, targets};
use crate::table::{Table, short};
use crate::world::Weighting;

/// All tables.
pub(super) fn print(cells: &[Cell], sizes: &[usize]) {
    println!("Times are ns: one thread / each of two threads at once.\n");
    single(cells);
    for strategy in STRATEGIES {
        for weighting in [Weighting::Equal, Weighting::Mixed, Weighting::Fine] {
            strategy_table(cells, sizes, strategy, weighting);
        }
    }
    println!("**Targets** (one thread and mixed weights unless said)\n");
    targets::print(cells, sizes);
    let wrong: Vec<_> = cells.iter().filter_map(|c| Some((c, c.wrong.as_ref()?))).collect();
    println!("Where traffic went: {} contenders watched, {} astray.", cells.len(), wrong.len());
    for (cell, wrong) in wrong {
        println!(
            "- {}, {}, n = {}, {}: {wrong}",
            cell.strategy,
            cell.name,
            cell.n,
            cell.weighting.name()
        );
    }
}

fn single(cells: &[Cell]) {
    let mut table = Table::new(["operation", "1 thread", "2 threads", "allocations"]);
    for cell in cells.iter().filter(|c| c.kind == Kind::Operation) {
        table.row([
            cell.name.to_owned(),
            short(cell.nanos(1)),
            short(cell.nanos(2)),
            allocations(cell.allocations),
        ]);
    }
    table.print();
    let distance = cells.iter().find(|c| c.name == operations::DISTANCE).map(|c| c.nanos(2));
    if let Some(nanos) = distance {
        let how = if nanos < 100.0 { "near each other" } else { "far from each other" };
        println!("The two cores lie {how}: {} ns to read what the other wrote.\n", short(nanos));
    }
}

fn strategy_table(cells: &[Cell], sizes: &[usize], strategy: &str, weighting: Weighting) {
    let here = |c: &&Cell| c.strategy == strategy && c.weighting == weighting;
    let mut names: Vec<&str> = Vec::new();
    for cell in cells.iter().filter(here) {
        if !names.contains(&cell.name) {
            names.push(cell.name);
        }
    }
    if names.is_empty() {
        return;
    }
    println!("**{strategy}, {}**\n", weighting.name());
    let head = sizes.iter().map(|n| format!("n = {n}"));
    let mut table =
        Table::new(["contender".to_owned(), "allocations".to_owned()].into_iter().chain(head));
    for name in names {
        let of = |n: usize| cells.iter().filter(here).find(|c| c.name == name && c.n == n);
        let most = sizes.iter().filter_map(|n| of(*n)).map(|c| c.allocations).fold(0.0, f64::max);
        let times = sizes.iter().map(|n| match of(*n) {
            Some(cell) => format!("{} / {}", short(cell.nanos(1)), short(cell.nanos(2))),
            None => String::new(),
        });
        table.row([name.to_owned(), allocations(most)].into_iter().chain(times));
    }
    table.print();
}

fn allocations(each: f64) -> String {
    // What is below is the harness's own, once per batch.
    if each < 0.005 { "0".to_owned() } else { format!("{each:.2}") }
}
