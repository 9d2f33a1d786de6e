//! A search table: its documents in an `index::Table`, the pq tables that listen to it, and how far its files and manifests are.
//!
//! The module `apply` changes the rows; `engine/maintain` and its parts seal the tail, merge segments and write manifests.

use std::sync::Arc;

use language::analysis::{Analyzer, Words};
use relation::row;
use relation::schema::{Column, ColumnType};

use super::standing::Listener;
use crate::catalog;
use crate::command::{Definition, Keep, Kind};
use crate::recent::Recent;
use crate::table::in_manifest::InManifest;

/// A search table as the engine's thread owns it.
///
/// # Example
/// `news` is opened from the manifest of position 10. `manifests` follows `folded`, `files_in_manifest` follows `file_changes`;
/// both are shown as begun / durable:
///
/// | what happens | `files` | `folded` | `manifests` | `file_changes` | `files_in_manifest` |
/// |---|---|---|---|---|---|
/// | `news` is opened | 1 segment, position 10 | 10 | 10 / 10 | 0 | 0 / 0 |
/// | record 11 inserts, and its row is sealed | 2 segments, position 11 | 11 | 10 / 10 | 1 | 0 / 0 |
/// | record 12 is of another table; a manifest is begun | 2 segments, position 12 | 12 | 12 / 10 | 1 | 1 / 0 |
/// | a merge is taken in | 1 segment, position 12 | 12 | 12 / 10 | 2 | 1 / 0 |
/// | that manifest is durable | 1 segment, position 12 | 12 | 12 / 12 | 2 | 1 / 1 |
/// | the next manifest is begun and durable | 1 segment, position 12 | 12 | 12 / 12 | 2 | 2 / 2 |
///
/// After the fifth line the two merged segments must stay on disk: the durable manifest names them. `changed_since_manifest`
/// tells.
///
/// # Invariants
/// - The segments of `files` hold the effects of all records up to `folded`, and `files.position` is `folded`.
/// - `folded` never falls: the journal may have forgotten the records below it.
/// - `file_changes` rises with every change of the segments. A change that did not count would let a file go that the durable
///   manifest names.
/// - `sealing` is true from the freeze of the tail to the install or failure of its seal. Meanwhile the table is not clean.
pub(crate) struct SearchTable {
    pub(crate) definition: Arc<Definition>,
    /// Analyses the texts of documents and of queries on this table.
    pub(crate) analyzer: Arc<Analyzer>,
    pub(crate) table: index::Table,
    /// The segments that the next manifest names.
    pub(crate) files: index::Files,
    /// Highest id ever held or assigned: the next one assigned is above it.
    pub(crate) highest: u64,
    /// Highest id that a client gave in a transaction that is open, or was since this rose; 0: none. The next id assigned is above
    /// it too. Only in memory: ROLLBACK gives it back.
    pub(crate) reserved: u64,
    /// The pq tables whose queries every new document is matched against.
    pub(crate) listeners: Arc<Vec<Listener>>,
    /// Records up to here are in the files that the next manifest names.
    pub(crate) folded: u64,
    /// The rows that were changed while a statement on the table is planned.
    pub(crate) recent: Recent,
    /// Changed since readers last got a snapshot.
    pub(crate) is_unpublished: bool,
    /// Whether a seal runs.
    pub(crate) sealing: bool,
    /// The rows to keep, with the place of the column that tells a row's age; `None`: all rows are kept.
    pub(crate) keep: Option<(Keep, usize)>,
    /// Number of times that segments came into use or went, by a seal, a merge or the end of their rows.
    pub(crate) file_changes: u64,
    /// `file_changes` in manifests.
    pub(crate) files_in_manifest: InManifest,
    /// `folded` in manifests.
    pub(crate) manifests: InManifest,
    /// The next turn asks the table for a merge: its segments changed, a merge ended, or OPTIMIZE wants one.
    pub(crate) merge_due: bool,
    /// When to ask for a merge although nothing changed: some merges are due only a while after the last seal. Steady clock,
    /// microseconds.
    pub(crate) merge_look_us: Option<u64>,
    /// When the last segment was sealed. Steady clock, microseconds; 0 before the first.
    pub(crate) sealed_us: u64,
    /// No merge begins before this time: the last one failed or had no room. Steady clock, microseconds.
    pub(crate) merge_retry_us: u64,
    /// The result of a merge that ended while a seal runs. It is taken in after the seal, whose job names the old segments.
    pub(crate) merged: Option<index::Merged>,
}

