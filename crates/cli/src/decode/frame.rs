//! One frame of the dubbo protocol: 16 bytes of header, and a body of Hessian values that share their
//! tables.

use equipoise::java::Value;
use equipoise::protocol::hessian::{Limits, hex};
use serde_json::json;

use super::readable;
use crate::failure::Shown;
use crate::output;

const HEADER: usize = 16;
/// The only serialization whose bodies are shown.
const HESSIAN2: u8 = 2;

/// Names of the serializations that have one.
const SERIALIZATIONS: &[(u8, &str)] = &[
    (2, "hessian2"),
    (3, "java"),
    (4, "compactedjava"),
    (6, "fastjson"),
    (7, "nativejava"),
    (8, "kryo"),
    (9, "fst"),
    (10, "native-hessian"),
    (11, "avro"),
    (12, "protostuff"),
    (16, "gson"),
    (18, "jackson"),
    (21, "protobuf-json"),
    (22, "protobuf"),
    (23, "fastjson2"),
    (25, "kryo2"),
    (27, "msgpack"),
    (28, "fury"),
];

/// Names of the statuses of answers.
const STATUSES: &[(u8, &str)] = &[
    (20, "ok"),
    (25, "serialization error"),
    (30, "client timeout"),
    (31, "server timeout"),
    (35, "channel inactive"),
    (40, "bad request"),
    (50, "bad response"),
    (60, "service not found"),
    (70, "service error"),
    (80, "server error"),
    (90, "client error"),
    (100, "thread pool exhausted"),
];

/// Shows the frame.
pub(super) fn run(bytes: &[u8], as_json: bool) -> anyhow::Result<()> {
    let header: &[u8; HEADER] = bytes
        .first_chunk()
        .ok_or_else(|| refused("the header of a frame has 16 bytes", bytes.len()))?;
    let [first, second, flags, status, id @ .., l0, l1, l2, l3] = *header;
    if [first, second] != [0xDA, 0xBB] {
        let text = format!("a frame begins with dabb and not {first:02x}{second:02x}");
        return Err(refused(&text, 0));
    }
    let length = i32::from_be_bytes([l0, l1, l2, l3]);
    let length = usize::try_from(length)
        .map_err(|_| refused(&format!("the length of the body is negative: {length}"), 12))?;
    let body = bytes.get(HEADER..).unwrap_or_default();
    if body.len() != length {
        let at = bytes.len().min(HEADER + length);
        let text = format!("the body has {} bytes and not {length}", body.len());
        return Err(refused(&text, at));
    }
    let (request, two_way, event) = (flags & 0x80 != 0, flags & 0x40 != 0, flags & 0x20 != 0);
    let serialization = flags & 0x1F;
    let values = if serialization == HESSIAN2 { Some(values(body)?) } else { None };
    let id = u64::from_be_bytes(id);
    if as_json {
        let body = match &values {
            Some(values) => json!(values.to_notations()),
            None => json!(hex(body)),
        };
        let document = json!({
            "request": request, "two_way": two_way, "event": event,
            "serialization": serialization, "status": status, "id": id,
            "length": length, "body": body,
        });
        output::lines([document.to_string()])?;
        return Ok(());
    }
    let kind = match (request, event, two_way) {
        (true, false, true) => "request",
        (true, false, false) => "one-way request",
        (true, true, _) => "event",
        (false, false, _) => "response",
        (false, true, _) => "answer to an event",
    };
    let mut head = vec![
        format!("{kind} {id}"),
        format!("serialization {serialization} ({})", name(SERIALIZATIONS, serialization)),
    ];
    if !request {
        head.push(format!("status {status} ({})", name(STATUSES, status)));
    }
    head.push(format!("body of {length} bytes"));
    output::lines(head)?;
    let shown = match &values {
        Some(values) => values.dump(),
        None => hex(body),
    };
    output::lines(shown.lines().map(str::to_owned))?;
    Ok(())
}

fn values(body: &[u8]) -> anyhow::Result<Value> {
    let limits = Limits::for_payload(body.len().max(1 << 20));
    Value::decode_sequence(body, &limits).map_err(|error| {
        let whole = readable(body);
        let text = format!("{} (the {whole} bytes before can be read)", error.kind);
        refused(&text, HEADER + error.offset)
    })
}

fn name(names: &[(u8, &'static str)], number: u8) -> &'static str {
    names.iter().find(|(known, _)| *known == number).map_or("unknown", |(_, name)| name)
}

fn refused(error: &str, offset: usize) -> anyhow::Error {
    Shown(json!({ "error": error, "offset": offset }).to_string()).into()
}
