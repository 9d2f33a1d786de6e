//! A pq table's own rows: the columns of a standing query, and conditions on them.

use std::borrow::Cow;

use language::meter::Meter;
use percolate::StandingQuery;
use relation::bind::{Scope, TAGS_OF_STANDING};
use relation::expression::{BinaryOperator, Expression, Metered, Over, Prepared};
use relation::request::{Item, Output, Select};
use relation::schema::{Column, ColumnType};
use relation::value::Value;

use crate::command::{STANDING_COLUMNS, STANDING_SHOWN};
use crate::error::Result;
use crate::failure;

/// The column behind those that people are shown: what a client of Elasticsearch stored.
const SOURCE: (&str, ColumnType) = ("source", ColumnType::String);

/// What the name of a column begins with that tells whether a comparison with `any(tags)` holds.
const ANY_TAG: &str = "any(tags)";

/// The columns that a statement on standing queries may name, with one for each comparison with `any(tags)` in it: whether it holds.
///
/// `WHERE any(tags) = 'x' AND id > 3` becomes `any(tags)0 = 1 AND id > 3`.
pub(crate) struct QueryColumns {
    columns: Vec<Column>,
    /// What each of the last columns compares with.
    any_tags: Vec<Vec<String>>,
}

impl QueryColumns {
    /// Those of the rows alone.
    pub(crate) fn plain() -> QueryColumns {
        QueryColumns::with(Vec::new())
    }

    /// Those of a condition, and the condition in terms of them.
    pub(crate) fn of_condition(condition: &Expression) -> (QueryColumns, Cow<'_, Expression>) {
        let (mut own, mut any_tags) = (Cow::Borrowed(condition), Vec::new());
        if compares_tags(condition) {
            take_any(own.to_mut(), &mut any_tags);
        }
        (QueryColumns::with(any_tags), own)
    }

    /// Those of a SELECT, and the SELECT in terms of them.
    pub(crate) fn of_select(select: &Select) -> (QueryColumns, Cow<'_, Select>) {
        let (mut own, mut any_tags) = (Cow::Borrowed(select), Vec::new());
        let items = select.items.iter().filter_map(|item| match item {
            Item::Value { what, .. } => written(what),
            Item::Star | Item::TableStar(_) => None,
        });
        let keys = select.order.iter().filter_map(|order| written(&order.key));
        if items.chain(keys).chain(&select.filter).any(compares_tags) {
            let own = own.to_mut();
            let items = own.items.iter_mut().filter_map(|item| match item {
                Item::Value { what, .. } => written_mut(what),
                Item::Star | Item::TableStar(_) => None,
            });
            let keys = own.order.iter_mut();
            let keys = keys.filter_map(|order| written_mut(&mut order.key));
            let all = items.chain(keys).chain(&mut own.filter);
            all.for_each(|expression| take_any(expression, &mut any_tags));
        }
        (QueryColumns::with(any_tags), own)
    }

    fn with(any_tags: Vec<Vec<String>>) -> QueryColumns {
        let column = |name: String, kind: ColumnType| Column {
            name,
            kind,
            nullable: true,
            default: None,
            keyed: false,
        };
        let named = STANDING_COLUMNS.iter().chain([&SOURCE]);
        let named = named.map(|(name, kind)| column((*name).to_owned(), *kind));
        let any = (0..any_tags.len()).map(|at| column(any_tag(at), ColumnType::Bool));
        QueryColumns {
            columns: named.chain(any).collect(),
            any_tags,
        }
    }

    pub(crate) fn scope(&self) -> Scope<'_> {
        Scope {
            columns: &self.columns,
            has_id: true,
            starred: STANDING_SHOWN,
            is_searched: false,
            is_standing: true,
        }
    }

    /// The value of a slot of the scope.
    pub(crate) fn value(&self, query: &StandingQuery, slot: usize) -> Value {
        match slot {
            0 => Value::Int(query.id.into()),
            1 => Value::Str(query.text.to_string()),
            2 => Value::Str(query.tags.to_string()),
            3 => Value::Str(query.filters.to_string()),
            4 => Value::Int(query.count.get().0.into()),
            5 => Value::Int(query.count.get().1.into()),
            6 => Value::Str(query.source.to_string()),
            any => {
                let wanted = any.checked_sub(STANDING_COLUMNS.len() + 2);
                let wanted = wanted.and_then(|any| self.any_tags.get(any));
                let has = |wanted: &Vec<String>| has_any(&query.tags, wanted);
                Value::Int(wanted.is_some_and(has).into())
            }
        }
    }
}

