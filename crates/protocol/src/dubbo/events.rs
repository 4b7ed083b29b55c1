//! Events: frames that are no calls. A heartbeat carries null; a provider that is going away says
//! `"R"` (read-only), and `"W"` if it stays after all.

use crate::dubbo::frame::{HEADER_BYTES, Header, status};

/// The body of a heartbeat and of its answer.
const NULL: u8 = b'N';

/// What an event says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Event {
    /// The peer lives. Also what has no meaning here: dubbo-go takes every event for one.
    Heartbeat,
    /// The sender takes no new calls.
    ReadOnly,
    /// The sender takes calls again.
    Writable,
}

impl Event {
    /// Reads the body of an event. Whatever follows the value is ignored: dubbo-go adds a null.
    pub(crate) fn parse(body: &[u8]) -> Self {
        match body {
            [0x01, b'R', ..] => Event::ReadOnly,
            [0x01, b'W', ..] => Event::Writable,
            _ => Event::Heartbeat,
        }
    }
}

/// A heartbeat that wants an answer.
pub(crate) fn heartbeat(id: u64) -> [u8; HEADER_BYTES + 1] {
    null(Header::request(id, true, 1).event())
}

/// The answer to the heartbeat `id`.
pub(crate) fn heartbeat_answer(id: u64) -> [u8; HEADER_BYTES + 1] {
    null(Header::response(id, status::OK, 1).event())
}

/// Says that no new calls are taken; wants no answer.
pub(crate) fn read_only(id: u64) -> [u8; HEADER_BYTES + 2] {
    let mut frame = [0; HEADER_BYTES + 2];
    let header = Header::request(id, false, 2).event().encode();
    for (to, from) in frame.iter_mut().zip(header.iter().chain(&[0x01, b'R'])) {
        *to = *from;
    }
    frame
}

fn null(header: Header) -> [u8; HEADER_BYTES + 1] {
    let mut frame = [NULL; HEADER_BYTES + 1];
    for (to, from) in frame.iter_mut().zip(header.encode()) {
        *to = from;
    }
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_have_the_bytes_that_dubbo_sends() {
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02X}")).collect::<String>();
        assert_eq!(hex(&heartbeat(1)), "DABBE2000000000000000001000000014E");
        assert_eq!(hex(&heartbeat_answer(1)), "DABB22140000000000000001000000014E");
        assert_eq!(hex(&read_only(2)), "DABBA2000000000000000002000000020152");
    }

    #[test]
    fn bodies_are_read_with_whatever_follows() {
        for (body, event) in [
            (&b"N"[..], Event::Heartbeat),
            (b"NN", Event::Heartbeat),
            (b"", Event::Heartbeat),
            (&[0x01, b'X'], Event::Heartbeat),
            (&[0x01, b'R'], Event::ReadOnly),
            (&[0x01, b'R', b'N'], Event::ReadOnly),
            (&[0x01, b'W'], Event::Writable),
        ] {
            assert_eq!(Event::parse(body), event, "{body:?}");
        }
    }
}
