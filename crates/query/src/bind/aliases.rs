//! Names that the SELECT list gives to its items, inside other expressions.
//!
//! Example: in `SELECT price * 2 AS p, p + 1 AS q FROM t WHERE q > 5`, `q` stands for `price * 2 + 1`. A column of the table goes
//! before an alias of its name. An item may use the aliases of the items before it.

use std::borrow::Cow;

use super::{BindError, Scope};
use crate::expression::Expression;
use crate::limits::ALIASED_NODES_MAX;
use crate::request::{Item, Output};
use crate::value::Value;

/// The items of a SELECT list by their aliases.
pub(super) struct Aliases<'a> {
    items: &'a [Item],
    scope: &'a Scope<'a>,
}

impl<'a> Aliases<'a> {
    pub(super) fn new(items: &'a [Item], scope: &'a Scope<'a>) -> Aliases<'a> {
        Aliases { items, scope }
    }

    /// The aliases of the items before an index.
    pub(super) fn before(&self, index: usize) -> Aliases<'a> {
        Aliases {
            items: self.items.get(..index).unwrap_or(self.items),
            scope: self.scope,
        }
    }

    /// The expression with what the aliases in it stand for. Errors: `Invalid`, if that has more than [`ALIASED_NODES_MAX`]
    /// nodes.
    pub(super) fn replace<'e>(
        &self,
        expression: &'e Expression,
    ) -> Result<Cow<'e, Expression>, BindError> {
        if !expression.has(&mut |part| part.column().is_some_and(|name| self.at(name).is_some())) {
            return Ok(Cow::Borrowed(expression));
        }
        let mut left = ALIASED_NODES_MAX;
        let replaced = self.replaced(expression.clone(), &mut left);
        match left {
            0 => Err(BindError::Invalid(format!(
                "aliases stand for more than {ALIASED_NODES_MAX} nodes"
            ))),
            _ => Ok(Cow::Owned(replaced)),
        }
    }

    /// `left`: nodes that aliases may still add; 0 once there are too many.
    fn replaced(&self, expression: Expression, left: &mut usize) -> Expression {
        expression.map_columns(&mut |column| {
            let (at, what) = match &column {
                Expression::Column(name) => match self.at(name) {
                    Some(found) => found,
                    None => return column,
                },
                _ => return column,
            };
            *left = left.saturating_sub(nodes(what));
            match *left {
                0 => Expression::Literal(Value::Null),
                _ => self.before(at).replaced(what.clone(), left),
            }
        })
    }

    /// The item that a name means and its index; `None` for a column of the table, and for a name of no item.
    fn at(&self, wanted: &str) -> Option<(usize, &'a Expression)> {
        if self.scope.slot_in(wanted).is_some() {
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
            _ => None,
        })
    }
}

fn nodes(of: &Expression) -> usize {
    1 + of.parts().into_iter().map(nodes).sum::<usize>()
}
