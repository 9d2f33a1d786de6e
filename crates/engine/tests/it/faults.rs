//! One call on the disk fails, or the disk is full: which commands the engine refuses, and which rows stay.

use std::io::ErrorKind;
use std::sync::Arc;

use disk::{Call, Copies, Disk, Fault, FaultDisk, MemoryDisk, everything_kept};
use engine::{Background, Command, Error, HeldJobs, JobLine, Now, Options, Reply};
use proptest::prelude::*;

use crate::driver::{Driver, Pending, options};
use crate::model::Model;
use crate::statement::command;
use crate::workload::{asked, cases, create_schema, dump, play, seal_rows, worded};

fn open(disk: Arc<dyn Disk>) -> Driver {
    let mut driver = Driver::open(options(disk), Now::default()).unwrap();
    create_schema(&mut driver);
    driver
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn after_any_failed_call_the_answers_given_still_hold(
        asked in proptest::collection::vec(asked(), 1..23),
        kind in proptest::sample::select(&[
            Call::Open, Call::Create, Call::CreateDir, Call::List, Call::Rename, Call::Remove, Call::SyncDir,
            Call::Read, Call::Write, Call::SetLen, Call::Sync,
        ][..]),
        nth in 1..40u64,
        error in proptest::sample::select(&[ErrorKind::Other, ErrorKind::StorageFull][..]),
        seal_rows in seal_rows(),
    ) {
        let disk = FaultDisk::new();
        let options = Options { seal_rows, ..options(Arc::new(disk.clone())) };
        let mut driver = Driver::open(options.clone(), Now::default()).unwrap();
        create_schema(&mut driver);
        disk.inject(kind, nth, Fault::Fail(error));
        let mut model = Model::default();
        let mut in_flight = None;
        for one in asked.chunks(1) {
            driver.now.steady_us += 2_000_000;
            let answer = play(&mut driver, one).remove(0);
            let (session, command) = &one[0];
            let mut after = model.clone();
            let want = after.execute(*session, command);
            match answer {
                Err(Error::Poisoned { .. }) => {
                    in_flight = Some(after);
                    break;
                }
                // Refused for the disk's sake: nothing has changed.
                Err(Error::DiskFull | Error::Internal { .. } | Error::Corrupt { .. }) => {}
                Err(Error::InMany { error, .. })
                    if matches!(*error, Error::DiskFull | Error::Internal { .. } | Error::Corrupt { .. }) => {}
                answer => {
                    prop_assert_eq!(worded(answer), want);
                    model = after;
                }
            }
        }
        drop(driver);
        let image = Arc::new(disk.crash(everything_kept));
        let mut driver = Driver::open(Options { disk: image, ..options }, Now::default()).unwrap();
        let found = dump(&mut driver);
        model.restart();
        let in_flight = in_flight.map(|mut model: Model| { model.restart(); model.dump() });
        prop_assert!(found == model.dump() || in_flight.as_ref() == Some(&found),
            "{:?} is neither {:?} nor {:?}", found, model.dump(), in_flight);
    }
}

#[test]
fn after_a_failed_sync_nobody_is_answered_ok_and_nothing_more_is_taken() {
    let disk = FaultDisk::new();
    let mut driver = open(Arc::new(disk.clone()));
    disk.inject(Call::Sync, 1, Fault::Fail(ErrorKind::Other));
    let first = driver.run(command("insert jobs (id) values (1)"));
    assert!(matches!(first, Err(Error::Poisoned { .. })), "{first:?}");
    let second = driver.run(command("read count from jobs"));
    assert!(matches!(second, Err(Error::Poisoned { .. })), "{second:?}");
}

