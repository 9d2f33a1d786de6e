//! The collector against stores that fail and disks that forget, stepped without threads; and once with them.

mod marks;

use std::io::{self, ErrorKind};
use std::sync::atomic::AtomicBool;

use disk::{Call, Disk, Fault, FaultDisk, MemoryDisk, at_random};
use engine::{Batch, Messages};

use super::dispatch::Dispatcher;
use super::*;
use crate::config::Categories;
use crate::message::Message;
use crate::route::tests::store as top_store;
use crate::store::Written;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// What one store, by its path and category, has taken.
#[derive(Default)]
struct Taken {
    synced: Vec<u64>,
    fresh: Vec<u64>,
    takes_at_most: Option<usize>,
    sync_fails: bool,
    panics: bool,
    closed: u64,
    opened: u64,
}

/// Position and cursors.
type Noted = (u64, BTreeMap<Box<[u8]>, Box<[u8]>>);

#[derive(Default)]
struct World {
    stores: Mutex<BTreeMap<String, Taken>>,
    noted: Mutex<Noted>,
    is_backing_up: AtomicBool,
}

impl World {
    fn with<T>(&self, name: &str, act: impl FnOnce(&mut Taken) -> T) -> T {
        let mut stores = self.stores.lock().unwrap();
        act(stores.entry(name.to_owned()).or_default())
    }

    fn all(&self, name: &str) -> Vec<u64> {
        self.with(name, |taken| [&taken.synced[..], &taken.fresh].concat())
    }
}

impl Positions for World {
    fn collected(&self, upto: u64, cursors: Changed) -> Result<(), String> {
        let mut noted = self.noted.lock().unwrap();
        assert!(noted.0 <= upto);
        noted.0 = upto;
        for (id, cursor) in cursors {
            match cursor {
                Some(cursor) => noted.1.insert(id, cursor),
                None => noted.1.remove(&id),
            };
        }
        Ok(())
    }

    fn may_remove(&self) -> bool {
        !self.is_backing_up.load(Ordering::Relaxed)
    }
}

struct MadeUp {
    name: String,
    world: Arc<World>,
}

impl Store for MadeUp {
    fn open(&mut self, _: Now) -> Result<(), String> {
        self.world.with(&self.name, |taken| taken.opened += 1);
        Ok(())
    }

    fn write(&mut self, batch: &[Message<'_>], _: Now) -> Written {
        let written = self.world.with(&self.name, |taken| {
            let count = taken
                .takes_at_most
                .map_or(batch.len(), |most| most.min(batch.len()));
            let number = |message: &Message<'_>| {
                str::from_utf8(message.body)
                    .unwrap()
                    .parse::<u64>()
                    .unwrap()
            };
            taken.fresh.extend(batch[..count].iter().map(number));
            Written {
                taken: count,
                failed: (count < batch.len()).then(|| "stuck".to_owned()),
            }
        });
        let panics = self.world.with(&self.name, |taken| taken.panics);
        assert!(!panics, "{} panics", self.name);
        written
    }

    fn look(&mut self, _: Now) {}

    fn sync(&mut self) -> io::Result<()> {
        self.world.with(&self.name, |taken| {
            let fresh = std::mem::take(&mut taken.fresh);
            if taken.sync_fails {
                // A disk keeps a part after a failed sync, and the rest is gone.
                taken.synced.extend(&fresh[..fresh.len() / 2]);
                return Err(ErrorKind::Other.into());
            }
            taken.synced.extend(fresh);
            Ok(())
        })
    }

    fn status(&self) -> Option<String> {
        self.world.with(&self.name, |taken| {
            taken
                .takes_at_most
                .map(|_| format!("{} is stuck", self.name))
        })
    }

    fn close(&mut self, _: Now) {
        self.world.with(&self.name, |taken| taken.closed += 1);
    }
}

fn file(path: &str) -> StoreConfig {
    let mut file = crate::config::FileConfig::default();
    file.base.file_path = path.to_owned();
    StoreConfig::File(file)
}

