//! The executor: which rows a SELECT finds, their weights, their order.
//!
//! One pass over each part, document at a time, over cursors that are the same for tail and segment. Nothing of an answer
//! depends on how rows are spread over parts: statistics are sums over all parts, weights are integer sums of one integer for
//! each word and number of occurrences, and the document id is the last key of every order.

mod best;
mod cursor;
mod ids;
mod output;
mod plan;
mod rank;
mod values;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use query::analysis::Words;
use query::expression::Prepared;
use query::request::Select;
use query::tree::Query;
use query::value::Value;

use crate::answer::{Answer, Rows};
use crate::control::{Control, Reason};
use crate::error::{Error, Result};
use crate::part::Part;
use crate::snapshot::Snapshot;
use best::{Best, Found, Order};
use cursor::Cursor;
use output::Shown;
use plan::Plan;
use rank::Hit;
use values::RowValues;

pub(crate) use output::FoundRows;

/// Where a cursor stands that has no more rows.
pub(crate) const END: u32 = u32::MAX;

/// Rows of a part after which a search asks whether to go on, as a power of two.
const WINDOW_BITS: u32 = 12;

/// Weight of every row of a SELECT without MATCH, as in Sphinx.
const WEIGHT_WITHOUT_MATCH: i64 = 1;

/// Answers a SELECT; see [`Snapshot::search`].
pub(crate) fn search(
    snapshot: &Arc<Snapshot>,
    select: &Select,
    query: Option<&Query>,
    control: &Control,
) -> Result<Answer> {
    let shape = &snapshot.shape;
    let mut shown = Shown::new(select, shape)?;
    let order = Order::new(select, query.is_some(), shape)?;
    let filter = select
        .filter
        .as_ref()
        .map(|filter| values::prepare(filter, shape))
        .transpose()?;
    let plan = query
        .map(|query| Plan::new(&query.root, snapshot))
        .transpose()?;
    let keep = match select.limit {
        _ if shown.is_count => Some(0),
        Some(0) => Some(0),
        Some(limit) => select.offset.checked_add(limit),
        None => None,
    };
    let mut search = Search {
        snapshot,
        ranked: plan.is_some() && (shown.needs_weight() || order.needs_weight()),
        plan,
        ids: select.filter.as_ref().and_then(ids::of),
        filter,
        best: Best::new(order, keep),
        total: 0,
    };
    let partial = match search.run(control) {
        Ok(()) => None,
        Err(Error::Interrupted {
            reason: Reason::Time,
        }) => Some(Reason::Time),
        Err(error) => return Err(error),
    };
    let keywords = search.plan.as_ref().map_or_else(Vec::new, Plan::keywords);
    let Search { best, total, .. } = search;
    let columns = std::mem::take(&mut shown.columns);
    let (rows, total_found) = if shown.is_count {
        (Rows::of_count(shown.count_row(total, select)), 1)
    } else {
        let found = best.into_sorted(select.offset);
        (
            Rows::new(FoundRows::new(Arc::clone(snapshot), shown, found)),
            total,
        )
    };
    Ok(Answer {
        columns,
        rows,
        total_found,
        keywords,
        partial,
        warnings: Vec::new(),
    })
}

/// One SELECT on its way through the parts.
struct Search<'a> {
    snapshot: &'a Snapshot,
    plan: Option<Plan>,
    /// Whether anybody looks at weights.
    ranked: bool,
    filter: Option<Prepared>,
    /// Where the filter can be true for these ids only: sorted, each once.
    ids: Option<Vec<u64>>,
    best: Best,
    total: u64,
}

