//! Functions of dates and times.
//!
//! A moment is a number of seconds since 1970-01-01 UTC, as in a `timestamp` column, or a text such as `2024-01-02 03:04:05`,
//! as in a DATETIME column. A function of dates looks at a moment in UTC, or in the zone of its last argument. A text without
//! a zone is local time there already. Example: 1,735,686,000 is 2024-12-31 23:00:00 in UTC, so `YEAR(ts)` is 2024 and
//! `YEAR(ts, 'Europe/Berlin')` is 2025.

use std::borrow::Cow;

use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use language::meter::{Unmetered, Work};

use super::super::function::Function;
use super::number::whole;
use super::text::text_of;
use crate::limits::{DATE_FORMAT_BYTES_MAX, DATE_TEXT_BYTES_MAX};
use crate::schema::local_timestamp;
use crate::time_unit;
use crate::value::Value;

/// A unit of DATE_ADD, and of buckets by calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

impl Unit {
    /// `day`, `days`, `DAY`, `1d` …; `m` is a minute, and `M` a month.
    pub(super) fn named(name: &str) -> Option<Unit> {
        let name = time_unit::folded(name.strip_prefix('1').unwrap_or(name));
        Some(match &*name {
            "s" | "second" | "seconds" => Unit::Second,
            "m" | "minute" | "minutes" => Unit::Minute,
            "h" | "hour" | "hours" => Unit::Hour,
            "d" | "day" | "days" => Unit::Day,
            "w" | "week" | "weeks" => Unit::Week,
            "M" | "month" | "months" => Unit::Month,
            "q" | "quarter" | "quarters" => Unit::Quarter,
            "y" | "year" | "years" => Unit::Year,
            _ => return None,
        })
    }

    /// `count` of this unit; `None`: too many.
    pub(super) fn span(self, count: i64) -> Option<Span> {
        let span = Span::new();
        let spanned = match self {
            Unit::Second => span.try_seconds(count),
            Unit::Minute => span.try_minutes(count),
            Unit::Hour => span.try_hours(count),
            Unit::Day => span.try_days(count),
            Unit::Week => span.try_weeks(count),
            Unit::Month => span.try_months(count),
            Unit::Quarter => span.try_months(count.checked_mul(3)?),
            Unit::Year => span.try_years(count),
        };
        spanned.ok()
    }

    fn is_of_one_length(self) -> bool {
        match self {
            Unit::Second | Unit::Minute | Unit::Hour => true,
            Unit::Day | Unit::Week | Unit::Month | Unit::Quarter | Unit::Year => false,
        }
    }

    /// The beginning of the unit in which a local time lies. Weeks begin on Monday.
    pub(super) fn begin(self, at: DateTime) -> Option<DateTime> {
        let (year, month) = (at.year(), at.month());
        let day = |date: Date| Some(date.at(0, 0, 0, 0));
        match self {
            Unit::Second => DateTime::new(
                year,
                month,
                at.day(),
                at.hour(),
                at.minute(),
                at.second(),
                0,
            )
            .ok(),
            Unit::Minute => DateTime::new(year, month, at.day(), at.hour(), at.minute(), 0, 0).ok(),
            Unit::Hour => DateTime::new(year, month, at.day(), at.hour(), 0, 0, 0).ok(),
            Unit::Day => day(at.date()),
            Unit::Week => {
                let back = i64::from(at.date().weekday().to_monday_zero_offset());
                day(at.date().checked_sub(Unit::Day.span(back)?).ok()?)
            }
            Unit::Month => day(Date::new(year, month, 1).ok()?),
            Unit::Quarter => day(Date::new(year, (month - 1) / 3 * 3 + 1, 1).ok()?),
            Unit::Year => day(Date::new(year, 1, 1).ok()?),
        }
    }
}

/// The value of a function of dates that looks at them in a zone.
pub(super) fn value(function: Function, zone: &TimeZone, arguments: &[Value]) -> Option<Value> {
    let at = |place: usize| arguments.get(place).unwrap_or(&Value::Null);
    match function {
        Function::DateDiff => {
            let (a, b) = (local(at(0), zone)?.date(), local(at(1), zone)?.date());
            Some(Value::Int(i128::from(days(a) - days(b))))
        }
        Function::TimeDiff => time_diff(at(0), at(1)),
        Function::DateFormat => formatted(at(0), zone, &written(at(1))?),
        Function::FromUnixtime => {
            let format = match arguments.get(1) {
                None => "%Y-%m-%d %H:%M:%S".into(),
                Some(format) => written(format)?,
            };
            formatted(at(0), zone, &format)
        }
        Function::UnixTimestamp => Some(Value::Int(seconds(at(0), zone)?.into())),
        Function::LocalMoment => Some(in_zone(at(0), zone).unwrap_or_else(|| at(0).clone())),
        function => match part_of_time(function, at(0)) {
            Some(part) => Some(part),
            None => part(function, local(at(0), zone)?),
        },
    }
}

