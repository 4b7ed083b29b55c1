//! From class files to Rust: what is written for the interfaces in `gen/java`, compiled to `gen/classes`
//! by `gen/build.sh`.

#![allow(clippy::unwrap_used)] // a test may panic

mod common;

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Ran, equipoise, run};
use zip::write::SimpleFileOptions;

fn here(name: &str) -> String {
    format!("{}/tests/gen/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn generated(words: &[&str]) -> Ran {
    let classes = here("classes");
    let mut all = vec!["gen", &classes];
    all.extend(words);
    equipoise(&all)
}

/// All class files, with the names that they have in a jar.
fn class_files() -> Vec<(String, Vec<u8>)> {
    let root = PathBuf::from(here("classes"));
    let (mut files, mut waiting) = (Vec::new(), vec![root.clone()]);
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                files.push((name, fs::read(&path).unwrap()));
            }
        }
    }
    files
}

fn jar(path: &Path, prefix: &str) {
    let mut jar = zip::ZipWriter::new(File::create(path).unwrap());
    let packed = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for (name, bytes) in class_files() {
        jar.start_file(format!("{prefix}{name}"), packed).unwrap();
        jar.write_all(&bytes).unwrap();
    }
    jar.start_file("META-INF/versions/21/com/acme/shop/Stock.class", packed).unwrap();
    jar.write_all(b"for a later virtual machine").unwrap();
    jar.finish().unwrap();
}

/// The text after the line that names the source.
fn body(text: &str) -> &str {
    text.split_once('\n').unwrap().1
}

