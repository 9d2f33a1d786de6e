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

use crate::message::{Message, Now};

use super::marks::{Marks, hash};
use super::{Store, Written};

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
        if !known.all(|(mark, message)| *mark == hash(message)) {
            self.forget();
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
            self.marks.splice(..0, rest.iter().map(hash));
            self.done.splice(..0, done.iter().copied());
        }
        taken
    }

    /// What it remembers, without that of the parts.
    pub(super) fn marks(&self) -> Marks {
        let last = self.done.iter().rposition(|done| *done);
        let known = self.marks.get(..last.map_or(0, |last| last + 1));
        Marks::new(known.unwrap_or_default(), |count| self.runs(count))
    }

    /// Lengths of the runs of the first `count` messages, in turn not done and done.
    fn runs(&self, count: usize) -> Vec<u32> {
        let done = self.done.get(..count).unwrap_or(&self.done);
        let begins_done = done.first().is_some_and(|done| *done);
        let runs = done.chunk_by(|one, other| one == other);
        let runs = runs.map(|run| u32::try_from(run.len()).unwrap_or(u32::MAX));
        begins_done.then_some(0).into_iter().chain(runs).collect()
    }

    /// Takes up what `marks` gave; marks of another store mean nothing.
    pub(super) fn take_up(&mut self, marks: &Marks) {
        let total = marks.numbers.iter().map(|run| u64::from(*run)).sum::<u64>();
        if total != marks.hashes.len() as u64 {
            return;
        }
        let runs = marks.numbers.iter().zip([false, true].into_iter().cycle());
        let done = runs.flat_map(|(run, done)| (0..*run).map(move |_| done));
        (self.done, self.marks) = (done.collect(), marks.hashes.clone());
    }

    /// The messages that come next are others.
    pub(super) fn forget(&mut self) {
        self.marks.clear();
        self.done.clear();
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
