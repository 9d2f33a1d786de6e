//! The buffer over made-up stores: whatever fails, each message is delivered, in order.

use std::sync::Mutex;

use disk::{Disk, MemoryDisk};
use engine::Messages;
use proptest::prelude::*;

use super::*;
use crate::config::{NetworkConfig, StoreConfig};
use crate::store::Backlog;
use crate::store::tests::surroundings;

/// A store that a test steers while the buffer owns its twin.
#[derive(Clone, Default)]
pub(super) struct MadeUp(Arc<Mutex<Inside>>);

#[derive(Default)]
pub(super) struct Inside {
    /// Refuses to open, and to take anything.
    pub(super) is_away: bool,
    /// Takes this number of messages more, then fails once.
    pub(super) fails_after: Option<usize>,
    /// Of a batch it takes all and says that it took nothing, once: the reply is lost.
    loses_reply: bool,
    /// Messages of each file; a primary has one file.
    files: Vec<Vec<u64>>,
    pub(super) file_messages_max: usize,
    opened: usize,
    read_fails: bool,
}

fn number(message: &Message<'_>) -> u64 {
    u64::from_le_bytes(message.body.try_into().unwrap())
}

impl MadeUp {
    pub(super) fn set(&self, change: impl FnOnce(&mut Inside)) {
        change(&mut self.0.lock().unwrap());
    }

    pub(super) fn has(&self) -> Vec<u64> {
        self.0.lock().unwrap().files.concat()
    }
}

impl Inside {
    fn put(&mut self, message: u64) {
        let is_full = |file: &Vec<u64>| self.file_messages_max == file.len();
        if self.files.last().is_none_or(is_full) {
            self.files.push(Vec::new());
        }
        self.files.last_mut().unwrap().push(message);
    }
}

impl Store for MadeUp {
    fn open(&mut self, _: Now) -> Result<(), String> {
        let mut inside = self.0.lock().unwrap();
        inside.opened += 1;
        if inside.is_away {
            return Err("away".to_owned());
        }
        Ok(())
    }

    fn write(&mut self, batch: &[Message<'_>], _: Now) -> Written {
        let mut inside = self.0.lock().unwrap();
        let failed = |taken| Written {
            taken,
            failed: Some("failed".to_owned()),
        };
        if inside.is_away {
            return failed(0);
        }
        let taken = match inside.fails_after {
            Some(after) if after < batch.len() => {
                inside.fails_after = None;
                after
            }
            _ => batch.len(),
        };
        batch[..taken]
            .iter()
            .for_each(|message| inside.put(number(message)));
        if std::mem::take(&mut inside.loses_reply) {
            return failed(0);
        }
        match taken == batch.len() {
            true => Written {
                taken,
                failed: None,
            },
            false => failed(taken),
        }
    }

    fn backlog(&mut self) -> Option<&mut dyn Backlog> {
        Some(self)
    }
}

impl Backlog for MadeUp {
    fn is_empty(&mut self, _: Now) -> io::Result<bool> {
        Ok(self.has().is_empty())
    }

    fn read_oldest(&mut self, _: usize, _: Now) -> io::Result<Messages> {
        let inside = self.0.lock().unwrap();
        if inside.read_fails {
            return Err(io::Error::other("bad sector"));
        }
        let mut messages = Messages::default();
        // Pieces of two, so that a file has several.
        for message in inside.files.first().into_iter().flatten().take(2) {
            messages.push(b"web", &message.to_le_bytes());
        }
        Ok(messages)
    }

    fn remove_oldest(&mut self, count: usize) -> io::Result<bool> {
        let mut inside = self.0.lock().unwrap();
        inside.files[0].drain(..count);
        let has_ended = inside.files[0].is_empty();
        if has_ended {
            inside.files.remove(0);
        }
        Ok(has_ended)
    }
}

/// A line: it keeps messages that were not taken, in order.
pub(super) struct Line {
    pub(super) buffer: Buffer,
    pub(super) primary: MadeUp,
    secondary: MadeUp,
    queue_bytes: Arc<AtomicU64>,
    pub(super) waiting: Vec<u64>,
    pub(super) given: u64,
    pub(super) now: Now,
}

pub(super) fn config() -> BufferConfig {
    let network = NetworkConfig {
        hosts: Vec::new(),
        is_service: false,
        timeout_ms: 1,
        ignore_network_error: false,
        bucket_updater: None,
    };
    BufferConfig {
        primary: StoreConfig::Network(network),
        secondary: StoreConfig::Null,
        buffer_send_rate: None,
        retry_interval_s: 10,
        retry_interval_range_s: 4,
        replay_buffer: true,
        flush_streaming: false,
        buffer_bypass_max_ratio: 0.75,
        adaptive_backoff: false,
        min_retry_interval_s: 5,
        max_retry_interval_s: 100,
        max_random_offset_s: 20,
        max_queue_length: 0,
    }
}

impl Line {
    fn new(config: &BufferConfig) -> Line {
        let (primary, secondary) = (MadeUp::default(), MadeUp::default());
        primary.set(|inside| inside.file_messages_max = usize::MAX);
        secondary.set(|inside| inside.file_messages_max = 5);
        Line::of(config, primary, secondary)
    }

