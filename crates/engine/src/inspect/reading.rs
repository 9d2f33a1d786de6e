//! The reading of a whole data directory, as far as it can be read: the base of check, dump and repair.

use std::sync::Arc;

use disk::Disk;
use journal::Survey;
use relation::row::encode;

use super::{Fault, Loss, replay};
use crate::engine::{JOURNAL_DIR, check_new};
use crate::error::{Error, Result};
use crate::failure;
use crate::manifest;
use crate::open::describe;
use crate::open::salvage::Salvage;
use crate::record::{Document, Documents, QueueRecord, Record};
use crate::state::{Prepared, State};

/// A data directory that was read, with the damage that was found.
pub(super) struct Reading {
    pub(super) state: State,
    pub(super) journal: Survey,
    pub(super) faults: Vec<Fault>,
    pub(super) losses: Vec<Loss>,
    pub(super) left_out: Vec<String>,
    /// Documents that were saved from damaged segments.
    pub(super) documents_saved: u64,
}

impl Reading {
    /// Reads everything, and every byte of it that has a checksum. The disk is changed as recovery changes it.
    ///
    /// # Errors
    /// Where there is no data directory, its manifest cannot be read, a newer version wrote it, or the device fails.
    pub(super) fn of(disk: &Arc<dyn Disk>, progress: &mut dyn FnMut(&str)) -> Result<Reading> {
        let mut salvage = Salvage::new(progress);
        (salvage.progress)(manifest::PATH);
        let opened = manifest::open_with(disk, Some(&mut salvage))?;
        let Some(mut state) = opened else {
            check_new(&**disk)?;
            return Err(Error::invalid("no data directory: there is no manifest"));
        };
        let known_synced = state.position;
        let documents_saved = salvage.documents.len() as u64;
        store_again(&mut state, &mut salvage)?;
        (salvage.progress)(JOURNAL_DIR);
        let journal = replay::replay(&mut state, &mut salvage, known_synced)?;
        // After the replay: rows that a record removed or stored again are not lost.
        read_rows(&mut state, &mut salvage)?;
        name_documents(&state, &mut salvage)?;
        name_queries(&mut state, &mut salvage);
        Ok(Reading {
            state,
            journal,
            faults: salvage.faults,
            losses: without_repetition(salvage.losses),
            left_out: salvage.left_out,
            documents_saved,
        })
    }
}

/// Each loss once: the rows of a record that could not be applied may be noted as a gap in a queue's numbers, too.
fn without_repetition(losses: Vec<Loss>) -> Vec<Loss> {
    let mut seen = std::collections::BTreeSet::new();
    let first = losses.into_iter().filter(|loss| seen.insert(loss.clone()));
    first.collect()
}

/// Reads every row of every queue. Removes the rows that cannot be read, and notes them as lost.
fn read_rows(state: &mut State, salvage: &mut Salvage<'_>) -> Result<()> {
    for table in state.queues.keys() {
        let Some(queue) = state.queues.get(&table) else {
            continue;
        };
        let name = queue.name().to_owned();
        let files: Vec<String> = queue
            .backlog
            .files()
            .map(|(file, _)| file.path().to_owned())
            .collect();
        if let Some(last) = files.last() {
            (salvage.progress)(last);
        }
        let mut lost = Vec::new();
        for row in queue.backlog.rows() {
            if let Err(error) = queue.values(row) {
                salvage.note(error.into(), "")?;
                lost.push(row);
            }
        }
        if lost.is_empty() {
            continue;
        }
        let position = queue.folded.position + 1; // a queue skips records up to its checkpoint
        let before = state.position;
        let rows = lost.clone();
        let gone = Record::Queue(QueueRecord::RemoveRows { table, rows });
        state.apply(&gone, position, &mut Prepared::default())?;
        state.position = before;
        salvage.lost(
            &name,
            format!(
                "queue rows {}",
                describe::ranges(lost.iter().map(|row| row.0))
            ),
        );
    }
    Ok(())
}

/// Notes the documents of damaged segments as lost that could not be read, and that no later record stored again.
fn name_documents(state: &State, salvage: &mut Salvage<'_>) -> Result<()> {
    for (table, mut ids) in std::mem::take(&mut salvage.documents_lost) {
        let Some(search) = state.searches.get(&table) else {
            continue; // dropped since
        };
        let name = search.definition.name.clone();
        let mut failed = None;
        ids.retain(|id| match search.table.contains(*id) {
            Ok(is_there) => !is_there,
            Err(error) => {
                failed.get_or_insert(error);
                true
            }
        });
        if let Some(error) = failed {
            return Err(failure::of_index(error));
        }
        if !ids.is_empty() {
            salvage.lost(&name, format!("documents {}", describe::ranges(ids)));
        }
    }
    Ok(())
}

/// Notes the standing queries of damaged blocks as lost that no later record stored again or deleted.
fn name_queries(state: &mut State, salvage: &mut Salvage<'_>) {
    for pq in state.percolates.values_mut() {
        let ids = pq.give_up_lost();
        if !ids.is_empty() {
            let what = format!("standing queries {}", describe::ranges(ids));
            salvage.lost(&pq.definition.name, what);
        }
    }
}

/// Puts the documents of damaged segments into the tails of their tables. The record has no hits, so they reach no pq table.
fn store_again(state: &mut State, salvage: &mut Salvage<'_>) -> Result<()> {
    for (table, id, row) in std::mem::take(&mut salvage.documents) {
        let Some(search) = state.searches.get(&table) else {
            continue;
        };
        let failed = failure::of_index;
        if search.table.contains(id).map_err(failed)? {
            continue;
        }
        let position = search.folded + 1; // a search table skips records up to its checkpoint
        let record = Record::Documents(Documents {
            table,
            documents: vec![Document {
                id,
                replaces: false,
                row: encode(&row),
            }],
            hits: Vec::new(),
            counts: Vec::new(),
        });
        let before = state.position;
        state.apply(&record, position, &mut Prepared::default())?;
        state.position = before;
    }
    Ok(())
}