/// Rows of a batch that is large enough for a sync beside the making of what readers see.
#[test]
fn rows_of_a_large_batch_are_shown_when_they_are_synced_and_never_if_that_fails() {
    let values: Vec<String> = (1..=600).map(|id| format!("({id}, 'cat')")).collect();
    let insert = format!("insert posts (id, body) values {}", values.join(", "));
    for fails in [false, true] {
        let disk = FaultDisk::new();
        let mut driver = open(Arc::new(disk.clone()));
        if fails {
            disk.inject(Call::Sync, 1, Fault::Fail(ErrorKind::Other));
        }
        let answer = driver.run(command(&insert));
        assert_eq!(
            matches!(answer, Err(Error::Poisoned { .. })),
            fails,
            "{answer:?}"
        );
        let shown = driver.handle.snapshot().table_status("posts").unwrap();
        let rows = if fails { "0" } else { "600" };
        let counted = ("indexed_documents".to_owned(), rows.to_owned());
        assert!(shown.contains(&counted), "{shown:?}");
    }
}

/// The device has no room beyond what is in use.
fn take_all_room(disk: &FaultDisk) {
    let space = disk.space().unwrap();
    disk.set_capacity(Some(space.total_bytes - space.free_bytes));
}

/// Inserts until the disk takes no more, in smaller and smaller rows.
fn fill(driver: &mut Driver) {
    for words in [2000, 100, 1] {
        let text = "word ".repeat(words);
        let insert = format!("insert posts (body) values ('{text}')");
        let refused = (0..10_000).find_map(|_| driver.run(command(&insert)).err());
        assert_eq!(refused, Some(Error::DiskFull));
    }
}

#[test]
fn a_full_disk_refuses_writes_and_takes_deletes() {
    let disk = FaultDisk::new();
    let mut driver = open(Arc::new(disk.clone()));
    driver
        .run(command("insert jobs (id) values (1), (2), (3)"))
        .unwrap();
    driver
        .run(command(
            "insert posts (id, body) values (1, 'one'), (2, 'two')",
        ))
        .unwrap();
    take_all_room(&disk);
    fill(&mut driver);
    assert!(driver.handle.status().disk_full);
    let before = dump(&mut driver);
    for _ in 0..3 {
        assert_eq!(
            driver
                .run(command("insert jobs (id) values (9)"))
                .unwrap_err(),
            Error::DiskFull
        );
        let many = "many insert jobs (id) values (9); delete posts";
        assert_eq!(driver.run(command(many)).unwrap_err(), Error::DiskFull);
    }
    assert_eq!(dump(&mut driver), before, "refused commands leave no trace");
    assert!(matches!(
        driver.run(command("wait jobs 0")),
        Ok(Reply::Waited(1))
    ));
    driver.run(command("end")).unwrap();
    driver.run(command("delete posts where id = 1")).unwrap();
    driver.run(command("delete jobs where id = 3")).unwrap();
    disk.set_capacity(None);
    driver.now.steady_us += 10_000_000;
    driver.run(command("insert jobs (id) values (10)")).unwrap();
    assert!(!driver.handle.status().disk_full);
    let live = dump(&mut driver);
    assert_eq!(dump(&mut driver.reopen().unwrap()), live);
}

/// An engine whose jobs run when the test says so, with a row that is in no file, and a FLUSH or OPTIMIZE that waits for it.
fn waiting(line: &str) -> (FaultDisk, HeldJobs, Driver, Pending) {
    let (disk, held) = (FaultDisk::new(), HeldJobs::default());
    let options = Options {
        background: Background::Held(held.clone()),
        ..options(Arc::new(disk.clone()))
    };
    let mut driver = Driver::open(options, Now::default()).unwrap();
    create_schema(&mut driver);
    for _ in 0..3 {
        run_all(&held); // the manifest of the tables is no fold of this row
        driver.tick(1_000_000);
    }
    let insert = "insert posts (id, body) values (1, 'one')";
    driver.run(command(insert)).unwrap();
    let answer = driver.ask(1, command(line));
    (disk, held, driver, answer)
}

fn run_all(held: &HeldJobs) {
    while held.run(JobLine::Folds) || held.run(JobLine::Merges) {}
}

