//! `equipoise decode`: what is in these bytes, for people who debug a fleet. Nothing is sent anywhere
//! and nothing is instantiated.

mod frame;

use std::io::Read as _;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use equipoise::java::{CodecError, Value};
use equipoise::protocol::hessian::{Limits, Reader, hex, unhex};
use serde_json::json;

use crate::failure::{Shown, usage};
use crate::output;

/// Shows what is in bytes of Hessian 2, or in a frame of the dubbo protocol.
#[derive(Debug, Args)]
pub(crate) struct DecodeArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Hessian(HessianArgs),
    Frame(FrameArgs),
}

/// Shows a value of Hessian 2.
#[derive(Debug, Args)]
#[command(after_help = "Example: equipoise decode hessian 7a9192 --json")]
struct HessianArgs {
    /// The bytes as hex, or - to read hex from the standard input.
    hex: String,
    /// Prints one JSON document, in a notation that keeps every type.
    #[arg(long)]
    json: bool,
    /// Adds the bytes that this value is written as: shortest forms, references kept.
    #[arg(long)]
    reencode: bool,
    /// Takes several values that share their tables, as the body of a frame has them.
    #[arg(long)]
    sequence: bool,
}

/// Shows a frame of the dubbo protocol: its header, and the values of its body.
#[derive(Debug, Args)]
#[command(after_help = "Example: equipoise decode frame dabb2214000000000000000100000001 4e")]
struct FrameArgs {
    /// The bytes as hex, or - to read hex from the standard input.
    #[arg(required = true)]
    hex: Vec<String>,
    /// Prints one JSON document.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(args: &DecodeArgs) -> anyhow::Result<()> {
    match &args.what {
        What::Hessian(args) => hessian(args),
        What::Frame(args) => frame::run(&bytes(&args.hex.concat())?, args.json),
    }
}

fn hessian(args: &HessianArgs) -> anyhow::Result<()> {
    let bytes = bytes(&args.hex)?;
    let (value, consumed) = read(&bytes, args.sequence).map_err(|error| refused(&error))?;
    if args.json {
        let mut document = if args.sequence {
            json!({ "values": value.to_notations(), "consumed": consumed })
        } else {
            json!({ "value": value.to_notation(), "consumed": consumed })
        };
        if args.reencode {
            document["hex"] = hex(&value.encode()).into();
        }
        output::lines([document.to_string()])?;
        return Ok(());
    }
    output::lines(value.dump().lines().map(str::to_owned))?;
    if args.reencode {
        output::lines([hex(&value.encode())])?;
    }
    Ok(())
}

/// The value or values, and how many bytes they take.
fn read(bytes: &[u8], sequence: bool) -> Result<(Value, usize), CodecError> {
    let limits = Limits::for_payload(bytes.len().max(1 << 20));
    if sequence {
        return Ok((Value::decode_sequence(bytes, &limits)?, bytes.len()));
    }
    let value = Value::decode_with(bytes, &limits)?;
    Ok((value, bytes.len()))
}

/// The bytes that were given as hex.
fn bytes(given: &str) -> anyhow::Result<Vec<u8>> {
    let text = if given.trim() == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context("the standard input")?;
        text
    } else {
        given.to_owned()
    };
    let bytes = unhex(&text).map_err(|reason| usage(format!("not hex: {reason}")))?;
    if bytes.is_empty() {
        return Err(usage("no bytes were given").into());
    }
    Ok(bytes)
}

/// An error in the bytes, as one JSON document.
fn refused(error: &CodecError) -> anyhow::Error {
    let said = error.to_string();
    let said = said.rsplit_once(" (at byte").map_or(said.as_str(), |(said, _)| said);
    Shown(json!({ "error": said, "offset": error.offset }).to_string()).into()
}

/// How far a body can be read when not all of it can.
fn readable(bytes: &[u8]) -> usize {
    let mut reader = Reader::new(bytes);
    let mut whole = 0;
    while !reader.at_end() && reader.skip_value().is_ok() {
        whole = reader.position();
    }
    whole
}
