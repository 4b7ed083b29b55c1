//! Wire protocols: how a call reaches a provider, and how a provider serves it.
//!
//! Every protocol is one file or folder beside this one and one row of [`PROTOCOLS`]. Nothing here
//! knows a directory, a strategy or a policy: what the crate offers the rest of the house is the
//! [`Protocol`] door of `core`, and servers for programs that provide a service.

mod availability;
pub mod dubbo;
pub mod java;
mod load;
mod security;
mod server;
mod status;
#[cfg(feature = "tls")]
pub mod tls;
mod transport;
pub mod tri;

use std::sync::Arc;

use equipoise_core::port::Protocol;

pub use dubbo::Dubbo;
pub use equipoise_hessian as hessian;
pub use load::{LoadSource, SystemLoad};
pub use server::{BindError, CallContext, Handler, RunningServer, Server, ServiceOptions};
pub use status::{Status, code};
pub use tri::{Health, Requests, Responses, Tri};

/// Largest message in bytes, both ways, unless an option says otherwise (Dubbo's payload limit).
pub const MAX_MESSAGE_BYTES: usize = 8 * 1024 * 1024;

/// Largest header block in bytes, counted as HTTP/2 does, unless an option says otherwise.
pub const MAX_HEADER_BYTES: u32 = 32 * 1024;

/// One wire protocol: its names, and how a client of it is made.
#[derive(Debug)]
pub struct Row {
    /// The URL scheme, and the name in configuration.
    pub scheme: &'static str,
    /// Other names that mean the same protocol.
    pub aliases: &'static [&'static str],
    /// Port of an address that names none.
    pub default_port: u16,
    /// One line for people.
    pub about: &'static str,
    /// Makes a client with default options.
    pub client: fn() -> Arc<dyn Protocol>,
}

/// All protocols, in the order of reports. The first one is that of addresses that name none.
pub static PROTOCOLS: &[Row] = &[tri::ROW, dubbo::ROW];

/// The protocol called `name` (scheme or alias; ASCII case does not matter).
pub fn lookup(name: &str) -> Option<&'static Row> {
    PROTOCOLS.iter().find(|row| {
        let mut names = std::iter::once(&row.scheme).chain(row.aliases);
        names.any(|known| known.eq_ignore_ascii_case(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is here for all protocols.
    const SHARED: &[&str] = &[
        "availability",
        "java",
        "lib",
        "load",
        "security",
        "server",
        "status",
        "tls",
        "transport",
    ];

    #[test]
    fn every_file_has_a_row_and_every_row_a_file() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
            .filter(|name| !SHARED.contains(&name.as_str()))
            .collect();
        files.sort_unstable();
        let mut rows: Vec<&str> = PROTOCOLS.iter().map(|row| row.scheme).collect();
        rows.sort_unstable();
        assert_eq!(files, rows);
    }

    #[test]
    fn a_protocol_is_found_by_every_name_and_agrees_with_its_row() {
        for row in PROTOCOLS {
            for name in std::iter::once(&row.scheme).chain(row.aliases) {
                assert_eq!(lookup(&name.to_uppercase()).unwrap().scheme, row.scheme);
            }
            let client = (row.client)();
            assert_eq!((client.scheme(), client.default_port()), (row.scheme, row.default_port));
        }
        assert_eq!(lookup("grpc").unwrap().scheme, "tri");
        assert!(lookup("smtp").is_none());
    }
}
