//! Statements that one client sent together: done in turn, in one turn of the engine and with one sync.
//!
//! Example: `INSERT`, `CALL QUEUE_NEXT`, `COMMIT` inside a transaction, while the queue has a row. The INSERT is answered at
//! once, the other two after the turn's sync; then all three outcomes go to the client as one reply. While the queue is empty,
//! QUEUE_NEXT waits. COMMIT is then not begun: the reply has two outcomes, once there is a row.

use std::sync::{Arc, Mutex, PoisonError};

use super::Engine;
use crate::Answering;
use crate::command::{Command, Envelope, Reply, SessionId};
use crate::error::Result;

/// The outcomes of the members that were begun, and the reply that is called with them.
struct Gathered {
    outcomes: Vec<Option<Result<Reply>>>,
    /// `None`: another member will be begun, or the reply was called.
    reply: Option<Answering>,
}

impl Gathered {
    /// Calls the reply if there is one and each outcome is known.
    fn end(gathered: &Mutex<Gathered>) {
        let mut gathered = gathered.lock().unwrap_or_else(PoisonError::into_inner);
        if gathered.outcomes.iter().any(Option::is_none) {
            return;
        }
        let Some(reply) = gathered.reply.take() else {
            return;
        };
        let outcomes = std::mem::take(&mut gathered.outcomes);
        drop(gathered);
        reply(Ok(Reply::Series(outcomes.into_iter().flatten().collect())));
    }
}

impl Engine {
    /// Does the members in turn, up to the first that is refused or waits.
    pub(super) fn series(
        &mut self,
        session: SessionId,
        members: Vec<Command>,
        reply: Answering,
    ) -> Result<()> {
        let gathered = Arc::new(Mutex::new(Gathered {
            outcomes: Vec::new(),
            reply: None,
        }));
        let lock = || gathered.lock().unwrap_or_else(PoisonError::into_inner);
        let interrupt = self.work.interrupt.clone();
        for (at, command) in members.into_iter().enumerate() {
            lock().outcomes.push(None);
            let part = Arc::clone(&gathered);
            let note: Answering = Box::new(move |outcome| {
                let mut noted = part.lock().unwrap_or_else(PoisonError::into_inner);
                noted.outcomes[at] = Some(outcome);
                drop(noted);
                Gathered::end(&part);
            });
            let answered = self.outbox.len();
            self.take(Envelope {
                session,
                command,
                interrupt: interrupt.clone(),
                reply: note,
            })?;
            // An answer that waits for the sync is in the outbox. Another session's error there ends the series too: its rest
            // then comes as single statements.
            let is_refused = matches!(lock().outcomes[at], Some(Err(_)))
                || self.outbox[answered..]
                    .iter()
                    .any(|(_, outcome)| outcome.is_err());
            if is_refused || self.sessions.is_waiting(session) {
                break;
            }
        }
        lock().reply = Some(reply);
        Gathered::end(&gathered);
        Ok(())
    }
}
