//! What a hostile peer may send: claimed lengths, bombs of depth, references and definitions. What it
//! costs is counted in values that are visited and bytes that are taken, not in time.
#![allow(clippy::unwrap_used)] // What a test takes for granted it may unwrap, in its helpers too.

use std::collections::HashMap;

use equipoise_hessian::{
    Decoder, Error, ErrorKind, Limits, Node, Reader, Value, Writer, from_slice, unhex,
};
use serde::Deserialize;

/// The limit that an error names.
fn limit(error: &Error) -> &'static str {
    match error.kind {
        ErrorKind::Limit { name, .. } => name,
        _ => panic!("{error}"),
    }
}

/// The stack that threads of servers have.
fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(test).unwrap().join().unwrap();
}

#[test]
fn case_173_claimed_lengths_are_not_believed() {
    let claims = [
        "4301784 97fffffff",        // a class of 2^31-1 fields
        "430178 49ffffffff",        // of -1
        "58497fffffff",             // a list
        "5849ffffffff",             // of -1
        "5605 5b696e74 497fffffff", // a typed one
        "53ffff61",                 // a string
        "52ffff61",                 // its first part
        "42ffff00",                 // bytes
        "41ffff00",                 // their first part
        "33ff61",
        "37ff00",
        "51497fffffff", // a reference
        "5149ffffffff",
        "4f497fffffff", // an object of a class
        "4f49ffffffff",
        "7149 7fffffff 90", // a type
        "4d49ffffffff5a",
    ];
    for claim in claims {
        let bytes = unhex(claim).unwrap();
        let mut reader = Reader::new(&bytes);
        let error = Value::read(&mut reader).unwrap_err();
        assert!(error.offset <= bytes.len(), "{claim}: {error}");
        assert!(reader.memory() < 4096, "{claim} takes {} bytes", reader.memory());
        assert!(reader.visited() <= 2, "{claim} visits {}", reader.visited());
        let mut reader = Reader::new(&bytes);
        reader.skip_value().unwrap_err();
        from_slice::<Vec<i32>>(&bytes).unwrap_err();
        from_slice::<serde::de::IgnoredAny>(&bytes).unwrap_err();
    }
}

#[test]
fn case_176_depth_is_an_error_and_no_overflow() {
    let starts: [(&str, &str, usize); 5] = [
        ("", "79", 1),               // lists of one element
        ("", "57", 1),               // lists up to an end
        ("", "4890", 1),             // maps
        ("4301419101 61", "60", 1),  // objects
        ("", "43014191016160", 300), // each with a definition of its own
    ];
    on_a_small_stack(move || {
        for (first, level, limited) in starts {
            let mut bytes = unhex(first).unwrap();
            bytes.extend(unhex(level).unwrap().repeat(100_000));
            bytes.push(b'N');
            let error = Value::decode(&bytes).unwrap_err();
            assert!(["depth", "classes"].contains(&limit(&error)), "{level}: {error}");
            let error = Reader::new(&bytes).skip_value().unwrap_err();
            assert!(["depth", "classes"].contains(&limit(&error)), "{level}: {error}");
            assert!(error.offset < 16_384, "{level} is read up to {}", error.offset);
            assert!(limited > 0);
        }
    });
}

/// Everything that is done with a value, at the greatest depth.
#[test]
fn the_full_depth_fits_a_small_stack() {
    let starts =
        [("", "79", ""), ("", "4890", "5a"), ("43014191016 1", "60", ""), ("", "48", "905a")];
    on_a_small_stack(move || {
        for (first, level, end) in starts {
            let mut bytes = unhex(first).unwrap();
            bytes.extend(unhex(level).unwrap().repeat(512));
            bytes.push(b'N');
            bytes.extend(unhex(end).unwrap().repeat(512));
            let value = Value::decode(&bytes).unwrap();
            assert_eq!(value.encode(), bytes, "{level}");
            assert!(value.clone() == value);
            assert!(value.part(value.root()) == value);
            let notation = value.to_notation();
            assert!(Value::from_notation(&notation).unwrap() == value);
            assert!(!value.to_json().to_string().contains("$deeper"));
            assert!(value.dump().lines().count() >= 513);
        }
    });
}

/// `[[], [l0, l0], [l1, l1], …]`: 2^n lists when written out.
fn reference_bomb(lists: usize) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.list(None, lists);
    writer.list(None, 0);
    for at in 1..lists {
        writer.list(None, 2);
        writer.reference(at);
        writer.reference(at);
    }
    writer.into_bytes()
}