#[test]
fn a_flush_or_optimize_whose_fold_finds_no_room_is_told_at_once() {
    for line in ["flush posts", "optimize posts"] {
        let (disk, held, mut driver, answer) = waiting(line);
        let other = driver.ask(2, command(line));
        disk.inject(Call::Create, 1, Fault::Fail(ErrorKind::StorageFull));
        run_all(&held); // the fold, and the manifest behind it
        driver.tick(1_000);
        let refused = answer.take();
        assert!(
            matches!(refused, Some(Err(Error::DiskFull))),
            "{line}: {refused:?}"
        );
        // The other one has its own fold, for which there is room.
        for _ in 0..9 {
            run_all(&held);
            driver.tick(1_000_000);
        }
        assert!(matches!(other.take(), Some(Ok(_))), "{line}");
    }
}

#[test]
fn kill_ends_the_wait_of_a_flush_and_of_an_optimize() {
    for line in ["flush posts", "optimize posts"] {
        let (_disk, held, mut driver, answer) = waiting(line);
        let other = driver.ask(2, command(line));
        assert!(answer.take().is_none(), "{line}: the fold is not done");
        driver.ask(1, Command::EndWait);
        let killed = answer.take();
        assert!(
            matches!(killed, Some(Err(Error::Interrupted))),
            "{line}: {killed:?}"
        );
        for _ in 0..9 {
            run_all(&held);
            driver.tick(1_000_000);
        }
        assert!(matches!(other.take(), Some(Ok(_))), "{line}");
    }
}

