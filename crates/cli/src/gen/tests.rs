//! The whole way from class files to source, for files that mean no good.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;

fn fixtures() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gen/classes/com/acme/shop"))
}

fn written(root: &Path, interface: &str) -> Result<String, GenError> {
    let mut classes = Classes::open([root])?;
    let model = model(&mut classes, &[interface.to_owned()], Choices::default())?;
    Ok(emit::emit(&model, &Style::default()))
}

/// The shop's classes where they can be damaged.
fn shop() -> (tempfile::TempDir, PathBuf, Vec<String>) {
    let directory = tempfile::tempdir().unwrap();
    let to = directory.path().join("com/acme/shop");
    fs::create_dir_all(&to).unwrap();
    let mut names = Vec::new();
    for entry in fs::read_dir(fixtures()).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort_unstable();
    (directory, to, names)
}

#[test]
fn no_damage_makes_it_panic() {
    let (directory, shop, names) = shop();
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4);
    let strategy = (prop::sample::select(names), changes);
    let mut runner = TestRunner::new(Config::with_cases(300));
    let run = runner.run(&strategy, |(name, changes)| {
        let whole = fs::read(fixtures().join(&name)).unwrap();
        let mut bytes = whole.clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        fs::write(shop.join(&name), &bytes).unwrap();
        let text = written(directory.path(), "com.acme.shop.Stock");
        fs::write(shop.join(&name), &whole).unwrap();
        if let Ok(text) = text {
            prop_assert!(text.starts_with("//! Written by"));
        }
        Ok(())
    });
    run.unwrap();
    assert!(written(directory.path(), "com.acme.shop.Stock").is_ok());
}

#[test]
fn names_stay_names() {
    let (directory, shop, _) = shop();
    let mut bytes = fs::read(fixtures().join("Shape.class")).unwrap();
    let at = bytes.windows(4).position(|four| four == b"area").unwrap();
    bytes[at..at + 4].copy_from_slice(b"}\n\"`");
    fs::write(shop.join("Shape.class"), bytes).unwrap();
    let text = written(directory.path(), "com.acme.shop.Shape").unwrap();
    let method = "    /// `double }?\"?()`\n    #[java(name = \"}\\n\\\"`\")]\n    async fn field(&self) \
                  -> Result<f64, java::Fault>;\n";
    assert!(text.contains(method), "{text}");
}

#[test]
fn a_class_that_is_its_own_superclass_comes_to_an_end() {
    let (directory, shop, _) = shop();
    let mut bytes = fs::read(fixtures().join("Category$Shelf.class")).unwrap();
    let object = b"\x01\x00\x10java/lang/Object";
    let at = bytes.windows(object.len()).position(|window| window == object).unwrap();
    let own = b"\x01\x00\x1ccom/acme/shop/Category$Shelf";
    bytes.splice(at..at + object.len(), own.iter().copied());
    fs::write(shop.join("Category$Shelf.class"), bytes).unwrap();
    let text = written(directory.path(), "com.acme.shop.Stock").unwrap();
    assert!(text.contains("pub struct CategoryShelf {"), "{text}");
}
