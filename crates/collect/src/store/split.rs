//! One batch for several stores: each message goes to one of them.
//!
//! A store takes a prefix of its part. So the part of the batch that is taken as a whole may have holes:
//!
//! ```text
//! batch     a0 b0 a1 b1 a2      a takes a0 and a1, b fails
//! taken     a0                  the prefix: 1 message
//! comes     b0 a1 b1 a2 …       again, before newer messages
//! done       -  x  -  -         remembered, so a1 is not written twice
//! ```
//!
//! Invariants:
//! - `done` speaks of the messages that come again, in their order; `marks` recognises them. A batch that does not begin with
//!   them (their owner has given them up) makes both empty.
//! - The messages of one store keep their order: a store that failed gets nothing more of the batch.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::message::{Message, Now};

use super::{Store, Written};

/// A message as it is recognised when it comes again.
pub(super) fn mark(message: &Message<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (message.category, message.body).hash(&mut hasher);
    hasher.finish()
}

/// Messages of the last batch that were taken behind one that was not.
#[derive(Default)]
pub(super) struct Ahead {
    marks: Vec<u64>,
    done: Vec<bool>,
}

impl Ahead {
    /// Whether each message of `batch` is taken already. What is known of messages behind the batch stays.
    fn done(&mut self, batch: &[Message<'_>]) -> Vec<bool> {
        let mut known = self.marks.iter().zip(batch);
        if !known.all(|(mark, message)| *mark == self::mark(message)) {
            self.marks.clear();
            self.done.clear();
        }
        let here = self.done.len().min(batch.len());
        self.marks.drain(..here);
        let mut done: Vec<bool> = self.done.drain(..here).collect();
        done.resize(batch.len(), false);
        done
    }

    /// Remembers what lies behind the first message that is not done, and says how many lie before.
    fn remember(&mut self, batch: &[Message<'_>], done: &[bool]) -> usize {
        let taken = done.iter().take_while(|done| **done).count();
        let (rest, done) = (&batch[taken..], &done[taken..]);
        if done.contains(&true) || !self.done.is_empty() {
            self.marks.splice(..0, rest.iter().map(mark));
            self.done.splice(..0, done.iter().copied());
        }
        taken
    }
}

/// Gives each message of the batch that is not yet taken to the store of its number in `routes`.
pub(super) fn write<'a>(
    stores: &mut [Box<dyn Store>],
    batch: &[Message<'_>],
    routes: impl Iterator<Item = Result<(usize, Message<'a>), String>>,
    ahead: &mut Ahead,
    now: Now,
) -> Written {
    let mut done = ahead.done(batch);
    let mut parts: Vec<(Vec<usize>, Vec<Message<'a>>)> = Vec::new();
    parts.resize_with(stores.len(), Default::default);
    let mut failed = None;
    for (index, route) in routes.enumerate() {
        match route {
            Ok((store, message)) if !done[index] => {
                parts[store].0.push(index);
                parts[store].1.push(message);
            }
            Ok(_) => {}
            Err(why) => failed = failed.or(Some(why)),
        }
    }
    for (store, (indexes, messages)) in stores.iter_mut().zip(&parts) {
        if messages.is_empty() {
            continue;
        }
        let written = store.write(messages, now);
        for index in indexes.iter().take(written.taken) {
            done[*index] = true;
        }
        failed = failed.or(written.failed);
    }
    let taken = ahead.remember(batch, &done);
    let failed = failed.filter(|_| taken < batch.len());
    Written { taken, failed }
}
