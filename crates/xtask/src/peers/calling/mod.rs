//! Our client, Python servers.

mod balance;
mod failure;
mod limits;
mod plain;
mod security;
mod shutdown;
pub(crate) mod status;
mod time;

use std::time::Duration;

use equipoise::client::Backoff;
use equipoise::protocol::Tri;
use equipoise::{CallError, Consumer, ConsumerBuilder};

use crate::peers::cell::{Cell, cells};
use crate::peers::server::SERVICE;

/// The cells.
pub(crate) const CELLS: &[Cell] = cells![
    "client: unary bytes" => plain::unary,
    "client: metadata both ways" => plain::metadata,
    "client: metadata of an error" => plain::metadata_of_an_error,
    "client: compressed answer" => plain::compressed,
    "client: status message beyond ASCII" => status::message,
    "client: every status, retried or not" => status::every_code,
    "client: exception and unknown method" => status::exception_and_unknown_method,
    "client: deadline reaches the server" => time::deadline_is_told,
    "client: timeout ends every attempt" => time::timeout,
    "client: deadline ends the call" => time::deadline,
    "client: caller gives up" => time::cancelled,
    "client: own limits" => limits::own,
    "client: the server's limit" => limits::of_the_server,
    "client: headers over the limit" => limits::headers,
    "client: the server's limit of streams" => limits::streams,
    "client: roundrobin, exact shares" => balance::round_robin,
    "client: leastactive, the idle one" => balance::least_active,
    "client: consistenthash, keys stay" => balance::consistent_hash,
    "client: every strategy" => balance::every_strategy,
    "client: broadcast reaches all" => balance::broadcast,
    "client: forking withdraws losers" => balance::forking,
    "client: list changes under load" => balance::list_changes,
    "client: SIGKILL under load" => failure::killed,
    "client: a killed server returns" => failure::returns,
    "client: nobody listens" => failure::nobody,
    "client: server leaves the list and stops" => shutdown::leaves_and_stops,
    "client: held call outlives server.stop" => shutdown::held_call,
    "client: server.stop under load" => shutdown::stop,
    "client: connection age, three servers" => shutdown::connection_age,
    "client: connection age, one server" => shutdown::connection_age_of_one,
    "client: TLS" => security::tls,
    "client: TLS, both certificates" => security::mutual,
    "client: TLS, refused" => security::refused,
];

/// Time for an attempt where a cell is not about time: never over on a slow machine.
const AMPLE: Duration = Duration::from_secs(25);

/// Soon enough for a cell.
const BACKOFF: Backoff =
    Backoff { base: Duration::from_millis(20), cap: Duration::from_millis(100), jitter: 0.3 };

/// A consumer in the making.
fn consumer(urls: &[String]) -> ConsumerBuilder {
    equipoise::consumer(SERVICE).endpoints(urls).timeout(AMPLE)
}

/// The same, over a client with options.
fn consumer_of(tri: Tri, urls: &[String]) -> ConsumerBuilder {
    Consumer::builder().service(SERVICE).protocol(tri).endpoints(urls).timeout(AMPLE)
}

/// The error of a call that must have failed.
fn failed<T>(result: Result<T, CallError>) -> anyhow::Result<CallError> {
    match result {
        Ok(_) => anyhow::bail!("the call succeeded"),
        Err(error) => Ok(error),
    }
}
