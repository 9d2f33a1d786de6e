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
use crate::made::MadeRows;

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
        let done = outcomes.into_iter().flatten();
        let done = done.take_while(|outcome| !is_to_plan(outcome));
        reply(Ok(Reply::Series(done.collect())));
    }
}

fn is_to_plan(outcome: &Result<Reply>) -> bool {
    matches!(outcome, Ok(Reply::Plan(_)))
}

impl Engine {
    /// Does the members in turn, up to the first that is refused or waits, or whose condition a reader must work out: that one is not
    /// begun. `made`: rows of their INSERTs.
    pub(super) fn series(
        &mut self,
        session: SessionId,
        members: Vec<Command>,
        mut made: impl Iterator<Item = Option<MadeRows>>,
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
            let inserts = command.inserts().len();
            self.take(Envelope {
                session,
                command,
                interrupt: interrupt.clone(),
                made: made.by_ref().take(inserts).collect(),
                reply: note,
            })?;
            // An answer that waits for the sync is in the outbox. Another session's error there ends the series too: its rest
            // then comes as single statements.
            let ends = |outcome: &Result<Reply>| outcome.is_err() || is_to_plan(outcome);
            let is_last = lock().outcomes[at].as_ref().is_some_and(ends)
                || self.outbox[answered..]
                    .iter()
                    .any(|(_, outcome)| ends(outcome));
            if is_last || self.sessions.is_waiting(session) {
                break;
            }
        }
        lock().reply = Some(reply);
        Gathered::end(&gathered);
        Ok(())
    }
}
