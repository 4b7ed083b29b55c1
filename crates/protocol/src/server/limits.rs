//! What a server lets itself in for: every limit with its default.

use std::time::Duration;

use crate::{MAX_HEADER_BYTES, MAX_MESSAGE_BYTES};

#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Bytes of a message, both ways.
    pub(crate) max_message: usize,
    /// Whether answers are packed with gzip for callers that read it.
    pub(crate) gzip: bool,
    /// Bytes of a header block.
    pub(crate) max_headers: u32,
    /// Calls at a time on one connection (HTTP/2 and `dubbo`).
    pub(crate) max_streams: u32,
    /// Open connections.
    pub(crate) max_connections: usize,
    /// Calls at a time on the whole server.
    pub(crate) max_calls: Option<usize>,
    /// Time for TLS and the first bytes of a connection, and for the headers over HTTP/1.1.
    pub(crate) handshake: Duration,
    /// Time without a call after which a connection is closed.
    pub(crate) idle: Option<Duration>,
    /// Time between signs of life asked of a peer (HTTP/2 and `dubbo`).
    pub(crate) keep_alive_interval: Option<Duration>,
    /// Time an HTTP/2 peer has for one.
    pub(crate) keep_alive_timeout: Duration,
    /// Time without a byte after which a `dubbo` connection is closed.
    pub(crate) silence: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_message: MAX_MESSAGE_BYTES,
            gzip: false,
            max_headers: MAX_HEADER_BYTES,
            max_streams: 1024,
            max_connections: 10_000,
            max_calls: None,
            handshake: Duration::from_secs(10),
            // A consumer keeps its connection for as long as it knows the provider; dead peers
            // are found by keep-alive.
            idle: None,
            keep_alive_interval: Some(Duration::from_secs(60)),
            keep_alive_timeout: Duration::from_secs(20),
            // Dubbo: three times the heartbeat of one minute.
            silence: Some(Duration::from_secs(180)),
        }
    }
}
