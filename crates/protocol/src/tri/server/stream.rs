//! Calls with streams of messages as the wire has them; the built-in services live on these, users'
//! services on what [`super::streaming`] makes of them.

use bytes::Bytes;
use hyper::body::Incoming;

use crate::server::next_frame;
use crate::status::{Status, code};
use crate::tri::frame::Deframer;
use crate::tri::server::body::Answers;
use crate::tri::server::grpc;

/// A service whose methods take and give streams; a unary method is a stream of one.
pub(crate) trait StreamHandler: Send + Sync + 'static {
    /// Starts a call. The answers end the call when they end, with status 0 or the error they
    /// ended with. Dropping them withdraws it.
    fn open(&self, method: &str, requests: Requests) -> Result<Answers, Status>;
}

/// The messages of a request, in the order they come.
#[derive(Debug)]
pub(crate) struct Requests {
    body: Incoming,
    deframer: Deframer,
}

impl Requests {
    pub(crate) fn new(body: Incoming, limit: usize, gzip: bool) -> Self {
        Self { body, deframer: Deframer::new(limit).gzip(gzip) }
    }

    /// The next message; `None` when there are no more.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Status> {
        loop {
            if let Some(message) = self.deframer.next().map_err(|error| grpc::refused(&error))? {
                return Ok(Some(message));
            }
            match next_frame(&mut self.body).await? {
                Some(frame) => {
                    if let Ok(chunk) = frame.into_data() {
                        self.deframer.push(chunk);
                    }
                }
                None if self.deframer.is_empty() => return Ok(None),
                None => return Err(Status::new(code::INTERNAL, "the last message is cut off")),
            }
        }
    }
}
