//! A second engine over the log of the first: at every position it shows the same bytes, whatever either has in files.

use std::sync::{Arc, Mutex};

use disk::{FaultDisk, everything_lost};
use engine::{Command, Engine, Error, Journal, Now, Options};
use journal::{Log, MemoryLog, Position, Status};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::driver::{Driver, options};
use crate::statement::{Statement, command, options_of, parse};
use crate::workload::{Asked, asked, cases, create_schema, dump};

const SECOND_US: u64 = 1_000_000;
const BEGIN_S: u64 = 1_000_000_000;

/// One log for several engines. Each reads what is synced; nothing is trimmed, since another may need it.
#[derive(Clone, Default)]
struct SharedLog(Arc<Mutex<MemoryLog>>);

impl Log for SharedLog {
    fn append(&mut self, records: &[&[u8]]) -> journal::Result<Position> {
        self.0.lock().unwrap().append(records)
    }

    fn sync(&mut self) -> journal::Result<Position> {
        self.0.lock().unwrap().sync()
    }

    fn read(
        &mut self,
        from: Position,
        visit: &mut dyn FnMut(Position, &[u8]) -> bool,
    ) -> journal::Result<()> {
        self.0.lock().unwrap().read(from, visit)
    }

    fn trim(&mut self, _: Position) -> journal::Result<()> {
        Ok(())
    }

    fn status(&self) -> Status {
        self.0.lock().unwrap().status()
    }
}

/// What happens to the two engines.
#[derive(Clone, Debug)]
enum Step {
    Batch(Vec<Asked>),
    /// Rows of these ages, in seconds, into a table that keeps rows for a minute.
    Keep(Vec<u8>),
    Tick(u64),
    Checkpoint,
    /// The power of the follower goes.
    FollowerStarts,
    WriterStarts,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => vec(asked(), 1..4).prop_map(Step::Batch),
        3 => vec(0..120u8, 1..6).prop_map(Step::Keep),
        3 => (1..40u64).prop_map(Step::Tick),
        1 => Just(Step::Checkpoint),
        1 => Just(Step::FollowerStarts),
        1 => Just(Step::WriterStarts),
    ]
}

/// One of the engines; they seal at different sizes.
fn start(disk: &FaultDisk, log: &SharedLog, now: Now, follows: bool) -> Driver {
    let options = Options {
        seal_rows: if follows { 5 } else { 3 },
        queue_fold_bytes: if follows { 1 } else { 1 << 10 },
        ..options(Arc::new(disk.clone()))
    };
    let restored = Engine::claim(options.clone()).unwrap().restore().unwrap();
    let journal = Journal::Remote(Box::new(log.clone()));
    let opened = match follows {
        true => restored.follow(journal, now),
        false => restored.lead(journal, now),
    };
    Driver::of(opened.unwrap(), options, now)
}

/// What readers see, with weights; rows that nobody holds any more.
fn shown(driver: &mut Driver) -> Vec<String> {
    let mut lines = dump(driver);
    for line in [
        "select id, weight from posts match 'cat | dog | star' limit 1000",
        "select id, body, at, weight from kept match 'old | young' order by id limit 1000",
    ] {
        let Statement::Select(select) = parse(line) else {
            panic!("a SELECT")
        };
        let (options, control) = (options_of(&select), engine::Control::default());
        let answer = driver.handle.snapshot().select(&select, &options, &control);
        lines.extend(crate::scripts::show_answer(answer.unwrap()).unwrap());
    }
    lines
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn at_every_position_a_follower_shows_what_the_writer_shows(steps in vec(step(), 1..40)) {
        let log = SharedLog::default();
        let disks = [FaultDisk::new(), FaultDisk::new()];
        let mut now = Now { unix_us: (BEGIN_S * SECOND_US) as i64, steady_us: 0 };
        let mut writer = start(&disks[0], &log, now, false);
        create_schema(&mut writer);
        writer.run(command("create search kept (body text, at timestamp) keep 60")).unwrap();
        let mut follower_disk = disks[1].clone();
        let mut follower = start(&follower_disk, &log, now, true);
        for step in steps {
            match step {
                Step::Batch(batch) => drop(crate::workload::play(&mut writer, &batch)),
                Step::Keep(ages) => {
                    let at = |age: &u8| now.unix_us / 1_000_000 - i64::from(*age);
                    let body = |age: &u8| if *age > 60 { "old" } else { "young" };
                    let rows = ages.iter().map(|age| format!("('{}', {})", body(age), at(age)));
                    let rows: Vec<String> = rows.collect();
                    let insert = format!("insert kept (body, at) values {}", rows.join(", "));
                    writer.run(command(&insert)).unwrap();
                }
                Step::Tick(seconds) => {
                    now.unix_us += (seconds * SECOND_US) as i64;
                    now.steady_us += seconds * SECOND_US;
                    (writer.now, follower.now) = (now, now);
                    writer.tick(0);
                }
                Step::Checkpoint => {
                    drop(writer.run(Command::Checkpoint));
                }
                Step::FollowerStarts => {
                    follower_disk = FaultDisk::over(&follower_disk.crash(everything_lost));
                    follower = start(&follower_disk, &log, now, true);
                }
                Step::WriterStarts => {
                    drop(writer);
                    writer = start(&disks[0], &log, now, false);
                }
            }
            for session in 1..4 {
                writer.ask(session, Command::SessionClosed);
            }
            follower.tick(0);
            prop_assert_eq!(shown(&mut follower), shown(&mut writer));
        }
    }
}

#[test]
fn a_follower_refuses_what_writes_and_goes_on_with_what_was_written_since() {
    let (log, disk) = (SharedLog::default(), FaultDisk::new());
    let mut writer = start(&FaultDisk::new(), &log, Now::default(), false);
    writer
        .run(command("create search posts (body text)"))
        .unwrap();
    writer
        .run(command("create search gone (body text)"))
        .unwrap();
    let mut follower = start(&disk, &log, Now::default(), true);
    let folders = |disk: &FaultDisk| disk::Disk::list(disk, "tables").unwrap();
    assert_eq!(folders(&disk), ["1", "2"]);
    let insert = "insert posts (id, body) values (1, 'cat'), (2, 'dog'), (3, 'cow')";
    let refused = follower.run(command(insert));
    assert!(matches!(refused, Err(Error::ReadOnly)), "{refused:?}");
    writer.run(command(insert)).unwrap();
    writer.run(command("drop gone")).unwrap();
    follower.tick(1);
    let position = |driver: &Driver| driver.handle.status().position;
    assert_eq!(position(&follower), position(&writer));
    assert_eq!(follower.handle.snapshot().tables().len(), 1);
    assert_eq!(folders(&disk), ["1"]);
}
