//! An engine through many lives. Its background work runs piece by piece between commands. After any crash it must equal its
//! twin, which gets all its state by replaying its journal (see `twin`).

mod commands;
mod steps;

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::sync::Arc;

use disk::{Call, Fault, FaultDisk, MemoryDisk};
use engine::{
    Command, Error, Feed, JobLine, Messages, Receipt, Reply, RowNumber, SourceMode, SyncMode, Write,
};
use proptest::prelude::*;
use steps::{Failing, Step, collecting_steps, steps};

use crate::driver::{Driver, Pending};
use crate::power::{PowerCut, mixed_cut, places, power_cut};
use crate::statement::command;
use crate::twin::{
    Bounds, Ended, FED, KEEP_S, LANES, Outcome, QUEUES, STANDING, Twins, of_schema, select,
};
use crate::workload::cases;

const SECOND_US: u64 = 1_000_000;
/// Memory that a dozen rows fill.
const MEMORY_BYTES: u64 = 3 << 10;

/// Tables of documents that ALTER changes. Of `posts`, which others hear, it may not change the texts.
const RESHAPED: [&str; 2] = ["posts", "ears"];

const WORDS: [&str; 3] = ["cat", "dog", "cat dog"];

/// Facts from the answers, kept apart from the engines: no restart may change them.
#[derive(Default)]
struct Ledger {
    /// Rows that a lane has ended, by lane.
    acknowledged: BTreeSet<(usize, RowNumber)>,
    /// Rows of `kept` by id, with the time that tells their age.
    kept: BTreeMap<u64, i64>,
    kept_next: u64,
}

/// A receipt that was given out: the place of its lane.
#[derive(Clone)]
struct Given {
    lane: usize,
    receipt: Receipt,
}

struct Life {
    twins: Twins,
    ledger: Ledger,
    given: Vec<Given>,
    /// Tables beside those of the schema, with their kinds.
    more: Vec<(String, usize)>,
    made: u32,
    loaded: BTreeMap<(usize, bool), u64>,
    /// Columns of `altered` beyond `k`.
    columns: BTreeSet<String>,
    column_next: u32,
    /// Columns that ALTER was asked to add to each of [`RESHAPED`], whatever became of it.
    added: [Vec<String>; RESHAPED.len()],
    /// Disk of a backup, its answer, and the image of the twin when the backup was requested.
    backup: Option<(MemoryDisk, Pending, MemoryDisk)>,
    /// FLUSH and OPTIMIZE since the last restart.
    flushes: Vec<Pending>,
    /// Whether a power cut comes in this life: then calls may fail.
    is_power_going: bool,
    /// Steps that were refused for lack of memory.
    refused: u32,
}

/// One row made of a message; behind the last place: of a column that the table lacks.
fn feed(place: usize, word: usize) -> Feed {
    let word = WORDS[word];
    let row = match FED.get(place) {
        Some(&"keyed") => format!("insert keyed (k) values ({})", word.len()),
        Some(table) => format!("insert {table} (body, n) values ('{word}', 1)"),
        None => "insert posts (absent) values (1)".to_owned(),
    };
    match command(&row) {
        Command::Write(Write::Insert(rows)) if rows.table == "ears" => Feed::Match(rows),
        Command::Write(Write::Insert(rows)) => Feed::Store(rows),
        other => panic!("{other:?}"),
    }
}

impl Life {
    fn new() -> Life {
        Life::within(Bounds::NONE)
    }

    fn within(bounds: Bounds) -> Life {
        Life {
            twins: Twins::new(bounds),
            ledger: Ledger::default(),
            given: Vec::new(),
            more: Vec::new(),
            made: 0,
            loaded: BTreeMap::new(),
            columns: BTreeSet::from(["n".to_owned()]),
            column_next: 0,
            added: Default::default(),
            backup: None,
            flushes: Vec::new(),
            is_power_going: false,
            refused: 0,
        }
    }

