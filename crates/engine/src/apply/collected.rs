//! Collected messages in the state: how far the collector is, its cursors, and the messages beyond.
//!
//! # Example
//! The collector has noted position 40. Its cursor `mail` says where the spool of the category `mail` is read.
//!
//! | record | | noted | above it | cursors |
//! |---|---|---|---|---|
//! | 41 | `Messages`, 900 bytes | 40 | 41 | `mail` |
//! | 42 | a row of a queue | 40 | 41 | `mail` |
//! | 43 | `Messages`, 100 bytes | 40 | 41, 43 | `mail` |
//! | 44 | `Collected`: up to 42, `mail` is gone | 42 | 43 | |
//!
//! A start after record 44 gives the collector the cursors and the messages of record 43. The journal keeps record 43 until
//! another `Collected` covers it.
//!
//! # Invariants
//! - Positions above the noted one rise, and `above_bytes` is the sum of their bytes.
//! - The journal keeps each record above the noted position that holds messages. Without such a record, the noted position holds
//!   nothing back: a server that collects nothing trims its journal as ever.
//! - `fresh` holds the messages that `publish` has not handed to the collector yet. All of them are above the noted position.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use relation::codec::{Read, Reader, put_bytes, put_number};

use crate::command::CursorChange;
use crate::error::{Error, Result};
use crate::limits::{CURSOR_BYTES_MAX, CURSORS_BYTES_MAX};
use crate::messages::{Batch, Messages};

/// The collector's cursors: opaque values by name.
pub type Cursors = BTreeMap<Box<[u8]>, Box<[u8]>>;

/// What the state knows of collected messages.
#[derive(Default)]
pub(crate) struct Collected {
    /// Messages of records up to this position are with their stores or in spools.
    pub(crate) upto: u64,
    /// The collector's cursors.
    pub(crate) cursors: Cursors,
    /// The records of messages above `upto`.
    above: VecDeque<Above>,
    above_bytes: u64,
    above_count: u64,
    /// Position of the first record of messages above `upto`, as the manifest says it, until that record is read again.
    unread: Option<u64>,
    fresh: Vec<Batch>,
}

/// A record of messages that the collector has not noted.
struct Above {
    position: u64,
    bytes: u64,
    /// Number of its messages.
    count: u64,
}

impl Collected {
    /// Bytes of the messages that the collector has not noted.
    pub(crate) fn above_bytes(&self) -> u64 {
        self.above_bytes
    }

    /// Number of the messages that the collector has not noted.
    pub(crate) fn above_count(&self) -> u64 {
        self.above_count
    }

    /// The position up to which the journal may forget, as far as messages go; `None`: they hold nothing back.
    pub(crate) fn folded(&self) -> Option<u64> {
        let first = self.above.front().map(|record| record.position);
        first.or(self.unread).map(|position| position - 1)
    }

    /// Applies a record of messages. False: the collector has noted it.
    pub(crate) fn add(&mut self, messages: &Arc<Messages>, position: u64) -> bool {
        if position <= self.upto {
            return false;
        }
        self.unread = None;
        self.above.push_back(Above {
            position,
            bytes: messages.bytes(),
            count: messages.count(),
        });
        self.above_bytes += messages.bytes();
        self.above_count += messages.count();
        self.fresh.push(Batch {
            position,
            messages: Arc::clone(messages),
        });
        true
    }

    /// Applies a record of the collector's position. Always true: the state takes it.
    pub(crate) fn note(&mut self, upto: u64, changes: &[CursorChange]) -> bool {
        self.upto = self.upto.max(upto);
        self.unread = self.unread.filter(|position| *position > self.upto);
        while let Some(record) = self.above.front()
            && record.position <= self.upto
        {
            self.above_bytes -= record.bytes;
            self.above_count -= record.count;
            self.above.pop_front();
        }
        let upto = self.upto;
        self.fresh.retain(|batch| batch.position > upto);
        for (name, value) in changes {
            match value {
                Some(value) => self.cursors.insert(name.clone(), value.clone()),
                None => self.cursors.remove(name),
            };
        }
        true
    }