/// `store0` takes every category but `b`, which `store1` and `store2` take; each writes to the path of its own name.
fn configuration() -> Configuration {
    let b = Categories::Exact(b"b".to_vec());
    let mut stores = vec![
        top_store("store0", &[Categories::Default], false),
        top_store("store1", std::slice::from_ref(&b), false),
        top_store("store2", &[b], false),
    ];
    for store in &mut stores {
        store.store = file(&store.name);
    }
    Configuration {
        stores,
        ..Configuration::default()
    }
}

const NAMES: [&str; 4] = ["store0/a", "store0/c", "store1/b", "store2/b"];

fn factory(world: &Arc<World>) -> Factory {
    let world = world.clone();
    Box::new(move |config, category, _, _| {
        let StoreConfig::File(file) = config else {
            return Err("not a file".to_owned());
        };
        Ok(Box::new(MadeUp {
            name: format!(
                "{}/{}",
                file.base.file_path,
                String::from_utf8_lossy(category)
            ),
            world: world.clone(),
        }))
    })
}

fn surroundings(disk: &FaultDisk) -> Surroundings {
    Surroundings {
        disk: Arc::new(disk.clone()),
        folder: "data/collected".to_owned(),
        spools: "data/spools".to_owned(),
        host_name: "here".to_owned(),
        counters: Arc::default(),
        max_queue_size: 5_000_000,
        queue_bytes: Arc::default(),
        tables: Arc::new(()),
        seed: 0,
    }
}

/// A collector without threads.
struct Stepped {
    configuration: Configuration,
    world: Arc<World>,
    disk: FaultDisk,
    shared: Arc<Shared>,
    dispatcher: Dispatcher,
    journal: Vec<Batch>,
    counts: BTreeMap<String, u64>,
    now: Now,
}

impl Stepped {
    fn new() -> Stepped {
        let disk = FaultDisk::over(&MemoryDisk::new());
        disk.create_dir("data/collected").unwrap();
        disk.sync_dir("").unwrap();
        disk.sync_dir("data").unwrap();
        let world = Arc::new(World::default());
        let configuration = configuration();
        let (shared, dispatcher) = begin(&configuration, &world, &disk);
        Stepped {
            configuration,
            world,
            disk,
            shared,
            dispatcher,
            journal: Vec::new(),
            counts: BTreeMap::new(),
            now: Now {
                steady_us: 1,
                ..Now::default()
            },
        }
    }

    /// One record with messages of each of these categories, numbered within it.
    fn send(&mut self, categories: &[&str]) {
        let mut messages = Messages::default();
        for category in categories {
            let count = self.counts.entry((*category).to_owned()).or_default();
            messages.push(category.as_bytes(), count.to_string().as_bytes());
            *count += 1;
        }
        let batch = Batch {
            position: self.journal.len() as u64 + 1,
            messages: Arc::new(messages),
        };
        self.dispatcher.dispatch(&batch, self.now);
        self.journal.push(batch);
    }

    fn wait(&mut self, ms: u64) {
        self.now.steady_us += ms * 1_000;
    }

    fn serve(&self) -> bool {
        let counters = &self.shared.counters;
        self.shared
            .pools
            .serve_one(&self.shared.pools.disk, self.now, counters)
    }

    fn serve_all(&self) {
        while self.serve() {}
    }

    fn checkpoint(&mut self) {
        self.dispatcher.finish();
        self.dispatcher.begin(self.now);
        self.serve_all();
        self.dispatcher.finish();
    }

    fn noted(&self) -> u64 {
        self.world.noted.lock().unwrap().0
    }

    /// Starts again on a disk, and hands out what the journal still has.
    fn restart(&mut self, disk: FaultDisk) {
        self.disk = disk;
        (self.shared, self.dispatcher) = begin(&self.configuration, &self.world, &self.disk);
        let noted = self.noted();
        for line in self.shared.lines().values() {
            self.shared.pools.plan(line, self.now);
        }
        for batch in self.journal.iter().filter(|batch| batch.position > noted) {
            self.dispatcher.dispatch(batch, self.now);
        }
    }