#[test]
fn deletes_give_a_full_disk_room_for_the_rows_that_could_not_be_written() {
    let disk = FaultDisk::new();
    let mut driver = open(Arc::new(disk.clone()));
    take_all_room(&disk);
    // Words that are all different: a segment of them is no smaller than the journal.
    let mut word = 0_u64;
    let refused = (0..10_000).find_map(|_| {
        let words = std::iter::repeat_with(|| {
            word += 1;
            format!("{:016x} ", word.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        });
        let text: String = words.take(1_000).collect();
        let insert = format!("insert posts (body) values ('{text}')");
        driver.run(command(&insert)).err()
    });
    assert_eq!(refused, Some(Error::DiskFull));
    driver.tick(2_000_000);
    let refused = driver.run(command("flush posts"));
    assert_eq!(refused.unwrap_err(), Error::DiskFull);
    driver.run(command("delete posts")).unwrap();
    for line in ["flush posts", "optimize posts"] {
        let answer = driver.ask(1, command(line));
        for _ in 0..9 {
            driver.tick(2_000_000);
        }
        let answer = answer.take();
        assert!(matches!(answer, Some(Ok(_))), "{line}: {answer:?}");
    }
    let insert = "insert posts (id, body) values (1000000, 'cat')";
    driver.run(command(insert)).unwrap();
    assert!(!driver.handle.status().disk_full);
    let live = dump(&mut driver);
    assert_eq!(dump(&mut driver.reopen().unwrap()), live);
}

#[test]
fn a_dropped_table_gives_a_full_disk_room_for_writes() {
    let disk = FaultDisk::new();
    let mut driver = open(Arc::new(disk.clone()));
    driver.run(command("insert jobs (id) values (1)")).unwrap();
    take_all_room(&disk);
    fill(&mut driver);
    for table in ["alerts", "watch", "posts"] {
        driver.run(command(&format!("drop {table}"))).unwrap();
    }
    driver.now.steady_us += 10_000_000;
    driver.run(command("read count from jobs")).unwrap();
    driver.run(command("insert jobs (id) values (2)")).unwrap();
    let mut driver = driver.reopen().unwrap();
    let rows = crate::scripts::show(driver.run(command("read id from jobs")));
    assert_eq!(rows, ["2 found: 0", "1", "2"]);
}

#[test]
fn a_table_created_after_a_refused_create_keeps_its_files() {
    let disk = FaultDisk::new();
    let mut driver = open(Arc::new(disk.clone()));
    take_all_room(&disk);
    fill(&mut driver);
    let create = "create search notes (body text)";
    let refused = driver.run(command(create)).unwrap_err();
    assert_eq!(refused, Error::DiskFull);
    disk.set_capacity(None);
    driver.now.steady_us += 10_000_000;
    driver.run(command(create)).unwrap();
    driver
        .run(command("insert notes (body) values ('kept')"))
        .unwrap();
    driver.run(command("checkpoint")).unwrap();
    driver.run(command("drop jobs")).unwrap();
    let mut driver = driver.reopen().unwrap();
    driver
        .run(command("insert notes (body) values ('more')"))
        .unwrap();
    let status = driver.handle.snapshot().table_status("notes").unwrap();
    assert!(
        status.contains(&("indexed_documents".to_owned(), "2".to_owned())),
        "{status:?}"
    );
}

#[test]
fn a_checkpoint_after_a_refused_unit_keeps_the_files_of_the_one_before() {
    let mut driver = open(Arc::new(MemoryDisk::new()));
    driver
        .run(command("insert alerts (id, query) values (1, 'cat')"))
        .unwrap();
    driver.run(command("insert jobs (id) values (1)")).unwrap();
    driver.run(command("checkpoint")).unwrap();
    let many = "many replace alerts (id, query) values (1, 'dog'), (2, 'x'); insert jobs (id) values (2); \
                delete jobs; insert posts (id, body) values (1, ''), (1, '')";
    assert!(driver.run(command(many)).is_err());
    driver.run(command("checkpoint")).unwrap();
    let mut driver = driver.reopen().unwrap();
    assert_eq!(dump(&mut driver), ["alerts 1 | cat |  | 0", "jobs 1"]);
}

#[test]
fn what_has_nothing_pending_holds_no_journal_back() {
    let options = Options {
        seal_rows: 100,
        ..options(Arc::new(MemoryDisk::new()))
    };
    let mut driver = Driver::open(options, Now::default()).unwrap();
    create_schema(&mut driver);
    driver
        .run(command("insert alerts (id, query) values (1, 'cat')"))
        .unwrap();
    driver.run(command("insert jobs (id) values (1)")).unwrap();
    let text = "cat ".repeat(500);
    for _ in 0..1000 {
        driver
            .run(command(&format!("insert posts (body) values ('{text}')")))
            .unwrap();
        driver.run(command("wait hits 0")).unwrap();
    }
    let status = driver.handle.status();
    assert!(status.seals_total >= 9, "{status:?}");
    assert!(
        status.checkpoint_position + 400 > status.position,
        "{status:?}"
    );
    assert!(status.journal_bytes <= 5 * (256 << 10), "{status:?}");
    let driver = driver.reopen().unwrap();
    assert!(
        driver.recovered.records_replayed < 400,
        "{:?}",
        driver.recovered
    );
}

#[test]
fn a_table_that_changes_little_is_folded_before_it_makes_the_journal_long() {
    let options = Options {
        journal_bytes_max: 1 << 20,
        ..options(Arc::new(MemoryDisk::new()))
    };
    let mut driver = Driver::open(options, Now::default()).unwrap();
    create_schema(&mut driver);
    driver.run(command("insert jobs (id) values (1)")).unwrap();
    let text = "x".repeat(10_000);
    for id in 0..500 {
        let replace = format!("replace posts (id, body) values ({}, '{text}')", id % 5 + 1);
        driver.run(command(&replace)).unwrap();
    }
    let status = driver.handle.status();
    assert!(status.journal_bytes <= 2 << 20, "{status:?}");
}

#[test]
fn a_panic_while_applying_ends_the_engine_and_a_restart_finds_what_was_acknowledged() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let mut driver = open(Arc::clone(&disk));
    driver.run(command("insert jobs (id) values (1)")).unwrap();
    let before = dump(&mut driver);
    drop(driver);
    let hook = Options {
        on_apply: Some(Arc::new(|_| panic!("injected"))),
        ..options(Arc::clone(&disk))
    };
    let (engine, _) = engine::Engine::open(hook, Now::default()).unwrap();
    let (handle, mailbox) = engine.mailbox();
    let (sender, receiver) = std::sync::mpsc::channel();
    let reply = Box::new(move |outcome| drop(sender.send(outcome)));
    handle
        .submit(
            engine::SessionId(1),
            command("insert jobs (id) values (2)"),
            reply,
        )
        .unwrap();
    let ended = engine.run(mailbox, Now::default);
    assert!(
        matches!(&ended, Err(Error::Internal { what }) if what.contains("injected")),
        "{ended:?}"
    );
    let answer = receiver.recv_timeout(std::time::Duration::from_secs(30));
    assert!(
        !matches!(answer, Ok(Ok(_))),
        "nobody is answered OK: {answer:?}"
    );
    let mut driver = Driver::open(options(disk), Now::default()).unwrap();
    assert_eq!(dump(&mut driver), before);
}

