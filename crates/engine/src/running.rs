//! The thread that does the engine's work: its own thread, or the thread of a caller while the engine's rests and few sessions
//! are at work.
//!
//! Handing a command to a thread that rests and its reply back to one that waits costs two wake-ups, of some thirty
//! microseconds each: a quarter of what a single durable write takes. With many sessions at work the thread is awake
//! anyway, and gathers what comes during a sync.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use crate::command::Now;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::mailbox::{Inbox, Mailbox};

/// An engine that nobody asks looks around so often: what CALL PQ has shown of the stream of documents decides under
/// which words standing queries are filed.
const REFRESHED_EVERY: Duration = Duration::from_secs(1);

/// An engine that runs.
pub(crate) struct Running {
    inbox: Arc<Inbox>,
    /// `None` after the end.
    engine: Mutex<Option<Engine>>,
    clock: Box<dyn Fn() -> Now + Send + Sync>,
}

type Held<'a> = MutexGuard<'a, Option<Engine>>;

impl Engine {
    /// Serves the mailbox until [`crate::Command::Shutdown`], on this thread and on those that bring commands while it rests.
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

    /// Does the command that the calling thread has just brought. Wakes the engine's thread where the engine has ended, by
    /// an error or by a [`crate::Command::Shutdown`] that came meanwhile: that thread then leaves [`Running::serve`].
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

    /// Does a piece of work; after a panic of it everybody is answered and the engine takes nothing more.
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
