//! `tri`: Dubbo's Triple protocol, compatible with gRPC, in both roles.
//!
//! # Rule
//!
//! Unary calls over HTTP/2 with gRPC framing (`application/grpc`), and with one JSON document as
//! body (`application/json`; the server takes that over HTTP/1.1 as well). The path is
//! `/{interface}/{method}`; methods of Java interfaces without an IDL have their arguments and results
//! wrapped, each encoded with Hessian ([`crate::java`]); version and group travel as
//! `tri-service-version` and `tri-service-group`; attachments are headers, those of the answer trailers (headers in JSON).
//!
//! # When to use it
//!
//! To call and serve Dubbo 3 (`tri://`) and anything that speaks gRPC. For one whose port speaks
//! both, there is nothing to choose.
//!
//! # Cost
//!
//! One connection per provider, shared by all calls. A message that arrives in one HTTP/2 frame is
//! not copied on its way in; none is copied on its way out. What the headers of a method's calls
//! have in common is prepared once per connection.
//!
//! # State
//!
//! Of a client: the connection and the prepared headers. Nothing is kept per call after it ends.
//!
//! # Dubbo
//!
//! `dubbo-rpc-triple`, 3.3. Differences: no compression but gzip, no
//! REST mapping; `grpc-message` is percent-encoded as gRPC demands and read in both forms; a
//! provider that has a version or group does not answer for another one.
//!
//! # References
//!
//! *gRPC over HTTP2*; RFC 9113; *GRPC Health Checking Protocol*; *GRPC Server Reflection Protocol*.

mod client;
mod frame;
mod gzip;
pub(crate) mod headers;
mod json;
pub(crate) mod server;
mod timeout;
mod wrapper;

use std::sync::Arc;

pub use client::Tri;
pub use server::health::Health;
pub use server::streaming::{Requests, Responses};

use crate::Row;

pub(crate) const ROW: Row = Row {
    scheme: client::SCHEME,
    aliases: &["triple", "grpc"],
    default_port: client::DEFAULT_PORT,
    about: "Dubbo Triple: gRPC and JSON over HTTP/2",
    client: || Arc::new(Tri::new()),
};
