//! A pq table: its standing queries in memory, the files that hold them, and the counts of their hits.
//!
//! The engine's thread owns it and changes it record by record. Matchers read a snapshot of its `QuerySet`.
//!
//! # Example
//! Table 3 holds 10,001 queries; the last record applied is 21:
//!
//! | field | value | meaning |
//! |---|---|---|
//! | `files` | `12.queries`, `18.queries` | a base with 10,000 queries, then 2 changes of records 13 to 18 |
//! | `folded` | 18 | records up to 18 are in these files |
//! | `counts_file`, `counted` | `19.hits`, 19 | hits of records up to 19 are counted there |
//! | `changed` | {10001} | record 21 stored it; it is in memory and in the journal only |
//! | `counts_changed` | true | record 20 hit query 1 |
//!
//! A start reads both files of queries and the counts, and replays the journal: record 19 and later change queries, record 20
//! and later count hits. The journal may drop records up to 18, the lower of both positions.
//!
//! # Invariants
//! - A record at or below `folded` changes no query, and one at or below `counted` counts no hit: replay does nothing twice.
//! - Each query that differs from the files is in `changed` or `folding_ids`. A query that is in neither would be lost when
//!   `folded` passes its record.
//! - While a file of counts is written (`counting`), counts rise only through `counts_before`.
//! - `text_bytes` is the sum over the stored queries.
//! - No id is both in `set` and in `lost`.

pub(crate) mod counts;
pub(crate) mod file;
mod filter;
mod head;
mod load;
pub(crate) mod lost;
pub(crate) mod row;

use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::Arc;

use disk::Disk;
use language::Syntax;
use language::analysis::Analyzer;
use language::tree::{Node, Query, QueryError};
use percolate::{HitCount, Matchers, QuerySet, StandingQuery};
use relation::expression::Prepared;
use relation::schema::text_names;
use rustc_hash::FxHashMap;

use self::counts::CountsBefore;
use self::file::QueryFile;
use self::filter::Refused;
use self::lost::LostQueries;
use crate::catalog::TableId;
use crate::command::{Definition, Kind};
use crate::error::{Error, Result};
use crate::into::Into;
use crate::made::Compiled;
use crate::recent::Recent;
use crate::record::QueryRow;
use crate::table::in_manifest::InManifest;

/// A pq table as the engine's thread owns it.
pub(crate) struct PercolateTable {
    pub(crate) definition: Arc<Definition>,
    /// Reads the documents and the queries.
    pub(crate) analyzer: Arc<Analyzer>,
    pub(crate) set: QuerySet,
    /// Queries of damaged blocks of its files.
    pub(crate) lost: Arc<LostQueries>,
    /// Highest id ever held or assigned: the next one assigned is above it.
    pub(crate) highest: u64,
    /// Highest id that a client gave in a transaction that is open, or was since this rose; 0: none. The next id assigned is above
    /// it too. Only in memory: ROLLBACK gives it back.
    pub(crate) reserved: u64,
    /// Text and tags of all queries, in bytes.
    pub(crate) text_bytes: u64,
    /// Queries, since the start, whose filter an earlier build accepted and this one refuses. They match nothing.
    pub(crate) refused: u64,
    /// The files that the manifest is to name, the base first; none while nothing was folded.
    pub(crate) files: Vec<QueryFile>,
    /// The file of hit counts that the manifest is to name; `None` while no hit was counted.
    pub(crate) counts_file: Option<String>,
    /// Hits of records up to here are in that file.
    pub(crate) counted: u64,
    /// The counts of that file by query, while records up to there are applied again.
    pub(crate) loaded_counts: FxHashMap<u64, (u64, i64)>,
    /// Hits were counted since.
    pub(crate) counts_changed: bool,
    /// The file of counts that is being written: the record up to which it counts.
    pub(crate) counting: Option<u64>,
    /// Counts as they were at that record.
    pub(crate) counts_before: CountsBefore,
    /// When the next one is due, on the steady clock, in microseconds.
    pub(crate) counts_due_us: u64,
    /// Records up to here are in the files that the next manifest names.
    pub(crate) folded: u64,
    /// The `folded` of the manifest on disk and of the one that is being written.
    pub(crate) manifests: InManifest,
    /// Queries stored or deleted above `folded`. A fold starts once they are a large enough part of the table.
    pub(crate) changed: BTreeSet<u64>,
    /// The queries that the running fold writes. If it fails, they go back to `changed`.
    pub(crate) folding_ids: BTreeSet<u64>,
    /// How it matches rows that no search table stores; `None`: it has `on=`, or no `into=`.
    pub(crate) hears: Option<Arc<Listener>>,
    /// The queries that were changed while a statement on the table is planned.
    pub(crate) recent: Recent,
    /// Changed since readers last got a snapshot.
    pub(crate) is_unpublished: bool,
    /// Whether a fold runs.
    pub(crate) folding: bool,
    /// Whether the next fold is to write a base, since a file is damaged: only in a repair.
    pub(crate) is_mending: bool,
}

