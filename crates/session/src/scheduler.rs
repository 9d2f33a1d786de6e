//! Which long work of statements runs now, and which waits: turns, slices, and the threads that run them.
//!
//! The threads of the event loop serve sockets. Work that may take longer than a millisecond leaves them
//! ([`crate::movable`]) and runs here. Example: two turns at a time; user A has three long statements, user B one.
//!
//! ```text
//! ms    event                               running     waiting              why
//! 0     A1, A2 arrive                       A1  A2      –                    two turns are free
//! 2     A3 arrives                          A1  A2      A3                   no turn is free
//! 4     B1 arrives                          A1  A2      A3  B1               A has used more: A1 is asked to give way
//! 4     A1 looks at its switch              B1  A2      A3  A1               B has used least time
//! 6     B1 ends                             A3  A2      A1                   A3 had no turn yet
//! 20    A2 has had two slices               A3  A2      A1                   no other user waits, and A2 is young
//! 22    A3 ends                             A1  A2      –
//! ```
//!
//! Invariants:
//! - At most `running_max` turns run at a time. A helper of a search takes part only while fewer do ([`engine::Pool`]).
//! - A turn belongs to one thread from its start to its end, also while it waits: its stack holds the half-done work.
//! - A turn that has run for a slice gives way only while another one waits, and only between two steps of its work. To turns of its
//!   own user it gives way once it is no longer young: each turn that has begun keeps its memory, and warms the caches anew.
//! - Work of a user that has no turn does not wait for the end of a slice of a user that has used a slice more.
//! - The next turn is of the user that has used least time. A user that comes new or comes again counts as if it had used
//!   [`CREDIT_US`] less than the least of those present, or what it had used if that is more: so nobody saves up turns, and nobody
//!   forgets them by going. Within a user, new turns and turns that gave way alternate.
//!
//! - A turn whose statement was stopped begins or goes on at once, beside those that run: it only has to end.
//!
//! Operations: [`Scheduler::run`] brings work, which calls [`heeds`]; the watcher calls [`Scheduler::look`].

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::Builder;

use engine::{Interrupt, Pool, give_others_precedence};

use crate::clock::Clock;
use crate::limits::{
    CREDIT_US, GONE_USERS_MAX, LONG_THREADS_IDLE_MAX, LONG_THREADS_MAX, SLICE_US, SLICE_US_MIN,
    STOPPED_LOOK_EVERY, YOUNG_US,
};

/// Work that may take longer than a millisecond.
pub type LongWork = Box<dyn FnOnce() + Send>;

/// The turns of long work, and the threads that run them. Dropping it ends the threads that have no work.
pub struct Scheduler {
    shared: Arc<Shared>,
}

/// Numbers of the scheduler, for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchedulerStatus {
    /// Turns that run now.
    pub running: u64,
    /// Turns that wait: those that have not begun, and those that gave way.
    pub waiting: u64,
    /// Turns begun since the start.
    pub begun_total: u64,
    /// Times that a turn gave way to another one since the start.
    pub gave_way_total: u64,
}

struct Shared {
    /// Most turns that run at a time; at least 1.
    running_max: usize,
    clock: Clock,
    /// The pool whose helpers leave while a turn waits. `None`: searches have no helpers.
    pool: Option<Arc<Pool>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The turns that run.
    running: Vec<Arc<Turn>>,
    /// The users that have a turn, running or waiting.
    lines: BTreeMap<Arc<str>, Line>,
    /// Time that users had used as they went, in microseconds, if that still counts when they come again.
    gone: BTreeMap<Arc<str>, u64>,
    /// Threads without work, the one that rested last at the end.
    idle: Vec<Arc<Seat>>,
    /// Threads that exist.
    threads: usize,
    /// Turns in all lines.
    waiting: usize,
    begun_total: u64,
    gave_way_total: u64,
    is_ending: bool,
}

/// The turns of one user.
#[derive(Default)]
struct Line {
    /// Time that the user's turns have run, in microseconds, beside the time that it was given as it came.
    used_us: u64,
    /// Turns that run.
    running: usize,
    /// Work that has not begun, in its order of arrival.
    fresh: VecDeque<Fresh>,
    /// Turns that gave way, in that order.
    resting: VecDeque<Arc<Turn>>,
    /// Whether the last turn that began to run was fresh.
    was_fresh: bool,
}

