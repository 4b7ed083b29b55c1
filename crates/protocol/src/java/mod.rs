//! Java values as all protocols carry them: what a provider is handed, and what types, generic calls
//! and exceptions look like. Knows Hessian, and no socket.

mod bignum;
pub mod exception;
pub(crate) mod generic;
mod graph;
mod handles;
pub mod json;
mod time;
pub mod types;

use std::sync::Arc;

use bytes::Bytes;

pub use exception::JavaException;
pub(crate) use generic::{is_wrapped, returns, serve};
pub use types::{JavaType, TypeError, parameters};

/// The arguments of a call of a Java method, as they arrived.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct JavaArguments {
    /// The parameter types in the notation of the JVM, without separator and parentheses
    /// (`Ljava/lang/String;I`); `None` when the caller did not say.
    pub types: Option<Arc<str>>,
    /// The values.
    pub values: JavaValues,
}

/// How the values of the arguments are encoded.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum JavaValues {
    /// One after the other in one Hessian stream, whose tables they share (`dubbo`).
    Joined(Bytes),
    /// Each in a Hessian stream of its own (`tri`).
    Each(Vec<Bytes>),
}