/// Standing queries that a table of other columns understands in another way, as it reads them.
pub(crate) type ReadAgain = Vec<(Arc<StandingQuery>, Compiled)>;

/// Parses queries as one table understands them. It holds shared parts of the table, so several threads may parse at once.
pub(crate) struct Reading {
    syntax: Syntax,
    definition: Arc<Definition>,
    analyzer: Arc<Analyzer>,
}

/// Memory of a new query beside its texts, by estimate, until the set has counted it: its row, its share of a level, and of
/// the words.
const QUERY_BYTES: u64 = 512;

/// Memory of a new query for each byte of its text, by estimate, until the set has counted it.
const TEXT_FACTOR: u64 = 8;

/// Memory of a query that no file has yet: its place among those that changed.
const CHANGED_BYTES: u64 = 24;

const EVERY_DOCUMENT: &str = "the query holds no word: every document matches";

/// A pq table that listens: to a search table, or to rows of its own.
#[derive(Clone, Debug)]
pub(crate) struct Listener {
    pub(crate) table: TableId,
    /// For each column of the pq table, its place in the rows.
    pub(crate) columns: Vec<usize>,
    /// The queue for its hits, and how they fill it.
    pub(crate) into: Option<(TableId, Into)>,
    /// Whether it hears UPDATE too.
    pub(crate) on_update: bool,
}

impl PercolateTable {
    pub(crate) fn new(definition: Arc<Definition>, folded: u64) -> PercolateTable {
        PercolateTable {
            analyzer: definition.analyzer(),
            definition,
            set: QuerySet::new(),
            lost: Arc::default(),
            highest: 0,
            reserved: 0,
            text_bytes: 0,
            refused: 0,
            files: Vec::new(),
            counts_file: None,
            counted: folded,
            manifests: InManifest::default(),
            loaded_counts: FxHashMap::default(),
            counts_changed: false,
            counting: None,
            counts_before: CountsBefore::default(),
            counts_due_us: 0,
            folded,
            changed: BTreeSet::new(),
            folding_ids: BTreeSet::new(),
            hears: None,
            recent: Recent::default(),
            is_unpublished: true,
            folding: false,
            is_mending: false,
        }
    }

