//! Time zones, and times that have one.

use std::fmt;
use std::str::FromStr;

use ::serde::{Deserialize, Serialize};

use crate::java::text::{ParseError, numbers, wire_and_text};
use crate::java::{LocalDateTime, LocalTime};

/// `java.time.ZoneOffset`: seconds ahead of Greenwich.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct ZoneOffset(pub i32);

#[derive(Default, Serialize, Deserialize)]
#[serde(rename = "com.alibaba.com.caucho.hessian.io.java8.ZoneOffsetHandle", default)]
struct OffsetHandle {
    seconds: i32,
}

impl From<ZoneOffset> for OffsetHandle {
    fn from(it: ZoneOffset) -> Self {
        Self { seconds: it.0 }
    }
}

impl From<OffsetHandle> for ZoneOffset {
    fn from(handle: OffsetHandle) -> Self {
        Self(handle.seconds)
    }
}

wire_and_text!(ZoneOffset, OffsetHandle);

impl fmt::Display for ZoneOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("Z");
        }
        let (sign, total) = (if self.0 < 0 { '-' } else { '+' }, self.0.unsigned_abs());
        write!(f, "{sign}{:02}:{:02}", total / 3600, total / 60 % 60)?;
        if total % 60 != 0 {
            write!(f, ":{:02}", total % 60)?;
        }
        Ok(())
    }
}

impl FromStr for ZoneOffset {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || ParseError::new(text, "offset such as +08:00 or Z");
        if text == "Z" {
            return Ok(Self(0));
        }
        let digits = text.strip_prefix(['+', '-']).ok_or_else(wrong)?;
        let [hours, minutes, seconds] = match numbers::<3>(digits, ':') {
            Some(all) => all,
            None => {
                let [hours, minutes] = numbers(digits, ':').ok_or_else(wrong)?;
                [hours, minutes, 0]
            }
        };
        // Java's offsets go to 18 hours.
        if hours > 18 || minutes >= 60 || seconds >= 60 {
            return Err(wrong());
        }
        let total = i32::try_from(hours * 3600 + minutes * 60 + seconds).map_err(|_| wrong())?;
        if total > 18 * 3600 {
            return Err(wrong());
        }
        Ok(Self(if text.starts_with('-') { -total } else { total }))
    }
}

/// `java.time.ZoneId`: the name of a time zone, such as `Asia/Shanghai`.
#[derive(Clone, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct ZoneId(pub String);

#[derive(Default, Serialize, Deserialize)]
#[serde(rename = "com.alibaba.com.caucho.hessian.io.java8.ZoneIdHandle", default)]
struct ZoneHandle {
    #[serde(rename = "zoneId")]
    zone_id: String,
}

impl From<ZoneId> for ZoneHandle {
    fn from(it: ZoneId) -> Self {
        Self { zone_id: it.0 }
    }
}

impl From<ZoneHandle> for ZoneId {
    fn from(handle: ZoneHandle) -> Self {
        Self(handle.zone_id)
    }
}

wire_and_text!(ZoneId, ZoneHandle);

impl fmt::Display for ZoneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ZoneId {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Ok(Self(text.to_owned()))
    }
}

/// Cuts a text at the sign of its offset.
fn with_offset<T: FromStr>(text: &str) -> Option<(T, ZoneOffset)> {
    let from = text.find('T').map_or(0, |at| at + 1);
    let at = from + text.get(from..)?.find(['Z', '+', '-'])?;
    let (time, offset) = text.split_at_checked(at)?;
    Some((time.parse().ok()?, offset.parse().ok()?))
}

/// `java.time.OffsetDateTime`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Hash)]
pub struct OffsetDateTime {
    /// Date and time there.
    pub date_time: LocalDateTime,
    /// How far ahead of Greenwich.
    pub offset: ZoneOffset,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename = "com.alibaba.com.caucho.hessian.io.java8.OffsetDateTimeHandle", default)]
struct OffsetDateTimeHandle {
    offset: ZoneOffset,
    #[serde(rename = "dateTime")]
    date_time: LocalDateTime,
}

