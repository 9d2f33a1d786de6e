//! The buffer over a primary that comes and goes, and over real files as its secondary.

use std::sync::Mutex;

use disk::{Disk, MemoryDisk};
use proptest::prelude::*;

use super::*;
use crate::config::{FileBase, FileConfig, StoreConfig};
use crate::store::file::buffer_file;
use crate::store::tests::surroundings;

/// What the primary has, and how many messages it still takes before it fails.
#[derive(Default)]
struct Remote {
    has: Vec<String>,
    takes: usize,
}

struct Primary(Arc<Mutex<Remote>>);

impl Store for Primary {
    fn open(&mut self, _: Now) -> Result<(), String> {
        match self.0.lock().unwrap().takes {
            0 => Err("away".to_owned()),
            _ => Ok(()),
        }
    }

    fn write(&mut self, batch: &[Message<'_>], _: Now) -> Written {
        let mut remote = self.0.lock().unwrap();
        let taken = batch.len().min(remote.takes);
        let texts = batch[..taken]
            .iter()
            .map(|message| String::from_utf8(message.body.to_vec()).unwrap());
        remote.has.extend(texts);
        remote.takes -= taken;
        Written {
            taken,
            failed: (taken < batch.len()).then(|| "away".to_owned()),
        }
    }
}

fn config(change: impl Fn(&mut BufferConfig)) -> BufferConfig {
    let mut config = BufferConfig {
        primary: StoreConfig::Null,
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
    };
    change(&mut config);
    config
}

struct Bench {
    disk: Arc<dyn Disk>,
    surroundings: Surroundings,
    config: BufferConfig,
    remote: Arc<Mutex<Remote>>,
    store: Buffer,
    now: Now,
    given: usize,
}

fn store(
    config: &BufferConfig,
    surroundings: &Surroundings,
    remote: &Arc<Mutex<Remote>>,
) -> Buffer {
    let file = FileConfig {
        base: FileBase {
            file_path: "/buffer".to_owned(),
            max_size: 40,
            ..FileBase::default()
        },
        add_newlines: false,
    };
    let secondary = buffer_file(&file, b"web", false, surroundings).unwrap();
    Buffer::new(
        Box::new(Primary(Arc::clone(remote))),
        Box::new(secondary),
        config,
        surroundings,
    )
}

impl Bench {
    fn new(config: BufferConfig) -> Bench {
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
        let surroundings = surroundings(&disk);
        let remote = Arc::default();
        Bench {
            store: store(&config, &surroundings, &remote),
            disk,
            surroundings,
            config,
            remote,
            now: Now::default(),
            given: 0,
        }
    }

    fn takes(&self, messages: usize) {
        self.remote.lock().unwrap().takes = messages;
    }

    fn has(&self) -> Vec<String> {
        self.remote.lock().unwrap().has.clone()
    }

    fn write(&mut self, count: usize) {
        let bodies: Vec<String> = (self.given..self.given + count)
            .map(|at| at.to_string())
            .collect();
        let batch: Vec<Message<'_>> = bodies
            .iter()
            .map(|body| Message {
                category: b"web",
                body: body.as_bytes(),
            })
            .collect();
        let written = self.store.write(&batch, self.now);
        assert_eq!(
            written,
            Written {
                taken: count,
                failed: None
            }
        );
        self.given += count;
    }

    fn look(&mut self, seconds: u64) {
        self.now.steady_us += seconds * 1_000_000;
        self.store.look(self.now);
        while self.store.next_look_us().is_some() {
            self.store.look(self.now);
        }
    }

    /// A stop and a start.
    fn restart(&mut self) {
        self.store.close(self.now);
        self.store = store(&self.config, &self.surroundings, &self.remote);
    }

    fn all(&self) -> Vec<String> {
        (0..self.given).map(|at| at.to_string()).collect()
    }
}

#[test]
fn messages_wait_in_the_secondary_and_go_out_in_order_once_the_primary_is_back() {
    let mut bench = Bench::new(config(|_| {}));
    bench.takes(3);
    bench.write(2);
    bench.write(2);
    assert_eq!(
        bench.has(),
        ["0", "1", "2"],
        "the fourth went to the secondary in the same call"
    );
    bench.takes(100);
    bench.look(1);
    bench.write(5);
    assert_eq!(
        bench.has().len(),
        3,
        "no attempt before the pause has passed"
    );
    bench.look(12);
    assert_eq!(bench.has(), bench.all());
    bench.write(1);
    assert_eq!(bench.has(), bench.all());
    assert_eq!(bench.store.status(), None);
    let counters = bench.surroundings.counters.all();
    assert_eq!(counters[&b"web:retries"[..]], 1);
}

#[test]
fn without_replay_the_secondary_keeps_its_messages() {
    let mut bench = Bench::new(config(|config| config.replay_buffer = false));
    bench.write(2);
    bench.takes(100);
    bench.look(13);
    bench.write(1);
    assert_eq!(bench.has(), ["2"]);
    assert!(!bench.disk.list("buffer").unwrap().is_empty());
}

#[test]
fn a_send_rate_bounds_the_files_of_a_look() {
    let mut bench = Bench::new(config(|config| config.buffer_send_rate = Some(1)));
    for _ in 0..30 {
        bench.write(1);
    }
    bench.takes(1_000);
    bench.look(13);
    let first = bench.has().len();
    assert!(
        first > 0 && first < 30,
        "{first} messages of the first file"
    );
    bench.look(5);
    assert!(bench.has().len() > first && bench.has().len() < 30);
}

#[test]
fn a_long_queue_goes_to_the_secondary_as_on_the_page_of_2008() {
    let mut bench = Bench::new(config(|config| config.max_queue_length = 100));
    bench.takes(1_000);
    bench.write(1);
    bench.surroundings.queue_bytes.store(101, Ordering::Relaxed);
    bench.write(2);
    assert_eq!(bench.has(), ["0"]);
    bench.surroundings.queue_bytes.store(0, Ordering::Relaxed);
    bench.look(1);
    assert_eq!(bench.has(), bench.all());
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Write(usize),
    Look(u64),
    Takes(usize),
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1..6usize).prop_map(Step::Write),
        4 => (0..15u64).prop_map(Step::Look),
        3 => (0..20usize).prop_map(Step::Takes),
        1 => Just(Step::Restart),
    ]
}

proptest! {
    #[test]
    fn each_message_gets_to_the_primary_once_and_in_order(
        steps in prop::collection::vec(step(), 1..60),
        adaptive in any::<bool>(),
        rate in prop::option::of(1..3u64),
    ) {
        let mut bench = Bench::new(config(|config| {
            config.adaptive_backoff = adaptive;
            config.buffer_send_rate = rate;
        }));
        for step in steps {
            match step {
                Step::Write(count) => bench.write(count),
                Step::Look(seconds) => bench.look(seconds),
                Step::Takes(messages) => bench.takes(messages),
                Step::Restart => bench.restart(),
            }
            let has = bench.has();
            prop_assert_eq!(&has[..], &bench.all()[..has.len()]);
        }
        bench.takes(usize::MAX);
        for _ in 0..400 {
            bench.look(101);
        }
        prop_assert_eq!(bench.has(), bench.all());
    }
}
