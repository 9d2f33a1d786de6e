//! Stores of several files, of which one is away: what the others have comes to them once, through stops, kills and changes.

use super::*;
use crate::config::{BucketConfig, BucketType, BufferConfig, MultiConfig};
use crate::store::build;

/// A file store in `/out/NAME`, or in folders of categories there.
fn leaf(name: &str) -> StoreConfig {
    let mut file = crate::config::FileConfig::default();
    file.base.file_path = format!("/out/{name}");
    file.base.create_symlink = false;
    file.add_newlines = true;
    StoreConfig::File(file)
}

fn multi(names: &[&str]) -> StoreConfig {
    StoreConfig::Multi(MultiConfig {
        any_succeeds: false,
        stores: names.iter().map(|name| leaf(name)).collect(),
    })
}

/// Messages `1:…` go to the second store, `2:…` to the third.
fn bucket(stores: Vec<StoreConfig>) -> StoreConfig {
    StoreConfig::Bucket(Box::new(BucketConfig {
        bucket_type: BucketType::KeyModulo,
        delimiter: b':',
        bucket_range: 0,
        remove_key: false,
        buckets: stores,
    }))
}

fn by_category(model: StoreConfig) -> StoreConfig {
    StoreConfig::Category(Box::new(model))
}

/// A buffer whose files lie outside of `out`.
fn buffer(primary: StoreConfig) -> StoreConfig {
    let mut secondary = crate::config::FileConfig::default();
    secondary.base.file_path = "/data/buffer".to_owned();
    StoreConfig::Buffer(Box::new(BufferConfig {
        primary,
        secondary: StoreConfig::File(secondary),
        buffer_send_rate: None,
        retry_interval_s: 1,
        retry_interval_range_s: 0,
        replay_buffer: true,
        flush_streaming: false,
        buffer_bypass_max_ratio: 0.75,
        adaptive_backoff: false,
        min_retry_interval_s: 5,
        max_retry_interval_s: 100,
        max_random_offset_s: 20,
        max_queue_length: 0,
    }))
}

/// A store, and the path that a file blocks: a part cannot make its folder there.
struct Kind {
    name: &'static str,
    store: StoreConfig,
    blocked: &'static str,
}

/// Every store that gives a batch to several: each alone, and within another. `multifile` is a `category` of files.
fn kinds() -> Vec<Kind> {
    let kind = |name, store, blocked| Kind {
        name,
        store,
        blocked,
    };
    let keys = || vec![leaf("b0"), leaf("b1"), leaf("b2")];
    vec![
        kind("multi", multi(&["bad", "good"]), "out/bad"),
        kind("bucket", bucket(keys()), "out/b1"),
        kind("multifile", by_category(leaf("files")), "out/files/a"),
        kind(
            "category of multi",
            by_category(multi(&["bad", "good"])),
            "out/bad/a",
        ),
        kind(
            "category of bucket",
            by_category(bucket(keys())),
            "out/b2/b",
        ),
        kind(
            "multi of bucket",
            StoreConfig::Multi(MultiConfig {
                any_succeeds: false,
                stores: vec![leaf("good"), bucket(keys())],
            }),
            "out/b2",
        ),
        kind(
            "bucket of multi",
            bucket(vec![leaf("b0"), multi(&["bad", "good"]), leaf("b2")]),
            "out/bad",
        ),
        kind(
            "buffer of multifile",
            buffer(by_category(leaf("files"))),
            "out/files/a",
        ),
        kind(
            "buffer of category of multi",
            buffer(by_category(multi(&["bad", "good"]))),
            "out/bad/b",
        ),
        kind(
            "category of buffer of category of multi",
            by_category(buffer(by_category(multi(&["bad", "good"])))),
            "out/bad/b",
        ),
    ]
}

/// Each kind with its files, while a part of it is away.
fn each_kind() -> impl Iterator<Item = (Kind, Files)> {
    kinds().into_iter().map(|kind| {
        let files = Files::new(&kind.store, kind.blocked);
        (kind, files)
    })
}

/// As [`each_kind`], once the parts that are well have what they get of 20 messages.
fn each_served() -> impl Iterator<Item = (Kind, Files)> {
    each_kind().map(|(kind, mut files)| {
        files.send(20);
        files.serve();
        (kind, files)
    })
}

/// As [`each_kind`], for each of 60 seeds.
fn each_seed() -> impl Iterator<Item = (Kind, Files, u64)> {
    (0..60).flat_map(|seed| each_kind().map(move |(kind, files)| (kind, files, seed)))
}

/// All categories share one line, whose store is this one.
fn configuration_of(store: &StoreConfig) -> Configuration {
    let mut top = top_store("store0", &[Categories::Default], false);
    top.store = store.clone();
    Configuration {
        stores: vec![top],
        new_thread_per_category: false,
        ..Configuration::default()
    }
}

