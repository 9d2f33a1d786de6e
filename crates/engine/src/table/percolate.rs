//! A pq table: standing queries.

pub(crate) mod file;
pub(crate) mod row;

use std::sync::Arc;

use percolate::{HitCount, QuerySet, StandingQuery};
use query::analysis::Analyzer;
use query::tree::Query;

use super::into::Into;
use super::search::text_names;
use crate::catalog::TableId;
use crate::command::Definition;
use crate::error::{Error, Result};
use crate::record::QueryRow;

/// A pq table as the engine's thread owns it.
pub(crate) struct PercolateTable {
    pub(crate) definition: Arc<Definition>,
    pub(crate) set: QuerySet,
    /// Highest id ever held: the next one assigned is above it.
    pub(crate) highest: u64,
    /// Text and tags of all queries, in bytes.
    pub(crate) text_bytes: u64,
    /// The file that the manifest is to name; none while nothing was folded.
    pub(crate) file: Option<String>,
    /// The file of hit counts likewise.
    pub(crate) counts_file: Option<String>,
    /// Hits of records up to here are in that file.
    pub(crate) counted: u64,
    /// Records up to here are in the file that the manifest names.
    pub(crate) folded: u64,
    /// Queries stored or deleted since; a fold waits until they are many.
    pub(crate) changed: u64,
    /// Changed since readers last got a snapshot.
    pub(crate) is_unpublished: bool,
    /// Whether a fold runs.
    pub(crate) folding: bool,
}

/// A pq table that listens to a search table.
#[derive(Clone, Debug)]
pub(crate) struct Listener {
    pub(crate) table: TableId,
    /// The queue for its hits, and how they fill it.
    pub(crate) into: Option<(TableId, Into)>,
}

impl PercolateTable {
    pub(crate) fn new(definition: Arc<Definition>, folded: u64) -> PercolateTable {
        PercolateTable {
            definition,
            set: QuerySet::new(),
            highest: 0,
            text_bytes: 0,
            file: None,
            counts_file: None,
            counted: folded,
            folded,
            changed: 0,
            is_unpublished: true,
            folding: false,
        }
    }

    /// Parses a query text as this table understands it.
    pub(crate) fn parse(&self, analyzer: &Analyzer, text: &str) -> Result<Query> {
        query::parse(text, &text_names(&self.definition.columns), analyzer).map_err(Error::Query)
    }

    /// Stores a query whose text was accepted once, now or by an earlier build.
    ///
    /// # Errors
    /// `Invalid`, naming table and id, where the text is refused after all: then this build reads another language.
    pub(crate) fn store(&mut self, analyzer: &Analyzer, row: &QueryRow) -> Result<()> {
        let refused = |error| {
            let (id, table) = (row.id, &self.definition.name);
            Error::invalid(format!("stored query {id} of table '{table}': {error}"))
        };
        let parsed = self.parse(analyzer, &row.query).map_err(refused)?;
        self.put(Arc::new(standing(row)), &parsed);
        Ok(())
    }

    /// Stores a query as it was before.
    ///
    /// # Errors
    /// None that is expected: the text was accepted by this process.
    pub(crate) fn restore(&mut self, analyzer: &Analyzer, query: Arc<StandingQuery>) -> Result<()> {
        let parsed = self.parse(analyzer, &query.text)?;
        self.put(query, &parsed);
        Ok(())
    }

    /// Stores a query in the place of one with its id.
    fn put(&mut self, query: Arc<StandingQuery>, parsed: &Query) {
        self.highest = self.highest.max(query.id);
        self.changed += 1;
        self.text_bytes += text_bytes(&query);
        self.is_unpublished = true;
        if let Some(before) = self.set.insert(query, &parsed.root, None) {
            self.text_bytes -= text_bytes(&before);
        }
    }

    /// Deletes a query; nothing where there is none of that id.
    pub(crate) fn remove(&mut self, id: u64) {
        if let Some(before) = self.set.get(id) {
            self.text_bytes -= text_bytes(before);
            self.set.remove(id);
            self.changed += 1;
            self.is_unpublished = true;
        }
    }
}

/// A stored row as the matcher wants it.
fn standing(row: &QueryRow) -> StandingQuery {
    StandingQuery {
        id: row.id,
        text: row.query.as_str().into(),
        tags: row.tags.as_str().into(),
        filters: row.filters.as_str().into(),
        source: row.source.as_str().into(),
        count: HitCount::default(),
    }
}

fn text_bytes(query: &StandingQuery) -> u64 {
    (query.text.len() + query.tags.len() + query.filters.len() + query.source.len()) as u64
}

#[cfg(test)]
mod tests;
