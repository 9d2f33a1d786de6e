//! Commands of the collector: messages on their way into the journal, and how far its stores are.

use std::sync::Arc;

use super::Engine;
use crate::command::{CursorChange, Reply};
use crate::error::{Error, Result};
use crate::messages::Messages;
use crate::record::Record;
use crate::state::Prepared;
use crate::sync_mode::SyncMode;

impl Engine {
    /// Messages of one call become one record. The reply goes after the sync that `sync` asks for, at most the server's.
    ///
    /// # Errors
    /// `Overloaded` while the messages that the collector has not noted take [`super::Options::collected_bytes_max`]; `DiskFull`;
    /// `Limit` for a record that is too long.
    pub(super) fn collect(&mut self, messages: Messages, sync: Option<SyncMode>) -> Result<Reply> {
        if messages.count() == 0 {
            return Ok(Reply::done());
        }
        if self.state.collected.above_bytes() + messages.bytes() > self.options.collected_bytes_max
        {
            return Err(Error::Overloaded);
        }
        self.status.messages_total += messages.count();
        let record = Record::Messages(Arc::new(messages));
        let asked = sync.unwrap_or(self.options.sync).max(self.options.sync);
        let position = self.admit_with(&record, false, asked)?;
        self.apply(&record, position, Prepared::default())?;
        Ok(Reply::done())
    }

    /// The collector's stores and spools have everything up to a position. The reply goes after a sync, whatever the server's
    /// mode: the collector then removes spools that the cursors no longer name.
    ///
    /// # Errors
    /// As `Collected::check`; `DiskFull`.
    pub(super) fn collected(&mut self, upto: u64, cursors: Vec<CursorChange>) -> Result<Reply> {
        self.state
            .collected
            .check(upto, &cursors, self.state.position)?;
        let record = Record::Collected { upto, cursors };
        let position = self.admit_with(&record, true, SyncMode::Always)?;
        self.apply(&record, position, Prepared::default())?;
        let since_manifest = self.status.record_bytes_total - self.noted_at_bytes;
        if since_manifest > self.options.journal_segment_bytes {
            self.noted_at_bytes = self.status.record_bytes_total;
            self.is_manifest_due = true; // it lets the journal drop what was collected
        }
        Ok(Reply::done())
    }
}