struct Files {
    configuration: Configuration,
    blocked: Option<&'static str>,
    world: Arc<World>,
    disk: FaultDisk,
    shared: Arc<Shared>,
    dispatcher: Dispatcher,
    journal: Vec<Batch>,
    sent: u64,
    now: Now,
}

impl Files {
    fn new(store: &StoreConfig, blocked: &'static str) -> Files {
        let disk = FaultDisk::over(&MemoryDisk::new());
        for folder in ["data/collected", "out"] {
            disk.create_dir(folder).unwrap();
        }
        for folder in ["", "data"] {
            disk.sync_dir(folder).unwrap();
        }
        let world = Arc::new(World::default());
        let configuration = configuration_of(store);
        block(&disk, blocked);
        let (shared, dispatcher) = start(&configuration, &world, &disk);
        Files {
            configuration,
            blocked: Some(blocked),
            world,
            disk,
            shared,
            dispatcher,
            journal: Vec::new(),
            sent: 0,
            now: Now {
                steady_us: 1,
                ..Now::default()
            },
        }
    }

    /// One record of messages: their numbers, behind keys in turn, in categories in turn.
    fn send(&mut self, count: u64) {
        let mut messages = Messages::default();
        for number in self.sent..self.sent + count {
            let body = format!("{}:{number}", number % 2);
            let category = if number % 3 == 0 { b"a" } else { b"b" };
            messages.push(category, body.as_bytes());
        }
        self.sent += count;
        let batch = Batch {
            position: self.journal.len() as u64 + 1,
            messages: Arc::new(messages),
        };
        self.dispatcher.dispatch(&batch, self.now);
        self.journal.push(batch);
    }

    /// Lets all lines that are due write.
    fn serve(&mut self) {
        self.now.steady_us += 2_000_000;
        let pools = &self.shared.pools;
        while pools.serve_one(&pools.disk, self.now, &self.shared.counters) {}
    }

    fn checkpoint(&mut self) {
        self.dispatcher.finish();
        self.dispatcher.begin(self.now);
        let pools = &self.shared.pools;
        while pools.serve_one(&pools.disk, self.now, &self.shared.counters) {}
        self.dispatcher.finish();
    }

    fn start(&mut self) {
        if let Some(path) = self.blocked {
            block(&self.disk, path);
        }
        (self.shared, self.dispatcher) = start(&self.configuration, &self.world, &self.disk);
        for line in self.shared.lines().values() {
            self.shared.pools.plan(line, self.now);
        }
        let noted = self.world.noted.lock().unwrap().0;
        for batch in self.journal.iter().filter(|batch| batch.position > noted) {
            self.dispatcher.dispatch(batch, self.now);
        }
    }

    /// A clean stop, and a start.
    fn restart(&mut self) {
        self.checkpoint();
        let lines: Vec<Arc<Line>> = self.shared.lines().values().cloned().collect();
        lines.iter().for_each(|line| line.close(self.now));
        self.start();
    }

    /// The power goes, and the disk keeps what `seed` says of all that was not synced; or the process is killed.
    fn crash(&mut self, seed: Option<u64>) {
        let image = match seed {
            Some(seed) => self.disk.crash(at_random(seed)),
            None => self.disk.crash(disk::everything_kept),
        };
        self.disk = FaultDisk::over(&image);
        self.start();
    }

    fn reload(&mut self, store: &StoreConfig) {
        self.configuration = configuration_of(store);
        let configuration = self.configuration.clone();
        self.dispatcher.reload(configuration, self.now).unwrap();
    }

    /// The blocked part comes back, and everything is delivered. New messages of each category come too: a copy of a model that
    /// has a buffer is made at the first one.
    fn heal(&mut self) {
        self.send(4);
        self.disk.refuse(None);
        if let Some(path) = self.blocked.take() {
            // A crash may have taken it before.
            let _ = self.disk.remove(path);
        }
        for _ in 0..20 {
            self.serve();
            self.checkpoint();
        }
        let lines = self.shared.lines();
        assert!(
            lines
                .values()
                .all(|line| line.is_done() && line.status().is_none())
        );
    }

    /// The numbers in the files below each folder of `out`, in their order; a folder of a category is a part of its own.
    fn parts(&self) -> BTreeMap<String, Vec<u64>> {
        let mut parts = BTreeMap::new();
        gather(&self.disk, "out", &mut parts);
        parts
    }

    /// How often the parts that have a message have it.
    fn times(&self) -> BTreeMap<u64, Vec<usize>> {
        let mut times: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for numbers in self.parts().values() {
            let mut counts = BTreeMap::<u64, usize>::new();
            for number in numbers {
                *counts.entry(*number).or_default() += 1;
            }
            for (number, count) in counts {
                times.entry(number).or_default().push(count);
            }
        }
        times
    }

