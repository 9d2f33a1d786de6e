//! `keep=` and `keep_bytes=`: the engine drops no row too early, and no dropped row comes back after a crash or a power cut.

use std::collections::BTreeMap;
use std::sync::Arc;

use disk::{Disk, FaultDisk, at_random, everything_kept, everything_lost};
use engine::{Control, Error, Now, Options};
use proptest::prelude::*;
use relation::value::Value;

use crate::driver::{Driver, options};
use crate::power::{PowerCut, power_cut};
use crate::statement::{Statement, command, options_of, parse};
use crate::workload::{cases, every};

const KEEP_S: i64 = 100;
const KEEP_BYTES: u64 = 2_000;
const SECOND_US: u64 = 1_000_000;
/// Long after 1970, so that no age is negative.
const BEGIN_S: u64 = 1_000_000_000;

/// Rows that a SELECT finds, by id, with what tells how old they are.
type Rows = BTreeMap<u64, i64>;

fn sealing(disk: Arc<dyn Disk>) -> Options {
    Options {
        seal_rows: 3,
        journal_segment_bytes: 32 << 10,
        ..options(disk)
    }
}

fn found(driver: &Driver) -> Rows {
    let Statement::Select(select) = parse("select id, at from posts order by id limit 100000")
    else {
        panic!("no select");
    };
    let snapshot = driver.handle.snapshot();
    let number = |value: &Value| match value {
        Value::Int(number) => *number as i64,
        other => panic!("{other:?}"),
    };
    match snapshot.select(&select, &options_of(&select), &Control::default()) {
        Err(Error::NoSuchTable { .. }) => Rows::new(),
        answer => {
            let rows = answer.unwrap().rows.map(|row| row.unwrap());
            rows.map(|row| (number(&row[0]) as u64, number(&row[1])))
                .collect()
        }
    }
}

/// What happens to a table that drops segments.
#[derive(Clone, Debug)]
enum Step {
    /// Rows of these ages, in seconds.
    Insert(Vec<u8>),
    /// One of the rows there are, by its place among them.
    Delete(usize),
    Seconds(u64),
    Flush,
    Optimize,
    Checkpoint,
    /// The process ends and starts again.
    Kill,
    /// So does the machine.
    PowerCut(PowerCut),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => proptest::collection::vec(0..150u8, 1..5).prop_map(Step::Insert),
        2 => any::<usize>().prop_map(Step::Delete),
        5 => (1..70u64).prop_map(Step::Seconds),
        2 => Just(Step::Flush),
        1 => Just(Step::Optimize),
        1 => Just(Step::Checkpoint),
        2 => Just(Step::Kill),
        2 => power_cut().prop_map(Step::PowerCut),
    ];
    proptest::collection::vec(step, 1..60)
}

/// A table, and the rows that it must not have lost.
struct Subject {
    disk: FaultDisk,
    driver: Option<Driver>,
    /// The rows at the last look.
    rows: Rows,
    next: u64,
}

impl Subject {
    fn new(create: &str) -> Subject {
        let disk = FaultDisk::new();
        let options = sealing(Arc::new(disk.clone()));
        let mut driver = Driver::open(options, Now::default()).unwrap();
        driver.run(command(create)).unwrap();
        Subject {
            disk,
            driver: Some(driver),
            rows: Rows::new(),
            next: 1,
        }
    }

    fn driver(&mut self) -> &mut Driver {
        self.driver.as_mut().unwrap()
    }

    fn now_s(&self) -> i64 {
        let now = self.driver.as_ref().map(|driver| driver.now.unix_us);
        now.unwrap() / SECOND_US as i64
    }

