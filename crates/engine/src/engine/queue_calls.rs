//! Commands about one queue as a whole: `queue_rowid`, `queue_set_srcid`, `queue_stats`, `queue_compact`.

use queue::{Queue, SENDERS};
use relation::request::Insert;

use super::Engine;
use super::waits::not_a_queue;
use crate::catalog::TableId;
use crate::command::{Reply, SessionId, SourceMode, Write};
use crate::error::{Error, Result};
use crate::sessions::Relay;

impl Engine {
    /// `queue_rowid()`.
    pub(super) fn row_id(&self, session: SessionId) -> Result<Reply> {
        if self.sessions.owner(session).is_none() {
            return Err(Error::NotOwner {
                function: "queue_rowid",
            });
        }
        let owned = self.sessions.owned_rows(&self.state, session);
        let first = owned.and_then(|(_, _, rows)| rows.first().copied());
        Ok(Reply::RowId(first))
    }

    /// `queue_set_srcid()`.
    pub(super) fn set_source(
        &mut self,
        session: SessionId,
        sender: u8,
        mode: SourceMode,
        row: u64,
    ) -> Result<Reply> {
        if usize::from(sender) >= SENDERS {
            return Err(Error::invalid(format!(
                "queue_set_srcid(): sender {sender} is not one of 0 to {}",
                SENDERS - 1
            )));
        }
        self.sessions
            .set_relay(session, Relay { sender, mode, row });
        Ok(Reply::done())
    }

    /// INSERT or REPLACE; into a queue with what `queue_set_srcid` said of it.
    pub(super) fn insert(&mut self, session: SessionId, insert: Insert) -> Result<Reply> {
        let relay = self.sessions.relay(session);
        let into_queue = relay.is_some() && self.queue_of(&insert.table).is_ok();
        let given = insert.rows.len() as u64;
        let decision = self.decide_write(session, Write::Insert(insert), relay)?;
        let reply = self.commit(decision)?;
        if into_queue {
            self.sessions.relayed(session);
        }
        if let Reply::Done { affected, .. } = &reply {
            self.status.queue_duplicates_total += given.saturating_sub(*affected);
        }
        Ok(reply)
    }

    /// `queue_stats()`.
    pub(super) fn queue_stats(&self, table: &str) -> Result<Reply> {
        let (_, queue) = self.queue_of(table)?;
        Ok(Reply::QueueStats(queue.stats()))
    }

    /// `queue_compact()`: the rows in memory go to a file at the end of this turn, as far as no fold of them runs.
    pub(super) fn queue_compact(&mut self, table: &str) -> Result<Reply> {
        let (table, _) = self.queue_of(table)?;
        self.wanted_folds.insert(table);
        Ok(Reply::done())
    }

    /// The queue of that name.
    pub(super) fn queue_of(&self, table: &str) -> Result<(TableId, &Queue)> {
        let found = self.state.catalog.find(table)?;
        let queue = self.state.queues.get(&found);
        Ok((found, queue.ok_or_else(|| not_a_queue(table))?))
    }
}
