//! `seine dump`: the rows of a data directory, table by table, or the records of its journal.

use std::sync::Arc;

use disk::{Disk, Overlay};
use journal::Position;
use relation::options::Options;
use relation::request::{Item, Select};
use relation::schema::{Column, ColumnType};
use relation::value::Value;

use super::Fault;
use super::reading::Reading;
use crate::catalog::{Catalog, TableId, show_create};
use crate::command::Definition;
use crate::engine::{JOURNAL_DIR, lock};
use crate::error::{Error, Result};
use crate::failure;
use crate::open::describe;
use crate::record::{CatalogRecord, Record};
use crate::table::standing::row::QueryColumns;

/// One line of a dump.
#[derive(Debug)]
pub enum Dumped<'a> {
    /// The head of a table, before its rows.
    Table {
        /// Name of the table.
        name: &'a str,
        /// The CREATE TABLE statement that makes it again.
        create: String,
    },
    /// One row of the table.
    Row {
        /// The table's name.
        table: &'a str,
        /// The row's number in its queue; `None` in other tables, whose rows have an id among their columns.
        number: Option<u64>,
        /// Column names and types, in the order of the values.
        columns: &'a [(String, ColumnType)],
        /// Values of the row, one a column.
        values: &'a [Value],
    },
    /// The last line of a dump of all tables, where there are such messages: collected messages belong to no table, so their
    /// bytes are not shown.
    Collected {
        /// Messages in the journal that stores and spools do not have yet; at least 1.
        messages: u64,
        /// Bytes of these messages.
        bytes: u64,
    },
}

/// A record of the journal in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalEntry {
    /// Position of the record in the journal.
    pub position: u64,
    /// The file that holds it, below the data directory.
    pub file: String,
    /// Byte offset in the file at which the record's frame begins.
    pub offset: u64,
    /// Length of the record in bytes.
    pub bytes: u64,
    /// The effects of the record: a table each, with its rows by id or number in words. Empty if the record cannot be read.
    pub parts: Vec<(String, String)>,
    /// The damage of the record; `None` for a sound record.
    pub fault: Option<String>,
    /// The record in Rust's debug form; empty if it cannot be read.
    pub content: String,
}

fn reading(disk: &Arc<dyn Disk>) -> Result<Reading> {
    let over: Arc<dyn Disk> =
        Arc::new(Overlay::new(Arc::clone(disk)).map_err(|error| failure::of_file("", &error))?);
    Reading::of(&over, &mut |_| {})
}

