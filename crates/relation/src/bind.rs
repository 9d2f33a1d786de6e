//! Binds a SELECT to a table: resolves names, aliases, limits and options once, by the same rules for all kinds of
//! tables.
//!
//! Example: `SELECT id, price * 2 AS p FROM t WHERE price > 4 ORDER BY p DESC` over the columns `title, price`.
//!
//! ```text
//! slots      0 id, 1 title, 2 price      (without an id, columns begin at slot 0)
//! headers    id, p
//! shown      Slot(0), Computed(slot 2 * 2)
//! order      Computed(slot 2 * 2), descending
//! condition  slot 2 > 4
//! ```

mod aliases;
mod evident;
mod facets;
mod ids;
mod join;
mod keys;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use crate::expression::{
    ColumnValues, Expression, Function, Kept, Prepared, Unprepared, WEIGHT_SLOT, kept_as, shown_as,
};
use crate::limits::ALIASED_BYTES_MAX;
use crate::options::Options;
use crate::request::{Item, OrderBy, Output, Select};
use crate::rows::{Key, Order};
use crate::schema::{Column, ColumnType};
use crate::scroll::{NO_TOKEN, Scroll, Token, order_of};
use crate::value::Value;

use aliases::Aliases;
pub use aliases::spelled_out;
pub use facets::facets;
pub use ids::Ids;
pub(crate) use join::table_of;
pub use join::{BoundJoin, JoinColumn, JoinKey, JoinScope, JoinStep};
pub use keys::KeyCodes;

/// Rows of a MATCH without LIMIT, as in Sphinx, and of its groups. Other SELECTs have no such limit.
pub const IMPLICIT_LIMIT: u64 = 20;

/// The warning of a MATCH without LIMIT that finds more rows, or groups, than it gives.
#[must_use]
pub fn implied(found: u64) -> String {
    format!(
        "the first {IMPLICIT_LIMIT} of {found} rows: a MATCH without LIMIT gives no more; LIMIT {found} gives all"
    )
}

/// The refusal of a WHERE with an aggregate, or with an alias that stands for one.
const AGGREGATE_IN_WHERE: &str = "an aggregate cannot stand in WHERE: write it in HAVING";

/// The column of standing queries whose value, a text, is a list of tags with commas between. The engine answers `=` and IN beside
/// `any(tags)` itself; nothing else may read the items of that text, which to an expression has none.
pub const TAGS_OF_STANDING: &str = "tags";

/// What nothing else is refused with.
const ITEMS_OF_TAGS: &str = "any(tags) of standing queries beside anything but = and IN, or in a condition on several tables";

/// Slot of the id, in rows that have one.
const ID: usize = 0;

/// The columns that a statement may name.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The columns, without the id.
    pub columns: &'a [Column],
    /// Whether rows have an `id`. It is slot 0, and the columns follow.
    pub has_id: bool,
    /// Number of leading columns that `*` shows besides the id.
    pub starred: usize,
    /// Whether MATCH searches the rows, so that they have a weight.
    pub is_searched: bool,
    /// Whether rows are standing queries: see [`TAGS_OF_STANDING`].
    pub is_standing: bool,
}

/// The reason why a SELECT cannot be bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindError {
    /// The table has no column of that name.
    UnknownColumn(String),
    /// A constant that the type of the column beside it does not read, with a message.
    Constant(String),
    /// A feature that is not built yet.
    NotYet(&'static str),
    /// A mistake, with a message.
    Invalid(String),
}

/// One column of the answer.
#[derive(Clone, Debug)]
pub enum Shown {
    /// A column, or the id.
    Slot(usize),
    /// A number that stands for a value of this type, as MIN of a TIME does: shown as a column of the type shows it.
    Stored(usize, ColumnType),
    /// An expression over the row.
    Computed(Prepared),
    /// `weight()`
    Weight,
    /// `count(*)`
    Count,
}

