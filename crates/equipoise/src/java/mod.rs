//! Calling and serving Java interfaces without generated stubs: the types of Java, and what
//! [`interface`](crate::interface) and [`JavaObject`](crate::JavaObject) build on.
//!
//! ```text
//!  client:    method ─► Invocation ─► Outgoing (encoded when the protocol is known) ─► attempt loop
//!  provider:  CallContext ─► Methods (which overload) ─► Incoming (arguments) ─► method ─► reply
//! ```

mod fault;
mod invocation;
pub mod runtime;

pub use equipoise_core::outcome::Exception;
pub use equipoise_hessian::Error as CodecError;
pub use equipoise_hessian::Value;
pub use equipoise_hessian::java::*;
#[doc(hidden)]
pub use serde;

pub use crate::provider::Context;
pub use fault::{Fault, Thrown, Undeclared};
pub use invocation::Invocation;
