//! What waits before the engine: in which order, and how much of it one batch takes.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::command::{Command, Envelope, SessionId};
use crate::limits::{BATCH_BYTES_MAX, BATCH_COMMANDS_MAX, SMALL_COMMAND_BYTES_MAX};

/// What waits, in two lines, each in order of arrival and each with its bytes.
#[derive(Default)]
pub(super) struct Queue {
    small: VecDeque<(usize, Envelope)>,
    /// Large commands, and whatever their sessions sent after them.
    large: VecDeque<(usize, Envelope)>,
    /// How many commands in the line of large ones are of a session.
    behind: FxHashMap<SessionId, usize>,
    pub(super) bytes: usize,
}

impl Queue {
    pub(super) fn len(&self) -> usize {
        self.small.len() + self.large.len()
    }

    /// The commands of one session keep their order; the end comes after everything.
    pub(super) fn push(&mut self, bytes: usize, envelope: Envelope) {
        self.bytes += bytes;
        let is_end = matches!(envelope.command, Command::Shutdown) && !self.large.is_empty();
        let is_behind = !self.behind.is_empty() && self.behind.contains_key(&envelope.session);
        if bytes <= SMALL_COMMAND_BYTES_MAX && !is_behind && !is_end {
            self.small.push_back((bytes, envelope));
            return;
        }
        *self.behind.entry(envelope.session).or_default() += 1;
        self.large.push_back((bytes, envelope));
    }

    /// Everything that waits.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Envelope> + use<> {
        let small = std::mem::take(&mut self.small);
        let large = std::mem::take(&mut self.large);
        small.into_iter().chain(large).map(|(_, envelope)| envelope)
    }

    /// Small commands first; then large ones as long as the batch is not, and at least one of them.
    pub(super) fn take_batch(&mut self) -> Vec<Envelope> {
        let mut batch = Vec::with_capacity(self.len().min(BATCH_COMMANDS_MAX));
        let mut batch_bytes = 0;
        while batch.len() < BATCH_COMMANDS_MAX
            && let Some((bytes, envelope)) = self.small.pop_front()
        {
            batch_bytes += bytes;
            batch.push(envelope);
            if batch_bytes >= BATCH_BYTES_MAX {
                break;
            }
        }
        let mut is_first = true;
        while let Some(bytes) = self.large.front().map(|(bytes, _)| *bytes) {
            if !is_first && batch_bytes + bytes > BATCH_BYTES_MAX {
                break;
            }
            let Some((_, envelope)) = self.large.pop_front() else {
                break;
            };
            is_first = false;
            batch_bytes += bytes;
            if let Entry::Occupied(mut behind) = self.behind.entry(envelope.session) {
                *behind.get_mut() -= 1;
                if *behind.get() == 0 {
                    behind.remove();
                }
            }
            batch.push(envelope);
        }
        self.bytes -= batch_bytes;
        batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use query::value::Value;

    fn insert(bytes: usize) -> Command {
        Command::Insert {
            table: "q".to_owned(),
            columns: None,
            rows: vec![vec![Value::Str("x".repeat(bytes))]],
            replace: false,
        }
    }

    /// The order in which the sessions' commands are taken, batch by batch.
    fn taken(sent: &[(u64, Command)]) -> Vec<Vec<u64>> {
        let mut queue = Queue::default();
        for (session, command) in sent {
            let envelope = Envelope {
                session: SessionId(*session),
                command: command.clone(),
                reply: Box::new(|_| {}),
            };
            queue.push(command.bytes(), envelope);
        }
        let mut batches = Vec::new();
        while queue.len() > 0 {
            let batch = queue.take_batch();
            batches.push(batch.iter().map(|envelope| envelope.session.0).collect());
        }
        assert_eq!((queue.bytes, queue.behind.len()), (0, 0));
        batches
    }

    #[test]
    fn small_commands_pass_large_ones_and_one_large_one_goes_with_each_batch() {
        let large = || insert(BATCH_BYTES_MAX);
        let sent = [(1, large()), (2, large()), (3, insert(1)), (4, large())];
        assert_eq!(taken(&sent), [vec![3, 1], vec![2], vec![4]]);
    }

    #[test]
    fn the_commands_of_a_session_keep_their_order() {
        let large = || insert(BATCH_BYTES_MAX);
        let sent = [
            (1, large()),
            (2, large()),
            (2, Command::SessionClosed),
            (3, insert(1)),
        ];
        assert_eq!(taken(&sent), [vec![3, 1], vec![2], vec![2]]);
    }

    #[test]
    fn the_end_comes_after_what_was_sent_before() {
        let large = || insert(BATCH_BYTES_MAX);
        let sent = [(1, large()), (2, large()), (0, Command::Shutdown)];
        assert_eq!(taken(&sent), [vec![1], vec![2], vec![0]]);
    }

    #[test]
    fn large_commands_share_a_batch_as_long_as_it_is_short() {
        let sent: Vec<_> = (1..=5)
            .map(|session| (session, insert(BATCH_BYTES_MAX / 3)))
            .collect();
        assert_eq!(taken(&sent), [vec![1, 2], vec![3, 4], vec![5]]);
    }
}
