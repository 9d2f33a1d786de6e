//! ISO 8601 dates and times as seconds since 1970-01-01 UTC.

use crate::value::Value;

/// Reads `2024-01-02`, `2024-01-02T03:04`, `2024-01-02 03:04:05.678Z`, `…+02:00`, `…+0200`, `…+02`. A time without a
/// zone is UTC. A fraction is dropped; second 60 is the first of the next minute. White space around the text is
/// skipped.
pub(super) fn parse(text: &[u8]) -> Option<i64> {
    let read = read(text)?;
    Some(read.wall - read.offset.unwrap_or(0))
}

/// As [`parse`], with the fraction of the second: a whole number, or a real one to the microsecond.
pub(super) fn parse_exact(text: &[u8]) -> Option<Value> {
    parse_local(text, &Some)
}

/// As [`parse_exact`]. `seconds_of`: the moment of a time without a zone, of which it gets the seconds as if it were UTC.
pub(crate) fn parse_local(text: &[u8], seconds_of: &dyn Fn(i64) -> Option<i64>) -> Option<Value> {
    let read = read(text)?;
    let seconds = match read.offset {
        Some(offset) => read.wall - offset,
        None => seconds_of(read.wall)?,
    };
    Some(match read.micros {
        0 => Value::Int(seconds.into()),
        micros => Value::Float(seconds as f64 + micros as f64 / 1e6),
    })
}

/// A moment as it is written.
struct Written {
    /// Seconds since 1970-01-01 of the clock that it is read from.
    wall: i64,
    /// Microseconds beside them.
    micros: u32,
    /// Seconds of the clock's zone east of UTC, if it is written.
    offset: Option<i64>,
}

fn read(text: &[u8]) -> Option<Written> {
    let (mut micros, mut offset) = (0, None);
    let mut rest = text.trim_ascii();
    let year = digits(&mut rest, 4)?;
    byte(&mut rest, b"-")?;
    let month = digits(&mut rest, 2)?;
    byte(&mut rest, b"-")?;
    let day = digits(&mut rest, 2)?;
    if !(1..=12).contains(&month) || !(1..=days_in_month(year, month)).contains(&day) {
        return None;
    }
    let mut wall = days_since_1970(year, month, day) * 86_400;
    if !rest.is_empty() {
        byte(&mut rest, b"Tt ")?;
        wall += time_of_day(&mut rest, &mut micros)?;
        if !rest.is_empty() {
            offset = Some(zone_offset(&mut rest)?);
        }
    }
    let written = Written {
        wall,
        micros,
        offset,
    };
    rest.is_empty().then_some(written)
}

/// Takes one byte of `wanted`.
fn byte(rest: &mut &[u8], wanted: &[u8]) -> Option<u8> {
    let (first, after) = rest
        .split_first()
        .filter(|(first, _)| wanted.contains(first))?;
    *rest = after;
    Some(*first)
}

/// Takes exactly `count` digits.
fn digits(rest: &mut &[u8], count: usize) -> Option<i64> {
    let (number, after) = rest.split_at_checked(count)?;
    *rest = after;
    number.iter().try_fold(0, |number, byte| {
        Some(number * 10 + i64::from(char::from(*byte).to_digit(10)?))
    })
}

/// `03:04`, `03:04:05`, `03:04:05.678` in seconds, and the microseconds of a fraction.
fn time_of_day(rest: &mut &[u8], micros: &mut u32) -> Option<i64> {
    let hour = digits(rest, 2)?;
    byte(rest, b":")?;
    let minute = digits(rest, 2)?;
    let mut second = 0;
    if byte(rest, b":").is_some() {
        second = digits(rest, 2)?;
        if byte(rest, b".,").is_some() {
            let mut worth = 100_000;
            *micros = digits(rest, 1)? as u32 * worth;
            while let Some(digit) = byte(rest, b"0123456789") {
                worth /= 10;
                *micros += u32::from(digit - b'0') * worth;
            }
        }
    }
    (hour < 24 && minute < 60 && second <= 60).then_some((hour * 60 + minute) * 60 + second)
}

/// `Z`, `+02:00`, `-0230`, `+02`, in seconds east of UTC.
fn zone_offset(rest: &mut &[u8]) -> Option<i64> {
    if byte(rest, b"Zz").is_some() {
        return Some(0);
    }
    let sign = byte(rest, b"+-")?;
    let hours = digits(rest, 2)?;
    let mut minutes = 0;
    if !rest.is_empty() {
        let _ = byte(rest, b":");
        minutes = digits(rest, 2)?;
    }
    let seconds = (hours * 60 + minutes) * 60;
    (hours < 24 && minutes < 60).then_some(if sign == b'-' { -seconds } else { seconds })
}

pub(super) fn days_in_month(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a day of the Gregorian calendar. Years are counted from March, so that a leap day is the
/// last day.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    const DAYS_TO_1970: i64 = 719_468; // from 0000-03-01
    let year = if month > 2 { year } else { year - 1 };
    let months_since_march = (month + 9) % 12;
    let day_of_year = (153 * months_since_march + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year
        - DAYS_TO_1970
}
