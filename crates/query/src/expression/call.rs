//! The values of functions. Both evaluators call these, so a function has one meaning.
//!
//! NULL in gives NULL out, but where a function's line in docs/functions.md says otherwise. A value that a function cannot take
//! (a set where it wants a text, a number out of its range) gives NULL too; only constants are refused, by the parser.

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

pub use bucket::{moment_seconds, moment_text};
pub(super) use growth::growth;
pub(crate) use known::Known;
pub(super) use list::each;
pub use zone::is_time_zone;

use super::function::Function;
use super::work::Work;
use crate::limits::{ARGUMENTS_BYTES_MAX, COMPUTED_TEXT_BYTES_MAX, LEVENSHTEIN_CHARS_MAX};
use crate::value::Value;

/// The value of a function of `count` arguments, which `argument` gives. Arguments that do not decide are not asked for: of IF,
/// CASE and COALESCE.
pub(super) fn call(
    function: Function,
    known: &Known,
    count: usize,
    work: &Work,
    argument: &mut dyn FnMut(usize) -> Value,
) -> Value {
    if work.is_spent() {
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
                        None => return Value::Null,
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
fn strict(function: Function, known: &Known, work: &Work, arguments: &[Value]) -> Value {
    if !work.pay(cost(function, arguments)) {
        return Value::Null;
    }
    let value = match known {
        Known::Zone(zone) => date::value(function, zone, arguments),
        Known::Unit(unit) => date::moved(function, *unit, arguments),
        Known::Regex(regex) => text::found(regex, arguments),
        Known::Levenshtein { normalizes, delta } => {
            text::levenshtein(*normalizes, *delta, arguments)
        }
        Known::Measure(measure) => measure.value(arguments),
        Known::Polygon(polygon) => place::contains(polygon, arguments),
        Known::Buckets(buckets) => buckets.value(arguments),
        Known::Escape(escape) => text::like(arguments, *escape),
        Known::Nothing => number::value(function, arguments)
            .or_else(|| text::value(function, arguments))
            .or_else(|| list::value(function, arguments))
            .or_else(|| place::value(function, arguments)),
    };
    let value = value.unwrap_or(Value::Null);
    work.pay(value.memory());
    match value.text_bytes() {
        Some(text) if text.len() > COMPUTED_TEXT_BYTES_MAX => Value::Null,
        _ => value,
    }
}

/// The work of a call beside its result, in bytes.
fn cost(function: Function, arguments: &[Value]) -> usize {
    let bytes = arguments.iter().map(Value::memory);
    match function {
        Function::Like => {
            let texts = arguments
                .iter()
                .take(2)
                .map(|it| it.text_bytes().map_or(32, <[u8]>::len));
            texts.fold(1, usize::saturating_mul)
        }
        Function::Levenshtein => bytes.sum::<usize>() + LEVENSHTEIN_CHARS_MAX.pow(2),
        // Steps of an automaton without its table of states.
        Function::Regex | Function::Regexp => bytes.sum::<usize>().saturating_mul(8),
        _ => bytes.sum(),
    }
}
