//! Collected messages: those of one call of Scribe's `Log`, and the queue in which the engine hands them to the collector.
//!
//! # Example
//! A call brings two messages of `web` and one of `mail`:
//!
//! ```text
//! run  | category | messages
//! 1    | web      | GET /a, GET /b
//! 2    | mail     | from x
//! ```
//!
//! The bytes are those of the record in the journal: a run is the category's length (4 bytes, little-endian) and bytes, the
//! number of its messages (4 bytes), and for each message its length (4 bytes) and bytes.
//!
//! Invariants: each length lies inside the bytes; a run has at least one message; no two neighbouring runs have one category.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Messages of one call, in the order of the call. Both categories and messages are bytes, may hold NUL, and a message may be
/// empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    encoded: Vec<u8>,
    count: u64,
    /// Where the number of messages of the last run stands in `encoded`.
    last_count: usize,
    /// The bytes of the last run's category.
    last_category: std::ops::Range<usize>,
}

/// Neighbouring messages of one category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run<'a> {
    /// Name of the category, never empty in messages of a door.
    pub category: &'a [u8],
    /// Number of its messages; at least 1.
    pub count: u32,
    bodies: &'a [u8],
}

impl Messages {
    /// No messages, with room for `bytes` of the encoded form.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Messages {
        Messages {
            encoded: Vec::with_capacity(bytes),
            ..Messages::default()
        }
    }

    /// Appends a message. Each of the two parts is shorter than 4 GiB: a frame of the door is far shorter.
    pub fn push(&mut self, category: &[u8], body: &[u8]) {
        if self.count == 0 || self.encoded[self.last_category.clone()] != *category {
            self.encoded.extend_from_slice(&length(category));
            let start = self.encoded.len();
            self.encoded.extend_from_slice(category);
            self.last_category = start..self.encoded.len();
            self.last_count = self.encoded.len();
            self.encoded.extend_from_slice(&[0; 4]);
        }
        let counted = &mut self.encoded[self.last_count..self.last_count + 4];
        let before = counted
            .iter()
            .rev()
            .fold(0, |n: u32, byte| n << 8 | u32::from(*byte));
        counted.copy_from_slice(&(before + 1).to_le_bytes());
        self.encoded.extend_from_slice(&length(body));
        self.encoded.extend_from_slice(body);
        self.count += 1;
    }

    /// Number of messages.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Bytes of the encoded form; the memory that the messages take.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.encoded.len() as u64
    }

    /// The encoded form.
    #[must_use]
    pub fn encoded(&self) -> &[u8] {
        &self.encoded
    }

    /// Reads the encoded form; `None` if it breaks an invariant of the head of this file.
    #[must_use]
    pub fn decode(encoded: &[u8]) -> Option<Messages> {
        let mut messages = Messages::with_capacity(encoded.len());
        let mut rest = encoded;
        while !rest.is_empty() {
            let category = take(&mut rest)?;
            let count = take_number(&mut rest)?;
            let is_new = messages.count == 0
                || messages.encoded[messages.last_category.clone()] != *category;
            if count == 0 || !is_new {
                return None;
            }
            for _ in 0..count {
                messages.push(category, take(&mut rest)?);
            }
        }
        Some(messages)
    }

    /// The runs, in order.
    pub fn runs(&self) -> impl Iterator<Item = Run<'_>> {
        let mut start = 0;
        std::iter::from_fn(move || {
            let (run, end) = self.run_at(start)?;
            start = end;
            Some(run)
        })
    }

    /// The run whose encoded form begins at byte `start`, and the byte at which the next begins; `None` at the end. The first
    /// begins at 0.
    #[must_use]
    pub fn run_at(&self, start: usize) -> Option<(Run<'_>, usize)> {
        let mut rest = self.encoded.get(start..)?;
        let category = take(&mut rest)?;
        let count = take_number(&mut rest)?;
        let bodies = rest;
        for _ in 0..count {
            take(&mut rest)?;
        }
        let bodies = &bodies[..bodies.len() - rest.len()];
        let run = Run {
            category,
            count,
            bodies,
        };
        Some((run, self.encoded.len() - rest.len()))
    }
}

