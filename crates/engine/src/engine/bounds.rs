//! `rows_max=`, `bytes_max=`: a full queue refuses new rows, or drops its oldest free rows (`when_full='drop_oldest'`).
//!
//! `decide_write` hands each decision of a command to `bounded`. The removal of the dropped rows and the new rows are one record,
//! so a crash leaves both or neither.

use std::collections::BTreeMap;

use queue::{Queue, RowNumber};
use relation::row::counted_bytes;

use super::Engine;
use crate::catalog::TableId;
use crate::command::WhenFull;
use crate::decide::Decision;
use crate::error::{Error, Result};
use crate::record::{QueueRecord, Record};

/// Bytes counted for a row that is a hit: its document and its query are shared with other rows.
const HIT_BYTES: u64 = 64;

/// Rows and bytes that come into a queue.
#[derive(Clone, Copy, Default)]
struct Coming {
    rows: u64,
    bytes: u64,
}

impl Engine {
    /// Refuses a decision that would fill a queue above its bounds, or adds the removal of the queue's oldest free rows to it.
    ///
    /// Errors: `QueueFull`, also with `drop_oldest` if too few rows are free.
    pub(super) fn bounded(&mut self, mut decision: Decision) -> Result<Decision> {
        let Some(record) = &decision.record else {
            return Ok(decision);
        };
        if !self.state.queues.any_bounded() {
            return Ok(decision);
        }
        let mut coming = BTreeMap::new();
        count(record, &mut coming);
        let mut dropped = Vec::new();
        for (table, coming) in coming {
            if let Some(queue) = self.state.queues.get_mut(&table) {
                let rows = oldest(queue, coming)?;
                if !rows.is_empty() {
                    self.status.queue_dropped_total += rows.len() as u64;
                    dropped.push(Record::Queue(QueueRecord::RemoveRows { table, rows }));
                }
            }
        }
        if dropped.is_empty() {
            return Ok(decision);
        }
        decision.record = Record::unit(decision.record.into_iter().chain(dropped));
        Ok(decision)
    }
}

/// Adds up the rows and bytes that a record puts into each queue.
fn count(record: &Record, coming: &mut BTreeMap<TableId, Coming>) {
    match record {
        Record::Queue(QueueRecord::Rows { table, rows, .. }) => {
            let coming = coming.entry(*table).or_default();
            coming.rows += rows.len() as u64;
            coming.bytes += rows.iter().map(|row| counted_bytes(row)).sum::<u64>();
        }
        Record::Documents(documents) | Record::Hits(documents) => {
            for hits in &documents.hits {
                let coming = coming.entry(hits.queue).or_default();
                coming.rows += hits.rows();
                coming.bytes += hits.rows() * HIT_BYTES;
            }
        }
        Record::Many(members) => members.iter().for_each(|member| count(member, coming)),
        Record::Catalog(_)
        | Record::Queue(
            QueueRecord::RemoveRows { .. }
            | QueueRecord::Alter { .. }
            | QueueRecord::Clear { .. }
            | QueueRecord::Pause { .. }
            | QueueRecord::Returned { .. }
            | QueueRecord::Done { .. },
        )
        | Record::DeleteDocuments { .. }
        | Record::Update { .. }
        | Record::Queries { .. }
        | Record::DeleteQueries { .. }
        | Record::Retire { .. }
        | Record::RetireSegments { .. }
        | Record::Load { .. }
        | Record::Messages(_)
        | Record::Collected { .. } => {}
    }
}

/// The rows that must go before `coming` fits, oldest first; empty if there is room. An excess of bytes is turned into rows by
/// the average size of the queue's rows.
fn oldest(queue: &mut Queue, coming: Coming) -> Result<Vec<RowNumber>> {
    let options = queue.options();
    let rows = queue.backlog.len();
    let over = |now: u64, coming: u64, max: Option<u64>| {
        max.map_or(0, |max| (now + coming).saturating_sub(max))
    };
    let mut goes = over(rows, coming.rows, options.rows_max);
    if options.bytes_max.is_some() {
        let (total, removed) = queue.backlog.stored_bytes();
        let bytes = total - removed;
        let excess = over(bytes, coming.bytes, options.bytes_max);
        let each = (bytes / rows.max(1)).max(1);
        goes = goes.max(excess.div_ceil(each));
    }
    if goes == 0 {
        return Ok(Vec::new());
    }
    let full = Error::QueueFull {
        queue: queue.name().to_owned(),
    };
    if options.when_full == WhenFull::Refuse {
        return Err(full);
    }
    let goes = usize::try_from(goes).unwrap_or(usize::MAX);
    let oldest = queue.oldest_free(goes);
    match oldest.len() == goes {
        true => Ok(oldest),
        false => Err(full), // the other rows are held, or the new rows alone exceed the bound
    }
}
