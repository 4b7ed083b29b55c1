//! Points and lengths of time: `java.util.Date` and its SQL relatives, `LocalTime`, `Instant`,
//! `Duration`.

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use ::serde::de::{self, Deserializer, Visitor};
use ::serde::ser::Serializer;
use ::serde::{Deserialize, Serialize};

use crate::java::LocalDate;
use crate::java::compact::Compact;
use crate::java::text::{Fraction, ParseError, nanos, numbers, wire_and_text};
use crate::serde::DATE;

const MILLIS_PER_DAY: i64 = 86_400_000;

/// `java.util.Date`: milliseconds since 1970. Its text is that of RFC 3339.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct Date(pub i64);

impl Date {
    /// Now, by the system's clock.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return serializer.collect_str(self);
        }
        serializer.serialize_newtype_struct(DATE, &self.0)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Millis;
        impl<'de> Visitor<'de> for Millis {
            type Value = i64;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a date")
            }

            fn visit_i64<E>(self, value: i64) -> Result<i64, E> {
                Ok(value)
            }

            fn visit_i32<E>(self, value: i32) -> Result<i64, E> {
                Ok(value.into())
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<i64, E> {
                i64::try_from(value).map_err(E::custom)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<i64, E> {
                text.parse::<Date>().map(|date| date.0).map_err(E::custom)
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<i64, D::Error> {
                inner.deserialize_any(self)
            }
        }
        if deserializer.is_human_readable() {
            return deserializer.deserialize_any(Millis).map(Self);
        }
        deserializer.deserialize_newtype_struct(DATE, Millis).map(Self)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (day, millis) = (self.0.div_euclid(MILLIS_PER_DAY), self.0.rem_euclid(MILLIS_PER_DAY));
        match (LocalDate::from_epoch_day(day), LocalTime::from_nano_of_day(millis * 1_000_000)) {
            (Some(date), Some(time)) => {
                let (hour, minute, second) = (time.hour, time.minute, time.second);
                write!(f, "{date}T{hour:02}:{minute:02}:{second:02}{}Z", Fraction(time.nano))
            }
            _ => write!(f, "{} ms", self.0),
        }
    }
}

impl FromStr for Date {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || ParseError::new(text, "time such as 2026-11-30T08:15:00.250Z");
        let (day, nanos) = point(text).ok_or_else(wrong)?;
        let start = day.checked_mul(MILLIS_PER_DAY).ok_or_else(wrong)?;
        start.checked_add(nanos.div_euclid(1_000_000)).map(Self).ok_or_else(wrong)
    }
}

/// Epoch day and nanoseconds from its start (which may be before or behind it) of an RFC 3339 text.
fn point(text: &str) -> Option<(i64, i64)> {
    let (date, rest) = text.split_once(['T', 't', ' '])?;
    let (time, offset) = match rest.strip_suffix(['Z', 'z']) {
        Some(time) => (time, 0),
        None => {
            let at = rest.rfind(['+', '-'])?;
            let (time, offset) = rest.split_at_checked(at)?;
            let [hours, minutes] = numbers(offset.get(1..)?, ':')?;
            let seconds = (hours <= 18 && minutes < 60).then_some(hours * 3600 + minutes * 60)?;
            (time, if offset.starts_with('-') { -seconds } else { seconds })
        }
    };
    let day = date.parse::<LocalDate>().ok()?.to_epoch_day();
    let nanos = time.parse::<LocalTime>().ok()?.to_nano_of_day();
    Some((day, nanos - offset * 1_000_000_000))
}

macro_rules! sql {
    ($name:ident, $wire:ident, $class:literal) => {
        #[doc = concat!("`", $class, "`: milliseconds since 1970, as Dubbo carries it.")]
        #[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash)]
        pub struct $name(pub Date);

        #[derive(Default, Serialize, Deserialize)]
        #[serde(rename = $class, default)]
        struct $wire {
            value: Date,
        }

        impl From<$name> for $wire {
            fn from(it: $name) -> Self {
                Self { value: it.0 }
            }
        }

        impl From<$wire> for $name {
            fn from(wire: $wire) -> Self {
                Self(wire.value)
            }
        }

        wire_and_text!($name, $wire);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = ParseError;

            fn from_str(text: &str) -> Result<Self, ParseError> {
                text.parse().map(Self)
            }
        }
    };
}

sql!(SqlDate, SqlDateWire, "java.sql.Date");
sql!(SqlTime, SqlTimeWire, "java.sql.Time");
sql!(Timestamp, TimestampWire, "java.sql.Timestamp");