/// Hour, minute or second of a TIME, whose hours may be hundreds; `None`: it is no such part, or of no TIME.
fn part_of_time(function: Function, time: &Value) -> Option<Value> {
    let seconds = time_seconds(time)?.abs();
    let part = match function {
        Function::Time => return Some(time.clone()),
        Function::Hour => seconds / 3_600,
        Function::Minute => seconds / 60 % 60,
        Function::Second => seconds % 60,
        _ => return None,
    };
    Some(Value::Int(part.into()))
}

/// Whole seconds of a TIME as its column stores it: `-100:11:12`. `None`: another value, such as a date.
fn time_seconds(time: &Value) -> Option<i64> {
    let Value::Str(text) = time else {
        return None;
    };
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.as_str()),
    };
    let mut parts = digits.split(':');
    let number = |part: &str, digits: std::ops::RangeInclusive<usize>| -> Option<i64> {
        let is_number = digits.contains(&part.len()) && part.bytes().all(|it| it.is_ascii_digit());
        is_number.then(|| part.parse().ok())?
    };
    let hours = number(parts.next()?, 1..=3)?;
    let minutes = number(parts.next()?, 2..=2)?;
    let second = parts.next()?;
    let (second, fraction) = second.split_once('.').unwrap_or((second, ""));
    let seconds = number(second, 2..=2)?;
    let is_whole = parts.next().is_none() && fraction.bytes().all(|it| it.is_ascii_digit());
    (is_whole && minutes < 60 && seconds < 60)
        .then_some(sign * (hours * 3_600 + minutes * 60 + seconds))
}

/// A moment as local time in a zone; `None`: it is none, or outside the years −9999 to 9999.
pub(super) fn local(moment: &Value, zone: &TimeZone) -> Option<DateTime> {
    match moment {
        Value::Str(_) | Value::Bytes(_) => {
            let text = written(moment)?;
            let digits = text.trim_start_matches('-').bytes();
            match digits.clone().all(|byte| byte.is_ascii_digit()) && digits.len() > 0 {
                true => Some(zone.to_datetime(timestamp(text.parse().ok()?)?)),
                false => of_text(&text, zone),
            }
        }
        other => Some(zone.to_datetime(timestamp(whole(other.number()?))?)),
    }
}

/// The text of a moment or of a format; `None`: NULL, or longer than any.
fn written(value: &Value) -> Option<Cow<'_, str>> {
    let is_long = match value {
        Value::Str(_) | Value::Bytes(_) => {
            let bytes = value.text_bytes().unwrap_or_default();
            bytes.trim_ascii().len() > DATE_TEXT_BYTES_MAX
        }
        Value::Set(_) | Value::Json(_) => value.memory() > DATE_TEXT_BYTES_MAX,
        Value::Null | Value::Int(_) | Value::Float(_) => false,
    };
    // It is short, so its work needs no count.
    (!is_long).then(|| text_of(value, &Work::new(&Unmetered)))?
}

fn timestamp(seconds: i64) -> Option<Timestamp> {
    Timestamp::from_second(seconds).ok()
}

/// A text with a zone of its own is that moment; one without is local time.
fn of_text(text: &str, zone: &TimeZone) -> Option<DateTime> {
    let text = text.trim();
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(zone.to_datetime(at));
    }
    text.parse::<DateTime>().ok()
}

/// A moment as seconds since 1970-01-01 UTC. A local time that a change of clocks leaves out or repeats is taken as the calendar
/// software of RFC 5545 takes it: the first of two, or as many minutes later.
pub(super) fn seconds(moment: &Value, zone: &TimeZone) -> Option<i64> {
    match moment {
        Value::Str(_) | Value::Bytes(_) => since_1970(local(moment, zone)?, zone),
        other => Some(whole(other.number()?)),
    }
}

/// The seconds of a text that is a date, as a clock of the zone shows it. `None`: it is no such text. A time that a change of clocks
/// leaves out is as many minutes later, one that it repeats the first of two.
pub(in super::super) fn in_zone(value: &Value, zone: &TimeZone) -> Option<Value> {
    let Value::Str(text) = value else {
        return None;
    };
    local_timestamp(text.as_bytes(), &|as_utc| {
        let at = Timestamp::from_second(as_utc).ok()?;
        let zoned = zone.to_zoned(TimeZone::UTC.to_datetime(at)).ok()?;
        Some(zoned.timestamp().as_second())
    })
}

pub(super) fn since_1970(at: DateTime, zone: &TimeZone) -> Option<i64> {
    Some(zone.to_timestamp(at).ok()?.as_second())
}

