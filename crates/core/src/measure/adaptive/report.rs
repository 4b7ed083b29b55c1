//! The report that a provider attaches to its answer as `lb_adaptive`:
//! `curTime:1700000000000,load:12.5`. Text in, numbers out; unusable text is never an error.

/// What a provider says about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// The provider's time, ms since the epoch; 0 if it is missing or no number.
    pub provider_time: i64,
    /// Load average × 100 ÷ processors: finite, not negative, above 100 while work is waiting.
    /// `None` if it is missing or no number.
    pub load: Option<f64>,
}

impl Report {
    /// Reads `key:value` pairs between commas; pairs without exactly one colon are skipped, the
    /// last of equal keys counts. The time is digits only, the load digits with at most one point.
    /// So `-1` (a platform that has no load average), `NaN`, `inf` and `1.0E-4` are no loads.
    pub fn parse(text: &str) -> Report {
        let mut report = Report::default();
        for pair in text.split(',') {
            let Some((key, value)) = pair.trim().split_once(':') else { continue };
            match key {
                _ if value.contains(':') => {}
                "curTime" => report.provider_time = number(value).unwrap_or(0),
                "load" => report.load = decimal(value),
                _ => {}
            }
        }
        report
    }
}

fn number(text: &str) -> Option<i64> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

fn decimal(text: &str) -> Option<f64> {
    let digits = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    // More digits than a double can hold are infinite.
    text.parse().ok().filter(|load: &f64| digits && load.is_finite())
}
