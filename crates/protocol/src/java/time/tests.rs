use proptest::prelude::*;

use super::parse::Cursor;
use super::*;

#[test]
fn days_and_dates_agree() {
    for (date, days) in [
        ((1970, 1, 1), 0),
        ((1969, 12, 31), -1),
        ((2000, 2, 29), 11_016),
        ((2024, 12, 31), 20_088),
        ((1, 1, 1), -719_162),
        ((-1, 3, 1), -719_834),
    ] {
        let date = Date::new(date.0, date.1, date.2).unwrap();
        assert_eq!(date.days(), days, "{date}");
        assert_eq!(Date::of_days(days), Some(date));
    }
    for (year, month, day) in
        [(2023, 2, 29), (1900, 2, 29), (2024, 4, 31), (2024, 13, 1), (0, 1, 0)]
    {
        assert_eq!(Date::new(year, month, day), None);
    }
    assert_eq!(Date::of_days(i64::MAX), None);
    assert_eq!(Date::of_days(i64::MIN), None);
}

/// What `toString()` of Java's classes prints.
#[test]
fn texts_are_javas() {
    let time = |text: &str| Cursor::new(text).time().unwrap().to_string();
    for (text, java) in [
        ("10:15", "10:15"),
        ("10:15:00", "10:15"),
        ("10:15:30", "10:15:30"),
        ("10:15:30.5", "10:15:30.500"),
        ("10:15:30.123456", "10:15:30.123456"),
        ("00:00:00.000000001", "00:00:00.000000001"),
    ] {
        assert_eq!(time(text), java);
    }
    for (year, java) in [(2024, "2024"), (7, "0007"), (-44, "-0044"), (12_345, "+12345")] {
        assert_eq!(Year(year).to_string(), java);
    }
    for (offset, java) in [(0, "Z"), (28_800, "+08:00"), (-19_815, "-05:30:15")] {
        assert_eq!(Offset(offset).to_string(), java);
    }
    for (text, java) in [
        ("PT0S", "PT0S"),
        ("P2DT3H4M5.5S", "PT51H4M5.5S"),
        ("PT-1.5S", "PT-1.5S"),
        ("-PT1H", "PT-1H"),
        ("PT0.000000001S", "PT0.000000001S"),
        ("pt90m", "PT1H30M"),
    ] {
        assert_eq!(Cursor::new(text).duration().unwrap().duration(), java, "{text}");
    }
    for (text, java) in
        [("P1Y2M3D", "P1Y2M3D"), ("P2W1D", "P15D"), ("-P1M", "P-1M"), ("P0D", "P0D")]
    {
        assert_eq!(Cursor::new(text).period().unwrap().to_string(), java);
    }
    let moment = |text: &str| {
        let mut cursor = Cursor::new(text);
        let (date, time) = cursor.date_time().unwrap();
        Seconds::of(date, time, cursor.offset().unwrap())
    };
    let seconds = moment("2024-01-31T18:15:30.25+08:00");
    assert_eq!(seconds.instant().unwrap(), "2024-01-31T10:15:30.250Z");
    assert_eq!(seconds.millis(), Some(1_706_696_130_250));
    assert_eq!(moment("1969-12-31T23:59:59.999Z").millis(), Some(-1));
}

#[test]
fn what_is_no_date_or_time_is_refused() {
    for text in ["2024-1-31", "24-01-31", "2024-02-30", "2024/01/31", "+1-01-01", ""] {
        assert_eq!(Cursor::new(text).date(), None, "{text}");
    }
    for text in ["24:00", "10:60", "10", "10:15:60", "10:15:30.", "1:15"] {
        assert_eq!(Cursor::new(text).time(), None, "{text}");
    }
    for text in ["+19:00", "08:00", "+8", "+08:60", ""] {
        assert_eq!(Cursor::new(text).offset(), None, "{text}");
    }
    for text in
        ["P", "PT", "P1H", "PT1D", "PT1S1H", "PT1.5H", "1H", "PT1H1H", "PT999999999999999999H"]
    {
        assert_eq!(Cursor::new(text).duration(), None, "{text}");
    }
    for text in ["P", "P1D1Y", "P1H", "1D", "P1D1D"] {
        assert_eq!(Cursor::new(text).period(), None, "{text}");
    }
}

proptest! {
    #[test]
    fn every_day_survives(days in -365_243_219_162_i64..365_241_780_471) {
        let date = Date::of_days(days).unwrap();
        prop_assert_eq!(date.days(), days);
        prop_assert_eq!(Cursor::new(&date.to_string()).date(), Some(date));
    }

    #[test]
    fn every_length_survives(seconds in any::<i64>(), nanos in 0..1_000_000_000) {
        let length = Seconds { seconds: seconds / 1000, nanos };
        prop_assert_eq!(Cursor::new(&length.duration()).duration(), Some(length));
    }

    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,30}", near in "[0-9PTHMSDYZ:.+\\-é ]{0,24}") {
        for text in [&text, &near] {
            let _ = Cursor::new(text).date_time();
            let _ = Cursor::new(text).time();
            let _ = Cursor::new(text).offset();
            let _ = Cursor::new(text).zone();
            let _ = Cursor::new(text).period();
            let _ = Cursor::new(text).duration();
            let _ = Cursor::new(text).month_day();
        }
    }
}
