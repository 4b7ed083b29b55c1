use super::*;

fn body(version: &str, method: &str) -> Bytes {
    let mut writer = equipoise_hessian::Writer::new();
    for text in ["2.0.2", "a.S", version, method, "I"] {
        writer.str(text);
    }
    let mut bytes = writer.into_bytes();
    bytes.extend_from_slice(b"\x95H\x01k\x01vZ");
    bytes.into()
}

#[test]
fn methods_are_remembered_and_not_without_end() {
    let mut heads = Heads::default();
    let limit = 10_000;
    for round in 0..3 {
        for number in 0..2 * REMEMBERED {
            let invocation = heads.read(&body("1", &format!("m{number}")), limit).unwrap();
            assert_eq!(&*invocation.head.method, format!("m{number}"), "round {round}");
            assert_eq!(invocation.arguments, b"\x95"[..]);
            assert_eq!(invocation.attachments.text("k"), Some("v"));
        }
        assert_eq!(heads.known.len(), REMEMBERED);
    }
    let first = heads.read(&body("1", "m"), limit).unwrap();
    let second = heads.read(&body("1", "m"), limit).unwrap();
    assert!(Arc::ptr_eq(&first.head, &second.head));
    let other = heads.read(&body("2", "m"), limit).unwrap();
    assert_eq!((first.version(), other.version()), ("1", "2"));
}

#[test]
fn long_heads_are_read_and_not_remembered() {
    let mut heads = Heads::default();
    heads.read(&body("1", &"m".repeat(LONGEST)), 10_000).unwrap();
    assert!(heads.known.is_empty());
}

#[test]
fn attachments_from_202_to_2099() {
    for (version, taken) in [
        ("2.0.2", true),
        ("2.0.99", true),
        ("2.0.2.1", true),
        ("2.0.02", true),
        ("2.0.3-rc1", true),
        ("2.0.1", false),
        ("2.0.100", false),
        ("2.0", false),
        ("2", false),
        ("", false),
        ("2.1.2", false),
        ("1.0.2", false),
        ("2.0.99999999999999999999", false),
    ] {
        assert_eq!(takes_attachments(version), taken, "{version}");
    }
}

proptest::proptest! {
    #[test]
    fn arbitrary_bodies_never_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
        let _ = Heads::default().read(&bytes.into(), 1000);
    }

    #[test]
    fn arbitrary_endings_never_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..100)) {
        let mut all = body("1", "m").to_vec();
        all.truncate(all.len() - 8);
        all.extend(bytes);
        let _ = Heads::default().read(&all.into(), 1000);
    }
}
