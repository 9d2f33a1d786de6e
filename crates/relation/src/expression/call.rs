//! The values of functions. Both evaluators call these, so a function has one meaning.
//!
//! NULL in gives NULL out, but where a function's line in docs/functions.md says otherwise. A value that a function cannot take
//! (a set where it wants a text, a number out of its range) gives NULL too; only constants are refused, by the parser.
//!
//! Work is counted before it is done ([`language::meter`]): [`strict`] counts a look at each byte of the arguments, and what takes more
//! counts the rest in its own loop. A call that is stopped gives NULL, which nobody uses.

mod bucket;
mod date;
mod growth;
mod known;
mod list;
mod number;
mod options;
mod place;
mod text;
mod zone;
mod zoned;

pub use bucket::{moment_seconds, moment_text};
pub(super) use date::{in_zone, is_of_days, moment_in};
pub(super) use growth::growth;
pub(crate) use known::Known;
pub(super) use list::{each, exactly_listed, listed};
pub(super) use options::add_option;
pub use zone::is_time_zone;
pub(super) use zone::named_zone;

use language::meter::Work;

use super::function::Function;
use crate::limits::{ARGUMENTS_BYTES_MAX, COMPUTED_TEXT_BYTES_MAX};
use crate::value::Value;

/// Most characters of a constant that an error shows.
pub(super) const SHOWN_CHARS_MAX: usize = 64;

/// Units of a call and of each argument, without what depends on their length.
const CALL_UNITS: u64 = 40;
const ARGUMENT_UNITS: u64 = 10;

/// The value of a function of `count` arguments, which `argument` gives. Arguments that do not decide are not asked for: of IF,
/// CASE and COALESCE.
pub(super) fn call(
    function: Function,
    known: &Known,
    count: usize,
    work: &Work<'_>,
    argument: &mut dyn FnMut(usize) -> Value,
) -> Value {
    if work.is_stopped() {
        return Value::Null;
    }
    match function {
        Function::If => match argument(0).as_bool() {
            Some(true) => argument(1),
            _ => argument(2),
        },
        Function::Case => case(count, argument),
        Function::Coalesce => (0..count)
            .map(argument)
            .find(|value| *value != Value::Null)
            .unwrap_or(Value::Null),
        _ => match count {
            1 => strict(function, known, work, &[argument(0)]),
            2 => strict(function, known, work, &[argument(0), argument(1)]),
            3 => strict(
                function,
                known,
                work,
                &[argument(0), argument(1), argument(2)],
            ),
            _ => {
                let (mut arguments, mut left) = (Vec::with_capacity(count), ARGUMENTS_BYTES_MAX);
                for value in (0..count).map(argument) {
                    match left.checked_sub(value.memory()) {
                        Some(rest) => left = rest,
                        None => {
                            // They were read for nothing.
                            let read = ARGUMENTS_BYTES_MAX - left + value.memory();
                            let _ = work.begin(read as u64);
                            return Value::Null;
                        }
                    }
                    arguments.push(value);
                }
                strict(function, known, work, &arguments)
            }
        },
    }
}

/// Pairs of a condition and a value; an argument behind the last pair is the value without one.
fn case(count: usize, argument: &mut dyn FnMut(usize) -> Value) -> Value {
    for pair in 0..count / 2 {
        if argument(2 * pair).as_bool() == Some(true) {
            return argument(2 * pair + 1);
        }
    }
    match count % 2 {
        1 => argument(count - 1),
        _ => Value::Null,
    }
}

/// The value of a function that needs all its arguments. A text above [`COMPUTED_TEXT_BYTES_MAX`] becomes NULL, so that no chain
/// of functions makes one that fills the memory.
fn strict(function: Function, known: &Known, work: &Work<'_>, arguments: &[Value]) -> Value {
    let bytes: usize = arguments.iter().map(Value::memory).sum();
    let units = CALL_UNITS + ARGUMENT_UNITS * arguments.len() as u64;
    if work.begin(units + bytes as u64).is_none() {
        return Value::Null;
    }
    let value = match known {
        Known::Zone(zone) => date::value(function, zone, arguments),
        Known::Unit(unit, zone) => date::moved(function, *unit, zone, arguments),
        Known::Regex(regex) => text::found(regex, arguments, work),
        Known::Levenshtein { normalizes, delta } => {
            text::levenshtein(*normalizes, *delta, arguments, work)
        }
        Known::Measure(measure) => {
            let texts = arguments.iter().filter_map(Value::text_bytes);
            let read = work.copy(texts.map(<[u8]>::len).sum());
            read.and_then(|()| measure.value(arguments))
        }
        Known::Polygon(polygon) => place::contains(polygon, arguments, work),
        Known::Buckets(buckets) => buckets.value(arguments),
        Known::Escape(escape) => text::like(arguments, *escape, work),
        Known::Nothing => number::value(function, arguments)
            .or_else(|| text::value(function, arguments, work))
            .or_else(|| list::value(function, arguments, work))
            .or_else(|| place::value(function, arguments, work)),
    };
    let value = value.unwrap_or(Value::Null);
    match value.text_bytes() {
        Some(text) if text.len() > COMPUTED_TEXT_BYTES_MAX => Value::Null,
        _ => value,
    }
}