    /// Each message came, and to each part once, in order.
    #[track_caller]
    fn assert_once(&self, about: &str) {
        let times = self.times();
        assert!(times.keys().copied().eq(0..self.sent), "{about}: {times:?}");
        for (part, numbers) in self.parts() {
            let is_rising = numbers.is_sorted_by(|one, other| one < other);
            assert!(is_rising, "{about}, {part}: {numbers:?}");
        }
    }
}

fn start(
    configuration: &Configuration,
    world: &Arc<World>,
    disk: &FaultDisk,
) -> (Arc<Shared>, Dispatcher) {
    let shared = Arc::new(Shared::default());
    let (upto, cursors) = world.noted.lock().unwrap().clone();
    let dispatcher = Dispatcher::new(
        configuration.clone(),
        Box::new(build),
        super::surroundings(disk),
        world.clone(),
        (upto, cursors.into_iter().collect()),
        shared.clone(),
    );
    (shared, dispatcher.unwrap())
}

/// Puts a file where a part makes its folder.
fn block(disk: &FaultDisk, path: &str) {
    let (folder, _) = path.rsplit_once('/').unwrap();
    disk.create_dir(folder).unwrap();
    disk.sync_dir("out").unwrap();
    if !disk.exists(path).unwrap() {
        disk.create(path).unwrap();
    }
}

fn gather(disk: &FaultDisk, folder: &str, parts: &mut BTreeMap<String, Vec<u64>>) {
    for name in disk.list(folder).unwrap() {
        let path = format!("{folder}/{name}");
        let Ok(file) = disk.open(&path) else {
            gather(disk, &path, parts);
            continue;
        };
        let text = String::from_utf8(file.map().unwrap().to_vec()).unwrap();
        let number = |line: &str| line.split_once(':')?.1.parse::<u64>().ok();
        let numbers: Vec<u64> = text.lines().filter_map(number).collect();
        if !numbers.is_empty() {
            parts.entry(folder.to_owned()).or_default().extend(numbers);
        }
    }
}

#[test]
fn clean_stops_give_no_message_again_to_the_parts_that_have_it() {
    for (Kind { name, .. }, mut files) in each_served() {
        let before = files.parts();
        let count: usize = before.values().map(Vec::len).sum();
        assert!(
            count >= 6,
            "{name}: the parts that are well go on: {before:?}"
        );
        for stops in 1..4 {
            files.restart();
            files.serve();
            assert_eq!(files.parts(), before, "{name}, {stops} stops");
        }
        files.send(20);
        files.restart();
        files.heal();
        files.assert_once(name);
        let spools = files.disk.list("data/spools").unwrap();
        assert!(spools.is_empty(), "{name}: {spools:?}");
    }
}

#[test]
fn a_crash_gives_again_at_most_what_came_since_the_last_checkpoint() {
    for (Kind { name, .. }, mut files, seed) in each_seed() {
        let mut random = Random(seed);
        let mut safe = BTreeMap::new();
        for _ in 0..30 {
            match random.below(8) {
                0..3 => files.send(1 + random.below(9)),
                3..5 => files.serve(),
                5 => {
                    files.serve();
                    files.checkpoint();
                    safe = files.parts();
                }
                6 if name.contains("buffer") => {
                    // A buffer keeps what is given again, and gives it on later; and its notes are not synced.
                    files.checkpoint();
                    files.crash(None);
                }
                6 => files.crash(Some(random.below(u64::MAX))),
                _ => {
                    files.restart();
                    safe = files.parts();
                }
            }
        }
        files.heal();
        let times = files.times();
        assert!(
            times.keys().copied().eq(0..files.sent),
            "{name}, seed {seed}: {times:?}"
        );
        let all = files.parts();
        let count =
            |numbers: &[u64], one: u64| numbers.iter().filter(|other| **other == one).count();
        for (part, before) in &safe {
            for number in before {
                let counts = (count(before, *number), count(&all[part], *number));
                assert_eq!(counts.0, counts.1, "{name}, seed {seed}, {part}: {number}");
            }
        }
    }
}

#[test]
fn a_part_whose_sync_fails_gets_again_what_it_had_before_the_others() {
    for (Kind { name, .. }, mut files) in each_served() {
        let had = files.times();
        for nth in 1..4 {
            files
                .disk
                .inject(Call::Sync, nth, Fault::Fail(ErrorKind::Other));
        }
        files.checkpoint();
        files.disk.refuse(None);
        files.serve();
        files.checkpoint();
        files.disk = FaultDisk::over(&files.disk.crash(disk::everything_lost));
        let kept = files.times();
        assert!(
            had.keys().all(|number| kept.contains_key(number)),
            "{name}: {had:?} {kept:?}"
        );
    }
}

