//! The `equipoise` command: reads the command line, hands it to one file per command, and turns
//! what comes back into one line and an exit code. The only place that ends the process.

mod arguments;
mod call;
mod completions;
mod decode;
mod demo;
mod failure;
mod r#gen;
mod options;
mod output;
mod pick;
mod serve;
mod signals;
mod strategies;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use tracing_subscriber::EnvFilter;

/// Client-side load balancing with the semantics of Apache Dubbo: who gets a call, and what happens
/// when it fails. Without a command, the demo runs.
#[derive(Debug, Parser)]
#[command(name = "equipoise", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::DemoArgs),
    Serve(serve::ServeArgs),
    Call(call::CallArgs),
    Pick(pick::PickArgs),
    Decode(decode::DecodeArgs),
    Strategies(strategies::StrategiesArgs),
    Gen(r#gen::GenArgs),
    Completions(completions::CompletionsArgs),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refused(&error),
    };
    // Nothing was given: the demo with its defaults, which always parse.
    let command = match cli.command {
        Some(command) => command,
        None => Command::Demo(demo::DemoArgs::parse_from(["equipoise demo"])),
    };
    log(matches!(command, Command::Demo(_)));
    let done = match command {
        Command::Demo(args) => demo::run(args),
        Command::Serve(args) => serve::run(&args),
        Command::Call(args) => call::run(&args),
        Command::Pick(args) => pick::run(&args),
        Command::Decode(args) => decode::run(&args),
        Command::Strategies(args) => strategies::run(&args),
        Command::Gen(args) => r#gen::run(&args),
        Command::Completions(args) => completions::run(&args, &mut Cli::command()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::end(&error),
    }
}

/// Shows help where it was asked for, and one line where the command line is wrong.
fn refused(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match error.print() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failure::end(&error.into()),
        },
        _ => failure::end(&failure::usage(failure::first_line(&error.to_string())).into()),
    }
}

/// Warnings go to the error output as they come; a demo that draws on the screen keeps quiet unless
/// `EQUIPOISE_LOG` asks for more (`debug`, `equipoise_client=trace`).
fn log(quiet: bool) {
    let default = if quiet { "off" } else { "warn" };
    let filter = EnvFilter::try_from_env("EQUIPOISE_LOG").unwrap_or_else(|_| default.into());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .without_time()
        .init();
}