/// A SELECT bound to a table.
#[derive(Clone, Debug)]
pub struct BoundSelect<'s> {
    /// Header and type of each column of the answer. A computed column has no type.
    pub headers: Vec<(String, Option<ColumnType>)>,
    /// What is known of the values of the first columns. Of the others the types tell.
    pub kept: Vec<Kept>,
    /// The value of each column.
    pub shown: Arc<[Shown]>,
    /// Whether the answer is the single row of COUNT(*).
    pub is_count: bool,
    /// ORDER BY. A MATCH without one is ordered by weight, the highest first.
    pub order: Arc<Order>,
    /// WHERE without MATCH.
    pub condition: Option<Condition<'s>>,
    /// Whether there is a MATCH.
    pub is_matching: bool,
    /// Most rows of the answer; `None`: all.
    pub limit: Option<u64>,
    /// Rows skipped first.
    pub offset: u64,
    /// OPTION, with the defaults of the table.
    pub options: Options,
    /// The page that OPTION scroll asks for.
    pub scroll: Option<ScrollPage>,
    /// Weight of each text column, in the order of text columns; 1 unless OPTION says otherwise.
    pub field_weights: Vec<u32>,
}

/// A page of OPTION scroll.
#[derive(Clone, Debug)]
pub struct ScrollPage {
    /// The order in words, for the token of the next page.
    pub order: String,
    /// The page holds rows behind this position alone; `None`: it is the first.
    pub behind: Option<Arc<Token>>,
}

/// The rest of WHERE.
#[derive(Clone, Debug)]
pub struct Condition<'s> {
    /// The expression as written, with aliases of the SELECT list replaced.
    pub written: Cow<'s, Expression>,
    /// The prepared expression.
    pub prepared: Prepared,
    /// The only ids for which it can be true, if they are evident.
    pub ids: Option<Ids>,
    /// The values of keyed columns for which alone it can be true. Empty where `ids` are evident.
    pub keys: Vec<KeyCodes>,
}

/// An order for an error.
fn shown_order(order: &str) -> &str {
    if order.is_empty() { "id ASC" } else { order }
}