/// A list of whatever is in it.
#[derive(Debug, Deserialize, PartialEq)]
struct Tree(Vec<Tree>);

#[test]
fn a_bomb_of_references_is_small_as_a_value_and_an_error_as_a_type() {
    let bytes = reference_bomb(200);
    let mut reader = Reader::new(&bytes);
    let value = Value::read(&mut reader).unwrap();
    assert_eq!(value.len(), 201);
    assert_eq!(reader.visited(), 1 + 1 + 199 * 3);
    assert!(value == value.clone());
    assert_eq!(value.encode(), bytes);
    on_a_small_stack(move || {
        let mut decoder = Decoder::new(&bytes);
        let error = decoder.next::<Tree>().unwrap_err();
        assert_eq!(limit(&error), "expansion");
        // What is read for the first time, and four times as much again.
        assert!(decoder.reader().visited() <= 5 * 599 + 1);
    });
}

#[test]
fn what_is_referred_to_from_outside_is_copied_once() {
    let mut bytes = reference_bomb(100);
    bytes.extend(unhex("7a 51 c864 51 c864").unwrap());
    let mut reader = Reader::new(&bytes);
    reader.skip_value().unwrap();
    let value = Value::read(&mut reader).unwrap();
    assert!(reader.at_end());
    let [one, two] = value.items(value.root()).unwrap() else { panic!() };
    assert_eq!(one, two);
    assert_eq!(value.len(), 101, "100 lists, and the one around");
}

#[test]
fn a_chain_of_references_to_values_before_ends_at_the_depth() {
    // l0 = [], l1 = [l0], l2 = [l1] …, then a value of its own that is the last of them.
    let mut writer = Writer::new();
    writer.list(None, 1000);
    writer.list(None, 0);
    for at in 1..1000 {
        writer.list(None, 1);
        writer.reference(at);
    }
    let mut bytes = writer.into_bytes();
    bytes.extend(unhex("51 cbe8").unwrap());
    on_a_small_stack(move || {
        let mut reader = Reader::new(&bytes);
        reader.skip_value().unwrap();
        assert_eq!(limit(&Value::read(&mut reader).unwrap_err()), "depth");
    });
}

#[test]
fn reading_again_is_paid_by_the_byte() {
    // A string in many empty parts, in a list, and the list very often.
    let parts = 100_000;
    let mut bytes = unhex("58 d4c350 79").unwrap();
    bytes.extend(unhex("520000").unwrap().repeat(parts));
    bytes.push(0);
    bytes.extend(unhex("5191").unwrap().repeat(49_999));
    let limits = Limits { expansion: 1000, ..Limits::for_payload(bytes.len()) };
    let mut decoder = Decoder::with_limits(&bytes, &limits);
    let error = decoder.next::<Vec<Vec<String>>>().unwrap_err();
    assert_eq!(limit(&error), "memory");
    assert!(decoder.reader().visited() < 200, "{}", decoder.reader().visited());
}

#[test]
fn definitions_and_types_are_limited_and_passed_over_when_read_again() {
    let class = |at: usize| {
        let mut writer = Writer::new();
        writer.str(&format!("C{at}"));
        let name = writer.into_bytes();
        [&b"C"[..], &name, &[0x90]].concat()
    };
    let many: Vec<u8> = (0..1025).flat_map(class).collect();
    assert_eq!(limit(&Value::decode(&many).unwrap_err()), "classes");
    let mut fields = unhex("43 0141 cc01").unwrap();
    fields.extend(unhex("0161").unwrap().repeat(1025));
    assert_eq!(limit(&Value::decode(&fields).unwrap_err()), "fields");
    let types: Vec<u8> =
        (0..1025).flat_map(|at| format!("\x70\x06T{at:05}").into_bytes()).collect();
    let types = [unhex("58 cc01").unwrap(), types].concat();
    assert_eq!(limit(&Value::decode(&types).unwrap_err()), "types");

    // A class of many fields in a list that is referred to: the definition is not read again.
    let mut bytes = unhex("7d 78 79 43 0141 cc00").unwrap();
    bytes.extend((0..1024).flat_map(|at| format!("\x05f{at:04}").into_bytes()));
    bytes.push(0x60);
    bytes.extend([b'N'; 1024]);
    bytes.extend(unhex("5192").unwrap().repeat(3));
    let mut decoder = Decoder::new(&bytes);
    decoder.next::<Vec<Vec<HashMap<String, Option<i32>>>>>().unwrap();
    let (memory, read) = (decoder.reader().memory(), 3 * 1026);
    assert!(memory < 1024 * 32 + 3 * 1100 + 6144 + 4096, "{memory} for {read} values again");
}