impl SearchTable {
    pub(crate) fn new(
        definition: Arc<Definition>,
        table: index::Table,
        files: index::Files,
        highest: u64,
    ) -> SearchTable {
        SearchTable {
            analyzer: definition.analyzer(),
            keep: keep(&definition),
            definition,
            table,
            folded: files.position,
            highest,
            reserved: 0,
            listeners: Arc::default(),
            recent: Recent::default(),
            is_unpublished: true,
            sealing: false,
            file_changes: 0,
            files_in_manifest: InManifest::default(),
            manifests: InManifest::default(),
            merge_due: true,
            merge_look_us: None,
            sealed_us: 0,
            merge_retry_us: 0,
            merged: None,
            files,
        }
    }

    /// Whether the durable manifest names exactly the segments in use.
    pub(crate) fn is_named(&self) -> bool {
        self.files_in_manifest.durable == self.file_changes
    }

    /// Whether segments came into use or went since the last manifest was begun.
    pub(crate) fn changed_since_manifest(&self) -> bool {
        self.files_in_manifest.begun != self.file_changes
    }

    /// A manifest that names `files` is begun.
    pub(crate) fn begin_manifest(&mut self) {
        self.files_in_manifest.begin(self.file_changes);
        self.manifests.begin(self.folded);
    }

    /// The manifest that was begun last is durable.
    pub(crate) fn end_manifest(&mut self) {
        self.files_in_manifest.end();
        self.manifests.end();
    }

    /// The table was opened: the durable manifest names its files.
    pub(crate) fn opened(&mut self) {
        self.begin_manifest();
        self.end_manifest();
    }

    /// Takes other files of the same rows, after a merge or after segments went. Their position is that of the last seal; the
    /// table's own may be higher, since `State::advance_clean_views` moves it while nothing is pending. The higher one stays: the
    /// journal may have forgotten the records between the two.
    pub(crate) fn take_files(&mut self, files: index::Files) {
        let position = self.files.position.max(files.position);
        self.files = index::Files { position, ..files };
    }

    /// Whether the tail has `seal_rows` rows or more and no seal runs.
    pub(crate) fn is_full(&self, seal_rows: u64) -> bool {
        !self.sealing && self.table.tail().rows >= seal_rows
    }

    /// Whether a row or deletion is in no file and no seal runs.
    pub(crate) fn has_pending(&self) -> bool {
        !self.sealing && !self.table.is_saved()
    }
}

fn shards(definition: &Definition) -> u16 {
    if let Kind::Search(options) = definition.kind {
        catalog::shards(options)
    } else {
        1
    }
}

/// The part of a definition that `index` needs: columns, analyzer, number of shards.
pub(crate) fn shape(definition: &Definition) -> index::TableShape {
    index::TableShape {
        columns: definition.columns.clone(),
        analyzer: Analyzer::new(definition.analysis.clone()),
        shards: shards(definition),
    }
}

/// The rows that a table keeps, with the place of the column that tells a row's age; `None` where it keeps all.
pub(crate) fn keep(definition: &Definition) -> Option<(Keep, usize)> {
    let keep = definition.keep.clone()?;
    let by = keep.by.as_ref()?;
    let mut columns = definition.columns.iter();
    let place = columns.position(|column| column.name == *by)?;
    Some((keep, place))
}

/// Analyses the text columns of an encoded row into `words`, which is emptied first. Fields are numbered from 0 in the order of the text
/// columns. The matcher and the index both use the result, so a document is analysed once.
pub(crate) fn analyse(analyzer: &Analyzer, columns: &[Column], row: &[u8], words: &mut Words) {
    words.clear();
    let texts = columns.iter().enumerate();
    let texts = texts.filter(|(_, column)| column.kind == ColumnType::Text);
    for (field, (place, _)) in texts.enumerate() {
        let text = row::text(row, place).flatten();
        if let Some(Ok(text)) = text.map(std::str::from_utf8) {
            words.push_field(analyzer, field as u8, text); // at most 64 text columns
        }
    }
}