#[test]
fn a_second_engine_on_the_directory_is_refused() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let _first = open(Arc::clone(&disk));
    let second = Driver::open(options(disk), Now::default());
    assert!(matches!(second.err(), Some(Error::Locked { .. })));
}

/// Where each copy begins, and the length of one.
fn copies_of_the_manifest(disk: &dyn Disk) -> ([u64; 2], u64) {
    let bytes = disk.open("manifest").and_then(|file| file.map()).unwrap();
    let copy = Copies::of(&bytes).first_sound(|_, copy| Ok::<_, ()>(copy.len() as u64));
    let length = copy.unwrap();
    ([0, bytes.len() as u64 - length], length)
}

#[test]
fn a_manifest_of_which_one_copy_is_damaged_is_still_read() {
    for copy in [0, 1] {
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
        let mut driver = open(Arc::clone(&disk));
        driver.run(command("insert jobs (id) values (1)")).unwrap();
        driver.run(command("checkpoint")).unwrap();
        let before = dump(&mut driver);
        drop(driver);
        let (starts, length) = copies_of_the_manifest(&*disk);
        let start = starts[copy];
        for at in (0..length).step_by(3) {
            let file = disk.open("manifest").unwrap();
            let mut byte = [0];
            file.read_at(start + at, &mut byte).unwrap();
            file.write_at(start + at, &[byte[0] ^ 0x10]).unwrap();
            let found = engine::inspect::check(&disk, &mut |_| {}).unwrap();
            assert_eq!(found.faults.len(), 1, "byte {at}: {found:?}");
            assert_eq!(
                (found.faults[0].file.as_str(), found.losses.len()),
                ("manifest", 0)
            );
            file.write_at(start + at, &byte).unwrap();
        }
        let file = disk.open("manifest").unwrap();
        file.write_at(start + 20, &[0xff; 3]).unwrap();
        let repaired = engine::inspect::repair(&disk, &mut |_| {}).unwrap();
        assert!(repaired.is_some_and(|repaired| repaired.losses.is_empty()));
        assert_eq!(engine::inspect::repair(&disk, &mut |_| {}).unwrap(), None);
        let mut driver = Driver::open(options(disk), Now::default()).unwrap();
        assert_eq!(dump(&mut driver), before);
    }
}

#[test]
fn a_newer_format_is_refused_and_named() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    drop(open(Arc::clone(&disk)));
    for copy in copies_of_the_manifest(&*disk).0 {
        let file = disk.open("manifest").unwrap();
        file.write_at(copy + 8, &11u32.to_le_bytes()).unwrap();
    }
    let error = Driver::open(options(disk), Now::default()).err();
    assert_eq!(
        error,
        Some(Error::NewerFormat {
            found: 11,
            known: 10
        })
    );
}

#[test]
fn a_damaged_manifest_is_refused_with_its_name() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    drop(open(Arc::clone(&disk)));
    for copy in copies_of_the_manifest(&*disk).0 {
        let file = disk.open("manifest").unwrap();
        file.write_at(copy + 20, &[0xff]).unwrap();
    }
    let error = Driver::open(options(disk), Now::default()).err();
    assert!(
        matches!(&error, Some(Error::Corrupt { file, .. }) if file == "manifest"),
        "{error:?}"
    );
}

