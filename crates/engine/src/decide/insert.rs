//! INSERT and REPLACE: ids are assigned, values converted, documents matched with the standing queries that listen.

pub(crate) mod hits;
mod making;
mod queue_rows;
mod standing;

use std::sync::Arc;

use index::Interrupt;
use language::analysis::Words;
use relation::request::Insert;
use relation::row::counted_bytes_of;
use relation::schema::{Column, ColumnType};
use relation::value::Value;
use rustc_hash::FxHashSet;

use self::hits::{Found, Reached, hear, percolate};
pub(crate) use self::making::Making;
use self::queue_rows::queue_rows;
pub(crate) use self::standing::{MakingQueries, compile};
use super::has_no_rows;
use super::{Circumstances, Decision, Workspace};
use crate::catalog::TableId;
use crate::command::{Kind, Reply};
use crate::error::{Error, Result};
use crate::failure;
use crate::limits::{INSERTED_IDS_MAX, MADE_UNITS_MAX};
use crate::made::{MadeQueries, MadeRow, RowWords};
use crate::record::{Document, Documents, QueryRow, Record};
use crate::sessions::Relay;
use crate::state::{Prepared, State};
use crate::table::search::{SearchTable, analyse};
use crate::table::standing::{Listener, PercolateTable, memory_of, text_bytes};

/// Decides an INSERT or REPLACE into a table of any kind; `relay`: where rows for a queue come from.
pub(crate) fn insert(
    state: &mut State,
    work: &mut Workspace,
    around: Circumstances,
    insert: Insert,
    relay: Option<Relay>,
) -> Result<Decision> {
    let table = state.catalog.find(&insert.table)?;
    let Some(definition) = state.catalog.get(table).map(Arc::clone) else {
        return Err(Error::NoSuchTable(insert.table));
    };
    if insert.rows.is_empty() {
        return Ok(Decision::nothing(Reply::done()));
    }
    match &definition.kind {
        Kind::Distributed { locals } => Err(has_no_rows(&definition.name, locals)),
        Kind::Search(_) => documents(state, work, around, table, insert),
        Kind::Percolate { .. } => queries(state, work, around, table, insert),
        Kind::Queue(_) if insert.replace => Err(Error::invalid(format!(
            "'{}' is a queue: it has no ids to replace",
            definition.name
        ))),
        Kind::Queue(_) => queue_rows(state, around, table, insert, relay),
    }
}

fn documents(
    state: &mut State,
    work: &mut Workspace,
    around: Circumstances,
    table: TableId,
    insert: Insert,
) -> Result<Decision> {
    let Some(search) = state.searches.get(&table) else {
        return Err(Error::NoSuchTable(insert.table));
    };
    let made = work.made.take();
    let made = made.and_then(|made| made.documents_of(&search.definition));
    let (rows, words) = made.map_or_else(Default::default, |made| (made.rows, made.words));
    let words = (words.len() == insert.rows.len()).then_some(words);
    let documents = identified(search, around, insert, rows)?;
    store_documents(
        state,
        work,
        around,
        (table, documents, words),
        &mut Reached::default(),
    )
}

/// Documents of one table, and the sum of what their rows count as.
pub(crate) struct Counted {
    pub(crate) documents: Vec<Document>,
    bytes: u64,
}

impl Counted {
    /// Counts the rows. Cost: a look at each column.
    pub(crate) fn new(documents: Vec<Document>) -> Counted {
        let bytes = documents.iter().map(|it| counted_bytes_of(&it.row)).sum();
        Counted { documents, bytes }
    }
}

