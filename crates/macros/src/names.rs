//! From Rust's names to Java's.

/// `user_id` is `userId`; a raw identifier loses its mark.
pub(crate) fn lower_camel(name: &str) -> String {
    let name = name.strip_prefix("r#").unwrap_or(name);
    let mut camel = String::with_capacity(name.len());
    let mut upper = false;
    for c in name.trim_start_matches('_').chars() {
        match c {
            '_' => upper = true,
            c if upper => {
                camel.extend(c.to_uppercase());
                upper = false;
            }
            c => camel.push(c),
        }
    }
    camel
}

/// `VeryHigh` is `VERY_HIGH`.
pub(crate) fn constant(name: &str) -> String {
    let name = name.strip_prefix("r#").unwrap_or(name);
    let mut constant = String::with_capacity(name.len() + 4);
    let mut before_lower = false;
    for c in name.chars() {
        if c.is_uppercase() && before_lower {
            constant.push('_');
        }
        before_lower = c.is_lowercase() || c.is_ascii_digit();
        constant.extend(c.to_uppercase());
    }
    constant
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_methods_are_lower_camel() {
        for (rust, java) in
            [("user_id", "userId"), ("id", "id"), ("r#type", "type"), ("_a_b2_c", "aB2C")]
        {
            assert_eq!(lower_camel(rust), java);
        }
    }

    #[test]
    fn constants_are_upper_snake() {
        for (rust, java) in [("High", "HIGH"), ("VeryHigh", "VERY_HIGH"), ("V2Beta", "V2_BETA")] {
            assert_eq!(constant(rust), java);
        }
    }
}
