//! Writes responses: a flag, the value or the exception, attachments; or a status that is an error
//! and one string.

use std::fmt;

use bytes::Bytes;
use equipoise_core::attachments::{AttachmentValue, Attachments};
use equipoise_core::port::Reply;
use equipoise_hessian::Writer;

use crate::dubbo::frame::{HEADER_BYTES, Header, status};
use crate::dubbo::outgoing::Part;
use crate::status::{Status, code};

/// Longest text of an error, in bytes.
const LONGEST: usize = 8 * 1024;

/// The attachment that says which version of the protocol is spoken, and its value.
const VERSION_KEY: &str = "dubbo";
const VERSION: &str = "2.0.2";

/// The map of attachments when there are no others: `{"dubbo":"2.0.2"}`.
const ONLY_VERSION: &[u8] = b"H\x05dubbo\x052.0.2Z";

/// Null, in its only form.
const NULL: &[u8] = b"N";

/// Flags of a result without attachments; with them they are three more.
const EXCEPTION: u8 = 0x90;
const VALUE: u8 = 0x91;
const NOTHING: u8 = 0x92;
const ATTACHED: u8 = 3;

/// A frame on its way out: a few bytes, a body that is shared, and what comes after it.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    head: [u8; HEADER_BYTES + 1],
    used: usize,
    body: Bytes,
    tail: Bytes,
}

impl Frame {
    /// A response to the request `id` that is an error.
    pub(crate) fn error(id: u64, status: u8, text: &str) -> Self {
        let mut writer = Writer::new();
        writer.str(text.get(..text.floor_char_boundary(LONGEST)).unwrap_or(text));
        let body = Bytes::from(writer.into_bytes());
        let mut frame = Self::new(&Header::response(id, status, body.len()).encode());
        frame.body = body;
        frame
    }

    /// Any bytes.
    pub(crate) fn raw(head: &Header, body: Bytes) -> Self {
        Self { body, ..Self::new(&head.encode()) }
    }

    fn new(bytes: &[u8]) -> Self {
        let (mut head, mut used) = ([0; HEADER_BYTES + 1], 0);
        for (to, from) in head.iter_mut().zip(bytes) {
            *to = *from;
            used += 1;
        }
        Self { head, used, body: Bytes::new(), tail: Bytes::new() }
    }

    /// Its bytes, in order.
    pub(crate) fn parts(&self) -> [Part<'_>; 3] {
        let head = self.head.get(..self.used).unwrap_or_default();
        [Part::Copy(head), Part::Share(&self.body), Part::Share(&self.tail)]
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.used + self.body.len() + self.tail.len()
    }
}

/// What a response needs to know of its request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) id: u64,
    /// Whether the peer takes attachments in responses.
    pub(crate) attached: bool,
}

/// The response with a result of the service, in at most `limit` bytes; `channel` names the
/// connection in an error.
pub(crate) fn result(
    asked: Asked,
    result: Result<Reply, Status>,
    limit: usize,
    channel: &dyn fmt::Display,
) -> Frame {
    let (flag, body, attachments) = match result {
        Ok(Reply { body, attachments }) if body.is_empty() || *body == *NULL => {
            (NOTHING, Bytes::new(), attachments)
        }
        Ok(Reply { body, attachments }) => (VALUE, body, attachments),
        Err(Status { exception: Some(exception), attachments, .. }) => {
            (EXCEPTION, exception.body, attachments)
        }
        Err(status) => return Frame::error(asked.id, of_code(status.code), &status.message),
    };
    let tail = if asked.attached { map(&attachments) } else { Bytes::new() };
    let flag = if asked.attached { flag + ATTACHED } else { flag };
    let len = 1 + body.len() + tail.len();
    if len > limit {
        let text =
            format!("Data length too large: {len}, max payload: {limit}, channel: {channel}");
        return Frame::error(asked.id, status::SERIALIZATION_ERROR, &text);
    }
    let mut frame = Frame::new(&Header::response(asked.id, status::OK, len).encode());
    if let Some(last) = frame.head.last_mut() {
        *last = flag;
        frame.used += 1;
    }
    Frame { body, tail, ..frame }
}

/// The status for a service's answer that is no result. A service that is out of something has
/// been asked, so it is not what Dubbo calls exhausted: that promises that the call did not run.
fn of_code(code: i32) -> u8 {
    match code {
        code::UNIMPLEMENTED | code::INVALID_ARGUMENT => status::BAD_REQUEST,
        code::INTERNAL | code::UNAVAILABLE => status::SERVER_ERROR,
        _ => status::SERVICE_ERROR,
    }
}

fn map(attachments: &Attachments) -> Bytes {
    if attachments.is_empty() {
        return Bytes::from_static(ONLY_VERSION);
    }
    let mut writer = Writer::new();
    writer.map(None);
    for (key, value) in attachments.iter().filter(|(key, _)| *key != VERSION_KEY) {
        writer.str(key);
        match value {
            AttachmentValue::Text(text) => writer.str(text),
            AttachmentValue::Binary(bytes) => writer.binary(bytes),
        }
    }
    writer.str(VERSION_KEY);
    writer.str(VERSION);
    writer.end();
    writer.into_bytes().into()
}

#[cfg(test)]
#[path = "response/tests.rs"]
mod tests;
