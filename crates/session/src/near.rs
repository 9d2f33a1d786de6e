//! The name that may have been meant by one that there is not.
//!
//! Example: `SELECT titel FROM posts` is refused with `no column 'titel' in table 'posts', did you mean title?`.

use engine::Snapshot;
use language::nearest::nearest_name;
use language::tree::UnknownField;

use crate::errors::{Failure, Unknown};
use crate::node::Node;

/// Names that are compared with a wrong one at most: an error must not cost more than its statement.
const COMPARED_MAX: usize = 1_000;

/// Bytes of a wrong name up to which others are compared with it.
const NAME_BYTES_MAX: usize = 64;

/// A failure that names what was meant, if it was refused for a name and there is a similar one.
pub fn with_near_name(node: &Node, mut failure: Failure) -> Failure {
    let near = match (failure.unknown.as_deref(), node.engine()) {
        (Some(unknown), Ok(engine)) => near(unknown, &engine.snapshot()),
        _ => None,
    };
    if let Some(near) = near {
        failure.message += &format!(", did you mean {near}?");
    }
    failure
}

/// A failure in the words of a JSON request: its writer did not write a query's text, but named a field in `match` or in the text of
/// `query_string`.
pub fn in_json(node: &Node, table: &str, failure: Failure) -> Failure {
    let Some(Unknown::Field(UnknownField { name, near })) = failure.unknown.as_deref() else {
        return failure;
    };
    let engine = node.engine().ok();
    let definition = engine.and_then(|engine| engine.snapshot().definition(table).ok());
    let columns = definition.iter().flat_map(|definition| &definition.columns);
    let message = match (columns.clone().find(|column| column.name == *name), near) {
        (Some(column), _) => format!(
            "query: column '{name}' is {}, which has no words: use equals, in or range",
            column.kind.sql_name()
        ),
        (None, Some(near)) => {
            format!("query: no text column '{name}' in table '{table}', did you mean {near}?")
        }
        (None, None) => format!("query: no text column '{name}' in table '{table}'"),
    };
    Failure { message, ..failure }
}

fn near(unknown: &Unknown, snapshot: &Snapshot) -> Option<String> {
    let (written, known) = match unknown {
        Unknown::Table(table) => {
            let tables = snapshot.tables().into_iter().map(|(name, _)| name);
            (
                table.as_str(),
                tables.take(COMPARED_MAX).collect::<Vec<_>>(),
            )
        }
        Unknown::Column { column, tables } => {
            let column = column.rsplit('.').next().unwrap_or(column);
            let definitions = tables
                .split(", ")
                .filter_map(|name| snapshot.definition(name).ok());
            let named = definitions.flat_map(|definition| {
                let names = definition.columns.iter().map(|column| column.name.clone());
                names.collect::<Vec<_>>()
            });
            (column, named.take(COMPARED_MAX).collect())
        }
        Unknown::Field(_) => return None, // the parser has named one
    };
    if written.len() > NAME_BYTES_MAX {
        return None;
    }
    nearest_name(written, known.iter().map(String::as_str)).map(str::to_owned)
}
