//! Dates without a time zone: `java.time`'s `LocalDate`, `LocalDateTime`, `Year` and their like.
//!
//! # References
//!
//! Days of the civil calendar: Howard Hinnant, *chrono-Compatible Low-Level Date Algorithms*.

use std::fmt;
use std::str::FromStr;

use ::serde::{Deserialize, Serialize};

use crate::java::LocalTime;
use crate::java::compact::Compact;
use crate::java::text::{ParseError, numbers, wire_and_text};

/// `java.time.LocalDate`. The fields are not checked against the calendar: a peer may send anything.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct LocalDate {
    /// Year.
    pub year: i32,
    /// Month, 1 to 12.
    pub month: i32,
    /// Day of the month, 1 to 31.
    pub day: i32,
}

impl LocalDate {
    /// A date.
    pub fn new(year: i32, month: i32, day: i32) -> Self {
        Self { year, month, day }
    }

    /// The date that many days after 1970-01-01; `None` beyond the years of an `i32`.
    pub fn from_epoch_day(day: i64) -> Option<Self> {
        let shifted = day.checked_add(719_468)?;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Some(Self {
            year: i32::try_from(year).ok()?,
            month: i32::try_from(month).ok()?,
            day: i32::try_from(day).ok()?,
        })
    }

    /// Days after 1970-01-01.
    pub fn to_epoch_day(self) -> i64 {
        let (month, day) = (i64::from(self.month), i64::from(self.day));
        let year = i64::from(self.year) - i64::from(month <= 2);
        let era = year.div_euclid(400);
        let of_era = year.rem_euclid(400);
        let shifted_month = (month + 9).rem_euclid(12);
        let of_year = (153 * shifted_month + 2) / 5 + day - 1;
        era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename = "com.alibaba.com.caucho.hessian.io.java8.LocalDateHandle", default)]
#[derive(Default)]
struct DateHandle {
    day: i32,
    month: i32,
    year: i32,
    /// Of the compact form.
    #[serde(rename = "value", skip_serializing)]
    epoch_day: Option<i64>,
}

impl From<LocalDate> for Compact<DateHandle> {
    fn from(date: LocalDate) -> Self {
        let LocalDate { year, month, day } = date;
        Compact::Handle(DateHandle { day, month, year, epoch_day: None })
    }
}

impl TryFrom<Compact<DateHandle>> for LocalDate {
    type Error = ParseError;

    fn try_from(date: Compact<DateHandle>) -> Result<Self, ParseError> {
        match date {
            Compact::Number(day) | Compact::Handle(DateHandle { epoch_day: Some(day), .. }) => {
                LocalDate::from_epoch_day(day)
                    .ok_or_else(|| ParseError::new(&day.to_string(), "day of a date"))
            }
            Compact::Handle(handle) => Ok(LocalDate::new(handle.year, handle.month, handle.day)),
        }
    }
}

wire_and_text!(LocalDate, Compact<DateHandle>);

impl fmt::Display for LocalDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:02}-{:02}", Year(self.year).padded(), self.month, self.day)
    }
}

impl FromStr for LocalDate {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || ParseError::new(text, "date such as 2026-11-30");
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let [year, month, day] = numbers(digits, '-').ok_or_else(wrong)?;
        let year = i32::try_from(if negative { -year } else { year }).map_err(|_| wrong())?;
        let month = i32::try_from(month).ok().filter(|month| (1..=12).contains(month));
        let date = LocalDate::new(
            year,
            month.ok_or_else(wrong)?,
            i32::try_from(day).map_err(|_| wrong())?,
        );
        let real = LocalDate::from_epoch_day(date.to_epoch_day()) == Some(date);
        if real { Ok(date) } else { Err(wrong()) }
    }
}

/// `java.time.LocalDateTime`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct LocalDateTime {
    /// The date.
    pub date: LocalDate,
    /// The time of the day.
    pub time: LocalTime,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename = "com.alibaba.com.caucho.hessian.io.java8.LocalDateTimeHandle", default)]
struct DateTimeHandle {
    time: LocalTime,
    date: LocalDate,
}

impl From<LocalDateTime> for DateTimeHandle {
    fn from(it: LocalDateTime) -> Self {
        Self { time: it.time, date: it.date }
    }
}

impl From<DateTimeHandle> for LocalDateTime {
    fn from(handle: DateTimeHandle) -> Self {
        Self { date: handle.date, time: handle.time }
    }
}

wire_and_text!(LocalDateTime, DateTimeHandle);

impl fmt::Display for LocalDateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}T{}", self.date, self.time)
    }
}

impl FromStr for LocalDateTime {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || ParseError::new(text, "date and time such as 2026-11-30T08:15:00");
        let (date, time) = text.split_once('T').ok_or_else(wrong)?;
        let date = date.parse().map_err(|_| wrong())?;
        Ok(Self { date, time: time.parse().map_err(|_| wrong())? })
    }
}

