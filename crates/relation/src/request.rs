//! Requests to a table, in one shape for SQL, JSON and the reference.

use crate::expression::Expression;
use crate::json::JsonStep;
use crate::schema::Column;
use crate::value::Value;

/// One item of a SELECT list.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `*`
    Star,
    /// `t.*` of a join: all columns of the table of that name.
    TableStar(String),
    /// A column (or `id`), an expression, or a call of [`Output`], with the name under which it is shown.
    Value {
        /// The column or expression that gives the value.
        what: Output,
        /// The header: the alias, else the text as written.
        name: String,
    },
}

impl Item {
    /// A column, shown under its name.
    #[must_use]
    pub fn column(name: &str) -> Item {
        Item::Value {
            what: Output::Expression(Expression::Column(name.to_owned())),
            name: name.to_owned(),
        }
    }
}

/// The value of one column of the answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// An expression over the row, a plain column included.
    Expression(Expression),
    /// `weight()`
    Weight,
    /// `count(*)`: the answer is a single row.
    Count,
}

/// A key of ORDER BY.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderBy {
    /// The key. [`Output::Count`] is refused when the SELECT is bound.
    pub key: Output,
    /// Whether it is DESC.
    pub descending: bool,
}

/// INSERT or REPLACE into one table: one durable unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Insert {
    /// Name of the table, as written.
    pub table: String,
    /// Column names as written; `None`: all, in table order, `id` first where the table has one.
    pub columns: Option<Vec<String>>,
    /// At least one row. Rows may differ in length: only the table can tell which one is wrong.
    pub rows: Vec<Vec<Value>>,
    /// Whether it is REPLACE: a known id is replaced. Queues refuse it.
    pub replace: bool,
}

/// What a row of an INSERT does where its id is known already.
#[derive(Clone, Debug, PartialEq)]
pub enum Known {
    /// IGNORE: it is left out, with a warning.
    Ignore,
    /// ON DUPLICATE KEY UPDATE: the stored row is changed instead. A value of the row that was to be inserted is the column
    /// [`inserted_name`].
    Update(Vec<Assignment>),
    /// REPLACE … SET … WHERE id=n: the columns that are named replace those of the stored row. A row must be known.
    Keep,
}

/// The name that an expression of [`Known::Update`] has for the value to be inserted into a column. No column has such a name.
#[must_use]
pub fn inserted_name(column: &str) -> String {
    format!("VALUES({column})")
}

/// The column whose value to be inserted has this name, as [`inserted_name`] gives it.
#[must_use]
pub fn inserted_column(name: &str) -> Option<&str> {
    name.strip_prefix("VALUES(")?.strip_suffix(')')
}

/// DELETE from one table: one durable unit, also of many rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Delete {
    /// Name of the table, as written.
    pub table: String,
    /// Text of MATCH('…'), for search tables.
    pub matching: Option<String>,
    /// The rest of WHERE. With neither MATCH nor filter every row is deleted.
    pub filter: Option<Expression>,
    /// Queues only: the first `limit` rows in this order are deleted. Empty: rows by rising id, or in queue order.
    pub order: Vec<OrderBy>,
    /// Most rows to delete; `None`: no limit.
    pub limit: Option<u64>,
}

impl Delete {
    /// Deletes every row for which the condition is true.
    #[must_use]
    pub fn new(table: String, filter: Option<Expression>) -> Delete {
        Delete {
            table,
            matching: None,
            filter,
            order: Vec::new(),
            limit: None,
        }
    }
}

/// One assignment: `column = value`, or `column.key[2] = value`.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The column, in lower case.
    pub column: String,
    /// The path of the value that is set in the column's document; empty: the column is set.
    pub path: Vec<JsonStep>,
    /// The expression of the new value.
    pub value: Expression,
}

/// An UPDATE of a search table.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// Lower-case table name without a database.
    pub table: String,
    /// The assignments, in the order written.
    pub set: Vec<Assignment>,
    /// Text of MATCH('…'), if there is one.
    pub matching: Option<String>,
    /// The rest of WHERE. With neither MATCH nor filter every row is changed.
    pub filter: Option<Expression>,
    /// The first `limit` rows in this order are changed. Empty: rows by rising id.
    pub order: Vec<OrderBy>,
    /// Most rows to change; `None`: no limit.
    pub limit: Option<u64>,
    /// OPTION.
    pub options: UpdateOptions,
}

/// What an UPDATE leaves out instead of being refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpdateOptions {
    /// `ignore_nonexistent_columns=1`: assignments of columns that the table does not have.
    pub leaves_unknown_columns: bool,
    /// `strict=0`: in a row, assignments of paths that lead nowhere in its document.
    pub leaves_missing_paths: bool,
}