    fn of(config: &BufferConfig, primary: MadeUp, secondary: MadeUp) -> Line {
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
        let surroundings = Surroundings {
            max_queue_size: 1_000,
            ..surroundings(&disk)
        };
        let behind = Box::new(secondary.clone());
        Line {
            secondary,
            ..Line::over(config, primary, behind, &surroundings)
        }
    }

    /// A line whose secondary is a store of any kind.
    pub(super) fn over(
        config: &BufferConfig,
        primary: MadeUp,
        secondary: Box<dyn Store>,
        surroundings: &Surroundings,
    ) -> Line {
        Line {
            buffer: Buffer::new(
                (Box::new(primary.clone()), secondary),
                config,
                (b"web", 0),
                surroundings,
            ),
            primary,
            secondary: MadeUp::default(),
            queue_bytes: Arc::clone(&surroundings.queue_bytes),
            waiting: Vec::new(),
            given: 0,
            now: Now::default(),
        }
    }

    /// `after`, with the messages that wait.
    pub(super) fn restarted(self, after: Line) -> Line {
        Line {
            waiting: self.waiting,
            given: self.given,
            now: self.now,
            ..after
        }
    }

    pub(super) fn write(&mut self, count: u64) {
        self.waiting.extend(self.given..self.given + count);
        self.given += count;
        let bodies: Vec<[u8; 8]> = self.waiting.iter().map(|n| n.to_le_bytes()).collect();
        let message = |body| Message {
            category: b"web",
            body,
        };
        let batch: Vec<Message<'_>> = bodies.iter().map(|body| message(&body[..])).collect();
        let written = self.buffer.write(&batch, self.now);
        assert_eq!(written.failed.is_none(), written.taken == batch.len());
        self.waiting.drain(..written.taken);
    }

    pub(super) fn pass(&mut self, seconds: u64) {
        self.now.steady_us += seconds * 1_000_000;
    }

    pub(super) fn look(&mut self) {
        self.buffer.look(self.now);
    }

    /// Looks until the buffer wants no more.
    pub(super) fn look_on(&mut self) {
        self.look();
        let mut looks = 1;
        while self.buffer.next_look_us() == Some(0) {
            self.look();
            looks += 1;
            assert!(looks < 1_000, "it wants looks without an end");
        }
    }