impl From<OffsetDateTime> for OffsetDateTimeHandle {
    fn from(it: OffsetDateTime) -> Self {
        Self { offset: it.offset, date_time: it.date_time }
    }
}

impl From<OffsetDateTimeHandle> for OffsetDateTime {
    fn from(handle: OffsetDateTimeHandle) -> Self {
        Self { date_time: handle.date_time, offset: handle.offset }
    }
}

wire_and_text!(OffsetDateTime, OffsetDateTimeHandle);

impl fmt::Display for OffsetDateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.date_time, self.offset)
    }
}

impl FromStr for OffsetDateTime {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        with_offset(text)
            .map(|(date_time, offset)| Self { date_time, offset })
            .ok_or_else(|| ParseError::new(text, "time such as 2026-11-30T08:15:00+08:00"))
    }
}

/// `java.time.OffsetTime`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Hash)]
pub struct OffsetTime {
    /// Time there.
    pub time: LocalTime,
    /// How far ahead of Greenwich.
    pub offset: ZoneOffset,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename = "com.alibaba.com.caucho.hessian.io.java8.OffsetTimeHandle", default)]
struct OffsetTimeHandle {
    #[serde(rename = "localTime")]
    local_time: LocalTime,
    #[serde(rename = "zoneOffset")]
    zone_offset: ZoneOffset,
}

impl From<OffsetTime> for OffsetTimeHandle {
    fn from(it: OffsetTime) -> Self {
        Self { local_time: it.time, zone_offset: it.offset }
    }
}

impl From<OffsetTimeHandle> for OffsetTime {
    fn from(handle: OffsetTimeHandle) -> Self {
        Self { time: handle.local_time, offset: handle.zone_offset }
    }
}

wire_and_text!(OffsetTime, OffsetTimeHandle);

impl fmt::Display for OffsetTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.time, self.offset)
    }
}

impl FromStr for OffsetTime {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        with_offset(text)
            .map(|(time, offset)| Self { time, offset })
            .ok_or_else(|| ParseError::new(text, "time such as 08:15:00+08:00"))
    }
}

/// `java.time.ZonedDateTime`.
#[derive(Clone, Debug, Default, Eq, PartialEq, Hash)]
pub struct ZonedDateTime {
    /// Date and time there.
    pub date_time: LocalDateTime,
    /// How far ahead of Greenwich the zone is then.
    pub offset: ZoneOffset,
    /// The zone; `None` when it is only an offset.
    pub zone: Option<String>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename = "com.alibaba.com.caucho.hessian.io.java8.ZonedDateTimeHandle", default)]
struct ZonedDateTimeHandle {
    offset: ZoneOffset,
    #[serde(rename = "dateTime")]
    date_time: LocalDateTime,
    #[serde(rename = "zoneId")]
    zone_id: Option<String>,
}

impl From<ZonedDateTime> for ZonedDateTimeHandle {
    fn from(it: ZonedDateTime) -> Self {
        // Java reads a missing zone as an error; an offset is a zone, too.
        let zone_id = it.zone.or_else(|| Some(it.offset.to_string()));
        Self { offset: it.offset, date_time: it.date_time, zone_id }
    }
}

impl From<ZonedDateTimeHandle> for ZonedDateTime {
    fn from(handle: ZonedDateTimeHandle) -> Self {
        let zone = handle.zone_id.filter(|zone| *zone != handle.offset.to_string());
        Self { date_time: handle.date_time, offset: handle.offset, zone }
    }
}

wire_and_text!(ZonedDateTime, ZonedDateTimeHandle);

impl fmt::Display for ZonedDateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.date_time, self.offset)?;
        match &self.zone {
            Some(zone) => write!(f, "[{zone}]"),
            None => Ok(()),
        }
    }
}

impl FromStr for ZonedDateTime {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong =
            || ParseError::new(text, "time such as 2026-11-30T08:15:00+08:00[Asia/Shanghai]");
        let (time, zone) = match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
            Some((time, zone)) => (time, Some(zone.to_owned())),
            None => (text, None),
        };
        let (date_time, offset) = with_offset(time).ok_or_else(wrong)?;
        Ok(Self { date_time, offset, zone })
    }
}
