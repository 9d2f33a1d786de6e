//! The line of commands before the engine, and the decision which thread serves it: the engine's own, or a caller's while the
//! engine's thread rests.
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
use crate::command::{Command, Envelope, Now, QueueNext, SessionId, WaitSource, Write};
use crate::error::{Error, Result};
use crate::failure;
use crate::limits::{LED_COMMAND_BYTES_MAX, MAILBOX_BYTES_MAX, MAILBOX_COMMANDS_MAX};

/// The sessions of this number of last commands tell how many sessions are at work.
const LATELY: usize = 8;

/// Runs a turn of the engine on the calling thread; false if the engine has ended.
type Lead = Box<dyn Fn() -> bool + Send + Sync>;

#[derive(Default)]
pub(crate) struct Inbox {
    desk: Mutex<Desk>,
    /// Ends a rest of the engine's thread.
    filled: Condvar,
    /// Unset until [`Inbox::let_lead`]; no caller leads before.
    lead: OnceLock<Lead>,
}

#[derive(Default)]
struct Desk {
    queue: Commands,
    /// The sessions of the last commands: command number n stands at n modulo [`LATELY`].
    lately: [Option<SessionId>; LATELY],
    /// Number of commands so far.
    commands: usize,
    /// [`Inbox::wake`] was called since the last rest: the next rest ends at once.
    woken: bool,
    /// The engine's thread rests and was not called yet. A call costs a system call, so it is made once a rest.
    rests: bool,
    /// The end of the rest if no call comes. Steady clock, microseconds.
    until_us: u64,
    /// A caller leads.
    is_led: bool,
    /// The mailbox is gone: every command is refused with `Stopped`.
    closed: bool,
}

/// The thread that serves a command which was just put in line.
enum Arrival {
    /// The engine's thread is awake.
    Awake,
    /// The engine's thread, which must be called.
    Call,
    /// The caller, on its own thread.
    Lead,
}

impl Inbox {
    /// Lets callers of [`Inbox::submit`] lead while the engine's thread rests.
    pub(crate) fn let_lead(&self, lead: Lead) {
        let _ = self.lead.set(lead); // an engine is run once
    }

    /// Puts a command in line, and runs a turn with it if the caller may lead; see [`super::Handle::submit`].
    ///
    /// Errors: `Stopped`, `Overloaded`. The command is then dropped, and its reply is not called.
    pub(crate) fn submit(&self, envelope: Envelope) -> Result<()> {
        let bytes = envelope.bytes();
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

    /// Blocks the engine's thread until it is called: for a command that no caller leads, or by [`Inbox::wake`]. Ends at `due_us`
    /// (steady clock) or after `patience` without a call. Returns at once if commands wait.
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

    /// Takes the next commands, at most one batch of them. Empty if none waits. Large commands that were stopped while they waited
    /// are refused.
    pub(crate) fn take_batch(&self) -> Vec<Envelope> {
        let mut desk = self.lock();
        let stopped = desk.queue.take_stopped();
        let batch = desk.queue.take_batch();
        drop(desk);
        for Envelope {
            interrupt, reply, ..
        } in stopped
        {
            let why = interrupt.map_or(Ok(()), |interrupt| interrupt.check());
            reply(Err(
                why.map_or_else(failure::of_index, |()| Error::Interrupted)
            ));
        }
        batch
    }

    /// The caller that led has ended its turn. `due_us` is the engine's next timer, on the steady clock; `None` without one. Calls
    /// the engine's thread if that timer ends before its rest does, or if commands wait.
    pub(crate) fn led(&self, due_us: Option<u64>) {
        let mut desk = self.lock();
        desk.is_led = false;
        let is_earlier = due_us.is_some_and(|due_us| due_us < desk.until_us);
        if is_earlier || desk.queue.len() > 0 {
            self.call(desk);
        }
    }

    /// Ends a rest of the engine's thread; if it does not rest, its next rest ends at once.
    pub(crate) fn wake(&self) {
        let mut desk = self.lock();
        desk.woken = true;
        self.call(desk);
    }

    /// Refuses every later command with `Stopped`, and gives the commands that still wait.
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
    /// Checks that there is room for a command. The end of a session, a checkpoint and the shutdown always have room.
    ///
    /// Errors: `Stopped`, `Overloaded`.
    fn admit(&self, bytes: usize, command: &Command) -> Result<()> {
        if self.closed {
            return Err(Error::Stopped);
        }
        let must_fit = matches!(
            command,
            Command::EndWait | Command::SessionClosed | Command::Shutdown | Command::Checkpoint
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

    /// Whether the last commands came from at most two sessions, such as one that puts rows and one that takes them. With more,
    /// the engine's thread does better: commands that come during a sync share the next sync, and the callers' threads are free
    /// for their sockets.
    fn is_quiet(&self) -> bool {
        let mut lately = self.lately.iter().flatten();
        let first = lately.next();
        let mut others = lately.filter(|session| Some(*session) != first);
        let second = others.next();
        others.all(|session| Some(session) == second)
    }
}

/// Whether a command is decided in microseconds. The thread of its caller serves other sockets too, and may do it without delay
/// for them.
fn is_short(command: &Command) -> bool {
    let command = if let Command::Within(inner) = command {
        inner
    } else {
        command
    };
    // A condition may take long over one row.
    let are_whole = |sources: &[WaitSource]| sources.iter().all(|it| it.condition.is_none());
    if let Command::QueueWait { sources, .. } | Command::QueueNext(QueueNext { sources, .. }) =
        command
    {
        return are_whole(sources);
    }
    matches!(
        command,
        Command::Write(Write::Insert(_))
            | Command::Rollback
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
