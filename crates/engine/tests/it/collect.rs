//! Collected messages: after each restart the collector gets every acknowledged message whose storage it has not yet reported.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use disk::{Call, Disk, Fault, FaultDisk, MemoryDisk};
use engine::inspect::Dumped;
use engine::{Batch, Command, Error, Feed, Messages, Now, Options, Reply, SyncMode, Write};
use proptest::prelude::*;

use crate::driver::{Driver, options};
use crate::power::{places, power_cut};
use crate::scripts::show;
use crate::statement::command;
use crate::workload::cases;

/// Name of the cursor. Its value is the number of notes so far, so a crash image tells which note it has.
const CURSOR: &[u8] = b"notes";

fn messages(bodies: &[String]) -> Messages {
    let mut messages = Messages::default();
    bodies
        .iter()
        .for_each(|body| messages.push(b"web", body.as_bytes()));
    messages
}

fn collect(bodies: &[String], sync: Option<SyncMode>) -> Command {
    Command::Collect {
        messages: messages(bodies),
        sync,
        feeds: Vec::new(),
    }
}

fn noted(upto: u64, number: usize) -> Command {
    Command::Collected {
        upto,
        cursors: vec![(CURSOR.into(), Some(number.to_string().as_bytes().into()))],
    }
}

/// What the collector is handed now: position and messages of each record.
fn handed(driver: &Driver) -> Vec<(u64, Vec<String>)> {
    let batches = driver.handle.handover().take(Duration::ZERO);
    let read = |batch: Batch| {
        let runs = batch.messages.runs();
        let bodies = runs.flat_map(|run| {
            run.bodies()
                .map(|body| String::from_utf8(body.to_vec()).unwrap())
                .collect::<Vec<_>>()
        });
        (batch.position, bodies.collect())
    };
    batches.unwrap_or_default().into_iter().map(read).collect()
}

/// The number of notes that the engine knew when it was opened.
fn notes(driver: &Driver) -> usize {
    let value = driver.handle.collected().1.get(CURSOR);
    value.map_or(0, |value| {
        String::from_utf8(value.to_vec()).unwrap().parse().unwrap()
    })
}

fn open(disk: impl Disk + 'static) -> Driver {
    Driver::open(options(Arc::new(disk)), Now::default()).unwrap()
}

/// Flips bits of the first place of the journal that holds `text`.
fn damage(disk: &MemoryDisk, text: &[u8]) {
    let name = &disk.list("journal").unwrap()[0];
    let journal = disk.open(&format!("journal/{name}")).unwrap();
    let mut bytes = vec![0; journal.len().unwrap() as usize];
    journal.read_at(0, &mut bytes).unwrap();
    let mut places = bytes.windows(text.len());
    let damaged = places.position(|place| place == text).unwrap();
    let flipped = bytes[damaged] ^ 0x55;
    journal.write_at(damaged as u64, &[flipped]).unwrap();
}

