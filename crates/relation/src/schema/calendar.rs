//! MySQL's dates, dates with times, and times of day: read from texts or numbers, written in one canonical form.
//!
//! Examples: the DATE of `24/1/2` and of `240102` is `2024-01-02`. The DATETIME(1) of `2024-12-31 23:59:59.96` is
//! `2025-01-01 00:00:00.0`. The TIME of `1112` is `00:11:12`.

use super::column_type::FRACTION_MAX;
use super::timestamp::days_in_month;
use super::value_error::ValueError;
use crate::value::Value;

const MICROS: i64 = 1_000_000;
const DAY: i64 = 86_400 * MICROS;
/// 838:59:59, MySQL's longest TIME, in microseconds.
const TIME_MAX: i64 = ((838 * 60 + 59) * 60 + 59) * MICROS;

/// A day of the Gregorian calendar and a time in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Moment {
    year: i64,
    month: i64,
    day: i64,
    /// Microseconds since midnight: 0 to one day, and below a day once carried.
    micros: i64,
}

/// A DATE: `2024-01-02`. A time is rounded to seconds and dropped, as in MySQL.
pub(super) fn date(value: &Value) -> Result<Value, ValueError> {
    let moment = moment(value, 0)?;
    Ok(Value::Str(moment.date()))
}

/// A DATETIME: `2024-01-02 03:04:05.678`, rounded to `fraction_digits` digits.
pub(super) fn datetime(value: &Value, fraction_digits: u8) -> Result<Value, ValueError> {
    let moment = moment(value, fraction_digits)?;
    let time = clock(moment.micros, fraction_digits);
    Ok(Value::Str(format!("{} {time}", moment.date())))
}

/// A TIME: `-838:59:59` … `838:59:59`. A date with a time gives its time.
pub(super) fn time(value: &Value, fraction_digits: u8) -> Result<Value, ValueError> {
    let text = match value {
        // Up to the hours of a TIME its digits are a time; more have a date before it.
        Value::Int(_) | Value::Float(_) if plain(value).split('.').next().is_some_and(is_time) => {
            plain(value).into_bytes()
        }
        value => written(value)?,
    };
    let text = text.trim_ascii();
    let micros = match Reader(text).dated() {
        Some(moment) if text.contains(&b':') && text.iter().any(|byte| b"-/".contains(byte)) => {
            moment.micros
        }
        _ => Reader(text).duration().ok_or(ValueError::Incorrect)?,
    };
    let rounded = round(micros.abs(), fraction_digits);
    if rounded > TIME_MAX {
        return Err(ValueError::OutOfRange);
    }
    let sign = if micros < 0 && rounded > 0 { "-" } else { "" };
    let time = clock(rounded, fraction_digits);
    Ok(Value::Str(format!("{sign}{time}")))
}

/// A YEAR: 0, 1901 ..= 2155. One or two digits are 1970 … 2069.
pub(super) fn year(value: &Value, number: i128) -> Result<Value, ValueError> {
    let is_short = value
        .text_bytes()
        .is_some_and(|text| text.trim_ascii().len() != 4);
    match number {
        0 if !is_short => Ok(Value::Int(0)),
        0..=69 => Ok(Value::Int(2000 + number)),
        70..=99 => Ok(Value::Int(1900 + number)),
        1901..=2155 => Ok(Value::Int(number)),
        _ => Err(ValueError::OutOfRange),
    }
}

/// The text of a DATETIME without trailing zeros, so that dates, and datetimes of any precision, compare as texts.
pub(super) fn without_zeros(text: &str) -> &str {
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    };
    text.strip_suffix(" 00:00:00").unwrap_or(text)
}

/// The number that MySQL makes of a TIME: `-10:11:12.5` becomes -101112.5. Its order is that of times.
pub(super) fn time_number(text: &str) -> Value {
    let digits: String = text.chars().filter(|digit| *digit != ':').collect();
    let digits = without_fraction_zeros(&digits);
    match digits.parse() {
        Ok(whole) => Value::Int(whole),
        Err(_) => digits.parse().map_or(Value::Null, Value::Float),
    }
}

/// The text of a TIME, of the digits of its number as [`time_number`] makes it, and what stands behind its seconds.
pub(super) fn time_text(is_negative: bool, digits: u128, fraction: &str) -> Value {
    let sign = if is_negative { "-" } else { "" };
    let (hours, minutes, seconds) = (digits / 10_000, digits / 100 % 100, digits % 100);
    Value::Str(format!(
        "{sign}{hours:02}:{minutes:02}:{seconds:02}{fraction}"
    ))
}