    /// Does a step, and returns the rows that retention dropped by it.
    fn take(&mut self, step: &Step) -> Rows {
        match step {
            Step::Insert(ages) => self.insert(ages),
            Step::Delete(_) if self.rows.is_empty() => {}
            Step::Delete(at) => {
                let id = *self.rows.keys().nth(at % self.rows.len()).unwrap();
                self.rows.remove(&id);
                self.run(&format!("delete posts where id = {id}"));
            }
            Step::Seconds(seconds) => self.driver().tick(seconds * SECOND_US),
            Step::Flush => self.run("flush posts"),
            Step::Optimize => self.run("optimize posts"),
            Step::Checkpoint => self.run("checkpoint"),
            Step::Kill => {
                let driver = self.driver.take().unwrap();
                self.driver = Some(driver.reopen().unwrap());
                assert_eq!(self.found(), self.rows, "a killed process changes nothing");
            }
            Step::PowerCut(cut) => {
                let now = self.driver().now;
                let image = Arc::new(cut.image(&self.disk));
                let mut image = Driver::open(sealing(image), now).unwrap();
                assert_eq!(found(&image), self.rows, "lost power changes nothing");
                image.run(command("checkpoint")).unwrap();
                let again = image.reopen().unwrap();
                assert!(is_part(&found(&again), &self.rows));
            }
        }
        let found = self.found();
        assert!(
            is_part(&found, &self.rows),
            "what went came back: {found:?}"
        );
        let mut gone = std::mem::replace(&mut self.rows, found);
        gone.retain(|id, _| !self.rows.contains_key(id));
        gone
    }

    fn insert(&mut self, ages: &[u8]) {
        let now_s = self.now_s();
        let mut rows = Vec::new();
        for age in ages {
            let (id, at) = (self.next, now_s - i64::from(*age));
            rows.push(format!("({id}, 'cat', {at})"));
            self.rows.insert(id, at);
            self.next += 1;
        }
        let rows = rows.join(", ");
        self.run(&format!("insert posts (id, body, at) values {rows}"));
    }

    fn run(&mut self, line: &str) {
        let answer = self.driver().ask(1, command(line));
        for _ in 0..9 {
            if let Some(answer) = answer.take() {
                answer.unwrap();
                return;
            }
            self.driver().tick(1); // what runs beside it has ended
        }
        panic!("{line} is not answered");
    }

    fn found(&self) -> Rows {
        found(self.driver.as_ref().unwrap())
    }
}

fn is_part(rows: &Rows, of: &Rows) -> bool {
    rows.iter().all(|(id, at)| of.get(id) == Some(at))
}

fn begun(create: &str) -> Subject {
    let mut subject = Subject::new(create);
    subject.driver().tick(BEGIN_S * SECOND_US);
    subject
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn rows_that_are_young_enough_stay_and_what_went_does_not_come_back(steps in steps()) {
        let mut subject = begun(&format!("create search posts (body text, at timestamp) keep {KEEP_S}"));
        for step in &steps {
            let gone = subject.take(step);
            let oldest_kept = subject.now_s() - KEEP_S;
            prop_assert!(gone.values().all(|at| *at < oldest_kept), "{step:?}: {gone:?} at {oldest_kept}");
        }
        // Once all of it is in segments and old, all of it goes.
        subject.take(&Step::Flush);
        subject.take(&Step::Seconds(1_000));
        subject.take(&Step::Seconds(10));
        prop_assert_eq!(&subject.rows, &Rows::new());
    }

    #[test]
    fn of_too_many_bytes_the_newest_row_stays_and_what_went_does_not_come_back(steps in steps()) {
        let mut subject = begun(&format!("create search posts (body text, at timestamp) keep_bytes {KEEP_BYTES}"));
        let mut newest = i64::MIN;
        for step in steps.iter().filter(|step| !matches!(step, Step::Delete(_))) {
            subject.take(step);
            newest = newest.max(subject.rows.values().copied().max().unwrap_or(i64::MIN));
            prop_assert_eq!(subject.rows.values().copied().max().unwrap_or(i64::MIN), newest, "{:?}", step);
        }
    }
}

#[test]
fn a_merge_that_ends_after_the_journal_was_trimmed_asks_for_no_record_that_is_gone() {
    let mut subject = begun(&format!(
        "create search posts (body text, at timestamp) keep {KEEP_S}"
    ));
    let steps = [
        Step::Insert(vec![3, 3, 3]),
        Step::Insert(vec![0]),
        Step::Insert(vec![0]),
        Step::Seconds(1),
        Step::Insert(vec![0]),
        Step::Insert(vec![36]),
        Step::Insert(vec![36, 36]),
        Step::Seconds(65),
        Step::Insert(vec![0]),
        Step::Seconds(32),
        Step::Kill,
    ];
    for step in &steps {
        subject.take(step);
    }
    assert!(!subject.rows.is_empty());
}

