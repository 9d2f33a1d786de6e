//! What a function makes of its constants once, before the first row: a compiled expression, a time zone, ranges.

use jiff::tz::TimeZone;
use language::meter::{Unmetered, Work};
use language::pattern::{Within, compiled_within};

use super::super::function::Function;
use super::bucket::{Buckets, Wanted, date_ranges, ranges};
use super::date::{Unit, is_format};
use super::list::check_remap;
use super::options::Options;
use super::place::{Measure, Polygon, polygon};
use super::zone::named_zone;
use crate::limits::DATE_FORMAT_BYTES_MAX;
use crate::value::Value;

/// Units of compiling a regular expression, for each byte of its program.
const COMPILED_UNITS_A_BYTE: usize = 8;

/// What is known of a call before a row is read.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    /// No constant of it needs preparing.
    Nothing,
    /// The expression of REGEX and REGEXP.
    Regex(Within),
    /// The time zone of a function of dates.
    Zone(TimeZone),
    /// The unit of DATE_ADD and DATE_SUB, and the zone in which they move a number of seconds.
    Unit(Unit, TimeZone),
    /// The options of LEVENSHTEIN.
    Levenshtein {
        /// Whether the distance is given as a share.
        normalizes: bool,
        /// Texts whose lengths differ by more are not compared.
        delta: Option<u64>,
    },
    /// The options of GEODIST.
    Measure(Measure),
    /// The corners of a constant polygon.
    Polygon(Polygon),
    /// The buckets of HISTOGRAM, RANGE, DATE_HISTOGRAM and DATE_RANGE.
    Buckets(Buckets),
    /// The character of ESCAPE; `None`: no character makes another one plain.
    Escape(Option<char>),
}

impl Known {
    /// Units of the work of preparing it.
    pub(crate) fn units(&self) -> usize {
        match self {
            Known::Regex(regex) => COMPILED_UNITS_A_BYTE * regex.program_bytes(),
            Known::Nothing
            | Known::Zone(_)
            | Known::Unit(..)
            | Known::Levenshtein { .. }
            | Known::Measure(_)
            | Known::Polygon(_)
            | Known::Buckets(_)
            | Known::Escape(_) => 0,
        }
    }

    /// `constants`: each argument that is one.
    ///
    /// # Errors
    /// The message that refuses a bad constant, or an argument that must be one.
    pub(crate) fn of(function: Function, constants: &[Option<&Value>]) -> Result<Known, String> {
        let at = |place: usize| constants.get(place).copied();
        match function {
            Function::Regex | Function::Regexp => regex(function, at(1)),
            Function::Levenshtein => levenshtein(at(2)),
            Function::Like => escape(at(2)),
            Function::Geodist => Ok(Known::Measure(match at(4) {
                None => Measure::default(),
                Some(options) => Measure::of(&Options::of(function, options)?)?,
            })),
            Function::Contains => Ok(at(0)
                .flatten()
                .and_then(|of| polygon(of, &Work::new(&Unmetered))) // as long as the statement at most
                .map_or(Known::Nothing, Known::Polygon)),
            Function::DateAdd | Function::DateSub => unit(at(2), at(3)),
            Function::Histogram => {
                Buckets::histogram(&Options::of(function, at(1).flatten())?).map(Known::Buckets)
            }
            Function::DateHistogram => {
                Buckets::date_histogram(&Options::of(function, at(1).flatten())?)
                    .map(Known::Buckets)
            }
            Function::Range => {
                ranges(&several(function, constants)?, Wanted::First).map(Known::Buckets)
            }
            Function::Ranges => {
                ranges(&several(function, constants)?, Wanted::All).map(Known::Buckets)
            }
            Function::DateRange => {
                date_ranges(&several(function, constants)?, Wanted::First).map(Known::Buckets)
            }
            Function::DateRanges => {
                date_ranges(&several(function, constants)?, Wanted::All).map(Known::Buckets)
            }
            Function::Remap => {
                check_remap(at(2).flatten(), at(3).flatten()).map(|()| Known::Nothing)
            }
            Function::DateFormat => {
                format_of(at(1))?;
                zone(at(2))
            }
            Function::FromUnixtime => {
                if let Some(format) = at(1) {
                    format_of(Some(format))?;
                }
                zone(at(2))
            }
            Function::DateDiff => zone(at(2)),
            Function::LocalMoment => zone(at(1)),
            Function::TimeDiff => Ok(Known::Zone(TimeZone::UTC)),
            function if function.takes_zone() => zone(at(1)),
            _ => Ok(Known::Nothing),
        }
    }
}

