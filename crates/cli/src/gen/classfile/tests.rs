//! Class files of a real compiler, and what is left of them after damage.

use proptest::prelude::*;

use super::bytes::FaultKind;
use super::*;

macro_rules! compiled {
    ($name:literal) => {
        include_bytes!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/gen/classes/com/acme/shop/",
            $name,
            ".class"
        ))
    };
}

const FILES: [&[u8]; 8] = [
    compiled!("Stock"),
    compiled!("Order"),
    compiled!("Level"),
    compiled!("Point"),
    compiled!("Page"),
    compiled!("Repository"),
    compiled!("OutOfStock"),
    compiled!("Order$Line"),
];

fn read(file: &[u8]) -> ClassFile {
    ClassFile::read(file).unwrap()
}

fn names(all: &[Option<Rc<str>>]) -> Vec<&str> {
    all.iter().map(|name| name.as_deref().unwrap_or("-")).collect()
}

#[test]
fn an_interface_has_methods_with_names_and_exceptions() {
    let stock = read(compiled!("Stock"));
    assert_eq!(&*stock.name, "com.acme.shop.Stock");
    assert!(stock.access.has(Access::INTERFACE));
    let parents: Vec<_> = stock.ty.parents.iter().map(JavaType::shown).collect();
    assert_eq!(parents, ["Object", "Repository<Order, Long>", "AutoCloseable"]);
    let reserve = stock.methods.iter().find(|method| &*method.name == "reserve").unwrap();
    assert_eq!(names(&reserve.parameters), ["order", "count"]);
    assert_eq!(reserve.throws, ["com.acme.shop.OutOfStock".into()]);
    let bridge =
        stock.methods.iter().filter(|m| &*m.name == "get" && m.access.has(Access::SYNTHETIC));
    assert_eq!(bridge.count(), 1);
    let max = stock.fields.iter().find(|field| &*field.name == "MAX_COUNT").unwrap();
    assert_eq!(max.constant, Some(Constant::Number(Number::Int(100))));
}

#[test]
fn names_of_parameters_come_from_code_where_there_is_some() {
    let repository = read(compiled!("Repository"));
    let of = |name: &str| {
        let method = repository.methods.iter().find(|method| &*method.name == name).unwrap();
        names(&method.parameters)
    };
    assert_eq!(of("first"), ["from", "skip", "share", "take"]);
    assert_eq!(of("save"), ["-"]);
}

#[test]
fn records_know_their_components_and_enums_their_constants() {
    let point = read(compiled!("Point"));
    assert_eq!(point.record, Some(vec!["x".into(), "y".into(), "path".into()]));
    let level = read(compiled!("Level"));
    let constants = level.fields.iter().filter(|field| field.access.has(Access::ENUM));
    assert_eq!(
        constants.map(|field| &*field.name).collect::<Vec<_>>(),
        ["LOW", "VERY_HIGH", "mixedCase"]
    );
}

#[test]
fn every_beginning_of_a_file_is_too_short() {
    for file in FILES {
        for length in 0..file.len() {
            let fault = ClassFile::read(&file[..length]).unwrap_err();
            assert_eq!(fault.kind, FaultKind::Ends, "{length}");
            assert!(fault.offset <= length);
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = ClassFile::read(&bytes);
        let _ = ClassFile::read(&[&[0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61], &bytes[..]].concat());
    }

    #[test]
    fn no_damage_makes_it_panic(
        file in prop::sample::select(&FILES[..]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
        inserted in prop::collection::vec(any::<u8>(), 0..4),
    ) {
        let mut bytes = file.to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Err(fault) = ClassFile::read(&bytes) {
            prop_assert!(fault.offset <= bytes.len(), "{fault}");
        }
        let cut = cut.index(bytes.len());
        bytes.splice(cut..cut, inserted);
        let _ = ClassFile::read(&bytes);
    }

    #[test]
    fn no_text_makes_a_signature_panic(text in "[ZBCSIJFDLTV\\[;<>:*+\\-.()^/a]{0,60}") {
        for generic in [false, true] {
            if let Some(ty) = signature::field(&text, generic) {
                prop_assert!(!ty.shown().is_empty());
            }
            let _ = signature::method(&text, generic);
        }
        let _ = signature::class(&text);
    }
}
