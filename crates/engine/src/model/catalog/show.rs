//! SHOW CREATE TABLE: the statement that makes a table again. Dumps begin each table with it.

use std::fmt::Write as _;

use language::Syntax;
use relation::schema::Column;

use super::{keep_pairs, pairs};
use crate::command::{Definition, Kind};

/// The CREATE TABLE statement of a definition, with every option that is set. A pq table with `on=` and a distributed table show
/// no columns and no analysis: CREATE TABLE takes both from the tables that `on=` or `local=` names.
pub(crate) fn show_create(definition: &Definition) -> String {
    let mut text = format!("CREATE TABLE {}", quote_name(&definition.name));
    if !takes_over(definition) {
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
    if matches!(definition.kind, Kind::Queue(_)) {
        text.push_str(" ENGINE=queue");
    }
    for (name, value) in settings(definition) {
        let _ = write!(text, " {name}={}", quote_text(&value));
    }
    text
}

/// The options of CREATE TABLE that a table has, without ENGINE.
pub(crate) fn settings(definition: &Definition) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    let mut add = |name: &str, value: &str| settings.push((name.to_owned(), value.to_owned()));
    match &definition.kind {
        Kind::Search(_) => add("type", "rt"),
        Kind::Distributed { locals } => {
            add("type", "distributed");
            locals.iter().for_each(|local| add("local", local));
        }
        Kind::Queue(_) => {}
        Kind::Percolate {
            on, into, syntax, ..
        } => {
            add("type", "pq");
            if !on.is_empty() {
                add("on", &on.join(","));
            }
            if let Some(into) = into {
                add("into", into);
            }
            if *syntax != Syntax::default() {
                add("syntax", syntax.name());
            }
        }
    }
    for (name, value) in pairs(&definition.kind) {
        add(name, &value);
    }
    if !takes_over(definition) {
        for (name, value) in definition.analysis.pairs() {
            add(name, &value);
        }
    }
    for (name, value) in definition.keep.iter().flat_map(keep_pairs) {
        add(name, &value);
    }
    if let Some(mode) = definition.sync {
        add("sync", &mode.to_string());
    }
    settings
}

/// Whether a table has the columns and the analysis of others.
fn takes_over(definition: &Definition) -> bool {
    match &definition.kind {
        Kind::Percolate { on, .. } => !on.is_empty(),
        Kind::Distributed { .. } => true,
        Kind::Search(_) | Kind::Queue(_) => false,
    }
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