/// A SELECT on one table.
#[derive(Clone, Debug, PartialEq)]
pub struct Select {
    /// Lower-case table name without a database; of several tables the name that [`together`] gives.
    pub table: String,
    /// The SELECT list; at least one item.
    pub items: Vec<Item>,
    /// Text of MATCH('…'), if there is one.
    pub matching: Option<String>,
    /// The rest of WHERE.
    pub filter: Option<Expression>,
    /// Keys of ORDER BY. Empty: weight descending with MATCH, else id. Id always breaks ties.
    pub order: Vec<OrderBy>,
    /// LIMIT as written. `None` without one: the engine then applies its default.
    pub limit: Option<u64>,
    /// Rows skipped first.
    pub offset: u64,
    /// OPTION name=value pairs, names in lower case, as written.
    pub options: Vec<(String, String)>,
}

impl Select {
    /// The SELECT of items of all rows of a table, without any further clause.
    #[must_use]
    pub fn new(table: impl Into<String>, items: Vec<Item>) -> Select {
        Select {
            table: table.into(),
            items,
            matching: None,
            filter: None,
            order: Vec::new(),
            limit: None,
            offset: 0,
            options: Vec::new(),
        }
    }
}

/// A SELECT on several tables. A column with a table before it has the name `alias.column`, in lower case.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinedSelect {
    /// The tables in the order written; at least one.
    pub tables: Vec<JoinedTable>,
    /// The SELECT list. `weight(t)` is the column `t.weight()`.
    pub items: Vec<Item>,
    /// WHERE without its MATCHes.
    pub filter: Option<Expression>,
    /// GROUP BY and what belongs to it. `None` without it: a SELECT with aggregates is then one group.
    pub grouping: Option<Grouping>,
    /// Keys of ORDER BY. Empty: rows come in the order of the first table's rows, then of the second's, and so on.
    pub order: Vec<OrderBy>,
    /// LIMIT as written.
    pub limit: Option<u64>,
    /// Rows skipped first.
    pub offset: u64,
    /// OPTION name=value pairs, as written.
    pub options: Vec<(String, String)>,
}

/// The name of several tables that a SELECT searches as one, as they stand behind FROM: `` `a`, `b` ``. A table's name has no
/// backtick, so no table has such a name. Of one table it is the table's name.
#[must_use]
pub fn together(tables: &[String]) -> String {
    match tables {
        [table] => table.clone(),
        _ => format!("`{}`", tables.join(BETWEEN_TABLES)),
    }
}

/// The tables that [`together`] put into a name; another name alone.
pub fn tables_of(name: &str) -> impl Iterator<Item = &str> {
    let several = name.strip_prefix('`').and_then(|it| it.strip_suffix('`'));
    several.unwrap_or(name).split(BETWEEN_TABLES)
}

const BETWEEN_TABLES: &str = "`, `";

impl JoinedSelect {
    /// The same SELECT, as one of several tables of which there is one.
    #[must_use]
    pub fn of(select: Select) -> JoinedSelect {
        JoinedSelect {
            tables: vec![JoinedTable {
                name: select.table.clone(),
                table: select.table,
                is_left: false,
                using: Vec::new(),
                on: None,
                matching: select.matching,
            }],
            items: select.items,
            filter: select.filter,
            grouping: None,
            order: select.order,
            limit: select.limit,
            offset: select.offset,
            options: select.options,
        }
    }

    /// The SELECT of its first table, and its groups: the opposite of [`JoinedSelect::of`].
    #[must_use]
    pub fn into_first(self) -> Option<(Select, Option<Grouping>)> {
        let first = self.tables.into_iter().next()?;
        let select = Select {
            table: first.table,
            items: self.items,
            matching: first.matching,
            filter: self.filter,
            order: self.order,
            limit: self.limit,
            offset: self.offset,
            options: self.options,
        };
        Some((select, self.grouping))
    }
}

/// GROUP BY, WITHIN GROUP ORDER BY and HAVING.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grouping {
    /// The keys; a name may be that of an item of the SELECT list. Empty: HAVING stands without GROUP BY.
    pub keys: Vec<Expression>,
    /// The n of `GROUP n BY`: rows shown of each group, at least 1; `None`: one.
    pub rows_each: Option<u64>,
    /// WITHIN GROUP ORDER BY: the order in which a group's rows are shown. Empty: that of all rows.
    pub within: Vec<OrderBy>,
    /// HAVING.
    pub having: Option<Expression>,
    /// Only groups behind these values of the keys of ORDER BY; SQL has none.
    pub after: Option<Vec<Value>>,
    /// Whether an item of the SELECT list that is a key shows, of a list, the item that the group is of. Else it shows the list of
    /// the group's first row, as in Sphinx.
    pub shows_items: bool,
}

