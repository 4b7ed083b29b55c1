//! Our client, providers of theirs.

mod protobuf;
mod security;
mod stock;
mod vectors;

use std::time::Duration;

use equipoise::{CallError, Consumer};

use crate::interop::cell::{Cell, cells};
use crate::interop::stage::Wire;

/// The cells.
pub(crate) const CELLS: &[&[Cell]] = &[
    cells!["rust>java dubbo", Wire::DUBBO;
        "tls" => security::tls,
        "mtls" => security::mutual,
        "unary" => stock::unary,
        "object" => stock::object,
        "every Java type" => stock::every_type,
        "exception" => stock::exception,
        "unchecked exception" => stock::unchecked,
        "undeclared exception" => stock::undeclared,
        "timeout" => stock::timeout,
        "big payload" => stock::big,
        "null and void" => stock::null,
        "overload" => stock::overload,
        "attachments" => stock::attachments,
        "future" => stock::future,
        "one-way" => stock::one_way,
        "collections" => stock::collections,
        "group and version" => stock::group,
        "generic" => stock::generic,
        "Hessian vectors" => stock::vectors,
    ],
    cells!["rust>java tri", Wire::TRI;
        "tls" => security::tls,
        "mtls" => security::mutual,
        "unary" => stock::unary,
        "object" => stock::object,
        "every Java type" => stock::every_type,
        "exception" => stock::exception,
        "unchecked exception" => stock::unchecked,
        "undeclared exception" => stock::undeclared,
        "timeout" => stock::timeout,
        "big payload" => stock::big,
        "null and void" => stock::null,
        "overload" => stock::overload,
        "attachments" => stock::attachments,
        "future" => stock::future,
        "one-way" => stock::one_way,
        "collections" => stock::collections,
        "group and version" => stock::group,
        "generic" => stock::generic,
    ],
    cells!["rust>java tri";
        "protobuf unary" => protobuf::unary,
        "protobuf exception" => protobuf::exception,
        "protobuf timeout" => protobuf::timeout,
        "protobuf big payload" => protobuf::big,
        "protobuf attachments" => protobuf::attachments,
    ],
    cells!["rust>java-3.2 dubbo", Wire::JAVA32;
        "unary" => stock::unary,
        "exception" => stock::exception,
        "object" => stock::object,
        "null and void" => stock::null,
        "attachments" => stock::attachments,
        "timeout" => stock::timeout,
        "generic" => stock::generic,
    ],
    cells!["rust>java-2.7 dubbo", Wire::JAVA27;
        "unary" => stock::unary,
        "exception" => stock::exception,
        "object" => stock::object,
        "null and void" => stock::null,
        "attachments" => stock::attachments,
        "timeout" => stock::timeout,
        "generic" => stock::generic,
    ],
];

/// Time for an attempt where a cell is not about time: never over on a slow machine.
const AMPLE: Duration = Duration::from_secs(40);

/// A consumer of one endpoint that asks once.
fn consumer(interface: &str, url: &str) -> anyhow::Result<Consumer> {
    Ok(equipoise::consumer(interface).endpoints([url]).timeout(AMPLE).retries(0).build()?)
}

/// The error of a call that must have failed.
fn failed<T>(result: Result<T, CallError>) -> anyhow::Result<CallError> {
    match result {
        Ok(_) => anyhow::bail!("the call succeeded"),
        Err(error) => Ok(error),
    }
}