/// What each part has, each message once, if nothing ever fails.
fn without_failures(
    store: &StoreConfig,
    blocked: &'static str,
    count: u64,
) -> BTreeMap<String, Vec<u64>> {
    let mut files = Files::new(store, blocked);
    files.send(count);
    files.heal();
    files.parts()
}

#[test]
fn every_part_has_its_messages_whatever_syncs_fail_and_whenever_power_goes() {
    for (kind, mut files, seed) in each_seed() {
        let Kind {
            name,
            store,
            blocked,
        } = kind;
        let mut random = Random(seed);
        for _ in 0..40 {
            match random.below(9) {
                0..3 => files.send(1 + random.below(9)),
                3..5 => files.serve(),
                5 => files.checkpoint(),
                6 => {
                    let nth = 1 + random.below(4);
                    files
                        .disk
                        .inject(Call::Sync, nth, Fault::Fail(ErrorKind::Other));
                }
                7 => {
                    let nth = 1 + random.below(9);
                    files.disk.inject(Call::Write, nth, Fault::Short(2));
                }
                _ => files.crash(Some(random.below(u64::MAX))),
            }
        }
        files.heal();
        files.disk = FaultDisk::over(&files.disk.crash(disk::everything_lost));
        let mut parts = files.parts();
        for numbers in parts.values_mut() {
            numbers.sort_unstable();
            numbers.dedup();
        }
        let want = without_failures(&store, blocked, files.sent - 4);
        assert_eq!(parts, want, "{name}, seed {seed}");
    }
}

#[test]
fn a_changed_store_takes_no_marks_of_the_one_before() {
    let old = multi(&["bad", "good"]);
    let by_key = bucket(vec![leaf("unused"), leaf("new")]);
    for (new, parts) in [
        (multi(&["good", "bad"]), &["good", "bad"][..]),
        (multi(&["new", "bad", "good"]), &["new", "bad", "good"]),
        (multi(&["good"]), &["good"]),
        (multi(&["bad", "new"]), &["bad", "new"]),
        (by_key, &["new"]),
    ] {
        for is_reload in [false, true] {
            let mut files = Files::new(&old, "out/bad");
            files.send(10);
            files.serve();
            files.checkpoint();
            match is_reload {
                true => files.reload(&new),
                false => files.configuration = configuration_of(&new),
            }
            files.restart();
            files.heal();
            let all = files.parts();
            for part in parts {
                let mut numbers = all.get(&format!("out/{part}")).cloned().unwrap_or_default();
                numbers.sort_unstable();
                numbers.dedup();
                assert!(
                    numbers.into_iter().eq(0..files.sent),
                    "{new:?}, {part}: {all:?}"
                );
            }
        }
    }
}

#[test]
fn a_reload_of_the_same_configuration_gives_nothing_again() {
    for (Kind { name, store, .. }, mut files) in each_served() {
        let before = files.parts();
        files.reload(&store);
        files.serve();
        assert_eq!(files.parts(), before, "{name}");
        files.restart();
        files.heal();
        files.assert_once(name);
    }
}

#[test]
fn damaged_marks_cost_at_worst_a_repetition() {
    let Kind { store, blocked, .. } = kinds().swap_remove(3);
    let mut files = Files::new(&store, blocked);
    files.send(6);
    files.serve();
    files.checkpoint();
    let folder = files.disk.list("data/spools").unwrap().remove(0);
    let path = format!("data/spools/{folder}/marks");
    let sound = files.disk.open(&path).unwrap().map().unwrap().to_vec();
    let image = files.disk.crash(disk::everything_kept);
    let flipped = (0..sound.len()).map(|at| {
        let mut bytes = sound.clone();
        bytes[at] ^= 0x10;
        bytes
    });
    let cut = (0..sound.len()).map(|end| sound[..end].to_vec());
    let noted = files.world.noted.lock().unwrap().clone();
    for bytes in flipped.chain(cut) {
        *files.world.noted.lock().unwrap() = noted.clone();
        files.blocked = Some(blocked);
        files.disk = FaultDisk::over(&image);
        disk::replace_file(&files.disk, &path, &bytes).unwrap();
        files.start();
        files.serve();
        files.heal();
        let times = files.times();
        assert!(
            times.keys().copied().eq(0..files.sent),
            "{bytes:?}: {times:?}"
        );
        assert!(times.values().flatten().all(|count| *count <= 2));
    }
}

#[test]
fn equal_messages_behind_those_that_were_given_up_are_not_taken_for_them() {
    let mut files = Files::new(&multi(&["bad", "good"]), "out/bad");
    files.configuration.stores[0].must_succeed = false;
    files.restart();
    for _ in 0..3 {
        files.sent = 0;
        files.send(2);
        files.serve();
    }
    assert_eq!(files.parts()["out/good"], [0, 1, 0, 1, 0, 1]);
}