#[test]
fn a_journal_without_a_manifest_is_not_an_empty_directory() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    drop(open(Arc::clone(&disk)));
    disk.remove("manifest").unwrap();
    let error = Driver::open(options(disk), Now::default()).err();
    assert!(
        matches!(&error, Some(Error::Corrupt { file, .. }) if file == "manifest"),
        "{error:?}"
    );
}

#[test]
fn too_much_memory_is_refused_and_given_back_by_deletes() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let options = Options {
        memory_bytes: 100 << 10,
        ..options(disk)
    };
    let mut driver = Driver::open(options, Now::default()).unwrap();
    create_schema(&mut driver);
    let mut taken = 0;
    let text = "x".repeat(10_000);
    let rows = format!(
        "insert posts (body) values ('{text}'), ('{text}'), ('{text}'), ('{text}'), ('{text}')"
    );
    for _ in 0..100 {
        match driver.run(command(&rows)) {
            Ok(_) => taken += 1,
            Err(error) => assert_eq!(error, Error::Overloaded),
        }
    }
    assert!(taken > 10, "folds make room: {taken}");
    let status = driver.handle.status();
    assert!(status.tail_bytes < 400 << 10, "{} bytes", status.tail_bytes);
}

#[test]
fn rows_that_no_memory_would_hold_are_a_limit_and_not_for_later() {
    let options = Options {
        memory_bytes: 100 << 10,
        ..options(Arc::new(MemoryDisk::new()))
    };
    let mut driver = Driver::open(options, Now::default()).unwrap();
    create_schema(&mut driver);
    let large = format!("insert posts (body) values ('{}')", "w ".repeat(60 << 10));
    let refused = driver.run(command(&large)).unwrap_err();
    assert!(
        matches!(refused, Error::Limit { max: 102_400, .. }),
        "{refused}"
    );
    assert!(
        driver
            .run(command("insert posts (body) values ('w')"))
            .is_ok()
    );
}

#[test]
fn standing_queries_that_memory_does_not_hold_are_a_limit_until_some_are_deleted() {
    let options = Options {
        memory_bytes: 100 << 10,
        ..options(Arc::new(MemoryDisk::new()))
    };
    let mut driver = Driver::open(options, Now::default()).unwrap();
    driver.run(command("create pq pq (body text)")).unwrap();
    let insert = |id: u32| format!("insert pq (id, query) values ({id}, 'w')");
    let mut full = (1..).find(|id| driver.run(command(&insert(*id))).is_err());
    let full = full.take().unwrap();
    assert!((100..1000).contains(&full), "{full}");
    let refused = driver.run(command(&insert(full))).unwrap_err();
    assert!(
        matches!(
            refused,
            Error::Limit {
                what: "bytes of standing queries",
                max: 102_400
            }
        ),
        "{refused}"
    );
    driver
        .run(command("replace pq (id, query) values (1, 'v')"))
        .unwrap();
    // A new query counts for more until it lies in a level.
    for id in 2..6 {
        driver
            .run(command(&format!("delete pq where id = {id}")))
            .unwrap();
    }
    driver.run(command(&insert(full))).unwrap();
}

