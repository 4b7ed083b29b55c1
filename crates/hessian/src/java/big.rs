//! Numbers of any size: `BigDecimal` as its text, `BigInteger` as sign and magnitude.

use std::fmt;
use std::str::FromStr;

use ::serde::{Deserialize, Serialize};

use crate::java::text::{ParseError, wire_and_text};

/// `java.math.BigDecimal`: its decimal text, digits and scale as they are (`123.4500`). For
/// arithmetic, hand the text to a crate for decimals.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct BigDecimal(String);

impl BigDecimal {
    /// The decimal text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for BigDecimal {
    fn default() -> Self {
        Self("0".to_owned())
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename = "java.math.BigDecimal", default)]
struct DecimalWire {
    value: String,
}

impl From<BigDecimal> for DecimalWire {
    fn from(it: BigDecimal) -> Self {
        Self { value: it.0 }
    }
}

impl TryFrom<DecimalWire> for BigDecimal {
    type Error = ParseError;

    fn try_from(wire: DecimalWire) -> Result<Self, ParseError> {
        wire.value.parse()
    }
}

wire_and_text!(BigDecimal, DecimalWire);

impl fmt::Display for BigDecimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for BigDecimal {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || ParseError::new(text, "decimal such as -123.45 or 1E+3");
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, Some(exponent)),
            None => (text, None),
        };
        let digits = number.strip_prefix(['+', '-']).unwrap_or(number);
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let some = !whole.is_empty() || !fraction.is_empty();
        let power = exponent.is_none_or(|exponent| exponent.parse::<i32>().is_ok());
        if some && plain(whole) && plain(fraction) && power {
            Ok(Self(text.to_owned()))
        } else {
            Err(wrong())
        }
    }
}

/// `java.math.BigInteger`: sign and magnitude.
#[derive(Clone, Debug, Default, Eq, PartialEq, Hash)]
pub struct BigInteger {
    negative: bool,
    /// Most significant first, without leading zeros; empty is 0.
    magnitude: Vec<u32>,
}

impl BigInteger {
    /// From sign and magnitude, the most significant part first.
    pub fn new(negative: bool, magnitude: Vec<u32>) -> Self {
        let zeros = magnitude.iter().take_while(|part| **part == 0).count();
        let magnitude: Vec<u32> = magnitude.into_iter().skip(zeros).collect();
        Self { negative: negative && !magnitude.is_empty(), magnitude }
    }

    /// Whether it is below 0.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// The magnitude, the most significant part first.
    pub fn magnitude(&self) -> &[u32] {
        &self.magnitude
    }
}

impl From<i64> for BigInteger {
    fn from(value: i64) -> Self {
        let size = value.unsigned_abs();
        Self::new(value < 0, vec![(size >> 32) as u32, size as u32])
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename = "java.math.BigInteger", default)]
struct IntegerWire {
    mag: Magnitude,
    #[serde(rename = "firstNonzeroIntNumPlusTwo")]
    first_nonzero: i32,
    #[serde(rename = "lowestSetBitPlusTwo")]
    lowest_set: i32,
    #[serde(rename = "bitLengthPlusOne")]
    bit_length: i32,
    #[serde(rename = "bitCountPlusOne")]
    bit_count: i32,
    signum: i32,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename = "$list:[int")]
struct Magnitude(Vec<i32>);

impl From<BigInteger> for IntegerWire {
    fn from(it: BigInteger) -> Self {
        let signum = match (it.magnitude.is_empty(), it.negative) {
            (true, _) => 0,
            (false, negative) => 1 - 2 * i32::from(negative),
        };
        // Java's ints are the same 32 bits.
        let mag = Magnitude(it.magnitude.into_iter().map(u32::cast_signed).collect());
        Self { mag, signum, ..Self::default() }
    }
}

impl From<IntegerWire> for BigInteger {
    fn from(wire: IntegerWire) -> Self {
        Self::new(wire.signum < 0, wire.mag.0.into_iter().map(i32::cast_unsigned).collect())
    }
}

wire_and_text!(BigInteger, IntegerWire);

/// Decimal digits are worked on nine at a time.
const NINE_DIGITS: u64 = 1_000_000_000;

impl fmt::Display for BigInteger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut left = self.magnitude.clone();
        let mut groups = Vec::new();
        while left.iter().any(|part| *part != 0) {
            let mut rest = 0;
            for part in &mut left {
                let value = rest << 32 | u64::from(*part);
                *part = (value / NINE_DIGITS) as u32;
                rest = value % NINE_DIGITS;
            }
            groups.push(rest);
        }
        if self.negative {
            f.write_str("-")?;
        }
        write!(f, "{}", groups.pop().unwrap_or(0))?;
        groups.iter().rev().try_for_each(|group| write!(f, "{group:09}"))
    }
}

impl FromStr for BigInteger {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        // The work grows with the square of the digits.
        if !plain || digits.len() > 10_000 {
            return Err(ParseError::new(text, "whole number of at most 10000 digits"));
        }
        // The least significant part first while it grows.
        let mut parts: Vec<u32> = Vec::new();
        for digit in digits.bytes() {
            let mut carry = u64::from(digit - b'0');
            for part in &mut parts {
                let value = u64::from(*part) * 10 + carry;
                *part = value as u32;
                carry = value >> 32;
            }
            if carry > 0 {
                parts.push(carry as u32);
            }
        }
        parts.reverse();
        Ok(Self::new(text.starts_with('-'), parts))
    }
}
