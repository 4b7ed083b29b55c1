//! Dates and times as ISO 8601 text, in the forms that `toString()` of the classes in `java.time` prints
//! and `parse` of them reads. Pure; the wire form is [`handles`](super::handles)' matter.
//!
//! # References
//!
//! ISO 8601; RFC 3339; H. Hinnant, *chrono-Compatible Low-Level Date Algorithms* (days and civil
//! dates); `java.time`.

use std::fmt;

pub(crate) mod parse;
#[cfg(test)]
mod tests;

/// Largest year of `java.time`, either way.
const MOST_YEARS: i64 = 999_999_999;

/// A day of the calendar.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Date {
    pub(crate) year: i32,
    pub(crate) month: i32,
    pub(crate) day: i32,
}

/// A time of the day.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Time {
    pub(crate) hour: i32,
    pub(crate) minute: i32,
    pub(crate) second: i32,
    pub(crate) nano: i32,
}

/// Seconds east of Greenwich.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Offset(pub(crate) i32);

/// A moment or a length, in seconds (rounded down) and nanoseconds of the last one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Seconds {
    pub(crate) seconds: i64,
    pub(crate) nanos: i32,
}

/// Years, months and days, each of its own.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Period {
    pub(crate) years: i32,
    pub(crate) months: i32,
    pub(crate) days: i32,
}

impl Date {
    /// A day that exists.
    pub(crate) fn new(year: i64, month: i64, day: i64) -> Option<Self> {
        let there = (-MOST_YEARS..=MOST_YEARS).contains(&year)
            && (1..=12).contains(&month)
            && (1..=days_of(year, month)).contains(&day);
        there.then_some(Self { year: year as i32, month: month as i32, day: day as i32 })
    }

    /// Days since 1970-01-01.
    pub(crate) fn days(self) -> i64 {
        let (year, month, day) = (i64::from(self.year), i64::from(self.month), i64::from(self.day));
        // The year begins in March here, so that the day that comes and goes is its last.
        let year = if month <= 2 { year - 1 } else { year };
        let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
    }

    /// The day that many days after 1970-01-01; `None` beyond the years of `java.time`.
    pub(crate) fn of_days(days: i64) -> Option<Self> {
        let days = days.checked_add(719_468)?;
        let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let month = (month + 2) % 12 + 1;
        let year = year + era.checked_mul(400)? + i64::from(month <= 2);
        Self::new(year, month, day)
    }
}

impl Time {
    /// A time that exists.
    pub(crate) fn new(hour: i64, minute: i64, second: i64, nano: i64) -> Option<Self> {
        let there = (0..24).contains(&hour)
            && (0..60).contains(&minute)
            && (0..60).contains(&second)
            && (0..1_000_000_000).contains(&nano);
        there.then_some(Self {
            hour: hour as i32,
            minute: minute as i32,
            second: second as i32,
            nano: nano as i32,
        })
    }

    /// The time that many nanoseconds after midnight.
    pub(crate) fn of_nanos(nanos: i64) -> Option<Self> {
        let (seconds, nano) = (nanos.div_euclid(1_000_000_000), nanos.rem_euclid(1_000_000_000));
        Self::new(seconds / 3600, seconds / 60 % 60, seconds % 60, nano)
    }

    fn seconds(self) -> i64 {
        i64::from(self.hour * 3600 + self.minute * 60 + self.second)
    }
}

impl Offset {
    /// An offset that Java takes: up to 18 hours either way.
    pub(crate) fn new(seconds: i64) -> Option<Self> {
        (-64_800..=64_800).contains(&seconds).then_some(Self(seconds as i32))
    }
}

impl Seconds {
    /// The moment of a time somewhere.
    pub(crate) fn of(date: Date, time: Time, offset: Offset) -> Self {
        let seconds = date.days() * 86_400 + time.seconds() - i64::from(offset.0);
        Self { seconds, nanos: time.nano }
    }

    /// Milliseconds since 1970, as far as they fit.
    pub(crate) fn millis(self) -> Option<i64> {
        self.seconds.checked_mul(1000)?.checked_add(i64::from(self.nanos / 1_000_000))
    }

    /// As a moment in UTC: `2024-01-31T10:15:30Z`. `None` beyond the years of `java.time`.
    pub(crate) fn instant(self) -> Option<String> {
        let date = Date::of_days(self.seconds.div_euclid(86_400))?;
        let second = self.seconds.rem_euclid(86_400);
        let time = Time::new(second / 3600, second / 60 % 60, second % 60, self.nanos.into())?;
        let Time { hour, minute, second, nano } = time;
        Some(format!("{date}T{hour:02}:{minute:02}:{second:02}{}Z", Fraction(nano)))
    }

    /// As a length: `PT8H6M12.345S`.
    pub(crate) fn duration(self) -> String {
        if self.seconds == 0 && self.nanos == 0 {
            return "PT0S".to_owned();
        }
        // Toward zero, so that all parts have one sign.
        let total = i128::from(self.seconds) * 1_000_000_000 + i128::from(self.nanos);
        let (sign, total) = (if total < 0 { "-" } else { "" }, total.unsigned_abs());
        let (seconds, nanos) = (total / 1_000_000_000, total % 1_000_000_000);
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let mut text = "PT".to_owned();
        if hours > 0 {
            text += &format!("{sign}{hours}H");
        }
        if minutes > 0 {
            text += &format!("{sign}{minutes}M");
        }
        if seconds > 0 || nanos > 0 {
            let digits = format!("{nanos:09}");
            let digits = digits.trim_end_matches('0');
            let point = if digits.is_empty() { "" } else { "." };
            text += &format!("{sign}{seconds}{point}{digits}S");
        }
        text
    }
}

/// Days of a month.
fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// A year with at least four digits, and a sign where there are more.
pub(crate) struct Year(pub(crate) i32);

impl fmt::Display for Year {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            year @ 10_000.. => write!(f, "+{year}"),
            year @ 0.. => write!(f, "{year:04}"),
            year => write!(f, "-{:04}", year.unsigned_abs()),
        }
    }
}

/// Nanoseconds as three, six or nine digits, or none.
struct Fraction(i32);

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            nano if nano % 1_000_000 == 0 => write!(f, ".{:03}", nano / 1_000_000),
            nano if nano % 1000 == 0 => write!(f, ".{:06}", nano / 1000),
            nano => write!(f, ".{nano:09}"),
        }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:02}-{:02}", Year(self.year), self.month, self.day)
    }
}

/// Without seconds where they are zero, as `LocalTime` prints it.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.hour, self.minute)?;
        if self.second > 0 || self.nano > 0 {
            write!(f, ":{:02}{}", self.second, Fraction(self.nano))?;
        }
        Ok(())
    }
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, of) = (if self.0 < 0 { '-' } else { '+' }, self.0.unsigned_abs());
        match (of, of % 60) {
            (0, _) => f.write_str("Z"),
            (_, 0) => write!(f, "{sign}{:02}:{:02}", of / 3600, of / 60 % 60),
            (_, second) => write!(f, "{sign}{:02}:{:02}:{second:02}", of / 3600, of / 60 % 60),
        }
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::default() {
            return f.write_str("P0D");
        }
        f.write_str("P")?;
        for (count, unit) in [(self.years, 'Y'), (self.months, 'M'), (self.days, 'D')] {
            if count != 0 {
                write!(f, "{count}{unit}")?;
            }
        }
        Ok(())
    }
}