fn bodies(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

#[test]
fn messages_come_again_after_each_restart_until_they_are_noted() {
    let mut driver = open(MemoryDisk::new());
    driver.run(collect(&bodies(&["a", "b"]), None)).unwrap();
    driver.run(collect(&bodies(&["c"]), None)).unwrap();
    let all = vec![(1, bodies(&["a", "b"])), (2, bodies(&["c"]))];
    assert_eq!(handed(&driver), all);
    driver.run(Command::Checkpoint).unwrap();
    let mut driver = driver.reopen().unwrap();
    assert_eq!(handed(&driver), all);
    driver.run(noted(1, 1)).unwrap();
    driver.run(Command::Checkpoint).unwrap();
    let mut driver = driver.reopen().unwrap();
    assert_eq!((handed(&driver), notes(&driver)), (all[1..].to_vec(), 1));
    driver.run(noted(2, 2)).unwrap();
    let driver = driver.reopen().unwrap();
    assert_eq!((handed(&driver), notes(&driver)), (Vec::new(), 2));
}

#[test]
fn a_full_room_refuses_messages_until_some_are_noted() {
    let options = Options {
        collected_bytes_max: 100,
        ..options(Arc::new(MemoryDisk::new()))
    };
    let mut driver = Driver::open(options, Now::default()).unwrap();
    let large = [String::from_utf8(vec![b'x'; 60]).unwrap()];
    driver.run(collect(&large, None)).unwrap();
    let refused = driver.run(collect(&large, None));
    assert_eq!(refused.unwrap_err(), Error::Overloaded);
    driver.run(noted(1, 1)).unwrap();
    driver.run(collect(&large, None)).unwrap();
}

#[test]
fn what_no_record_has_cannot_be_noted() {
    let mut driver = open(MemoryDisk::new());
    assert!(driver.run(noted(1, 1)).is_err());
    assert_eq!(handed(&driver), []);
    driver.run(collect(&[], None)).unwrap();
    assert_eq!(
        driver.handle.status().records_total,
        0,
        "an empty call writes nothing"
    );
}

/// Rows of these statements, for the tables of a call. `hear`: the first word of one that a pq table hears.
fn feeds(rows: &[&str]) -> Vec<Feed> {
    let feed = |row: &&str| {
        let (heard, row) = match row.strip_prefix("hear ") {
            Some(row) => (true, format!("insert {row}")),
            None => (false, (*row).to_owned()),
        };
        match (command(&row), heard) {
            (Command::Write(Write::Insert(rows)), true) => Feed::Match(rows),
            (Command::Write(Write::Insert(rows)), false) => Feed::Store(rows),
            (other, _) => panic!("{other:?}"),
        }
    };
    rows.iter().map(feed).collect()
}

fn fed(driver: &mut Driver, bodies: &[String], rows: &[&str]) -> Result<Reply, Error> {
    driver.run(Command::Collect {
        messages: messages(bodies),
        sync: None,
        feeds: feeds(rows),
    })
}

fn count(driver: &mut Driver, table: &str) -> usize {
    let answer = driver.run(command(&format!("read * from {table}")));
    show(answer).len() - 1
}

fn with_tables() -> Driver {
    let mut driver = open(MemoryDisk::new());
    for line in [
        "create queue hits (query_id bigint, doc_id bigint, body text)",
        "create queue jobs (body text)",
        "create search posts (body text)",
        "create pq alerts on posts into hits",
        "create pq ears (body text) into hits",
        "insert alerts (id, query) values (1, 'cat')",
        "insert ears (id, query) values (2, 'dog')",
    ] {
        driver.run(command(line)).unwrap();
    }
    driver
}

#[test]
fn rows_of_a_call_are_stored_matched_and_queued_with_its_messages_in_one_record() {
    let mut driver = with_tables();
    let before = driver.handle.status().records_total;
    let rows = [
        "insert posts (body) values ('a cat'), ('a dog')",
        "hear ears (body) values ('a cat'), ('a dog')",
        "insert jobs (body) values ('a cat')",
    ];
    fed(&mut driver, &bodies(&["x"]), &rows).unwrap();
    assert_eq!(driver.handle.status().records_total, before + 1);
    for _ in 0..2 {
        let hits = show(driver.run(command("read * from hits")));
        assert_eq!(hits[1..], ["1 | 1 | a cat", "2 | 0 | a dog"]);
        assert_eq!(count(&mut driver, "jobs"), 1);
        assert_eq!(handed(&driver).len(), 1);
        driver = driver.reopen().unwrap();
    }
}

#[test]
fn a_call_is_refused_whole_with_the_place_of_the_rows_that_no_table_takes() {
    let mut driver = with_tables();
    let before = driver.handle.status();
    for (bad, place) in [
        ("insert gone (body) values ('x')", 1),
        ("insert posts (absent) values ('x')", 1),
        ("hear alerts (body) values ('x')", 1),
        ("hear posts (body) values ('x')", 1),
    ] {
        let rows = ["insert jobs (body) values ('a cat')", bad];
        match fed(&mut driver, &bodies(&["x"]), &rows) {
            Err(Error::InMany { index, .. }) => assert_eq!(index, place, "{bad}"),
            other => panic!("{bad}: {other:?}"),
        }
        assert_eq!(count(&mut driver, "jobs"), 0, "{bad}");
        assert!(handed(&driver).is_empty(), "{bad}");
    }
    let after = driver.handle.status();
    assert_eq!(before.records_total, after.records_total);
    assert_eq!(before.messages_total, after.messages_total);
    assert_eq!(fed(&mut driver, &[], &[]).map(drop), Ok(()));
}

#[test]
fn rows_ask_for_the_sync_of_their_table_and_messages_for_that_of_their_category() {
    let mut driver = with_tables();
    let mut syncs = |sync, rows: &[&str]| {
        let before = driver.handle.status().rows_synced_total;
        let call = Command::Collect {
            messages: messages(&bodies(&["x"])),
            sync,
            feeds: feeds(rows),
        };
        driver.run(call).unwrap();
        driver.handle.status().rows_synced_total > before
    };
    let row = ["insert jobs (body) values ('x')"];
    assert!(
        syncs(Some(SyncMode::Never), &row),
        "the table asks for a sync"
    );
    assert!(syncs(None, &row));
}

#[test]
fn a_category_may_ask_for_less_than_the_server_and_not_for_more() {
    for (server, asked, syncs) in [
        (SyncMode::Always, None, 1),
        (SyncMode::Always, Some(SyncMode::Never), 0),
        (SyncMode::Never, Some(SyncMode::Always), 0),
    ] {
        let options = Options {
            sync: server,
            ..options(Arc::new(MemoryDisk::new()))
        };
        let mut driver = Driver::open(options, Now::default()).unwrap();
        let before = driver.handle.status().syncs_total;
        driver.run(collect(&bodies(&["a"]), asked)).unwrap();
        assert_eq!(driver.handle.status().syncs_total - before, syncs);
    }
}

#[test]
fn a_journal_of_noted_messages_alone_is_trimmed() {
    let mut driver = open(MemoryDisk::new());
    let large = [String::from_utf8(vec![b'x'; 64 << 10]).unwrap()];
    for number in 1..100 {
        driver.run(collect(&large, None)).unwrap();
        driver.run(noted(2 * number - 1, number as usize)).unwrap();
        drop(handed(&driver));
    }
    driver.tick(1);
    let kept = driver.handle.status().journal_bytes;
    assert!(
        kept < 2 << 20,
        "{kept} bytes of journal for 6 MiB of messages that were noted"
    );
}

#[test]
fn messages_survive_the_repair_of_a_damaged_journal() {
    let disk = MemoryDisk::new();
    let mut driver = open(disk.clone());
    driver.run(command("create queue jobs (id int)")).unwrap();
    driver.run(collect(&bodies(&["a", "b"]), None)).unwrap();
    driver.run(collect(&bodies(&["c"]), None)).unwrap();
    drop(driver);
    damage(&disk, b"jobs");
    let disk: Arc<dyn Disk> = Arc::new(disk);
    let repaired = engine::inspect::repair(&disk, &mut |_| {}).unwrap();
    assert!(repaired.is_some());
    let driver = Driver::open(options(disk), Now::default()).unwrap();
    let all: Vec<String> = handed(&driver)
        .into_iter()
        .flat_map(|(_, bodies)| bodies)
        .collect();
    assert_eq!(all, ["a", "b", "c"]);
    drop(driver.reopen().unwrap());
}

/// A body of `bytes` bytes.
fn body(bytes: usize) -> [String; 1] {
    ["x".repeat(bytes)]
}

#[test]
fn a_call_above_the_bound_is_taken_while_nothing_else_waits() {
    let small = Options {
        collected_bytes_max: 100,
        ..options(Arc::new(MemoryDisk::new()))
    };
    let mut driver = Driver::open(small, Now::default()).unwrap();
    driver.run(collect(&body(500), None)).unwrap();
    let refused = driver.run(collect(&body(1), None));
    assert_eq!(refused.unwrap_err(), Error::Overloaded);
    assert_eq!(
        driver.handle.status().messages_total,
        1,
        "a refused call counts no message"
    );
}

#[test]
fn messages_that_wait_take_at_most_a_quarter_of_the_memory() {
    let small = Options {
        memory_bytes: 4_000,
        ..options(Arc::new(MemoryDisk::new()))
    };
    let mut driver = Driver::open(small, Now::default()).unwrap();
    driver.run(collect(&body(600), None)).unwrap();
    let refused = driver.run(collect(&body(600), None));
    assert_eq!(refused.unwrap_err(), Error::Overloaded);
}

#[test]
fn cursors_are_bounded_by_the_bytes_that_stay() {
    let mut driver = open(MemoryDisk::new());
    let cursor = |name: u64, bytes: usize| -> engine::CursorChange {
        let name = name.to_be_bytes()[..].into();
        (name, Some(vec![b'x'; bytes].into()))
    };
    let note = |cursors| Command::Collected { upto: 0, cursors };
    let large = (engine::limits::CURSOR_BYTES_MAX - 8) as usize;
    let too_large = driver.run(note(vec![cursor(1, large + 1)]));
    assert!(matches!(too_large, Err(Error::Limit { .. })));
    let most = engine::limits::CURSORS_BYTES_MAX / engine::limits::CURSOR_BYTES_MAX;
    let all = || {
        (0..most)
            .map(|name| cursor(name, large))
            .collect::<Vec<_>>()
    };
    driver.run(note(all())).unwrap();
    assert!(matches!(
        driver.run(note(vec![cursor(most, 1)])),
        Err(Error::Limit { .. })
    ));
    driver.run(note(all())).unwrap(); // each takes the place of an equal one
    let first = 0u64.to_be_bytes()[..].into();
    driver
        .run(note(vec![(first, None), cursor(most, 1)]))
        .unwrap();
    let driver = driver.reopen().unwrap();
    assert_eq!(driver.handle.collected().1.len() as u64, most);
}

#[test]
fn small_messages_that_are_noted_leave_room_on_a_small_disk() {
    let disk = FaultDisk::new();
    let mut driver = open(disk.clone());
    let used = disk
        .space()
        .map(|space| space.total_bytes - space.free_bytes);
    disk.set_capacity(Some(used.unwrap() + (768 << 10)));
    for number in 1..1_000 {
        driver.run(collect(&body(10), None)).unwrap();
        driver.run(noted(2 * number - 1, number as usize)).unwrap();
        driver.tick(1_000);
    }
}

#[test]
fn a_note_gives_a_full_disk_room_for_messages() {
    let disk = FaultDisk::new();
    let mut driver = open(disk.clone());
    let space = disk.space().unwrap();
    disk.set_capacity(Some(space.total_bytes - space.free_bytes));
    for restarts in [false, true, false] {
        let refused = (0..10_000).find_map(|_| driver.run(collect(&body(10), None)).err());
        assert_eq!(refused, Some(Error::DiskFull));
        let position = driver.handle.status().position;
        // The first note makes a manifest that lets go of little, the second comes right after it.
        for upto in [1, position] {
            driver.run(noted(upto, 1)).unwrap();
            driver.tick(2_000_000);
        }
        if restarts {
            driver = driver.reopen().unwrap();
        }
        let mut taken = (0..3).map(|_| {
            driver.tick(2_000_000);
            driver.run(collect(&body(10), None))
        });
        assert!(taken.any(|taken| taken.is_ok()), "no message is taken");
    }
}

#[test]
fn a_repair_that_lost_messages_names_them_and_the_directory_starts() {
    let disk = MemoryDisk::new();
    let mut driver = open(disk.clone());
    driver
        .run(collect(&bodies(&["a", "damage"]), None))
        .unwrap();
    driver.run(Command::Checkpoint).unwrap();
    driver.run(command("create queue jobs (id int)")).unwrap();
    drop(driver);
    damage(&disk, b"damage");
    let disk: Arc<dyn Disk> = Arc::new(disk);
    let repaired = engine::inspect::repair(&disk, &mut |_| {})
        .unwrap()
        .unwrap();
    let lost: Vec<String> = repaired.losses.iter().map(ToString::to_string).collect();
    assert!(
        lost.iter().any(|loss| loss.contains("2 messages")),
        "{lost:?}"
    );
    let driver = Driver::open(options(disk), Now::default()).unwrap();
    assert_eq!(handed(&driver), []);
    drop(driver.reopen().unwrap());
}

#[test]
fn a_directory_that_is_only_read_hands_nothing_over() {
    let disk = MemoryDisk::new();
    let mut driver = open(disk.clone());
    driver.run(collect(&bodies(&["a"]), None)).unwrap();
    drop(driver);
    let read_only = Options {
        read_only: true,
        ..options(Arc::new(disk))
    };
    let mut driver = Driver::open(read_only, Now::default()).unwrap();
    assert_eq!(handed(&driver), []);
    let refused = driver.run(collect(&bodies(&["b"]), None));
    assert_eq!(refused.unwrap_err(), Error::ReadOnly);
    assert_eq!(driver.run(noted(1, 1)).unwrap_err(), Error::ReadOnly);
}

#[test]
fn a_dump_of_all_tables_counts_the_messages_that_no_store_has() {
    let disk = MemoryDisk::new();
    let mut driver = open(disk.clone());
    driver.run(command("create queue jobs (id int)")).unwrap();
    driver.run(collect(&bodies(&["a"]), None)).unwrap();
    driver.run(collect(&bodies(&["b", "c"]), None)).unwrap();
    driver.run(noted(2, 1)).unwrap();
    let status = driver.handle.status();
    let pending = (status.messages_pending, status.messages_pending_bytes);
    assert_eq!(pending, (2, messages(&bodies(&["b", "c"])).bytes()));
    drop(driver);
    let disk: Arc<dyn Disk> = Arc::new(disk);
    for (table, counts) in [(None, vec![pending]), (Some("jobs"), Vec::new())] {
        let mut found = Vec::new();
        let faults = engine::inspect::dump(&disk, table, &mut |line| {
            if let Dumped::Collected { messages, bytes } = line {
                found.push((messages, bytes));
            }
        });
        assert_eq!(faults.unwrap(), Vec::new());
        assert_eq!(found, counts);
    }
}

#[test]
fn the_hand_over_ends_with_the_engine_however_it_ends() {
    let ended = |handle: &engine::Handle| {
        let batches = handle.handover().take(Duration::ZERO);
        assert_eq!(batches.map(|batches| batches.len()), Some(1));
        handle.handover().take(Duration::ZERO).is_none()
    };
    let one = || collect(&bodies(&["a"]), None);

    let mut driver = open(MemoryDisk::new());
    driver.run(one()).unwrap();
    driver.run(Command::Shutdown).unwrap();
    assert!(ended(&driver.handle), "a stop");

    let disk = FaultDisk::new();
    let mut driver = open(disk.clone());
    driver.run(one()).unwrap();
    disk.inject(Call::Sync, 1, Fault::Fail(ErrorKind::Other));
    assert!(driver.run(one()).is_err());
    assert!(
        ended(&driver.handle),
        "a failed sync: its messages never come"
    );

    let mut driver = open(MemoryDisk::new());
    driver.run(one()).unwrap();
    let handle = driver.handle.clone();
    drop(driver);
    assert!(ended(&handle), "an engine that is dropped");
}

#[derive(Clone, Debug)]
enum Step {
    Collect {
        count: usize,
        sync: Option<SyncMode>,
    },
    /// Notes the messages of some of the records that were handed over and not noted.
    Note {
        part: usize,
    },
    Insert,
    Checkpoint,
}

fn step() -> impl Strategy<Value = Step> {
    let sync = prop_oneof![
        3 => Just(None),
        1 => Just(Some(SyncMode::Never)),
        1 => Just(Some(SyncMode::Within { ms: 5 })),
    ];
    prop_oneof![
        6 => (1..4usize, sync).prop_map(|(count, sync)| Step::Collect { count, sync }),
        3 => (1..4usize).prop_map(|part| Step::Note { part }),
        1 => Just(Step::Insert),
        1 => Just(Step::Checkpoint),
    ]
}

/// What a run has done until the power went.
#[derive(Default)]
struct Played {
    /// Records of messages that were answered OK, with whether a sync has covered them.
    taken: Vec<(u64, Vec<String>, bool)>,
    /// Those of the call in flight when the engine ended.
    in_flight: Vec<String>,
    /// Positions noted, with whether a sync has covered the note.
    notes: Vec<(u64, bool)>,
}

fn play(disk: &FaultDisk, steps: &[Step]) -> Played {
    let mut played = Played::default();
    let Ok(mut driver) = Driver::open(options(Arc::new(disk.clone())), Now::default()) else {
        return played;
    };
    let _ = driver.run(command("create queue jobs (id int)"));
    let mut waiting: Vec<u64> = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let before = driver.handle.status().syncs_total;
        let outcome = match step {
            Step::Collect { count, sync } => {
                let texts: Vec<String> = (0..*count).map(|at| format!("{number}.{at}")).collect();
                played.in_flight.clone_from(&texts);
                let outcome = driver.run(collect(&texts, *sync));
                if outcome.is_ok() {
                    played.in_flight.clear();
                    let given = handed(&driver);
                    assert_eq!(given.len(), 1);
                    assert_eq!(given[0].1, texts);
                    waiting.push(given[0].0);
                    played.taken.push((given[0].0, texts, false));
                }
                outcome
            }
            Step::Note { part } => {
                let Some(upto) = waiting
                    .get(waiting.len() / part)
                    .or(waiting.last())
                    .copied()
                else {
                    continue;
                };
                waiting.retain(|position| *position > upto);
                played.notes.push((upto, false));
                let number = played.notes.len();
                driver.run(noted(upto, number))
            }
            Step::Insert => driver.run(command("insert jobs (id) values (1)")),
            Step::Checkpoint => driver.run(Command::Checkpoint),
        };
        if outcome.is_err_and(|error| matches!(error, Error::Poisoned { .. })) {
            assert_eq!(handed(&driver), [], "of a call that was not answered OK");
            return played;
        }
        if driver.handle.status().syncs_total > before {
            played
                .taken
                .iter_mut()
                .for_each(|(_, _, synced)| *synced = true);
            played
                .notes
                .iter_mut()
                .for_each(|(_, synced)| *synced = true);
        }
        driver.tick(1_000);
    }
    played
}