/// The unit that stores documents of one search table, with the hits of the queries that hear them. Their words are made here
/// where they are not given.
pub(crate) fn store_documents(
    state: &mut State,
    work: &mut Workspace,
    around: Circumstances,
    (table, counted, words): (TableId, Counted, Option<Arc<Vec<Words>>>),
    reached: &mut Reached,
) -> Result<Decision> {
    let documents = &counted.documents;
    let reply = Reply::Done {
        affected: documents.len() as u64,
        last_id: documents.last().map_or(0, |document| document.id),
        ids: told(documents.iter().map(|document| document.id)),
        warnings: Vec::new(),
    };
    let words = words.map(RowWords::Made);
    let mut prepared = Prepared {
        words: words.unwrap_or_else(|| RowWords::Own(std::mem::take(&mut work.words))),
        ..Prepared::default()
    };
    let given = (table, counted);
    let first = reach(state, work, around, given, &mut prepared.words, reached)?;
    let record = follow(state, work, around, Record::Documents(first), reached)?;
    prepared.counting = Some(std::mem::take(&mut reached.counting));
    Ok(Decision {
        prepared,
        ..Decision::of(record, reply)
    })
}

/// The record with the documents that its hits become in search tables, and the hits of those documents, until there are none.
pub(crate) fn follow(
    state: &mut State,
    work: &mut Workspace,
    around: Circumstances,
    first: Record,
    reached: &mut Reached,
) -> Result<Record> {
    if reached.made.is_empty() {
        return Ok(first);
    }
    let mut records = vec![first];
    while let Some((table, made)) = reached.made.pop_front() {
        let mut words = RowWords::default();
        let made = (table, Counted::new(made));
        let follows = reach(state, work, around, made, &mut words, reached)?;
        records.push(Record::Documents(follows));
    }
    Ok(Record::Many(records))
}

/// Matches documents that are stored already, or nowhere, with some queries of a pq table that listens. Answer: the number of hits
/// as `affected`.
pub(crate) fn hits_of(
    state: &mut State,
    work: &mut Workspace,
    around: Circumstances,
    (listener, queries): (&Listener, &percolate::Snapshot),
    (table, documents, words): (TableId, Vec<Document>, &[Words]),
    mut reached: Reached,
) -> Result<Decision> {
    work.allow(words);
    let mut found = Found::default();
    hear(
        state,
        work,
        around,
        (listener, queries),
        (table, &documents, words),
        (&mut reached, &mut found),
    )?;
    let queued = found.queued.iter().map(|hits| hits.rows());
    let made = reached.made.iter().map(|(_, made)| made.len() as u64);
    let reply = Reply::affected(queued.chain(made).sum());
    if found.queued.is_empty() && found.counts.is_empty() {
        return Ok(Decision::nothing(reply));
    }
    let hits = Record::Hits(Documents {
        table,
        documents: if found.queued.is_empty() {
            Vec::new()
        } else {
            documents
        },
        hits: found.queued,
        counts: found.counts,
    });
    let record = follow(state, work, around, hits, &mut reached)?;
    let mut decision = Decision::of(record, reply);
    decision.prepared.counting = Some(reached.counting);
    Ok(decision)
}

/// Analyses the documents of one search table, unless their words are made, and matches them. Hits that go into other search
/// tables are left in `reached`.
fn reach(
    state: &mut State,
    work: &mut Workspace,
    around: Circumstances,
    (table, Counted { documents, bytes }): (TableId, Counted),
    words: &mut RowWords,
    reached: &mut Reached,
) -> Result<Documents> {
    let Some(search) = state.searches.get(&table) else {
        return Err(Error::internal("no table for documents"));
    };
    let whole = search.table.check_whole();
    whole.map_err(failure::of_index)?;
    if search.table.tail().rows + documents.len() as u64 > index::limits::TAIL_ROWS_MAX.into() {
        return Err(Error::Overloaded);
    }
    reached.bytes += bytes;
    around.check_memory(reached.bytes)?;
    if let RowWords::Own(words) = words {
        if words.len() < documents.len() {
            words.resize_with(documents.len(), Words::new);
        }
        let columns = &search.definition.columns;
        for (document, words) in documents.iter().zip(words) {
            analyse(&search.analyzer, columns, &document.row, words);
        }
    }
    let words = words.get(..documents.len()).unwrap_or_default();
    let asked = (table, documents.as_slice(), words);
    let found = percolate(state, work, around, asked, |_| true, reached)?;
    Ok(Documents {
        table,
        documents,
        hits: found.queued,
        counts: found.counts,
    })
}