/// The options of all arguments but the first.
fn several(function: Function, constants: &[Option<&Value>]) -> Result<Vec<Options>, String> {
    let options = constants.iter().skip(1);
    options
        .map(|options| Options::of(function, *options))
        .collect()
}

fn regex(function: Function, pattern: Option<Option<&Value>>) -> Result<Known, String> {
    match pattern.flatten() {
        Some(Value::Str(text)) => {
            // REGEXP has MySQL's meaning, where letters have no case; REGEX that of RE2.
            let folds = function == Function::Regexp;
            compiled_within(text, folds).map(Known::Regex)
        }
        Some(Value::Null) => Ok(Known::Nothing),
        _ => Err(format!(
            "the expression of {}() is a constant text",
            function.name()
        )),
    }
}

/// The character of ESCAPE, a constant of one character or none.
fn escape(written: Option<Option<&Value>>) -> Result<Known, String> {
    let Some(written) = written else {
        return Ok(Known::Nothing);
    };
    if let Some(Value::Str(text)) = written {
        let mut letters = text.chars();
        if let (first, None) = (letters.next(), letters.next()) {
            return Ok(Known::Escape(first));
        }
    }
    Err("ESCAPE takes a constant of one character, or ''".to_owned())
}

fn levenshtein(options: Option<Option<&Value>>) -> Result<Known, String> {
    let Some(options) = options else {
        return Ok(Known::Levenshtein {
            normalizes: false,
            delta: None,
        });
    };
    let options = Options::of(Function::Levenshtein, options)?;
    options.only(&["normalize", "length_delta"])?;
    let delta = match options.get("length_delta") {
        None => None,
        Some(Value::Int(delta)) if u64::try_from(*delta).is_ok() => Some(*delta as u64),
        Some(_) => return Err(options.bad("length_delta", "a number of characters")),
    };
    let normalizes = match options.text("normalize").as_deref() {
        None | Some("0") => false,
        Some("1") => true,
        Some(_) => return Err(options.bad("normalize", "0 or 1")),
    };
    Ok(Known::Levenshtein { normalizes, delta })
}

/// The unit of an interval. `in_zone`: the name of a zone.
fn unit(written: Option<Option<&Value>>, in_zone: Option<Option<&Value>>) -> Result<Known, String> {
    let Some(Value::Str(name)) = written.flatten() else {
        return Err("INTERVAL wants a unit, as in INTERVAL 1 DAY".to_owned());
    };
    let unit = Unit::named(name).ok_or_else(|| format!("no unit '{name}' of INTERVAL"))?;
    let zone = match in_zone.flatten() {
        Some(Value::Str(name)) => named_zone(name)?,
        _ => TimeZone::UTC,
    };
    Ok(Known::Unit(unit, zone))
}

fn format_of(written: Option<Option<&Value>>) -> Result<(), String> {
    match written.flatten() {
        Some(Value::Str(format)) if format.len() > DATE_FORMAT_BYTES_MAX => Err(format!(
            "a date format has at most {DATE_FORMAT_BYTES_MAX} bytes"
        )),
        Some(Value::Str(format)) if !is_format(format) => Err(format!(
            "date format '{format}' has a sign that strftime does not know"
        )),
        _ => Ok(()),
    }
}

/// A zone by its name. One that is no constant is looked up for each row.
fn zone(written: Option<Option<&Value>>) -> Result<Known, String> {
    match written {
        None => Ok(Known::Zone(TimeZone::UTC)),
        Some(Some(name @ Value::Str(_))) => named_zone(&name.to_string()).map(Known::Zone),
        Some(Some(Value::Null)) => Ok(Known::Nothing),
        Some(_) => Err("a time zone is a constant name, as 'Europe/Berlin' or '+02:00'".to_owned()),
    }
}