    /// Memory of its queries.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let changed = (self.changed.len() + self.folding_ids.len()) as u64;
        self.text_bytes + self.set.memory_bytes() as u64 + CHANGED_BYTES * changed
    }

    /// Adds to the counts of queries the numbers of documents that hit them.
    pub(crate) fn count_hits<'q>(
        &mut self,
        hits: impl Iterator<Item = (&'q Arc<StandingQuery>, u64)>,
        hit_at: i64,
    ) {
        match self.counting {
            Some(_) => self.counts_before.add(hits, hit_at),
            None => hits.for_each(|(query, documents)| query.count.add(documents, hit_at)),
        }
        self.counts_changed = true;
    }

    /// Whether records hold its hits, so that they are needed until they are counted.
    pub(crate) fn is_recorded(&self) -> bool {
        matches!(&self.definition.kind, Kind::Percolate { into: Some(_), .. })
    }

    /// The parser of this table's queries.
    pub(crate) fn reading(&self) -> Reading {
        Reading::new(&self.definition, &self.analyzer)
    }

    /// Stores a query whose text was accepted once, now or by an earlier build, by the record at `position`. `compiled`: the
    /// query as [`Reading::read`] gave it; `None`: its text is read here.
    ///
    /// # Errors
    /// `Invalid`, naming table and id, where the text is refused after all: then this build reads another language.
    pub(crate) fn store(
        &mut self,
        row: &QueryRow,
        compiled: Option<Compiled>,
        position: u64,
    ) -> Result<()> {
        let (query, compiled) = match compiled {
            Some(compiled) => (standing(row.clone()), compiled),
            None => self.reading().stored(row.clone())?,
        };
        if position > self.counted {
            self.loaded_counts = FxHashMap::default();
        }
        counted(&self.loaded_counts, &query);
        self.put(Arc::new(query), compiled);
        Ok(())
    }

    /// Takes the counts of a file, for the queries that are stored up to the record that the file covers.
    ///
    /// # Errors
    /// Those of a file that cannot be read.
    pub(crate) fn load_counts(&mut self, disk: &dyn Disk, path: &str) -> Result<()> {
        let counted = counts::load(disk, path)?.into_iter();
        self.loaded_counts = counted
            .map(|counted| (counted.id, (counted.documents, counted.last_s)))
            .collect();
        self.counts_file = Some(path.to_owned());
        Ok(())
    }

    /// Stores a query as it was before.
    ///
    /// # Errors
    /// None that is expected: the table held the query.
    pub(crate) fn restore(&mut self, query: Arc<StandingQuery>) -> Result<()> {
        let compiled = self.read_again(&query)?;
        self.put(query, compiled);
        Ok(())
    }

    /// Reads a query of this table again: the set keeps of it what matching needs, and no tree.
    ///
    /// # Errors
    /// None that is expected: the table held the query.
    pub(crate) fn read_again(&self, query: &StandingQuery) -> Result<Compiled> {
        let reading = self.reading();
        let parsed = reading.parse_stored(&query.text).map_err(Error::Query)?;
        Ok(reading.compiled_as_stored(parsed, &query.filters))
    }

    /// Stores a query in the place of one with its id.
    fn put(&mut self, query: Arc<StandingQuery>, compiled: Compiled) {
        self.changed.insert(query.id);
        self.found_again(query.id);
        self.recent.note(query.id);
        self.highest = self.highest.max(query.id);
        self.text_bytes += text_bytes(&query);
        self.is_unpublished = true;
        let Compiled {
            parsed,
            filter,
            matchers,
            is_refused,
        } = compiled;
        self.refused += u64::from(is_refused);
        let root = &parsed.root;
        if let Some(before) = self.set.insert_compiled(query, root, filter, matchers) {
            self.text_bytes -= text_bytes(&before);
            self.counts_changed |= is_counted(&before);
        }
    }

    /// Gives the table other columns, and reads its queries again in them. Texts are read again only where text columns changed.
    /// `again`: what [`PercolateTable::read_in`] has given for these columns; `None`: the queries are read here.
    ///
    /// # Errors
    /// `Query`, `Invalid`: those of the first query that is none in these columns. Nothing is changed then.
    pub(crate) fn alter(
        &mut self,
        definition: Arc<Definition>,
        again: Option<ReadAgain>,
    ) -> Result<()> {
        let again = match again {
            Some(again) => again,
            None => self.read_in(&definition)?,
        };
        self.definition = definition;
        self.is_unpublished = true;
        for (query, compiled) in again {
            self.set
                .insert(query, &compiled.parsed.root, compiled.filter);
        }
        Ok(())
    }

    /// The queries that a table of other columns understands in another way, as it reads them.
    ///
    /// # Errors
    /// Those of the first query that is none there; it is named.
    pub(crate) fn read_in(&self, definition: &Arc<Definition>) -> Result<ReadAgain> {
        let reading = Reading {
            definition: Arc::clone(definition),
            ..self.reading()
        };
        let all = text_names(&definition.columns) != text_names(&self.definition.columns);
        let is_touched = |query: &&Arc<StandingQuery>| all || !query.filters.is_empty();
        let read = |query: &Arc<StandingQuery>| {
            let id = query.id;
            let parsed = reading.parse_stored(&query.text);
            let parsed = parsed.map_err(|error| {
                Error::invalid(format!("stored query {id}: {}", Error::Query(error)))
            })?;
            let row = format_args!("stored query {id}");
            let compiled = reading.compiled(row, parsed, &query.filters)?;
            Ok((Arc::clone(query), compiled))
        };
        self.set.iter().filter(is_touched).map(read).collect()
    }

    /// For a repair: the next fold writes a base, whose file takes the place of all files.
    pub(crate) fn mend(&mut self) {
        self.is_mending = true;
        self.changed.insert(self.highest); // a base holds all queries, so any id makes the fold due
    }

    /// For a repair: gives the ids of the lost queries, rising, and forgets them.
    pub(crate) fn give_up_lost(&mut self) -> Vec<u64> {
        let ids: Vec<u64> = self.lost.ids().collect();
        self.changed.extend(&ids);
        self.lost = Arc::default();
        ids
    }

    /// Whether it has a query of that id, also one that cannot be read.
    pub(crate) fn contains(&self, id: u64) -> bool {
        self.set.get(id).is_some() || self.lost.contains(id)
    }

    /// A record says what counts of an id: its query is lost no more. Whether it was.
    fn found_again(&mut self, id: u64) -> bool {
        self.lost.contains(id) && Arc::make_mut(&mut self.lost).remove(id)
    }

    /// Deletes a query; nothing where there is none of that id.
    pub(crate) fn remove(&mut self, id: u64) {
        if self.found_again(id) {
            self.changed.insert(id);
            self.is_unpublished = true;
        }
        if let Some(before) = self.set.get(id) {
            self.text_bytes -= text_bytes(before);
            self.counts_changed |= is_counted(before);
            self.set.remove(id);
            self.changed.insert(id);
            self.recent.note(id);
            self.is_unpublished = true;
        }
    }
}