    fn names(&self) -> Vec<String> {
        self.more.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Takes a step. Error: the engine has ended, and the twin is without the step or with it.
    fn take(&mut self, step: &Step) -> Result<(), Ended> {
        if let Some((session, asked)) = self.command(step) {
            let outcome = self.twins.ask(session, &asked);
            return self.note(step, outcome);
        }
        match step {
            Step::Relay { sender, row } => {
                let (sender, mode, row) = (*sender, SourceMode::Append, *row);
                let source = Command::QueueSetSource { sender, mode, row };
                let outcome = self.twins.ask(5, &source);
                self.note(step, outcome)?;
                let outcome = self.twins.ask(5, &command("insert plain (k) values (1)"));
                return self.note(step, outcome);
            }
            Step::Collect {
                lengths,
                fed,
                refused,
            } => {
                let mut messages = Messages::default();
                for length in lengths {
                    let category: &[u8] = if length % 2 == 0 { b"web" } else { b"mail" };
                    messages.push(category, &vec![b'x'; usize::from(*length)]);
                }
                let feeds = fed.iter().map(|(place, word)| feed(*place, *word));
                let unknown = refused.then(|| feed(FED.len(), 0));
                let feeds = feeds.chain(unknown).collect();
                let outcome = self.twins.collect(messages, feeds);
                return self.note(step, outcome);
            }
            Step::Note { count } => {
                let outcome = self.twins.note_collected(*count);
                return self.note(step, outcome);
            }
            Step::Create { kind, failures } => return self.create(*kind, *failures),
            Step::Keep { ages } => return self.keep(ages),
            Step::Tick { seconds } => {
                for _ in 0..*seconds {
                    self.twins.tick(SECOND_US)?;
                }
            }
            Step::Flush { table } => {
                let names = ["posts", "kept", "log"]
                    .into_iter()
                    .chain(STANDING)
                    .chain(QUEUES);
                let table = names.cycle().nth(*table).unwrap().to_owned();
                let tables = vec![table];
                let answer = self.twins.ask_subject(Command::Flush { tables });
                self.flushes.push(answer);
            }
            Step::Optimize => {
                let answer = self.twins.ask_subject(command("optimize posts"));
                self.flushes.push(answer);
            }
            Step::Reshape { table, adds } => self.reshape(*table, *adds),
            Step::Checkpoint => {
                // The first may tell of work that failed before it.
                let mut checkpoint = || self.twins.ask_subject(Command::Checkpoint).take();
                let is_done = (0..2).any(|_| matches!(checkpoint(), Some(Ok(_))));
                assert!(
                    is_done || self.is_power_going,
                    "no checkpoint on a sound disk"
                );
            }
            Step::Backfill { table, id } => return self.backfill(step, STANDING[*table], *id),
            Step::Backup => self.begin_backup(),
            Step::Work { folds, merges } => {
                for (line, count) in [(JobLine::Folds, folds), (JobLine::Merges, merges)] {
                    for _ in 0..*count {
                        self.twins.held.run(line);
                    }
                }
                self.twins.tick(1)?;
            }
            Step::Copy => {
                self.twins.held.run(JobLine::Backups);
                self.end_backup();
            }
            Step::Fail(failing) => self.fail(*failing)?,
            Step::Kill => self.restart(None),
            Step::PowerCut { cut, goes_on } => self.cut(cut, *goes_on),
            _ => {}
        }
        self.twins.settle_alter();
        self.look_at_kept();
        Ok(())
    }

    /// The places of the tables that a step drops.
    fn dropped(&self, which: usize, both: bool) -> std::ops::Range<usize> {
        let place = which % self.more.len();
        place..self.more.len().min(place + 1 + usize::from(both))
    }

    fn backfill(&mut self, step: &Step, table: &str, id: u64) -> Result<(), Ended> {
        let snapshot = self.twins.subject.handle.snapshot();
        let Ok(pieces) = snapshot.backfill(table, id, None, self.twins.now, &Arc::default()) else {
            return Ok(()); // no query of that id
        };
        for piece in pieces {
            let outcome = self.twins.ask(1, &Command::Write(Write::Backfill(piece)));
            self.note(step, outcome)?;
        }
        Ok(())
    }

    fn receipt(&self, which: usize) -> Option<Given> {
        let place = self
            .given
            .len()
            .checked_sub(1 + which % self.given.len().max(1))?;
        self.given.get(place).cloned()
    }

    fn note(&mut self, step: &Step, outcome: Outcome) -> Result<(), Ended> {
        let answer = match outcome {
            Outcome::Ended(may_be) => return Err(may_be),
            Outcome::Refused(_) if self.is_power_going => return Ok(()),
            Outcome::Refused(error)
                if self.twins.bounds.is_refusal(&error) && step.takes_memory() =>
            {
                self.refused += 1;
                return Ok(());
            }
            Outcome::Refused(error) => panic!("{step:?} is refused on a sound disk: {error}"),
            Outcome::Answered(answer) => answer.expect("an answer"),
        };
        match (step, answer) {
            (
                Step::Lease { lane: place, .. } | Step::Next { lane: place, .. },
                Ok(Reply::Taken(taken)),
            ) => {
                let (queue, group) = LANES[*place];
                for row in &taken.rows {
                    assert!(
                        !self.ledger.acknowledged.contains(&(*place, row.row)),
                        "row {} of {queue} was acknowledged and comes again",
                        row.row
                    );
                    self.given.push(Given {
                        lane: *place,
                        receipt: Receipt {
                            table: queue.to_owned(),
                            issuer: taken.issuer,
                            group: group.map(str::to_owned),
                            row: row.row,
                            delivery: row.delivery,
                        },
                    });
                }
            }
            (Step::Done { which }, Ok(Reply::Done { affected: 1, .. })) => {
                if let Some(Given { lane, receipt }) = self.receipt(*which) {
                    self.ledger.acknowledged.insert((lane, receipt.row));
                }
            }
            (Step::Drop { which, both }, Ok(_)) => {
                let dropped = self.dropped(*which, *both);
                self.more.drain(dropped);
            }
            (Step::Rename { which, both }, Ok(_)) => {
                let place = which % self.more.len();
                match self.renames(*which, *both).as_slice() {
                    [(_, new)] => self.more[place].0 = new.clone(),
                    [(name, _), (other, _), _] => {
                        let (name, other) = (name.clone(), other.clone());
                        self.more[place].0 = other;
                        self.more[place + 1].0 = name;
                    }
                    renames => panic!("{renames:?}"),
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A table's name and its new one, or the three renames that swap two tables.
    fn renames(&self, which: usize, both: bool) -> Vec<(String, String)> {
        let place = which % self.more.len();
        let name = self.more[place].0.clone();
        let other = self.more.get(place + 1).filter(|_| both);
        if let Some((other, _)) = other {
            let spare = "spare".to_owned();
            return vec![
                (name.clone(), spare.clone()),
                (other.clone(), name),
                (spare, other.clone()),
            ];
        }
        let new = match name.strip_prefix("more") {
            Some(number) => format!("less{number}"),
            None => name.replace("less", "more"),
        };
        vec![(name, new)]
    }

    fn create(&mut self, kind: usize, failures: u64) -> Result<(), Ended> {
        self.made += 1;
        let name = format!("more{}", self.made);
        let line = match kind {
            0 => format!("create search {name} (body text)"),
            1 => format!("create pq {name} (body text)"),
            _ => format!("create queue {name} (k int)"),
        };
        for _ in (0..failures).filter(|_| kind == 0) {
            self.twins
                .disk
                .inject(Call::SyncDir, 1, Fault::Fail(ErrorKind::Other));
            let outcome = self.twins.ask(1, &command(&line));
            self.twins.disk.refuse(None);
            match outcome {
                Outcome::Ended(may_be) => return Err(may_be),
                Outcome::Refused(_) => {}
                Outcome::Answered(answer) => panic!("{line}: {answer:?}"),
            }
        }
        match self.twins.ask(1, &command(&line)) {
            Outcome::Ended(may_be) => return Err(may_be),
            Outcome::Refused(error) => panic!("{line}: {error}"),
            Outcome::Answered(answer) => answer.expect("an answer").map(|_| ()).unwrap(),
        }
        self.more.push((name, kind));
        Ok(())
    }

    /// Inserts rows of these ages, in seconds, into `kept`, the table that drops segments. The twin gets none of them.
    fn keep(&mut self, ages: &[u8]) -> Result<(), Ended> {
        let now_s = self.twins.now.unix_us / SECOND_US as i64;
        let (mut rows, mut added) = (Vec::new(), Vec::new());
        for age in ages {
            self.ledger.kept_next += 1;
            let (id, at) = (self.ledger.kept_next, now_s - i64::from(*age));
            rows.push(format!("({id}, 'cat', {at})"));
            added.push((id, at));
        }
        let insert = format!("insert kept (id, body, at) values {}", rows.join(", "));
        match self.twins.subject.run(command(&insert)) {
            Ok(_) => {
                self.ledger.kept.extend(added);
                Ok(())
            }
            Err(Error::Overloaded) if self.twins.bounds.is_small() => Ok(()),
            Err(Error::Poisoned { .. }) => {
                let same = self.twins.twin_image();
                Err(self.twins.ended_after(same))
            }
            Err(error) => panic!("{insert}: {error}"),
        }
    }

    /// What retention has taken is old, and gone for good.
    fn look_at_kept(&mut self) {
        let found = kept(&self.twins.subject);
        self.check_kept(&found);
        self.ledger.kept = found;
    }

    /// Checks the rows of `kept`: no dropped row is back, and no row that is young enough is missing.
    fn check_kept(&self, found: &BTreeMap<u64, i64>) {
        let oldest_kept = self.twins.now.unix_us / SECOND_US as i64 - KEEP_S;
        for (id, at) in found {
            assert_eq!(
                self.ledger.kept.get(id),
                Some(at),
                "row {id} of kept came back"
            );
        }
        for (id, at) in &self.ledger.kept {
            assert!(
                found.contains_key(id) || *at < oldest_kept,
                "row {id} of kept is young and gone"
            );
        }
    }

    /// Lets calls of a background job fail: no row may be lost, and the engine tries the job again later.
    fn fail(&mut self, failing: Failing) -> Result<(), Ended> {
        let Failing {
            call,
            nth,
            twice,
            kind,
        } = failing;
        self.twins.disk.inject(call, nth, Fault::Fail(kind));
        if twice {
            self.twins.disk.inject(call, nth + 1, Fault::Fail(kind));
        }
        self.twins.held.run(JobLine::Folds);
        self.twins.disk.refuse(None);
        self.twins.tick(1)
    }

    fn begin_backup(&mut self) {
        let to = MemoryDisk::new();
        *self.twins.backup_to.lock().unwrap() = to.clone();
        let answer = self.twins.ask_subject(Command::Backup {
            to: "there".to_owned(),
        });
        match answer.take() {
            None => self.backup = Some((to, answer, self.twins.twin_image())),
            Some(Err(Error::Invalid { .. })) => {} // one is under way
            Some(answer) => assert!(self.is_power_going, "{answer:?}"),
        }
    }

    fn end_backup(&mut self) {
        let Some((to, answer, twin)) = self.backup.take() else {
            return;
        };
        match answer.take() {
            None => self.backup = Some((to, answer, twin)),
            Some(Err(_)) if self.is_power_going => {}
            Some(answer) => {
                answer.expect("a sound disk takes a backup");
                let [found, want] = [to, twin].map(|image| self.twins.shown(&image, &[]));
                assert_eq!(of_schema(&found), of_schema(&want), "the backup");
            }
        }
    }

    fn restart(&mut self, image: Option<MemoryDisk>) {
        self.twins.restart(image);
        self.backup = None;
        self.flushes.clear();
    }

    /// Runs held folds and merges until none is left. Then no FLUSH or OPTIMIZE waits for files.
    fn rest(&mut self) -> Result<(), Ended> {
        for _ in 0..5 {
            for _ in 0..20 {
                self.twins.held.run(JobLine::Folds);
                self.twins.held.run(JobLine::Merges);
                self.twins.tick(1)?;
            }
            self.twins.tick(SECOND_US)?; // the engine tries a failed job again after a second
        }
        for flush in &self.flushes {
            let is_answered = flush.is_answered();
            assert!(is_answered, "FLUSH or OPTIMIZE is not answered");
        }
        Ok(())
    }

    /// The power goes: the files must give the state of the twin's journal.
    fn cut(&mut self, cut: &PowerCut, goes_on: bool) {
        let image = cut.image(&self.twins.disk);
        let want = [self.twins.twin_image()];
        self.check_image(&image, &want);
        if goes_on {
            self.restart(Some(image));
        }
    }

    /// The power goes where not every command was synced: the files must give the state after some first part of the commands.
    fn cut_to_a_prefix(&self, cut: &PowerCut) {
        let image = cut.image(&self.twins.disk);
        let names = self.names();
        let found = self.twins.shown(&image, &names);
        let mut prefixes = self.twins.prefixes.iter().rev();
        assert!(
            prefixes.any(|prefix| self.twins.shown(prefix, &names) == found),
            "the files hold what no first part of the commands comes to: {found:#?}"
        );
        let options = crate::driver::options(Arc::new(FaultDisk::over(&image)));
        kept(&Driver::open(options, self.twins.now).unwrap());
    }

    fn check_image(&self, image: &MemoryDisk, may_be: &[MemoryDisk]) {
        let names = self.names();
        let found = self.twins.shown(image, &names);
        let wants: Vec<Vec<String>> = may_be
            .iter()
            .map(|twin| self.twins.shown(twin, &names))
            .collect();
        if !wants.contains(&found) {
            assert_eq!(
                found, wants[0],
                "the files do not hold what the journal said"
            );
        }
        let options = crate::driver::options(Arc::new(FaultDisk::over(image)));
        let driver = Driver::open(options, self.twins.now).unwrap();
        self.check_kept(&kept(&driver));
        for line in &found {
            for (place, row) in &self.ledger.acknowledged {
                let (queue, group) = LANES[*place];
                assert!(
                    !line.contains(&format!(": {queue} {group:?} {row} (")),
                    "row {row} of {queue} was acknowledged and comes again: {line}"
                );
            }
        }
    }
}

/// The rows of `kept` by id; each id once.
fn kept(driver: &Driver) -> BTreeMap<u64, i64> {
    let lines = select(driver, "select id, at from kept order by id limit 100000");
    let mut rows = BTreeMap::new();
    for line in lines.iter().skip(1) {
        let (id, at) = line.split_once(" | ").unwrap();
        let before = rows.insert(id.parse().unwrap(), at.parse().unwrap());
        assert!(before.is_none(), "row {id} of kept is there twice");
    }
    rows
}

type Judged = Result<(), TestCaseError>;

/// Lives to the end of the steps; then the power goes twice.
fn live(steps: &[Step], rests: bool, cuts: &[PowerCut; 2]) -> Judged {
    let mut life = Life::new();
    for step in steps {
        prop_assert!(life.take(step).is_ok(), "{step:?} ended the engine");
    }
    if rests {
        prop_assert!(life.rest().is_ok(), "the engine ended");
    }
    life.cut(&cuts[0], true);
    life.cut(&cuts[1], false);
    Ok(())
}

/// Lives until the power goes at each of some places among the calls of the disk.
fn lose_power(steps: &[Step], places: &[prop::sample::Index], cut: &PowerCut) -> Judged {
    let calls = {
        let mut life = Life::new();
        let first = life.twins.disk.change_count();
        let quiet = |step: &&Step| !matches!(step, Step::PowerCut { .. } | Step::Kill);
        for step in steps.iter().filter(quiet) {
            prop_assert!(life.take(step).is_ok(), "{step:?} ended the engine");
        }
        life.twins.disk.change_count() - first
    };
    for (number, place) in places.iter().enumerate() {
        let mut life = Life::new();
        life.is_power_going = true;
        let change = place.index(calls.max(1) as usize) as u64;
        life.twins.disk.power_off_after(change);
        let mut may_be = None;
        for step in steps {
            if matches!(
                step,
                Step::PowerCut { .. } | Step::Kill | Step::Create { .. } | Step::Keep { .. }
            ) {
                continue;
            }
            if let Err(ended) = life.take(step) {
                may_be = Some(ended);
                break;
            }
        }
        let may_be = may_be.unwrap_or_else(|| vec![life.twins.twin_image()]);
        let image = cut.nth_image(&life.twins.disk, number);
        life.check_image(&image, &may_be);
    }
    Ok(())
}

/// Lives without syncs; the power goes again and again.
fn live_unsynced(steps: &[Step], cuts: &[PowerCut], waits: bool) -> Judged {
    let sync = match waits {
        true => SyncMode::Within { ms: 5_000 },
        false => SyncMode::Never,
    };
    let mut life = Life::within(Bounds {
        sync,
        ..Bounds::NONE
    });
    let mut cuts = cuts.iter().cycle();
    let mut cut = |life: &Life| life.cut_to_a_prefix(cuts.next().expect("a cut"));
    let stays = |step: &&Step| !matches!(step, Step::PowerCut { .. });
    for step in steps.iter().filter(stays) {
        prop_assert!(life.take(step).is_ok(), "{step:?} ended the engine");
        if life.twins.prefixes.len() % 7 == 6 {
            cut(&life);
        }
    }
    cut(&life);
    Ok(())
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn an_engine_with_work_under_way_is_after_any_crash_what_its_journal_says(
        steps in steps(160),
        rests in any::<bool>(),
        cuts in [power_cut(), power_cut()],
    ) {
        live(&steps, rests, &cuts)?;
    }
}

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn power_may_go_in_any_call_while_work_is_under_way(
        steps in steps(70),
        places in places(4),
        cut in mixed_cut(),
    ) {
        lose_power(&steps, &places, &cut)?;
    }
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn without_syncs_a_crash_beside_work_under_way_leaves_a_first_part_of_the_commands(
        steps in steps(90),
        cuts in proptest::collection::vec(power_cut(), 1..8),
        waits in any::<bool>(),
    ) {
        live_unsynced(&steps, &cuts, waits)?;
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn an_engine_that_collects_hands_over_after_any_crash_what_its_journal_says(
        steps in collecting_steps(80),
        rests in any::<bool>(),
        cuts in [power_cut(), power_cut()],
    ) {
        live(&steps, rests, &cuts)?;
    }
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn power_may_go_in_any_call_while_messages_come(
        steps in collecting_steps(40),
        places in places(4),
        cut in mixed_cut(),
    ) {
        lose_power(&steps, &places, &cut)?;
    }

    #[test]
    fn without_syncs_a_crash_leaves_the_messages_of_a_first_part_of_the_commands(
        steps in collecting_steps(40),
        cuts in proptest::collection::vec(power_cut(), 1..8),
        waits in any::<bool>(),
    ) {
        live_unsynced(&steps, &cuts, waits)?;
    }
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn a_statement_that_memory_refuses_leaves_nothing_and_what_was_acknowledged_stays(
        steps in steps(160),
        cuts in [power_cut(), power_cut()],
    ) {
        let mut life = Life::within(Bounds { memory_bytes: MEMORY_BYTES, ..Bounds::NONE });
        for step in &steps {
            prop_assert!(life.take(step).is_ok(), "{step:?} ended the engine");
        }
        let rows = Step::Put { queue: 0, keys: vec![1; 200] };
        let before = life.refused;
        prop_assert!(life.take(&rows).is_ok() && life.refused == before + 1, "so many rows fit");
        life.cut(&cuts[0], true);
        life.cut(&cuts[1], false);
    }
}