/// A piece of long work that has not begun.
struct Fresh {
    work: LongWork,
    /// The switch of its statement; of none where it belongs to no statement.
    stop: Weak<Interrupt>,
}

/// A piece of long work that has begun.
struct Turn {
    user: Arc<str>,
    own: Mutex<OwnTurn>,
    /// Wakes its thread, which waits with the lock of [`Shared::state`]: its turn has come again.
    came: Condvar,
}

#[derive(Default)]
struct OwnTurn {
    /// Start of its slice, in steady microseconds.
    since_us: u64,
    /// Time that it ran before, in microseconds.
    used_us: u64,
    /// Whether it may run.
    runs: bool,
    /// The switch of its statement, by which it is asked to give way.
    interrupt: Weak<Interrupt>,
}

/// A thread, and the work that it is given.
#[derive(Default)]
struct Seat {
    given: Mutex<Given>,
    came: Condvar,
}

#[derive(Default)]
enum Given {
    #[default]
    Nothing,
    Work(LongWork, Arc<Turn>),
    End,
}

thread_local! {
    /// The turn of this thread; `None` on other threads.
    static OWN: RefCell<Option<(Weak<Shared>, Arc<Turn>)>> = const { RefCell::new(None) };
}

/// Lets the work of this thread's turn give way where it looks at this switch, and takes the switch's budget away: the work holds up
/// nobody. On a thread without a turn, such as a test's, it only takes the budget away.
pub fn heeds(interrupt: &Arc<Interrupt>) {
    let own = OWN.with_borrow(|own| {
        own.as_ref()
            .map(|(of, turn)| (of.clone(), Arc::clone(turn)))
    });
    let Some((shared, turn)) = own else {
        interrupt.allow(None);
        return;
    };
    turn.own().interrupt = Arc::downgrade(interrupt);
    let (of, heeded) = (Arc::downgrade(&turn), Arc::downgrade(interrupt));
    interrupt.has_turn(Arc::new(move || {
        if let (Some(shared), Some(turn)) = (shared.upgrade(), of.upgrade()) {
            let is_stopped = || heeded.upgrade().is_none_or(|it| it.reason().is_some());
            shared.give_way(&turn, &is_stopped);
        }
    }));
}

impl Scheduler {
    /// A scheduler of `running_max` turns at a time. Threads are started as they are needed. Where none can be, work runs on
    /// the thread that brings it.
    pub fn new(running_max: usize, clock: Clock, pool: Option<Arc<Pool>>) -> Scheduler {
        let shared = Arc::new(Shared {
            running_max: running_max.max(1),
            clock,
            pool,
            state: Mutex::default(),
        });
        Scheduler { shared }
    }

    /// Runs work in a turn of `user`, as soon as one is free, or once the statement whose switch `stop` is was stopped. Does not wait
    /// for it. A panic of the work ends nothing but the work.
    pub fn run(&self, user: &Arc<str>, work: LongWork, stop: Weak<Interrupt>) {
        let mut state = self.shared.state();
        if state.threads == 0 {
            match self.shared.start_thread(&mut state) {
                Ok(seat) => state.idle.push(seat),
                Err(_) => {
                    drop(state);
                    return work();
                }
            }
        }
        state.line(user).fresh.push_back(Fresh { work, stop });
        state.waiting += 1;
        self.shared.fill(&mut state);
        state.make_room(user, self.shared.clock.steady_us());
    }

    /// Asks the turns whose slice is over to give way, where others wait, and lets those begin whose statement was stopped. The watcher
    /// calls this every few milliseconds.
    pub fn look(&self) {
        self.look_at(self.shared.clock.steady_us());
    }

    /// As [`Scheduler::look`], at this time in steady microseconds.
    fn look_at(&self, now_us: u64) {
        let mut state = self.shared.state();
        if state.waiting == 0 {
            return;
        }
        self.shared.begin_stopped(&mut state);
        for turn in &state.running {
            let own = turn.own();
            let slice_us = now_us.saturating_sub(own.since_us);
            let is_young = own.used_us + slice_us < YOUNG_US;
            if slice_us >= SLICE_US
                && (!is_young || state.others_wait(&turn.user))
                && let Some(interrupt) = own.interrupt.upgrade()
            {
                interrupt.ask_to_give_way();
            }
        }
    }

