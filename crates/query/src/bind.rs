//! A SELECT made ready for one table: names, aliases, limits and options are resolved here, once, by one rule for all kinds of
//! tables.
//!
//! `SELECT id, price * 2 AS p FROM t WHERE price > 4 ORDER BY p DESC` over the columns `title, price` becomes: headers `id`, `p`;
//! shown slot 0 and an expression over slot 2; the order by that expression, downwards; a condition on slot 2. Slot 0 is the id
//! where rows have one, and the columns follow it.

mod ids;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use crate::expression::{Expression, Prepared, UnknownColumn};
use crate::options::Options;
use crate::request::{Item, OrderBy, Output, Select};
use crate::rows::{Key, Order};
use crate::schema::{Column, ColumnType};
use crate::value::Value;

pub use ids::Ids;

/// LIMIT of a scan or MATCH that names none, as in Sphinx.
const IMPLICIT_LIMIT: u64 = 20;

/// Slot of the id in rows that have one.
const ID: usize = 0;

/// The columns that a statement may name.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// Without the id.
    pub columns: &'a [Column],
    /// Whether rows have an `id`, which is slot 0; the columns follow.
    pub has_id: bool,
    /// `*` stands for the id and the first so many columns.
    pub starred: usize,
    /// Whether rows are found by MATCH and have a weight.
    pub is_searched: bool,
}

/// Why a SELECT cannot be bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindError {
    /// The table has no column of that name.
    UnknownColumn(String),
    /// Comes later: what.
    NotYet(&'static str),
    /// A mistake: what is wrong.
    Invalid(String),
}

/// One column of the answer.
#[derive(Clone, Debug)]
pub enum Shown {
    /// A column, or the id.
    Slot(usize),
    /// An expression over the row.
    Computed(Prepared),
    /// `weight()`
    Weight,
    /// `count(*)`
    Count,
}

/// A SELECT made ready.
#[derive(Clone, Debug)]
pub struct BoundSelect<'s> {
    /// Header and type of each column of the answer; no type of a computed one.
    pub headers: Vec<(String, Option<ColumnType>)>,
    /// What each of them holds.
    pub shown: Arc<[Shown]>,
    /// Whether the answer is the one row of COUNT(*).
    pub is_count: bool,
    /// ORDER BY; of a MATCH without one by weight, the highest first.
    pub order: Arc<Order>,
    /// WHERE without MATCH.
    pub condition: Option<Condition<'s>>,
    /// Whether there is a MATCH.
    pub is_matching: bool,
    /// Rows wanted; `None`: all.
    pub limit: Option<u64>,
    /// Rows skipped first.
    pub offset: u64,
    /// OPTION.
    pub options: Options,
    /// Weight of each text column, in their order.
    pub field_weights: Vec<u32>,
}

/// The rest of WHERE.
#[derive(Clone, Debug)]
pub struct Condition<'s> {
    /// As it was asked for.
    pub written: &'s Expression,
    /// Made ready.
    pub prepared: Prepared,
    /// The only ids of rows that it can be true for, where that is plain to see.
    pub ids: Option<Ids>,
}

impl<'s> BoundSelect<'s> {
    /// Resolves a SELECT over columns. Cost: linear in the statement.
    ///
    /// # Errors
    /// `UnknownColumn`; `Invalid` of MATCH, weight() or a key of ORDER BY that these rows do not have; `NotYet` of COUNT(*) beside
    /// others.
    pub fn new(
        select: &'s Select,
        options: &Options,
        scope: &Scope<'_>,
    ) -> Result<BoundSelect<'s>, BindError> {
        let is_matching = select.matching.is_some();
        if is_matching && !scope.is_searched {
            return Err(BindError::Invalid("MATCH needs a search table".to_owned()));
        }
        let (mut headers, mut shown) = (Vec::new(), Vec::new());
        for item in &select.items {
            match item {
                Item::Star => scope.star(&mut headers, &mut shown),
                Item::Value { what, name } => {
                    let (show, kind) = scope.show(what)?;
                    headers.push((name.clone(), kind));
                    shown.push(show);
                }
            }
        }
        let counts = shown.iter().filter(|shown| matches!(shown, Shown::Count));
        let counts = counts.count();
        if counts > 0 && counts < shown.len() {
            return Err(BindError::NotYet("count(*) beside other columns"));
        }
        let condition = select.filter.as_ref();
        Ok(BoundSelect {
            headers,
            shown: shown.into(),
            is_count: counts > 0,
            order: Arc::new(scope.order(select)?),
            condition: condition
                .map(|condition| scope.condition(condition))
                .transpose()?,
            is_matching,
            limit: select.limit,
            offset: select.offset,
            options: options.clone(),
            field_weights: scope.field_weights(&options.field_weights, is_matching)?,
        })
    }

    /// Whether the rows are named by their ids, alone or under AND.
    #[must_use]
    pub fn is_lookup(&self) -> bool {
        let ids = self.condition.as_ref().and_then(|it| it.ids.as_ref());
        !self.is_matching && ids.is_some()
    }

    /// LIMIT as clients of a search table have it: 20 rows where none is written, and a page of what MATCH finds ends at
    /// `max_matches`, as in Sphinx. A scan ends there only if it says so, and a look-up by ids has no pages.
    ///
    /// # Errors
    /// `Invalid` where the page begins at `max_matches` or behind.
    pub fn page(&mut self) -> Result<(), BindError> {
        if self.is_lookup() {
            return Ok(());
        }
        let limit = self.limit.unwrap_or(IMPLICIT_LIMIT);
        self.limit = Some(limit);
        let Some(most) = self.options.rows_max(self.is_matching) else {
            return Ok(());
        };
        if self.offset >= most {
            return Err(BindError::Invalid(format!(
                "offset out of bounds (offset={}, max_matches={most})",
                self.offset
            )));
        }
        self.limit = Some(limit.min(most - self.offset));
        Ok(())
    }

    /// The row of COUNT(*), as LIMIT and OFFSET leave it.
    #[must_use]
    pub fn count_row(&self, count: u64) -> Option<Vec<Value>> {
        let is_shown = self.offset == 0 && self.limit != Some(0);
        is_shown.then(|| vec![Value::Int(count.into()); self.shown.len()])
    }

    /// Whether somebody looks at weights.
    #[must_use]
    pub fn needs_weight(&self) -> bool {
        let is_shown = |shown: &Shown| matches!(shown, Shown::Weight);
        self.shown.iter().any(is_shown) || self.order.needs_weight()
    }
}

