//! Stores of tables: `index`, `queue` and `percolate`.

use std::collections::BTreeSet;

use super::build::Builder;
use super::keys::Kind;
use super::parse::QUERIES;
use super::problem::quote;
use super::values::Scope;
use super::{Field, Format, TableConfig, TableKind};

/// Column of a message's text where the file names none.
const TEXT_COLUMN: &str = "body";
/// Column of a whole message that its fields do not hold, where the file names none.
const REST_COLUMN: &str = "rest";
/// Types of columns that a file may name.
const COLUMN_TYPES: [&str; 7] = [
    "text",
    "string",
    "int",
    "bigint",
    "float",
    "bool",
    "timestamp",
];

impl Builder<'_> {
    /// `None`: an error says why.
    pub(super) fn table(&mut self, at: &Scope<'_>, kind: Kind) -> Option<TableConfig> {
        self.without_lines(at);
        self.unread_blocks(at, |name| kind == Kind::Percolate && name == QUERIES);
        let Some(table) = at.text("table").filter(|table| !table.is_empty()) else {
            self.error(at.block.line, "Bad config - the store has no table=");
            return None;
        };
        let queries = self.queries(at);
        let texts = [
            "table",
            "column",
            "fields",
            "rest_column",
            "category_column",
            "host_column",
            "time_column",
            "into",
        ];
        let texts = texts.iter().filter_map(|key| at.find(key));
        let bytes: usize = texts.map(|entry| entry.value.len()).sum();
        let of_queries: usize = queries.iter().map(|(_, text)| text.len()).sum();
        self.take_text(bytes + of_queries, 1, at.block.line)?;
        let config = TableConfig {
            kind: match kind {
                Kind::Queue => TableKind::Queue,
                Kind::Percolate => TableKind::Percolate,
                _ => TableKind::Index,
            },
            table,
            format: self.format(at)?,
            category_column: at.text("category_column"),
            host_column: at.text("host_column"),
            time_column: at.text("time_column"),
            into: at.text("into"),
            queries,
        };
        let mut seen = BTreeSet::new();
        for (column, _) in config.columns() {
            if !seen.insert(column.to_lowercase()) {
                let text = format!("Bad config - column {} is filled twice", quote(column));
                self.error(at.block.line, text);
                return None;
            }
        }
        Some(config)
    }

    /// Variables of stores that write behind the journal.
    fn without_lines(&mut self, at: &Scope<'_>) {
        for key in [
            "must_succeed",
            "max_write_interval",
            "sync",
            "target_write_size",
        ] {
            if let Some(entry) = at.block.values.get(key) {
                let text = format!(
                    "{key} has no effect here: rows are in the table when OK is sent, as durable as the table's own sync= says"
                );
                self.warning(entry.line, text);
            }
        }
    }

    fn format(&mut self, at: &Scope<'_>) -> Option<Format> {
        match at.find("format") {
            None => {}
            Some(entry) if entry.value == "text" => {}
            Some(entry) if entry.value == "json" => return self.json(at),
            Some(entry) => {
                let text = format!(
                    "Bad config - format={} is neither text nor json",
                    quote(entry.value)
                );
                self.error(entry.line, text);
                return None;
            }
        }
        for key in ["fields", "rest_column"] {
            if at.block.values.contains_key(key) {
                let text = format!("{key} has no effect without format=json");
                self.warning(at.line_of(key), text);
            }
        }
        let column = at.text("column").unwrap_or_else(|| TEXT_COLUMN.to_owned());
        Some(Format::Text { column })
    }

    fn json(&mut self, at: &Scope<'_>) -> Option<Format> {
        if at.block.values.contains_key("column") {
            let text = "column has no effect with format=json: fields names the columns";
            self.warning(at.line_of("column"), text);
        }
        let Some(entry) = at.find("fields").filter(|entry| !entry.value.is_empty()) else {
            self.error(at.block.line, "Bad config - format=json needs fields=");
            return None;
        };
        let mut fields: Vec<Field> = Vec::new();
        for word in entry.value.split_whitespace() {
            let mut parts = word.splitn(3, ':');
            let path = parts.next().unwrap_or_default();
            let own = path.rsplit('.').next().unwrap_or_default();
            let field = Field {
                path: path.to_owned(),
                column: parts.next().unwrap_or(own).to_owned(),
                kind: parts.next().unwrap_or("text").to_lowercase(),
            };
            let is_named = field.path.split('.').all(|name| !name.is_empty());
            if !is_named || field.column.is_empty() || !COLUMN_TYPES.contains(&&*field.kind) {
                let text = format!(
                    "Bad config - {} in fields is no path, path:column or path:column:type; types are {}",
                    quote(word),
                    COLUMN_TYPES.join(", ")
                );
                self.error(entry.line, text);
                return None;
            }
            let is_part = |other: &Field| {
                let (long, short) = match other.path.len() < field.path.len() {
                    true => (&field.path, &other.path),
                    false => (&other.path, &field.path),
                };
                long == short
                    || long
                        .strip_prefix(&**short)
                        .is_some_and(|rest| rest.starts_with('.'))
            };
            if let Some(other) = fields.iter().find(|other| is_part(other)) {
                let text = format!(
                    "Bad config - fields names {} and {}, which is the same field or a part of it",
                    quote(&other.path),
                    quote(&field.path)
                );
                self.error(entry.line, text);
                return None;
            }
            fields.push(field);
        }
        let rest_column = at
            .text("rest_column")
            .unwrap_or_else(|| REST_COLUMN.to_owned());
        Some(Format::Json {
            fields,
            rest_column,
        })
    }

    fn queries(&mut self, at: &Scope<'_>) -> Vec<(u64, String)> {
        let Some(block) = at.block.blocks.get(QUERIES) else {
            return Vec::new();
        };
        let entries = block.numbered.iter();
        entries
            .map(|(id, entry)| (*id, entry.value.to_owned()))
            .collect()
    }
}