/// `1.50` as `1.5`, `1.00` as `1`.
pub(super) fn without_fraction_zeros(digits: &str) -> &str {
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    }
}

fn moment(value: &Value, fraction_digits: u8) -> Result<Moment, ValueError> {
    let text = written(value)?;
    let read = Reader(text.trim_ascii()).dated();
    let mut moment = read.ok_or(ValueError::Incorrect)?;
    moment.micros = round(moment.micros, fraction_digits);
    moment.carried().ok_or(ValueError::OutOfRange)
}

/// The text of a value. The digits of a number are padded to a form that has a date: `240102`, `20240102`, or either
/// with a time.
fn written(value: &Value) -> Result<Vec<u8>, ValueError> {
    match value {
        Value::Null => Err(ValueError::Null),
        Value::Str(text) => Ok(text.as_bytes().to_vec()),
        Value::Bytes(bytes) => Ok(bytes.clone()),
        Value::Set(_) | Value::Json(_) => Err(ValueError::Incorrect),
        Value::Int(_) | Value::Float(_) => Ok(filled(&plain(value)).into_bytes()),
    }
}

fn plain(number: &Value) -> String {
    match number {
        Value::Float(number) => number.to_string(), // `{number}` has no exponent
        other => other.to_string(),
    }
}

/// Whether the whole part of a number has no more digits than `8385959`.
fn is_time(whole: &str) -> bool {
    whole.trim_start_matches('-').len() <= 7
}

fn filled(number: &str) -> String {
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    let widths = [6, 8, 12, 14];
    match widths.into_iter().find(|width| digits <= *width) {
        Some(width) if digits > 2 => format!("{}{number}", "0".repeat(width - digits)),
        _ => number.to_owned(),
    }
}

/// Rounds to `fraction_digits` digits of a second, half up.
fn round(micros: i64, fraction_digits: u8) -> i64 {
    let step = 10i64.pow(u32::from(FRACTION_MAX.saturating_sub(fraction_digits)));
    (micros + step / 2) / step * step
}

/// `03:04:05.678`. Times above a day have more hours.
fn clock(micros: i64, fraction_digits: u8) -> String {
    let seconds = micros / MICROS;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let mut text = format!("{hours:02}:{minutes:02}:{:02}", seconds % 60);
    if fraction_digits > 0 {
        let fraction = format!("{:06}", micros % MICROS);
        text.push('.');
        text.extend(fraction.chars().take(fraction_digits.into()));
    }
    text
}

impl Moment {
    fn date(&self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }

    fn is_valid(&self) -> bool {
        (0..=9999).contains(&self.year)
            && (1..=12).contains(&self.month)
            && (1..=days_in_month(self.year, self.month)).contains(&self.day)
    }

    /// Carries a time of at most a day too much or too little into the date. `None`: the date leaves the years 0 to
    /// 9999.
    fn carried(mut self) -> Option<Moment> {
        if self.micros >= DAY {
            self.micros -= DAY;
            self.day += 1;
            if self.day > days_in_month(self.year, self.month) {
                (self.month, self.day) = (self.month + 1, 1);
            }
            if self.month > 12 {
                (self.year, self.month) = (self.year + 1, 1);
            }
        } else if self.micros < 0 {
            self.micros += DAY;
            self.day -= 1;
            if self.day < 1 {
                self.month -= 1;
                if self.month < 1 {
                    (self.year, self.month) = (self.year - 1, 12);
                }
                self.day = days_in_month(self.year, self.month);
            }
        }
        self.is_valid().then_some(self)
    }
}

