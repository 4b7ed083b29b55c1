//! Client-side load balancing and fault tolerance for RPC, with the semantics of Apache Dubbo.
//!
//! Two ways in. With a transport and runtime of one's own, a [`Balancer`] (no default features
//! needed) hands out a ticket per attempt:
//!
//! ```
//! use equipoise::{Balancer, Call, Outcome};
//!
//! # fn my_send(_: &equipoise::Endpoint) -> Result<(), ()> { Ok(()) }
//! let balancer = Balancer::new("leastactive", ["10.0.0.1:20880?weight=200", "10.0.0.2:20880"])?;
//! let ticket = balancer.pick(&Call::new("getUser"))?;
//! let answer = my_send(ticket.endpoint());
//! ticket.finish(if answer.is_ok() { Outcome::Success } else { Outcome::NETWORK });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! With ours, a consumer does the rest: connections, retries, deadlines, reports. See
//! [`consumer`].
//!
//! # Not here
//!
//! The facade adds the system's clock and generator and puts the parts together; what they do is
//! in `equipoise-core`, `equipoise-client` and `equipoise-protocol`.

mod balancer;
#[cfg(feature = "dubbo")]
pub mod java;
#[cfg(feature = "tri")]
pub mod proto;
#[cfg(feature = "tri")]
mod provider;
mod system;

pub use balancer::{Balancer, BalancerBuilder, BalancerError, Local, Ticket};
pub use system::{SystemClock, SystemRng};

pub use equipoise_core as core;
pub use equipoise_core::balance::{STRATEGIES, Strategies, Strategy};
pub use equipoise_core::call::{Call, Tried};
pub use equipoise_core::endpoint::Endpoint;
pub use equipoise_core::hash::key::Argument;
pub use equipoise_core::outcome::{Failure, FailureKind, Outcome, Sent};
pub use equipoise_core::report::Report;

#[cfg(feature = "client")]
pub use equipoise_client as client;
#[cfg(feature = "client")]
pub use equipoise_client::{BuildError, CallError, Consumer, ConsumerBuilder};
#[cfg(feature = "client")]
pub use equipoise_core::port::{Arguments, Body, BodyFormat, Reply};
#[cfg(feature = "dubbo")]
pub use equipoise_macros::{JavaObject, interface};
#[cfg(feature = "tri")]
pub use equipoise_protocol as protocol;
#[cfg(feature = "tri")]
pub use provider::Context;

/// Starts the configuration of a consumer of one interface, over `tri`.
///
/// ```no_run
/// use std::time::Duration;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let stock = equipoise::consumer("com.acme.Stock")
///     .endpoints(["tri://10.0.0.1:50051?weight=200", "tri://10.0.0.2:50051"])
///     .strategy("leastactive")
///     .method("getUser", |m| m.strategy("consistenthash").retries(0))
///     .timeout(Duration::from_millis(800))
///     .build()?;
/// let left: u32 = stock.call("reserve").json(&("s1", 2)).await?;
/// # let _ = left;
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "tri")]
pub fn consumer(interface: impl Into<String>) -> ConsumerBuilder {
    let builder = Consumer::builder().service(interface);
    equipoise_protocol::PROTOCOLS.iter().fold(builder, |b, row| b.shared_protocol((row.client)()))
}

/// The examples of the documents are compiled with the tests.
#[cfg(all(doctest, feature = "dubbo"))]
mod documents {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/add-a-strategy.md")]
    struct AddAStrategy;
}