    fn crash(&mut self, random: &mut Random) {
        for taken in self.world.stores.lock().unwrap().values_mut() {
            let kept = random.below(taken.fresh.len() as u64 + 1) as usize;
            let fresh = std::mem::take(&mut taken.fresh);
            taken.synced.extend(&fresh[..kept]);
        }
        let image = self.disk.crash(at_random(random.below(u64::MAX)));
        self.restart(FaultDisk::over(&image));
    }

    /// Lets all stores work until nothing is left to do.
    fn heal(&mut self) {
        self.disk.refuse(None);
        for taken in self.world.stores.lock().unwrap().values_mut() {
            (taken.takes_at_most, taken.sync_fails, taken.panics) = (None, false, false);
        }
        for _ in 0..20 {
            self.wait(2_000);
            self.serve_all();
            self.checkpoint();
        }
    }

    fn count(&self, name: &str) -> u64 {
        let category = name.split('/').nth(1).unwrap();
        self.counts.get(category).copied().unwrap_or_default()
    }
}

fn begin(
    configuration: &Configuration,
    world: &Arc<World>,
    disk: &FaultDisk,
) -> (Arc<Shared>, Dispatcher) {
    let shared = Arc::new(Shared::default());
    let (upto, cursors) = world.noted.lock().unwrap().clone();
    let dispatcher = Dispatcher::new(
        configuration.clone(),
        factory(world),
        surroundings(disk),
        world.clone(),
        (upto, cursors.into_iter().collect()),
        shared.clone(),
    );
    (shared, dispatcher.unwrap())
}

/// One random step. `rough`: syncs and the disk may fail too.
fn step(stepped: &mut Stepped, random: &mut Random, rough: bool) {
    match random.below(12) {
        0..4 => {
            let pick = |random: &mut Random| ["a", "b", "c"][random.below(3) as usize];
            let categories: Vec<&str> = (0..=random.below(4)).map(|_| pick(random)).collect();
            stepped.send(&categories);
        }
        4..7 => drop(stepped.serve()),
        7 => stepped.wait(random.below(1_500)),
        8 => {
            let name = NAMES[random.below(4) as usize];
            let most = (random.below(2) == 0).then(|| random.below(3) as usize);
            stepped.world.with(name, |taken| taken.takes_at_most = most);
        }
        9 => stepped.dispatcher.begin(stepped.now),
        10 => stepped.dispatcher.finish(),
        _ if rough && random.below(2) == 0 => {
            let call =
                [Call::Sync, Call::Write, Call::Create, Call::SyncDir][random.below(4) as usize];
            let fault = Fault::Fail(ErrorKind::StorageFull);
            stepped.disk.inject(call, 1 + random.below(3), fault);
        }
        _ if rough => {
            let name = NAMES[random.below(4) as usize];
            let panics = random.below(4) == 0;
            stepped.world.with(name, |taken| match panics {
                true => taken.panics = !taken.panics,
                false => taken.sync_fails = !taken.sync_fails,
            });
        }
        _ => {}
    }
}

#[test]
fn every_message_is_delivered_in_order_through_failures_and_crashes() {
    for seed in 0..400 {
        let mut random = Random(seed);
        let mut stepped = Stepped::new();
        for _ in 0..1 + random.below(4) {
            for _ in 0..random.below(120) {
                step(&mut stepped, &mut random, true);
            }
            stepped.disk.refuse(None);
            stepped.crash(&mut random);
        }
        stepped.heal();
        assert_eq!(stepped.noted(), stepped.journal.len() as u64, "seed {seed}");
        assert!(
            stepped.world.noted.lock().unwrap().1.is_empty(),
            "seed {seed}"
        );
        for name in NAMES {
            let all = stepped.world.all(name);
            let mut before = None;
            for number in &all {
                // A repeated stretch begins at an earlier number; no number is skipped.
                assert!(
                    *number <= before.map_or(0, |before: u64| before + 1),
                    "seed {seed} {name} {all:?}"
                );
                before = Some(*number);
            }
            let last = all.last().map_or(0, |last| last + 1);
            assert_eq!(last, stepped.count(name), "seed {seed} {name} {all:?}");
        }
    }
}