proptest! {
    #![proptest_config(cases(48))]

    /// After a power cut in any call the collector gets each acknowledged message above the note that the disk has, in order,
    /// and the note is no older than the last one that a sync covered.
    #[test]
    fn power_lost_in_any_call_hands_over_what_was_acknowledged_and_not_noted(
        steps in proptest::collection::vec(step(), 1..40),
        places in places(10),
        cut in power_cut(),
    ) {
        let calls = {
            let disk = FaultDisk::new();
            play(&disk, &steps);
            disk.change_count()
        };
        for place in places {
            let disk = FaultDisk::new();
            disk.power_off_after(place.index(calls as usize) as u64);
            let played = play(&disk, &steps);
            let image = cut.image(&disk);
            let Ok(driver) = Driver::open(options(Arc::new(image)), Now::default()) else {
                prop_assert!(false, "the directory does not open");
                continue;
            };
            let known = notes(&driver);
            let synced = played.notes.iter().rposition(|(_, synced)| *synced).map_or(0, |last| last + 1);
            prop_assert!(known >= synced && known <= played.notes.len(), "note {} of {}, synced {}", known, played.notes.len(), synced);
            let upto = known.checked_sub(1).map_or(0, |last| played.notes[last].0);
            let found = handed(&driver);
            let wanted: Vec<_> = played.taken.iter().filter(|(position, ..)| *position > upto).collect();
            for (place, (position, texts, synced)) in wanted.iter().enumerate() {
                match found.get(place) {
                    Some(given) => prop_assert_eq!(given, &(*position, texts.clone())),
                    None => prop_assert!(!synced, "{:?} was synced and is gone", texts),
                }
            }
            for (_, texts) in found.iter().skip(wanted.len()) {
                prop_assert_eq!(texts, &played.in_flight);
            }
        }
    }
}