/// The rows as documents, each with its id. `made`: the first rows, if they are made.
fn identified(
    search: &SearchTable,
    around: Circumstances,
    insert: Insert,
    made: Vec<MadeRow>,
) -> Result<Counted> {
    let mut making = Making::new(&search.definition, insert.columns.as_deref())?;
    let mut ids = Ids::of_insert(search, &insert);
    let rows = insert.rows.len();
    let mut bytes = 0;
    let mut documents = Vec::with_capacity(rows);
    let mut made = made.into_iter();
    // Everyone who writes waits meanwhile: JSON of megabytes that is nested deep would take seconds.
    let budget = Interrupt::with_units(MADE_UNITS_MAX);
    for (place, mut values) in insert.rows.into_iter().enumerate() {
        let number = place + 1;
        let made = made.next();
        let given = match &made {
            Some(made) => made.id,
            None => making.id(&mut values, number)?,
        };
        let (id, replaces) = ids.next_of(search, given, (number, rows))?;
        let (row, counted_bytes) = match made {
            Some(made) => (made.row, made.counted_bytes),
            None => {
                let row = making.row(&mut values, number, rows == 1, &budget);
                budget.check().map_err(|_| Error::Overloaded)?;
                let row = row?;
                let counted_bytes = counted_bytes_of(&row);
                (row, counted_bytes)
            }
        };
        // Defaults make many times of what was sent: counted before the next row is made.
        bytes += counted_bytes;
        around.check_memory(bytes)?;
        documents.push(Document { id, replaces, row });
    }
    Ok(Counted { documents, bytes })
}

/// Which ids a command's rows get.
struct Ids {
    highest: u64,
    replace: bool,
    /// Those of earlier rows of the command; kept only where there are several rows.
    seen: Option<FxHashSet<u64>>,
}

impl Ids {
    fn new(highest: u64, replace: bool, rows: usize) -> Ids {
        Ids {
            highest,
            replace,
            seen: (rows > 1).then(FxHashSet::default),
        }
    }

    /// Those of an INSERT into a search table.
    fn of_insert(search: &SearchTable, insert: &Insert) -> Ids {
        let highest = search.highest.max(search.reserved);
        Ids::new(highest, insert.replace, insert.rows.len())
    }

    /// As [`Ids::admit`], of a row of a search table. `number` is the row's, of `rows`.
    fn next_of(
        &mut self,
        search: &SearchTable,
        given: Option<u64>,
        (number, rows): (usize, usize),
    ) -> Result<(u64, bool)> {
        let contains = |id| {
            let found = search.table.can_delete(id); // REPLACE deletes the row
            found.map_err(failure::of_index)
        };
        let admitted = self.admit(given, &contains);
        admitted.map_err(|error| error.at_row(rows > 1, number))
    }

    /// The id of the next row, and whether a row of that id is there before it.
    fn admit(
        &mut self,
        given: Option<u64>,
        contains: &dyn Fn(u64) -> Result<bool>,
    ) -> Result<(u64, bool)> {
        let (id, is_there) = match given {
            None => {
                let next = self.highest.checked_add(1);
                (
                    next.ok_or(Error::OutOfRange {
                        column: "id".to_owned(),
                        row: 1,
                        value: None,
                    })?,
                    false,
                )
            }
            Some(id) => {
                let before = self.seen.as_ref().is_some_and(|seen| seen.contains(&id));
                (id, before || contains(id)?)
            }
        };
        if is_there && !self.replace {
            return Err(Error::DuplicateId { id });
        }
        self.highest = self.highest.max(id);
        if let Some(seen) = &mut self.seen {
            seen.insert(id);
        }
        Ok((id, is_there))
    }
}

/// A text has fewer words than bytes, so only one with that many bytes is worth a look.
fn check_texts(columns: &[Column], row: &[Value]) -> Result<()> {
    let max = index::limits::FIELD_POSITION_MAX;
    for (_, value) in columns
        .iter()
        .zip(row)
        .filter(|(column, _)| column.kind == ColumnType::Text)
    {
        if matches!(value, Value::Str(text) if text.len() > max as usize) {
            return Err(Error::Limit {
                what: "bytes of a text",
                max: max.into(),
            });
        }
    }
    Ok(())
}