#[test]
fn regular_expressions_of_standing_queries_and_their_filters_count_as_memory() {
    let options = Options {
        memory_bytes: 4 << 20,
        ..options(Arc::new(MemoryDisk::new()))
    };
    let mut driver = Driver::open(options, Now::default()).unwrap();
    let long = |id: u32| format!("w{id}{}", "[^x]{2,9}x".repeat(8));
    let query = |id: u32| {
        format!(
            "insert pq (id, query) values ({id}, 'REGEX(/{}/)')",
            long(id)
        )
    };
    let filter = |id: u32| {
        let filter = format!("regex(s, \"{}\")", long(id));
        format!("insert pq (id, query, filters) values ({id}, 'w', '{filter}')")
    };
    // Ten thousand of either would fit if only their texts were counted.
    for insert in [&query as &dyn Fn(u32) -> String, &filter] {
        driver
            .run(command("create pq pq (body text, s string)"))
            .unwrap();
        let refused = (1..1000).find_map(|id| Some((id, driver.run(command(&insert(id))).err()?)));
        let (stored, error) = refused.expect("a limit");
        assert!((4..200).contains(&stored), "{stored}: {error}");
        let what = "bytes of standing queries";
        assert!(
            matches!(error, Error::Limit { what: of, .. } if of == what),
            "{error}"
        );
        driver.run(command("drop pq")).unwrap();
    }
    driver
        .run(command("create pq pq (body text, s string)"))
        .unwrap();
    // One that names them all is refused before all are compiled.
    let rows: Vec<String> = (1..1000)
        .map(|id| format!("({id}, 'REGEX(/{}/)')", long(id)))
        .collect();
    let all = format!("insert pq (id, query) values {}", rows.join(","));
    assert!(matches!(
        driver.run(command(&all)),
        Err(Error::Limit { .. })
    ));
    driver
        .run(command("insert pq (id, query) values (1, 'w')"))
        .expect("no query is left of a statement that was refused");
}

#[test]
fn hits_that_memory_does_not_hold_are_refused_with_the_number_that_it_holds() {
    let options = Options {
        memory_bytes: 1 << 20,
        ..options(Arc::new(MemoryDisk::new()))
    };
    let mut driver = Driver::open(options, Now::default()).unwrap();
    let rows = |row: &dyn Fn(u32) -> String| (1..=100).map(row).collect::<Vec<_>>().join(", ");
    for line in [
        "create search posts (body text)".to_owned(),
        "create queue hits (query_id bigint)".to_owned(),
        "create pq watch (body text) on posts into hits".to_owned(),
        format!(
            "insert watch (id, query) values {}",
            rows(&|id| format!("({id}, 'w')"))
        ),
    ] {
        driver.run(command(&line)).unwrap();
    }
    let insert = format!(
        "insert posts (body) values {}",
        rows(&|_| "('w')".to_owned())
    );
    let refused = driver.run(command(&insert)).unwrap_err();
    assert!(
        matches!(
            refused,
            Error::Limit {
                what: "hits of one statement",
                max: 4096
            }
        ),
        "{refused}"
    );
    driver
        .run(command("insert posts (body) values ('w')"))
        .unwrap();
}

#[test]
fn a_full_mailbox_says_overloaded_and_takes_what_must_fit() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let driver = open(disk);
    let session = engine::SessionId(1);
    let mut refused = 0;
    for _ in 0..engine::limits::MAILBOX_COMMANDS_MAX + 10 {
        let submitted = driver
            .handle
            .submit(session, Command::QueueEnd, Box::new(|_| {}));
        refused += usize::from(submitted == Err(Error::Overloaded));
    }
    assert_eq!(refused, 10);
    assert_eq!(
        driver
            .handle
            .submit(session, Command::SessionClosed, Box::new(|_| {})),
        Ok(())
    );
}

#[test]
fn a_query_in_the_place_of_a_counted_one_begins_at_zero_after_every_restart() {
    let mut driver = open(Arc::new(MemoryDisk::new()));
    for line in [
        "insert watch (id, query) values (10, 'mouse')",
        "insert posts (body) values ('mouse')",
        "checkpoint",
        "replace watch (id, query) values (10, 'cat')",
        "insert posts (body) values ('dog')",
        "checkpoint",
        "insert posts (body) values ('cow')",
        "checkpoint",
    ] {
        driver.run(command(line)).unwrap();
    }
    let hits = |driver: &mut Driver| {
        let read = driver.run(command("read id, hits from watch"));
        crate::scripts::show(read)[1..].to_vec()
    };
    let live = hits(&mut driver);
    assert_eq!(live, ["10 | 0"]);
    assert_eq!(hits(&mut driver.reopen().unwrap()), live);
}
