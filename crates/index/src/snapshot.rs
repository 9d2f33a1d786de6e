//! A snapshot: a table as readers see it, at one published moment.
//!
//! Example: a snapshot has three parts, two segments with ids 1 .. 90 and 91 .. 200, and a tail.
//! Its parts are numbered 0, 1, 2 ([`PartIndex`]). A row is a part and a doc in it.

use std::sync::{Arc, OnceLock};

use relation::bind::{BindError, BoundSelect, Scope};
use relation::options::Options;
use relation::request::Select;
use relation::value::Value;

use crate::error::{Error, Result};
use crate::part::Part;
use crate::postings::SharesCache;
use crate::shape::TableShape;
use crate::warning::Warning;

/// Index of a part in its snapshot, from 0. The same part may have another index in the next
/// snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct PartIndex(pub(crate) u32);

impl PartIndex {
    /// The index as a `usize`.
    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }
}

/// One published state of a table. Immutable, and cheap to clone as an `Arc`. Files and memory that
/// it reads stay until it is dropped.
pub struct Snapshot {
    pub(crate) shape: Arc<TableShape>,
    /// The parts: of each table its segments, then its tails. Each has at least one row, deleted
    /// ones included.
    pub(crate) parts: Vec<Arc<Part>>,
    /// Whether ids rise from part to part, and in each. Then ties are decided without reading ids.
    pub(crate) ids_rise: bool,
    rows: u64,
    /// Segments that could not be opened, or were found damaged by a search. Their rows are in no
    /// part.
    damaged: Vec<Warning>,
    /// Filled by the first search whose ranker looks at lengths.
    pub(crate) shares: SharesCache,
}

impl Snapshot {
    pub(crate) fn new(
        shape: Arc<TableShape>,
        parts: Vec<Arc<Part>>,
        damaged: Vec<Warning>,
    ) -> Snapshot {
        let rows = parts.iter().map(|part| part.rows_live()).sum();
        Snapshot {
            ids_rise: ids_rise(&parts),
            shape,
            parts,
            rows,
            damaged,
            shares: OnceLock::new(),
        }
    }

    /// The snapshot without the part whose file `error` names as damaged; `None` for any other
    /// error, and for a file of none of the parts.
    pub(crate) fn without(&self, error: &Error) -> Option<Arc<Snapshot>> {
        let damage = Warning::of_damage(error)?;
        let Warning::Damaged { file, .. } = &damage;
        let mut parts = self.parts.clone();
        parts.retain(|part| !part.has_file(file));
        if parts.len() == self.parts.len() {
            return None;
        }
        let mut damaged = self.damaged.clone();
        damaged.push(damage);
        Some(Arc::new(Snapshot::new(
            Arc::clone(&self.shape),
            parts,
            damaged,
        )))
    }

    /// The part with this index.
    pub(crate) fn part(&self, index: PartIndex) -> &Part {
        &self.parts[index.at()]
    }

    /// The parts with their indexes.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (PartIndex, &Arc<Part>)> {
        (0..).map(PartIndex).zip(&self.parts)
    }

    /// Damaged segments, whose rows are missing; empty for a whole snapshot.
    #[must_use]
    pub fn damaged(&self) -> &[Warning] {
        &self.damaged
    }

    /// Fails if a segment is damaged. Errors: `Corrupt`, of the first.
    pub(crate) fn check_whole(&self) -> Result<()> {
        self.damaged
            .first()
            .map_or(Ok(()), |damage| Err(damage.error()))
    }

    /// Several tables of the same columns and analysis as one table: they are put one behind
    /// another. (No rows are joined.) Answers are those of one table with all their rows. Rows of
    /// one id keep the order of the tables. `None` for no tables. Cost: a reference for each part.
    #[must_use]
    pub fn join(tables: &[Arc<Snapshot>]) -> Option<Arc<Snapshot>> {
        let shape = Arc::clone(&tables.first()?.shape);
        let parts = tables.iter().flat_map(|table| &table.parts);
        let parts = parts.cloned().collect();
        let damaged = tables.iter().flat_map(|table| table.damaged.clone());
        Some(Arc::new(Snapshot::new(shape, parts, damaged.collect())))
    }

    /// Binds a SELECT to this table: names, aliases, LIMIT. Errors: as [`BoundSelect::new`].
    pub fn bind<'s>(
        &self,
        select: &'s Select,
        options: &Options,
    ) -> std::result::Result<BoundSelect<'s>, BindError> {
        let scope = Scope {
            columns: &self.shape.columns,
            has_id: true,
            starred: self.shape.columns.len(),
            is_searched: true,
            is_standing: false,
        };
        BoundSelect::new(select, options, &scope)
    }

    /// The columns of the live row with this id, in table order; `None` if there is none. Errors:
    /// `Io`; `Corrupt`, also where a damaged segment may hold the row.
    pub fn get(&self, id: u64) -> Result<Option<Vec<Value>>> {
        for part in self.parts.iter().rev() {
            if let Some(doc) = part.find_all(&[id])?.first() {
                return part.columns(*doc).map(Some);
            }
        }
        self.check_whole()?; // else a damaged segment may have it
        Ok(None)
    }

    /// Number of live rows.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.rows
    }

    /// Words of all live rows, every occurrence counted.
    #[must_use]
    pub fn words(&self) -> u64 {
        self.parts.iter().map(|part| part.hits()).sum()
    }

    /// Number of live rows that hold a word, given as analysis makes it. Errors: `Io`, `Corrupt` of
    /// a segment's dictionary.
    pub fn document_frequency(&self, word: &str) -> Result<u64> {
        let mut rows = 0;
        for part in &self.parts {
            rows += part.word(word)?.map_or(0, |word| word.frequency.documents);
        }
        Ok(rows)
    }
}

fn ids_rise(parts: &[Arc<Part>]) -> bool {
    let ranges: Option<Vec<_>> = parts.iter().map(|part| part.id_range()).collect();
    ranges.is_some_and(|ranges| ranges.is_sorted_by(|(_, last), (first, _)| last < first))
}
