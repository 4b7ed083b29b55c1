//! From objects of Java's value classes to what people write.

use equipoise_hessian::{NodeId, Value};

use super::HANDLES;
use crate::java::bignum;
use crate::java::time::{Date, Offset, Period, Seconds, Time, Year};

/// The text of an object of `java.time`, handle or compact form; `None` for every other node.
pub(crate) fn time_text(value: &Value, id: NodeId) -> Option<String> {
    let class = value.class(id)?;
    let int = |name: &str| integer(value, id, name);
    let part = |name: &str| value.get(id, name);
    if class == "java.time.LocalDateTime" {
        // Sent by peers with compact handles: epoch day and nanosecond of the day.
        let (date, time) = (Date::of_days(int("date")?)?, Time::of_nanos(int("time")?)?);
        return Some(date_time_text(date, time));
    }
    let handle = class.strip_prefix(HANDLES)?.strip_prefix("java8.")?.strip_suffix("Handle")?;
    match handle {
        "LocalDate" => Some(read_date(value, id)?.to_string()),
        "LocalTime" => Some(read_time(value, id)?.to_string()),
        "LocalDateTime" => read_date_time(value, id),
        "Instant" => read_seconds(value, id)?.instant(),
        "Duration" => Some(read_seconds(value, id)?.duration()),
        "Period" => {
            let of = |name| i32::try_from(int(name)?).ok();
            let period = Period { years: of("years")?, months: of("months")?, days: of("days")? };
            Some(period.to_string())
        }
        "Year" => Some(int("year")?.to_string()),
        "YearMonth" => {
            let date = Date::new(int("year")?, int("month")?, 1)?;
            Some(format!("{}-{:02}", Year(date.year), date.month))
        }
        "MonthDay" => {
            let date = Date::new(2000, int("month")?, int("day")?)?;
            Some(format!("--{:02}-{:02}", date.month, date.day))
        }
        "ZoneId" => value.str(part("zoneId")?).map(str::to_owned),
        "ZoneOffset" => Some(Offset::new(int("seconds")?)?.to_string()),
        "OffsetTime" => {
            let time = read_time(value, part("localTime")?)?;
            Some(format!("{time}{}", read_offset(value, part("zoneOffset")?)?))
        }
        "OffsetDateTime" => {
            let at = read_date_time(value, part("dateTime")?)?;
            Some(format!("{at}{}", read_offset(value, part("offset")?)?))
        }
        "ZonedDateTime" => {
            let at = read_date_time(value, part("dateTime")?)?;
            let offset = read_offset(value, part("offset")?)?.to_string();
            let zone = value.str(part("zoneId")?)?;
            let zone = if zone == offset { String::new() } else { format!("[{zone}]") };
            Some(format!("{at}{offset}{zone}"))
        }
        _ => None,
    }
}

/// The text of a number too big for `long`, or of a decimal one; `None` for every other node.
pub(crate) fn number_text(value: &Value, id: NodeId) -> Option<String> {
    match value.class(id)? {
        "java.math.BigDecimal" => value.str(value.get(id, "value")?).map(str::to_owned),
        "java.math.BigInteger" => {
            let signum = integer(value, id, "signum")?;
            let words = value.items(value.get(id, "mag")?)?;
            let words: Option<Vec<u32>> = words
                .iter()
                .map(|word| i32::try_from(value.integer(*word)?).ok().map(i32::cast_unsigned))
                .collect();
            bignum::to_decimal(signum, &words?)
        }
        _ => None,
    }
}

/// What wraps a single value in Java and nothing in JSON: the value's node.
pub(crate) fn inner(value: &Value, id: NodeId) -> Option<NodeId> {
    match value.class(id)? {
        "java.sql.Date"
        | "java.sql.Time"
        | "java.sql.Timestamp"
        | "java.util.Optional"
        | "java.util.concurrent.atomic.AtomicInteger"
        | "java.util.concurrent.atomic.AtomicLong"
        | "java.util.concurrent.atomic.AtomicBoolean"
        | "java.io.File" => value.get(id, "value"),
        "java.lang.Class" => value.get(id, "name"),
        "java.util.UUID" => value.get(id, "value"),
        class if class.strip_prefix(HANDLES) == Some("LocaleHandle") => value.get(id, "value"),
        _ => None,
    }
}

/// The text of a `UUID` in the form that older peers send: two longs.
pub(crate) fn uuid_text(value: &Value, id: NodeId) -> Option<String> {
    if value.class(id)? != "java.util.UUID" {
        return None;
    }
    let of = |name| integer(value, id, name).map(i64::cast_unsigned);
    let (high, low) = (of("mostSigBits")?, of("leastSigBits")?);
    let text = format!("{high:016x}{low:016x}");
    let part = |from: usize, to: usize| text.get(from..to);
    let parts = [part(0, 8)?, part(8, 12)?, part(12, 16)?, part(16, 20)?, part(20, 32)?];
    Some(parts.join("-"))
}

fn integer(value: &Value, id: NodeId, name: &str) -> Option<i64> {
    value.integer(value.get(id, name)?)
}

fn read_date(value: &Value, id: NodeId) -> Option<Date> {
    let int = |name| integer(value, id, name);
    Date::new(int("year")?, int("month")?, int("day")?)
}

fn read_time(value: &Value, id: NodeId) -> Option<Time> {
    let int = |name| integer(value, id, name);
    Time::new(int("hour")?, int("minute")?, int("second")?, int("nano")?)
}

fn read_date_time(value: &Value, id: NodeId) -> Option<String> {
    let date = read_date(value, value.get(id, "date")?)?;
    Some(date_time_text(date, read_time(value, value.get(id, "time")?)?))
}

fn date_time_text(date: Date, time: Time) -> String {
    format!("{date}T{time}")
}

fn read_seconds(value: &Value, id: NodeId) -> Option<Seconds> {
    let nanos = integer(value, id, "nanos")?;
    let nanos = i32::try_from(nanos).ok().filter(|nanos| (0..1_000_000_000).contains(nanos))?;
    Some(Seconds { seconds: integer(value, id, "seconds")?, nanos })
}

fn read_offset(value: &Value, id: NodeId) -> Option<Offset> {
    Offset::new(integer(value, id, "seconds")?)
}
