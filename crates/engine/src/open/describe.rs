//! Texts about numbers of rows and about records, for messages of check, repair and dump.

use queue::RowNumber;

use crate::catalog::{Catalog, TableId};
use crate::ranges::ranges_up_to;
use crate::record::{CatalogRecord, QueueRecord, Record};

/// Rising numbers as ranges: `3, 5-9`. At most 1,000 ranges are written out.
pub(crate) fn ranges(numbers: impl IntoIterator<Item = u64>) -> String {
    ranges_up_to(numbers, 1_000)
}

/// A table by name, or by number where it has none any more.
pub(crate) fn table(catalog: &Catalog, table: TableId) -> String {
    match catalog.get(table) {
        Some(definition) => definition.name.clone(),
        None => format!("table {table}"),
    }
}

/// What a record did, for each of its parts: the table, and which rows.
pub(crate) fn parts(catalog: &Catalog, record: &Record) -> Vec<(String, String)> {
    let name = |of: &TableId| table(catalog, *of);
    match record {
        Record::Many(members) => members
            .iter()
            .flat_map(|member| parts(catalog, member))
            .collect(),
        Record::Catalog(CatalogRecord::Create { definition, .. }) => {
            vec![(definition.name.clone(), "created".to_owned())]
        }
        Record::Catalog(CatalogRecord::Drop { table }) => vec![(name(table), "dropped".to_owned())],
        Record::Catalog(CatalogRecord::Rename { names }) => {
            let renamed =
                |(table, new): &(TableId, String)| (name(table), format!("renamed to {new}"));
            names.iter().map(renamed).collect()
        }
        Record::Catalog(CatalogRecord::Parts { table, .. }) => {
            vec![(name(table), "change of the local tables".to_owned())]
        }
        Record::Documents(documents) => {
            let ids: Vec<u64> = documents.documents.iter().map(|one| one.id).collect();
            let stored = format!("documents {}", numbers(&ids));
            let mut said = vec![(name(&documents.table), stored)];
            said.extend(hits(catalog, documents));
            said
        }
        Record::Hits(documents) => hits(catalog, documents).collect(),
        Record::Update { table, rows } => {
            let changed = format!("changes of documents {}", numbers(&rows.ids));
            vec![(name(table), changed)]
        }
        Record::DeleteDocuments { table, ids } => {
            let gone = format!("deletion of documents {}", numbers(ids));
            vec![(name(table), gone)]
        }
        Record::Queries { table, queries } => {
            let ids: Vec<u64> = queries.iter().map(|query| query.id).collect();
            let stored = format!("standing queries {}", numbers(&ids));
            vec![(name(table), stored)]
        }
        Record::DeleteQueries { table, ids } => {
            let gone = format!("deletion of standing queries {}", numbers(ids));
            vec![(name(table), gone)]
        }
        Record::Retire { table, ids } => {
            let gone = format!("documents {} as no longer kept", numbers(ids));
            vec![(name(table), gone)]
        }
        Record::RetireSegments { table, segments } => {
            let gone = format!("segments {} as no longer kept", segments.join(", "));
            vec![(name(table), gone)]
        }
        Record::Messages(messages) => {
            let count = messages.count();
            vec![("collected".to_owned(), format!("{count} messages"))]
        }
        // They say nothing of rows.
        Record::Load { .. } | Record::Collected { .. } => Vec::new(),
        Record::Queue(record) => queue_parts(catalog, record),
    }
}

/// Of the records of queues.
fn queue_parts(catalog: &Catalog, record: &QueueRecord) -> Vec<(String, String)> {
    let (of, what) = match record {
        QueueRecord::Rows {
            table,
            first_row,
            rows,
            ..
        } => {
            let rows = ranges(first_row.0..first_row.0 + rows.len() as u64);
            (table, format!("queue rows {rows}"))
        }
        QueueRecord::RemoveRows { table, rows } => {
            (table, format!("removal of queue rows {}", numbers(rows)))
        }
        QueueRecord::Alter { table, columns, .. } => {
            let names = columns.iter().map(|column| column.name.as_str());
            let names = names.collect::<Vec<_>>().join(", ");
            (table, format!("change of the columns to {names}"))
        }
        QueueRecord::Clear { table, kept } if kept.is_empty() => {
            (table, "removal of all queue rows".to_owned())
        }
        QueueRecord::Clear { table, kept } => {
            let kept = numbers(kept);
            (table, format!("removal of all queue rows but {kept}"))
        }
        QueueRecord::Pause { table, paused, .. } => {
            let what = if *paused { "paused" } else { "resumed" };
            (table, what.to_owned())
        }
        QueueRecord::Returned { table, rows, .. } => {
            let rows: Vec<RowNumber> = rows.iter().map(|(row, _)| *row).collect();
            (table, format!("return of queue rows {}", numbers(&rows)))
        }
        QueueRecord::Done { table, rows, .. } => {
            let rows = numbers(rows);
            (
                table,
                format!("a consumer group's end of queue rows {rows}"),
            )
        }
    };
    vec![(table(catalog, *of), what)]
}

/// Numbers in any order, as ranges.
fn numbers(ids: &[impl Copy + Into<u64>]) -> String {
    let mut ids: Vec<u64> = ids.iter().map(|id| (*id).into()).collect();
    ids.sort_unstable();
    ranges(ids)
}

fn hits<'a>(
    catalog: &'a Catalog,
    documents: &'a crate::record::Documents,
) -> impl Iterator<Item = (String, String)> + 'a {
    documents.hits.iter().map(|hits| {
        let rows = ranges(hits.first_row.0..hits.first_row.0 + hits.rows());
        (table(catalog, hits.queue), format!("queue rows {rows}"))
    })
}
