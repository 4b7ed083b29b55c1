//! JSON text to the arguments of a call, in the text forms that the hash key of Java has.

use equipoise::Argument;
use serde_json::Value;

/// One argument from JSON text. An integer of any length keeps its digits.
///
/// # Errors
/// The text is no JSON.
pub(crate) fn argument(text: &str) -> Result<Argument, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        format!("not JSON ({error}); a text needs quotation marks: '\"user-1\"'")
    })?;
    let digits = text.trim();
    let bare = digits.strip_prefix('-').unwrap_or(digits);
    if value.is_f64() && bare.bytes().all(|b| b.is_ascii_digit()) {
        return Ok(Argument::Text(if bare == "0" { bare } else { digits }.to_owned()));
    }
    Ok(of(value))
}

fn of(value: Value) -> Argument {
    match value {
        Value::Null => Argument::Null,
        Value::Bool(b) => Argument::Bool(b),
        Value::Number(n) => match (n.as_i64(), n.as_u64(), n.as_f64()) {
            (Some(i), _, _) => Argument::Int(i),
            (None, Some(u), _) => Argument::UInt(u),
            (None, None, Some(d)) => Argument::Double(d),
            (None, None, None) => Argument::Text(n.to_string()),
        },
        Value::String(s) => Argument::Text(s),
        Value::Array(all) => Argument::List(all.into_iter().map(of).collect()),
        Value::Object(all) => {
            Argument::Map(all.into_iter().map(|(k, v)| (Argument::Text(k), of(v))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_have_the_text_forms_of_java() {
        for (json, text) in [
            ("\"user-1\"", "user-1"),
            ("null", "null"),
            ("true", "true"),
            ("-7", "-7"),
            ("-0", "0"),
            ("18446744073709551615", "18446744073709551615"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("1.0", "1.0"),
            ("1e10", "1.0E10"),
            ("[1, \"a\"]", "[1, a]"),
            ("{\"k\": 1, \"a\": [2]}", "{k=1, a=[2]}"),
        ] {
            assert_eq!(argument(json).unwrap().to_string(), text, "{json}");
        }
        assert!(argument("user-1").unwrap_err().contains("quotation marks"));
    }
}
