//! INSERT into a queue: relayed rows and keys within a window are taken once.

use queue::Queue;
use relation::request::Insert;
use relation::row::counted_bytes;
use relation::value::Value;
use rustc_hash::FxHashSet;

use crate::catalog::TableId;
use crate::command::{Reply, SourceMode};
use crate::decide::rows::{Plan, absent_in_queue};
use crate::decide::{Circumstances, Decision};
use crate::error::{Error, Result};
use crate::limits::{QUEUE_ROW_BYTES_MAX, UNIQUE_KEYS_MAX};
use crate::record::{QueueRecord, Record};
use crate::sessions::Relay;
use crate::state::State;

/// Decides an INSERT into a queue.
pub(super) fn queue_rows(
    state: &State,
    around: Circumstances,
    table: TableId,
    insert: Insert,
    relay: Option<Relay>,
) -> Result<Decision> {
    let Some(queue) = state.queues.get(&table) else {
        return Err(Error::NoSuchTable(insert.table));
    };
    let plan = Plan::new(
        queue.name(),
        queue.columns(),
        false,
        insert.columns.as_deref(),
    )?;
    let at_us = queue
        .options()
        .unique_by
        .as_ref()
        .map(|_| around.now.unix_us);
    // Keys that are older than the window go with the record of this insert.
    let room = at_us.map_or(0, |at_us| queue.seen.bytes_until(window(queue, at_us)));
    let around = Circumstances {
        memory_left: around.memory_left + room,
        ..around
    };
    let mut rows = stored(queue, around, &plan, insert.rows)?;
    let given = rows.len();
    if let Some(at_us) = at_us {
        rows = unseen(queue, rows, at_us)?;
    }
    let reply = Reply::affected(rows.len() as u64);
    if relay.is_some_and(|relay| was_received(queue, relay)) {
        return Ok(Decision::nothing(Reply::affected(given as u64))); // it was done before; the sender was not told
    }
    let relayed = relay.map(|relay| (relay.sender, relay.row));
    if rows.is_empty() && relayed.is_none() {
        return Ok(Decision::nothing(reply));
    }
    Ok(Decision::of(
        Record::Queue(QueueRecord::Rows {
            table,
            first_row: queue.backlog.next(),
            rows,
            relayed,
            at_us,
        }),
        reply,
    ))
}

/// The rows as the queue stores them.
fn stored(
    queue: &Queue,
    around: Circumstances,
    plan: &Plan,
    given: Vec<Vec<Value>>,
) -> Result<Vec<Vec<Value>>> {
    let several = given.len() > 1;
    let mut bytes = 0;
    let mut rows = Vec::with_capacity(given.len());
    for (place, mut values) in given.into_iter().enumerate() {
        let row = plan.row(queue.columns(), &mut values, place + 1, absent_in_queue)?;
        if counted_bytes(&row) > QUEUE_ROW_BYTES_MAX as u64 {
            let what = "bytes of a row";
            let max = QUEUE_ROW_BYTES_MAX as u64;
            return Err(Error::Limit { what, max }.at_row(several, place + 1));
        }
        // Defaults make many times of what was sent: counted before the next row is made.
        bytes += counted_bytes(&row);
        around.check_memory(bytes)?;
        rows.push(row);
    }
    Ok(rows)
}

/// Whether rows that a sender relays were received before.
fn was_received(queue: &Queue, relay: Relay) -> bool {
    let last = queue.received.get(usize::from(relay.sender));
    relay.mode == SourceMode::Append && last.is_some_and(|last| relay.row <= *last)
}

/// Since when a key counts as seen.
fn window(queue: &Queue, at_us: i64) -> i64 {
    let window_us = i64::try_from(queue.options().unique_for_us.unwrap_or(0)).unwrap_or(i64::MAX);
    at_us.saturating_sub(window_us)
}

/// The rows whose key was not inserted within the window, neither before nor earlier among them.
fn unseen(queue: &Queue, rows: Vec<Vec<Value>>, at_us: i64) -> Result<Vec<Vec<Value>>> {
    let since_us = window(queue, at_us);
    let keys = queue.unique_keys(&rows);
    let mut new = FxHashSet::default();
    let is_new = |key: &Option<Vec<u8>>| match key {
        None => true,
        Some(key) => !queue.seen.is_after(key, since_us) && new.insert(key.clone()),
    };
    let wanted: Vec<bool> = keys.iter().map(is_new).collect();
    if queue.seen.count_after(since_us) + new.len() > UNIQUE_KEYS_MAX {
        return Err(Error::Limit {
            what: "keys of unique_by= within its window",
            max: UNIQUE_KEYS_MAX as u64,
        });
    }
    let rows = rows.into_iter().zip(wanted);
    Ok(rows
        .filter_map(|(row, wanted)| wanted.then_some(row))
        .collect())
}
