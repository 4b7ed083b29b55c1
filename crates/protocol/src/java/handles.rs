//! Java's own value classes whose wire form differs from what people write: `java.time` (which travels
//! as handle objects of Dubbo's Hessian), big numbers, `UUID` and the like. Text or number in, node out,
//! and back.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use equipoise_hessian::{Node, NodeId, Value};

use super::bignum;
use super::time::parse::Cursor;
use super::time::{Date, Offset, Period, Seconds, Time};

mod read;

pub(crate) use read::{inner, number_text, time_text, uuid_text};

/// Reads a text as an object; `None` when it is no such text.
type ReadText = fn(&str, &mut Value) -> Option<NodeId>;

/// The package of the handles.
const HANDLES: &str = "com.alibaba.com.caucho.hessian.io.";

/// Reads text as an object of `class`, one of those here. The error is an example of such a text.
/// `None` when the class is another one.
pub(crate) fn of_text(
    class: &str,
    text: &str,
    into: &mut Value,
) -> Option<Result<NodeId, &'static str>> {
    let (example, read): (_, ReadText) = match class {
        "java.math.BigDecimal" => ("12.50", big_decimal),
        "java.math.BigInteger" => ("12345678901234567890", big_integer),
        "java.util.UUID" => ("00112233-4455-6677-8899-aabbccddeeff", uuid),
        "java.util.Locale" => {
            ("en_US", |text, into| Some(wrap(into, "LocaleHandle", "value", text)))
        }
        "java.lang.Class" => ("java.lang.String", |text, into| {
            let name = into.add_text(text);
            Some(into.add(Node::object("java.lang.Class", [("name", name)])))
        }),
        "java.io.File" => ("/tmp/x", |text, into| {
            let path = into.add_text(text);
            Some(into.add(Node::object("java.io.File", [("value", path)])))
        }),
        "java.time.LocalDate" => ("2024-12-31", local_date),
        "java.time.LocalTime" => ("10:15:30", local_time),
        "java.time.LocalDateTime" => ("2024-12-31T10:15:30", local_date_time),
        "java.time.Instant" => ("2024-12-31T10:15:30Z", instant),
        "java.time.Duration" => ("PT8H6M12.345S", duration),
        "java.time.Period" => ("P1Y2M3D", period),
        "java.time.Year" => ("2024", year),
        "java.time.YearMonth" => ("2024-12", year_month),
        "java.time.MonthDay" => ("--12-31", month_day),
        "java.time.ZoneOffset" => ("+08:00", zone_offset),
        "java.time.ZoneId" => ("Europe/Paris", |text, into| {
            let named = !text.is_empty();
            named.then(|| wrap(into, "java8.ZoneIdHandle", "zoneId", text))
        }),
        "java.time.OffsetTime" => ("10:15:30+08:00", offset_time),
        "java.time.OffsetDateTime" => ("2024-12-31T10:15:30+08:00", offset_date_time),
        "java.time.ZonedDateTime" => ("2024-12-31T10:15:30+01:00[Europe/Paris]", zoned_date_time),
        _ => return None,
    };
    Some(read(text, into).ok_or(example))
}

/// Whether the class is `java.util.Date` or one of those of `java.sql`; the latter are objects.
pub(crate) fn is_date(class: &str) -> bool {
    matches!(class, "java.util.Date" | "java.sql.Date" | "java.sql.Time" | "java.sql.Timestamp")
}

/// A date of `class`, one of those of [`is_date`].
pub(crate) fn of_millis(class: &str, millis: i64, into: &mut Value) -> NodeId {
    let date = into.add(Node::Date(millis));
    if class == "java.util.Date" {
        return date;
    }
    into.add(Node::object(class, [("value", date)]))
}

/// Milliseconds since 1970 of an RFC 3339 text.
pub(crate) fn millis(text: &str) -> Option<i64> {
    let mut cursor = Cursor::new(text);
    let (date, time) = cursor.date_time()?;
    let offset = cursor.offset()?;
    cursor.end()?;
    Seconds::of(date, time, offset).millis()
}

/// The bytes of a base64 text, with or without padding.
pub(crate) fn bytes(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).or_else(|_| STANDARD_NO_PAD.decode(text)).ok()
}

/// Bytes as base64 text.
pub(crate) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// An object of a handle with one field of text.
fn wrap(into: &mut Value, handle: &str, field: &str, text: &str) -> NodeId {
    let text = into.add_text(text);
    into.add(Node::object(&format!("{HANDLES}{handle}"), [(field, text)]))
}

fn ints<const N: usize>(into: &mut Value, handle: &str, fields: [(&str, i32); N]) -> NodeId {
    let fields = fields.map(|(name, number)| (name, into.add(Node::Int(number))));
    into.add(Node::object(&format!("{HANDLES}java8.{handle}Handle"), fields))
}

fn put_date(date: Date, into: &mut Value) -> NodeId {
    ints(into, "LocalDate", [("day", date.day), ("month", date.month), ("year", date.year)])
}

fn put_time(time: Time, into: &mut Value) -> NodeId {
    let Time { hour, minute, second, nano } = time;
    ints(
        into,
        "LocalTime",
        [("nano", nano), ("second", second), ("minute", minute), ("hour", hour)],
    )
}

fn put_date_time((date, time): (Date, Time), into: &mut Value) -> NodeId {
    let fields = [("time", put_time(time, into)), ("date", put_date(date, into))];
    pair(into, "LocalDateTime", fields)
}

