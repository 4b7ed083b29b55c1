//! The types of Java against the bytes that Dubbo's encoder writes, and their texts.
#![allow(clippy::unwrap_used)] // What a test takes for granted it may unwrap, in its helpers too.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use equipoise_hessian::java::*;
use equipoise_hessian::{Node, Value, from_slice, hex, to_vec, unhex};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn row(id: &str) -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/hessian2.json");
    let all: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let rows = all["vectors"].as_array().unwrap();
    let row = rows.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("no row {id}"));
    unhex(row["hex"].as_str().unwrap()).unwrap()
}

fn is<T: Serialize + DeserializeOwned + PartialEq + Debug>(id: &str, value: T) {
    let bytes = row(id);
    assert_eq!(from_slice::<T>(&bytes).unwrap(), value, "{id}");
    assert_eq!(hex(&to_vec(&value).unwrap()), hex(&bytes), "{id}");
}

#[test]
fn every_type_is_on_the_wire_as_java_writes_it() {
    let date = LocalDate::new(2024, 2, 29);
    let time = LocalTime::new(13, 14, 15, 16);
    is("bigdecimal", "123.4500".parse::<BigDecimal>().unwrap());
    is("uuid", "123e4567-e89b-12d3-a456-426614174000".parse::<Uuid>().unwrap());
    is("locale", Locale("en_US".into()));
    is("sql_date", SqlDate(Date(0)));
    is("sql_timestamp", Timestamp(Date(1000)));
    is("optional_of", Optional { value: Some("x".to_owned()) });
    is("localdate", date);
    is("localtime", time);
    is("localdatetime", LocalDateTime { date, time });
    is("duration", Duration { seconds: 3, nanos: 4 });
    is("zoneid", ZoneId("Asia/Shanghai".into()));
    is("period", Period { years: 1, months: 2, days: 3 });
    let big = BigInteger::new(
        false,
        vec![(-1_420_514_932_i32).cast_unsigned(), (-350_287_150_i32).cast_unsigned()],
    );
    is("biginteger", big.clone());
    assert_eq!(big.to_string(), "12345678901234567890");
    let offset: OffsetDateTime = from_slice(&row("offsetdatetime")).unwrap();
    assert_eq!(offset.offset, ZoneOffset(28_800));
    assert_eq!(hex(&to_vec(&offset).unwrap()), hex(&row("offsetdatetime")));
    let zoned: ZonedDateTime = from_slice(&row("zoneddatetime")).unwrap();
    assert_eq!(zoned.zone.as_deref(), Some("Asia/Shanghai"));
    assert_eq!(hex(&to_vec(&zoned).unwrap()), hex(&row("zoneddatetime")));
}

#[test]
fn the_compact_forms_are_read() {
    let mut value = Value::empty();
    let day = value.add(Node::Long(19_782));
    let nanos = value.add(Node::Long(47_655_000_000_016));
    let root = value.add(Node::object("java.time.LocalDateTime", [("date", day), ("time", nanos)]));
    value.set_root(root);
    let read: LocalDateTime = from_slice(&value.encode()).unwrap();
    assert_eq!(read.to_string(), "2024-02-29T13:14:15.000000016");

    let mut old = Value::empty();
    let most = old.add(Node::Long(0x123e_4567_e89b_12d3));
    let least = old.add(Node::Long(0xa456_4266_1417_4000_u64.cast_signed()));
    let root =
        old.add(Node::object("java.util.UUID", [("mostSigBits", most), ("leastSigBits", least)]));
    old.set_root(root);
    let uuid: Uuid = from_slice(&old.encode()).unwrap();
    assert_eq!(uuid.to_string(), "123e4567-e89b-12d3-a456-426614174000");
}

fn text<T: FromStr + Display + PartialEq + Debug + Serialize + DeserializeOwned>(text: &str)
where
    T::Err: Debug,
{
    let value: T = text.parse().unwrap();
    assert_eq!(value.to_string(), text);
    assert_eq!(from_slice::<T>(&to_vec(&value).unwrap()).unwrap(), value);
    // Generic calls of Java carry the text.
    assert_eq!(from_slice::<T>(&to_vec(text).unwrap()).unwrap(), value);
    let json = serde_json::to_value(&value).unwrap();
    assert_eq!(json, text);
    assert_eq!(serde_json::from_value::<T>(json).unwrap(), value);
}

