//! The ids for which a condition can be true, so that look-ups by id read their rows alone.
//!
//! Example: `id IN (7, 3, 7) AND price > 4` names the ids 3 and 7, of which not all need be wanted.

use super::evident::evident;
use crate::expression::{Expression, List};
use crate::value::Value;

/// The ids that a condition names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ids {
    /// The only ids for which the condition can be true: sorted, each once; may be empty.
    pub ids: Vec<u64>,
    /// Whether it is true for each of these ids.
    pub are_all_wanted: bool,
}

impl Ids {
    /// The ids of a condition; `None` if they are not evident. Understood are `id = n`, `id IN (…)`, OR of these, and
    /// AND of one of these with anything.
    #[must_use]
    pub fn of(condition: &Expression) -> Option<Ids> {
        let found = evident(condition, "id", &gather_values)?;
        let mut ids = found.values;
        ids.sort_unstable();
        ids.dedup();
        Some(Ids {
            ids,
            are_all_wanted: found.are_all_wanted,
        })
    }
}

/// The ids that equal a value. NULL, and a number that is no id, equal none. Of texts only whole numbers are understood,
/// since SQL compares a text by the number that it begins with. Drivers such as DBD::mysql write every number as a text.
fn gather_values(values: &List) -> Option<Vec<u64>> {
    if let Some(numbers) = values.whole() {
        let ids = numbers
            .iter()
            .filter_map(|number| u64::try_from(*number).ok());
        return Some(ids.collect());
    }
    let mut ids = Vec::with_capacity(values.len());
    for value in values.iter() {
        match value {
            Value::Int(number) => ids.extend(u64::try_from(number)),
            Value::Null => {}
            Value::Str(text) => match text.strip_prefix('-') {
                Some(digits) => ids.extend((whole(digits)? == 0).then_some(0)),
                None => ids.push(whole(&text)?),
            },
            _ => return None,
        }
    }
    Some(ids)
}

/// The number of a text of digits; `None` for another text, and above 2^64 - 1.
fn whole(digits: &str) -> Option<u64> {
    let are_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    are_digits.then(|| digits.parse().ok())?
}
