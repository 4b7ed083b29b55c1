//! What Equipoise costs: one pick, one change of the list, one call from end to end, one object in
//! Hessian. Everything is put beside something else in the same run, since only ratios within a run
//! mean anything on a machine that others use too.

mod alloc;
mod harness;
#[cfg(feature = "hessian")]
mod hessian;
mod machine;
mod options;
mod picks;
mod rebuild;
#[cfg(feature = "rpc")]
mod rpc;
mod stats;
mod table;
mod world;

use std::process::ExitCode;

use options::{Command, Options, USAGE};

#[global_allocator]
static ALLOCATOR: alloc::Counting = alloc::Counting;

fn main() -> ExitCode {
    let options = match Options::read(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(wrong) => {
            eprintln!("{wrong}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match options.command {
        Command::Picks => picks::run(&options),
        Command::Rebuild => rebuild::run(&options),
        #[cfg(feature = "rpc")]
        Command::Rpc => rpc::run(&options),
        #[cfg(not(feature = "rpc"))]
        Command::Rpc => {
            eprintln!("built without the feature `rpc`");
            return ExitCode::from(2);
        }
        #[cfg(feature = "hessian")]
        Command::Hessian => hessian::run(&options),
        #[cfg(not(feature = "hessian"))]
        Command::Hessian => {
            eprintln!("built without the feature `hessian`");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
