//! `cargo xtask`: chores of the workspace that need more than cargo. One file or folder per chore.

mod interop;
mod peers;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask CHORE

  interop [WORD...]
                   calls and serves real Dubbo, of Java and of Go, in a network of its own; with
                   words, only the cells whose names hold one of them
  peers [WORD...]  calls and serves gRPC's own implementation for Python, and curl; with words, only
                   the cells whose names hold one of them
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((chore, words)) if chore == "interop" => interop::run(words),
        Some((chore, words)) if chore == "peers" => peers::run(words),
        Some((help, [])) if matches!(help.as_str(), "help" | "--help" | "-h") => {
            print!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprint!("{USAGE}");
            ExitCode::from(2)
        }
    }
}
