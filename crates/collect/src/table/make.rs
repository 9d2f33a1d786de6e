//! Statements that make the tables of a configuration.

use std::fmt::Write as _;

use crate::config::{Configuration, StoreConfig, TableConfig, TableKind};

/// Tags of standing queries that come from a configuration.
pub const MARK: &str = "configuration";

/// What a configuration wants of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Making {
    /// Name of the table, as the configuration writes it.
    pub table: String,
    /// Statements that make the table, and the queue of its hits before it unless that exists.
    pub create: Vec<String>,
    /// Standing queries that a pq table is to hold with the tags [`MARK`]: ids, rising, and texts. Others with these tags are to
    /// go. `None`: no pq table.
    pub queries: Option<Vec<(u64, String)>>,
}

/// What a configuration wants, in the order of its stores.
#[must_use]
pub fn making(configuration: &Configuration) -> Vec<Making> {
    let mut made = Vec::new();
    for store in &configuration.stores {
        if let StoreConfig::Table(table) = &store.store {
            made.push(Making {
                table: table.table.clone(),
                create: create(table),
                queries: (table.kind == TableKind::Percolate).then(|| table.queries.clone()),
            });
        }
    }
    made
}

fn create(table: &TableConfig) -> Vec<String> {
    let columns = table.columns();
    let own = |kind: &str| statement(&table.table, &columns, kind);
    match table.kind {
        TableKind::Index => vec![own("type='rt'")],
        TableKind::Queue => vec![own("ENGINE=queue")],
        TableKind::Percolate => {
            let named = table.into.clone();
            let into = &named.unwrap_or_else(|| format!("{}_hits", table.table));
            let of_hit = [
                ("query_id", "bigint"),
                ("query", "text"),
                ("tags", "string"),
            ];
            let is_taken = |name: &str| {
                let mut of_hit = of_hit.iter();
                of_hit.any(|(hit, _)| name.eq_ignore_ascii_case(hit))
            };
            let of_message = columns.iter().filter(|(name, _)| !is_taken(name));
            let of_queue: Vec<(&str, &str)> = of_hit.iter().chain(of_message).copied().collect();
            let is_address = into.contains("://");
            let queue = (!is_address).then(|| statement(into, &of_queue, "ENGINE=queue"));
            let pq = own(&format!("type='pq' into={}", quoted_text(into)));
            queue.into_iter().chain([pq]).collect()
        }
    }
}

fn statement(table: &str, columns: &[(&str, &str)], kind: &str) -> String {
    let mut sql = format!("CREATE TABLE IF NOT EXISTS `{table}` (");
    for (place, (name, kind)) in columns.iter().enumerate() {
        let comma = if place > 0 { ", " } else { "" };
        let _ = write!(sql, "{comma}`{name}` {kind}"); // a String takes all that is written
    }
    sql + ") " + kind
}

/// A text as SQL reads it.
#[must_use]
pub fn quoted_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for character in text.chars() {
        match character {
            '\'' => out.push_str("\\'"),
            '\\' => out.push_str("\\\\"),
            '\0' => out.push_str("\\0"),
            _ => out.push(character),
        }
    }
    out.push('\'');
    out
}