/// Calls `visit` with each table and its rows, by id or row number, of a directory that no server has open. `table`: only this
/// table. Returns the damage that was found; rows that cannot be read are not shown. Changes nothing.
///
/// # Errors
/// `Locked`, `NoSuchTable`; where there is no data directory, or its manifest cannot be read.
pub fn dump(
    disk: &Arc<dyn Disk>,
    table: Option<&str>,
    visit: &mut dyn FnMut(Dumped<'_>),
) -> Result<Vec<Fault>> {
    let _lock = lock(&**disk)?;
    let mut reading = reading(disk)?;
    let only = match table {
        Some(name) => Some(reading.state.catalog.find(name)?),
        None => None,
    };
    let tables: Vec<_> = reading
        .state
        .catalog
        .iter()
        .filter(|(table, _)| only.is_none_or(|only| only == *table))
        .map(|(table, definition)| (table, Arc::clone(definition)))
        .collect();
    for (table, definition) in tables {
        visit(Dumped::Table {
            name: &definition.name,
            create: show_create(&definition),
        });
        if let Err(error) = rows(&mut reading, table, &definition, visit) {
            let fault = Fault::of(&error, &definition.name);
            reading.faults.push(fault.ok_or(error)?);
        }
    }
    let (messages, bytes) = (
        reading.state.collected.above_count(),
        reading.state.collected.above_bytes(),
    );
    if only.is_none() && messages > 0 {
        visit(Dumped::Collected { messages, bytes });
    }
    Ok(reading.faults)
}

fn rows(
    reading: &mut Reading,
    table: TableId,
    definition: &Definition,
    visit: &mut dyn FnMut(Dumped<'_>),
) -> Result<()> {
    let named = |columns: &[Column]| -> Vec<(String, ColumnType)> {
        let named = columns
            .iter()
            .map(|column| (column.name.clone(), column.kind));
        named.collect()
    };
    let name = definition.name.as_str();
    let mut show = |number, columns: &[(String, ColumnType)], values: &[Value]| {
        visit(Dumped::Row {
            table: name,
            number,
            columns,
            values,
        });
    };
    let state = &mut reading.state;
    if let Some(search) = state.searches.get_mut(&table) {
        let mut columns = vec![("id".to_owned(), ColumnType::Bigint)];
        columns.extend(named(&definition.columns));
        let snapshot = search.table.snapshot();
        let select = everything(name);
        let bound = snapshot.bind(&select, &Options::default());
        let bound = bound.map_err(|error| failure::of_bind(name, error))?;
        let answer = snapshot.stream(&bound, None, &index::Control::default());
        let answer = answer.map_err(failure::of_index)?;
        for row in answer.rows {
            show(None, &columns, &row.map_err(failure::of_index)?);
        }
    } else if let Some(pq) = state.percolates.get_mut(&table) {
        let own = QueryColumns::plain();
        let mut columns = vec![("id".to_owned(), ColumnType::Bigint)];
        columns.extend(named(own.scope().columns));
        let queries = pq.set.snapshot();
        for query in queries.iter() {
            let slots = 0..columns.len();
            let values: Vec<Value> = slots.map(|slot| own.value(query, slot)).collect();
            show(None, &columns, &values);
        }
    } else if let Some(queue) = state.queues.get(&table) {
        let columns = named(queue.columns());
        for row in queue.backlog.rows() {
            if let Some(values) = queue.values(row)? {
                show(Some(row.0), &columns, &values);
            }
        }
    }
    Ok(())
}

/// The SELECT of all rows of a table, by id.
fn everything(table: &str) -> Select {
    Select::new(table, vec![Item::Star])
}

/// Calls `visit` with every record of the journal that can be found, in order, damaged records too. Returns the damage that was
/// found. Changes nothing.
///
/// # Errors
/// As [`dump`].
pub fn dump_journal(
    disk: &Arc<dyn Disk>,
    visit: &mut dyn FnMut(JournalEntry),
) -> Result<Vec<Fault>> {
    let _lock = lock(&**disk)?;
    let mut catalog = match reading(disk) {
        Ok(reading) => reading.state.catalog,
        Err(Error::Corrupt { .. }) => Catalog::default(), // the journal can be shown without a manifest
        Err(error) => return Err(error),
    };
    let shown = &mut |surveyed: journal::Surveyed<'_>| {
        let mut entry = JournalEntry {
            position: surveyed.position.0,
            file: surveyed.file.to_owned(),
            offset: surveyed.offset,
            bytes: surveyed.bytes.len() as u64,
            parts: Vec::new(),
            fault: (!surveyed.is_sound).then(|| "its checksum does not match".to_owned()),
            content: String::new(),
        };
        match Record::decode(surveyed.bytes) {
            Ok(record) => {
                learn(&mut catalog, &record);
                entry.parts = describe::parts(&catalog, &record);
                entry.content = format!("{record:?}");
            }
            Err(damage) => {
                let why = format!("expected {} at byte {}", damage.why, damage.offset);
                entry.fault.get_or_insert(why);
            }
        }
        visit(entry);
    };
    let found = journal::survey(&**disk, JOURNAL_DIR, Position(0), Position(1), shown);
    let found = found.map_err(failure::of_journal)?;
    let fault = |damage: journal::Damage| Fault {
        file: damage.file,
        offset: damage.offset,
        what: damage.what.to_owned(),
    };
    Ok(found.damages.into_iter().map(fault).collect())
}

/// Takes the tables that a record creates into the catalog, so that later records show their names. The catalog of the end
/// lacks tables that were dropped.
fn learn(catalog: &mut Catalog, record: &Record) {
    if let Record::Catalog(CatalogRecord::Create { table, definition }) = record
        && catalog.get(*table).is_none()
    {
        catalog.insert(*table, Arc::new((**definition).clone()));
    } else if let Record::Many(members) = record {
        members.iter().for_each(|member| learn(catalog, member));
    }
}
