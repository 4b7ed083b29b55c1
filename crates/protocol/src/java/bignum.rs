//! Big numbers as decimal text: `BigInteger` has a sign and 32-bit words, the most significant first,
//! on the wire; `BigDecimal` is text there already.

/// Longest text of digits that is converted; the work grows with its square.
const MOST_DIGITS: usize = 10_000;

/// Decimal digits of one step, and what they count to.
const STEP: usize = 9;
const STEP_BASE: u64 = 1_000_000_000;

/// The decimal text; `None` when there are too many words or the sign fits the words badly.
pub(crate) fn to_decimal(signum: i64, words: &[u32]) -> Option<String> {
    // One word has between nine and ten digits.
    if words.len() > MOST_DIGITS / STEP || !(-1..=1).contains(&signum) {
        return None;
    }
    let mut words: Vec<u32> = words.iter().copied().skip_while(|word| *word == 0).collect();
    if (signum == 0) != words.is_empty() {
        return None;
    }
    let mut steps = Vec::new();
    while !words.is_empty() {
        let mut rest = 0_u64;
        for word in &mut words {
            let digit = rest << 32 | u64::from(*word);
            *word = u32::try_from(digit / STEP_BASE).ok()?;
            rest = digit % STEP_BASE;
        }
        steps.push(rest);
        let zeros = words.iter().take_while(|word| **word == 0).count();
        words.drain(..zeros);
    }
    let mut text = if signum < 0 { "-".to_owned() } else { String::new() };
    text += &steps.pop().unwrap_or(0).to_string();
    while let Some(step) = steps.pop() {
        text += &format!("{step:09}");
    }
    Some(text)
}

/// Sign and words of a decimal text; `None` when it is none, or too long.
pub(crate) fn of_decimal(text: &str) -> Option<(i32, Vec<u32>)> {
    let (signum, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty()
        || digits.len() > MOST_DIGITS
        || !digits.bytes().all(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    // Least significant first.
    let mut words: Vec<u32> = Vec::new();
    let (first, rest) = digits.split_at(digits.len() % STEP);
    let steps = rest.as_bytes().chunks(STEP).map(|step| std::str::from_utf8(step).ok());
    for step in
        std::iter::once(Some(first).filter(|first| !first.is_empty())).chain(steps).flatten()
    {
        let mut carry: u64 = step.parse().ok()?;
        for word in &mut words {
            let product = u64::from(*word) * STEP_BASE + carry;
            *word = product as u32;
            carry = product >> 32;
        }
        if carry > 0 {
            words.push(carry as u32);
        }
    }
    words.reverse();
    Some((if words.is_empty() { 0 } else { signum }, words))
}

/// Whether `BigDecimal` reads the text: digits, a point somewhere, an exponent.
pub(crate) fn is_decimal(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, Some(exponent)),
        None => (text, None),
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let exponent = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !exponent.is_empty() && exponent.len() <= 10 && digits(exponent)
    });
    digits(whole) && digits(part) && !(whole.is_empty() && part.is_empty()) && exponent
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_numbers_come_and_go() {
        for (text, signum, words) in [
            ("0", 0, vec![]),
            ("1", 1, vec![1]),
            ("-4294967295", -1, vec![u32::MAX]),
            ("4294967296", 1, vec![1, 0]),
            // As Java has it.
            ("12345678901234567890", 1, vec![0xab54_a98c, 0xeb1f_0ad2]),
            ("1000000000", 1, vec![1_000_000_000]),
        ] {
            assert_eq!(of_decimal(text), Some((signum, words.clone())), "{text}");
            assert_eq!(to_decimal(signum.into(), &words).as_deref(), Some(text));
        }
        assert_eq!(of_decimal("-0"), Some((0, vec![])));
        assert_eq!(of_decimal("+007"), Some((1, vec![7])));
        for text in ["", "-", "1.5", "1e3", "x", "--1"] {
            assert_eq!(of_decimal(text), None, "{text}");
        }
        assert_eq!(of_decimal(&"9".repeat(MOST_DIGITS + 1)), None);
        assert_eq!(to_decimal(1, &vec![1; MOST_DIGITS]), None);
        assert_eq!(
            (to_decimal(0, &[1]), to_decimal(1, &[]), to_decimal(2, &[1])),
            (None, None, None)
        );
    }

    #[test]
    fn decimals_are_those_of_java() {
        for text in ["1", "-1.5", "+.5", "5.", "1E10", "1.5e-3", "0.10"] {
            assert!(is_decimal(text), "{text}");
        }
        for text in ["", ".", "1e", "1.2.3", "0x1", "1 ", "NaN", "-"] {
            assert!(!is_decimal(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_number_survives(text in "-?[1-9][0-9]{0,80}") {
            let (signum, words) = of_decimal(&text).unwrap();
            prop_assert_eq!(to_decimal(signum.into(), &words), Some(text));
        }

        #[test]
        fn arbitrary_input_never_panics(
            text in "\\PC{0,20}",
            signum in -3_i64..4,
            words in prop::collection::vec(any::<u32>(), 0..8),
        ) {
            let _ = (of_decimal(&text), is_decimal(&text));
            let _ = to_decimal(signum, &words);
        }
    }
}