impl Scope<'_> {
    /// A condition made ready. Errors: `UnknownColumn`.
    pub fn condition<'s>(&self, written: &'s Expression) -> Result<Condition<'s>, BindError> {
        Ok(Condition {
            written,
            prepared: self.prepare(written)?,
            ids: match self.has_id {
                true => Ids::of(written),
                false => None,
            },
        })
    }

    /// The keys of ORDER BY. A name that the SELECT list gives to something stands for that, in any case.
    ///
    /// # Errors
    /// `UnknownColumn`; `Invalid` of a key that rows do not have; `NotYet` of COUNT(*).
    pub fn order(&self, select: &Select) -> Result<Order, BindError> {
        let mut keys = Vec::with_capacity(select.order.len());
        for OrderBy { key, descending } in &select.order {
            let key = match aliased(key, &select.items) {
                Output::Weight if !self.is_searched => return Err(self.no_weight()),
                Output::Weight => Key::Weight,
                Output::Count => {
                    return Err(BindError::NotYet("count(*) as a key of ORDER BY"));
                }
                Output::Expression(Expression::Column(name)) if self.has_id && name == "id" => {
                    Key::Id
                }
                Output::Expression(expression) => Key::Computed(self.prepare(expression)?),
            };
            keys.push((key, *descending));
        }
        if select.order.is_empty() && select.matching.is_some() {
            keys.push((Key::Weight, true));
        }
        Ok(Order::new(keys))
    }

    fn star(&self, headers: &mut Vec<(String, Option<ColumnType>)>, shown: &mut Vec<Shown>) {
        if self.has_id {
            headers.push(("id".to_owned(), Some(ColumnType::Bigint)));
            shown.push(Shown::Slot(ID));
        }
        for (at, column) in self.columns.iter().take(self.starred).enumerate() {
            headers.push((column.name.clone(), Some(column.kind)));
            shown.push(Shown::Slot(at + usize::from(self.has_id)));
        }
    }

    fn show(&self, what: &Output) -> Result<(Shown, Option<ColumnType>), BindError> {
        Ok(match what {
            Output::Weight if !self.is_searched => return Err(self.no_weight()),
            Output::Weight => (Shown::Weight, Some(ColumnType::Int)),
            Output::Count => (Shown::Count, Some(ColumnType::Bigint)),
            Output::Expression(Expression::Column(name)) => {
                let slot = self.slot(name);
                let (slot, kind) = slot.ok_or_else(|| BindError::UnknownColumn(name.clone()))?;
                (Shown::Slot(slot), Some(kind))
            }
            Output::Expression(expression) => (Shown::Computed(self.prepare(expression)?), None),
        })
    }

    fn prepare(&self, expression: &Expression) -> Result<Prepared, BindError> {
        Prepared::typed(expression, &|name| self.slot(name))
            .map_err(|UnknownColumn(name)| BindError::UnknownColumn(name))
    }

    /// Slot and type of a column, `id` included.
    fn slot(&self, name: &str) -> Option<(usize, ColumnType)> {
        if self.has_id && name == "id" {
            return Some((ID, ColumnType::Bigint));
        }
        let at = self.columns.iter().position(|column| column.name == name)?;
        Some((at + usize::from(self.has_id), self.columns[at].kind))
    }

    /// A name that no text column has is passed over where nothing is weighed.
    fn field_weights(
        &self,
        named: &[(String, u32)],
        is_matching: bool,
    ) -> Result<Vec<u32>, BindError> {
        let texts = || self.columns.iter().filter(|it| it.kind == ColumnType::Text);
        let mut weights = vec![1; texts().count()];
        for (name, weight) in named {
            match texts().position(|text| text.name == *name) {
                Some(field) => weights[field] = *weight,
                None if is_matching => return Err(BindError::UnknownColumn(name.clone())),
                None => {}
            }
        }
        Ok(weights)
    }

    fn no_weight(&self) -> BindError {
        BindError::Invalid("weight() needs a search table".to_owned())
    }
}

impl Shown {
    /// The value over a row; `value` gives that of a slot.
    pub fn value(&self, weight: i64, value: &dyn Fn(usize) -> Value) -> Value {
        match self {
            Shown::Slot(slot) => value(*slot),
            Shown::Computed(prepared) => prepared.evaluate(value),
            Shown::Weight | Shown::Count => Value::Int(weight.into()),
        }
    }
}

/// What a key means.
fn aliased<'a>(key: &'a Output, items: &'a [Item]) -> &'a Output {
    let Output::Expression(Expression::Column(column)) = key else {
        return key;
    };
    let named = items.iter().find_map(|item| match item {
        Item::Value { what, name } if name.eq_ignore_ascii_case(column) => Some(what),
        _ => None,
    });
    named.unwrap_or(key)
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BindError::UnknownColumn(name) => write!(f, "unknown column '{name}'"),
            BindError::NotYet(what) => write!(f, "not yet: {what}"),
            BindError::Invalid(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for BindError {}
