//! Rows that workers hold: they are ended, given back, held for longer, or come back when their lease is over.

use std::collections::BTreeMap;

use queue::{Holder, Queue, RowNumber};

use super::{Engine, is_fatal};
use crate::catalog::TableId;
use crate::command::{Issuer, Receipt, Reply, SessionId};
use crate::decide::Decision;
use crate::error::{Error, Result};
use crate::limits::{RECEIPTS_MAX, TRANSACTION_US_MAX, WAIT_US_MAX};
use crate::record::{QueueRecord, Record};

/// Rows by queue and lane.
type ByLane = BTreeMap<(TableId, usize), Vec<RowNumber>>;

impl Engine {
    /// `QUEUE_DONE` of receipts.
    pub(super) fn queue_done(&mut self, receipts: &[Receipt]) -> Result<Reply> {
        let held = self.held(receipts)?;
        let affected = held.values().map(Vec::len).sum::<usize>() as u64;
        self.end_rows(held)?;
        Ok(Reply::affected(affected))
    }

    /// Gives deliveries back, not before a delay.
    pub(super) fn queue_return(&mut self, receipts: &[Receipt], delay_us: u64) -> Result<Reply> {
        check_time(delay_us)?;
        let not_before_us = match delay_us {
            0 => 0,
            _ => self.now.unix_us.saturating_add_unsigned(delay_us),
        };
        let mut affected = 0;
        for ((table, lane), rows) in self.held(receipts)? {
            affected += self.return_rows(table, lane, &rows, not_before_us)?;
        }
        self.wake();
        Ok(Reply::affected(affected))
    }

    /// Holds deliveries for longer, or for shorter.
    pub(super) fn queue_extend(&mut self, receipts: &[Receipt], again_us: u64) -> Result<Reply> {
        check_time(again_us)?;
        let until_us = self.now.steady_us.saturating_add(again_us);
        let mut affected = 0;
        for ((table, lane), rows) in self.held(receipts)? {
            affected += rows.len() as u64;
            let queue = self.state.queues.get_mut(&table);
            if let Some(lane) = queue.and_then(|queue| queue.lanes.get_mut(lane)) {
                rows.iter().for_each(|row| lane.extend(*row, until_us));
            }
        }
        Ok(Reply::affected(affected))
    }

    /// The rows of receipts that are still held under their delivery, handed out by this engine from this table.
    pub(super) fn held(&self, receipts: &[Receipt]) -> Result<ByLane> {
        if receipts.len() > RECEIPTS_MAX {
            return Err(Error::Limit {
                what: "receipts at once",
                max: RECEIPTS_MAX as u64,
            });
        }
        let mut held = ByLane::new();
        for receipt in receipts {
            let (table, queue) = self.queue_of(&receipt.table)?;
            let issuer = Issuer {
                incarnation: self.options.incarnation,
                table: table.0,
            };
            if receipt.issuer != issuer {
                continue; // another start of the server counted its deliveries, or another table its rows
            }
            let lane = queue.lane_of(receipt.group.as_deref())?;
            let found = queue.lanes.get(lane);
            let found = found.and_then(|lane| lane.held().get(&receipt.row));
            let is_theirs = found.is_some_and(|found| {
                found.delivery == receipt.delivery && matches!(found.holder, Holder::Lease { .. })
            });
            if is_theirs && queue.is_owed(lane, receipt.row) {
                held.entry((table, lane)).or_default().push(receipt.row);
            }
        }
        for rows in held.values_mut() {
            rows.sort_unstable();
            rows.dedup();
        }
        Ok(held)
    }

    /// Deletes the rows that a session owns and those of receipts, in one record.
    pub(super) fn end_owned(&mut self, session: SessionId, receipts: &[Receipt]) -> Result<()> {
        let mut ended = self.held(receipts)?;
        if let Some((table, lane, rows)) = self.sessions.owned_rows(&self.state, session) {
            ended.entry((table, lane)).or_default().extend(rows);
        }
        self.end_rows(ended)
    }

    fn end_rows(&mut self, ended: ByLane) -> Result<()> {
        let records = ended.iter();
        let records = records.map(|((table, lane), rows)| self.ending(*table, *lane, rows.clone()));
        let Some(record) = Record::unit(records) else {
            return Ok(());
        };
        self.commit(Decision::giving_room(record, Reply::done()))?;
        for ((table, lane), rows) in ended {
            self.let_go(table, lane, &rows);
        }
        self.wake();
        Ok(())
    }

    pub(super) fn let_go(&mut self, table: TableId, lane: usize, rows: &[RowNumber]) {
        if let Some(queue) = self.state.queues.get_mut(&table) {
            rows.iter().for_each(|row| queue.let_go(lane, *row));
        }
    }

