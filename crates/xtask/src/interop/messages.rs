//! The messages of `interop/java/src/main/proto/warehouse.proto`.

use std::collections::HashMap;

use prost::Message;

/// The service, as Java exports it.
pub(crate) const WAREHOUSE: &str = "io.equipoise.interop.proto.Warehouse";

/// A wish.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Reservation {
    /// What.
    #[prost(string, tag = "1")]
    pub(crate) sku: String,
    /// How many.
    #[prost(int32, tag = "2")]
    pub(crate) amount: i32,
    /// Any words.
    #[prost(string, repeated, tag = "3")]
    pub(crate) tags: Vec<String>,
}

/// An answer.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Receipt {
    /// What was understood.
    #[prost(string, tag = "1")]
    pub(crate) text: String,
    /// A number.
    #[prost(int64, tag = "2")]
    pub(crate) total: i64,
}

/// Which exception to throw.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Trouble {
    /// Its class, by a short name.
    #[prost(string, tag = "1")]
    pub(crate) kind: String,
    /// Its message.
    #[prost(string, tag = "2")]
    pub(crate) message: String,
}

/// How long to sleep.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Nap {
    /// In milliseconds.
    #[prost(int64, tag = "1")]
    pub(crate) millis: i64,
}

/// Bytes.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Blob {
    /// The bytes.
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) data: Vec<u8>,
}

/// Attachments as the provider saw them.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Noted {
    /// By name.
    #[prost(map = "string, string", tag = "1")]
    pub(crate) attachments: HashMap<String, String>,
}