/// A statement to a table whose segments are sealed, merged and dropped, or a number of seconds that pass.
enum Line {
    Say(String),
    Pass(u64),
}

fn history() -> Vec<Line> {
    let say = |line: &str| Line::Say(line.to_owned());
    let create = format!("create search posts (body text, at timestamp) keep {KEEP_S}");
    let mut lines = vec![Line::Pass(BEGIN_S), say(&create)];
    for round in 0..40 {
        let now_s = BEGIN_S + 11 * round;
        let (id, old) = (3 * round + 1, now_s - round * 31 % 50);
        lines.push(Line::Say(format!(
            "insert posts (id, body, at) values ({id}, 'cat', {old}), ({}, 'dog', {now_s}), ({}, 'cat', {now_s})",
            id + 1,
            id + 2,
        )));
        if round % 4 == 1 {
            lines.push(Line::Say(format!("delete posts where id = {}", id - 1)));
        }
        if round % 5 == 2 {
            lines.push(say("flush posts"));
        }
        if round % 17 == 7 {
            lines.push(say("optimize posts"));
        }
        lines.push(Line::Pass(11));
    }
    lines
}

/// The rows of the table after each line, up to the first line that is refused.
fn play(driver: &mut Driver) -> Vec<Rows> {
    let mut states = Vec::new();
    for line in history() {
        match line {
            Line::Pass(seconds) => driver.tick(seconds * SECOND_US),
            Line::Say(line) => match driver.ask(1, command(&line)).take() {
                Some(Err(_)) => break,
                _ => driver.tick(1), // a FLUSH is answered after what it waits for
            },
        }
        states.push(found(driver));
    }
    states
}

#[test]
fn power_may_go_in_any_call_while_segments_are_dropped() {
    let disk = FaultDisk::new();
    let mut driver = Driver::open(sealing(Arc::new(disk.clone())), Now::default()).unwrap();
    let states = play(&mut driver);
    let last = states.last().unwrap();
    assert!(
        states.len() == history().len() && last.len() < 60,
        "{last:?}"
    );
    assert!(driver.handle.status().segment_merges_total > 0);
    for cut in (0..disk.change_count()).step_by(every(13)) {
        let disk = FaultDisk::new();
        disk.power_off_after(cut);
        let Ok(mut driver) = Driver::open(sealing(Arc::new(disk.clone())), Now::default()) else {
            continue;
        };
        let shown = play(&mut driver);
        let Some(last) = shown.last() else {
            continue; // there may be no table
        };
        // A drop that nobody was shown may have happened or not, and so may the line under way.
        let mut may_be = states
            .iter()
            .skip(shown.len() - 1)
            .take(2)
            .collect::<Vec<_>>();
        may_be.push(last);
        for image in [
            disk.crash(everything_lost),
            disk.crash(everything_kept),
            disk.crash(at_random(cut)),
        ] {
            let driver = Driver::open(sealing(Arc::new(image)), driver.now).unwrap();
            let is = found(&driver);
            assert!(may_be.contains(&&is), "cut {cut}: {is:?}");
            goes_on(driver, is, cut);
        }
    }
}

/// After recovery retention goes on as if nothing had happened.
fn goes_on(mut driver: Driver, is: Rows, cut: u64) {
    driver.tick(11 * SECOND_US);
    let oldest_kept = driver.now.unix_us / SECOND_US as i64 - KEEP_S;
    let later = found(&driver);
    assert!(is_part(&later, &is), "cut {cut}: what went came back");
    let mut gone = is.iter().filter(|(id, _)| !later.contains_key(id));
    assert!(
        gone.all(|(_, at)| *at < oldest_kept),
        "cut {cut}: {later:?}"
    );
    driver.run(engine::Command::Checkpoint).unwrap();
    driver.tick(1_000 * SECOND_US);
    driver.tick(11 * SECOND_US);
    assert_eq!(found(&driver), Rows::new(), "cut {cut}: all of it is old");
    assert_eq!(found(&driver.reopen().unwrap()), Rows::new(), "cut {cut}");
}
