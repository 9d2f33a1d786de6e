//! Columns of tables, and their keys.

use engine::{Definition, Kind};
use relation::schema::{Column, ColumnType, TypeFamily};
use relation::value::Value;

use super::server::COLLATION;
use super::{Asked, NUMBER, Relation, Rows, named, number, text};
use crate::errors::Failure;

/// The columns of [`COLUMNS`] and [`DOCUMENTS`].
const DESCRIBED: &[(&str, ColumnType)] = named!(
    table, field, type, collation, null, key, default, extra, privileges, comment,
);

pub(super) const RELATIONS: &[Relation] = &[
    Relation {
        name: "system.columns",
        columns: DESCRIBED,
        asks: None,
        rows: |asked| each_column(asked, |table| described(table, false)),
    },
    Relation {
        name: "system.document_columns",
        columns: DESCRIBED,
        asks: None,
        rows: |asked| each_column(asked, |table| described(table, true)),
    },
    Relation {
        name: "system.indexes",
        columns: named!(table, non_unique: NUMBER, key_name, seq_in_index: NUMBER, column_name),
        asks: None,
        rows: |asked| asked.gather(asked.definitions()?, |it| Ok(indexes(&it))),
    },
    Relation {
        name: "system.keys",
        columns: named!(table, name, type, enabled: NUMBER, percent: NUMBER),
        asks: None,
        rows: |asked| asked.gather(asked.definitions()?, |it| Ok(keys(&it))),
    },
];

fn each_column(asked: &Asked<'_>, of: fn(&Definition) -> Vec<Described>) -> Result<Rows, Failure> {
    asked.gather(asked.definitions()?, |definition| {
        let columns = of(&definition).into_iter();
        Ok(columns.map(|column| column.row(&definition.name)).collect())
    })
}

/// The keys in MySQL's columns: the id, then each column with a KEY.
pub(super) fn indexes(definition: &Definition) -> Rows {
    let row = |non_unique: i64, name: &str, column: &str| {
        vec![
            text(&definition.name),
            number(non_unique),
            text(name),
            number(1),
            text(column),
        ]
    };
    let id = !matches!(definition.kind, Kind::Queue(_));
    let id = id.then(|| row(0, "PRIMARY", "id"));
    let keyed = definition.columns.iter().filter(|column| column.keyed);
    let keyed = keyed.map(|column| row(1, &column.name, &column.name));
    id.into_iter().chain(keyed).collect()
}

/// The columns with a KEY, in Manticore's columns.
fn keys(definition: &Definition) -> Rows {
    let keyed = definition.columns.iter().filter(|column| column.keyed);
    let row = |column: &Column| {
        let (table, name) = (text(&definition.name), text(&column.name));
        vec![table, name, text("key"), number(1), number(100)]
    };
    keyed.map(row).collect()
}

/// A column as clients see it.
pub(super) struct Described {
    pub(super) name: String,
    pub(super) kind: ColumnType,
    /// The type, as CREATE TABLE takes it.
    pub(super) written: String,
    /// YES or NO.
    pub(super) null: &'static str,
    /// PRI for an id, MUL for a column with a KEY, else empty.
    pub(super) key: &'static str,
    pub(super) default: Value,
    /// `indexed stored`, `document`, `read only` or empty.
    pub(super) extra: String,
}

impl Described {
    /// The cells of `system.columns`.
    fn row(self, table: &str) -> Vec<Value> {
        let collation = match self.has_collation() {
            true => text(COLLATION),
            false => Value::Null,
        };
        vec![
            text(table),
            text(self.name),
            text(self.written),
            collation,
            text(self.null),
            text(self.key),
            self.default,
            text(self.extra),
            text("select,insert"),
            text(""),
        ]
    }

    /// Whether its values are of characters, which have a collation.
    pub(super) fn has_collation(&self) -> bool {
        self.kind.family() == TypeFamily::Text
    }

    fn new(name: &str, kind: ColumnType, extra: &str) -> Described {
        Described {
            name: name.to_owned(),
            kind,
            written: kind.sql_name().to_string(),
            null: "YES",
            key: "",
            default: Value::Null,
            extra: extra.to_owned(),
        }
    }

    fn id() -> Described {
        Described {
            written: "bigint unsigned".to_owned(),
            null: "NO",
            key: "PRI",
            ..Described::new("id", ColumnType::Bigint, "")
        }
    }

    fn of_column(column: &Column, extra: &str) -> Described {
        Described {
            null: if column.nullable { "YES" } else { "NO" },
            key: if column.keyed { "MUL" } else { "" },
            default: match &column.default {
                Some(Value::Str(default)) => Value::Str(default.clone()),
                _ => column.default_constant().map_or(Value::Null, Value::Str),
            },
            ..Described::new(&column.name, column.kind, extra)
        }
    }
}

/// The columns of a table, implied columns first. With `documents`, only the `id` and the document columns of a pq table.
pub(super) fn described(definition: &Definition, documents: bool) -> Vec<Described> {
    let mut rows = Vec::new();
    let mut extra = "";
    let is_queue = matches!(definition.kind, Kind::Queue(_));
    match definition.kind {
        Kind::Queue(_) => {}
        Kind::Search(_) | Kind::Distributed { .. } => rows.push(Described::id()),
        Kind::Percolate { .. } => {
            rows.push(Described::id());
            if !documents {
                let own = ["query", "tags", "filters"];
                rows.extend(own.map(|name| Described::new(name, ColumnType::String, "")));
                rows.push(Described::new("hits", ColumnType::Bigint, "read only"));
                rows.push(Described::new(
                    "last_hit",
                    ColumnType::Timestamp,
                    "read only",
                ));
                extra = "document";
            }
        }
    }
    for column in &definition.columns {
        let is_indexed = column.kind == ColumnType::Text && extra.is_empty() && !is_queue;
        let extra = if is_indexed { "indexed stored" } else { extra };
        rows.push(Described::of_column(column, extra));
    }
    rows
}