impl Reading {
    /// The parser of the queries of a table with this definition and its analyzer.
    pub(crate) fn new(definition: &Arc<Definition>, analyzer: &Arc<Analyzer>) -> Reading {
        Reading {
            syntax: match definition.kind {
                Kind::Percolate { syntax, .. } => syntax,
                Kind::Search(_) | Kind::Queue(_) | Kind::Distributed { .. } => Syntax::default(),
            },
            definition: Arc::clone(definition),
            analyzer: Arc::clone(analyzer),
        }
    }

    /// Reads the text and the filter of a query as the table understands them.
    ///
    /// # Errors
    /// `Query`; `Constant`, `NotYet` and `Invalid` for a filter, naming the `row`.
    pub(crate) fn read(&self, row: impl Display, text: &str, filters: &str) -> Result<Compiled> {
        let columns = &self.definition.columns;
        let parsed = self
            .syntax
            .parse(text, &text_names(columns), &self.analyzer)
            .map_err(Error::Query)?;
        self.compiled(row, parsed, filters)
    }

    fn compiled(&self, row: impl Display, parsed: Query, filters: &str) -> Result<Compiled> {
        let filter = filter::read(filters, &self.definition.columns);
        let filter = filter.map_err(|why| match why {
            Refused::Constant(what) => Error::Constant {
                what: format!("filters of {row}: {what}"),
            },
            Refused::Other(why) => match why.strip_prefix("not yet: ") {
                Some(what) => Error::NotYet {
                    what: format!("filters of {row}: {what}"),
                },
                None => Error::invalid(format!("filters of {row}: {why}")),
            },
        })?;
        Ok(compiled(parsed, filter, false))
    }

    /// Compiles a query that was accepted once. Where this build refuses its filter, the query stays, and matches nothing.
    fn compiled_as_stored(&self, parsed: Query, filters: &str) -> Compiled {
        match filter::read(filters, &self.definition.columns) {
            Ok(filter) => compiled(parsed, filter, false),
            Err(_) => compiled(parsed, Some(filter::never()), true),
        }
    }

    fn parse_stored(&self, text: &str) -> std::result::Result<Query, QueryError> {
        let fields = text_names(&self.definition.columns);
        self.syntax.parse_stored(text, &fields, &self.analyzer)
    }

    /// Reads a query that was accepted once, as [`Reading::compiled_as_stored`].
    pub(crate) fn stored(&self, row: QueryRow) -> Result<(StandingQuery, Compiled)> {
        let (id, table) = (row.id, &self.definition.name);
        let named = format_args!("stored query {id} of table '{table}'");
        let parsed = self
            .parse_stored(&row.query)
            .map_err(|error| Error::invalid(format!("{named}: {}", Error::Query(error))))?;
        let compiled = self.compiled_as_stored(parsed, &row.filters);
        Ok((standing(row), compiled))
    }
}

/// A query after parsing, with its filter.
fn compiled(mut parsed: Query, filter: Option<Arc<Prepared>>, is_refused: bool) -> Compiled {
    if parsed.root == Node::All {
        parsed.warnings = match filter {
            Some(_) => Vec::new(), // every document that the filter accepts: that is meant
            None => vec![EVERY_DOCUMENT.to_owned()],
        };
    }
    Compiled {
        parsed,
        filter,
        matchers: Matchers::default(),
        is_refused,
    }
}

/// A stored row in the matcher's form, with no hits counted.
fn standing(row: QueryRow) -> StandingQuery {
    StandingQuery {
        id: row.id,
        text: row.query.into(),
        tags: row.tags.into(),
        filters: row.filters.into(),
        source: row.source.into(),
        count: HitCount::default(),
    }
}

/// Gives a query the counts of their file, if it is there.
fn counted(counts: &FxHashMap<u64, (u64, i64)>, query: &StandingQuery) {
    if let Some((documents, last_s)) = counts.get(&query.id) {
        query.count.set(*documents, *last_s);
    }
}

/// Memory of a new query by estimate. `text_bytes`: of its texts.
pub(crate) fn memory_of(text_bytes: u64) -> u64 {
    TEXT_FACTOR * text_bytes + QUERY_BYTES
}

pub(crate) fn text_bytes(query: &StandingQuery) -> u64 {
    (query.text.len() + query.tags.len() + query.filters.len() + query.source.len()) as u64
}

#[cfg(test)]
mod tests;

/// The file of counts may name it: once it is gone the file is to be written anew, or another query of its id would
/// take over its hits.
fn is_counted(query: &StandingQuery) -> bool {
    query.count.get().0 > 0
}
