//! Bytes into records.

use std::sync::Arc;

use language::Syntax;
use language::analysis::Settings;
use queue::{RowNumber, read_origins, read_sources};
use relation::codec::{Differences, Read, Reader, read_column};
use relation::limits::COLUMNS_MAX;
use relation::row::encode;

use super::encode::{
    ALTER, CLEAR, COLLECTED, CREATE, DELETE_DOCUMENTS, DELETE_QUERIES, DOCUMENTS, DONE, DROP, HITS,
    LOAD, LUCENE, MANY, MARKED_ROWS, MESSAGES, PARTS, PAUSE, QUERIES, REMOVE_ROWS, RENAME, RETIRE,
    RETIRE_SEGMENTS, RETURNED, ROWS, SPHINX, UPDATE,
};
use super::{
    CatalogRecord, Document, Documents, HitCounts, HitLists, HitQuery, QueryRow, QueueRecord,
    QueuedHits, RECORD_VERSION, Record, SYNC, UpdatedRows,
};
use crate::catalog::TableId;
use crate::catalog::{read_keep, read_option};
use crate::command::{Definition, Kind, QueueOptions, SearchOptions};
use crate::messages::Messages;
use crate::sync_mode::SyncMode;

impl Record {
    /// Reads the bytes of one record, all of them.
    pub(crate) fn decode(bytes: &[u8]) -> Read<Record> {
        let mut reader = Reader::new(bytes);
        let version = reader.byte()?;
        if !(1..=RECORD_VERSION).contains(&version) {
            return Err(reader.damage("a known record version"));
        }
        let record = read_record(&mut reader, version, true)?;
        reader.end()?;
        Ok(record)
    }
}

fn read_record(reader: &mut Reader<'_>, version: u8, outermost: bool) -> Read<Record> {
    let kind = reader.byte()?;
    if kind == MANY && outermost {
        let members = reader.list(|reader| read_record(reader, version, false))?;
        return Ok(Record::Many(members));
    }
    match kind {
        MESSAGES if version > 7 || version > 6 && outermost => return read_messages(reader),
        COLLECTED if version > 6 && outermost => return read_collected(reader),
        RENAME if version > 8 => {
            let name = |reader: &mut Reader<'_>| Ok((TableId(reader.small()?), reader.string()?));
            let names = reader.list(name)?;
            return Ok(Record::Catalog(CatalogRecord::Rename { names }));
        }
        _ => {}
    }
    let table = TableId(reader.small()?);
    Ok(match kind {
        CREATE => Record::Catalog(CatalogRecord::Create {
            table,
            definition: Box::new(read_definition(reader, version)?),
        }),
        DROP => Record::Catalog(CatalogRecord::Drop { table }),
        PARTS if version > 8 => Record::Catalog(CatalogRecord::Parts {
            table,
            definition: Box::new(read_definition(reader, version)?),
        }),
        DOCUMENTS => Record::Documents(read_documents(reader, version, table)?),
        HITS if version > 1 => Record::Hits(read_documents(reader, version, table)?),
        DELETE_DOCUMENTS => Record::DeleteDocuments {
            table,
            ids: read_ids(reader)?,
        },
        UPDATE if version > 8 => Record::Update {
            table,
            rows: UpdatedRows::read(reader)?,
        },
        QUERIES => Record::Queries {
            table,
            queries: read_queries(reader, version)?,
        },
        DELETE_QUERIES => Record::DeleteQueries {
            table,
            ids: read_ids(reader)?,
        },
        RETIRE if version > 5 => Record::Retire {
            table,
            ids: read_ids(reader)?,
        },
        RETIRE_SEGMENTS if version > 3 => {
            let count = reader.count()?;
            let names: Read<_> = (0..count).map(|_| Ok(reader.text()?.to_owned())).collect();
            Record::RetireSegments {
                table,
                segments: names?,
            }
        }
        LOAD if version > 3 => Record::Load {
            table,
            load: reader.number()?,
            place: match reader.flag()? {
                true => Some(reader.number()?),
                false => None,
            },
        },
        _ => return read_queue_record(reader, kind, version, table),
    })
}

