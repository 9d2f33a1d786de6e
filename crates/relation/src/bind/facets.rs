//! FACETs as SELECTs with GROUP BY.
//!
//! Example: `SELECT price * 2 AS p FROM t WHERE p > 4 LIMIT 5 FACET p LIMIT 3 FACET city BY city_id`.
//!
//! ```text
//! facet 0   SELECT price * 2 AS p, COUNT(*) FROM t WHERE price * 2 > 4 GROUP BY price * 2 LIMIT 3
//! facet 1   SELECT city, COUNT(*) FROM t GROUP BY city_id          of the rows of facet 0
//! ```
//!
//! A FACET may name items of the SELECT list. A column goes before an alias of its name, and an alias of the FACET before one of the
//! SELECT list.

use std::borrow::Cow;
use std::cell::Cell;

use super::BindError;
use super::IMPLICIT_LIMIT;
use super::aliases::Aliases;
use crate::expression::Expression;
use crate::limits::ALIASED_BYTES_MAX;
use crate::request::{Facet, Grouping, Item, JoinedSelect, Output, Select};

/// The FACETs of a SELECT as SELECTs of one table, for [`super::BoundJoin`]. All of them find the rows of the SELECT; only the first
/// has its WHERE and MATCH. `is_column`: whether the table has a column of that name.
///
/// # Errors
/// `Invalid`: aliases stand for too much.
pub fn facets(
    select: &Select,
    facets: Vec<Facet>,
    is_column: &dyn Fn(&str) -> bool,
) -> Result<Vec<JoinedSelect>, BindError> {
    let left = Cell::new(Some(ALIASED_BYTES_MAX));
    let aliases = Aliases::new(&select.items, is_column, &left);
    let filter = select.filter.as_ref().map(|filter| aliases.replace(filter));
    let mut filter = filter.transpose()?.map(Cow::into_owned);
    let mut matching = select.matching.clone();
    let mut selects = Vec::with_capacity(facets.len());
    for facet in facets {
        let facet = without_aliases(facet, select, is_column, &left)?;
        let rows = Select {
            table: select.table.clone(),
            items: facet.items,
            matching: matching.take(),
            filter: filter.take(),
            order: facet.order,
            limit: facet.limit.or(Some(IMPLICIT_LIMIT)), // as in Sphinx
            offset: facet.offset,
            options: Vec::new(),
        };
        selects.push(JoinedSelect {
            grouping: Some(Grouping {
                keys: facet.keys,
                having: facet.having,
                after: facet.after,
                shows_items: true,
                ..Grouping::default()
            }),
            ..JoinedSelect::of(rows)
        });
    }
    Ok(selects)
}

/// The FACET with what aliases of the SELECT list in it stand for.
fn without_aliases(
    mut facet: Facet,
    select: &Select,
    is_column: &dyn Fn(&str) -> bool,
    left: &Cell<Option<usize>>,
) -> Result<Facet, BindError> {
    let own: Vec<String> = facet.items.iter().filter_map(alias_of).collect();
    let is_known = |name: &str| is_column(name) || own.iter().any(|own| own == name);
    let of_keys = Aliases::new(&select.items, &is_known, left);
    for key in &mut facet.keys {
        replace(key, &of_keys)?;
    }
    for order in &mut facet.order {
        replace_in(&mut order.key, &of_keys)?;
    }
    if let Some(having) = &mut facet.having {
        replace(having, &of_keys)?;
    }
    let of_items = Aliases::new(&select.items, is_column, left);
    for item in &mut facet.items {
        if let Item::Value { what, .. } = item {
            replace_in(what, &of_items)?;
        }
    }
    Ok(facet)
}

/// The name that an item has as an alias, in lower case; `None` for a column under its own name.
fn alias_of(item: &Item) -> Option<String> {
    let Item::Value { what, name } = item else {
        return None;
    };
    let name = name.to_lowercase();
    match what {
        Output::Expression(Expression::Column(column)) if *column == name => None,
        _ => Some(name),
    }
}

fn replace_in(what: &mut Output, aliases: &Aliases<'_>) -> Result<(), BindError> {
    match what {
        Output::Expression(expression) => replace(expression, aliases),
        Output::Weight | Output::Count => Ok(()),
    }
}

fn replace(expression: &mut Expression, aliases: &Aliases<'_>) -> Result<(), BindError> {
    let replaced = match aliases.replace(expression)? {
        Cow::Borrowed(_) => return Ok(()),
        Cow::Owned(replaced) => replaced,
    };
    *expression = replaced;
    Ok(())
}
