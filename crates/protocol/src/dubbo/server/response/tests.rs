use equipoise_core::outcome::Exception;

use super::*;

const ASKED: Asked = Asked { id: 1, attached: true };

fn bytes(frame: &Frame) -> Vec<u8> {
    let all: Vec<u8> = frame
        .parts()
        .iter()
        .flat_map(|part| match part {
            Part::Copy(bytes) => bytes.to_vec(),
            Part::Share(bytes) => bytes.to_vec(),
        })
        .collect();
    assert_eq!(all.len(), frame.len());
    assert_eq!(all[12..16], u32::try_from(all.len() - 16).unwrap().to_be_bytes());
    all
}

fn reply(body: &'static [u8], attachments: &[(&str, &str)]) -> Result<Reply, Status> {
    let attachments = attachments.iter().copied().collect();
    Ok(Reply { body: Bytes::from_static(body), attachments })
}

#[test]
fn the_version_is_always_said_once_and_is_ours() {
    let frame = result(ASKED, reply(b"\x91", &[("dubbo", "9"), ("k", "v")]), 100, &"x");
    assert_eq!(bytes(&frame)[16..], *b"\x94\x91H\x01k\x01v\x05dubbo\x052.0.2Z");
    let frame =
        result(Asked { attached: false, ..ASKED }, reply(b"\x91", &[("k", "v")]), 100, &"x");
    assert_eq!(bytes(&frame)[16..], *b"\x91\x91");
}

#[test]
fn binary_attachments_are_bytes() {
    let mut attachments = Attachments::new();
    attachments.set_binary("b", &b"xy"[..]);
    let frame = result(ASKED, Ok(Reply { body: Bytes::new(), attachments }), 100, &"x");
    assert_eq!(bytes(&frame)[16..], *b"\x95H\x01b\x22xy\x05dubbo\x052.0.2Z");
}

#[test]
fn limits_hold_to_the_byte_for_results_and_exceptions() {
    let size = 1 + 2 + ONLY_VERSION.len();
    for (limit, expected) in [(size, status::OK), (size - 1, status::SERIALIZATION_ERROR)] {
        assert_eq!(bytes(&result(ASKED, reply(b"\x01x", &[]), limit, &"x"))[3], expected);
        let mut thrown = Status::new(2, "");
        thrown.exception = Some(Box::new(Exception { class: "a.B".into(), body: "ab".into() }));
        assert_eq!(bytes(&result(ASKED, Err(thrown), limit, &"x"))[3], expected);
    }
}

#[test]
fn long_texts_are_cut_at_a_character() {
    let frame = Frame::error(1, status::SERVICE_ERROR, &"é".repeat(LONGEST));
    assert_eq!(frame.len(), 16 + 3 + LONGEST);
    let text = "é".repeat(3);
    let frame = Frame::error(1, status::SERVICE_ERROR, &text);
    assert_eq!(bytes(&frame)[16..], [&[3], text.as_bytes()].concat());
}
