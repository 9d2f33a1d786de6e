//! The meeting point of commands and the engine's thread: whether the thread rests, and which caller may do its work meanwhile.
//!
//! # Example
//! The engine rests; the last eight commands came from one session.
//!
//! | event | `rests` | `is_led` | |
//! |---|---|---|---|
//! | session 1 submits an INSERT of one row | true | true | few sessions are at work, so its own thread leads: it runs the turn |
//! | session 2 submits meanwhile | false | true | a caller leads, so the thread is called and waits for the engine |
//! | the turn of session 1 ends: `led` | false | false | the engine's thread runs a turn with the command of session 2 |
//! | the mailbox is empty: `rest` | true | false | the thread rests, until its next timer or for a second |
//!
//! A wake-up costs a system call and some thirty microseconds. A caller that leads saves two of them.
//!
//! # Invariants
//! - While a command waits, the engine's thread is awake or was called, or a caller leads. Else the command would wait for
//!   the next timer.
//! - The thread is called at most once a rest: the caller that wakes it clears `rests`.

use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::commands::Commands;
use crate::command::{Command, Envelope, Now, SessionId};
use crate::error::{Error, Result};
use crate::limits::{LED_COMMAND_BYTES_MAX, MAILBOX_BYTES_MAX, MAILBOX_COMMANDS_MAX};

/// The last commands of this number tell how many sessions are at work.
const LATELY: usize = 8;

/// Does the work of the engine that runs, on the calling thread; false where none runs any more.
type Lead = Box<dyn Fn() -> bool + Send + Sync>;

#[derive(Default)]
pub(crate) struct Inbox {
    desk: Mutex<Desk>,
    filled: Condvar,
    lead: OnceLock<Lead>,
}

#[derive(Default)]
struct Desk {
    queue: Commands,
    /// Whose the last commands were, and how many there were in all.
    lately: [Option<SessionId>; LATELY],
    commands: usize,
    /// Somebody asked for a look round.
    woken: bool,
    /// The engine's thread rests and was not called yet; a call costs a system call, so it is made once.
    rests: bool,
    /// When it looks round by itself, on the steady clock.
    until_us: u64,
    /// A caller does its work.
    is_led: bool,
    closed: bool,
}

/// Who is to see to a command that was put into the mailbox.
enum Arrival {
    /// The engine's thread is awake.
    Awake,
    /// The engine's thread, which must be called.
    Call,
    /// The caller, on its own thread.
    Lead,
}

impl Inbox {
    /// Lets callers of [`Inbox::submit`] do the work of an engine that rests.
    pub(crate) fn let_lead(&self, lead: Lead) {
        let _ = self.lead.set(lead); // an engine is run once
    }

    /// Puts a command in line; see [`super::Handle::submit`].
    pub(crate) fn submit(&self, envelope: Envelope) -> Result<()> {
        let bytes = envelope.command.bytes();
        let mut desk = self.lock();
        desk.admit(bytes, &envelope.command)?;
        let may_lead = bytes <= LED_COMMAND_BYTES_MAX && is_short(&envelope.command);
        desk.note(envelope.session);
        desk.queue.push(bytes, envelope);
        let arrival = desk.arrive(may_lead);
        drop(desk);
        match arrival {
            Arrival::Awake => {}
            Arrival::Call => self.filled.notify_one(),
            Arrival::Lead => {
                if !self.lead.get().is_some_and(|lead| lead()) {
                    self.led(Some(0));
                }
            }
        }
        Ok(())
    }

    /// Rests until there is a command, [`Inbox::wake`] was called, it is `due_us`, or `patience` has passed.
    pub(crate) fn rest(&self, due_us: Option<u64>, now: impl FnOnce() -> Now, patience: Duration) {
        let mut desk = self.lock();
        if desk.queue.len() == 0 && !desk.woken {
            let now_us = now().steady_us;
            let left = due_us.map(|due_us| Duration::from_micros(due_us.saturating_sub(now_us)));
            let patience = left.map_or(patience, |left| left.min(patience));
            desk.rests = true;
            desk.until_us = now_us + patience.as_micros() as u64;
            let woken = self.filled.wait_timeout(desk, patience);
            desk = woken.unwrap_or_else(PoisonError::into_inner).0;
            desk.rests = false;
        }
        desk.woken = false;
    }

