//! Buckets: HISTOGRAM, RANGE, and those of dates.
//!
//! Example: `HISTOGRAM(price, {hist_interval=100})` is 200 for the prices 200 to 299. `RANGE(price, {range_to=100},
//! {range_from=100, range_to=200})` is 0 below 100, 1 from 100 to 199, and −1 for all others. RANGES gives the set of all ranges that
//! hold the number, as ranges may overlap.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::date::{Unit, local, seconds, since_1970};
use super::number::finite;
use super::options::Options;
use super::zoned::{self, Step};
use crate::time_unit;
use crate::value::{Number, Value};

/// The buckets of a call, from its options.
#[derive(Clone, Debug)]
pub(crate) enum Buckets {
    /// Of equal width; one begins at the offset, and others follow on both sides.
    Whole { width: i128, offset: i128 },
    /// As `Whole`, for real widths.
    Real { width: f64, offset: f64 },
    /// Of moments in a zone.
    Zoned(Step, TimeZone),
    /// Each from its first number up to, not including, its second.
    Ranges(Vec<Range>, Wanted),
    /// As `Ranges`, in seconds since 1970; texts are read in UTC.
    Moments(Vec<Range>, Wanted),
}

/// A range: from the first value up to, not including, the second. `None`: it has no end there.
type Range = (Option<Value>, Option<Value>);

/// Which of the ranges that hold a value are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted {
    /// The index of the first, or −1.
    First,
    /// The set of the indexes of all.
    All,
}

impl Buckets {
    /// The bucket of the first argument; `None` for NULL and what no bucket holds.
    pub(super) fn value(&self, arguments: &[Value]) -> Option<Value> {
        bucket(self, arguments.first()?)
    }

    pub(super) fn histogram(options: &Options) -> Result<Buckets, String> {
        options.only(&["hist_interval", "hist_offset"])?;
        let offset = options.get("hist_offset").unwrap_or(&Value::Int(0));
        let bad = || options.bad("hist_interval", "a number above 0");
        let buckets = match (options.get("hist_interval"), offset) {
            // Buckets repeat at each width, so only the rest of the offset counts. It is exact, and a small number.
            (Some(Value::Int(width)), Value::Int(offset)) if *width > 0 => Buckets::Whole {
                width: *width,
                offset: offset.rem_euclid(*width),
            },
            (Some(width @ (Value::Int(_) | Value::Float(_))), offset) => {
                let width = width.number().map_or(0.0, Number::real);
                if width <= 0.0 || !width.is_finite() {
                    return Err(bad());
                }
                let offset = match offset {
                    Value::Int(_) | Value::Float(_) => offset.number().map(Number::real),
                    _ => None,
                };
                let offset = offset.filter(|offset| offset.is_finite());
                let offset = offset.ok_or_else(|| options.bad("hist_offset", "a number"))?;
                Buckets::Real {
                    width,
                    offset: offset % width,
                }
            }
            _ => return Err(bad()),
        };
        Ok(buckets)
    }

    pub(super) fn date_histogram(options: &Options) -> Result<Buckets, String> {
        options.only(&["calendar_interval", "fixed_interval", "time_zone"])?;
        let zone = options.zone()?;
        let calendar = options.as_written("calendar_interval");
        let fixed = options.as_written("fixed_interval");
        let buckets = match (calendar, fixed) {
            (Some(name), None) => {
                let unit = Unit::named(&name).ok_or_else(|| {
                    options.bad(
                        "calendar_interval",
                        "second, minute, … or year; 1m is a minute, 1M a month",
                    )
                })?;
                Buckets::Zoned(Step::Calendar(unit), zone)
            }
            (None, Some(written)) => {
                let width = fixed_seconds(&written).ok_or_else(|| {
                    let units = "a time in s, m (minutes), h or d, such as 90s or 12h";
                    options.bad("fixed_interval", units)
                })?;
                match zone == TimeZone::UTC {
                    true => Buckets::Whole {
                        width: width.into(),
                        offset: 0,
                    },
                    false => Buckets::Zoned(Step::Seconds(width), zone),
                }
            }
            _ => {
                return Err(
                    "date_histogram() wants either calendar_interval or fixed_interval".to_owned(),
                );
            }
        };
        Ok(buckets)
    }
}

/// The ranges of RANGE and RANGES.
pub(super) fn ranges(options: &[Options], wanted: Wanted) -> Result<Buckets, String> {
    let mut ranges = Vec::with_capacity(options.len());
    for options in options {
        options.only(&["range_from", "range_to"])?;
        let end = |name: &str| match options.get(name) {
            None => Ok(None),
            Some(number @ (Value::Int(_) | Value::Float(_))) => Ok(Some(number.clone())),
            Some(_) => Err(options.bad(name, "a number")),
        };
        ranges.push((end("range_from")?, end("range_to")?));
    }
    Ok(Buckets::Ranges(ranges, wanted))
}

/// The ranges of DATE_RANGE and DATE_RANGES.
pub(super) fn date_ranges(options: &[Options], wanted: Wanted) -> Result<Buckets, String> {
    let mut ranges = Vec::with_capacity(options.len());
    for options in options {
        options.only(&["range_from", "range_to"])?;
        let end = |name: &str| match options.get(name) {
            None => Ok(None),
            Some(written) => moment_seconds(written)
                .map(|moment| Some(Value::Int(moment.into())))
                .ok_or_else(|| options.bad(name, "a date, as '2024-01-31||+1M/d'")),
        };
        ranges.push((end("range_from")?, end("range_to")?));
    }
    Ok(Buckets::Moments(ranges, wanted))
}

