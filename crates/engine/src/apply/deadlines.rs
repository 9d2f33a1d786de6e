//! When waits end: [`Deadlines`] gives the nearest deadline without a look at the others. Only `Sessions` uses it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::command::SessionId;

/// Stale entries stay in the heap until there are this many more of them than live ones.
const STALE_MAX: usize = 1024;

/// At most one deadline for each session, on the steady clock in microseconds.
///
/// A heap cannot remove an entry from its middle. So a deadline that is replaced or cleared leaves a stale entry, which goes when
/// it comes to the front. An entry is live if `live` has its ticket. Entries are (deadline, ticket, session):
///
/// | call | `heap`, the front first | `live` |
/// |---|---|---|
/// | `set(s1, 30)` | (30, 1, s1) | s1: 1 |
/// | `set(s2, 10)` | (10, 2, s2) (30, 1, s1) | s1: 1, s2: 2 |
/// | `set(s1, 20)` | (10, 2, s2) (20, 3, s1) (30, 1, s1) | s1: 3, s2: 2 |
/// | `clear(s2)` | (20, 3, s1) (30, 1, s1) | s1: 3 |
/// | `take_due(25)` gives s1 | | |
///
/// # Invariants
/// - The front of the heap is live, so `next_us` and `take_due` look at one entry: `set`, `clear` and `take_due` end with
///   `drop_stale`.
/// - A session has at most one live entry, and each session in `live` has one.
/// - After `set` the heap has at most 2 × live + [`STALE_MAX`] entries: a session that waits again and again in front of a far
///   deadline does not fill memory.
///
/// Cost: `set`, `clear` and `take_due` O(log n) amortised, `next_us` O(1).
#[derive(Default)]
pub(crate) struct Deadlines {
    /// (deadline, ticket, session), the nearest deadline first, then the lowest ticket; live and stale entries.
    heap: BinaryHeap<Reverse<(u64, u64, SessionId)>>,
    /// The ticket of each session's live entry.
    live: FxHashMap<SessionId, u64>,
    /// The last ticket given; a ticket is never reused.
    tickets: u64,
}

impl Deadlines {
    /// Sets a session's deadline; an earlier one of the session no longer counts.
    pub(crate) fn set(&mut self, session: SessionId, deadline_us: u64) {
        self.tickets += 1;
        self.live.insert(session, self.tickets);
        self.heap
            .push(Reverse((deadline_us, self.tickets, session)));
        if self.heap.len() > 2 * self.live.len() + STALE_MAX {
            let live = &self.live;
            self.heap
                .retain(|Reverse((_, ticket, session))| live.get(session) == Some(ticket));
        }
        self.drop_stale();
    }

    /// Removes a session's deadline; nothing where it has none.
    pub(crate) fn clear(&mut self, session: SessionId) {
        if self.live.remove(&session).is_some() {
            self.drop_stale();
        }
    }

    /// The nearest deadline; `None` where there is none.
    pub(crate) fn next_us(&self) -> Option<u64> {
        self.heap
            .peek()
            .map(|Reverse((deadline_us, ..))| *deadline_us)
    }

    /// Removes the nearest deadline, if it has come, and gives its session. Equal deadlines come in the order of `set`.
    pub(crate) fn take_due(&mut self, steady_us: u64) -> Option<SessionId> {
        if self.next_us()? > steady_us {
            return None;
        }
        let Reverse((_, _, session)) = self.heap.pop()?;
        self.live.remove(&session);
        self.drop_stale();
        Some(session)
    }

    /// Removes stale entries from the front.
    fn drop_stale(&mut self) {
        while let Some(Reverse((_, ticket, session))) = self.heap.peek() {
            if self.live.get(session) == Some(ticket) {
                break;
            }
            self.heap.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(deadlines: &mut Deadlines, steady_us: u64) -> Vec<u64> {
        std::iter::from_fn(|| deadlines.take_due(steady_us))
            .map(|session| session.0)
            .collect()
    }

    #[test]
    fn sessions_come_by_deadline_and_then_in_the_order_they_were_set() {
        let mut deadlines = Deadlines::default();
        for (session, deadline_us) in [(1, 30), (2, 10), (3, 20), (4, 10)] {
            deadlines.set(SessionId(session), deadline_us);
        }
        assert_eq!(deadlines.next_us(), Some(10));
        assert_eq!(due(&mut deadlines, 9), [0; 0]);
        assert_eq!(due(&mut deadlines, 20), [2, 4, 3]);
        assert_eq!(deadlines.next_us(), Some(30));
    }

    #[test]
    fn only_the_last_deadline_of_a_session_counts() {
        let mut deadlines = Deadlines::default();
        deadlines.set(SessionId(1), 10);
        deadlines.set(SessionId(2), 15);
        deadlines.set(SessionId(1), 20);
        assert_eq!(deadlines.next_us(), Some(15));
        deadlines.clear(SessionId(2));
        assert_eq!(deadlines.next_us(), Some(20));
        assert_eq!(due(&mut deadlines, 100), [1]);
        assert_eq!(deadlines.next_us(), None);
    }

    #[test]
    fn a_session_that_waits_again_and_again_leaves_no_trace() {
        let mut deadlines = Deadlines::default();
        deadlines.set(SessionId(1), 1); // the first entry stays, so no later one is dropped from the front
        for round in 0..100_000 {
            deadlines.set(SessionId(2), 1_000_000 + round);
        }
        assert!(deadlines.heap.len() <= 2 * 2 + STALE_MAX);
    }
}