    /// Checks what the collector wants to note. `position`: of the last record.
    ///
    /// # Errors
    /// `Invalid` for a position that no record has; `Limit` for a cursor of more than [`CURSOR_BYTES_MAX`], and where all cursors
    /// would take more than [`CURSORS_BYTES_MAX`].
    pub(crate) fn check(&self, upto: u64, changes: &[CursorChange], position: u64) -> Result<()> {
        if upto > position {
            let what = format!("collected up to {upto}, but the journal ends at {position}");
            return Err(Error::Invalid { what });
        }
        let bytes = |name: &[u8], value: &[u8]| (name.len() + value.len()) as u64;
        let kept = self.cursors.iter().map(|(name, value)| bytes(name, value));
        let replaced = changes.iter().map(|(name, _)| {
            let before = self.cursors.get(name);
            before.map_or(0, |value| bytes(name, value))
        });
        let mut added = 0;
        for (name, value) in changes {
            let bytes = value.as_ref().map_or(0, |value| bytes(name, value));
            if bytes > CURSOR_BYTES_MAX {
                return Err(Error::Limit {
                    what: "bytes of a cursor",
                    max: CURSOR_BYTES_MAX,
                });
            }
            added += bytes;
        }
        if kept.sum::<u64>() + added > CURSORS_BYTES_MAX + replaced.sum::<u64>() {
            return Err(Error::Limit {
                what: "bytes of cursors",
                max: CURSORS_BYTES_MAX,
            });
        }
        Ok(())
    }

    /// Takes the messages that the collector has not been given, in order.
    pub(crate) fn take_fresh(&mut self) -> Vec<Batch> {
        std::mem::take(&mut self.fresh)
    }

    /// All messages above the noted position become one record at `position`; `None`: there are none. For a state that was read
    /// from the journal and has handed nothing over.
    pub(crate) fn keep_at(&mut self, position: u64) -> Option<Arc<Messages>> {
        let mut all = Messages::with_capacity(self.above_bytes as usize);
        for batch in self.take_fresh() {
            for run in batch.messages.runs() {
                run.bodies().for_each(|body| all.push(run.category, body));
            }
        }
        // A record that the manifest names and the journal has lost holds nothing back any more.
        (self.above, self.unread) = (VecDeque::new(), None);
        (self.above_bytes, self.above_count) = (0, 0);
        let all = Arc::new(all);
        (all.count() > 0 && self.add(&all, position)).then_some(all)
    }

    /// Appends position and cursors as a manifest holds them.
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_number(out, self.upto);
        put_number(out, self.folded().map_or(0, |folded| folded + 1));
        put_number(out, self.cursors.len() as u64);
        for (name, value) in &self.cursors {
            put_bytes(out, name);
            put_bytes(out, value);
        }
    }

    /// Reads what [`Collected::put`] wrote.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Read<Collected> {
        let mut collected = Collected {
            upto: reader.number()?,
            unread: Some(reader.number()?).filter(|position| *position > 0),
            ..Collected::default()
        };
        for _ in 0..reader.count()? {
            let name = reader.bytes()?.into();
            collected.cursors.insert(name, reader.bytes()?.into());
        }
        Ok(collected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(bytes: usize) -> Arc<Messages> {
        let mut messages = Messages::default();
        messages.push(b"web", &vec![b'x'; bytes]);
        Arc::new(messages)
    }

    #[test]
    fn noted_messages_free_their_bytes_and_hold_the_journal_no_more() {
        let mut collected = Collected::default();
        let bytes = messages(100).bytes();
        assert_eq!(collected.folded(), None);
        assert!(collected.add(&messages(100), 41));
        assert!(collected.add(&messages(100), 43));
        assert_eq!(
            (collected.folded(), collected.above_bytes()),
            (Some(40), 2 * bytes)
        );
        collected.note(42, &[(b"mail"[..].into(), Some(b"7"[..].into()))]);
        assert_eq!(
            (collected.folded(), collected.above_bytes()),
            (Some(42), bytes)
        );
        assert!(
            !collected.add(&messages(100), 42),
            "a record that was noted"
        );
        let fresh: Vec<u64> = collected
            .take_fresh()
            .iter()
            .map(|batch| batch.position)
            .collect();
        assert_eq!(fresh, [43]);
        collected.note(43, &[(b"mail"[..].into(), None)]);
        assert_eq!((collected.folded(), collected.above_bytes()), (None, 0));
        assert!(collected.cursors.is_empty());
    }

    #[test]
    fn a_position_of_no_record_and_too_many_cursors_are_refused() {
        let collected = Collected::default();
        assert!(collected.check(7, &[], 7).is_ok());
        assert!(collected.check(8, &[], 7).is_err());
        let large = vec![0; CURSORS_BYTES_MAX as usize].into_boxed_slice();
        assert!(
            collected
                .check(7, &[(b"a"[..].into(), Some(large))], 7)
                .is_err()
        );
    }
}