/// Seconds of `90s`, `30m`, `12h`, `7d`; `None`: it is none of these, 0, or no whole number of seconds.
fn fixed_seconds(written: &str) -> Option<i64> {
    let ms = time_unit::milliseconds(written)?;
    let seconds = i64::try_from(ms / 1_000).ok()?;
    (ms > 0 && ms.is_multiple_of(1_000)).then_some(seconds)
}

/// The date before `||`. Of `2024` and `2024-03` it is the first day.
fn base_date(text: &str) -> Option<DateTime> {
    let is_written_as = |shape: &str| {
        let fits = |(letter, digit): (char, char)| match digit {
            '0' => letter.is_ascii_digit(),
            other => letter == other,
        };
        text.len() == shape.len() && text.chars().zip(shape.chars()).all(fits)
    };
    let whole = match (is_written_as("0000"), is_written_as("0000-00")) {
        (true, _) => format!("{text}-01-01"),
        (_, true) => format!("{text}-01"),
        _ => text.to_owned(),
    };
    local(&Value::Str(whole), &TimeZone::UTC)
}

/// A moment in UTC with Elasticsearch's date mathematics, in seconds since 1970: `2024-01-31||+1M-2d/d` is the beginning of the day
/// that lies two days before one month later. `None`: it is none.
#[must_use]
pub fn moment_seconds(written: &Value) -> Option<i64> {
    let text = match written {
        Value::Str(text) => text,
        number => return seconds(number, &TimeZone::UTC),
    };
    let (base, steps) = text.split_once("||").unwrap_or((text, ""));
    let mut at = base_date(base)?;
    let mut rest = steps;
    while let Some(sign) = rest.chars().next() {
        rest = rest.get(1..)?;
        let digits = rest.len()
            - rest
                .trim_start_matches(|sign: char| sign.is_ascii_digit())
                .len();
        let count: i64 = match digits {
            0 => 1,
            _ => rest.get(..digits)?.parse().ok()?,
        };
        let unit = rest.get(digits..digits + 1)?;
        rest = rest.get(digits + 1..)?;
        at = step(at, sign, count, unit)?;
    }
    since_1970(at, &TimeZone::UTC)
}

/// A moment of seconds since 1970, in UTC: `2017-03-01T00:00:00`. `None`: it is none.
#[must_use]
pub fn moment_text(seconds: i64) -> Option<String> {
    let seconds = Value::Int(seconds.into());
    local(&seconds, &TimeZone::UTC).map(|at| at.to_string())
}

fn step(at: DateTime, sign: char, count: i64, unit: &str) -> Option<DateTime> {
    let unit = Unit::named(unit)?;
    match sign {
        '+' => at.checked_add(unit.span(count)?).ok(),
        '-' => at.checked_sub(unit.span(count)?).ok(),
        '/' if count == 1 => unit.begin(at),
        _ => None,
    }
}

fn bucket(buckets: &Buckets, of: &Value) -> Option<Value> {
    match buckets {
        Buckets::Whole { width, offset } => Some(match moment_or_number(of)? {
            Number::Whole(number) => {
                let above = number.checked_sub(*offset)?.rem_euclid(*width);
                Value::Int(number.checked_sub(above)?)
            }
            Number::Real(number) => real_bucket(number, *width as f64, *offset as f64),
        }),
        Buckets::Real { width, offset } => Some(real_bucket(of.number()?.real(), *width, *offset)),
        Buckets::Zoned(step, zone) => {
            let at = Timestamp::from_second(seconds(of, zone)?).ok()?;
            let begin = zoned::begin(*step, zone, at)?;
            Some(Value::Int(begin.as_second().into()))
        }
        Buckets::Ranges(ranges, wanted) => Some(range_of(ranges, *wanted, of)),
        Buckets::Moments(ranges, wanted) => {
            let moment = Value::Int(seconds(of, &TimeZone::UTC)?.into());
            Some(range_of(ranges, *wanted, &moment))
        }
    }
}

/// A text that is a date counts in seconds, any other value as the number that it is.
fn moment_or_number(of: &Value) -> Option<Number> {
    match of {
        Value::Str(_) | Value::Bytes(_) => seconds(of, &TimeZone::UTC)
            .map(|seconds| Number::Whole(seconds.into()))
            .or_else(|| of.number()),
        other => other.number(),
    }
}

/// The beginning of the bucket of a real number. `offset` is nearer to 0 than the width.
fn real_bucket(number: f64, width: f64, offset: f64) -> Value {
    // No sum or product of quarters exceeds the largest double, and a quarter of a width above 1 is exact.
    let scale = if width > 1.0 { 0.25 } else { 1.0 };
    let (scaled, step, first) = (number * scale, width * scale, offset * scale);
    let begin = ((scaled - first) / step).floor() * step + first;
    match begin.is_finite() {
        // The bucket of the lowest doubles begins before them.
        true => Value::Float((begin / scale).clamp(f64::MIN, f64::MAX)),
        // Doubles of this size are farther apart than buckets.
        false => finite(number),
    }
}

/// The ranges that hold a value, by their indexes.
fn range_of(ranges: &[Range], wanted: Wanted, of: &Value) -> Value {
    if *of == Value::Null {
        return Value::Null;
    }
    let is_in = |(from, to): &Range| {
        let from = from.as_ref().map(|from| of.cmp_sql(from));
        let to = to.as_ref().map(|to| of.cmp_sql(to));
        from.is_none_or(|order| order.is_some_and(|order| order.is_ge()))
            && to.is_none_or(|order| order.is_some_and(|order| order.is_lt()))
    };
    match wanted {
        Wanted::First => {
            let found = ranges.iter().position(is_in);
            Value::Int(found.map_or(-1, |found| found as i128))
        }
        Wanted::All => {
            let found = ranges.iter().zip(0..).filter(|(range, _)| is_in(range));
            Value::Set(found.map(|(_, index)| index).collect())
        }
    }
}
