//! Durations in headers: `grpc-timeout` (number and unit) and `tri-service-timeout`
//! (milliseconds).

use std::time::Duration;

use http::HeaderValue;

/// Most digits that gRPC allows in a timeout.
const MOST: u128 = 99_999_999;

/// The value of `grpc-timeout`: milliseconds, rounded up so that the provider never gives up
/// before we do, and never 0. What does not fit eight digits is sent in a coarser unit.
pub(crate) fn grpc(timeout: Duration) -> HeaderValue {
    let millis = timeout.as_nanos().div_ceil(1_000_000).max(1);
    for (unit, size) in [("m", 1), ("S", 1_000), ("M", 60_000)] {
        let count = millis.div_ceil(size);
        if count <= MOST {
            return text(&format!("{count}{unit}"));
        }
    }
    text(&format!("{}H", millis.div_ceil(3_600_000).min(MOST)))
}

/// The value of `tri-service-timeout`: milliseconds, rounded up, never 0.
pub(crate) fn millis(timeout: Duration) -> HeaderValue {
    text(&timeout.as_nanos().div_ceil(1_000_000).max(1).to_string())
}

/// Reads `grpc-timeout` in any of its units. `None` when it is none of them.
pub(crate) fn parse_grpc(value: &[u8]) -> Option<Duration> {
    let (unit, digits) = value.split_last()?;
    let count = number(digits)?;
    Some(match unit {
        b'H' => Duration::from_secs(count.saturating_mul(3600)),
        b'M' => Duration::from_secs(count.saturating_mul(60)),
        b'S' => Duration::from_secs(count),
        b'm' => Duration::from_millis(count),
        b'u' => Duration::from_micros(count),
        b'n' => Duration::from_nanos(count),
        _ => return None,
    })
}

/// Reads `tri-service-timeout`.
pub(crate) fn parse_millis(value: &[u8]) -> Option<Duration> {
    number(value).map(Duration::from_millis)
}

fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // More digits than fit mean "practically never".
    Some(std::str::from_utf8(digits).ok()?.parse().unwrap_or(u64::MAX))
}

fn text(value: &str) -> HeaderValue {
    // Digits and a letter are always a valid header value.
    HeaderValue::from_str(value).unwrap_or_else(|_| HeaderValue::from_static("1m"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn timeouts_are_rounded_up_and_never_zero() {
        for (timeout, wire) in [
            (Duration::ZERO, "1m"),
            (Duration::from_nanos(1), "1m"),
            (Duration::from_micros(1001), "2m"),
            (Duration::from_secs(5), "5000m"),
            (Duration::from_millis(99_999_999), "99999999m"),
            (Duration::from_millis(100_000_000), "100000S"),
            (Duration::from_secs(100_000_000), "1666667M"),
            (Duration::from_secs(60 * 100_000_000), "1666667H"),
            (Duration::MAX, "99999999H"),
        ] {
            assert_eq!(grpc(timeout), wire, "{timeout:?}");
        }
        assert_eq!(millis(Duration::from_micros(1)), "1");
        assert_eq!(millis(Duration::from_millis(300)), "300");
    }

    #[test]
    fn every_unit_is_read() {
        for (wire, timeout) in [
            ("2H", Duration::from_secs(7200)),
            ("3M", Duration::from_secs(180)),
            ("4S", Duration::from_secs(4)),
            ("5m", Duration::from_millis(5)),
            ("6u", Duration::from_micros(6)),
            ("7n", Duration::from_nanos(7)),
            ("0m", Duration::ZERO),
        ] {
            assert_eq!(parse_grpc(wire.as_bytes()), Some(timeout), "{wire}");
        }
        for wire in ["", "m", "5", "-5m", "+5m", "5.0m", "5 m", "5x", "\u{663}m"] {
            assert_eq!(parse_grpc(wire.as_bytes()), None, "{wire}");
        }
        assert_eq!(parse_millis(b"300"), Some(Duration::from_millis(300)));
        assert_eq!(parse_millis(b"300m"), None);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = (parse_grpc(&bytes), parse_millis(&bytes));
        }

        #[test]
        fn what_is_written_is_read_and_not_shorter(millis in 0u64..u64::MAX / 1_000_000) {
            let timeout = Duration::from_micros(millis);
            let read = parse_grpc(grpc(timeout).as_bytes()).unwrap();
            prop_assert!(read >= timeout);
        }
    }
}