    /// What takes rows from a lane for good.
    pub(super) fn ending(&self, table: TableId, lane: usize, rows: Vec<RowNumber>) -> Record {
        let queue = self.state.queues.get(&table);
        match queue.is_some_and(|queue| !queue.options().groups.is_empty()) {
            true => Record::Queue(QueueRecord::Done {
                table,
                lane: lane as u32,
                rows,
            }),
            false => Record::Queue(QueueRecord::RemoveRows { table, rows }),
        }
    }

    /// Makes held rows free again, not before a time where one is given; those that were delivered too often go to the
    /// dead instead. Gives how many went back. The caller wakes the waiters.
    pub(super) fn return_rows(
        &mut self,
        table: TableId,
        lane: usize,
        rows: &[RowNumber],
        not_before_us: i64,
    ) -> Result<u64> {
        let Some(queue) = self.state.queues.get(&table) else {
            return Ok(0);
        };
        let deliveries_max = queue.options().max_deliveries;
        let (mut back, mut dead) = (Vec::new(), Vec::new());
        for &row in rows {
            let delivery = queue.delivery(lane, row);
            match deliveries_max {
                _ if !queue.is_owed(lane, row) => back.push((row, delivery)),
                Some(max) if delivery >= max => dead.push(row),
                _ => back.push((row, delivery)),
            }
        }
        let mut records = Vec::new();
        if not_before_us > 0 || deliveries_max.is_some() {
            let owed = back.iter().copied();
            let owed: Vec<_> = owed.filter(|(row, _)| queue.is_owed(lane, *row)).collect();
            records.extend(
                (!owed.is_empty()).then_some(Record::Queue(QueueRecord::Returned {
                    table,
                    lane: lane as u32,
                    rows: owed,
                    not_before_us,
                })),
            );
        }
        if !dead.is_empty() {
            records.extend(self.burial(queue, &dead)?);
            records.push(self.ending(table, lane, dead.clone()));
        }
        if let Some(record) = Record::unit(records) {
            match self.commit(Decision::giving_room(record, Reply::done())) {
                Err(error) if is_fatal(&error) => return Err(error),
                // No room for it: the rows go back all the same, and what is not written is forgotten by a restart.
                Err(_) => back.extend(dead.drain(..).map(|row| (row, 0))),
                Ok(_) => self.status.queue_dead_total += dead.len() as u64,
            }
        }
        self.let_go(table, lane, &dead);
        let (mut went_back, now) = (0, self.now);
        if let Some(queue) = self.state.queues.get_mut(&table) {
            for (row, _) in back {
                went_back += u64::from(queue.give_back(lane, row, now));
            }
        }
        self.state.freed.insert(table);
        Ok(went_back)
    }

    /// Rows as the queue of the dead takes them; nothing where there is none.
    fn burial(&self, queue: &Queue, rows: &[RowNumber]) -> Result<Option<Record>> {
        let Some(name) = &queue.options().dead else {
            return Ok(None);
        };
        let (table, dead) = self.queue_of(name)?;
        let mut buried = Vec::with_capacity(rows.len());
        for row in rows {
            let values = queue.values(*row)?.unwrap_or_default();
            buried.push(super::alter::by_name(
                queue.columns(),
                values,
                dead.columns(),
            ));
        }
        Ok(Some(Record::Queue(QueueRecord::Rows {
            table,
            first_row: dead.backlog.next(),
            rows: buried,
            relayed: None,
            at_us: None,
        })))
    }

    /// Gives back the rows whose lease is over, and opens those whose time has come.
    pub(super) fn return_due_rows(&mut self) -> Result<()> {
        let now = self.now;
        for table in self.state.timed.iter().copied().collect::<Vec<_>>() {
            let Some(queue) = self.state.queues.get(&table) else {
                self.state.timed.remove(&table);
                continue;
            };
            if queue
                .next_timer_us(now)
                .is_some_and(|next| next > now.steady_us)
            {
                continue;
            }
            for (lane, rows) in queue.expired(now) {
                let went_back = self.return_rows(table, lane, &rows, 0)?;
                self.status.queue_lapsed_total += went_back;
            }
            if let Some(queue) = self.state.queues.get_mut(&table) {
                if queue.open_due(now) {
                    self.state.freed.insert(table);
                }
                if queue.next_timer_us(now).is_none() {
                    self.state.timed.remove(&table);
                }
            }
        }
        self.wake();
        Ok(())
    }

    /// When something is due on its own, on the steady clock.
    pub(super) fn next_timer_us(&self) -> Option<u64> {
        let timed = self.state.timed.iter();
        let queues = timed.filter_map(|table| self.state.queues.get(table));
        let transaction = self.sessions.transactions.oldest();
        let transaction =
            transaction.map(|(began_us, _)| began_us.saturating_add(TRANSACTION_US_MAX));
        queues
            .filter_map(|queue| queue.next_timer_us(self.now))
            .chain(transaction)
            .min()
    }
}

fn check_time(us: u64) -> Result<()> {
    if us > WAIT_US_MAX {
        return Err(Error::Limit {
            what: "seconds of a delay",
            max: WAIT_US_MAX / 1_000_000,
        });
    }
    Ok(())
}
