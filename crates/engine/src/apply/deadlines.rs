//! When waits end: the nearest deadline first, without looking at those that are far.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::command::SessionId;

/// Entries that were taken back stay in the heap until they outnumber the live ones by this count.
const STALE_MAX: usize = 1024;

/// At most one deadline a session, on the steady clock in microseconds. Setting and clearing one cost O(log n), finding
/// the next one O(1) on average.
#[derive(Default)]
pub(crate) struct Deadlines {
    /// By deadline, then in the order they were set; also those that were taken back since.
    heap: BinaryHeap<Reverse<(u64, u64, SessionId)>>,
    /// The entry that counts for a session, by its ticket.
    live: FxHashMap<SessionId, u64>,
    tickets: u64,
}

impl Deadlines {
    /// Sets a session's deadline, in the place of an earlier one.
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

    /// Takes a session's deadline back.
    pub(crate) fn clear(&mut self, session: SessionId) {
        if self.live.remove(&session).is_some() {
            self.drop_stale();
        }
    }

    /// The nearest deadline.
    pub(crate) fn next_us(&self) -> Option<u64> {
        self.heap
            .peek()
            .map(|Reverse((deadline_us, ..))| *deadline_us)
    }

    /// A session whose deadline has come, once; of those with the same deadline the one that was set first.
    pub(crate) fn take_due(&mut self, steady_us: u64) -> Option<SessionId> {
        if self.next_us()? > steady_us {
            return None;
        }
        let Reverse((_, _, session)) = self.heap.pop()?;
        self.live.remove(&session);
        self.drop_stale();
        Some(session)
    }

    /// The heap's first entry is always one that counts.
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
