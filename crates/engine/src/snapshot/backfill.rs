//! Backfill: finds the stored documents that match a standing query which came later, in pieces for the engine.

use std::sync::Arc;

use index::{Control, Interrupt};
use relation::expression::{self, BinaryOperator, Expression};
use relation::lexer::Lexer;
use relation::options::Options;
use relation::request::Select;
use relation::schema::{ColumnType, text_names};
use relation::value::Value;

use super::{SearchView, Snapshot, View};
use crate::command::{Backfill, Kind, Now};
use crate::decide::delete::ids_of;
use crate::error::{Error, Result};
use crate::failure;
use crate::limits::BACKFILL_DOCUMENTS_MAX;

const DAY_S: i64 = 86_400;

impl Snapshot {
    /// The pieces of a backfill, to be sent as [`crate::Write::Backfill`] one after the other: the documents that are
    /// stored in the tables listened to and that the query finds, by table and id. `days`: only those whose first
    /// timestamp column is no older. Cost: a search, which `interrupt` stops.
    ///
    /// Nothing is remembered of a backfill: sent twice, it puts the hits twice, and a document that came after the
    /// query was stored has its hit already. The rows tell query and document.
    ///
    /// # Errors
    /// `NoSuchTable`; `Invalid` for a table without `into=`, an id without a query, `days` without a timestamp; those of
    /// a search; `Interrupted`, `OutOfTime`.
    pub fn backfill(
        &self,
        table: &str,
        query_id: u64,
        days: Option<u64>,
        now: Now,
        interrupt: &Arc<Interrupt>,
    ) -> Result<Vec<Backfill>> {
        let View::Percolate(view) = self.view(table)? else {
            return Err(Error::invalid(format!("'{table}' is not a pq table")));
        };
        let Kind::Percolate {
            on,
            into: Some(_),
            syntax,
            ..
        } = &view.definition.kind
        else {
            return Err(Error::invalid(format!("'{table}' has no into=")));
        };
        view.lost.check_ids(&view.definition.name, &[query_id])?;
        let query = view
            .queries
            .get(query_id)
            .ok_or_else(|| Error::invalid(format!("no query {query_id} in table '{table}'")))?;
        let mut pieces = Vec::new();
        for name in on {
            let View::Search(search) = self.view(name)? else {
                return Err(Error::internal("a table listened to is no search table"));
            };
            let since = days.map(|days| since(search, days, now)).transpose()?;
            let filter = condition(&query.filters, since)?;
            let fields = text_names(&search.definition.columns);
            let parsed = syntax.parse_stored(&query.text, &fields, &search.analyzer);
            let parsed = parsed.map_err(Error::Query)?;
            let failed = failure::of_index;
            let select = Select {
                matching: Some(query.text.to_string()),
                filter,
                ..ids_of(name)
            };
            let bound = search.rows.bind(&select, &Options::default());
            let bound = bound.map_err(|error| failure::of_bind(name, error))?;
            let control = Control {
                interrupt: Arc::clone(interrupt),
                ..Control::default()
            };
            let found = search
                .rows
                .search(&bound, Some(&parsed), &control)
                .map_err(failed)?;
            if let Some(reason) = found.partial {
                return Err(failure::of_interrupt(reason));
            }
            let mut ids = Vec::new();
            for row in found.rows {
                if let Some(Value::Int(id)) = row.map_err(failed)?.first() {
                    ids.extend(u64::try_from(*id));
                }
            }
            pieces.extend(ids.chunks(BACKFILL_DOCUMENTS_MAX).map(|ids| Backfill {
                table: view.definition.name.clone(),
                query_id,
                on: name.clone(),
                ids: ids.to_vec(),
            }));
        }
        Ok(pieces)
    }
}

/// `ts >= …` for the first timestamp column.
fn since(search: &SearchView, days: u64, now: Now) -> Result<Expression> {
    let mut columns = search.definition.columns.iter();
    let column = columns.find(|column| column.kind == ColumnType::Timestamp);
    let column = column.ok_or_else(|| {
        let name = &search.definition.name;
        Error::invalid(format!("'{name}' has no timestamp column to count days by"))
    })?;
    let days = i64::try_from(days).unwrap_or(i64::MAX);
    let now_s = now.unix_us.div_euclid(1_000_000);
    let from = now_s.saturating_sub(days.saturating_mul(DAY_S));
    Ok(Expression::Binary(
        BinaryOperator::GreaterOrEqual,
        Box::new(Expression::Column(column.name.clone())),
        Box::new(Expression::Literal(Value::Int(from.into()))),
    ))
}

fn condition(filters: &str, since: Option<Expression>) -> Result<Option<Expression>> {
    let mut terms: Vec<Expression> = since.into_iter().collect();
    if !filters.trim().is_empty() {
        let read = expression::parse(&mut Lexer::new(filters.as_bytes()));
        terms.push(read.map_err(|error| Error::invalid(format!("filters: {error}")))?);
    }
    Ok((!terms.is_empty()).then(|| Expression::all_of(terms)))
}
