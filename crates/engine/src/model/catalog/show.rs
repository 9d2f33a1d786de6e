//! SHOW CREATE TABLE: the statement that makes a table again. Dumps begin each table with it.

use std::fmt::Write as _;

use query::Syntax;
use query::schema::Column;

use super::{keep_pairs, pairs};
use crate::command::{Definition, Kind};

/// The CREATE TABLE statement of a definition, with every option that is set. A pq table with `on=` and a distributed table show
/// no columns and no analysis: CREATE TABLE takes both from the tables that `on=` or `local=` names.
pub(crate) fn show_create(definition: &Definition) -> String {
    let mut text = format!("CREATE TABLE {}", quote_name(&definition.name));
    let takes_over = match &definition.kind {
        Kind::Percolate { on, .. } => !on.is_empty(),
        Kind::Distributed { .. } => true,
        Kind::Search(_) | Kind::Queue(_) => false,
    };
    if !takes_over {
        // The implied id stands there too, where CREATE TABLE takes it: drivers learn the columns from this text.
        let id = !matches!(definition.kind, Kind::Queue(_));
        let id = id.then(|| format!("{} bigint", quote_name("id")));
        let columns: Vec<String> = id
            .into_iter()
            .chain(definition.columns.iter().map(show_column))
            .chain(definition.columns.iter().filter_map(show_key))
            .collect();
        let _ = write!(text, " (\n  {}\n)", columns.join(",\n  ")); // a String takes all that is written
    }
    match &definition.kind {
        Kind::Search(_) => text.push_str(" type='rt'"),
        Kind::Distributed { locals } => {
            text.push_str(" type='distributed'");
            for local in locals {
                let _ = write!(text, " local={}", quote_text(local));
            }
        }
        Kind::Queue(_) => text.push_str(" ENGINE=queue"),
        Kind::Percolate {
            on, into, syntax, ..
        } => {
            text.push_str(" type='pq'");
            if !on.is_empty() {
                let _ = write!(text, " on={}", quote_text(&on.join(",")));
            }
            if let Some(into) = into {
                let _ = write!(text, " into={}", quote_text(into));
            }
            if *syntax != Syntax::default() {
                let _ = write!(text, " syntax='{}'", syntax.name());
            }
        }
    }
    for (name, value) in pairs(&definition.kind) {
        let _ = write!(text, " {name}={}", quote_text(&value));
    }
    if !takes_over {
        for (name, value) in definition.analysis.pairs() {
            let _ = write!(text, " {name}={}", quote_text(&value));
        }
    }
    for (name, value) in definition.keep.iter().flat_map(keep_pairs) {
        let _ = write!(text, " {name}={}", quote_text(&value));
    }
    if let Some(mode) = definition.sync {
        let _ = write!(text, " sync='{mode}'");
    }
    text
}

fn show_column(column: &Column) -> String {
    let mut text = format!("{} {}", quote_name(&column.name), column.kind.sql_name());
    if !column.nullable {
        text.push_str(" NOT NULL");
    }
    if let Some(default) = column.default_constant() {
        let _ = write!(text, " DEFAULT {default}");
    }
    text
}

/// The look-up index of a column. It has the column's name.
fn show_key(column: &Column) -> Option<String> {
    let name = quote_name(&column.name);
    column.keyed.then(|| format!("KEY {name} ({name})"))
}

/// A name in backticks. MySQL writes every name so, and drivers that read the statement look for them.
fn quote_name(name: &str) -> String {
    format!("`{name}`")
}

fn quote_text(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}