/// A FACET: the groups of the rows that its SELECT finds without its LIMIT.
#[derive(Clone, Debug, PartialEq)]
pub struct Facet {
    /// What is shown of a group: expressions, COUNT(DISTINCT …) if the FACET says DISTINCT, COUNT(*).
    pub items: Vec<Item>,
    /// The keys. Empty: all rows are one group.
    pub keys: Vec<Expression>,
    /// A condition on its groups; SQL has none.
    pub having: Option<Expression>,
    /// Only groups behind these values of the keys of ORDER BY; SQL has none.
    pub after: Option<Vec<Value>>,
    /// Keys of ORDER BY. Empty: groups come in the order of their first rows.
    pub order: Vec<OrderBy>,
    /// LIMIT as written.
    pub limit: Option<u64>,
    /// Groups skipped first.
    pub offset: u64,
}

impl Facet {
    /// Calls `visit` with each of its expressions.
    pub fn each_expression(&mut self, visit: &mut dyn FnMut(&mut Expression)) {
        self.keys.iter_mut().for_each(&mut *visit);
        each_expression(&mut self.items, &mut self.having, &mut self.order, visit);
    }
}

impl Grouping {
    /// Calls `visit` with each of its expressions.
    pub fn each_expression(&mut self, visit: &mut dyn FnMut(&mut Expression)) {
        self.keys.iter_mut().for_each(&mut *visit);
        each_expression(&mut [], &mut self.having, &mut self.within, visit);
    }
}

/// A table of a join.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinedTable {
    /// Lower-case name without a database.
    pub table: String,
    /// The name before its columns: the alias, else the table's name.
    pub name: String,
    /// LEFT JOIN: rows of the tables before it stay where none of its rows belongs to them.
    pub is_left: bool,
    /// The columns of USING; empty without it.
    pub using: Vec<String>,
    /// The condition of ON.
    pub on: Option<Expression>,
    /// Text of MATCH('…', table), or of MATCH('…') for the first table.
    pub matching: Option<String>,
}

/// A source of queue rows: one argument of `queue_wait`.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitSource {
    /// Name of the queue.
    pub table: String,
    /// Only rows for which this is true; `None`: every row.
    pub condition: Option<Expression>,
}

/// The expressions of a SELECT list and of ORDER BY.
fn of_outputs<'e>(
    items: &'e mut [Item],
    order: &'e mut [OrderBy],
) -> impl Iterator<Item = &'e mut Expression> {
    let items = items.iter_mut().filter_map(|item| match item {
        Item::Value { what, .. } => Some(what),
        Item::Star | Item::TableStar(_) => None,
    });
    let outputs = items.chain(order.iter_mut().map(|key| &mut key.key));
    outputs.filter_map(|output| match output {
        Output::Expression(expression) => Some(expression),
        Output::Weight | Output::Count => None,
    })
}

/// Calls `visit` with each expression of a SELECT list, of ORDER BY and of WHERE.
pub fn each_expression(
    items: &mut [Item],
    filter: &mut Option<Expression>,
    order: &mut [OrderBy],
    visit: &mut dyn FnMut(&mut Expression),
) {
    of_outputs(items, order).chain(filter).for_each(visit);
}

impl Select {
    /// Calls `visit` with each of its expressions.
    pub fn each_expression(&mut self, visit: &mut dyn FnMut(&mut Expression)) {
        each_expression(&mut self.items, &mut self.filter, &mut self.order, visit);
    }
}

impl Update {
    /// Calls `visit` with each of its expressions.
    pub fn each_expression(&mut self, visit: &mut dyn FnMut(&mut Expression)) {
        self.set.iter_mut().for_each(|set| visit(&mut set.value));
        each_expression(&mut [], &mut self.filter, &mut self.order, visit);
    }
}

impl WaitSource {
    /// All rows of a queue.
    #[must_use]
    pub fn all(table: impl Into<String>) -> WaitSource {
        WaitSource {
            table: table.into(),
            condition: None,
        }
    }
}

/// The mode of `queue_set_srcid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceMode {
    /// `'a'`: skips a row number at or below the last one received, whose INSERT was done before.
    Append,
    /// `'w'`: accepts any row number.
    Reset,
}

/// One change of ALTER TABLE.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// ADD COLUMN.
    Add {
        /// The new column, with a type of the table's type system.
        column: Column,
        /// Its place among the columns.
        place: ColumnPlace,
    },
    /// DROP COLUMN.
    Drop {
        /// Name of the column that goes.
        name: String,
    },
    /// MODIFY COLUMN, and CHANGE COLUMN that keeps the name: another type, default or NULL.
    Modify {
        /// The column after the change.
        column: Column,
    },
    /// RENAME COLUMN.
    Rename {
        /// The name until now.
        from: String,
        /// The name from now on.
        to: String,
    },
    /// ADD KEY and DROP KEY.
    Key {
        /// Name of the column.
        name: String,
        /// Whether it has a key after the change.
        keyed: bool,
    },
}

/// The place of a new column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnPlace {
    /// FIRST: before all others.
    First,
    /// AFTER the column of that name.
    After(String),
    /// Behind all others.
    Last,
}
