//! Floating-point numbers as Java writes them. Pure text; nothing is allocated.
//!
//! Follows `Double.toString` and `Float.toString` as specified since JDK 19: of the decimals that
//! round to the number, one with the fewest digits, though never fewer than two; of these the
//! nearest, an even last digit where two are equally near. JDK 18 and older print other digits for
//! a few numbers: 2.0E23 as `1.9999999999999998E23`.

use std::fmt::{self, LowerExp, Write};
use std::str::FromStr;

/// Writes a Java `double`.
pub(super) fn write_double(value: f64, sink: &mut dyn Write) -> fmt::Result {
    write_number(value.abs(), value, sink)
}

/// Writes a Java `float`.
pub(super) fn write_float(value: f32, sink: &mut dyn Write) -> fmt::Result {
    write_number(value.abs(), f64::from(value), sink)
}

/// `widened` is the number itself, to ask what it is.
fn write_number<T>(magnitude: T, widened: f64, sink: &mut dyn Write) -> fmt::Result
where
    T: LowerExp + FromStr + PartialEq,
{
    if widened.is_nan() {
        return sink.write_str("NaN");
    }
    if widened.is_sign_negative() {
        sink.write_char('-')?;
    }
    if widened.is_infinite() {
        return sink.write_str("Infinity");
    }
    let mut text = java_choice(magnitude)?;
    let (digits, exponent) = text.take_apart().ok_or(fmt::Error)?;
    write_digits(digits, exponent, sink)
}

/// The decimal that Java chooses, in scientific notation.
fn java_choice<T>(magnitude: T) -> Result<Scratch, fmt::Error>
where
    T: LowerExp + FromStr + PartialEq,
{
    let mut shortest = Scratch::default();
    write!(shortest, "{magnitude:e}")?;
    let after_point = shortest.mantissa().len().saturating_sub(2).max(1);
    // Rust's shortest form rounds a tie up, and stops at one digit where a second may be nearer
    // (5e-324 for Java's 4.9E-324). Rounding the exact value to that many digits, ties to even,
    // mends both. Only just above a power of two, where the gap below is half as wide, can that
    // miss the number; there the shortest form stands.
    let mut nearest = Scratch::default();
    write!(nearest, "{magnitude:.after_point$e}")?;
    let hits = nearest.text().parse().is_ok_and(|back: T| back == magnitude);
    Ok(if hits { nearest } else { shortest })
}

/// Lays digits out: plain from 10^-3 up to, but not including, 10^7, else with an exponent.
fn write_digits(digits: &str, exponent: i32, sink: &mut dyn Write) -> fmt::Result {
    match exponent {
        0..7 => {
            let whole = exponent as usize + 1;
            match digits.split_at_checked(whole) {
                Some((whole, fraction)) if !fraction.is_empty() => {
                    write!(sink, "{whole}.{fraction}")
                }
                _ => write!(sink, "{digits:0<whole$}.0"),
            }
        }
        -3..0 => {
            let zeros = exponent.unsigned_abs() as usize - 1;
            write!(sink, "0.{:0<zeros$}{digits}", "")
        }
        _ => {
            let (first, rest) = digits.split_at_checked(1).ok_or(fmt::Error)?;
            let rest = if rest.is_empty() { "0" } else { rest };
            write!(sink, "{first}.{rest}E{exponent}")
        }
    }
}

/// A positive number in scientific notation, on the stack. The longest is
/// `d.ddddddddddddddddde-308`, 24 bytes.
#[derive(Default)]
struct Scratch {
    bytes: [u8; 32],
    len: usize,
}

impl Scratch {
    fn text(&self) -> &str {
        let written = self.bytes.get(..self.len).unwrap_or_default();
        std::str::from_utf8(written).unwrap_or_default()
    }

    fn mantissa(&self) -> &str {
        self.text().split_once('e').map_or("", |(mantissa, _)| mantissa)
    }

    /// Significant digits without a point and trailing zeros, and the power of ten of the first.
    fn take_apart(&mut self) -> Option<(&str, i32)> {
        let exponent = self.text().split_once('e')?.1.parse().ok()?;
        let end = self.mantissa().len();
        // The first digit moves onto the point, so that the digits lie side by side.
        let start = usize::from(end > 1);
        self.bytes.copy_within(0..1, start);
        let digits = self.text().get(start..end)?;
        let significant = digits.trim_end_matches('0').len().max(1);
        Some((digits.get(..significant)?, exponent))
    }
}

impl Write for Scratch {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}
