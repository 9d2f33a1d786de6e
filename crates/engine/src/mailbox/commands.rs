//! What waits before the engine: in which order, and how much of it one batch takes.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::command::{Command, Envelope, SessionId};
use crate::limits::{BATCH_BYTES_MAX, BATCH_COMMANDS_MAX, SMALL_COMMAND_BYTES_MAX};

/// The commands that wait, in two lines, each in order of arrival.
///
/// With `s` for a small command, `L` for a large one, and the session behind it, these arrive: `s1 L1 s2 L2 s1`. Then `small`
/// holds `s1 s2` and `large` holds `L1 L2 s1`.
///
/// Invariants:
/// - While a session has a command in `large`, its later commands go to `large` too.
/// - A command leaves `large` only when every command that arrived before it has left `small`: a session's large command
///   passes none of its own earlier ones, and a large command waits for at most the small ones that arrived before it.
/// - While small commands wait, no two batches in a row have a large one: a small command waits for one large one at most, and
///   its answer for no other.
/// - Together: the commands of one session leave in the order in which they arrived, and the end leaves behind everything
///   that arrived before it.
#[derive(Default)]
pub(super) struct Commands {
    small: VecDeque<Waiting>,
    /// Large commands, and the later commands of their sessions.
    large: VecDeque<Waiting>,
    /// How many commands in the line of large ones are of a session.
    behind: FxHashMap<SessionId, usize>,
    pub(super) bytes: usize,
    /// Commands that have arrived so far.
    arrived: u64,
    /// Whether the last batch took a large command.
    took_large: bool,
}

struct Waiting {
    /// The place among all that have arrived.
    arrival: u64,
    bytes: usize,
    envelope: Envelope,
}

impl Commands {
    pub(super) fn len(&self) -> usize {
        self.small.len() + self.large.len()
    }

    /// The commands of one session keep their order; the end comes after everything.
    pub(super) fn push(&mut self, bytes: usize, envelope: Envelope) {
        self.bytes += bytes;
        let waiting = Waiting {
            arrival: self.arrived,
            bytes,
            envelope,
        };
        self.arrived += 1;
        let envelope = &waiting.envelope;
        let is_end = matches!(envelope.command, Command::Shutdown) && !self.large.is_empty();
        let is_behind = !self.behind.is_empty() && self.behind.contains_key(&envelope.session);
        if bytes <= SMALL_COMMAND_BYTES_MAX && !is_behind && !is_end {
            self.small.push_back(waiting);
            return;
        }
        *self.behind.entry(envelope.session).or_default() += 1;
        self.large.push_back(waiting);
    }

