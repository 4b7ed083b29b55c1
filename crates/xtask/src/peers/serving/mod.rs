//! Our server, a Python client.

mod builtin;
mod drain;
mod limits;
mod plain;
mod security;
mod time;

use crate::peers::cell::{Cell, cells};

/// The cells.
pub(crate) const CELLS: &[Cell] = cells![
    "server: unary bytes" => plain::unary,
    "server: metadata both ways" => plain::metadata,
    "server: every status and its message" => plain::status,
    "server: panic and unknown method" => plain::panic_and_unknown_method,
    "server: 64 calls on one channel" => plain::concurrent,
    "server: compressed request" => plain::compressed,
    "server: deadline exceeded" => time::deadline,
    "server: caller cancels" => time::cancelled,
    "server: caller is killed" => time::killed,
    "server: large messages" => limits::sizes,
    "server: large headers" => limits::headers,
    "server: calls at a time" => limits::calls,
    "server: health, Check" => builtin::health_check,
    "server: health, Watch" => builtin::health_watch,
    "server: reflection" => builtin::reflection,
    "server: typed call by reflection" => builtin::typed_call,
    "server: drain with calls in flight" => drain::in_flight,
    "server: drain under load" => drain::under_load,
    "server: TLS" => security::tls,
    "server: TLS, both certificates" => security::mutual,
];
