//! Reads standing queries as stored documents.

use std::sync::Arc;

use percolate::StandingQuery;
use relation::expression::Expression;
use relation::value::Value;
use serde_json::json;
use wire::es::{EsError, Mapping, Source};

use super::failed;
use crate::http::Guest;

/// Columns of a standing query, in the order in which changes write them.
pub(super) const COLUMNS: [&str; 5] = ["id", "query", "tags", "filters", "source"];

/// The condition `id IN (ids)`.
pub(super) fn named(ids: Vec<u64>) -> Expression {
    Expression::In {
        needle: Box::new(Expression::Column("id".to_owned())),
        negated: false,
        list: ids.into_iter().map(|id| Value::Int(id.into())).collect(),
    }
}

/// The standing queries with these ids; `None`: all of them.
pub(super) fn read(
    guest: &Guest<'_>,
    table: &str,
    ids: Option<&[u64]>,
) -> Result<Vec<Arc<StandingQuery>>, EsError> {
    let snapshot = guest
        .reads(table)
        .map_err(|failure| failed(failure, table))?;
    let found = snapshot.standing_queries(table, ids);
    found.map_err(|error| failed(error.into(), table))
}

/// The `_id` of a standing query.
pub(super) fn id_of(query: &StandingQuery) -> String {
    Source::read(&query.source)
        .name
        .unwrap_or_else(|| query.id.to_string())
}

/// The stored document of a standing query. A query that SQL stored has none; it is shown as the document that would store it.
pub(super) fn document(query: &StandingQuery, mapping: &Mapping) -> String {
    let document = Source::read(&query.source).document;
    if !document.is_empty() {
        return document.to_owned();
    }
    let mut shown = json!({"tags": &*query.tags, "filters": &*query.filters});
    shown[mapping.percolator.as_str()] = json!({"query_string": {"query": &*query.text}});
    shown.to_string()
}
