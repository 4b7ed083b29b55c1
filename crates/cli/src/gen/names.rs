//! Java's names as Rust has them, and whether the way back is the one that `equipoise`'s macros take.

use std::collections::HashSet;

/// A field, method or parameter: `userId` is `user_id`, `URLPath` is `url_path`.
pub(crate) fn snake(java: &str) -> String {
    let mut snake = String::with_capacity(java.len() + 4);
    let chars: Vec<char> = java.chars().collect();
    for (at, &c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| chars.get(at));
        let after = chars.get(at + 1);
        let word = c.is_uppercase()
            && before.is_some_and(|b| {
                b.is_lowercase()
                    || b.is_numeric()
                    || (b.is_uppercase() && after.is_some_and(|a| a.is_lowercase()))
            });
        if word && !snake.ends_with('_') {
            snake.push('_');
        }
        push(&mut snake, c, |c, snake| snake.extend(c.to_lowercase()));
    }
    identifier(snake.trim_matches('_'), "field")
}

/// A type: `order_line` is `OrderLine`, `URLPath` stays.
pub(crate) fn camel(java: &str) -> String {
    let mut camel = String::with_capacity(java.len());
    let mut upper = true;
    for c in java.chars() {
        match c {
            '_' | '$' => upper = true,
            c if upper => {
                push(&mut camel, c, |c, camel| camel.extend(c.to_uppercase()));
                upper = false;
            }
            c => push(&mut camel, c, |c, camel| camel.push(c)),
        }
    }
    identifier(&camel, "Type")
}

/// A constant of an enum: `VERY_HIGH` is `VeryHigh`.
pub(crate) fn variant(java: &str) -> String {
    let mut variant = String::with_capacity(java.len());
    for word in java.split(['_', '$']) {
        // Shouted words come down; `mixedCase` keeps its capitals.
        let shouted = !word.chars().any(char::is_lowercase);
        for (at, c) in word.chars().enumerate() {
            push(&mut variant, c, |c, variant| match (at, shouted) {
                (0, _) => variant.extend(c.to_uppercase()),
                (_, true) => variant.extend(c.to_lowercase()),
                (_, false) => variant.push(c),
            });
        }
    }
    identifier(&variant, "Constant")
}

/// A `const`: `maxCount` is `MAX_COUNT`.
pub(crate) fn shouted(java: &str) -> String {
    let snake = if java.chars().any(char::is_lowercase) { snake(java) } else { java.to_owned() };
    let snake = snake.strip_prefix("r#").unwrap_or(&snake);
    let mut shouted = String::with_capacity(snake.len());
    for c in snake.chars() {
        push(&mut shouted, c, |c, shouted| shouted.extend(c.to_uppercase()));
    }
    identifier(shouted.trim_matches('_'), "CONSTANT")
}

/// Whether the macros make `java` of the name of a field, method or parameter.
pub(crate) fn is_lower_camel(rust: &str, java: &str) -> bool {
    let rust = rust.strip_prefix("r#").unwrap_or(rust);
    let mut camel = String::with_capacity(java.len());
    let mut upper = false;
    for c in rust.trim_start_matches('_').chars() {
        match c {
            '_' => upper = true,
            c if upper => {
                camel.extend(c.to_uppercase());
                upper = false;
            }
            c => camel.push(c),
        }
    }
    camel == java
}

/// Whether the macros make `java` of the name of a variant.
pub(crate) fn is_upper_snake(rust: &str, java: &str) -> bool {
    let rust = rust.strip_prefix("r#").unwrap_or(rust);
    let mut constant = String::with_capacity(java.len());
    let mut before_lower = false;
    for c in rust.chars() {
        if c.is_uppercase() && before_lower {
            constant.push('_');
        }
        before_lower = c.is_lowercase() || c.is_ascii_digit();
        constant.extend(c.to_uppercase());
    }
    constant == java
}

/// Adds what Rust takes in a name; the rest becomes `_`.
fn push(name: &mut String, c: char, add: impl FnOnce(char, &mut String)) {
    if c == '_' || unicode_ident::is_xid_continue(c) {
        add(c, name);
    } else {
        name.push('_');
    }
}

