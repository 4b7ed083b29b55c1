//! Calls without the interface: `$invoke`, its twin `$invokeAsync`, and `$echo`, the same for every
//! protocol that carries Java values.
//!
//! A generic call has three arguments: the method's name, the types of its parameters in source form
//! (null where its name is not overloaded), and its arguments. Objects are maps with `class`, constants
//! of enums their names, dates and times of `java.time` their text; exceptions come back as
//! `GenericException`.
//!
//! ```text
//!  caller:    JSON + types ─► request ─► $invoke(name, types, values) ─► Generic::answer ─► JSON
//!  provider:  $invoke ─► serve ─► call of the method (values by their types) ─► general ─► reply
//! ```

mod ask;
mod general;
mod serve;
#[cfg(test)]
mod tests;

pub(crate) use ask::request;
pub(crate) use serve::{is_wrapped, returns, serve};

/// The generic call.
pub(crate) const INVOKE: &str = "$invoke";

/// The generic call that returns a future in Java; the same on the wire.
pub(crate) const INVOKE_ASYNC: &str = "$invokeAsync";

/// Gives its argument back, and passes everything that a call passes.
pub(crate) const ECHO: &str = "$echo";

/// The parameters of the generic call.
pub(crate) const INVOKE_TYPES: &str = "Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;";

/// The attachment that says how the arguments of a generic call are written.
const GENERIC: &str = "generic";

/// What the exception of a generic call is.
const EXCEPTION: &str = "com.alibaba.dubbo.rpc.service.GenericException";
const EXCEPTION_CLASS: &str = "exceptionClass";
const EXCEPTION_MESSAGE: &str = "exceptionMessage";

/// Whether a method is one of those that every service has.
fn is_builtin(method: &str) -> bool {
    matches!(method, INVOKE | INVOKE_ASYNC | ECHO)
}