    pub(super) fn state(&self) -> State {
        self.buffer.state
    }
}

#[test]
fn the_example_of_the_head_happens() {
    let mut line = Line::new(&config());
    line.secondary.set(|inside| inside.file_messages_max = 3);
    line.write(2);
    assert_eq!(line.state(), State::Streaming);
    line.primary.set(|inside| inside.is_away = true);
    line.write(1);
    assert_eq!(line.state(), State::Disconnected);
    assert_eq!(line.buffer.status().as_deref(), Some("failed"));
    line.write(3);
    line.primary.set(|inside| inside.is_away = false);
    line.pass(13);
    line.look();
    assert_eq!(line.state(), State::SendingBuffer);
    line.write(1);
    assert_eq!(line.primary.has(), [0, 1, 2, 3], "a new message waits");
    line.look_on();
    assert_eq!(line.state(), State::Streaming);
    assert_eq!(line.primary.has(), (0..7).collect::<Vec<_>>());
    assert_eq!(line.buffer.status(), None);
    assert_eq!(line.buffer.counters.all()[&b"web:retries"[..]], 1);
}

#[test]
fn files_of_an_earlier_life_are_sent_before_new_messages() {
    let mut line = Line::new(&config());
    line.secondary
        .set(|inside| inside.files = vec![vec![100, 101, 102]]);
    assert_eq!(line.buffer.open(line.now), Ok(()));
    assert_eq!(line.state(), State::SendingBuffer);
    line.write(1);
    line.look_on();
    assert_eq!(line.primary.has(), [100, 101, 102, 0]);
}

#[test]
fn the_primary_is_tried_again_only_after_the_pause() {
    let mut line = Line::new(&config());
    line.primary.set(|inside| inside.is_away = true);
    line.write(1);
    let opened = |line: &Line| line.primary.0.lock().unwrap().opened;
    assert_eq!(opened(&line), 1);
    line.pass(7);
    line.look_on();
    assert_eq!(opened(&line), 1, "the shortest pause is 8 s");
    line.pass(5);
    line.look_on();
    assert_eq!(opened(&line), 2, "the longest pause is below 12 s");
}

#[test]
fn a_set_send_rate_is_obeyed_and_an_unset_one_sends_all() {
    for (rate, wanted) in [(Some(1), 5), (Some(2), 10), (None, 23)] {
        let mut line = Line::new(&BufferConfig {
            buffer_send_rate: rate,
            ..config()
        });
        line.primary.set(|inside| inside.is_away = true);
        line.write(23);
        line.primary.set(|inside| inside.is_away = false);
        line.pass(13);
        line.look_on();
        assert_eq!(line.primary.has().len(), wanted, "{rate:?}");
    }
}

#[test]
fn without_replay_the_messages_of_an_outage_stay_in_the_secondary() {
    let mut line = Line::new(&BufferConfig {
        replay_buffer: false,
        ..config()
    });
    line.primary.set(|inside| inside.is_away = true);
    line.write(3);
    line.primary.set(|inside| inside.is_away = false);
    line.pass(13);
    line.look_on();
    line.write(2);
    assert_eq!(line.state(), State::Streaming);
    assert_eq!(line.primary.has(), [3, 4]);
    assert_eq!(line.secondary.has(), [0, 1, 2]);
}

#[test]
fn flush_streaming_sends_new_messages_first_and_stops_the_replay_while_the_queue_is_long() {
    let mut line = Line::new(&BufferConfig {
        flush_streaming: true,
        ..config()
    });
    line.secondary.set(|inside| inside.files = vec![vec![100]]);
    line.queue_bytes.store(750, Ordering::Relaxed);
    line.write(2);
    line.look();
    assert_eq!(line.primary.has(), [0, 1]);
    line.queue_bytes.store(749, Ordering::Relaxed);
    line.look();
    assert_eq!(line.primary.has(), [0, 1, 100]);
}

#[test]
fn the_secondary_takes_over_while_the_queue_is_longer_than_max_queue_length() {
    let mut line = Line::new(&BufferConfig {
        max_queue_length: 500,
        ..config()
    });
    line.queue_bytes.store(501, Ordering::Relaxed);
    line.write(3);
    assert_eq!(line.secondary.has(), [0, 1, 2]);
    line.queue_bytes.store(500, Ordering::Relaxed);
    line.write(1);
    assert_eq!(line.secondary.has(), [0, 1, 2, 3], "order holds");
    line.look_on();
    line.write(1);
    assert_eq!(line.primary.has(), [0, 1, 2, 3, 4]);
}

#[test]
fn when_both_fail_the_line_keeps_the_batch_and_is_told_why() {
    let mut line = Line::new(&config());
    line.write(1);
    line.primary.set(|inside| inside.fails_after = Some(2));
    line.secondary.set(|inside| inside.is_away = true);
    line.write(5);
    assert_eq!(line.waiting, [3, 4, 5], "the primary took two of five");
    let status = line.buffer.status().unwrap();
    assert!(status.contains("the secondary store"), "{status}");
    line.secondary.set(|inside| inside.is_away = false);
    line.write(0);
    line.pass(13);
    line.look_on();
    assert_eq!(line.primary.has(), (0..6).collect::<Vec<_>>());
}

#[test]
fn a_secondary_that_cannot_be_read_is_tried_at_the_next_look_and_keeps_the_order() {
    let mut line = Line::new(&config());
    line.secondary.set(|inside| {
        inside.files = vec![vec![100]];
        inside.read_fails = true;
    });
    line.write(1);
    line.look();
    assert_eq!(
        line.buffer.next_look_us(),
        None,
        "no worker is kept busy by it"
    );
    assert!(line.buffer.status().unwrap().contains("bad sector"));
    line.secondary.set(|inside| inside.read_fails = false);
    line.look_on();
    assert_eq!(line.primary.has(), [100, 0]);
    assert_eq!(line.buffer.status(), None);
}

#[test]
fn adaptive_pauses_grow_at_failures_shrink_at_successes_and_keep_their_bounds() {
    let adaptive = BufferConfig {
        adaptive_backoff: true,
        max_random_offset_s: 0,
        ..config()
    };
    let mut pause = Pause::new(&adaptive, 1);
    assert_eq!(pause.us(), 5_000_000);
    pause.failed();
    assert_eq!(pause.us(), 7_070_000);
    pause.succeeded();
    assert_eq!(pause.us(), 5_070_000);
    pause.succeeded();
    assert_eq!(pause.us(), 5_000_000);
    (0..100).for_each(|_| pause.failed());
    assert_eq!(pause.us(), 100_000_000);
    let contradictory = BufferConfig {
        min_retry_interval_s: 50,
        max_retry_interval_s: 40,
        ..adaptive
    };
    assert_eq!(Pause::new(&contradictory, 1).us(), 5_000_000);
}

#[test]
fn drawn_pauses_lie_around_the_interval_and_the_range_never_exceeds_it() {
    for (interval, range, least, most) in [(300, 60, 270, 330), (10, 50, 5, 15), (0, 7, 0, 0)] {
        let mut pause = Pause::new(
            &BufferConfig {
                retry_interval_s: interval,
                retry_interval_range_s: range,
                ..config()
            },
            9,
        );
        for _ in 0..1_000 {
            pause.failed();
            assert!((least * 1_000_000..=most * 1_000_000).contains(&pause.us()));
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Write(u64),
    Look,
    Pass(u64),
    Primary {
        is_away: bool,
    },
    PrimaryFailsAfter(usize),
    PrimaryLosesReply,
    Secondary {
        is_away: bool,
    },
    SecondaryFailsAfter(usize),
    /// The process stops and starts with the files that the secondary has.
    Restart,
    Queue(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..8_u64).prop_map(Step::Write),
        4 => Just(Step::Look),
        2 => (0..20_u64).prop_map(Step::Pass),
        2 => any::<bool>().prop_map(|is_away| Step::Primary { is_away }),
        1 => (0..6_usize).prop_map(Step::PrimaryFailsAfter),
        1 => Just(Step::PrimaryLosesReply),
        1 => any::<bool>().prop_map(|is_away| Step::Secondary { is_away }),
        1 => (0..6_usize).prop_map(Step::SecondaryFailsAfter),
        1 => Just(Step::Restart),
        1 => (0..1_000_u64).prop_map(Step::Queue),
    ]
}

/// Does the steps, then heals both stores and drains. Gives the messages that the primary has and their number given.
fn run(config: &BufferConfig, steps: &[Step]) -> (Vec<u64>, u64) {
    let mut line = Line::new(config);
    for step in steps {
        match *step {
            Step::Write(count) => line.write(count),
            Step::Look => line.look(),
            Step::Pass(seconds) => line.pass(seconds),
            Step::Primary { is_away } => line.primary.set(|inside| inside.is_away = is_away),
            Step::PrimaryFailsAfter(count) => {
                line.primary.set(|inside| inside.fails_after = Some(count));
            }
            Step::PrimaryLosesReply => line.primary.set(|inside| inside.loses_reply = true),
            Step::Secondary { is_away } => line.secondary.set(|inside| inside.is_away = is_away),
            Step::SecondaryFailsAfter(count) => {
                line.secondary
                    .set(|inside| inside.fails_after = Some(count));
            }
            Step::Restart => {
                let after = Line::of(config, line.primary.clone(), line.secondary.clone());
                line = line.restarted(after);
            }
            Step::Queue(bytes) => line.queue_bytes.store(bytes, Ordering::Relaxed),
        }
    }
    line.queue_bytes.store(0, Ordering::Relaxed);
    for store in [&line.primary, &line.secondary] {
        store.set(|inside| {
            (inside.is_away, inside.fails_after, inside.loses_reply) = (false, None, false);
        });
    }
    line.write(1);
    line.pass(1_000);
    line.look_on();
    line.write(1);
    assert_eq!(line.state(), State::Streaming);
    assert_eq!(line.secondary.has(), [0; 0]);
    assert_eq!(line.waiting, [0; 0]);
    (line.primary.has(), line.given)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn whatever_fails_every_message_is_delivered_once_and_in_order_unless_a_reply_is_lost(
        steps in proptest::collection::vec(step(), 1..60),
        max_queue_length in prop_oneof![Just(0), Just(500)],
        adaptive_backoff: bool,
    ) {
        let config = BufferConfig { max_queue_length, adaptive_backoff, ..config() };
        let (mut delivered, given) = run(&config, &steps);
        if steps.iter().any(|step| matches!(step, Step::PrimaryLosesReply)) {
            // A repeated batch follows its first delivery: the first deliveries are in order.
            let mut seen = std::collections::BTreeSet::new();
            delivered.retain(|message| seen.insert(*message));
        }
        prop_assert_eq!(delivered, (0..given).collect::<Vec<_>>());
    }

    #[test]
    fn with_flush_streaming_every_message_is_delivered_once_in_any_order(
        steps in proptest::collection::vec(step(), 1..60),
    ) {
        let steps: Vec<Step> = steps
            .into_iter()
            .filter(|step| !matches!(step, Step::PrimaryLosesReply))
            .collect();
        let config = BufferConfig { flush_streaming: true, ..config() };
        let (mut delivered, given) = run(&config, &steps);
        delivered.sort_unstable();
        prop_assert_eq!(delivered, (0..given).collect::<Vec<_>>());
    }
}