fn part(function: Function, at: DateTime) -> Option<Value> {
    let date = at.date();
    let number = |number: i64| Some(Value::Int(number.into()));
    let (year, month, day) = (
        i64::from(at.year()),
        i64::from(at.month()),
        i64::from(at.day()),
    );
    let sunday_zero = || i64::from(date.weekday().to_sunday_zero_offset());
    match function {
        Function::Year => number(year),
        Function::Quarter => number((month - 1) / 3 + 1),
        Function::Month => number(month),
        Function::Day => number(day),
        Function::Hour => number(at.hour().into()),
        Function::Minute => number(at.minute().into()),
        Function::Second => number(at.second().into()),
        Function::YearMonth => number(year * 100 + month),
        Function::YearMonthDay => number(year * 10_000 + month * 100 + day),
        Function::DayOfWeek => number(sunday_zero() + 1),
        Function::Weekday => number(date.weekday().to_monday_zero_offset().into()),
        Function::DayOfYear => number(date.day_of_year().into()),
        Function::Week => {
            // MySQL's mode 0: weeks begin on Sunday, and week 1 is the first with a Sunday in this year.
            let day_of_year = i64::from(date.day_of_year());
            number((day_of_year + 6 - sunday_zero()) / 7)
        }
        Function::YearWeek => {
            let sunday = date.checked_sub(Unit::Day.span(sunday_zero())?).ok()?;
            let week = (i64::from(sunday.day_of_year()) + 6) / 7;
            number(i64::from(sunday.year()) * 100 + week)
        }
        Function::DayName => text(at, "%A"),
        Function::MonthName => text(at, "%B"),
        Function::Date => text(at, "%Y-%m-%d"),
        Function::Time => text(at, "%H:%M:%S"),
        _ => None,
    }
}

fn text(at: DateTime, format: &str) -> Option<Value> {
    strtime::format(format, at).ok().map(Value::Str)
}

/// By strftime, as Manticore's DATE_FORMAT. `%z` and `%Z` are those of the zone at that time.
fn formatted(moment: &Value, zone: &TimeZone, format: &str) -> Option<Value> {
    if format.len() > DATE_FORMAT_BYTES_MAX {
        return None;
    }
    let at = local(moment, zone)?;
    let zoned = match moment {
        Value::Str(_) | Value::Bytes(_) => zone.to_zoned(at).ok()?,
        // A number tells which of two equal times on the wall it is.
        number => timestamp(whole(number.number()?))?.to_zoned(zone.clone()),
    };
    strtime::format(format, &zoned).ok().map(Value::Str)
}

/// A moment, in seconds since 1970-01-01 UTC as local time; `None` beyond the years -9999 to 9999.
pub(in super::super) fn moment_in(seconds: i128, zone: &TimeZone, format: &str) -> Option<String> {
    let at = local(&Value::Int(seconds), zone)?;
    strtime::format(format, at).ok()
}

/// Whether strftime knows every sign of a format.
pub(super) fn is_format(format: &str) -> bool {
    let zoned = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
    strtime::format(format, &zoned).is_ok()
}

/// Days since 1970-01-01.
fn days(date: Date) -> i64 {
    let since = Date::constant(1970, 1, 1).duration_until(date);
    since.as_hours() / 24
}

/// As many units later or earlier. A number stays a number, a text a text; months end with their last day, as in MySQL. Days and what
/// is longer move a number on the calendar of the zone; hours and what is shorter are of one length, when clocks change, too.
pub(super) fn moved(
    function: Function,
    unit: Unit,
    zone: &TimeZone,
    arguments: &[Value],
) -> Option<Value> {
    let [moment, count, ..] = arguments else {
        return None;
    };
    let count = whole(count.number()?);
    let count = match function {
        Function::DateSub => count.checked_neg()?,
        _ => count,
    };
    let span = unit.span(count)?;
    let is_text = matches!(moment, Value::Str(_) | Value::Bytes(_));
    let zone = match is_text || unit.is_of_one_length() {
        true => &TimeZone::UTC,
        false => zone,
    };
    let at = local(moment, zone)?.checked_add(span).ok()?;
    match moment {
        Value::Str(written) if written.trim().len() <= 10 && at.time() == Time::midnight() => {
            text(at, "%Y-%m-%d")
        }
        Value::Str(_) | Value::Bytes(_) => text(at, "%Y-%m-%d %H:%M:%S%.f"),
        _ => Some(Value::Int(since_1970(at, zone)?.into())),
    }
}

/// Whether a name is that of a unit of days or longer, which leaves a date without a time.
pub(in super::super) fn is_of_days(unit: &Value) -> bool {
    let unit = match unit {
        Value::Str(name) => Unit::named(name),
        _ => None,
    };
    unit.is_some_and(|unit| !unit.is_of_one_length())
}

/// The time between two moments, or two times of day, as `[-]hh:mm:ss`.
fn time_diff(a: &Value, b: &Value) -> Option<Value> {
    let apart = match (time_seconds(a), time_seconds(b)) {
        (Some(a), Some(b)) => a - b,
        (None, None) => seconds(a, &TimeZone::UTC)?.checked_sub(seconds(b, &TimeZone::UTC)?)?,
        (Some(_), None) | (None, Some(_)) => return None, // as in MySQL
    };
    let sign = if apart < 0 { "-" } else { "" };
    let apart = apart.unsigned_abs();
    let (hours, minutes, seconds) = (apart / 3_600, apart / 60 % 60, apart % 60);
    Some(Value::Str(format!(
        "{sign}{hours:02}:{minutes:02}:{seconds:02}"
    )))
}