/// Makes a name one that Rust takes.
fn identifier(name: &str, otherwise: &str) -> String {
    let first = name.chars().next();
    if !name.chars().any(|c| c != '_') {
        return otherwise.to_owned();
    }
    // A trailing line goes away on the way back to Java; `r#` is not allowed for these four.
    if ["self", "Self", "super", "crate"].contains(&name) {
        return format!("{name}_");
    }
    if KEYWORDS.contains(&name) {
        return format!("r#{name}");
    }
    if first.is_some_and(|c| c == '_' || unicode_ident::is_xid_start(c)) {
        name.to_owned()
    } else {
        format!("_{name}")
    }
}

const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

/// Names that are taken in one scope.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope(HashSet<String>);

impl Scope {
    /// A scope in which some names are taken from the start.
    pub(crate) fn with(taken: &[&str]) -> Self {
        Self(taken.iter().map(|&name| name.to_owned()).collect())
    }

    /// Takes the first name that is free, or the last one with a number.
    pub(crate) fn take(&mut self, wanted: impl IntoIterator<Item = String>) -> String {
        let mut last = String::new();
        for name in wanted {
            if self.0.insert(name.clone()) {
                return name;
            }
            last = name;
        }
        let bare = last.strip_prefix("r#").unwrap_or(&last).to_owned();
        let is_type = bare.starts_with(char::is_uppercase) && bare.contains(char::is_lowercase);
        let between = if is_type { "" } else { "_" };
        let numbered = (2u32..).map(|n| format!("{bare}{between}{n}"));
        let mut free = numbered.filter(|name| self.0.insert(name.clone()));
        free.next().unwrap_or(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_those_of_rust() {
        for (java, rust) in [
            ("userId", "user_id"),
            ("URLPath", "url_path"),
            ("URL", "url"),
            ("item2Name", "item2_name"),
            ("type", "r#type"),
            ("self", "self_"),
            ("_hidden", "hidden"),
            ("a$b", "a_b"),
            ("über", "über"),
            ("MAX_COUNT", "max_count"),
            ("€", "field"),
            ("2x", "_2x"),
        ] {
            assert_eq!(snake(java), rust, "{java}");
        }
        for (java, rust) in
            [("order_line", "OrderLine"), ("URL", "URL"), ("Self", "Self_"), ("$", "Type")]
        {
            assert_eq!(camel(java), rust, "{java}");
        }
        for (java, rust) in [
            ("VERY_HIGH", "VeryHigh"),
            ("mixedCase", "MixedCase"),
            ("A1_B", "A1B"),
            ("_", "Constant"),
        ] {
            assert_eq!(variant(java), rust, "{java}");
        }
        assert_eq!((shouted("maxCount"), shouted("BIG")), ("MAX_COUNT".into(), "BIG".into()));
    }

    #[test]
    fn it_is_known_which_names_come_back_as_they_were() {
        for (rust, java, same) in [
            ("user_id", "userId", true),
            ("r#type", "type", true),
            ("self_", "self", true),
            ("url_path", "URLPath", false),
            ("hidden", "_hidden", false),
        ] {
            assert_eq!(is_lower_camel(rust, java), same, "{java}");
        }
        for (rust, java, same) in [
            ("VeryHigh", "VERY_HIGH", true),
            ("MixedCase", "mixedCase", false),
            ("A1B", "A1_B", true),
            ("Self_", "SELF", false),
        ] {
            assert_eq!(is_upper_snake(rust, java), same, "{java}");
        }
    }

    #[test]
    fn a_name_is_given_once() {
        let mut scope = Scope::with(&["Result"]);
        let mut take = |all: &[&str]| scope.take(all.iter().map(|&n| n.to_owned()));
        assert_eq!(take(&["Result", "AcmeResult"]), "AcmeResult");
        assert_eq!(take(&["r#type"]), "r#type");
        assert_eq!(take(&["r#type"]), "type_2");
        assert_eq!(take(&["r#type"]), "type_3");
        assert_eq!(take(&["Result"]), "Result2");
    }
}
