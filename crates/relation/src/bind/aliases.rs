//! Names that the SELECT list gives to its items, inside other expressions.
//!
//! Example: in `SELECT price * 2 AS p, p + 1 AS q FROM t WHERE q > 5`, `q` stands for `price * 2 + 1`. A column of the table goes
//! before an alias of its name. An item may use the aliases of the items before it.

use std::borrow::Cow;
use std::cell::Cell;

use super::BindError;
use crate::expression::{AggregateKind, Expression};
use crate::limits::{ALIASED_BYTES_MAX, EXPRESSION_DEPTH_MAX};
use crate::request::{Item, Output};
use crate::value::Value;

/// What the alias of an item `COUNT(*)` stands for.
static COUNT: Expression = Expression::Aggregate(AggregateKind::Rows, Vec::new());

/// An expression with what the aliases of a SELECT list in it stand for, as the binder would replace them.
///
/// # Errors
/// `Invalid`: it becomes too large.
pub fn spelled_out(
    items: &[Item],
    is_column: &dyn Fn(&str) -> bool,
    expression: &Expression,
) -> Result<Expression, BindError> {
    let left = Cell::new(Some(ALIASED_BYTES_MAX));
    let aliases = Aliases::new(items, is_column, &left);
    aliases.replace(expression).map(Cow::into_owned)
}

/// The items of a SELECT list by their aliases.
pub(super) struct Aliases<'a> {
    items: &'a [Item],
    /// Whether a name is that of a column.
    is_column: &'a dyn Fn(&str) -> bool,
    /// Bytes that aliases may still stand for; `None` once there were too many.
    left: &'a Cell<Option<usize>>,
}

impl<'a> Aliases<'a> {
    /// `left`: bytes that aliases of the SELECT may stand for.
    pub(super) fn new(
        items: &'a [Item],
        is_column: &'a dyn Fn(&str) -> bool,
        left: &'a Cell<Option<usize>>,
    ) -> Aliases<'a> {
        Aliases {
            items,
            is_column,
            left,
        }
    }

    /// The aliases of the items before an index.
    pub(super) fn before(&self, index: usize) -> Aliases<'a> {
        Aliases {
            items: self.items.get(..index).unwrap_or(self.items),
            ..*self
        }
    }

    /// The expression with what the aliases in it stand for.
    ///
    /// # Errors
    /// `Invalid`, if what aliases of the SELECT stand for takes more memory than `left`, or is nested deeper than
    /// [`EXPRESSION_DEPTH_MAX`] with the expressions around it.
    pub(super) fn replace<'e>(
        &self,
        expression: &'e Expression,
    ) -> Result<Cow<'e, Expression>, BindError> {
        if !expression.has(&mut |part| part.column().is_some_and(|name| self.at(name).is_some())) {
            return Ok(Cow::Borrowed(expression));
        }
        let replaced = self.replaced(expression.clone(), 0);
        match self.left.get() {
            Some(_) => Ok(Cow::Owned(replaced)),
            None => Err(BindError::Invalid(format!(
                "aliases stand for expressions of more than {ALIASED_BYTES_MAX} bytes or {EXPRESSION_DEPTH_MAX} levels"
            ))),
        }
    }

    /// `above`: levels of the expressions that it is put into.
    fn replaced(&self, expression: Expression, above: u32) -> Expression {
        let levels = above + expression.depth();
        expression.map_columns(&mut |column| {
            let (at, what) = match &column {
                Expression::Column(name) => match self.at(name) {
                    Some(found) => found,
                    None => return column,
                },
                _ => return column,
            };
            let left = self.left.get();
            let left = left.and_then(|left| left.checked_sub(what.memory()));
            self.left
                .set(left.filter(|_| levels <= EXPRESSION_DEPTH_MAX));
            match self.left.get() {
                Some(_) => self.before(at).replaced(what.clone(), levels),
                None => Expression::Literal(Value::Null),
            }
        })
    }

    /// The item that a name means and its index; `None` for a column of the table, and for a name of no item.
    fn at(&self, wanted: &str) -> Option<(usize, &'a Expression)> {
        if (self.is_column)(wanted) {
            return None;
        }
        let items = self.items.iter().enumerate();
        items.rev().find_map(|(at, item)| match item {
            Item::Value {
                what: Output::Expression(expression),
                name,
            } if name.eq_ignore_ascii_case(wanted)
                && !matches!(expression, Expression::Column(column) if column == wanted) =>
            {
                Some((at, expression))
            }
            Item::Value {
                what: Output::Count,
                name,
            } if name.eq_ignore_ascii_case(wanted) => Some((at, &COUNT)),
            _ => None,
        })
    }
}
