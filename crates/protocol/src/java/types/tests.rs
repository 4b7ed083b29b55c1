use proptest::prelude::*;

use super::*;

/// Source form, class name, descriptor, type of a list.
const TABLE: &[(&str, &str, &str, Option<&str>)] = &[
    ("int", "int", "I", None),
    ("boolean", "boolean", "Z", None),
    ("byte", "byte", "B", None),
    ("char", "char", "C", None),
    ("short", "short", "S", None),
    ("long", "long", "J", None),
    ("float", "float", "F", None),
    ("double", "double", "D", None),
    ("java.lang.String", "java.lang.String", "Ljava/lang/String;", None),
    ("Plain", "Plain", "LPlain;", None),
    ("com.acme.Order$Line", "com.acme.Order$Line", "Lcom/acme/Order$Line;", None),
    ("int[]", "[I", "[I", Some("[int")),
    ("byte[][]", "[[B", "[[B", Some("[[byte")),
    ("java.lang.String[]", "[Ljava.lang.String;", "[Ljava/lang/String;", Some("[string")),
    ("java.lang.Object[]", "[Ljava.lang.Object;", "[Ljava/lang/Object;", Some("[object")),
    ("java.util.Date[]", "[Ljava.util.Date;", "[Ljava/util/Date;", Some("[date")),
    ("com.acme.Größe[]", "[Lcom.acme.Größe;", "[Lcom/acme/Größe;", Some("[com.acme.Größe")),
];

#[test]
fn every_form_is_read_and_written() {
    for (source, class, jvm, list_type) in TABLE {
        let ty = JavaType::parse(source).unwrap();
        assert_eq!(JavaType::parse(class).unwrap(), ty, "{class}");
        assert_eq!(parse_descriptor(jvm).unwrap(), std::slice::from_ref(&ty), "{jvm}");
        assert_eq!(ty.to_string(), *source);
        assert_eq!(ty.class_name(), *class);
        assert_eq!(ty.descriptor(), *jvm);
        assert_eq!(ty.list_type().as_deref(), *list_type);
    }
}

#[test]
fn lists_are_read_in_every_form() {
    let jvm = |text: &str| descriptor(&parse_list(text).unwrap());
    assert_eq!(jvm("java.lang.String,int"), "Ljava/lang/String;I");
    assert_eq!(jvm("(java.lang.String , [I, long[])"), "Ljava/lang/String;[I[J");
    assert_eq!((jvm(""), jvm("()"), jvm(" ")), Default::default());
    let types = parse_descriptor("Ljava/lang/String;I[[Lcom/acme/A;[Z").unwrap();
    assert_eq!(list(&types), "java.lang.String,int,com.acme.A[][],boolean[]");
    assert_eq!(parameters("Ljava/lang/String;I[[Lcom/acme/A;[Z"), 4);
    assert_eq!((parameters(""), parameters("IIX")), (0, 2));
}

#[test]
fn errors_name_text_and_place() {
    for (text, offset, reason) in [
        ("int,,long", 4, "missing"),
        ("int,void", 4, "void"),
        ("java.util.List<java.lang.String>", 14, "erased"),
        ("a..b", 2, "empty"),
        ("a.b.", 3, "empty"),
        ("int, 9a", 5, "digit"),
        ("Ljava/lang/String;", 5, "no class name"),
        ("[Ljava.lang.String", 1, "';'"),
        ("[", 1, "missing"),
        ("[X", 1, "letter"),
        ("int,[II", 6, "follows"),
        ("a b", 1, "no class name"),
    ] {
        let error = parse_list(text).unwrap_err();
        assert_eq!((error.text.as_str(), error.offset), (text, offset), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
    for (text, offset, reason) in [
        ("IV", 1, "void"),
        ("I[", 2, "missing"),
        ("Lcom/acme/A", 0, "';'"),
        ("Lcom.acme.A;", 4, "no class name"),
        ("IQ", 1, "letter"),
        ("L;", 1, "missing"),
    ] {
        let error = parse_descriptor(text).unwrap_err();
        assert_eq!((error.text.as_str(), error.offset), (text, offset), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
    let deep = "[".repeat(256) + "I";
    assert!(parse_descriptor(&deep).unwrap_err().reason.contains("255"));
    assert!(JavaType::parse(&format!("int{}", "[]".repeat(256))).is_err());
    assert!(JavaType::parse(&"é,".repeat(1000)).unwrap_err().text.len() <= SHOWN);
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,60}", near in "[LIVa/.;\\[\\],() ]{0,20}") {
        for text in [&text, &near] {
            let _ = parse_list(text);
            let count = parameters(text);
            if let Ok(types) = parse_descriptor(text) {
                prop_assert_eq!(types.len(), count);
                prop_assert_eq!(&descriptor(&types), text);
                prop_assert_eq!(parse_list(&list(&types)).unwrap(), types);
            }
        }
    }
}
