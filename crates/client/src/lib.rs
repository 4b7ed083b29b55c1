//! What happens when a call fails: the directory task, the attempt loop, cluster policies and the
//! health of endpoints.
//!
//! ```text
//!  list, configuration ──► directory ──► view          one writer
//!                              ▲           │
//!  connection up, down ── link ┘           ▼
//!  call ──► policy ──► attempt: choose, ticket, send, feed back ──► answer, or one more attempt
//! ```
//!
//! Read `flow.rs` first: it is one attempt, top to bottom.
//!
//! # Not here
//!
//! Who is chosen (`equipoise-core`), how a call travels (`equipoise-protocol`), where endpoints
//! come from (a registry).

mod admit;
mod backoff;
mod budget;
mod builder;
mod call;
mod consumer;
mod directory;
mod error;
mod flow;
mod intercept;
mod key;
mod link;
mod mailbox;
pub mod policy;
mod snapshot;
mod streaming;
mod time;

pub use backoff::Backoff;
pub use budget::RetryBudget;
pub use builder::{BuildError, ConsumerBuilder, MethodBuilder};
pub use call::CallBuilder;
pub use consumer::Consumer;
pub use error::{AttemptRecord, CallError};
pub use flow::{Choice, Each, Flow};
pub use intercept::{Interceptor, NextAttempt, NextCall};
pub use key::hash_argument;
pub use streaming::{
    MessageReceiver, MessageSender, MessageStream, StreamReceiver, StreamSender, Streaming,
};
pub use time::TokioClock;
