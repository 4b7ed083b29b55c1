//! `dubbo`: the protocol of Dubbo 2 and 3 (`dubbo://`, port 20880).
//!
//! # Rule
//!
//! Frames of 16 header bytes and a body of Hessian 2 values, many calls at once on one TCP
//! connection, matched by number. A call carries service, version, method and the Java types of the
//! parameters, then the arguments, then the attachments; an answer a flag, the result or the
//! exception, and attachments. No other serialization is spoken: a provider that prefers another one
//! must allow `hessian2` (`prefer.serialization=hessian2`).
//!
//! # When to use it
//!
//! To call and serve Dubbo services of Java that have no IDL. It is the fastest of the protocols
//! here, and the only one that Dubbo 2 speaks.
//!
//! # Cost
//!
//! One connection per provider (parameter `connections`), shared by all calls, and one task per
//! connection. Frames that are ready together leave with one system call; bodies are slices of
//! what was read.
//!
//! # State
//!
//! Of a client: the connections, one slot per call in flight, and what the frames of a method's calls
//! have in common. A slot is free again when its call has ended, in whatever way.
//!
//! # Dubbo
//!
//! `dubbo-rpc-dubbo`, 2.7 and 3.x. Differences: no other serialization, no callbacks, no telnet;
//! bytes that are no frame close the connection; limits hold in both directions.
//!
//! # References
//!
//! Apache Dubbo: *Dubbo2 Protocol SPEC*; *Hessian 2.0 Serialization Protocol*.

mod client;
mod events;
pub(crate) mod frame;
mod incoming;
mod outgoing;
pub(crate) mod server;

use std::sync::Arc;

pub use client::Dubbo;

use crate::Row;

pub(crate) const ROW: Row = Row {
    scheme: client::SCHEME,
    aliases: &["dubbo2"],
    default_port: client::DEFAULT_PORT,
    about: "Dubbo: Hessian 2 over TCP",
    client: || Arc::new(Dubbo::new()),
};