#[test]
fn an_interface_is_written_as_it_was() {
    let ran = generated(&["com.acme.shop.Stock"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let expected = fs::read_to_string(here("stock.rs")).unwrap();
    assert!(ran.stdout == expected, "gen/stock.rs is another:\n{}", ran.stdout);
    // A second run has other addresses and another seed for its hash tables.
    assert_eq!(generated(&["Stock"]).stdout, expected);
    let notes: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(
        notes,
        [
            "note: com.vendor.Gone is not there: its values are java::Value",
            "note: com.vendor.GoneException is not there: of its fields, only the message is known",
            "note: java.lang.AutoCloseable is not there: its methods are left out",
            "note: com.vendor.Base, a superclass of com.acme.shop.Foreign, is not there: its fields \
             are missing",
        ]
    );
}

#[test]
fn choices_are_written() {
    let choices = "Repository --nullable-elements --open-enums --group blue --version 1.0";
    let ran = generated(&choices.split_whitespace().collect::<Vec<_>>());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let expected = fs::read_to_string(here("repository.rs")).unwrap();
    assert!(ran.stdout == expected, "gen/repository.rs is another:\n{}", ran.stdout);
    let elements = generated(&["Stock", "--nullable-elements"]).stdout;
    assert!(elements.contains("pub grid: Option<Vec<Option<Vec<i64>>>>,"), "{elements}");
    assert!(elements.contains("pub ranks: Option<java::Map<i64, Option<i32>>>,"), "{elements}");
}

#[test]
fn a_jar_is_as_good_as_a_directory() {
    let expected = fs::read_to_string(here("stock.rs")).unwrap();
    let directory = tempfile::tempdir().unwrap();
    for prefix in ["", "BOOT-INF/classes/", "WEB-INF/classes/"] {
        let path = directory.path().join("stock-api.jar");
        jar(&path, prefix);
        let out = directory.path().join("stock.rs");
        let (path, out) = (path.to_str().unwrap(), out.to_str().unwrap());
        let ran = equipoise(&["gen", path, "com.acme.shop.Stock", "--out", out]);
        assert_eq!((ran.code, &*ran.stdout), (Some(0), ""), "{}", ran.stderr);
        let written = fs::read_to_string(out).unwrap();
        assert!(written.starts_with("//! Written by `equipoise gen` from `stock-api.jar`.\n"));
        assert_eq!(body(&written), body(&expected), "{prefix}");
    }
}

#[test]
fn types_may_come_from_another_jar() {
    let directory = tempfile::tempdir().unwrap();
    let alone = directory.path().join("com/acme/shop");
    fs::create_dir_all(&alone).unwrap();
    let from = here("classes/com/acme/shop/Stock.class");
    let to = alone.join("Stock.class");
    fs::copy(from, &to).unwrap();
    let rest = directory.path().join("rest.jar");
    jar(&rest, "");
    // The class file is the interface, and says where its package starts.
    let to = to.to_str().unwrap();
    let ran = equipoise(&["gen", to, "--classpath", rest.to_str().unwrap()]);
    let expected = fs::read_to_string(here("stock.rs")).unwrap();
    assert_eq!(body(&ran.stdout), body(&expected), "{}", ran.stderr);
    let ran = equipoise(&["gen", to]);
    assert!(ran.stderr.contains("note: com.acme.shop.Order is not there"), "{}", ran.stderr);
    assert!(ran.stdout.contains("#[java(type = \"com.acme.shop.Order\")] order: java::Value"));
}

#[test]
fn several_interfaces_share_their_types() {
    let ran = generated(&["Stock", "Repository", "Stock"]);
    assert_eq!(ran.stdout.matches("pub trait ").count(), 2);
    assert_eq!(ran.stdout.matches("pub struct ShopException ").count(), 1);
}

#[test]
fn what_is_written_is_formatted() {
    for name in ["stock.rs", "repository.rs"] {
        let done = Command::new("rustfmt")
            .args(["--check", "--edition", "2024", "--config-path", "/dev/null", &here(name)])
            .output();
        // Not every toolchain has it.
        let Ok(done) = done else { continue };
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    }
}

#[test]
fn what_cannot_be_read_is_said_in_one_line() {
    let classes = here("classes");
    for (line, code, words) in [
        (format!("gen {classes}"), 2, &["which interface", "com.acme.shop.Stock"][..]),
        (format!("gen {classes} Sto"), 1, &["no class Sto", "com.acme.shop.Stock"]),
        (format!("gen {classes} com.acme.shop.Nothing"), 1, &["no class com.acme.shop.Nothing"]),
        (format!("gen {classes} com.acme.shop.Order"), 1, &["Order is not an interface"]),
        (format!("gen {classes} Item"), 1, &["com.acme.billing.Item, com.acme.shop.Item"]),
        (format!("gen {classes} ../../x"), 1, &["no class"]),
        (format!("gen {}", here("build.sh")), 1, &["build.sh", "neither a directory"]),
        (format!("gen {} X", here("nowhere")), 1, &["nowhere", "No such file"]),
        ("gen".to_owned(), 2, &["JAR|CLASSES"]),
    ] {
        let ran = run(&line);
        assert_eq!((ran.code, &*ran.stdout), (Some(code), ""), "{line}: {ran:#?}");
        for word in words {
            assert!(ran.error().contains(word), "{line}: no {word:?} in {:?}", ran.error());
        }
    }
}

#[test]
fn a_broken_file_is_named_with_the_offset() {
    let directory = tempfile::tempdir().unwrap();
    let whole = fs::read(here("classes/com/acme/shop/Shape.class")).unwrap();
    let path = directory.path().join("Shape.class");
    let shown = path.to_str().unwrap();
    for (bytes, words) in [
        (&whole[..60], "the file ends too early (offset"),
        (&[&whole[..], b"x"].concat()[..], "there are bytes left over (offset 126)"),
        (b"\xCA\xFE\xBA\xBE\0\0\0\x3D\0\x02\x63", "no constant has the kind 99 (offset 10)"),
        (b"nothing", "this is no class file (offset 0)"),
    ] {
        fs::write(&path, bytes).unwrap();
        let ran = equipoise(&["gen", shown]);
        assert_eq!(ran.code, Some(1), "{ran:#?}");
        assert!(ran.error().starts_with(shown) && ran.error().contains(words), "{}", ran.error());
    }
    // Nor is a file read as a class that it does not hold.
    let wrong = directory.path().join("com/acme");
    fs::create_dir_all(&wrong).unwrap();
    fs::write(wrong.join("Form.class"), &whole).unwrap();
    let ran = equipoise(&["gen", directory.path().to_str().unwrap(), "com.acme.Form"]);
    assert!(ran.error().contains("holds com.acme.shop.Shape, not com.acme.Form"), "{ran:#?}");
    let jar = directory.path().join("broken.jar");
    fs::write(&jar, b"PK\x03\x04 and nothing else").unwrap();
    let ran = equipoise(&["gen", jar.to_str().unwrap(), "X"]);
    assert!(ran.error().contains("broken.jar"), "{ran:#?}");
}