/// The unread rest of a text.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take(&mut self, wanted: &[u8]) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        wanted.contains(first).then(|| self.0 = rest)?;
        Some(*first)
    }

    fn digits_ahead(&self) -> usize {
        self.0
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    }

    /// Takes one to `most` digits.
    fn number(&mut self, most: usize) -> Option<i64> {
        let count = self.digits_ahead().min(most);
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        let digits = std::str::from_utf8(digits).ok()?;
        digits.parse().ok() // fails without a digit
    }

    /// Takes a second's fraction, in microseconds. The seventh digit rounds. 0 where there is no point.
    fn fraction(&mut self) -> i64 {
        if self.take(b".").is_none() {
            return 0;
        }
        let mut tenths = 0; // of a microsecond
        let mut worth = MICROS;
        while let Some(digit) = self.take(b"0123456789") {
            tenths += i64::from(digit - b'0') * worth;
            worth /= 10;
        }
        (tenths + 5) / 10
    }

    /// Takes `2024-01-02`, `24/1/2` or `20240102`, each with or without a time.
    fn dated(mut self) -> Option<Moment> {
        let count = self.digits_ahead();
        let mut moment = if count >= 5 {
            self.compact(count)?
        } else {
            self.separated(count)?
        };
        if !self.0.is_empty() {
            moment.micros -= self.zone()?;
        }
        (self.0.is_empty() && moment.is_valid()).then_some(moment)?;
        moment.carried()
    }

    /// Takes digits alone: a year of two or four digits, month, day, and perhaps hour, minute and second.
    fn compact(&mut self, count: usize) -> Option<Moment> {
        let (year_digits, has_time) = match count {
            6 => (2, false),
            8 => (4, false),
            12 => (2, true),
            14 => (4, true),
            _ => return None,
        };
        let year = self.number(year_digits)?;
        let mut moment = Moment {
            year: full_year(year, year_digits),
            month: self.number(2)?,
            day: self.number(2)?,
            micros: 0,
        };
        if has_time {
            let parts = [self.number(2)?, self.number(2)?, self.number(2)?];
            moment.micros = time_of_day(parts)? + self.fraction();
        } else if matches!(self.0.first(), Some(b'T' | b't' | b' ')) {
            moment.micros = self.time_behind_date()?;
        }
        Some(moment)
    }

    fn separated(&mut self, year_digits: usize) -> Option<Moment> {
        let year = self.number(4)?;
        self.take(b"-/.")?;
        let month = self.number(2)?;
        self.take(b"-/.")?;
        let day = self.number(2)?;
        let micros = match self.0.is_empty() {
            true => 0,
            false => self.time_behind_date()?,
        };
        Some(Moment {
            year: full_year(year, year_digits),
            month,
            day,
            micros,
        })
    }

    /// Takes `T03`, ` 03:04`, ` 03:04:05.678`.
    fn time_behind_date(&mut self) -> Option<i64> {
        self.take(b"Tt ")?;
        let mut parts = [self.number(2)?, 0, 0];
        for part in parts.iter_mut().skip(1) {
            if self.take(b":").is_none() {
                return time_of_day(parts);
            }
            *part = self.number(2)?;
        }
        Some(time_of_day(parts)? + self.fraction())
    }

    /// Takes `Z`, `+02:00`, `-02:30`, in microseconds east of UTC.
    fn zone(&mut self) -> Option<i64> {
        if self.take(b"Zz").is_some() {
            return Some(0);
        }
        let sign = if self.take(b"+-")? == b'-' { -1 } else { 1 };
        let hours = self.number(2)?;
        self.take(b":")?;
        let minutes = self.number(2)?;
        let seconds = (hours * 60 + minutes) * 60;
        (minutes < 60 && seconds <= 14 * 3600).then_some(sign * seconds * MICROS)
    }

    /// Takes `10:11:12.5`, `10:11`, `2 10:11:12` (days first), `101112`, `1112` (minutes, seconds) or `12`, each with
    /// or without a sign.
    fn duration(mut self) -> Option<i64> {
        let sign = match self.take(b"+-") {
            Some(b'-') => -1,
            _ => 1,
        };
        let first = self.number(7)?; // 838:59:59 needs six digits; seven fit 64 bits
        let has_days = self.take(b" ").is_some();
        let (days, hours) = match has_days {
            true => (first, self.number(3)?),
            false => (0, first),
        };
        let (hours, minutes, seconds) = if self.take(b":").is_some() {
            let minutes = self.number(2)?;
            let seconds = match self.take(b":") {
                Some(_) => self.number(2)?,
                None => 0,
            };
            (hours, minutes, seconds)
        } else if has_days {
            (hours, 0, 0)
        } else {
            (hours / 10_000, hours / 100 % 100, hours % 100)
        };
        let micros = self.fraction();
        if !self.0.is_empty() || minutes > 59 || seconds > 59 {
            return None;
        }
        let seconds = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
        Some(sign * (seconds * MICROS + micros))
    }
}

/// A year: two digits are 1970 … 2069.
fn full_year(year: i64, digits: usize) -> i64 {
    match (digits, year) {
        (..=2, ..=69) => 2000 + year,
        (..=2, _) => 1900 + year,
        _ => year,
    }
}

fn time_of_day([hour, minute, second]: [i64; 3]) -> Option<i64> {
    let is_valid = hour < 24 && minute < 60 && second < 60;
    is_valid.then_some(((hour * 60 + minute) * 60 + second) * MICROS)
}
