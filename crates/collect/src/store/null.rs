//! The store that keeps nothing: it counts each message as `ignored`.

use std::io;
use std::sync::Arc;

use engine::Messages;

use crate::counters::{Counter, Counters};
use crate::message::{Message, Now};

use super::{Backlog, Store, Surroundings, Written};

pub(super) struct Null {
    counters: Arc<Counters>,
}

impl Null {
    pub(super) fn new(surroundings: &Surroundings) -> Null {
        Null {
            counters: Arc::clone(&surroundings.counters),
        }
    }
}

impl Store for Null {
    fn write(&mut self, batch: &[Message<'_>], _: Now) -> Written {
        for run in batch.chunk_by(|one, other| one.category == other.category) {
            if let Some(first) = run.first() {
                let count = run.len() as u64;
                self.counters.add(first.category, Counter::Ignored, count);
            }
        }
        Written {
            taken: batch.len(),
            failed: None,
        }
    }

    fn backlog(&mut self) -> Option<&mut dyn Backlog> {
        Some(self)
    }
}

impl Backlog for Null {
    fn is_empty(&mut self, _: Now) -> io::Result<bool> {
        Ok(true)
    }

    fn read_oldest(&mut self, _: usize, _: Now) -> io::Result<Messages> {
        Ok(Messages::default())
    }

    fn remove_oldest(&mut self, _: usize) -> io::Result<bool> {
        Ok(true)
    }
}
