//! Memory that a call may take beyond that of its arguments.
//!
//! Example: `REPEAT('ab', 1000)` is written in 18 bytes and makes 2,000; `REPEAT(title, n)` may make 4 MiB.

use language::limits::REGEX_PROGRAM_BYTES_MAX;

use super::super::function::Function;
use super::super::tree::Expression;
use super::number::whole;
use crate::limits::COMPUTED_TEXT_BYTES_MAX;
use crate::value::Value;

/// Bytes that a call may take beyond its arguments. A statement pays for them when it is read, so that no number of calls fills
/// the memory.
pub(in super::super) fn growth(function: Function, arguments: &[Expression]) -> usize {
    let constant = |at: usize| arguments.get(at).and_then(Expression::constant);
    let count = |at: usize| {
        let number = constant(at)?.number().map_or(0, whole);
        Some(usize::try_from(number).unwrap_or(0))
    };
    let bytes = |at: usize| constant(at).map(Value::memory);
    let most = match function {
        // The states that the expression builds lazily may take the same again.
        Function::Regex | Function::Regexp => Some(2 * REGEX_PROGRAM_BYTES_MAX),
        Function::Space => count(0),
        Function::Repeat => bytes(0)
            .zip(count(1))
            .map(|(bytes, count)| bytes.saturating_mul(count)),
        Function::Lpad | Function::Rpad => count(1).map(|count| count.saturating_mul(4)),
        Function::Replace => bytes(1)
            .zip(bytes(2))
            .and_then(|(from, to)| (to <= from).then_some(0)),
        _ => Some(0),
    };
    most.map_or(COMPUTED_TEXT_BYTES_MAX, |most| {
        most.min(COMPUTED_TEXT_BYTES_MAX)
    })
}