    /// What waits, as much as one batch holds; perhaps nothing.
    pub(crate) fn take_batch(&self) -> Vec<Envelope> {
        self.lock().queue.take_batch()
    }

    /// A caller has done what it brought; the engine has something to do by itself at `due_us`.
    pub(crate) fn led(&self, due_us: Option<u64>) {
        let mut desk = self.lock();
        desk.is_led = false;
        let is_earlier = due_us.is_some_and(|due_us| due_us < desk.until_us);
        if is_earlier || desk.queue.len() > 0 {
            self.call(desk);
        }
    }

    /// Ends a rest.
    pub(crate) fn wake(&self) {
        let mut desk = self.lock();
        desk.woken = true;
        self.call(desk);
    }

    /// Takes nothing any more; gives what still waits.
    pub(crate) fn close(&self) -> impl Iterator<Item = Envelope> + use<> {
        let mut desk = self.lock();
        desk.closed = true;
        desk.queue.drain()
    }

    fn call(&self, mut desk: MutexGuard<'_, Desk>) {
        if std::mem::take(&mut desk.rests) {
            drop(desk);
            self.filled.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Desk {
    /// Errors: `Stopped`, `Overloaded`.
    fn admit(&self, bytes: usize, command: &Command) -> Result<()> {
        if self.closed {
            return Err(Error::Stopped);
        }
        let must_fit = matches!(
            command,
            Command::SessionClosed | Command::Shutdown | Command::Checkpoint
        );
        let commands = self.queue.len();
        let is_full = commands >= MAILBOX_COMMANDS_MAX
            || (self.queue.bytes + bytes > MAILBOX_BYTES_MAX && commands > 0);
        match is_full && !must_fit {
            true => Err(Error::Overloaded),
            false => Ok(()),
        }
    }

    fn note(&mut self, session: SessionId) {
        if let Some(place) = self.lately.get_mut(self.commands % LATELY) {
            *place = Some(session);
        }
        self.commands = self.commands.wrapping_add(1);
    }

    fn arrive(&mut self, may_lead: bool) -> Arrival {
        if !self.rests {
            return Arrival::Awake;
        }
        if may_lead && !self.is_led && self.queue.len() == 1 && self.is_quiet() {
            self.is_led = true;
            return Arrival::Lead;
        }
        self.rests = false;
        Arrival::Call
    }

    /// Whether at most two sessions are at work, such as one that puts and one that takes. With more, the engine's thread
    /// does better: what comes during a sync goes with the next one, and the callers' threads are free for their sockets.
    fn is_quiet(&self) -> bool {
        let mut lately = self.lately.iter().flatten();
        let first = lately.next();
        let mut others = lately.filter(|session| Some(*session) != first);
        let second = others.next();
        others.all(|session| Some(session) == second)
    }
}

/// Commands that are decided in microseconds: the caller's thread can do them without harm to what else it serves.
fn is_short(command: &Command) -> bool {
    matches!(
        command,
        Command::Insert(_)
            | Command::QueueWait { .. }
            | Command::QueueNext(_)
            | Command::QueueEnd
            | Command::QueueAbort
            | Command::QueueDone { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_quiet_after(sessions: &[u64]) -> bool {
        let mut desk = Desk::default();
        for session in sessions {
            desk.note(SessionId(*session));
        }
        desk.is_quiet()
    }

    #[test]
    fn one_that_puts_and_one_that_takes_leave_it_quiet_and_a_third_does_not() {
        assert!(is_quiet_after(&[7; 9]));
        assert!(is_quiet_after(&[1, 2, 1, 1, 2, 2, 1, 2, 1]));
        assert!(!is_quiet_after(&[1, 2, 1, 2, 3, 1, 2, 1, 2]));
        assert!(
            is_quiet_after(&[3, 1, 2, 1, 2, 1, 2, 1, 2]),
            "three is long ago"
        );
    }
}
