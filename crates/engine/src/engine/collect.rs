//! Commands of the collector: messages on their way into the journal, and how far its stores are.

use std::sync::Arc;

use super::Engine;
use crate::command::{CursorChange, Feed, Reply};
use crate::error::{Error, Result};
use crate::messages::Messages;
use crate::record::Record;
use crate::state::Prepared;
use crate::sync_mode::SyncMode;

impl Engine {
    /// Messages of one call and their rows become one record. The reply goes after the sync that `sync` asks for, at most the
    /// server's, or that the strictest table asks for.
    ///
    /// # Errors
    /// `Overloaded` where the messages that the collector has not noted would take more than their bound, which is
    /// [`super::Options::collected_bytes_max`] and at most a quarter of the memory; one call above the bound is taken while none
    /// waits. `InMany` for rows that a table refuses. `DiskFull`; `Limit` for a record that is too long.
    pub(super) fn collect(
        &mut self,
        messages: Messages,
        sync: Option<SyncMode>,
        feeds: Vec<Feed>,
    ) -> Result<Reply> {
        let count = messages.count();
        if count == 0 && feeds.is_empty() {
            return Ok(Reply::done());
        }
        let waiting = self.state.collected.above_bytes();
        let max = self.options.collected_bytes_max;
        if count > 0
            && waiting > 0
            && waiting + messages.bytes() > max.min(self.options.memory_bytes / 4)
        {
            return Err(Error::Overloaded);
        }
        let asked = sync.unwrap_or(self.options.sync).max(self.options.sync);
        let messages = (count > 0).then(|| Arc::new(messages));
        if !feeds.is_empty() {
            let messages = messages.map(|messages| (vec![Record::Messages(messages)], asked));
            self.unit(feeds, Engine::decide_feed, messages)?;
        } else if let Some(messages) = messages {
            let record = Record::Messages(messages);
            let position = self.admit_with(&record, false, asked)?;
            self.apply(&record, position, Prepared::default())?;
        }
        self.status.messages_total += count;
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
        self.has_new_note = true;
        Ok(Reply::done())
    }

    /// Whether a manifest is to say how far the collector is, so that the journal can drop what was collected.
    pub(super) fn is_note_due(&self) -> bool {
        let since_manifest = self.appended_bytes() - self.manifest_at_bytes;
        self.has_new_note
            && (self.journal_full || since_manifest > self.options.journal_segment_bytes)
    }

    /// Bytes that this engine has appended to the journal, about: each frame is padded to whole pages, so a small call takes a
    /// page.
    pub(super) fn appended_bytes(&self) -> u64 {
        const PAGE_BYTES: u64 = 4096;
        let frames = self.journal.log().status().frame_count;
        self.status.record_bytes_total + frames * PAGE_BYTES
    }
}
