//! Standing queries, read as stored documents.

use std::sync::Arc;

use percolate::StandingQuery;
use query::expression::Expression;
use query::request::{Item, Output, Select};
use query::value::Value;
use serde_json::json;
use wire::es::{EsError, Mapping, Source};

use super::failed;
use crate::node::Node;
use crate::statement::guarded;

/// Columns of a standing query, as they are written and read here.
pub const COLUMNS: [&str; 5] = ["id", "query", "tags", "filters", "source"];

/// The condition of these numbers.
pub fn named(ids: Vec<u64>) -> Expression {
    Expression::In {
        needle: Box::new(Expression::Column("id".to_owned())),
        negated: false,
        list: ids.into_iter().map(|id| Value::Int(id.into())).collect(),
    }
}

/// Standing queries of these numbers, or all of them.
pub fn read(
    node: &Node,
    table: &str,
    ids: Option<Vec<u64>>,
) -> Result<Vec<Arc<StandingQuery>>, EsError> {
    if ids.as_ref().is_some_and(Vec::is_empty) {
        return Ok(Vec::new());
    }
    let item = |name: &str| Item::Value {
        what: Output::Expression(Expression::Column(name.to_owned())),
        name: name.to_owned(),
    };
    let select = Select {
        table: table.to_owned(),
        items: COLUMNS.map(item).into(),
        matching: None,
        filter: ids.map(named),
        order: Vec::new(),
        limit: Some(u64::MAX),
        offset: 0,
        options: Vec::new(),
    };
    let snapshot = node
        .engine()
        .map_err(|failure| failed(failure, table))?
        .snapshot();
    let select = || Ok(snapshot.select(&select, &engine::Control::default())?);
    let answer = tokio::task::block_in_place(|| guarded(node, select));
    let answer = answer.map_err(|failure| failed(failure, table))?;
    let mut found = Vec::new();
    for row in answer.rows {
        let row = row.map_err(|error| failed(error.into(), table))?;
        let mut row = row.into_iter();
        let Some(Value::Int(id)) = row.next() else {
            continue;
        };
        let mut text = || match row.next() {
            Some(Value::Str(text)) => text.into_boxed_str(),
            _ => Box::default(),
        };
        found.push(Arc::new(StandingQuery {
            id: u64::try_from(id).unwrap_or(0),
            text: text(),
            tags: text(),
            filters: text(),
            source: text(),
            count: percolate::HitCount::default(),
        }));
    }
    Ok(found)
}

/// The `_id` of a standing query.
pub fn id_of(query: &StandingQuery) -> String {
    Source::read(&query.source)
        .name
        .unwrap_or_else(|| query.id.to_string())
}

/// The document of a standing query; one that SQL stored is shown as what it would be here.
pub fn document(query: &StandingQuery, mapping: &Mapping) -> String {
    let document = Source::read(&query.source).document;
    if !document.is_empty() {
        return document.to_owned();
    }
    let mut shown = json!({"tags": &*query.tags, "filters": &*query.filters});
    shown[mapping.percolator.as_str()] = json!({"query_string": {"query": &*query.text}});
    shown.to_string()
}