#[test]
fn standing_stores_are_open_at_start_and_after_a_reload() {
    let mut stepped = Stepped::new();
    let disk = stepped.disk.clone();
    stepped.restart(disk);
    stepped.serve_all();
    let opened = |stepped: &Stepped| {
        let stores = stepped.world.stores.lock().unwrap();
        let opened = stores.iter().filter(|(_, taken)| taken.opened > 0);
        opened.map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    let exact = ["store1/b", "store2/b"];
    assert_eq!(
        opened(&stepped),
        exact,
        "a model has no store before its first message"
    );
    let mut configuration = configuration();
    configuration.new_thread_per_category = false;
    stepped
        .dispatcher
        .reload(configuration, stepped.now)
        .unwrap();
    stepped.serve_all();
    assert_eq!(opened(&stepped), ["store0/default", "store1/b", "store2/b"]);
}

#[test]
fn what_is_given_up_counts_as_lost_once_though_no_sync_succeeds() {
    let mut stepped = Stepped::new();
    for store in &mut stepped.configuration.stores {
        store.must_succeed = false;
    }
    let disk = stepped.disk.clone();
    stepped.restart(disk);
    stepped.world.with("store1/b", |taken| {
        (taken.takes_at_most, taken.sync_fails) = (Some(1), true);
    });
    for _ in 0..3 {
        stepped.send(&["b", "b"]);
    }
    for _ in 0..5 {
        stepped.wait(2_000);
        stepped.dispatcher.begin(stepped.now);
        stepped.serve_all();
    }
    let lost = stepped.shared.counters.all()[&b"b:lost"[..]];
    assert_eq!(lost, 5, "the first of six messages is taken");
}

#[test]
fn clean_stops_deliver_every_message_exactly_once() {
    for seed in 0..400 {
        let mut random = Random(seed);
        let mut stepped = Stepped::new();
        for _ in 0..1 + random.below(4) {
            for _ in 0..random.below(100) {
                step(&mut stepped, &mut random, false);
            }
            stepped.checkpoint();
            assert_eq!(
                stepped.noted(),
                stepped.journal.len() as u64,
                "seed {seed}: a stuck store holds the journal"
            );
            let disk = stepped.disk.clone();
            stepped.restart(disk);
        }
        stepped.heal();
        for name in NAMES {
            let wanted: Vec<u64> = (0..stepped.count(name)).collect();
            assert_eq!(stepped.world.all(name), wanted, "seed {seed} {name}");
        }
        let left = stepped.disk.list("data/spools").unwrap();
        assert!(left.is_empty(), "seed {seed}: {left:?}");
    }
}

/// The messages of a stuck store lie in its spool; then the process is killed.
fn stuck_and_killed(name: &str) -> Stepped {
    let mut stepped = Stepped::new();
    stepped
        .world
        .with(name, |taken| taken.takes_at_most = Some(0));
    stepped.send(&["a", "b", "c"]);
    stepped.checkpoint();
    stepped.send(&["a", "b", "c"]);
    assert_eq!(stepped.world.noted.lock().unwrap().1.len(), 1);
    stepped
}

#[test]
fn a_spool_is_found_by_its_store_wherever_that_stands_in_the_file() {
    for name in ["store0/a", "store2/b"] {
        let mut stepped = stuck_and_killed(name);
        let mut moved = configuration();
        moved.stores.reverse();
        let new = top_store("new", &[Categories::Exact(b"new".to_vec())], false);
        moved.stores.insert(0, new);
        for (place, store) in moved.stores.iter_mut().enumerate() {
            store.name = format!("store{place}");
        }
        stepped.configuration = moved;
        let image = stepped.disk.crash(disk::everything_lost);
        stepped.restart(FaultDisk::over(&image));
        stepped.heal();
        for other in NAMES {
            let all = stepped.world.all(other);
            let wanted: Vec<u64> = (0..2).collect();
            assert!(
                all.ends_with(&wanted),
                "{name} was stuck, {other} has {all:?}"
            );
        }
        assert_eq!(stepped.world.all(name), [0, 1], "it came from the spool");
    }
}

#[test]
fn a_spool_of_an_earlier_build_goes_to_the_store_at_its_place_and_gets_the_name_of_today() {
    for (name, old) in [("store0/a", &b"store0:a"[..]), ("store2/b", b"store2")] {
        let mut stepped = stuck_and_killed(name);
        let today = {
            let mut noted = stepped.world.noted.lock().unwrap();
            let (today, cursor) = noted.1.pop_first().unwrap();
            noted.1.insert(old.into(), cursor);
            today
        };
        let image = stepped.disk.crash(disk::everything_lost);
        stepped.restart(FaultDisk::over(&image));
        stepped.checkpoint();
        let names: Vec<Box<[u8]>> = stepped
            .world
            .noted
            .lock()
            .unwrap()
            .1
            .keys()
            .cloned()
            .collect();
        assert_eq!(
            names,
            [today],
            "in one note the new name comes and the old one goes"
        );
        let image = stepped.disk.crash(disk::everything_lost);
        stepped.restart(FaultDisk::over(&image));
        stepped.heal();
        assert_eq!(stepped.world.all(name), [0, 1]);
        assert!(stepped.world.noted.lock().unwrap().1.is_empty());
    }
}

#[test]
fn a_spool_whose_store_was_changed_goes_to_the_only_store_that_can_be_meant() {
    let mut stepped = stuck_and_killed("store2/b");
    stepped.configuration.stores[2].store = file("moved");
    let image = stepped.disk.crash(disk::everything_lost);
    // Both stores of `b` are new to the start, so nothing tells which one the spool was for.
    stepped.configuration.stores[1].store = file("other");
    stepped.restart(FaultDisk::over(&image));
    stepped.heal();
    assert!(!stepped.world.all("moved/b").contains(&0), "it waits");
    assert_eq!(stepped.world.noted.lock().unwrap().1.len(), 1);
    stepped.configuration.stores.remove(1);
    let disk = stepped.disk.clone();
    stepped.restart(disk);
    stepped.heal();
    let all = stepped.world.all("moved/b");
    assert!(all.contains(&0) && all.contains(&1), "{all:?}");
}

#[test]
fn files_of_a_spool_stay_while_a_backup_copies_them_and_go_after_it() {
    let mut stepped = stuck_and_killed("store1/b");
    stepped.checkpoint();
    let spools = |stepped: &Stepped| stepped.disk.list("data/spools").unwrap();
    let before = spools(&stepped);
    let cursors = stepped.world.noted.lock().unwrap().1.clone();
    let find = |stepped: &Stepped| {
        let cursors = cursors.values().map(|cursor| &**cursor);
        crate::spool_files(&stepped.disk, "data/spools", cursors).unwrap()
    };
    let needed = find(&stepped);
    assert!(!needed.is_empty());
    stepped.world.is_backing_up.store(true, Ordering::Relaxed);
    stepped.heal();
    assert_eq!(stepped.world.all("store1/b"), [0, 1]);
    assert!(
        stepped.world.noted.lock().unwrap().1.is_empty(),
        "the spool is drained"
    );
    assert_eq!(spools(&stepped), before);
    assert_eq!(
        find(&stepped),
        needed,
        "every file of the backup's cursors is there"
    );
    stepped.world.is_backing_up.store(false, Ordering::Relaxed);
    stepped.checkpoint();
    assert_eq!(spools(&stepped), [""; 0]);
}

/// `configuration()` with another store for the category `a` and with `store2` gone.
fn other_configuration() -> Configuration {
    let mut configuration = configuration();
    configuration.stores.truncate(2);
    let mut store = top_store("store3", &[Categories::Exact(b"a".to_vec())], false);
    store.store = file("store3");
    configuration.stores.push(store);
    configuration
}

#[test]
fn a_reload_drains_a_store_that_is_gone_and_takes_its_spool_up_when_it_comes_back() {
    let mut stepped = Stepped::new();
    stepped
        .world
        .with("store2/b", |taken| taken.takes_at_most = Some(0));
    stepped.send(&["a", "b"]);
    stepped.checkpoint();
    stepped
        .dispatcher
        .reload(other_configuration(), stepped.now)
        .unwrap();
    stepped.send(&["a", "b", "c"]);
    stepped.wait(5_000);
    stepped.serve_all();
    stepped.checkpoint();
    assert_eq!(
        stepped.world.all("store0/a"),
        [0],
        "the old store has what came before"
    );
    assert_eq!(stepped.world.with("store0/a", |taken| taken.closed), 1);
    assert_eq!(stepped.world.all("store3/a"), [1]);
    assert_eq!(stepped.world.all("store1/b"), [0, 1]);
    assert_eq!(
        stepped.world.with("store1/b", |taken| taken.closed),
        0,
        "its store is the same"
    );
    assert!(stepped.world.all("store2/b").is_empty());

    stepped
        .dispatcher
        .reload(configuration(), stepped.now)
        .unwrap();
    stepped.send(&["a", "b"]);
    stepped.heal();
    assert_eq!(stepped.world.all("store2/b"), [0, 2]);
    assert_eq!(stepped.world.all("store0/a"), [0, 2]);
    assert_eq!(stepped.noted(), 3);
}

#[test]
fn a_store_that_changed_gets_the_messages_that_wait_for_it() {
    let mut stepped = Stepped::new();
    stepped
        .world
        .with("store1/b", |taken| taken.takes_at_most = Some(0));
    stepped.send(&["b"]);
    stepped.checkpoint();
    stepped.send(&["b"]);
    let mut configuration = configuration();
    configuration.stores[1].store = file("moved");
    stepped
        .dispatcher
        .reload(configuration, stepped.now)
        .unwrap();
    assert!(stepped.dispatcher.is_changing(stepped.now));
    stepped.serve_all();
    assert!(!stepped.dispatcher.is_changing(stepped.now));
    stepped.heal();
    assert_eq!(stepped.world.all("moved/b"), [0, 1]);
    assert!(stepped.world.all("store1/b").is_empty());
    assert_eq!(stepped.world.with("store1/b", |taken| taken.closed), 1);
}

#[test]
fn a_checkpoint_right_after_a_reload_waits_for_the_new_store() {
    let mut stepped = Stepped::new();
    stepped.send(&["b"]);
    let mut configuration = configuration();
    configuration.stores[1].store = file("moved");
    stepped
        .dispatcher
        .reload(configuration, stepped.now)
        .unwrap();
    stepped.checkpoint();
    assert_eq!(stepped.world.with("moved/b", |taken| taken.synced.len()), 1);
    let spools = stepped.disk.list("data/spools").unwrap_or_default();
    assert!(spools.is_empty(), "{spools:?}");
}

/// A store whose first sync is long: a message comes and the next checkpoint begins before it ends.
struct LongSync {
    world: Arc<World>,
    line: Arc<Mutex<Option<Arc<Line>>>>,
}

impl Store for LongSync {
    fn open(&mut self, _: Now) -> Result<(), String> {
        Ok(())
    }

    fn write(&mut self, batch: &[Message<'_>], _: Now) -> Written {
        let count = batch.len() as u64;
        self.world.with("long", |taken| taken.fresh.push(count));
        Written {
            taken: batch.len(),
            failed: None,
        }
    }

    fn look(&mut self, _: Now) {}

    fn sync(&mut self) -> io::Result<()> {
        self.world.with("long", |taken| {
            let fresh = std::mem::take(&mut taken.fresh);
            taken.synced.extend(fresh);
        });
        if let Some(line) = self.line.lock().unwrap().take() {
            line.push(entry(2), Now::default());
            line.want();
        }
        Ok(())
    }

    fn status(&self) -> Option<String> {
        None
    }

    fn close(&mut self, _: Now) {}
}

/// One message of a record at this position.
fn entry(position: u64) -> crate::line::Entry {
    let mut messages = Messages::default();
    messages.push(b"a", b"x");
    crate::line::Entry {
        position,
        bytes: 10,
        messages: Arc::new(messages),
        start: 0,
        count: 1,
    }
}

#[test]
fn a_checkpoint_that_begins_during_the_sync_of_the_one_before_gets_its_own() {
    let (world, hook) = (Arc::new(World::default()), Arc::new(Mutex::new(None)));
    let store = LongSync {
        world: world.clone(),
        line: hook.clone(),
    };
    let pace = crate::line::Pace {
        target_bytes: 1 << 20,
        interval_us: 1_000_000,
        check_us: 1_000_000,
        must_succeed: true,
    };
    let line = Arc::new(Line::new(
        (*b"store0").into(),
        false,
        crate::line::Built {
            store: Box::new(store),
            shape: 0,
        },
        Arc::default(),
        pace,
    ));
    *hook.lock().unwrap() = Some(line.clone());
    line.push(entry(1), Now::default());
    line.want();
    let counters = crate::counters::Counters::default();
    for _ in 0..2 {
        line.serve(Now::default(), &counters);
    }
    assert_eq!(world.with("long", |taken| taken.synced.clone()), [1, 1]);
    assert!(line.is_done() && !line.is_trying());
}

#[test]
fn a_store_that_panics_holds_no_other_back_and_gets_its_messages_again() {
    let mut stepped = Stepped::new();
    stepped.world.with("store1/b", |taken| taken.panics = true);
    stepped.send(&["a", "b"]);
    stepped.wait(2_000);
    stepped.serve_all();
    stepped.checkpoint();
    assert_eq!(stepped.world.all("store0/a"), [0]);
    assert_eq!(stepped.world.all("store2/b"), [0]);
    assert_eq!(stepped.noted(), 1, "its message is in the spool");
    let of_line = |stepped: &Stepped| {
        let lines = stepped.shared.lines();
        lines.values().find_map(|line| line.status())
    };
    assert!(of_line(&stepped).unwrap().contains("panicked"));
    stepped.send(&["b"]);
    stepped.heal();
    assert_eq!(stepped.world.all("store1/b").last(), Some(&1));
    assert_eq!(stepped.world.all("store2/b"), [0, 1]);
    assert_eq!(of_line(&stepped), None);
}

#[test]
fn a_batch_goes_to_its_store_at_target_write_size_or_after_max_write_interval() {
    let mut configuration = configuration();
    for store in &mut configuration.stores {
        (store.target_write_size, store.max_write_interval_s) = (100, 3);
    }
    let mut stepped = Stepped::new();
    stepped
        .dispatcher
        .reload(configuration, stepped.now)
        .unwrap();
    stepped.serve_all();
    stepped.send(&["a"]);
    stepped.wait(2_999);
    stepped.serve_all();
    assert!(stepped.world.all("store0/a").is_empty(), "not yet");
    stepped.wait(1);
    stepped.serve_all();
    assert_eq!(stepped.world.all("store0/a"), [0]);
    for _ in 0..10 {
        stepped.send(&["a"]);
    }
    stepped.serve_all();
    assert_eq!(stepped.world.all("store0/a").len(), 11, "above the size");
}

#[test]
fn without_must_succeed_what_a_store_refuses_is_counted_as_lost_and_not_given_again() {
    let mut configuration = configuration();
    configuration.stores[1].must_succeed = false;
    let mut stepped = Stepped::new();
    stepped
        .dispatcher
        .reload(configuration, stepped.now)
        .unwrap();
    for name in ["store1/b", "store2/b"] {
        stepped
            .world
            .with(name, |taken| taken.takes_at_most = Some(0));
    }
    stepped.send(&["b", "b"]);
    stepped.wait(2_000);
    stepped.serve_all();
    stepped.send(&["b"]);
    stepped.heal();
    assert_eq!(stepped.world.all("store1/b"), [2]);
    assert_eq!(stepped.world.all("store2/b"), [0, 1, 2]);
    let counters = stepped.shared.counters.all();
    assert_eq!(counters[&b"b:lost"[..]], 2);
    assert!(counters[&b"b:requeue"[..]] > 0);
}

#[test]
fn a_line_whose_spool_cannot_be_written_keeps_the_journal_and_closes_the_door_when_it_is_full() {
    let mut stepped = Stepped::new();
    stepped
        .world
        .with("store1/b", |taken| taken.takes_at_most = Some(0));
    stepped.send(&["a"]);
    stepped.send(&["b"]);
    stepped.send(&["a"]);
    stepped.disk.set_capacity(Some(0));
    stepped.checkpoint();
    assert_eq!(stepped.noted(), 1);
    let decide = |stepped: &Stepped| {
        let entries = [(&b"a"[..], &b"x"[..])].into_iter();
        let counters = &stepped.shared.counters;
        stepped
            .shared
            .door
            .decide(entries, stepped.now, counters, |_| true)
    };
    assert_ne!(decide(&stepped), Decision::TryLater, "its queue is short");
    for _ in 0..6 {
        let mut messages = Messages::default();
        messages.push(b"b", &vec![b'0'; 1_000_000]);
        let position = stepped.journal.len() as u64 + 1;
        let batch = Batch {
            position,
            messages: Arc::new(messages),
        };
        stepped.dispatcher.dispatch(&batch, stepped.now);
        stepped.journal.push(batch);
    }
    stepped.checkpoint();
    assert_eq!(decide(&stepped), Decision::TryLater);
    stepped.disk.set_capacity(None);
    stepped.checkpoint();
    assert_ne!(decide(&stepped), Decision::TryLater);
    assert_eq!(stepped.noted(), 9);
}

#[test]
fn threads_deliver_all_while_the_configuration_changes_and_a_stop_notes_it() {
    static TIME_US: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
    let disk = FaultDisk::over(&MemoryDisk::new());
    disk.create_dir("data/collected").unwrap();
    let world = Arc::new(World::default());
    let handover = Arc::new(Handover::default());
    let clock: Clock = Arc::new(|| Now {
        steady_us: TIME_US.fetch_add(1_000, Ordering::Relaxed),
        ..Now::default()
    });
    let collector = Collector::start(
        configuration(),
        factory(&world),
        surroundings(&disk),
        handover.clone(),
        world.clone(),
        (0, Cursors::new()),
        clock,
    )
    .unwrap();
    for number in 0..2_000_u64 {
        let entry = |category: &'static str| (category.as_bytes(), number.to_string());
        let entries = [entry("a"), entry("b"), entry("c")];
        let entries = entries
            .iter()
            .map(|(category, body)| (*category, body.as_bytes()));
        let Decision::Store {
            messages, received, ..
        } = collector.decide(entries, Now::default())
        else {
            panic!("refused");
        };
        handover.push([Batch {
            position: number + 1,
            messages: Arc::new(messages),
        }]);
        collector.took(&received);
        if number % 400 == 399 {
            let odd = (number / 400) % 2 == 1;
            collector
                .reload(if odd {
                    configuration()
                } else {
                    other_configuration()
                })
                .unwrap();
        }
    }
    collector.stop(Duration::from_secs(30));
    assert_eq!(world.noted.lock().unwrap().0, 2_000);
    let all: Vec<u64> = (0..2_000).collect();
    for name in ["store0/c", "store1/b"] {
        assert_eq!(world.all(name), all, "{name}");
    }
    let mut of_a = [world.all("store0/a"), world.all("store3/a")].concat();
    of_a.sort_unstable();
    assert_eq!(of_a, all);
    assert_eq!(collector.counters()[&b"a:received good"[..]], 2_000);
    assert_eq!(
        collector.decide([(&b"a"[..], &b"x"[..])].into_iter(), Now::default()),
        Decision::TryLater
    );
}