    /// Everything that waits.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Envelope> + use<> {
        let small = std::mem::take(&mut self.small);
        let large = std::mem::take(&mut self.large);
        let waiting = small.into_iter().chain(large);
        waiting.map(|waiting| waiting.envelope)
    }

    /// Takes out the large commands whose sender was told to stop. Nothing of them is done, so they need no place in a batch.
    /// Cost: a look at each command in the line of large ones.
    pub(super) fn take_stopped(&mut self) -> Vec<Envelope> {
        let is_stopped = |waiting: &mut Waiting| {
            let interrupt = waiting.envelope.interrupt.as_ref();
            interrupt.is_some_and(|interrupt| interrupt.reason().is_some())
        };
        let mut stopped = Vec::new();
        let mut at = 0;
        while let Some(waiting) = self.large.get_mut(at) {
            if !is_stopped(waiting) {
                at += 1;
            } else if let Some(Waiting {
                bytes, envelope, ..
            }) = self.large.remove(at)
            {
                self.bytes -= bytes;
                self.no_longer_behind(envelope.session);
                stopped.push(envelope);
            }
        }
        stopped
    }

    fn no_longer_behind(&mut self, session: SessionId) {
        if let Entry::Occupied(mut behind) = self.behind.entry(session) {
            *behind.get_mut() -= 1;
            if *behind.get() == 0 {
                behind.remove();
            }
        }
    }

    /// Small commands first; then large ones as long as the batch is not, and at least one of them where it may leave, unless
    /// there are small ones and the last batch had a large one. At least one command where some wait.
    pub(super) fn take_batch(&mut self) -> Vec<Envelope> {
        let mut batch = Vec::with_capacity(self.len().min(BATCH_COMMANDS_MAX));
        let mut batch_bytes = 0;
        while batch.len() < BATCH_COMMANDS_MAX
            && let Some(waiting) = self.small.pop_front()
        {
            batch_bytes += waiting.bytes;
            batch.push(waiting.envelope);
            if batch_bytes >= BATCH_BYTES_MAX {
                break;
            }
        }
        if std::mem::take(&mut self.took_large) && !batch.is_empty() {
            self.bytes -= batch_bytes;
            return batch;
        }
        let first_small = self.small.front().map(|small| small.arrival);
        let mut is_first = true;
        while let Some(Waiting {
            bytes, envelope, ..
        }) = self.large.pop_front_if(|large| {
            let may_leave = first_small.is_none_or(|first| large.arrival < first);
            may_leave && (is_first || batch_bytes + large.bytes <= BATCH_BYTES_MAX)
        }) {
            is_first = false;
            batch_bytes += bytes;
            self.no_longer_behind(envelope.session);
            self.took_large = true;
            batch.push(envelope);
        }
        self.bytes -= batch_bytes;
        batch
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use index::{Interrupt, Reason};
    use proptest::prelude::*;
    use relation::value::Value;

    use super::*;
    use crate::command::Write;

    fn insert(bytes: usize) -> Command {
        Command::Write(Write::Insert(relation::request::Insert {
            table: "q".to_owned(),
            columns: None,
            rows: vec![vec![Value::Str("x".repeat(bytes))]],
            replace: false,
        }))
    }

    fn envelope(session: u64, command: Command, interrupt: Option<Arc<Interrupt>>) -> Envelope {
        Envelope {
            session: SessionId(session),
            command,
            interrupt,
            made: Vec::new(),
            reply: Box::new(|_| {}),
        }
    }

    /// The order in which the sessions' commands are taken, batch by batch.
    fn taken(sent: &[(u64, Command)]) -> Vec<Vec<u64>> {
        let mut queue = Commands::default();
        for (session, command) in sent {
            queue.push(command.bytes(), envelope(*session, command.clone(), None));
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
    fn no_large_command_goes_with_small_ones_right_behind_another_large_one() {
        let mut queue = Commands::default();
        let mut take = |sent: &[(u64, Command)]| {
            for (session, command) in sent {
                queue.push(command.bytes(), envelope(*session, command.clone(), None));
            }
            let batch = queue.take_batch();
            let sessions = batch.iter().map(|envelope| envelope.session.0);
            sessions.collect::<Vec<u64>>()
        };
        let large = || insert(BATCH_BYTES_MAX);
        assert_eq!(take(&[(1, large()), (2, large()), (3, large())]), [1]);
        assert_eq!(
            take(&[(4, insert(1))]),
            [4],
            "its answer waits for no other"
        );
        assert_eq!(take(&[(5, insert(1))]), [5, 2], "and the large ones go on");
        assert_eq!(take(&[]), [3], "at once, where no small one waits");
    }

    #[test]
    fn a_large_command_that_is_stopped_leaves_the_line_and_the_others_keep_their_order() {
        let mut queue = Commands::default();
        let interrupt = Arc::new(Interrupt::default());
        let large = || insert(BATCH_BYTES_MAX);
        for (session, command, stops) in [
            (1, large(), false),
            (2, large(), true),
            (2, insert(1), false),
            (3, large(), false),
        ] {
            let stop = stops.then(|| Arc::clone(&interrupt));
            queue.push(command.bytes(), envelope(session, command, stop));
        }
        assert!(queue.take_stopped().is_empty());
        interrupt.stop(Reason::Killed);
        let stopped = queue.take_stopped();
        let sessions: Vec<u64> = stopped.iter().map(|envelope| envelope.session.0).collect();
        assert_eq!(sessions, [2]);
        let mut order = Vec::new();
        while queue.len() > 0 {
            let batch = queue.take_batch();
            order.extend(batch.iter().map(|envelope| envelope.session.0));
        }
        assert_eq!(order, [1, 2, 3]);
        assert_eq!((queue.bytes, queue.behind.len()), (0, 0));
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
    fn a_large_command_waits_for_the_small_ones_that_its_session_sent_before() {
        let mut sent = vec![(1, insert(1)); BATCH_COMMANDS_MAX + 1];
        sent.push((1, insert(BATCH_BYTES_MAX)));
        let batches = taken(&sent);
        let lengths: Vec<usize> = batches.iter().map(Vec::len).collect();
        assert_eq!(lengths, [BATCH_COMMANDS_MAX, 2]);
    }

    #[test]
    fn the_end_comes_after_small_and_large_commands_that_fill_several_batches() {
        let mut sent = vec![(1, insert(1)); 2 * BATCH_COMMANDS_MAX];
        sent.push((2, insert(BATCH_BYTES_MAX)));
        sent.push((0, Command::Shutdown));
        let order: Vec<u64> = taken(&sent).concat();
        assert_eq!(order.len(), sent.len());
        assert_eq!(order.last(), Some(&0));
    }

    /// A command for the random test: its session and number stand in the name of a table.
    fn numbered(session: u64, number: usize, is_end: bool) -> Envelope {
        let command = match is_end {
            true => Command::Shutdown,
            false => Command::QueuePurge {
                table: number.to_string(),
            },
        };
        envelope(session, command, None)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Runs of equal commands, with batches taken between them: `(session, bytes, how many, batches taken behind)`.
        #[test]
        fn every_command_is_taken_once_in_the_order_of_its_session_and_the_end_is_last(
            runs in proptest::collection::vec(
                (
                    1..5u64,
                    prop_oneof![
                        Just(10usize),
                        Just(SMALL_COMMAND_BYTES_MAX),
                        Just(SMALL_COMMAND_BYTES_MAX + 1),
                        Just(BATCH_BYTES_MAX),
                    ],
                    prop_oneof![1..4usize, 900..1500usize],
                    0..3usize,
                ),
                1..12,
            ),
            end_at in 0..12usize,
        ) {
            let mut queue = Commands::default();
            let (mut sent, mut number) = (BTreeMap::<u64, VecDeque<usize>>::new(), 0);
            let mut end = None;
            let take = |queue: &mut Commands, sent: &mut BTreeMap<u64, VecDeque<usize>>, end: &mut Option<usize>| {
                let waiting = queue.len();
                let batch = queue.take_batch();
                assert_eq!(batch.len() + queue.len(), waiting);
                assert_eq!(batch.is_empty(), waiting == 0, "a batch takes at least one command");
                for envelope in batch {
                    let first = sent.get_mut(&envelope.session.0).and_then(VecDeque::pop_front);
                    match envelope.command {
                        Command::QueuePurge { table } => {
                            assert_eq!(Some(table), first.map(|first| first.to_string()));
                        }
                        _ => {
                            let end = end.take().expect("one end");
                            let earliest = sent.values().filter_map(|numbers| numbers.front());
                            assert!(earliest.min().is_none_or(|first| *first > end));
                        }
                    }
                }
            };
            for (place, (session, bytes, count, batches)) in runs.into_iter().enumerate() {
                if place == end_at {
                    queue.push(1, numbered(0, number, true));
                    end = Some(number);
                    number += 1;
                }
                for _ in 0..count {
                    queue.push(bytes, numbered(session, number, false));
                    sent.entry(session).or_default().push_back(number);
                    number += 1;
                }
                for _ in 0..batches {
                    take(&mut queue, &mut sent, &mut end);
                }
            }
            while queue.len() > 0 {
                take(&mut queue, &mut sent, &mut end);
            }
            prop_assert!(sent.values().all(VecDeque::is_empty));
            prop_assert_eq!((end, queue.bytes, queue.behind.len()), (None, 0, 0));
        }
    }

    #[test]
    fn large_commands_share_a_batch_as_long_as_it_is_short() {
        let sent: Vec<_> = (1..=5)
            .map(|session| (session, insert(BATCH_BYTES_MAX / 3)))
            .collect();
        assert_eq!(taken(&sent), [vec![1, 2], vec![3, 4], vec![5]]);
    }
}