#[test]
fn texts_are_those_of_java() {
    for date in ["1970-01-01", "2024-02-29", "0000-03-01", "-0044-03-15", "+12345-01-01"] {
        text::<LocalDate>(date);
    }
    for time in ["00:00", "08:15:30", "23:59:59.999999999", "08:15:00.250", "01:02:03.000456"] {
        text::<LocalTime>(time);
    }
    text::<LocalDateTime>("2026-11-30T08:15");
    for time in ["2026-11-30T08:15:00Z", "1969-12-31T23:59:59.001Z"] {
        text::<Date>(time);
        text::<Instant>(time);
    }
    assert_eq!(
        "2026-11-30T08:15:00+08:00".parse::<Date>().unwrap().to_string(),
        "2026-11-30T00:15:00Z"
    );
    assert_eq!("1970-01-01T00:00:00-00:30".parse::<Date>().unwrap(), Date(1_800_000));
    for time in ["PT0S", "PT8H6M12.345S", "PT-1.5S", "PT-0.5S", "PT1H", "PT-8H-6M"] {
        text::<Duration>(time);
    }
    text::<Period>("P1Y2M3D");
    text::<Period>("P0D");
    text::<Year>("2026");
    text::<YearMonth>("2026-11");
    text::<MonthDay>("--02-29");
    for offset in ["Z", "+08:00", "-03:30", "+01:02:03"] {
        text::<ZoneOffset>(offset);
    }
    text::<OffsetDateTime>("2026-11-30T08:15:00.100+08:00");
    text::<OffsetTime>("08:15-03:30");
    text::<ZonedDateTime>("2026-11-30T08:15+08:00[Asia/Shanghai]");
    text::<ZonedDateTime>("2026-11-30T08:15+08:00");
    for number in ["0", "-1", "4294967296", "123456789012345678901234567890", "-1000000000"] {
        text::<BigInteger>(number);
    }
    for number in ["123.4500", "-1E+3", ".5", "0"] {
        text::<BigDecimal>(number);
    }
}

#[test]
fn texts_that_are_none_are_refused_by_name() {
    for bad in ["2026-13-01", "2026-02-30", "2026-1", "x", "", "2026-+1-01"] {
        assert!(bad.parse::<LocalDate>().is_err(), "{bad}");
    }
    for bad in ["24:00", "8", "08:60", "08:15:00.", "08:15:00.1234567890"] {
        assert!(bad.parse::<LocalTime>().is_err(), "{bad}");
    }
    for bad in ["", "1.2.3", "e5", "+", "1E", "0x1"] {
        assert!(bad.parse::<BigDecimal>().is_err(), "{bad}");
    }
    assert!("19:00".parse::<ZoneOffset>().is_err());
    assert!("+19:00".parse::<ZoneOffset>().is_err());
    let error = "soon".parse::<Date>().unwrap_err();
    assert!(error.to_string().contains("soon"), "{error}");
}

#[test]
fn days_are_those_of_the_calendar() {
    for (day, date) in [
        (0, "1970-01-01"),
        (-1, "1969-12-31"),
        (11_016, "2000-02-29"),
        (-719_528, "0000-01-01"),
        (2_932_896, "9999-12-31"),
    ] {
        let read = LocalDate::from_epoch_day(day).unwrap();
        assert_eq!((read.to_string().as_str(), read.to_epoch_day()), (date, day));
    }
    assert!(LocalDate::from_epoch_day(i64::MAX).is_none());
}

#[test]
fn exceptions_come_and_go_with_everything() {
    let business: Throwable = from_slice(&row("exc_biz")).unwrap();
    assert_eq!(business.class, "com.example.hess.BizException");
    assert_eq!(business.message.as_deref(), Some("biz"));
    assert!(business.cause.is_none());
    assert_eq!(business.fields, [("code".to_owned(), Value::of(Node::Int(42)))]);
    assert_eq!(hex(&to_vec(&business).unwrap()), hex(&row("exc_biz")));

    let caused: Throwable = from_slice(&row("exc_cause")).unwrap();
    let inner = caused.cause.as_deref().unwrap();
    assert_eq!(
        (inner.class.as_str(), inner.message.as_deref()),
        ("java.lang.RuntimeException", Some("inner"))
    );

    let traced: Throwable = from_slice(&row("exc_runtime")).unwrap();
    assert_eq!(traced.stack_trace[0].line, 7);
    assert_eq!(traced.stack_trace[0].class.as_deref(), Some("com.example.A"));

    let own = Throwable::new("com.acme.Broken", "no")
        .with("code", Value::of(Node::Long(1)))
        .caused_by(Throwable::new("java.io.IOException", "disk"));
    assert_eq!(from_slice::<Throwable>(&to_vec(&own).unwrap()).unwrap(), own);
    assert_eq!(own.to_string(), "com.acme.Broken: no");
}

#[test]
fn descriptors_are_those_of_the_jvm() {
    fn of<T: JavaType>() -> &'static str {
        T::DESCRIPTOR
    }
    for (given, expected) in [
        (of::<i32>(), "I"),
        (of::<Option<i32>>(), "Ljava/lang/Integer;"),
        (of::<Option<String>>(), "Ljava/lang/String;"),
        (of::<Vec<i32>>(), "Ljava/util/List;"),
        (of::<Map<String, i32>>(), "Ljava/util/Map;"),
        (of::<Option<Box<LocalDate>>>(), "Ljava/time/LocalDate;"),
        (of::<Value>(), "Ljava/lang/Object;"),
    ] {
        assert_eq!(given, expected);
    }
}