impl<'s> BoundSelect<'s> {
    /// Binds a SELECT. Cost: linear in the statement.
    ///
    /// # Errors
    /// `UnknownColumn`. `Invalid` for MATCH, weight() or a key of ORDER BY that these rows do not have. `NotYet` for
    /// COUNT(*) beside other columns.
    pub fn new(
        select: &'s Select,
        options: &Options,
        scope: &Scope<'_>,
    ) -> Result<BoundSelect<'s>, BindError> {
        let is_matching = select.matching.is_some();
        if is_matching && !scope.is_searched {
            return Err(BindError::Invalid("MATCH needs a search table".to_owned()));
        }
        let left = Cell::new(Some(ALIASED_BYTES_MAX));
        let is_column = |name: &str| scope.slot_in(name).is_some();
        let aliases = Aliases::new(&select.items, &is_column, &left);
        let (mut headers, mut shown, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for (at, item) in select.items.iter().enumerate() {
            match item {
                Item::Star => scope.star(&mut headers, &mut shown),
                Item::TableStar(table) => {
                    return Err(BindError::Invalid(format!("no table '{table}' in FROM")));
                }
                Item::Value { what, name } => {
                    let (show, kind, known) = scope.show(what, &aliases.before(at))?;
                    if kind.is_none() {
                        keep(&mut kept, &headers, known);
                    }
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
        let condition = match &select.filter {
            Some(filter) => Some(scope.condition_of(aliases.replace(filter)?)?),
            None => None,
        };
        let written = scope.written_order(select)?;
        let order = scope.prepared_order(&written)?;
        let scroll = match &options.scroll {
            Some(scroll) => Some(scope.scroll(scroll, &written, &order, counts > 0)?),
            None => None,
        };
        Ok(BoundSelect {
            scroll,
            kept,
            headers,
            shown: shown.into(),
            is_count: counts > 0,
            order: Arc::new(order),
            condition,
            is_matching,
            limit: select.limit,
            offset: select.offset,
            options: options.clone(),
            field_weights: scope.field_weights(&options.field_weights, is_matching)?,
        })
    }

    /// Whether ids or values of KEY columns, alone or under AND, name the rows. It depends on the statement and the columns, never
    /// on whether an index can be read.
    #[must_use]
    pub fn is_lookup(&self) -> bool {
        let names =
            |condition: &Condition<'_>| condition.ids.is_some() || !condition.keys.is_empty();
        !self.is_matching && self.condition.as_ref().is_some_and(names)
    }

    /// Applies the page limits of search tables. Without LIMIT a MATCH and a page of OPTION scroll have 20 rows. A MATCH ends at
    /// `max_matches`, as in Sphinx; a scan ends there only if OPTION names it. A look-up has no limits. Returns whether it is a
    /// MATCH that has 20 rows because nothing else is said.
    ///
    /// # Errors
    /// `Invalid` if the page begins at or behind `max_matches`.
    pub fn page(&mut self) -> Result<bool, BindError> {
        if self.is_lookup() {
            return Ok(false);
        }
        let is_implied = self.limit.is_none() && self.is_matching && self.scroll.is_none();
        if is_implied || self.scroll.is_some() {
            self.limit = self.limit.or(Some(IMPLICIT_LIMIT));
        }
        if let Some(most) = self.options.rows_max(self.is_matching) {
            self.limit = Some(within_matches(self.limit, self.offset, most)?);
        }
        Ok(is_implied)
    }

    /// The row of COUNT(*); `None` if LIMIT or OFFSET drop it.
    #[must_use]
    pub fn count_row(&self, count: u64) -> Option<Vec<Value>> {
        let is_shown = self.offset == 0 && self.limit != Some(0);
        is_shown.then(|| vec![Value::Int(count.into()); self.shown.len()])
    }

    /// Whether the answer shows weights or is ordered by them.
    #[must_use]
    pub fn needs_weight(&self) -> bool {
        let is_shown = |shown: &Shown| match shown {
            Shown::Weight => true,
            Shown::Slot(_) | Shown::Stored(..) | Shown::Count => false,
            Shown::Computed(prepared) => prepared.needs_weight(),
        };
        self.shown.iter().any(is_shown) || self.order.needs_weight()
    }
}

impl Scope<'_> {
    /// Prepares a condition. Errors: `UnknownColumn`; `NotYet` for weight().
    pub fn condition<'s>(&self, written: &'s Expression) -> Result<Condition<'s>, BindError> {
        self.condition_of(Cow::Borrowed(written))
    }

