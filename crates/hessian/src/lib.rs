//! Hessian 2 as Apache Dubbo uses it: useful without Dubbo, too.
//!
//! Three layers, each on the one before:
//!
//! - [`Reader`] and [`Writer`]: tokens and bytes, and the tables of a stream;
//! - [`Value`]: a document with everything that was in the bytes, class names, order, shared and cyclic
//!   references included;
//! - [`from_slice`], [`to_vec`], [`Decoder`], [`Encoder`]: serde both ways, with Java's types in
//!   [`java`].
//!
//! Nothing is ever instantiated by name: a class name is text. What a peer may ask for is in [`Limits`].
//!
//! # References
//!
//! *Hessian 2.0 Serialization Protocol*; where Dubbo's hessian-lite differs, hessian-lite is followed:
//! the tag `5F` is an integer in thousandths, strings are UTF-16 units of up to three bytes.

mod error;
pub mod java;
mod limits;
mod notation;
mod read;
pub mod serde;
mod text;
mod value;
mod write;

pub use error::{Detail, Error, ErrorKind};
pub use limits::Limits;
pub use notation::{hex, unhex};
pub use read::{Class, Reader, Resume, Token};
pub use serde::{Decoder, Encoder, from_slice, to_vec};
pub use text::Text;
pub use value::{Node, NodeId, Shape, Value};
pub use write::Writer;