impl<'a> Run<'a> {
    /// The messages, in order.
    pub fn bodies(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut rest = self.bodies;
        std::iter::from_fn(move || take(&mut rest))
    }
}

fn length(part: &[u8]) -> [u8; 4] {
    u32::try_from(part.len()).unwrap_or(u32::MAX).to_le_bytes()
}

fn take_number(rest: &mut &[u8]) -> Option<u32> {
    let (number, after) = rest.split_first_chunk::<4>()?;
    *rest = after;
    Some(u32::from_le_bytes(*number))
}

fn take<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take_number(rest)?).ok()?;
    let (part, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(part)
}

/// One record's messages on their way to the collector.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The record's position in the journal. Rises from batch to batch.
    pub position: u64,
    /// What the record holds, shared with nobody after the hand-over.
    pub messages: Arc<Messages>,
}

/// A queue from the engine's thread to the collector's. Its length is bounded by the engine, which refuses more messages than
/// its options allow.
#[derive(Debug, Default)]
pub struct Handover {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    batches: VecDeque<Batch>,
    has_ended: bool,
}

impl Handover {
    /// Appends batches, in order of position, and wakes the taker.
    pub fn push(&self, batches: impl IntoIterator<Item = Batch>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.batches.extend(batches);
        self.arrived.notify_one();
    }

    /// No batch comes any more.
    pub fn end(&self) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.has_ended = true;
        self.arrived.notify_one();
    }

    /// All batches that wait. Blocks until there is one, or for `timeout`; `None` once the engine has ended and nothing is left.
    #[must_use]
    pub fn take(&self, timeout: Duration) -> Option<VecDeque<Batch>> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut waiting, _) = self
            .arrived
            .wait_timeout_while(waiting, timeout, |waiting| {
                waiting.batches.is_empty() && !waiting.has_ended
            })
            .unwrap_or_else(PoisonError::into_inner);
        if waiting.batches.is_empty() && waiting.has_ended {
            return None;
        }
        Some(std::mem::take(&mut waiting.batches))
    }
}

/// The giving end: the hand-over ends when it is dropped.
pub(crate) struct Giver(pub(crate) Arc<Handover>);

impl Drop for Giver {
    fn drop(&mut self) {
        self.0.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_join_neighbours_of_one_category_and_decode_as_they_were_encoded() {
        let mut messages = Messages::default();
        for (category, body) in [("web", "a"), ("web", ""), ("mail", "b"), ("web", "c\0d")] {
            messages.push(category.as_bytes(), body.as_bytes());
        }
        let read = |messages: &Messages| -> Vec<(Vec<u8>, Vec<Vec<u8>>)> {
            let of = |run: Run<'_>| {
                (
                    run.category.to_vec(),
                    run.bodies().map(<[u8]>::to_vec).collect(),
                )
            };
            messages.runs().map(of).collect()
        };
        let wanted = vec![
            (b"web".to_vec(), vec![b"a".to_vec(), b"".to_vec()]),
            (b"mail".to_vec(), vec![b"b".to_vec()]),
            (b"web".to_vec(), vec![b"c\0d".to_vec()]),
        ];
        assert_eq!(read(&messages), wanted);
        assert_eq!(Messages::decode(messages.encoded()), Some(messages.clone()));
        assert_eq!(messages.count(), 4);
        for cut in 1..messages.encoded().len() {
            let part = Messages::decode(&messages.encoded()[..cut]);
            assert!(part.is_none_or(|part| part.encoded() == &messages.encoded()[..cut]));
        }
    }

    #[test]
    fn a_handover_gives_batches_in_order_and_ends() {
        let handover = Handover::default();
        let batch = |position| Batch {
            position,
            messages: Arc::default(),
        };
        handover.push([batch(1), batch(2)]);
        handover.end();
        let taken = handover.take(Duration::ZERO).unwrap_or_default();
        assert_eq!(
            taken.iter().map(|batch| batch.position).collect::<Vec<_>>(),
            [1, 2]
        );
        assert!(handover.take(Duration::ZERO).is_none());
    }
}