/// A condition on standing queries, made ready.
pub(crate) struct Condition {
    columns: QueryColumns,
    prepared: Prepared,
}

impl Condition {
    /// # Errors
    /// `UnknownColumn`, naming the table; `NotYet` for tags in another comparison than `=` and IN.
    pub(crate) fn new(table: &str, asked: &Expression) -> Result<Condition> {
        let (columns, asked) = QueryColumns::of_condition(asked);
        let bound = columns.scope().condition(&asked);
        let prepared = bound
            .map_err(|error| failure::of_bind(table, error))?
            .prepared;
        Ok(Condition { columns, prepared })
    }

    /// Whether it is true of a query; of no use once the meter has stopped.
    pub(crate) fn accepts(&self, query: &StandingQuery, meter: &dyn Meter) -> bool {
        let value = Metered::new(meter, |slot| self.columns.value(query, slot));
        self.prepared.accepts(&value)
    }
}

/// Whether one of a comma list's tags is wanted.
fn has_any(tags: &str, wanted: &[String]) -> bool {
    tags.split(',')
        .map(str::trim)
        .any(|tag| wanted.iter().any(|wanted| wanted == tag))
}

/// The expression that an item or a key is.
fn written(output: &Output) -> Option<&Expression> {
    match output {
        Output::Expression(expression) => Some(expression),
        Output::Weight | Output::Count => None,
    }
}

fn written_mut(output: &mut Output) -> Option<&mut Expression> {
    match output {
        Output::Expression(expression) => Some(expression),
        Output::Weight | Output::Count => None,
    }
}

/// Name of the column for a comparison with `any(tags)`.
fn any_tag(at: usize) -> String {
    format!("{ANY_TAG}{at}")
}

fn compares_tags(expression: &Expression) -> bool {
    expression.has(&mut |part| wanted_tags(part).is_some())
}

/// Puts a column of its own in the place of each comparison with `any(tags)`, and of each OR of them.
fn take_any(expression: &mut Expression, any_tags: &mut Vec<Vec<String>>) {
    if let Some((wanted, negated)) = alternatives(expression) {
        let column = Expression::Column(any_tag(any_tags.len()));
        any_tags.push(wanted);
        let is = i128::from(!negated);
        *expression = Expression::Binary(
            BinaryOperator::Equal,
            Box::new(column),
            Box::new(Expression::Literal(Value::Int(is))),
        );
        return;
    }
    let parts = expression.parts_mut();
    parts.into_iter().for_each(|part| take_any(part, any_tags));
}

/// As [`wanted_tags`], also of an OR of comparisons none of which is negated: of many tags there is one column.
fn alternatives(expression: &Expression) -> Option<(Vec<String>, bool)> {
    let Expression::Binary(BinaryOperator::Or, left, right) = expression else {
        return wanted_tags(expression);
    };
    match (alternatives(left)?, alternatives(right)?) {
        ((mut wanted, false), (more, false)) => {
            wanted.extend(more);
            Some((wanted, false))
        }
        _ => None,
    }
}

/// The tags of `any(tags) = 'x'` and `any(tags) [NOT] IN ('x', 'y')`, and whether none of them is to be there.
fn wanted_tags(expression: &Expression) -> Option<(Vec<String>, bool)> {
    let Expression::Each {
        over: Over::Any,
        variable,
        list,
        condition,
    } = expression
    else {
        return None;
    };
    let is = |of: &Expression, name: &str| matches!(of, Expression::Column(own) if own == name);
    if !is(list, TAGS_OF_STANDING) {
        return None;
    }
    match &**condition {
        Expression::Binary(BinaryOperator::Equal, left, right) => match (&**left, &**right) {
            (item, Expression::Literal(value)) | (Expression::Literal(value), item)
                if is(item, variable) =>
            {
                Some((vec![value.to_string()], false))
            }
            _ => None,
        },
        Expression::In {
            needle,
            negated,
            list,
        } if is(needle, variable) => {
            Some((list.iter().map(|tag| tag.to_string()).collect(), *negated))
        }
        _ => None,
    }
}
