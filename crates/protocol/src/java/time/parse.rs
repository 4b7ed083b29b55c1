//! Reads dates and times. Whatever is no such text is `None`.

use super::{Date, Offset, Period, Seconds, Time};

/// Reads from the front of a text.
pub(crate) struct Cursor<'a>(&'a str);

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self(text)
    }

    /// Succeeds if nothing is left.
    pub(crate) fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }

    /// One of these characters, in any case.
    fn any(&mut self, of: &[char]) -> Option<char> {
        let first = self.0.chars().next()?.to_ascii_uppercase();
        let found = of.contains(&first).then_some(first)?;
        self.0 = self.0.get(1..)?;
        Some(found)
    }

    fn eat(&mut self, c: char) -> Option<()> {
        self.any(&[c]).map(drop)
    }

    /// A number of that many digits.
    fn number(&mut self, digits: std::ops::RangeInclusive<usize>) -> Option<i64> {
        let count = self.0.bytes().take_while(u8::is_ascii_digit).count();
        if !digits.contains(&count) {
            return None;
        }
        let (number, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        number.parse().ok()
    }

    fn two(&mut self) -> Option<i64> {
        // Exactly two, even if more digits follow.
        let (number, rest) = self.0.split_at_checked(2)?;
        number.bytes().all(|b| b.is_ascii_digit()).then_some(())?;
        self.0 = rest;
        number.parse().ok()
    }

    /// `2024`, `+12345`, `-0044`.
    pub(crate) fn year(&mut self) -> Option<i64> {
        match self.any(&['+', '-']) {
            Some('-') => self.number(4..=9).map(|year| -year),
            Some(_) => self.number(4..=9),
            None => self.number(4..=4),
        }
    }

    /// The month of `2024-12`.
    pub(crate) fn month(&mut self) -> Option<i64> {
        self.eat('-')?;
        self.two().filter(|month| (1..=12).contains(month))
    }

    /// `2024-12-31`.
    pub(crate) fn date(&mut self) -> Option<Date> {
        let (year, month) = (self.year()?, self.month()?);
        self.eat('-')?;
        Date::new(year, month, self.two()?)
    }

    /// `--12-31`.
    pub(crate) fn month_day(&mut self) -> Option<(i64, i64)> {
        self.eat('-')?;
        let month = self.month()?;
        self.eat('-')?;
        let day = self.two()?;
        // In a leap year.
        Date::new(2000, month, day).map(|_| (month, day))
    }

    /// `10:15`, `10:15:30`, `10:15:30.5`.
    pub(crate) fn time(&mut self) -> Option<Time> {
        let hour = self.two()?;
        self.eat(':')?;
        let minute = self.two()?;
        let (mut second, mut nano) = (0, 0);
        if self.eat(':').is_some() {
            second = self.two()?;
            nano = self.fraction()?;
        }
        Time::new(hour, minute, second, nano)
    }

    /// What follows a decimal point, in billionths; 0 without one.
    fn fraction(&mut self) -> Option<i64> {
        if self.any(&['.', ',']).is_none() {
            return Some(0);
        }
        let before = self.0.len();
        let digits = self.number(1..=9)?;
        let count = u32::try_from(before - self.0.len()).ok()?;
        Some(digits * 10_i64.pow(9_u32.checked_sub(count)?))
    }

    /// What stands between a date and a time.
    pub(crate) fn date_time(&mut self) -> Option<(Date, Time)> {
        let date = self.date()?;
        self.any(&['T', ' '])?;
        Some((date, self.time()?))
    }

    /// `Z`, `+08:00`, `-05:30:15`, `+0800`, `+08`.
    pub(crate) fn offset(&mut self) -> Option<Offset> {
        let sign = match self.any(&['Z', '+', '-'])? {
            'Z' => return Some(Offset(0)),
            '-' => -1,
            _ => 1,
        };
        let hours = self.two()?;
        let mut seconds = hours * 3600;
        if self.eat(':').is_some() || self.0.starts_with(|c: char| c.is_ascii_digit()) {
            seconds += self.two().filter(|minutes| *minutes < 60)? * 60;
            if self.eat(':').is_some() || self.0.starts_with(|c: char| c.is_ascii_digit()) {
                seconds += self.two().filter(|seconds| *seconds < 60)?;
            }
        }
        Offset::new(sign * seconds)
    }

    /// `[Europe/Paris]`; the text itself may hold anything but brackets.
    pub(crate) fn zone(&mut self) -> Option<Option<&'a str>> {
        if self.eat('[').is_none() {
            return Some(None);
        }
        let (zone, rest) = self.0.split_once(']')?;
        self.0 = rest;
        (!zone.is_empty() && !zone.contains('[')).then_some(Some(zone))
    }

    fn sign(&mut self) -> i64 {
        if self.any(&['+', '-']) == Some('-') { -1 } else { 1 }
    }

    /// `P1Y2M3W4D`.
    pub(crate) fn period(&mut self) -> Option<Period> {
        let sign = self.sign();
        self.eat('P')?;
        let (mut period, mut units) = (Period::default(), "YMWD");
        loop {
            let count = self.sign() * self.number(1..=9)? * sign;
            let unit = self.any(&['Y', 'M', 'W', 'D'])?;
            units = units.split_once(unit)?.1;
            let days = if unit == 'W' { count * 7 } else { count };
            let place = match unit {
                'Y' => &mut period.years,
                'M' => &mut period.months,
                _ => &mut period.days,
            };
            *place = place.checked_add(i32::try_from(days).ok()?)?;
            if self.0.is_empty() {
                return Some(period);
            }
        }
    }

    /// `P2DT3H4M5.5S`.
    pub(crate) fn duration(&mut self) -> Option<Seconds> {
        let sign = i128::from(self.sign());
        self.eat('P')?;
        let (mut total, mut units, mut time) = (0_i128, "DHMS", false);
        loop {
            if !time && self.eat('T').is_some() {
                time = true;
            }
            let negative = self.sign() < 0;
            let whole = i128::from(self.number(1..=18)?) * 1_000_000_000;
            let part = i128::from(self.fraction()?);
            let count = if negative { -(whole + part) } else { whole + part };
            let unit = self.any(&['D', 'H', 'M', 'S'])?;
            if time == (unit == 'D') || (part != 0 && unit != 'S') {
                return None;
            }
            units = units.split_once(unit)?.1;
            total += count
                * match unit {
                    'D' => 86_400,
                    'H' => 3600,
                    'M' => 60,
                    _ => 1,
                };
            if self.0.is_empty() {
                let total = total * sign;
                let seconds = i64::try_from(total.div_euclid(1_000_000_000)).ok()?;
                return Some(Seconds { seconds, nanos: total.rem_euclid(1_000_000_000) as i32 });
            }
        }
    }
}