    /// Numbers for metrics.
    pub fn status(&self) -> SchedulerStatus {
        let state = self.shared.state();
        SchedulerStatus {
            running: state.running.len() as u64,
            waiting: state.waiting as u64,
            begun_total: state.begun_total,
            gave_way_total: state.gave_way_total,
        }
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.is_ending = true;
        for line in state.lines.values_mut() {
            line.fresh.clear(); // its task sees that the work was dropped
        }
        for seat in state.idle.drain(..) {
            seat.give(Given::End);
        }
    }
}

impl State {
    /// The line of a user, which may be new.
    fn line(&mut self, user: &Arc<str>) -> &mut Line {
        let least_us = self.least_us();
        let gone = &mut self.gone;
        self.lines.entry(Arc::clone(user)).or_insert_with(|| {
            let had_used_us = gone.remove(user).unwrap_or(0);
            Line {
                used_us: least_us.saturating_sub(CREDIT_US).max(had_used_us),
                ..Line::default()
            }
        })
    }

    /// The least time that a user with a turn has used.
    fn least_us(&self) -> u64 {
        let used = self.lines.values().map(|line| line.used_us);
        used.min().unwrap_or(0)
    }

    /// Takes out the line of a user that has no turn, and notes what it has used while others have turns.
    fn leaves(&mut self, user: &Arc<str>) {
        let Some(line) = self.lines.remove(user) else {
            return;
        };
        if self.lines.is_empty() {
            return self.gone.clear();
        }
        self.gone.insert(Arc::clone(user), line.used_us);
        if self.gone.len() > GONE_USERS_MAX {
            let counts_above = self.least_us().saturating_sub(CREDIT_US);
            self.gone.retain(|_, used_us| *used_us > counts_above);
        }
        if self.gone.len() > GONE_USERS_MAX {
            self.gone.clear(); // the memory is bounded, however many users come and go
        }
    }

    /// Whether a turn of another user waits.
    fn others_wait(&self, user: &Arc<str>) -> bool {
        let waits = |line: &Line| !line.resting.is_empty() || !line.fresh.is_empty();
        let mut others = self.lines.iter().filter(|(other, _)| *other != user);
        others.any(|(_, line)| waits(line))
    }

    /// Asks a turn to give way to work of `user`, if that waits and the user has no turn: a turn of the user that has used most time,
    /// its slice counted, if that is a slice more than `user` has.
    fn make_room(&self, user: &Arc<str>, now_us: u64) {
        let used_us = |user| self.lines.get(user).map_or(0, |line| line.used_us);
        let waits = |line: &Line| line.running == 0 && !line.fresh.is_empty();
        if !self.lines.get(user).is_some_and(waits) {
            return;
        }
        let with_slice = self.running.iter().map(|turn| {
            let slice_us = now_us.saturating_sub(turn.own().since_us);
            (used_us(&turn.user) + slice_us, slice_us, turn)
        });
        // With less between the two users, threads would do nothing but switch.
        let least_us = used_us(user) + SLICE_US;
        let may_give_way =
            with_slice.filter(|(used, slice_us, _)| *slice_us >= SLICE_US_MIN && *used > least_us);
        let most = may_give_way.max_by_key(|(used, ..)| *used);
        if let Some(interrupt) = most.and_then(|(.., turn)| turn.own().interrupt.upgrade()) {
            interrupt.ask_to_give_way();
        }
    }

    /// The user whose turn is next: of those that wait, the one that has used least time.
    fn next_user(&self, may_start: bool) -> Option<Arc<str>> {
        let waits = |line: &Line| !line.resting.is_empty() || may_start && !line.fresh.is_empty();
        let waiting = self.lines.iter().filter(|(_, line)| waits(line));
        let next = waiting.min_by_key(|(_, line)| line.used_us);
        next.map(|(user, _)| Arc::clone(user))
    }