/// `java.util.Calendar`: the point in time. Its time zone does not travel.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct Calendar(pub Date);

#[derive(Default, Serialize, Deserialize)]
#[serde(rename = "com.alibaba.com.caucho.hessian.io.CalendarHandle", default)]
struct CalendarHandle {
    date: Date,
    /// The class of the calendar; nothing is that of the receiver's place.
    #[serde(rename = "type", skip_deserializing)]
    class: (),
}

impl From<Calendar> for CalendarHandle {
    fn from(it: Calendar) -> Self {
        Self { date: it.0, class: () }
    }
}

impl From<CalendarHandle> for Calendar {
    fn from(handle: CalendarHandle) -> Self {
        Self(handle.date)
    }
}

wire_and_text!(Calendar, CalendarHandle);

impl fmt::Display for Calendar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Calendar {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        text.parse().map(Self)
    }
}

/// `java.time.LocalTime`. The fields are not checked: a peer may send anything.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct LocalTime {
    /// 0 to 23.
    pub hour: i32,
    /// 0 to 59.
    pub minute: i32,
    /// 0 to 59.
    pub second: i32,
    /// 0 to 999 999 999.
    pub nano: i32,
}

impl LocalTime {
    /// A time.
    pub fn new(hour: i32, minute: i32, second: i32, nano: i32) -> Self {
        Self { hour, minute, second, nano }
    }

    /// The time that many nanoseconds after midnight; `None` when a day has fewer.
    pub fn from_nano_of_day(nanos: i64) -> Option<Self> {
        let part = |unit: i64, size: i64| i32::try_from(nanos / unit % size).ok();
        let in_day = (0..MILLIS_PER_DAY * 1_000_000).contains(&nanos);
        Some(Self {
            hour: part(3_600_000_000_000, 24).filter(|_| in_day)?,
            minute: part(60_000_000_000, 60)?,
            second: part(1_000_000_000, 60)?,
            nano: part(1, 1_000_000_000)?,
        })
    }

    /// Nanoseconds after midnight; of a time that is none, as many as an `i64` holds at most.
    pub fn to_nano_of_day(self) -> i64 {
        let minutes = i64::from(self.hour) * 60 + i64::from(self.minute);
        let seconds = minutes * 60 + i64::from(self.second);
        seconds.saturating_mul(1_000_000_000).saturating_add(self.nano.into())
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename = "com.alibaba.com.caucho.hessian.io.java8.LocalTimeHandle", default)]
struct TimeHandle {
    nano: i32,
    second: i32,
    minute: i32,
    hour: i32,
    /// Of the compact form.
    #[serde(rename = "value", skip_serializing)]
    nano_of_day: Option<i64>,
}

impl From<LocalTime> for Compact<TimeHandle> {
    fn from(it: LocalTime) -> Self {
        let LocalTime { hour, minute, second, nano } = it;
        Compact::Handle(TimeHandle { nano, second, minute, hour, nano_of_day: None })
    }
}

impl TryFrom<Compact<TimeHandle>> for LocalTime {
    type Error = ParseError;

    fn try_from(time: Compact<TimeHandle>) -> Result<Self, ParseError> {
        match time {
            Compact::Number(nanos)
            | Compact::Handle(TimeHandle { nano_of_day: Some(nanos), .. }) => {
                LocalTime::from_nano_of_day(nanos)
                    .ok_or_else(|| ParseError::new(&nanos.to_string(), "nanosecond of a day"))
            }
            Compact::Handle(TimeHandle { nano, second, minute, hour, .. }) => {
                Ok(LocalTime { hour, minute, second, nano })
            }
        }
    }
}

wire_and_text!(LocalTime, Compact<TimeHandle>);

impl fmt::Display for LocalTime {
    /// As Java prints it: seconds only where there are any.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.hour, self.minute)?;
        if self.second != 0 || self.nano != 0 {
            write!(f, ":{:02}{}", self.second, Fraction(self.nano))?;
        }
        Ok(())
    }
}

impl FromStr for LocalTime {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || ParseError::new(text, "time such as 08:15:00.250");
        let (whole, nano) = match text.split_once('.') {
            Some((whole, digits)) => (whole, nanos(digits).ok_or_else(wrong)?),
            None => (text, 0),
        };
        let [hour, minute, second] = match numbers::<3>(whole, ':') {
            Some(all) => all,
            None => {
                let [hour, minute] = numbers(whole, ':').ok_or_else(wrong)?;
                [hour, minute, 0]
            }
        };
        if hour >= 24 || minute >= 60 || second >= 60 {
            return Err(wrong());
        }
        let of_day = ((hour * 60 + minute) * 60 + second) * 1_000_000_000 + i64::from(nano);
        LocalTime::from_nano_of_day(of_day).ok_or_else(wrong)
    }
}