fn read_messages(reader: &mut Reader<'_>) -> Read<Record> {
    match Messages::decode(reader.bytes()?) {
        Some(messages) => Ok(Record::Messages(Arc::new(messages))),
        None => Err(reader.damage("runs of messages")),
    }
}

fn read_collected(reader: &mut Reader<'_>) -> Read<Record> {
    Ok(Record::Collected {
        upto: reader.number()?,
        cursors: reader.list(|reader| {
            let name = reader.bytes()?.into();
            let value = match reader.flag()? {
                true => Some(reader.bytes()?.into()),
                false => None,
            };
            Ok((name, value))
        })?,
    })
}

fn read_queue_record(
    reader: &mut Reader<'_>,
    kind: u8,
    version: u8,
    table: TableId,
) -> Read<Record> {
    Ok(match kind {
        ROWS | MARKED_ROWS if kind == ROWS || version > 2 => {
            let (relayed, at_us) = match kind {
                MARKED_ROWS => read_marks(reader)?,
                _ => (None, None),
            };
            Record::Queue(QueueRecord::Rows {
                table,
                first_row: RowNumber(reader.number()?),
                rows: reader.list(read_row)?,
                relayed,
                at_us,
            })
        }
        REMOVE_ROWS => Record::Queue(QueueRecord::RemoveRows {
            table,
            rows: read_ids(reader)?,
        }),
        ALTER if version > 2 => Record::Queue(QueueRecord::Alter {
            table,
            columns: reader.list(read_column)?,
            origins: read_origins(reader)?,
        }),
        CLEAR if version > 2 => Record::Queue(QueueRecord::Clear {
            table,
            kept: read_ids(reader)?,
        }),
        PAUSE if version > 2 => Record::Queue(QueueRecord::Pause {
            table,
            paused: reader.flag()?,
            lanes: reader.list(Reader::small)?,
        }),
        RETURNED if version > 2 => Record::Queue(QueueRecord::Returned {
            table,
            lane: reader.small()?,
            not_before_us: i64::from_le_bytes(reader.array()?),
            rows: reader.list(|reader| Ok((RowNumber(reader.number()?), reader.small()?)))?,
        }),
        DONE if version > 2 => Record::Queue(QueueRecord::Done {
            table,
            rows: read_ids(reader)?,
            lane: reader.small()?,
        }),
        _ => return Err(reader.damage("a known kind of record")),
    })
}

/// Who relayed rows, and when they came.
type Marks = (Option<(u8, u64)>, Option<i64>);

fn read_marks(reader: &mut Reader<'_>) -> Read<Marks> {
    let relayed = match reader.flag()? {
        true => Some((reader.byte()?, reader.number()?)),
        false => None,
    };
    let at_us = match reader.flag()? {
        true => Some(i64::from_le_bytes(reader.array()?)),
        false => None,
    };
    Ok((relayed, at_us))
}

fn read_row(reader: &mut Reader<'_>) -> Read<Vec<relation::value::Value>> {
    let columns = reader.count()?;
    reader.row(columns)
}

fn read_ids<T: From<u64>>(reader: &mut Reader<'_>) -> Read<Vec<T>> {
    let mut ids = Differences::default();
    reader.list(|reader| ids.read(reader).map(T::from))
}

fn read_queries(reader: &mut Reader<'_>, version: u8) -> Read<Vec<QueryRow>> {
    reader.list(|reader| {
        Ok(QueryRow {
            id: reader.number()?,
            query: reader.string()?,
            tags: reader.string()?,
            filters: reader.string()?,
            source: match version {
                1 => String::new(),
                _ => reader.string()?,
            },
        })
    })
}

fn read_documents(reader: &mut Reader<'_>, version: u8, table: TableId) -> Read<Documents> {
    let count = reader.count()?;
    let columns = reader.count()?;
    if columns > COLUMNS_MAX {
        return Err(reader.damage("fewer columns"));
    }
    let mut documents = Vec::with_capacity(count);
    let mut ids = Differences::default();
    for _ in 0..count {
        documents.push(Document {
            id: ids.read(reader)?,
            replaces: reader.flag()?,
            row: encode(&reader.row(columns)?),
        });
    }
    Ok(Documents {
        table,
        documents,
        hits: reader.list(|reader| read_hits(reader, version, count))?,
        counts: match version {
            1 => Vec::new(),
            _ => reader.list(read_counts)?,
        },
    })
}