impl Search<'_> {
    fn run(&mut self, control: &Control) -> Result<()> {
        let everything = self.plan.as_ref().is_none_or(Plan::is_all) && self.filter.is_none();
        for (at, part) in self.snapshot.parts.iter().enumerate() {
            control.check()?;
            if everything {
                self.total += part.rows_live();
                self.list_part(at, part)?;
            } else {
                self.run_part(at, part, control)?;
            }
        }
        Ok(())
    }

    /// Every row of a part matches. Where rows lie in the order asked for, the first ones are enough.
    fn list_part(&mut self, at: usize, part: &Part) -> Result<()> {
        let is_sorted = part.is_sorted() && self.best.order().is_by_id();
        let wanted = self
            .best
            .wanted()
            .filter(|wanted| is_sorted || *wanted == 0);
        let live = (0..part.rows()).filter(|doc| part.is_live(*doc));
        for doc in live.take(wanted.unwrap_or(usize::MAX)) {
            self.offer(at, &RowValues::new(part, doc), WEIGHT_WITHOUT_MATCH)?;
        }
        Ok(())
    }

    fn run_part(&mut self, at: usize, part: &Part, control: &Control) -> Result<()> {
        let mut cursor = self.cursor(at, part)?;
        let mut hit = Hit::new(self.plan.as_ref().map_or(0, Plan::words));
        let mut doc = cursor.doc();
        let mut window = 0;
        while doc != END {
            if doc >> WINDOW_BITS != window {
                window = doc >> WINDOW_BITS;
                control.check()?;
            }
            let row = RowValues::new(part, doc);
            if part.is_live(doc) && self.accepts(&row)? && self.verifies(&row)? {
                self.total += 1;
                if self.best.wanted() != Some(0) {
                    let weight = self.weight(&mut *cursor, &mut hit);
                    self.offer(at, &row, weight)?;
                }
            }
            doc = cursor.seek(doc + 1);
        }
        Ok(())
    }

    /// What the part's rows are stepped through by: the query, the ids, both, or every row.
    fn cursor<'p>(&self, at: usize, part: &'p Part) -> Result<Box<dyn Cursor + 'p>> {
        let listed = match &self.ids {
            Some(ids) => Some(cursor::listed(part.find_all(ids)?)),
            None => None,
        };
        let matched = match &self.plan {
            Some(plan) => Some(plan.cursor(at, part, self.ranked)?),
            None => None,
        };
        Ok(match (listed, matched) {
            (Some(listed), Some(matched)) => cursor::both(listed, matched),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => cursor::every(part.rows()),
        })
    }

    fn accepts(&self, row: &RowValues<'_>) -> Result<bool> {
        let Some(filter) = &self.filter else {
            return Ok(true);
        };
        let accepted = filter.accepts(&|slot| row.value(slot));
        row.check()?;
        Ok(accepted)
    }

    /// Whether the row's text satisfies what no cursor decides: it is analysed again.
    fn verifies(&self, row: &RowValues<'_>) -> Result<bool> {
        let Some(verifier) = self.plan.as_ref().and_then(Plan::verified) else {
            return Ok(true);
        };
        let shape = &self.snapshot.shape;
        let mut words = Words::new();
        for (field, column) in shape.texts().enumerate() {
            if let Value::Str(text) = row.value(column + 1) {
                words.push_field(&shape.analyzer, field as u8, &text);
            }
        }
        row.check()?;
        Ok(verifier.matches(&words))
    }

    fn weight(&self, cursor: &mut dyn Cursor, hit: &mut Hit) -> i64 {
        match &self.plan {
            Some(plan) if self.ranked && !plan.is_all() => {
                hit.clear();
                cursor.record(hit);
                plan.weight(hit)
            }
            _ => WEIGHT_WITHOUT_MATCH,
        }
    }

    fn offer(&mut self, part: usize, row: &RowValues<'_>, weight: i64) -> Result<()> {
        let keys: Vec<Value> = self.best.order().values(row);
        let id = row.id();
        row.check()?;
        self.best.offer(Found {
            part: part as u32,
            doc: row.doc(),
            id,
            weight,
            keys,
        });
        Ok(())
    }
}

/// As the engine and its readers see an unknown column.
fn unknown_column(name: &str) -> Error {
    Error::UnknownColumn {
        name: name.to_owned(),
    }
}
