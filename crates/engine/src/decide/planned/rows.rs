//! DELETE from a queue: rows never change, so that only new ones are looked at again. Who holds a row is asked at the decision.
//!
//! Rows that the session's own transaction has put have no numbers of their own before COMMIT ([`Queue::unit_from`]). A plan passes
//! over them, and the decision looks at them as at new ones.
//!
//! Example: `DELETE FROM jobs WHERE host = 'a' LIMIT 1`. The plan has rows 3 and 7, and no other row fits. Row 3 was held then. Since
//! then row 7 was taken, row 3 came back, and row 9 was inserted. Row 3 is deleted.

use std::collections::BTreeSet;
use std::sync::Arc;

use index::Control;
use language::meter::{Meter, Unmetered};
use queue::{Queue, QueueSnapshot, RowNumber};
use relation::request::Delete;
use relation::rows::{Best, Order};
use relation::value::Value;

use super::Outcome;
use crate::catalog::TableId;
use crate::decide::Workspace;
use crate::decide::delete::{Keyed, choose_rows, of_rows, order_of};
use crate::error::Result;
use crate::failure;
use crate::limits::SPARE_ROWS;
use crate::planned::{Found, FoundRows, Planned};
use crate::sessions::Owned;
use crate::state::State;

/// Memory of a chosen row beside its keys, in bytes.
const CHOSEN_ROW_BYTES: u64 = 32;

/// Chooses the rows of a DELETE, those that are held too. `owned`: only these, of a session in owner mode. `before`: an earlier
/// plan, to which newer rows are added. `below`: only rows of lower numbers.
pub(super) fn rows_anew(
    (snapshot, below): (&QueueSnapshot, RowNumber),
    owned: Option<Vec<RowNumber>>,
    delete: &Delete,
    before: Option<&Planned>,
    control: &Control,
) -> Result<Found> {
    let reader = snapshot.rows();
    let order = order_of(reader, delete)?;
    let is_owner = owned.is_some();
    let before = match before.map(|plan| &plan.0.found) {
        Some(Found::Rows(found)) if found.is_whole && !is_owner => Some(found),
        _ => None,
    };
    let mut chosen: Vec<Keyed> = before.map(planned_rows).into_iter().flatten().collect();
    let from = before.map_or(RowNumber(0), |found| found.next);
    let rows: Box<dyn Iterator<Item = RowNumber>> = match owned {
        Some(owned) => Box::new(owned.into_iter()),
        None => Box::new(snapshot.rows_from(from).take_while(move |row| *row < below)),
    };
    // LIMIT alone ends at the rows that it takes and some more; with an order any row may be the first.
    let most = delete.limit.map(|limit| limit.saturating_add(SPARE_ROWS));
    let most = most.filter(|_| before.is_none() && order.is_empty());
    let (mut free, mut is_whole) = (0, true);
    choose_rows(reader, delete, rows, control, &mut |row| {
        let keys: usize = row.keys.iter().map(Value::memory).sum();
        control.memory.take(CHOSEN_ROW_BYTES + keys as u64)?;
        free += u64::from(is_owner || snapshot.is_free(row.row));
        chosen.push(row);
        is_whole = most.is_none_or(|most| free < most);
        Ok(is_whole)
    })?;
    if delete.limit.is_some() && !order.is_empty() {
        chosen = in_order(&order, chosen, &*control.interrupt);
        control.check().map_err(failure::of_index)?;
    }
    Ok(Found::Rows(FoundRows {
        next: snapshot.next().min(below),
        rows: chosen.into_iter().map(|row| (row.row, row.keys)).collect(),
        is_whole,
        is_owner,
    }))
}

fn planned_rows(found: &FoundRows) -> impl Iterator<Item = Keyed> + '_ {
    found.rows.iter().map(|(row, keys)| Keyed {
        row: *row,
        keys: keys.clone(),
    })
}

/// Rows in the order of a DELETE; none, once the meter has stopped.
fn in_order(order: &Arc<Order>, rows: Vec<Keyed>, meter: &dyn Meter) -> Vec<Keyed> {
    let mut best = Best::new(Arc::clone(order), None);
    for row in rows {
        best.offer(row, meter);
    }
    best.into_sorted(0, meter).unwrap_or_default()
}

/// Decides a planned DELETE from a queue. `most`: new rows to look at.
pub(super) fn rows_now(
    state: &State,
    work: &mut Workspace,
    (table, owner, most): (TableId, Option<&Owned>, usize),
    delete: &Delete,
    found: &FoundRows,
) -> Result<Outcome> {
    let queue = state.queues.get(&table);
    let Some(queue) = queue.filter(|_| owner.is_some() == found.is_owner) else {
        return Ok(Outcome::Useless);
    };
    let fresh = queue.backlog.rows_from(found.next);
    let fresh = fresh.filter(|_| !found.is_owner);
    let fresh: Vec<RowNumber> = fresh.take(most + 1).collect();
    let fit = match (fresh.is_empty(), fresh.len() <= most) {
        (true, _) => Some(Vec::new()),
        (false, false) => None,
        (false, true) => work.within_budget(|control| {
            let mut fit = Vec::new();
            let fresh = fresh.into_iter();
            choose_rows(queue.rows(), delete, fresh, control, &mut |row| {
                fit.push(row);
                Ok(true)
            })?;
            Ok(fit)
        })?,
    };
    let Some(fit) = fit else {
        return Ok(Outcome::Changed(Vec::new()));
    };
    let chosen = merged(queue, delete, found, fit)?;
    let owned = owner.map(|owned| {
        let owned = queue.visible_rows(Some(owned.rows_of(table)));
        owned.collect::<BTreeSet<RowNumber>>()
    });
    let visible = chosen.into_iter().filter(|row| match &owned {
        Some(owned) => owned.contains(row),
        None => queue.is_free(*row),
    });
    let limit = delete.limit.and_then(|limit| usize::try_from(limit).ok());
    let limit = limit.unwrap_or(usize::MAX);
    let rows: Vec<RowNumber> = visible.take(limit).collect();
    Ok(match found.is_whole || rows.len() == limit {
        true => Outcome::Decided(Box::new(of_rows(table, rows))),
        false => Outcome::Useless,
    })
}

/// The rows of a plan and those that were inserted since, in the order in which LIMIT takes them.
fn merged(
    queue: &Queue,
    delete: &Delete,
    found: &FoundRows,
    fit: Vec<Keyed>,
) -> Result<Vec<RowNumber>> {
    let order = order_of(queue.rows(), delete)?;
    let rows: Vec<Keyed> = match (delete.limit.is_some() && !order.is_empty(), fit.is_empty()) {
        (true, false) => in_order(&order, planned_rows(found).chain(fit).collect(), &Unmetered),
        // A newer row has a higher number. Behind a plan that is not whole, others come first.
        _ => {
            let fit = fit.into_iter().filter(|_| found.is_whole);
            planned_rows(found).chain(fit).collect()
        }
    };
    Ok(rows.into_iter().map(|row| row.row).collect())
}
