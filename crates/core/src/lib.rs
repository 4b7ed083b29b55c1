//! Who gets the call: endpoints, views, routers and load-balancing strategies with the semantics
//! of Apache Dubbo.
//!
//! ```text
//!  config ───► plan ───────┐
//!  registry ── endpoints ──┼─► view ══►  routers narrow     who may
//!  rules ───── routers ────┘             picker picks       who does
//!                                        ticket starts      counted in
//!                                        ... the call ...
//!                                        ticket finishes    counted out, outcome fed back
//! ```
//!
//! # Words
//!
//! *endpoint*: one address of one service; owns what is measured of it. *view*: one immutable
//! generation of endpoints, routers and pickers. *router*: who may serve a call. *strategy*: who
//! does. *picker*: a strategy prepared for one view. *candidates*: who may serve one method on one
//! route, prepared. *call*: what is asked for; *attempt*: one try of it at one endpoint; *tried*:
//! endpoints already attempted. *ticket*: counts an attempt in and out. *plan*: configuration
//! resolved once per method.
//!
//! # Not here
//!
//! No clock, no generator of random numbers, no socket, no runtime, no global: time and chance are
//! arguments. What happens when a call fails is the business of `equipoise-client`; how it travels,
//! of `equipoise-protocol`.

pub mod attachments;
pub mod balance;
pub mod call;
pub mod candidates;
pub mod clock;
pub mod config;
pub mod endpoint;
pub mod hash;
mod listed;
pub mod measure;
pub mod methods;
pub mod outcome;
pub mod plan;
pub mod port;
pub mod report;
pub mod rng;
pub mod route;
pub mod routes;
pub mod service;
pub mod stream;
pub(crate) mod sync;
pub mod ticket;
pub mod url;
pub mod view;
pub mod weight;