/// `java.time.Year`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct Year(pub i32);

impl Year {
    /// With at least four digits, and a sign where Java has one.
    fn padded(self) -> String {
        match self.0 {
            year @ 0..=9999 => format!("{year:04}"),
            year if year < 0 => format!("-{:04}", year.unsigned_abs()),
            year => format!("+{year}"),
        }
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename = "com.alibaba.com.caucho.hessian.io.java8.YearHandle", default)]
struct YearHandle {
    year: i32,
}

impl From<Year> for YearHandle {
    fn from(year: Year) -> Self {
        Self { year: year.0 }
    }
}

impl From<YearHandle> for Year {
    fn from(handle: YearHandle) -> Self {
        Self(handle.year)
    }
}

wire_and_text!(Year, YearHandle);

impl fmt::Display for Year {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl FromStr for Year {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        text.parse().map(Self).map_err(|_| ParseError::new(text, "year such as 2026"))
    }
}

/// `java.time.YearMonth`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct YearMonth {
    /// Year.
    pub year: i32,
    /// Month, 1 to 12.
    pub month: i32,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename = "com.alibaba.com.caucho.hessian.io.java8.YearMonthHandle", default)]
struct YearMonthHandle {
    year: i32,
    month: i32,
}

impl From<YearMonth> for YearMonthHandle {
    fn from(it: YearMonth) -> Self {
        Self { year: it.year, month: it.month }
    }
}

impl From<YearMonthHandle> for YearMonth {
    fn from(handle: YearMonthHandle) -> Self {
        Self { year: handle.year, month: handle.month }
    }
}

wire_and_text!(YearMonth, YearMonthHandle);

impl fmt::Display for YearMonth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:02}", Year(self.year).padded(), self.month)
    }
}

impl FromStr for YearMonth {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || ParseError::new(text, "month such as 2026-11");
        let date: LocalDate = format!("{text}-01").parse().map_err(|_| wrong())?;
        Ok(Self { year: date.year, month: date.month })
    }
}

/// `java.time.MonthDay`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct MonthDay {
    /// Month, 1 to 12.
    pub month: i32,
    /// Day of the month, 1 to 31.
    pub day: i32,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename = "com.alibaba.com.caucho.hessian.io.java8.MonthDayHandle", default)]
struct MonthDayHandle {
    month: i32,
    day: i32,
}

impl From<MonthDay> for MonthDayHandle {
    fn from(it: MonthDay) -> Self {
        Self { month: it.month, day: it.day }
    }
}

impl From<MonthDayHandle> for MonthDay {
    fn from(handle: MonthDayHandle) -> Self {
        Self { month: handle.month, day: handle.day }
    }
}

wire_and_text!(MonthDay, MonthDayHandle);

impl fmt::Display for MonthDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--{:02}-{:02}", self.month, self.day)
    }
}

impl FromStr for MonthDay {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || ParseError::new(text, "day of a year such as --11-30");
        // A leap year, which has every day.
        let day = text.strip_prefix("--").ok_or_else(wrong)?;
        let date: LocalDate = format!("2000-{day}").parse().map_err(|_| wrong())?;
        Ok(Self { month: date.month, day: date.day })
    }
}

/// `java.time.Period`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Hash)]
pub struct Period {
    /// Years.
    pub years: i32,
    /// Months.
    pub months: i32,
    /// Days.
    pub days: i32,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename = "com.alibaba.com.caucho.hessian.io.java8.PeriodHandle", default)]
struct PeriodHandle {
    days: i32,
    months: i32,
    years: i32,
}

impl From<Period> for PeriodHandle {
    fn from(it: Period) -> Self {
        Self { days: it.days, months: it.months, years: it.years }
    }
}

impl From<PeriodHandle> for Period {
    fn from(handle: PeriodHandle) -> Self {
        Self { years: handle.years, months: handle.months, days: handle.days }
    }
}

wire_and_text!(Period, PeriodHandle);

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::default() {
            return f.write_str("P0D");
        }
        f.write_str("P")?;
        for (number, unit) in [(self.years, 'Y'), (self.months, 'M'), (self.days, 'D')] {
            if number != 0 {
                write!(f, "{number}{unit}")?;
            }
        }
        Ok(())
    }
}

impl FromStr for Period {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || ParseError::new(text, "period such as P1Y2M3D");
        let mut rest = text.strip_prefix('P').filter(|rest| !rest.is_empty()).ok_or_else(wrong)?;
        let mut period = Self::default();
        for unit in ['Y', 'M', 'D'] {
            let Some((number, later)) = rest.split_once(unit) else { continue };
            let number = number.parse().map_err(|_| wrong())?;
            match unit {
                'Y' => period.years = number,
                'M' => period.months = number,
                _ => period.days = number,
            }
            rest = later;
        }
        if rest.is_empty() { Ok(period) } else { Err(wrong()) }
    }
}
