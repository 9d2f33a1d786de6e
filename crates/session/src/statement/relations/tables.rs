//! Tables, their numbers and their options.

use engine::{Definition, Snapshot};
use relation::schema::ColumnType;

use super::asked::Readable;
use super::last::pairs;
use super::{Asked, Relation, Rows, all, named, text};
use crate::errors::Failure;

pub(super) const RELATIONS: &[Relation] = &[
    Relation {
        name: "system.tables",
        columns: named!(table, type, table_type),
        asks: None,
        rows: |asked| {
            if let Some(database) = asked.table {
                return Ok(relations_of(database));
            }
            let row =
                |(name, kind): (String, &str)| vec![text(name), text(kind), text("BASE TABLE")];
            Ok(asked.names()?.into_iter().map(row).collect())
        },
    },
    Relation {
        name: "system.table_status",
        columns: named!(table, variable_name, value),
        asks: None,
        rows: |asked| of_each(asked, Readable::status),
    },
    Relation {
        name: "system.table_settings",
        columns: named!(table, variable_name, value),
        asks: None,
        rows: |asked| {
            of_each(asked, |table| {
                let settings = table.settings()?.into_iter();
                let lines = settings.map(|(name, value)| format!("{name} = {value}"));
                let lines = lines.collect::<Vec<_>>().join("\n");
                Ok(vec![("settings".to_owned(), lines)])
            })
        },
    },
    Relation {
        name: "system.create_tables",
        columns: named!(table, create_table),
        asks: None,
        rows: |asked| {
            asked.gather(asked.tables()?, |table| {
                let create = table.create()?;
                Ok(vec![vec![text(table.name), text(create)]])
            })
        },
    },
];

/// The relations of a database of these, for `SHOW TABLES FROM information_schema`.
fn relations_of(database: &str) -> Rows {
    let names = all().filter_map(|of| of.name.strip_prefix(database)?.strip_prefix('.'));
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    let row = |name| vec![text(name), text("relation"), text("SYSTEM VIEW")];
    names.into_iter().map(row).collect()
}

/// Names and values of each table, behind its name.
fn of_each(
    asked: &Asked<'_>,
    of: impl Fn(&Readable) -> Result<Vec<(String, String)>, Failure>,
) -> Result<Rows, Failure> {
    asked.gather(asked.tables()?, |table| {
        let mut rows = pairs(of(&table)?.into_iter());
        rows.iter_mut()
            .for_each(|row| row.insert(0, text(&*table.name)));
        Ok(rows)
    })
}

/// Names and types of a table's columns, implied columns first; also for COM_FIELD_LIST. A search table has `id`, a pq table
/// has `id`, `query`, `tags`, `filters`, `hits` and `last_hit`; its document columns are left out.
pub(in crate::statement) fn columns_of(definition: &Definition) -> Vec<(String, ColumnType)> {
    let columns = definition.shape().columns.into_iter();
    columns.map(|column| (column.name, column.kind)).collect()
}

/// As [`columns_of`], of a table by its name.
///
/// # Errors
/// `NO_SUCH_TABLE`.
pub fn columns(snapshot: &Snapshot, table: &str) -> Result<Vec<(String, ColumnType)>, Failure> {
    Ok(columns_of(&*snapshot.definition(table)?))
}
