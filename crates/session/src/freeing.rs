//! A thread that frees what takes long to free.
//!
//! The words of a large INSERT are thousands of allocations. To free them takes a fifth of the time in which the engine's thread stores
//! the rows, and more than a thread of sockets may take; in a turn they would wait, and be counted, for as long as others work.

use std::io;
use std::sync::mpsc::{Sender, channel};
use std::thread::Builder;

use engine::{MadeWords, give_others_precedence};

use crate::budget::Grant;

/// The words of rows, and the memory that is counted for them until they are freed.
type Garbage = (Vec<MadeWords>, Grant);

/// Hands memory to the thread. The thread ends when this is dropped.
pub(crate) struct Freeing(Option<Sender<Garbage>>);

impl Freeing {
    /// Starts the thread. Where none can be started, memory is freed by who hands it over.
    pub(crate) fn start() -> Freeing {
        let start = || -> io::Result<Sender<Garbage>> {
            let (sender, garbage) = channel();
            let thread = Builder::new().name("free".to_owned());
            thread.spawn(move || {
                give_others_precedence();
                garbage.into_iter().for_each(drop);
            })?;
            Ok(sender)
        };
        Freeing(start().ok())
    }

    /// Frees memory, later. What waits is bounded by the budget from which it is granted.
    pub(crate) fn free(&self, garbage: Garbage) {
        if let Some(sender) = &self.0 {
            // Fails only if the thread has ended: then the error frees it.
            drop(sender.send(garbage));
        }
    }
}
