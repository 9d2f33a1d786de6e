//! What the entry of a statement says, before the statement is done.

use relation::bind::IMPLICIT_LIMIT;
use relation::expression::{BinaryOperator, Expression};
use relation::request::{JoinedSelect, OrderBy, Output, Select, tables_of};
use study::log::{MatchMode, SortMode};
use wire::sql::Statement;

use super::block::{Number, Text, Told};
use crate::limits::LOGGED_TEXT_BYTES_MAX;

/// Tells what a percolation over HTTP is.
pub(crate) fn tell_percolation(table: &str, told: &mut Told) {
    told.add(Text::Tables, cut(table).as_bytes());
}

/// Whether a statement is logged.
pub(crate) fn is_logged(statement: &Statement) -> bool {
    statement.is_select() || matches!(statement, Statement::CallPq { .. })
}

/// Tells what a statement is.
pub(crate) fn tell(statement: &Statement, told: &mut Told) {
    let mut tables = Tables::default();
    if let Statement::CallPq { table, .. } = statement {
        tables.add(table, told);
    }
    statement.each_table(&mut |name| {
        for name in tables_of(name).take(TABLES_MAX) {
            tables.add(name, told);
        }
    });
    if let Statement::Joined(select) = statement {
        Searched::of_joined(select).tell(told);
    } else if let Some(select) = statement.one_table() {
        Searched::of_select(select).tell(told);
    }
}

/// The tables of a statement, on their way into its entry with commas between.
#[derive(Default)]
struct Tables<'s> {
    last: Option<&'s str>,
    count: usize,
    bytes: usize,
}

impl<'s> Tables<'s> {
    /// Adds a table, unless it is the one before, as far as a line names them.
    fn add(&mut self, name: &'s str, told: &mut Told) {
        if self.last == Some(name) || self.count == TABLES_MAX {
            return;
        }
        let comma = if self.last.is_some() { "," } else { "" };
        for text in [comma, name] {
            let room = text.floor_char_boundary(LOGGED_TEXT_BYTES_MAX - self.bytes);
            told.add(Text::Tables, &text.as_bytes()[..room]);
            self.bytes += room;
        }
        self.last = Some(name);
        self.count += 1;
    }
}

/// The beginning of a text, as far as a line of the log has it.
pub(super) fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(LOGGED_TEXT_BYTES_MAX)]
}

/// The parts of a search that its line tells.
struct Searched<'s> {
    matching: Option<&'s String>,
    filter: Option<&'s Expression>,
    order: &'s [OrderBy],
    window: (u64, Option<u64>),
    options: &'s [(String, String)],
    key: Option<&'s Expression>,
}

impl<'s> Searched<'s> {
    fn of_select(select: &'s Select) -> Searched<'s> {
        Searched {
            matching: select.matching.as_ref(),
            filter: select.filter.as_ref(),
            order: &select.order,
            window: (select.offset, select.limit),
            options: &select.options,
            key: None,
        }
    }

    fn of_joined(select: &'s JoinedSelect) -> Searched<'s> {
        let mut matching = select.tables.iter().map(|of| of.matching.as_ref());
        let grouping = select.grouping.as_ref();
        Searched {
            matching: matching.find_map(|text| text),
            filter: select.filter.as_ref(),
            order: &select.order,
            window: (select.offset, select.limit),
            options: &select.options,
            key: grouping.and_then(|grouping| grouping.keys.first()),
        }
    }

    fn tell(self, told: &mut Told) {
        let option = |name: &str| {
            let mut all = self.options.iter();
            let found = all.find(|(own, _)| own.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value)
        };
        let (offset, limit) = self.window;
        let mut left = CONDITIONS_MAX;
        // Without LIMIT a search without MATCH gives every row.
        let (mode, implied) = match self.matching {
            Some(_) => (MatchMode::Extended2, IMPLICIT_LIMIT),
            None => (MatchMode::Fullscan, u64::MAX),
        };
        let filters = self
            .filter
            .map_or(0, |filter| conditions(filter, &mut left));
        for (number, value) in [
            (Number::Offset, offset),
            (Number::Limit, limit.unwrap_or(implied)),
            (Number::Filters, filters),
            (Number::Mode, mode as u64),
            (Number::Sort, sort_of(self.order) as u64),
        ] {
            told.set(number, Some(value));
        }
        let threads = option("threads").and_then(|number| number.parse().ok());
        told.set(Number::Threads, threads);
        // An expression may be as long as a statement, which the line has anyway.
        let key = self.key.map(|key| key.column().unwrap_or("(expression)"));
        for (text, known) in [
            (Text::Query, self.matching.map(|query| query.trim())),
            (Text::GroupBy, key),
            (Text::Ranker, option("ranker").map(|name| &**name)),
            (Text::Comment, option("comment").map(|comment| &**comment)),
        ] {
            if let Some(known) = known {
                told.add(text, cut(known).as_bytes());
            }
        }
    }
}

/// Most tables that a line names, and most conditions that it counts.
const TABLES_MAX: usize = 100;
const CONDITIONS_MAX: u64 = 1_000;

/// How many conditions AND joins, of `left` at most.
fn conditions(filter: &Expression, left: &mut u64) -> u64 {
    if *left == 0 {
        return 0;
    }
    if let Expression::Binary(BinaryOperator::And, one, other) = filter {
        return conditions(one, left) + conditions(other, left);
    }
    *left -= 1;
    1
}

/// Sphinx's name for an order.
fn sort_of(order: &[OrderBy]) -> SortMode {
    match order {
        [] => SortMode::Relevance,
        [one] => match (&one.key, one.descending) {
            (Output::Weight, true) => SortMode::Relevance,
            (_, true) => SortMode::AttributeDescending,
            (_, false) => SortMode::AttributeAscending,
        },
        _ => SortMode::Extended,
    }
}