    fn condition_of<'s>(&self, written: Cow<'s, Expression>) -> Result<Condition<'s>, BindError> {
        if written.has_aggregate() {
            return Err(BindError::Invalid(AGGREGATE_IN_WHERE.to_owned()));
        }
        let ids = match self.has_id {
            true => Ids::of(&written),
            false => None,
        };
        let prepared = self.prepare(&written)?;
        if prepared.needs_weight() {
            return Err(BindError::NotYet("weight() in WHERE"));
        }
        Ok(Condition {
            prepared,
            keys: match ids {
                Some(_) => Vec::new(),
                None => KeyCodes::of(&written, self.columns),
            },
            ids,
            written,
        })
    }

    /// ORDER BY. A name that the SELECT list gives to an item means that item, in any case.
    ///
    /// # Errors
    /// `UnknownColumn`; `Invalid` for a key that rows do not have; `NotYet` for COUNT(*).
    pub fn order(&self, select: &Select) -> Result<Order, BindError> {
        self.prepared_order(&self.written_order(select)?)
    }

    /// The keys of ORDER BY, with what aliases in them stand for. Of a MATCH without ORDER BY the weight, the highest first.
    fn written_order(&self, select: &Select) -> Result<Vec<OrderBy>, BindError> {
        let left = Cell::new(Some(ALIASED_BYTES_MAX));
        let is_column = |name: &str| self.slot_in(name).is_some();
        let aliases = Aliases::new(&select.items, &is_column, &left);
        let mut keys = Vec::with_capacity(select.order.len());
        for OrderBy { key, descending } in &select.order {
            let key = match aliased(key, &select.items) {
                Output::Expression(expression) => {
                    Output::Expression(aliases.replace(expression)?.into_owned())
                }
                other => other.clone(),
            };
            keys.push(OrderBy {
                key,
                descending: *descending,
            });
        }
        if keys.is_empty() && select.matching.is_some() {
            keys.push(OrderBy {
                key: Output::Weight,
                descending: true,
            });
        }
        Ok(keys)
    }

    fn prepared_order(&self, written: &[OrderBy]) -> Result<Order, BindError> {
        let mut keys = Vec::with_capacity(written.len());
        for OrderBy { key, descending } in written {
            let key = match key {
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
        Ok(Order::new(keys))
    }

    /// The page that OPTION scroll asks for. Errors: `Invalid` for a token of another order, and where there are no rows to page.
    fn scroll(
        &self,
        scroll: &Scroll,
        written: &[OrderBy],
        order: &Order,
        is_count: bool,
    ) -> Result<ScrollPage, BindError> {
        if is_count || !self.is_searched {
            return Err(BindError::Invalid(
                "OPTION scroll is for the rows of search tables".to_owned(),
            ));
        }
        let page = ScrollPage {
            order: order_of(written),
            behind: match scroll {
                Scroll::First => None,
                Scroll::Behind(token) => Some(Arc::clone(token)),
            },
        };
        match &page.behind {
            Some(token) if token.order != page.order => Err(BindError::Invalid(format!(
                "the scroll token is one of ORDER BY {}, and this SELECT has ORDER BY {}",
                shown_order(&token.order),
                shown_order(&page.order)
            ))),
            Some(token) if token.last.keys.len() != order.value_count() => {
                Err(BindError::Invalid(NO_TOKEN.to_owned()))
            }
            _ => Ok(page),
        }
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

    fn show(
        &self,
        what: &Output,
        aliases: &Aliases<'_>,
    ) -> Result<(Shown, Option<ColumnType>, Kept), BindError> {
        let (shown, kind) = match what {
            Output::Weight if !self.is_searched => return Err(self.no_weight()),
            Output::Weight => (Shown::Weight, Some(ColumnType::Int)),
            Output::Count => (Shown::Count, Some(ColumnType::Bigint)),
            Output::Expression(Expression::Column(name)) if self.slot(name).is_some() => {
                let slot = self.slot(name);
                let (slot, kind) = slot.ok_or_else(|| BindError::UnknownColumn(name.clone()))?;
                (Shown::Slot(slot), Some(kind))
            }
            Output::Expression(expression) => {
                let replaced = aliases.replace(expression)?;
                let columns = |name: &str| Some(self.slot_in(name)?.1);
                let shown = Shown::Computed(self.prepare(&replaced)?.stored());
                let kept = kept_as(&replaced, &columns);
                return Ok((shown, shown_as(&replaced, &columns), kept));
            }
        };
        Ok((shown, kind, Kept::of(kind)))
    }

    /// Prepares an expression over the slots of a row. Errors: `UnknownColumn`; `NotYet` for the items of standing queries' tags.
    pub fn prepare(&self, expression: &Expression) -> Result<Prepared, BindError> {
        if self.is_standing && reads_items(expression, &|name| name == TAGS_OF_STANDING) {
            return Err(BindError::NotYet(ITEMS_OF_TAGS));
        }
        Prepared::typed(&with_ids(expression, self.has_id), &|name| {
            self.slot_in(name)
        })
        .map_err(BindError::from)
    }

    /// As [`Scope::slot`], with the names that only stand inside expressions.
    fn slot_in(&self, name: &str) -> Option<(usize, ColumnType)> {
        if name == "weight()" && self.is_searched {
            return Some((WEIGHT_SLOT, ColumnType::Bigint));
        }
        self.slot(name)
    }

    /// Slot and type of a column, `id` included.
    fn slot(&self, name: &str) -> Option<(usize, ColumnType)> {
        if self.has_id && name == "id" {
            return Some((ID, ColumnType::Bigint));
        }
        let at = self.columns.iter().position(|column| column.name == name)?;
        Some((at + usize::from(self.has_id), self.columns[at].kind))
    }

    /// The weight of each text column. Without MATCH, an unknown name is ignored.
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
    /// The value over a row.
    pub fn value(&self, weight: i64, row: &dyn ColumnValues) -> Value {
        match self {
            Shown::Slot(slot) => row.value(*slot),
            Shown::Stored(slot, kind) => kind.of_comparable(row.value(*slot)),
            Shown::Computed(prepared) => prepared.evaluate(row),
            Shown::Weight | Shown::Count => Value::Int(weight.into()),
        }
    }
}

/// Notes what is known of the column behind those that have headers. Columns before it that are not noted have types.
fn keep(kept: &mut Vec<Kept>, headers: &[(String, Option<ColumnType>)], known: Kept) {
    let before = headers.get(kept.len()..).unwrap_or_default();
    kept.extend(before.iter().map(|(_, kind)| Kept::of(*kind)));
    kept.push(known);
}

/// The LIMIT of a page that ends at `max_matches`, which is `most`.
///
/// # Errors
/// `Invalid` if the page begins there or behind.
pub fn within_matches(limit: Option<u64>, offset: u64, most: u64) -> Result<u64, BindError> {
    match most.checked_sub(offset) {
        None | Some(0) => Err(BindError::Invalid(format!(
            "offset out of bounds (offset={offset}, max_matches={most})"
        ))),
        Some(left) => Ok(limit.map_or(left, |limit| limit.min(left))),
    }
}

/// The expression as rows with ids answer it: each RAND(seed) has the id of the row, which its numbers depend on.
fn with_ids(expression: &Expression, has_id: bool) -> Cow<'_, Expression> {
    let is_random = |of: &Expression| matches!(of, Expression::Call(Function::Rand, _));
    let mut with_ids = Cow::Borrowed(expression);
    if has_id && expression.has(&mut |part| is_random(part)) {
        add_ids(with_ids.to_mut());
    }
    with_ids
}

/// Whether it reads the items of such a column.
fn reads_items(expression: &Expression, is: &dyn Fn(&str) -> bool) -> bool {
    expression.has(&mut |part| match part {
        Expression::Each { list, .. } => matches!(&**list, Expression::Column(name) if is(name)),
        _ => false,
    })
}

fn add_ids(expression: &mut Expression) {
    if let Expression::Call(Function::Rand, arguments) = expression
        && arguments.len() == 1
    {
        arguments.push(Expression::Column("id".to_owned()));
    }
    expression.parts_mut().into_iter().for_each(add_ids);
}

/// The output that a key means: an item of the list by its alias, else itself.
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

impl From<Unprepared> for BindError {
    fn from(error: Unprepared) -> BindError {
        match error {
            Unprepared::UnknownColumn(name) => BindError::UnknownColumn(name),
            Unprepared::Constant(what) => BindError::Constant(what.into()),
            Unprepared::Invalid(what) => BindError::Invalid(what.into()),
        }
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BindError::UnknownColumn(name) => write!(f, "unknown column '{name}'"),
            BindError::NotYet(what) => write!(f, "not yet: {what}"),
            BindError::Constant(what) | BindError::Invalid(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for BindError {}
