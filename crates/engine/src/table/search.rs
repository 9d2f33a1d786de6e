//! A search table: documents, and who listens to them.

use std::sync::Arc;

use query::analysis::{Analyzer, Words};
use query::schema::{Column, ColumnType};
use query::value::Value;

use super::standing::Listener;
use crate::catalog;
use crate::command::{Definition, Keep, Kind};
use crate::table::in_manifest::InManifest;

/// A search table as the engine's thread owns it.
pub(crate) struct SearchTable {
    pub(crate) definition: Arc<Definition>,
    /// Reads its texts.
    pub(crate) analyzer: Arc<Analyzer>,
    pub(crate) table: index::Table,
    /// Files that the manifest is to name.
    pub(crate) files: index::Files,
    /// Highest id ever held: the next one assigned is above it.
    pub(crate) highest: u64,
    /// The pq tables that every document is matched against.
    pub(crate) listeners: Arc<Vec<Listener>>,
    /// Records up to here are in the files that the next manifest names.
    pub(crate) folded: u64,
    /// Changed since readers last got a snapshot.
    pub(crate) is_unpublished: bool,
    /// Whether a seal runs.
    pub(crate) sealing: bool,
    /// What it keeps, by which of its columns.
    pub(crate) keep: Option<(Keep, usize)>,
    /// How often segments came into use or went: sealed, merged, dropped.
    pub(crate) file_changes: u64,
    /// That number in manifests.
    pub(crate) files_in_manifest: InManifest,
    /// The position of `folded` in manifests.
    pub(crate) manifests: InManifest,
    /// Whether segments may be due to be merged: asked when their number has changed, or somebody wants it.
    pub(crate) merge_due: bool,
    /// When it is to be asked although nothing has changed, on the steady clock: quiet alone makes merges due.
    pub(crate) merge_look_us: Option<u64>,
    /// When the last segment was sealed, on the steady clock.
    pub(crate) sealed_us: u64,
    /// No merge is begun before that, on the steady clock: there was no room, or the last one failed.
    pub(crate) merge_retry_us: u64,
    /// What a merge made, while a seal runs.
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
            listeners: Arc::default(),
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

    /// Whether the durable manifest names the segments that are in use, and no others.
    pub(crate) fn is_named(&self) -> bool {
        self.files_in_manifest.durable == self.file_changes
    }

    /// Whether segments came into use or went since the last manifest was begun.
    pub(crate) fn changed_since_manifest(&self) -> bool {
        self.files_in_manifest.begun != self.file_changes
    }

    /// A manifest is begun that names the files in use.
    pub(crate) fn begin_manifest(&mut self) {
        self.files_in_manifest.begin(self.file_changes);
        self.manifests.begin(self.folded);
    }

    /// The manifest that was begun last is durable.
    pub(crate) fn end_manifest(&mut self) {
        self.files_in_manifest.end();
        self.manifests.end();
    }

    /// The manifest that it was opened from names its files.
    pub(crate) fn opened(&mut self) {
        self.begin_manifest();
        self.end_manifest();
    }

    /// Names other files of the same rows. They reach as far as those before did: while nothing was pending that position went on
    /// without them, and the journal may have forgotten what lies below it.
    pub(crate) fn take_files(&mut self, files: index::Files) {
        let position = self.files.position.max(files.position);
        self.files = index::Files { position, ..files };
    }

    /// The tail is large enough for a segment, and none is being made.
    pub(crate) fn is_full(&self, seal_rows: u64) -> bool {
        !self.sealing && self.table.tail().rows >= seal_rows
    }

    /// Something is in no file yet, and no seal runs that would take it there.
    pub(crate) fn has_pending(&self) -> bool {
        !self.sealing && !self.table.is_saved()
    }
}

fn shards(definition: &Definition) -> u16 {
    match definition.kind {
        Kind::Search(options) => catalog::shards(options),
        _ => 1,
    }
}

/// The shape that `index` knows of a table.
pub(crate) fn shape(definition: &Definition) -> index::TableShape {
    index::TableShape {
        columns: definition.columns.clone(),
        analyzer: Analyzer::new(definition.analysis.clone()),
        shards: shards(definition),
    }
}

/// What a table keeps, with the place of the column that tells how old a row is.
fn keep(definition: &Definition) -> Option<(Keep, usize)> {
    let keep = definition.keep.clone()?;
    let by = keep.by.as_ref()?;
    let mut columns = definition.columns.iter();
    let place = columns.position(|column| column.name == *by)?;
    Some((keep, place))
}

/// Puts the words of a row's text columns into `words`, which is emptied first.
pub(crate) fn analyse(analyzer: &Analyzer, columns: &[Column], row: &[Value], words: &mut Words) {
    words.clear();
    let texts = columns
        .iter()
        .zip(row)
        .filter(|(column, _)| column.kind == ColumnType::Text);
    for (field, (_, value)) in texts.enumerate() {
        if let Value::Str(text) = value {
            words.push_field(analyzer, field as u8, text); // at most 64 of them
        }
    }
}
