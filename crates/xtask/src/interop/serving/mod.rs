//! Our server, consumers of theirs.

mod adaptive;
mod hashing;
mod protobuf;
mod security;
mod stock;

use crate::interop::cell::{Cell, cells};
use crate::interop::stage::Wire;

/// The cells.
pub(crate) const CELLS: &[&[Cell]] = &[
    cells!["java>rust dubbo", Wire::DUBBO;
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
        "fastjson2 refused" => stock::fastjson2,
        "consistent hash" => hashing::agree,
        "adaptive steers" => adaptive::steers,
        "adaptive figures" => adaptive::figures,
    ],
    cells!["java>rust tri", Wire::TRI;
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
        "fastjson2 refused" => stock::fastjson2,
        "consistent hash" => hashing::agree,
        "adaptive steers" => adaptive::steers,
        "adaptive figures" => adaptive::figures,
    ],
    cells!["java>rust tri";
        "protobuf unary" => protobuf::unary,
        "protobuf exception" => protobuf::exception,
        "protobuf timeout" => protobuf::timeout,
        "protobuf big payload" => protobuf::big,
        "protobuf attachments" => protobuf::attachments,
    ],
    cells!["java-3.2>rust dubbo", Wire::JAVA32;
        "unary" => stock::unary,
        "exception" => stock::exception,
        "object" => stock::object,
        "null and void" => stock::null,
        "attachments" => stock::attachments,
        "timeout" => stock::timeout,
        "generic" => stock::generic,
    ],
    cells!["java-2.7>rust dubbo", Wire::JAVA27;
        "unary" => stock::unary,
        "exception" => stock::exception,
        "object" => stock::object,
        "null and void" => stock::null,
        "attachments" => stock::attachments,
        "timeout" => stock::timeout,
        "generic" => stock::generic,
    ],
];
