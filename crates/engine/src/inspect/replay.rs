//! Replay of a damaged journal: every record that can be read and applied is applied; the others are noted.

use std::collections::BTreeMap;
use std::ops::Range;

use journal::{Position, Survey, Surveyed};
use queue::RowNumber;

use super::Fault;
use crate::catalog::TableId;
use crate::engine::JOURNAL_DIR;
use crate::error::Result;
use crate::failure;
use crate::open::describe;
use crate::open::salvage::Salvage;
use crate::record::{QueueRecord, Record};
use crate::state::{Prepared, State};

/// Applies the sound records above the lowest checkpoint, and notes damage and losses. `known_synced`: the manifest's position,
/// up to which the journal was synced.
///
/// Errors: `NewerFormat`, or the device fails.
pub(super) fn replay(
    state: &mut State,
    salvage: &mut Salvage<'_>,
    known_synced: u64,
) -> Result<Survey> {
    let needed = Position(state.lowest_folded(state.catalog_folded)).next();
    let disk = std::sync::Arc::clone(&state.disk);
    let mut replay = Replay {
        state,
        salvage,
        needed,
        gaps: BTreeMap::new(),
    };
    let found = journal::survey(
        &*disk,
        JOURNAL_DIR,
        Position(known_synced),
        needed,
        &mut |surveyed| replay.take(&surveyed),
    );
    let gaps = std::mem::take(&mut replay.gaps);
    let found = found.map_err(failure::of_journal)?;
    note_damages(salvage, &found);
    for (table, rows) in gaps {
        let name = describe::table(&state.catalog, table);
        let what = format!(
            "queue rows {}",
            describe::ranges(rows.into_iter().flatten())
        );
        salvage.lost(&name, what);
    }
    state.position = state.position.max(found.last.0);
    Ok(found)
}

fn note_damages(salvage: &mut Salvage<'_>, found: &Survey) {
    for damage in &found.damages {
        salvage.faults.push(Fault {
            file: damage.file.clone(),
            offset: damage.offset,
            what: damage.what.to_owned(),
        });
        if FILES_MISSING.contains(&damage.what) && damage.first > found.last {
            // No frame and no manifest knows of a later record, so nobody knows how many there were.
            let first = damage.first.0;
            salvage.lost(
                "",
                format!("journal records from {first} on, if there were any"),
            );
        }
        if damage.first <= damage.last && damage.what != RECORD_DAMAGED {
            let what = format!(
                "journal records {}: what they held is unknown, but for what is listed of them here",
                describe::ranges(damage.first.0..damage.last.0 + 1)
            );
            salvage.lost("", what);
        }
    }
}

/// The journal's note on a single damaged record. `Replay::take` lists the rows of such a record, so it is no loss of its own.
const RECORD_DAMAGED: &str = "the checksum of a record does not match";

/// The journal's notes on files that are missing.
const FILES_MISSING: [&str; 2] = [
    "the segment before this one is missing",
    "the end of what was synced is missing",
];

struct Replay<'a, 'p> {
    state: &'a mut State,
    salvage: &'a mut Salvage<'p>,
    needed: Position,
    /// Numbers of queue rows whose record is lost: ranges without the end.
    gaps: BTreeMap<TableId, Vec<Range<u64>>>,
}

impl Replay<'_, '_> {
    fn take(&mut self, surveyed: &Surveyed<'_>) {
        if surveyed.position < self.needed {
            return;
        }
        let position = surveyed.position.0;
        match Record::decode(surveyed.bytes) {
            Ok(record) if surveyed.is_sound => {
                if let Err(error) = self.apply(record, position) {
                    let fault = Fault {
                        file: surveyed.file.to_owned(),
                        offset: surveyed.offset,
                        what: format!("record {position}: {error}"),
                    };
                    self.salvage.faults.push(fault);
                }
            }
            // The record decodes in spite of a wrong checksum: what it says may be wrong.
            Ok(record) => self.lose(&record, " (as the damaged record says)"),
            Err(_) if !surveyed.is_sound => {
                let what = format!("journal record {position}: it cannot be read");
                self.salvage.lost("", what);
            }
            Err(damage) => {
                let fault = Fault {
                    file: surveyed.file.to_owned(),
                    offset: surveyed.offset,
                    what: format!("record {position}: expected {}", damage.why),
                };
                self.salvage.faults.push(fault);
                let what = format!("journal record {position}: it cannot be understood");
                self.salvage.lost("", what);
            }
        }
    }

    fn lose(&mut self, record: &Record, source: &str) {
        for (table, what) in describe::parts(&self.state.catalog, record) {
            self.salvage.lost(&table, format!("{what}{source}"));
        }
    }

    /// Applies the members of a unit one by one, so that a member whose table is lost does not stop the others.
    fn apply(&mut self, record: Record, position: u64) -> Result<()> {
        if let Record::Many(members) = record {
            let applied = members
                .into_iter()
                .map(|member| self.apply(member, position));
            return applied.fold(Ok(()), Result::and);
        }
        let record = self.fitted(record, position)?;
        let applied = self
            .state
            .apply(&record, position, &mut Prepared::default());
        if applied.is_err() {
            self.lose(&record, "");
        }
        applied.map(drop)
    }

    /// Fits a record to a state that lacks the effects of lost records. Row numbers of lost rows are skipped. A document replaces
    /// an earlier document of its id, whose deletion is lost.
    fn fitted(&mut self, mut record: Record, position: u64) -> Result<Record> {
        if let Record::Queue(QueueRecord::Rows {
            table, first_row, ..
        }) = record
        {
            self.skip_rows(table, first_row, position);
        }
        if let Record::Documents(documents) = &mut record
            && let Some(search) = self.state.searches.get(&documents.table)
            && position > search.folded
        {
            for document in &mut documents.documents {
                let held = search.table.contains(document.id);
                document.replaces |= held.map_err(failure::of_index)?;
            }
        }
        if let Record::Documents(documents) | Record::Hits(documents) = &record {
            for hits in &documents.hits {
                self.skip_rows(hits.queue, hits.first_row, position);
            }
        }
        Ok(record)
    }

    fn skip_rows(&mut self, table: TableId, first_row: RowNumber, position: u64) {
        let Some(queue) = self.state.queues.get_mut(&table) else {
            return;
        };
        let next = queue.backlog.next();
        if position > queue.folded.position && next < first_row {
            queue.backlog.skip_to(first_row);
            self.gaps
                .entry(table)
                .or_default()
                .push(next.0..first_row.0);
        }
    }
}