    /// Work that has not begun and whose statement was stopped: its user, and its place in the user's line.
    fn stopped(&self) -> Option<(Arc<str>, usize)> {
        self.lines.iter().find_map(|(user, line)| {
            let at = line.fresh.iter().position(Fresh::is_stopped)?;
            Some((Arc::clone(user), at))
        })
    }
}

impl Line {
    fn is_empty(&self) -> bool {
        self.running == 0 && self.fresh.is_empty() && self.resting.is_empty()
    }

    /// Whether its next turn is one that has not begun.
    fn next_is_fresh(&self, may_start: bool) -> bool {
        let fresh = may_start && !self.fresh.is_empty();
        fresh && (self.resting.is_empty() || !self.was_fresh)
    }
}

impl Fresh {
    fn is_stopped(&self) -> bool {
        (self.stop.upgrade()).is_some_and(|interrupt| interrupt.reason().is_some())
    }
}

impl Turn {
    fn own(&self) -> MutexGuard<'_, OwnTurn> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    fn give(&self, given: Given) {
        *self.given.lock().unwrap_or_else(PoisonError::into_inner) = given;
        self.came.notify_one();
    }

    /// Waits for work; `None`: the thread is to end.
    fn wait(&self) -> Option<(LongWork, Arc<Turn>)> {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match std::mem::take(&mut *given) {
                Given::Work(work, turn) => return Some((work, turn)),
                Given::End => return None,
                Given::Nothing => {}
            }
            given = self
                .came
                .wait(given)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets waiting turns run while fewer run than may.
    fn fill(self: &Arc<Shared>, state: &mut State) {
        let mut may_start = true;
        while state.running.len() < self.running_max && state.waiting > 0 {
            let Some(user) = state.next_user(may_start) else {
                break;
            };
            if !state.line(&user).next_is_fresh(may_start) {
                self.go_on(state, &user);
                continue;
            }
            match self.seat(state) {
                None => may_start = false,
                Some(seat) => self.start_on(state, (&user, 0), seat),
            }
        }
        if let Some(pool) = &self.pool {
            pool.others_wait(state.waiting > 0);
        }
    }

    /// Lets the user's turn that gave way first run again.
    fn go_on(&self, state: &mut State, user: &Arc<str>) {
        let line = state.line(user);
        line.was_fresh = false;
        let Some(turn) = line.resting.pop_front() else {
            return;
        };
        line.running += 1;
        let mut own = turn.own();
        (own.since_us, own.runs) = (self.clock.steady_us(), true);
        drop(own);
        turn.came.notify_one();
        state.waiting -= 1;
        state.running.push(turn);
    }

    /// Lets work that has not begun, and whose statement was stopped, begin beside the turns that run: it only has to end.
    fn begin_stopped(self: &Arc<Shared>, state: &mut State) {
        while let Some((user, at)) = state.stopped() {
            let Some(seat) = self.seat(state) else {
                return;
            };
            self.start_on(state, (&user, at), seat);
        }
    }

    /// Begins the turn of the work at this place of a user's line, on this thread.
    fn start_on(&self, state: &mut State, of: (&Arc<str>, usize), seat: Arc<Seat>) {
        match self.start(state, of) {
            Some((work, turn)) => seat.give(Given::Work(work, turn)),
            None => state.idle.push(seat),
        }
    }

    /// Begins the turn of the work at this place of a user's line. `None`: there is none.
    fn start(
        &self,
        state: &mut State,
        (user, at): (&Arc<str>, usize),
    ) -> Option<(LongWork, Arc<Turn>)> {
        let line = state.line(user);
        line.was_fresh = true;
        let Fresh { work, .. } = line.fresh.remove(at)?;
        line.running += 1;
        let turn = Arc::new(Turn {
            user: Arc::clone(user),
            own: Mutex::new(OwnTurn {
                since_us: self.clock.steady_us(),
                used_us: 0,
                runs: true,
                interrupt: Weak::new(),
            }),
            came: Condvar::new(),
        });
        state.waiting -= 1;
        state.begun_total += 1;
        state.running.push(Arc::clone(&turn));
        Some((work, turn))
    }

    /// A thread without work; a new one if need be. `None`: there are [`LONG_THREADS_MAX`], or no more can be started.
    fn seat(self: &Arc<Shared>, state: &mut State) -> Option<Arc<Seat>> {
        if let Some(seat) = state.idle.pop() {
            return Some(seat);
        }
        if state.threads >= LONG_THREADS_MAX {
            return None;
        }
        self.start_thread(state).ok()
    }

    fn start_thread(self: &Arc<Shared>, state: &mut State) -> io::Result<Arc<Seat>> {
        let seat = Arc::new(Seat::default());
        let (own, shared) = (Arc::clone(&seat), Arc::downgrade(self));
        let thread = Builder::new().name("long".to_owned());
        thread.spawn(move || {
            give_others_precedence();
            serve(&shared, &own);
        })?;
        state.threads += 1;
        Ok(seat)
    }

    /// Ends this thread's turn. Gives the next work, if this thread is to do it.
    fn end(
        self: &Arc<Shared>,
        turn: &Arc<Turn>,
        seat: &Arc<Seat>,
    ) -> Option<(LongWork, Arc<Turn>)> {
        let mut state = self.state();
        self.stop_running(&mut state, turn);
        if !state.is_ending
            && let Some(user) = state.next_user(true)
            && state.line(&user).next_is_fresh(true)
            && let Some(next) = self.start(&mut state, (&user, 0))
        {
            self.fill(&mut state);
            return Some(next);
        }
        self.fill(&mut state);
        if state.is_ending || state.idle.len() >= LONG_THREADS_IDLE_MAX {
            state.threads -= 1;
            seat.give(Given::End);
        } else {
            state.idle.push(Arc::clone(seat));
        }
        None
    }

    /// Takes a turn out of the running ones and charges its user.
    fn stop_running(&self, state: &mut State, turn: &Arc<Turn>) {
        let mut own = turn.own();
        let ran_us = self.clock.steady_us().saturating_sub(own.since_us);
        own.used_us += ran_us;
        drop(own);
        state.running.retain(|running| !Arc::ptr_eq(running, turn));
        let line = state.line(&turn.user);
        line.running = line.running.saturating_sub(1);
        line.used_us += ran_us;
        if line.is_empty() {
            state.leaves(&turn.user);
        }
    }

    /// Waits until the turn may run again, if another one waits. Called by any thread of the turn's work. Once the work is stopped it
    /// no longer waits for its turn.
    fn give_way(self: &Arc<Shared>, turn: &Arc<Turn>, is_stopped: &dyn Fn() -> bool) {
        let mut state = self.state();
        if state.waiting == 0 || !turn.own().runs {
            return;
        }
        turn.own().runs = false;
        // Into its line first: a line without turns is forgotten, with the time that it has used.
        let line = state.line(&turn.user);
        // It does not give way to itself.
        line.was_fresh &= !line.resting.is_empty();
        line.resting.push_back(Arc::clone(turn));
        state.waiting += 1;
        state.gave_way_total += 1;
        self.stop_running(&mut state, turn);
        self.fill(&mut state);
        while !turn.own().runs {
            let waited = turn.came.wait_timeout(state, STOPPED_LOOK_EVERY);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if is_stopped() && !turn.own().runs {
                self.go_on_at_once(&mut state, turn);
            }
        }
    }

    /// Lets a turn that gave way run, however many do.
    fn go_on_at_once(&self, state: &mut State, turn: &Arc<Turn>) {
        let line = state.line(&turn.user);
        line.resting.retain(|resting| !Arc::ptr_eq(resting, turn));
        line.running += 1;
        let mut own = turn.own();
        (own.since_us, own.runs) = (self.clock.steady_us(), true);
        drop(own);
        state.waiting -= 1;
        state.running.push(Arc::clone(turn));
    }
}

/// The loop of a thread: waits for work, does it, ends its turn.
fn serve(shared: &Weak<Shared>, seat: &Arc<Seat>) {
    while let Some(mut given) = seat.wait() {
        loop {
            let (work, turn) = given;
            OWN.set(Some((shared.clone(), Arc::clone(&turn))));
            // The panic belongs to the work: its owner sees that the work was dropped.
            let _ = catch_unwind(AssertUnwindSafe(work));
            OWN.set(None);
            let Some(shared) = shared.upgrade() else {
                return;
            };
            match shared.end(&turn, seat) {
                Some(next) => given = next,
                None => break,
            }
        }
    }
}