/// Standing queries leave only when they are deleted: those that do not fit are not for later. What they replace is room.
/// `regex_bytes`: memory of their regular expressions.
fn check_queries(
    around: Circumstances,
    pq: &PercolateTable,
    queries: &[QueryRow],
    regex_bytes: u64,
) -> Result<()> {
    let replaced = queries.iter().filter_map(|row| pq.set.get(row.id));
    let room: u64 = replaced.map(|query| memory_of(text_bytes(query))).sum();
    let bytes = |row: &QueryRow| {
        let texts = [&row.query, &row.tags, &row.filters, &row.source];
        memory_of(texts.iter().map(|text| text.len() as u64).sum())
    };
    let bytes = regex_bytes + queries.iter().map(bytes).sum::<u64>();
    let bytes = bytes.saturating_sub(room);
    check_query_memory(around, bytes)?;
    around.check_memory(bytes)
}

/// Refuses standing queries that take more bytes than are left for such.
fn check_query_memory(around: Circumstances, bytes: u64) -> Result<()> {
    if bytes > 0 && around.query_bytes.saturating_add(bytes) > around.memory_bytes {
        return Err(Error::Limit {
            what: "bytes of standing queries",
            max: around.memory_bytes,
        });
    }
    Ok(())
}

fn queries(
    state: &State,
    work: &mut Workspace,
    around: Circumstances,
    table: TableId,
    insert: Insert,
) -> Result<Decision> {
    let Some(pq) = state.percolates.get(&table) else {
        return Err(Error::NoSuchTable(insert.table));
    };
    let made = work.made.take();
    // Everyone who writes waits for queries that the session had no memory for.
    let budget = Interrupt::with_units(match made.is_some() {
        true => MADE_UNITS_MAX,
        false => u64::MAX,
    });
    let made = made.and_then(|made| made.queries_of(&pq.definition));
    let mut made = made.unwrap_or_else(MadeQueries::none);
    let making = MakingQueries::new(&pq.definition, insert.columns, &insert.rows)?;
    let mut ids = Ids::new(
        pq.highest.max(pq.reserved),
        insert.replace,
        insert.rows.len(),
    );
    let contains = |id| Ok(pq.contains(id));
    let several = insert.rows.len() > 1;
    let mut queries = Vec::with_capacity(insert.rows.len());
    let mut compiled = Vec::with_capacity(insert.rows.len());
    let mut warnings = Vec::new();
    let mut regex_bytes = 0;
    for (place, mut values) in insert.rows.into_iter().enumerate() {
        let number = place + 1;
        let at_row = |error: Error| error.at_row(several, number);
        let given = making.id(&mut values, number)?;
        let (id, _) = ids.admit(given, &contains).map_err(at_row)?;
        let row = making.row(id, &mut values, number)?;
        let mut read = match made.next_of(&row) {
            Some(read) => read,
            None => {
                budget.check().map_err(|_| Error::Overloaded)?;
                let read = compile(&pq.reading(), &row, number).map_err(|error| match error {
                    Error::Query(_) => at_row(error),
                    names_its_row => names_its_row,
                })?;
                budget.spend(read.units());
                read
            }
        };
        warnings.append(&mut read.parsed.warnings);
        queries.push(row);
        regex_bytes += read.regex_bytes() as u64;
        check_query_memory(around, regex_bytes)?;
        compiled.push(read);
    }
    check_queries(around, pq, &queries, regex_bytes)?;
    let (affected, last_id) = (queries.len() as u64, queries.last().map_or(0, |row| row.id));
    let reply = Reply::Done {
        affected,
        last_id,
        ids: told(queries.iter().map(|row| row.id)),
        warnings,
    };
    let mut decision = Decision::of(Record::Queries { table, queries }, reply);
    decision.prepared.queries = compiled;
    Ok(decision)
}

/// The ids that an answer lists, see [`Reply::Done`].
fn told(ids: impl ExactSizeIterator<Item = u64>) -> Vec<u64> {
    if (2..=INSERTED_IDS_MAX).contains(&ids.len()) {
        ids.collect()
    } else {
        Vec::new()
    }
}
