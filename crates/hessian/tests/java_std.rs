//! Java's types at their edges: compact forms, what exceptions carry, the times of `std`, texts and
//! fields that no calendar has.
#![allow(clippy::unwrap_used)] // What a test takes for granted it may unwrap, in its helpers too.

use std::time::{Duration as StdDuration, SystemTime, UNIX_EPOCH};

use equipoise_hessian::java::*;
use equipoise_hessian::{Decoder, Node, Value, from_slice, hex, to_vec, unhex};

fn row(id: &str) -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/hessian2.json");
    let all: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let rows = all["vectors"].as_array().unwrap();
    let row = rows.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("no row {id}"));
    unhex(row["hex"].as_str().unwrap()).unwrap()
}

#[test]
fn counters_and_calendars_are_as_java_writes_them() {
    assert_eq!(from_slice::<AtomicInteger>(&row("atomic_integer")).unwrap(), AtomicInteger(5));
    assert_eq!(hex(&to_vec(&AtomicInteger(5)).unwrap()), hex(&row("atomic_integer")));
    assert_eq!(from_slice::<AtomicLong>(&row("atomic_long")).unwrap(), AtomicLong(5));
    assert_eq!(hex(&to_vec(&AtomicLong(5)).unwrap()), hex(&row("atomic_long")));
    assert_eq!(from_slice::<Calendar>(&row("calendar")).unwrap(), Calendar(Date(0)));
    assert_eq!(hex(&to_vec(&Calendar(Date(0))).unwrap()), hex(&row("calendar")));
    let set = Set(vec!["a".to_owned(), "b".to_owned()]);
    let bytes = to_vec(&set).unwrap();
    let document = Value::decode(&bytes).unwrap();
    let Node::List(Some(ty), _) = document.root_node() else { panic!("no typed list") };
    assert_eq!(&**ty, "java.util.HashSet");
    assert_eq!(from_slice::<Set<String>>(&bytes).unwrap(), set);
    assert_eq!(from_slice::<Set<String>>(&to_vec(&["a", "b"]).unwrap()).unwrap(), set);
}

#[test]
fn compact_dates_have_a_long_behind_an_object_without_fields() {
    // Two dates in a list, then a time and a text: the longs belong to the objects.
    let mut bytes = vec![0x7C];
    bytes.extend(b"C\x13java.time.LocalDate\x90\x60\xF8\x01");
    bytes.extend(b"\x60\xE0");
    bytes.extend(b"C\x13java.time.LocalTime\x90\x61\xE0");
    bytes.extend(b"\x01x");
    type Parts = (LocalDate, LocalDate, LocalTime, String);
    let read: Parts = from_slice(&bytes).unwrap();
    assert_eq!(read.0, LocalDate::new(1970, 1, 2));
    assert_eq!(read.1, LocalDate::new(1970, 1, 1));
    assert_eq!((read.2, read.3.as_str()), (LocalTime::default(), "x"));
    let document = Value::decode(&bytes).unwrap();
    assert_eq!(document.items(document.root()).unwrap().len(), 4);
    let mut decoder = Decoder::new(&bytes);
    decoder.skip().unwrap();
    assert!(decoder.at_end());
    assert!(from_slice::<LocalTime>(&to_vec(&86_400_000_000_000_i64).unwrap()).is_err());
}

#[test]
fn exceptions_carry_what_was_suppressed() {
    let mut thrown = Throwable::new("com.acme.Broken", "no");
    let close = Throwable::new("java.io.IOException", "close");
    thrown.suppressed = vec![close.clone(), close.caused_by(Throwable::new("a.B", "deep"))];
    assert_eq!(from_slice::<Throwable>(&to_vec(&thrown).unwrap()).unwrap(), thrown);
    // One that is suppressed by itself over and over comes to an end.
    let mut value = Value::empty();
    let id = value.add(Node::Null);
    let list = value.add(Node::List(None, vec![id; 10]));
    value.put(id, Node::object("com.acme.Broken", [("suppressedExceptions", list)]));
    value.set_root(id);
    let read = Throwable::from_value(&value).unwrap();
    fn count(thrown: &Throwable) -> usize {
        1 + thrown.suppressed.iter().map(count).sum::<usize>()
    }
    assert_eq!(count(&read), 64);
}

#[test]
fn times_go_to_std_and_back() {
    for (seconds, nanos) in [(0, 0), (1, 500_000_000), (-1, 999_999_999), (-86_400, 0)] {
        let instant = Instant { seconds, nanos };
        let time = SystemTime::try_from(instant).unwrap();
        assert_eq!(Instant::from(time), instant);
    }
    let half = UNIX_EPOCH - StdDuration::from_millis(500);
    assert_eq!(Date::from(half), Date(-500));
    assert_eq!(SystemTime::try_from(Date(-500)).unwrap(), half);
    assert!(SystemTime::try_from(Instant { seconds: 0, nanos: -1 }).is_err());
    // Where the system's times reach that far they do, and otherwise it is an error.
    let last = Instant { seconds: i64::MAX, nanos: 0 };
    assert!(SystemTime::try_from(last).is_ok_and(|time| time > UNIX_EPOCH) || cfg!(not(unix)));
    let length = StdDuration::new(3, 4);
    assert_eq!(StdDuration::try_from(Duration::from(length)).unwrap(), length);
    assert!(StdDuration::try_from(Duration { seconds: -1, nanos: 0 }).is_err());
}

#[test]
fn what_no_calendar_has_is_an_error_and_no_overflow() {
    let (many, nines) = ("9".repeat(19), "9".repeat(18));
    for hours in [&many, &nines] {
        assert!(format!("{hours}:00").parse::<LocalTime>().is_err());
        assert!(format!("+{hours}:00").parse::<ZoneOffset>().is_err());
        assert!(format!("PT{hours}{hours}H").parse::<Duration>().is_err());
    }
    assert!("2000000000-01-01T00:00:00Z".parse::<Date>().is_err());
    assert!("2000000000-01-01T00:00:00Z".parse::<Instant>().is_ok());
    let wild = LocalTime::new(i32::MAX, i32::MAX, i32::MAX, i32::MAX);
    assert_eq!(from_slice::<LocalTime>(&to_vec(&wild).unwrap()).unwrap(), wild);
    assert_eq!(wild.to_nano_of_day(), i64::MAX);
    let wild = LocalDate::new(i32::MIN, i32::MAX, i32::MIN);
    assert!(wild.to_string().starts_with('-'));
    wild.to_epoch_day();
    for seconds in [i64::MIN, i64::MAX] {
        for nanos in [i32::MIN, -1, i32::MAX] {
            let _ = Duration { seconds, nanos }.to_string();
            let _ = Instant { seconds, nanos }.to_string();
        }
        let _ = Date(seconds).to_string();
    }
    let _ = ZoneOffset(i32::MIN).to_string();
}
