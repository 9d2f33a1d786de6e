//! The values of keyed columns that a condition names, so that a look-up index finds the rows that may be wanted.
//!
//! Example, with `KEY (mail)`: `mail IN ('a@x', 'B@x') AND age > 4` gives the codes of `a@x` and `b@x`. The condition is then
//! evaluated on the rows that the index has for these codes, and on no others.

use super::evident::evident;
use crate::expression::{Expression, List};
use crate::key::codes_of;
use crate::schema::Column;

/// The values of one keyed column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCodes {
    /// Index of the column, the id not counted.
    pub column: usize,
    /// Codes ([`crate::key::code`]) of the only values for which the condition can be true: sorted, each once; may be
    /// empty.
    pub codes: Vec<u64>,
}

impl KeyCodes {
    /// The keyed columns of which a condition names values, by rising index. Cost: a walk through the condition for each
    /// keyed column.
    #[must_use]
    pub fn of(condition: &Expression, columns: &[Column]) -> Vec<KeyCodes> {
        let numbered = columns.iter().enumerate();
        let keyed = numbered.filter(|(_, column)| column.keyed);
        let named = keyed.filter_map(|(at, column)| {
            let read = |values: &List| codes_of(column.kind, values);
            let mut codes = evident(condition, &column.name, &read)?.values;
            codes.sort_unstable();
            codes.dedup();
            Some(KeyCodes { column: at, codes })
        });
        named.collect()
    }
}