fn put_offset(offset: Offset, into: &mut Value) -> NodeId {
    ints(into, "ZoneOffset", [("seconds", offset.0)])
}

fn pair<const N: usize>(into: &mut Value, handle: &str, fields: [(&str, NodeId); N]) -> NodeId {
    into.add(Node::object(&format!("{HANDLES}java8.{handle}Handle"), fields))
}

fn put_seconds(handle: &str, of: Seconds, into: &mut Value) -> NodeId {
    let fields =
        [("nanos", into.add(Node::Int(of.nanos))), ("seconds", into.add(Node::Long(of.seconds)))];
    pair(into, handle, fields)
}

/// Reads the whole text.
fn whole<'t, T>(text: &'t str, read: impl FnOnce(&mut Cursor<'t>) -> Option<T>) -> Option<T> {
    let mut cursor = Cursor::new(text);
    let value = read(&mut cursor)?;
    cursor.end()?;
    Some(value)
}

fn local_date(text: &str, into: &mut Value) -> Option<NodeId> {
    Some(put_date(whole(text, Cursor::date)?, into))
}

fn local_time(text: &str, into: &mut Value) -> Option<NodeId> {
    Some(put_time(whole(text, Cursor::time)?, into))
}

fn local_date_time(text: &str, into: &mut Value) -> Option<NodeId> {
    Some(put_date_time(whole(text, Cursor::date_time)?, into))
}

fn moment(cursor: &mut Cursor<'_>) -> Option<(Date, Time, Offset)> {
    let (date, time) = cursor.date_time()?;
    Some((date, time, cursor.offset()?))
}

fn instant(text: &str, into: &mut Value) -> Option<NodeId> {
    let (date, time, offset) = whole(text, moment)?;
    Some(put_seconds("Instant", Seconds::of(date, time, offset), into))
}

fn duration(text: &str, into: &mut Value) -> Option<NodeId> {
    Some(put_seconds("Duration", whole(text, Cursor::duration)?, into))
}

fn period(text: &str, into: &mut Value) -> Option<NodeId> {
    let Period { years, months, days } = whole(text, Cursor::period)?;
    Some(ints(into, "Period", [("days", days), ("months", months), ("years", years)]))
}

fn year(text: &str, into: &mut Value) -> Option<NodeId> {
    let year = whole(text, Cursor::year)?;
    Some(ints(into, "Year", [("year", i32::try_from(year).ok()?)]))
}

fn year_month(text: &str, into: &mut Value) -> Option<NodeId> {
    let (year, month) = whole(text, |cursor| Some((cursor.year()?, cursor.month()?)))?;
    let date = Date::new(year, month, 1)?;
    Some(ints(into, "YearMonth", [("year", date.year), ("month", date.month)]))
}

fn month_day(text: &str, into: &mut Value) -> Option<NodeId> {
    let (month, day) = whole(text, Cursor::month_day)?;
    Some(ints(into, "MonthDay", [("month", month as i32), ("day", day as i32)]))
}

fn zone_offset(text: &str, into: &mut Value) -> Option<NodeId> {
    Some(put_offset(whole(text, Cursor::offset)?, into))
}

fn offset_time(text: &str, into: &mut Value) -> Option<NodeId> {
    let (time, offset) = whole(text, |cursor| Some((cursor.time()?, cursor.offset()?)))?;
    let fields = [("localTime", put_time(time, into)), ("zoneOffset", put_offset(offset, into))];
    Some(pair(into, "OffsetTime", fields))
}

fn offset_date_time(text: &str, into: &mut Value) -> Option<NodeId> {
    let (date, time, offset) = whole(text, moment)?;
    let fields =
        [("offset", put_offset(offset, into)), ("dateTime", put_date_time((date, time), into))];
    Some(pair(into, "OffsetDateTime", fields))
}

fn zoned_date_time(text: &str, into: &mut Value) -> Option<NodeId> {
    let ((date, time, offset), zone) =
        whole(text, |cursor| Some((moment(cursor)?, cursor.zone()?)))?;
    let zone = zone.map_or_else(|| offset.to_string(), str::to_owned);
    let fields = [
        ("offset", put_offset(offset, into)),
        ("dateTime", put_date_time((date, time), into)),
        ("zoneId", into.add_text(zone)),
    ];
    Some(pair(into, "ZonedDateTime", fields))
}

fn big_decimal(text: &str, into: &mut Value) -> Option<NodeId> {
    bignum::is_decimal(text).then(|| {
        let text = into.add_text(text);
        into.add(Node::object("java.math.BigDecimal", [("value", text)]))
    })
}

fn big_integer(text: &str, into: &mut Value) -> Option<NodeId> {
    let (signum, words) = bignum::of_decimal(text)?;
    let words = words.iter().map(|word| into.add(Node::Int(word.cast_signed()))).collect();
    let fields = [
        ("signum", into.add(Node::Int(signum))),
        ("mag", into.add(Node::typed_list("[int", words))),
    ];
    Some(into.add(Node::object("java.math.BigInteger", fields)))
}

fn uuid(text: &str, into: &mut Value) -> Option<NodeId> {
    let dash = |at: usize| matches!(at, 8 | 13 | 18 | 23);
    let fits = text.len() == 36
        && text.bytes().enumerate().all(
            |(at, b)| {
                if dash(at) { b == b'-' } else { b.is_ascii_hexdigit() }
            },
        );
    fits.then(|| {
        let text = into.add_text(text);
        into.add(Node::object("java.util.UUID", [("value", text)]))
    })
}
