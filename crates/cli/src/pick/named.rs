//! `ADDRESS=VALUE`: what an option says about one endpoint. Text in, values out.

use equipoise::core::measure::adaptive::Report;

/// Attempts in flight at an endpoint.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Active {
    pub(crate) address: String,
    pub(crate) count: u32,
}

/// Earlier answers of an endpoint.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) address: String,
    pub(crate) micros: i64,
    pub(crate) times: u32,
}

/// An endpoint's report about its load.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LoadReport {
    pub(crate) address: String,
    pub(crate) text: String,
}

/// Each attempt in flight is an open ticket.
const MOST_ACTIVE: u32 = 100_000;

/// Each sample is one attempt that is counted in and out.
const MOST_SAMPLES: u32 = 1_000_000;

/// Longest response time in ms: one hour.
pub(crate) const LONGEST_MS: f64 = 3_600_000.0;

/// Reads `ADDRESS=N`.
pub(crate) fn active(text: &str) -> Result<Active, String> {
    let (address, count) = cut(text, "ADDRESS=N")?;
    match count.parse() {
        Ok(count) if count <= MOST_ACTIVE => Ok(Active { address, count }),
        _ => Err(format!("{count:?} is not a whole number from 0 to {MOST_ACTIVE}")),
    }
}

/// Reads `ADDRESS=MS[xN]`.
pub(crate) fn sample(text: &str) -> Result<Sample, String> {
    let (address, value) = cut(text, "ADDRESS=MS or ADDRESS=MSxN")?;
    let (ms, times) = value.split_once('x').unwrap_or((&value, "1"));
    let ms = match ms.parse::<f64>() {
        Ok(ms) if (0.0..=LONGEST_MS).contains(&ms) => ms,
        _ => return Err(format!("{ms:?} is not a number of ms from 0 to {LONGEST_MS}")),
    };
    match times.parse() {
        Ok(times) if (1..=MOST_SAMPLES).contains(&times) => {
            // At most 3.6e9, and not negative.
            Ok(Sample { address, micros: (ms * 1000.0).round() as i64, times })
        }
        _ => Err(format!("{times:?} is not a whole number from 1 to {MOST_SAMPLES}")),
    }
}

/// Reads `ADDRESS=curTime:MS,load:NUMBER`.
pub(crate) fn report(text: &str) -> Result<LoadReport, String> {
    const FORM: &str = "ADDRESS=curTime:MS,load:NUMBER";
    let (address, text) = cut(text, FORM)?;
    match Report::parse(&text).load {
        Some(_) => Ok(LoadReport { address, text }),
        None => Err(format!("{text:?} has no load; write {FORM}")),
    }
}

fn cut(text: &str, form: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((address, value)) if !address.is_empty() => Ok((address.to_owned(), value.to_owned())),
        _ => Err(format!("write {form}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_a_time_and_a_number() {
        let of = |micros, times| Sample { address: "[::1]:20880".to_owned(), micros, times };
        assert_eq!(sample("[::1]:20880=12.5x20"), Ok(of(12_500, 20)));
        assert_eq!(sample("[::1]:20880=3"), Ok(of(3_000, 1)));
        for bad in ["a", "=3", "a=", "a=-1", "a=1x0", "a=1x", "a=NaN", "a=1e99"] {
            assert!(sample(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_report_without_a_load_says_nothing() {
        assert!(report("a:1=curTime:1700000000000,load:12.5").is_ok());
        assert!(report("a:1=curTime:5").is_err());
        assert!(report("a:1=load:-1").is_err());
    }

    #[test]
    fn attempts_in_flight_are_counted() {
        assert_eq!(active("a:1=2").map(|a| a.count), Ok(2));
        assert!(active("a:1=-2").is_err());
        assert!(active("a:1").is_err());
    }
}
