//! FACETs of rows that stand in no table: `aggs` of Elasticsearch's `_search` over stored documents.

use std::sync::Arc;

use engine::{Answer, Error, Interrupt, JoinControl};
use relation::bind::{self, BindError, BoundJoin, JoinColumn, JoinScope};
use relation::request::{Facet, Item, Select};
use relation::rows::{BoxedRows, Join};
use relation::schema::ColumnType;
use relation::source::Copied;
use relation::value::Value;

use super::join::{answer_of, refused};
use super::unexpected;
use crate::budget::Grant;
use crate::errors::Failure;
use crate::node::{Node, guarded};

/// Name that errors give to the rows.
const ROWS: &str = "hits";

/// The groups of each FACET over rows whose columns may hold any value. Takes the memory of the groups from `held`. May take long.
///
/// # Errors
/// A column that the rows do not have, and those of GROUP BY: stopped by `interrupt`, no memory.
pub fn groups_of_rows(
    node: &Node,
    columns: &[&str],
    rows: Vec<Vec<Value>>,
    facets: Vec<Facet>,
    interrupt: &Arc<Interrupt>,
    held: &Arc<Grant>,
) -> Result<Vec<Answer>, Failure> {
    let failed = |error: BindError| refused(&[ROWS], error);
    let select = Select::new(ROWS, vec![Item::Star]);
    let is_column = |name: &str| columns.contains(&name);
    let selects = bind::facets(&select, facets, &is_column).map_err(failed)?;
    let scope = JoinScope {
        name: ROWS,
        columns: columns
            .iter()
            .map(|name| JoinColumn {
                name: (*name).to_owned(),
                kind: ColumnType::Json,
            })
            .collect(),
        starred: columns.len(),
        has_id: false,
        rows: rows.len() as u64,
        is_searched: false,
        is_standing: false,
    };
    let control = Arc::new(JoinControl {
        memory: Arc::new(held.for_rows(node.bounds().search_memory_bytes)),
        interrupt: Arc::clone(interrupt),
    });
    let all: Vec<usize> = (0..columns.len()).collect();
    let rows: BoxedRows<Error> = Arc::new(Copied::new(rows, columns.len(), &all));
    let answer = |select| {
        let bound = BoundJoin::new(select, std::slice::from_ref(&scope)).map_err(failed)?;
        let step = bound.steps.first().ok_or_else(unexpected)?;
        let mut join = Join::new(&bound, Arc::clone(&control) as _);
        join.step(step, Arc::clone(&rows))?;
        let joined = join.answer(&bound)?;
        Ok(answer_of(bound, joined))
    };
    guarded(node, || selects.iter().map(answer).collect())
}