macro_rules! seconds_and_nanos {
    ($name:ident, $wire:ident, $class:literal, $about:literal) => {
        #[doc = $about]
        #[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash)]
        pub struct $name {
            /// Whole seconds.
            pub seconds: i64,
            /// 0 to 999 999 999, always forward.
            pub nanos: i32,
        }

        #[derive(Default, Serialize, Deserialize)]
        #[serde(rename = $class, default)]
        struct $wire {
            nanos: i32,
            seconds: i64,
        }

        impl From<$name> for $wire {
            fn from(it: $name) -> Self {
                Self { nanos: it.nanos, seconds: it.seconds }
            }
        }

        impl From<$wire> for $name {
            fn from(wire: $wire) -> Self {
                Self { seconds: wire.seconds, nanos: wire.nanos }
            }
        }

        wire_and_text!($name, $wire);
    };
}

seconds_and_nanos!(
    Instant,
    InstantHandle,
    "com.alibaba.com.caucho.hessian.io.java8.InstantHandle",
    "`java.time.Instant`: a point in time, from 1970 on. Its text is that of RFC 3339."
);
seconds_and_nanos!(
    Duration,
    DurationHandle,
    "com.alibaba.com.caucho.hessian.io.java8.DurationHandle",
    "`java.time.Duration`: a length of time, of either sign."
);

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (day, second) = (self.seconds.div_euclid(86_400), self.seconds.rem_euclid(86_400));
        match LocalDate::from_epoch_day(day) {
            Some(date) => {
                let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
                write!(f, "{date}T{hour:02}:{minute:02}:{second:02}{}Z", Fraction(self.nanos))
            }
            None => write!(f, "{} s", self.seconds),
        }
    }
}

impl FromStr for Instant {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || ParseError::new(text, "time such as 2026-11-30T08:15:00.250Z");
        let (day, nanos) = point(text).ok_or_else(wrong)?;
        Ok(Self {
            seconds: day * 86_400 + nanos.div_euclid(1_000_000_000),
            nanos: nanos.rem_euclid(1_000_000_000) as i32,
        })
    }
}

impl fmt::Display for Duration {
    /// As Java prints it: `PT8H6M12.345S`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.seconds == 0 && self.nanos == 0 {
            return f.write_str("PT0S");
        }
        // Java writes -1.5 s as seconds -2 and half a second forward.
        let back = self.seconds < 0 && self.nanos > 0;
        let whole = if back { self.seconds + 1 } else { self.seconds };
        let nanos = if back { 1_000_000_000 - self.nanos } else { self.nanos };
        let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
        f.write_str("PT")?;
        if hours != 0 {
            write!(f, "{hours}H")?;
        }
        if minutes != 0 {
            write!(f, "{minutes}M")?;
        }
        if seconds != 0 || nanos != 0 {
            let sign = if back && seconds == 0 { "-" } else { "" };
            write!(f, "{sign}{seconds}")?;
            if nanos != 0 {
                write!(f, ".{}", format!("{nanos:09}").trim_end_matches('0'))?;
            }
            f.write_str("S")?;
        }
        Ok(())
    }
}

impl FromStr for Duration {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || ParseError::new(text, "duration such as PT8H6M12.345S");
        let mut rest = text.strip_prefix("PT").filter(|rest| !rest.is_empty()).ok_or_else(wrong)?;
        let mut total: i128 = 0;
        for (unit, seconds) in [('H', 3600), ('M', 60), ('S', 1)] {
            let Some((number, later)) = rest.split_once(unit) else { continue };
            let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
            let value: i64 = whole.parse().map_err(|_| wrong())?;
            total += i128::from(value) * seconds * 1_000_000_000;
            if unit == 'S' && number.contains('.') {
                let nano = i128::from(nanos(fraction).ok_or_else(wrong)?);
                total += if whole.starts_with('-') { -nano } else { nano };
            }
            rest = later;
        }
        if !rest.is_empty() {
            return Err(wrong());
        }
        Ok(Self {
            seconds: i64::try_from(total.div_euclid(1_000_000_000)).map_err(|_| wrong())?,
            nanos: total.rem_euclid(1_000_000_000) as i32,
        })
    }
}