fn read_counts(reader: &mut Reader<'_>) -> Read<HitCounts> {
    let from = TableId(reader.small()?);
    let hit_at = i64::from_le_bytes(reader.array()?);
    let mut ids = Differences::default();
    Ok(HitCounts {
        from,
        hit_at,
        queries: reader.list(|reader| Ok((ids.read(reader)?, reader.small()?)))?,
    })
}

fn read_hits(reader: &mut Reader<'_>, version: u8, documents: usize) -> Read<QueuedHits> {
    Ok(QueuedHits {
        from: match version {
            1 => TableId(0),
            _ => TableId(reader.small()?),
        },
        queue: TableId(reader.small()?),
        first_row: RowNumber(reader.number()?),
        hit_at: i64::from_le_bytes(reader.array()?),
        document_table: reader.string()?,
        sources: read_sources(reader)?,
        queries: read_hit_queries(reader)?,
        lists: read_lists(reader, documents)?,
    })
}

fn read_hit_queries(reader: &mut Reader<'_>) -> Read<Vec<HitQuery>> {
    let mut ids = Differences::default();
    reader.list(|reader| {
        Ok(HitQuery {
            id: ids.read(reader)?,
            tags: reader.text()?.into(),
            text: reader.text()?.into(),
        })
    })
}

fn read_lists(reader: &mut Reader<'_>, documents: usize) -> Read<HitLists> {
    let mut lists = HitLists::default();
    for _ in 0..documents {
        let count = reader.count()?;
        let mut entry = 0u32;
        for _ in 0..count {
            let step = reader.small()?;
            entry = entry
                .checked_add(step)
                .ok_or(reader.damage("an index below 2^32"))?;
            lists.entries.push(entry);
        }
        lists.ends.push(lists.entries.len() as u32);
    }
    Ok(lists)
}

/// Reads what [`super::put_definition`] of that record version wrote.
pub(crate) fn read_definition(reader: &mut Reader<'_>, version: u8) -> Read<Definition> {
    let name = reader.string()?;
    let mut kind = match reader.byte()? {
        0 => Kind::Search(SearchOptions::default()),
        1 => read_percolate(reader, version)?,
        2 => Kind::Queue(QueueOptions::default()),
        3 => Kind::Distributed {
            locals: reader.list(Reader::string)?,
        },
        _ => return Err(reader.damage("a known kind of table")),
    };
    let mut analysis = Settings::default();
    let (mut sync, mut keep) = (None, None);
    let settings = if version == 1 { 0 } else { reader.count()? };
    for _ in 0..settings {
        let (name, value) = (reader.text()?, reader.text()?);
        if name == SYNC {
            let mode = SyncMode::parse(value);
            sync = Some(mode.map_err(|_| reader.damage("a mode of syncs"))?);
            continue;
        }
        let is_option = read_option(&mut kind, name, value);
        if is_option.ok_or_else(|| reader.damage("a known option of tables"))? {
            continue;
        }
        let is_keep = read_keep(&mut keep, name, value);
        if is_keep.ok_or_else(|| reader.damage("what a table keeps"))? {
            continue;
        }
        let set = analysis.set_stored(name, value);
        if !matches!(set, Some(Ok(()))) {
            return Err(reader.damage("a known setting of analysis"));
        }
    }
    Ok(Definition {
        name,
        kind,
        columns: reader.list(read_column)?,
        analysis,
        sync,
        keep,
    })
}

fn read_percolate(reader: &mut Reader<'_>, version: u8) -> Read<Kind> {
    let named = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let on_update = false; // an option, if it is set
    if version == 1 {
        return Ok(Kind::Percolate {
            on: named(reader.text()?).into_iter().collect(),
            into: named(reader.text()?),
            syntax: Syntax::Sphinx,
            on_update,
        });
    }
    let on = reader.list(Reader::string)?;
    let into = named(reader.text()?);
    let syntax = match reader.byte()? {
        SPHINX => Syntax::Sphinx,
        LUCENE => Syntax::Lucene,
        _ => return Err(reader.damage("a known syntax of queries")),
    };
    Ok(Kind::Percolate {
        on,
        into,
        syntax,
        on_update,
    })
}
