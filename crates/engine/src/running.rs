//! Which thread does the engine's work: the engine's own thread, or the thread of a caller while the engine's thread rests and
//! few sessions are at work. The caller then *leads*: it runs the turn with its command. `mailbox/inbox.rs` decides who leads.
//!
//! A command that goes to a resting thread costs two wake-ups, one for the engine's thread and one for the caller that waits for
//! the reply. Each takes some thirty microseconds; together they are a quarter of a single durable write. With many sessions
//! at work the engine's thread is awake anyway, and takes all commands that came during a sync as one batch.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use crate::command::Now;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::mailbox::{Inbox, Mailbox};

/// The longest rest of the engine's thread. CALL PQ counts the words of documents on other threads, and these counts decide under
/// which terms standing queries are filed. A turn without commands picks them up.
const REFRESHED_EVERY: Duration = Duration::from_secs(1);

/// An engine that serves its mailbox. Each turn holds the lock of `engine`, whichever thread runs it.
pub(crate) struct Running {
    inbox: Arc<Inbox>,
    /// `None` once [`Engine::run`] has ended.
    engine: Mutex<Option<Engine>>,
    clock: Box<dyn Fn() -> Now + Send + Sync>,
}

type Held<'a> = MutexGuard<'a, Option<Engine>>;

impl Engine {
    /// Serves the mailbox until [`crate::Command::Shutdown`], on this thread and on the threads of callers that lead. Blocks
    /// until then.
    ///
    /// # Errors
    /// `Poisoned` after a failed sync, `Internal` after a panic: the process must end.
    pub fn run(
        self,
        mailbox: Mailbox,
        clock: impl Fn() -> Now + Send + Sync + 'static,
    ) -> Result<()> {
        self.wake_by(mailbox.waker());
        let running = Arc::new(Running {
            inbox: Arc::clone(mailbox.inbox()),
            engine: Mutex::new(Some(self)),
            clock: Box::new(clock),
        });
        let lead = Arc::downgrade(&running);
        running.inbox.let_lead(Box::new(move || {
            let running = lead.upgrade();
            running.inspect(|running| running.lead()).is_some()
        }));
        let outcome = running.guarded(|| running.serve());
        drop(running.hold().take()); // waits for a caller that leads now; a later one finds `None`
        outcome
    }
}

impl Running {
    /// Rests and runs turns, one after the other, until the engine has ended.
    fn serve(&self) -> Result<()> {
        let mut due_us = Some(0);
        loop {
            self.inbox.rest(due_us, || (self.clock)(), REFRESHED_EVERY);
            let mut held = self.hold();
            let Some(engine) = held.as_mut() else {
                return Ok(());
            };
            engine.step(self.inbox.take_batch(), (self.clock)())?;
            if engine.has_ended() {
                return Ok(());
            }
            due_us = engine.due_us();
        }
    }

    /// Runs a turn on the calling thread, with the command that it has just submitted. If the engine ends in this turn, by an
    /// error or by a [`crate::Command::Shutdown`] that came meanwhile, wakes the engine's thread, which leaves
    /// [`Running::serve`].
    pub(crate) fn lead(&self) {
        let outcome = self.guarded(|| {
            let Some(mut held) = self.try_hold() else {
                return Ok(Some(0)); // its holder is awake, or is being woken
            };
            let Some(engine) = held.as_mut() else {
                return Ok(None);
            };
            engine.step(self.inbox.take_batch(), (self.clock)())?;
            if engine.has_ended() {
                self.inbox.wake();
            }
            Ok(engine.due_us())
        });
        if outcome.is_err() {
            self.inbox.wake();
        }
        self.inbox.led(outcome.unwrap_or(None));
    }

    /// Does a piece of work. After a panic in it the engine fails: open commands are answered with an error, and so is every
    /// later one.
    fn guarded<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let panic = match catch_unwind(AssertUnwindSafe(work)) {
            Ok(outcome) => return outcome,
            Err(panic) => panic,
        };
        // The state may be half changed: nothing looks at it again, the error ends the process.
        let error = Error::internal(format!("panic: {}", panic_text(&*panic)));
        if let Some(engine) = self.hold().as_mut() {
            engine.fail(&error);
        }
        Err(error)
    }

    fn hold(&self) -> Held<'_> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_hold(&self) -> Option<Held<'_>> {
        match self.engine.try_lock() {
            Ok(held) => Some(held),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests;