#[test]
fn totals_are_limited_and_elements_of_primitive_arrays_do_not_count() {
    let list = |ty: Option<&str>, len: usize| {
        let mut writer = Writer::new();
        writer.list(ty, len);
        (0..len).for_each(|at| writer.int(i32::try_from(at % 100).unwrap()));
        writer.into_bytes()
    };
    let limits = Limits { values: 100, ..Limits::default() };
    let count = |ty, len| Value::decode_with(&list(ty, len), &limits);
    assert!(count(None, 99).is_ok());
    assert_eq!(limit(&count(None, 100).unwrap_err()), "values");
    assert!(count(Some("[int"), 10_000).is_ok());
    assert_eq!(limit(&count(Some("[java.lang.Integer"), 10_000).unwrap_err()), "values");
    let limits = Limits { input: 10, ..Limits::default() };
    let error = Value::decode_with(&list(None, 20), &limits).unwrap_err();
    assert_eq!(limit(&error), "input");
}

#[test]
fn a_payload_of_numbers_is_read_and_one_of_lists_is_not() {
    let full = 8 * 1024 * 1024 - 16;
    let mut bytes = unhex("56 045b696e74").unwrap();
    let head = |bytes: &mut Vec<u8>, len: usize| {
        bytes.push(b'I');
        bytes.extend(i32::try_from(len).unwrap().to_be_bytes());
    };
    head(&mut bytes, full);
    bytes.resize(bytes.len() + full, 0x91);
    let value = Value::decode(&bytes).unwrap();
    assert_eq!(value.items(value.root()).unwrap().len(), full);
    assert_eq!(value.encode(), bytes);

    let mut bytes = vec![b'X'];
    head(&mut bytes, full);
    bytes.resize(bytes.len() + full, 0x78);
    let error = Value::decode(&bytes).unwrap_err();
    assert_eq!(limit(&error), "memory");
}

#[test]
fn cycles_are_values_and_typed_errors() {
    // A list that contains itself, passed over and then referred to.
    let bytes = unhex("7a 79 5191 5191").unwrap();
    let value = Value::decode(&bytes).unwrap();
    let [inner, again] = value.items(value.root()).unwrap() else { panic!() };
    assert_eq!(inner, again);
    assert_eq!(value.items(*inner).unwrap(), [*inner]);
    assert_eq!(from_slice::<Tree>(&bytes).unwrap_err().kind, ErrorKind::Cyclic);
    let mut decoder = Decoder::new(&bytes);
    decoder.reader().next().unwrap();
    decoder.skip().unwrap();
    assert_eq!(decoder.next::<Tree>().unwrap_err().kind, ErrorKind::Cyclic);
}

#[test]
fn every_short_input_and_every_cut_is_an_answer() {
    for first in 0..=255_u8 {
        for second in 0..=255_u8 {
            for bytes in
                [&[first, second][..], &[first, second, 0x90], &[0x79, first, second, 0x5A]]
            {
                if let Ok(value) = Value::decode(bytes) {
                    assert!(Value::decode(&value.encode()).unwrap() == value, "{bytes:02x?}");
                }
            }
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/decode");
    let mut cut = 0;
    for file in std::fs::read_dir(path).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        if Value::decode(&bytes).is_err() {
            continue;
        }
        for len in 0..bytes.len() {
            let part = bytes.get(..len).unwrap();
            assert!(Value::decode(part).is_err(), "{part:02x?}");
            assert!(Reader::new(part).skip_value().is_err(), "{part:02x?}");
            cut += 1;
        }
    }
    assert!(cut > 2000, "{cut}");
}

#[test]
fn nothing_of_a_value_is_null_that_is_not() {
    let value = Value::decode(&unhex("7a4e90").unwrap()).unwrap();
    let [null, zero] = value.items(value.root()).unwrap() else { panic!() };
    assert!(matches!(value.node(*null), Node::Null));
    assert!(matches!(value.node(*zero), Node::Int(0)));
}
