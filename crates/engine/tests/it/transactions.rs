//! Transactions against a model in memory: random histories of three sessions, with crashes between any two steps and in any call.
//!
//! The model keeps committed rows, and for each session a list of changes. It replays the list for every question: slow, and
//! obvious.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use disk::{Disk, FaultDisk, MemoryDisk, everything_lost};
use engine::inspect::{self, Dumped};
use engine::{
    Command, Control, Error, Hold, Now, Options, Plans, QueueNext, Receipt, Reply, WaitSource,
    Write, limits,
};
use proptest::prelude::*;
use relation::options::Options as SearchOptions;
use relation::request::{Known, Select};
use relation::value::Value;

use crate::driver::{Driver, options};
use crate::power::{mixed_cut, places};
use crate::statement::{Statement, command, parse};
use crate::workload::cases;

const SESSIONS: u64 = 3;

#[derive(Clone, Debug)]
enum Step {
    /// A row into the queue, outside transactions.
    Put,
    /// A document outside transactions, with or without an id.
    Post {
        id: Option<u64>,
    },
    /// The same in a transaction.
    Insert {
        session: u64,
        id: Option<u64>,
        replace: bool,
    },
    /// A statement that chooses its rows, in a transaction.
    Choose {
        session: u64,
        choice: Choice,
    },
    /// The same outside transactions.
    Change {
        choice: Choice,
    },
    /// A SELECT in a transaction, of all rows or of one.
    Look {
        session: u64,
        id: Option<u64>,
    },
    /// A row into the queue, in a transaction.
    Enqueue {
        session: u64,
    },
    /// Takes a row, and so ends the one before it.
    Take {
        session: u64,
    },
    End {
        session: u64,
    },
    Commit {
        session: u64,
    },
    Rollback {
        session: u64,
    },
    Close {
        session: u64,
    },
    /// Inserts an id that is then taken by another session, behind another change, and commits.
    Clash {
        session: u64,
        id: u64,
    },
    /// Changes a row, reads it, then another session changes it; and commits.
    Stale {
        session: u64,
        id: u64,
    },
    /// Rows in memory go into files.
    Fold,
    Kill,
}

fn step() -> impl Strategy<Value = Step> {
    let session = || 1..=SESSIONS;
    let id = || prop_oneof![1 => Just(None), 2 => (1..6_u64).prop_map(Some)];
    prop_oneof![
        3 => Just(Step::Put),
        2 => id().prop_map(|id| Step::Post { id }),
        6 => (session(), id(), any::<bool>())
            .prop_map(|(session, id, replace)| Step::Insert { session, id, replace }),
        8 => (session(), choice()).prop_map(|(session, choice)| Step::Choose { session, choice }),
        3 => choice().prop_map(|choice| Step::Change { choice }),
        3 => (session(), id()).prop_map(|(session, id)| Step::Look { session, id }),
        2 => session().prop_map(|session| Step::Enqueue { session }),
        4 => session().prop_map(|session| Step::Take { session }),
        3 => session().prop_map(|session| Step::End { session }),
        5 => session().prop_map(|session| Step::Commit { session }),
        2 => session().prop_map(|session| Step::Rollback { session }),
        1 => session().prop_map(|session| Step::Close { session }),
        2 => (session(), 1..6_u64).prop_map(|(session, id)| Step::Clash { session, id }),
        2 => (session(), 1..6_u64).prop_map(|(session, id)| Step::Stale { session, id }),
        1 => Just(Step::Fold),
        1 => Just(Step::Kill),
    ]
}

/// A statement on `posts` that chooses its rows by what they are.
#[derive(Clone, Debug)]
enum Choice {
    /// `UPDATE … SET n = n + by WHERE id = … AND n > above`
    Add { id: u64, by: i128, above: i128 },
    /// `UPDATE … SET n = 0 WHERE n > above LIMIT rows`
    Zero { above: i128, rows: u64 },
    /// `DELETE … WHERE id = … AND n < below`
    Delete { id: u64, below: i128 },
    /// `DELETE … WHERE n < below LIMIT rows`
    DeleteLow { below: i128, rows: u64 },
    /// `INSERT … ON DUPLICATE KEY UPDATE n = n + by`
    Upsert { id: u64, by: i128 },
    /// `INSERT IGNORE …`
    Ignore { id: u64, n: i128 },
}

fn choice() -> impl Strategy<Value = Choice> {
    let id = || 1..6_u64;
    let n = || prop_oneof![3 => 0..12_i128, 1 => Just(1_000)];
    let rows = || 1..3_u64;
    prop_oneof![
        4 => (id(), 1..4_i128, n()).prop_map(|(id, by, n)| Choice::Add { id, by: -by, above: n % 1_000 }),
        2 => (n(), rows()).prop_map(|(above, rows)| Choice::Zero { above, rows }),
        3 => (id(), n()).prop_map(|(id, below)| Choice::Delete { id, below }),
        1 => (n(), rows()).prop_map(|(below, rows)| Choice::DeleteLow { below, rows }),
        2 => (id(), 1..4_i128).prop_map(|(id, by)| Choice::Upsert { id, by }),
        1 => (id(), n()).prop_map(|(id, n)| Choice::Ignore { id, n }),
    ]
}

/// The count that a statement tells, and its rows, each with whether it is left.
type Told = (u64, Vec<(u64, bool)>);

impl Choice {
    fn command(&self) -> Command {
        let insert = |id: u64, n: i128, known| match insert(Some(id), n, false) {
            Command::Write(Write::Insert(insert)) => {
                Command::Write(Write::Upsert { insert, known })
            }
            other => panic!("no INSERT: {other:?}"),
        };
        match self {
            Choice::Add { id, by, above } => command(&format!(
                "update posts set n = n + ({by}) where id = {id} and n > {above}"
            )),
            Choice::Zero { above, rows } => command(&format!(
                "update posts set n = 0 where n > {above} limit {rows}"
            )),
            Choice::Delete { id, below } => {
                command(&format!("delete posts where id = {id} and n < {below}"))
            }
            Choice::DeleteLow { below, rows } => {
                command(&format!("delete posts where n < {below} limit {rows}"))
            }
            Choice::Upsert { id, by } => {
                let Command::Write(Write::Update(update)) =
                    command(&format!("update posts set n = n + {by}"))
                else {
                    panic!("no UPDATE")
                };
                insert(*id, *by, Known::Update(update.set))
            }
            Choice::Ignore { id, n } => insert(*id, *n, Known::Ignore),
        }
    }

    /// Does it to the documents.
    fn apply(&self, documents: &mut BTreeMap<u64, i128>) -> Told {
        let is_chosen = |id: u64, n: i128| match self {
            Choice::Add { id: of, above, .. } => id == *of && n > *above,
            Choice::Zero { above, .. } => n > *above,
            Choice::Delete { id: of, below } => id == *of && n < *below,
            Choice::DeleteLow { below, .. } => n < *below,
            Choice::Upsert { id: of, .. } => id == *of,
            Choice::Ignore { .. } => false,
        };
        let limit = match self {
            Choice::Zero { rows, .. } | Choice::DeleteLow { rows, .. } => *rows as usize,
            _ => usize::MAX,
        };
        let chosen = documents.iter().filter(|(id, n)| is_chosen(**id, **n));
        let chosen: Vec<u64> = chosen.map(|(id, _)| *id).take(limit).collect();
        for id in &chosen {
            let n = documents[id];
            match self {
                Choice::Add { by, .. } | Choice::Upsert { by, .. } => documents.insert(*id, n + by),
                Choice::Zero { .. } => documents.insert(*id, 0),
                _ => documents.remove(id),
            };
        }
        match self {
            Choice::Upsert { id, .. } if !chosen.is_empty() => (2, vec![(*id, true)]),
            Choice::Upsert { id, by: n } | Choice::Ignore { id, n } => {
                let is_new = !documents.contains_key(id);
                documents.entry(*id).or_insert(*n);
                (
                    u64::from(is_new),
                    Vec::from_iter(is_new.then_some((*id, true))),
                )
            }
            _ => {
                let rows = chosen
                    .into_iter()
                    .map(|id| (id, documents.contains_key(&id)));
                let rows: Vec<(u64, bool)> = rows.collect();
                (rows.len() as u64, rows)
            }
        }
    }
}

#[derive(Clone, Debug)]
enum Change {
    Insert { id: u64, n: i128, replace: bool },
    Choice { choice: Choice, told: Told },
    Enqueue { k: i128 },
}

impl Change {
    fn has_effect(&self) -> bool {
        !matches!(self, Change::Choice { told, .. } if told.1.is_empty())
    }
}

/// What a session sees of a row of its own changes, whatever others do to it.
#[derive(Clone)]
enum Own {
    Gone,
    Stored(i128),
    /// Where others have deleted the row, it is not seen.
    Changed(i128),
}

#[derive(Clone, Default)]
struct Open {
    changes: Vec<Change>,
    own: BTreeMap<u64, Own>,
    /// For each SELECT the changes before it, and the chosen rows that it has shown.
    shown: Vec<(usize, BTreeMap<u64, Option<i128>>)>,
    ends: BTreeSet<u64>,
    owned: Option<u64>,
    /// Rows that it took, ended ones included.
    taken: BTreeSet<u64>,
}

impl Open {
    fn touches_posts(&self) -> bool {
        let changes = self.changes.iter().filter(|change| change.has_effect());
        let mut of_posts = changes.filter(|change| !matches!(change, Change::Enqueue { .. }));
        of_posts.next().is_some()
    }

    /// The rows that its statements have chosen and left, of those that a SELECT reads.
    fn chosen(&self, only: Option<u64>) -> BTreeSet<u64> {
        let told = self.changes.iter().filter_map(|change| match change {
            Change::Choice { told, .. } => Some(&told.1),
            Change::Insert { .. } | Change::Enqueue { .. } => None,
        });
        let left = told.flatten().filter(|row| row.1).map(|row| row.0);
        left.filter(|id| only.is_none_or(|only| only == *id))
            .collect()
    }
}

/// Documents and rows, by number.
type Rows = (BTreeMap<u64, i128>, BTreeMap<u64, i128>);

#[derive(Clone, Default)]
struct Model {
    documents: BTreeMap<u64, i128>,
    jobs: BTreeMap<u64, i128>,
    next_job: u64,
    /// Tells rows apart.
    next_value: i128,
    open: BTreeMap<u64, Open>,
    /// Rows that are owned by sessions outside a transaction.
    kept: BTreeMap<u64, u64>,
}

impl Model {
    fn rows(&self) -> Rows {
        (self.documents.clone(), self.jobs.clone())
    }

    /// The documents as a session sees them.
    fn seen(&self, session: u64) -> BTreeMap<u64, i128> {
        let mut documents = self.documents.clone();
        let open = self.open.get(&session);
        for (id, own) in open.iter().flat_map(|open| &open.own) {
            match own {
                Own::Gone => {
                    documents.remove(id);
                }
                Own::Stored(n) => {
                    documents.insert(*id, *n);
                }
                Own::Changed(n) => {
                    documents.entry(*id).and_modify(|there| *there = *n);
                }
            }
        }
        documents
    }

    /// The committed documents with the changes of a transaction, which must come to what was told and shown.
    fn with_changes(
        &self,
        open: &Open,
        shown: &[(usize, BTreeMap<u64, Option<i128>>)],
    ) -> Option<BTreeMap<u64, i128>> {
        let mut documents = self.documents.clone();
        let is_as_shown = |documents: &BTreeMap<u64, i128>, behind: usize| {
            let mut rows = shown
                .iter()
                .filter(|shown| shown.0 == behind)
                .flat_map(|shown| &shown.1);
            rows.all(|(id, n)| documents.get(id) == n.as_ref())
        };
        for (behind, change) in open.changes.iter().enumerate() {
            if !is_as_shown(&documents, behind) {
                return None;
            }
            match change {
                Change::Insert { id, n, replace } => {
                    if documents.insert(*id, *n).is_some() && !replace {
                        return None;
                    }
                }
                Change::Choice { choice, told } => {
                    if choice.apply(&mut documents) != *told {
                        return None;
                    }
                }
                Change::Enqueue { .. } => {}
            }
        }
        is_as_shown(&documents, open.changes.len()).then_some(documents)
    }

    fn free_jobs(&self) -> Vec<i128> {
        let held = |row: &u64| {
            self.kept.values().any(|kept| kept == row)
                || self
                    .open
                    .values()
                    .any(|open| open.taken.contains(row) || open.ends.contains(row))
        };
        let free = self.jobs.iter().filter(|(row, _)| !held(row));
        free.map(|(_, k)| *k).collect()
    }

    fn first_free(&self) -> Option<u64> {
        let free = self.free_jobs();
        let first = free.first()?;
        self.jobs
            .iter()
            .find(|(_, k)| *k == first)
            .map(|(row, _)| *row)
    }

    fn put(&mut self, k: i128) {
        self.next_job += 1;
        self.jobs.insert(self.next_job, k);
    }

    fn begin(&mut self, session: u64) -> &mut Open {
        self.open.entry(session).or_default()
    }

    /// The end of the row that the session owns, with COMMIT.
    fn end(&mut self, session: u64) {
        let kept = self.kept.remove(&session);
        let open = self.begin(session);
        open.ends.extend(open.owned.take().or(kept));
    }

    /// COMMIT; false: it is refused.
    fn commit(&mut self, session: u64) -> bool {
        let Some(open) = self.open.remove(&session) else {
            return true;
        };
        if !open.ends.is_empty() || open.changes.iter().any(Change::has_effect) {
            let Some(documents) = self.with_changes(&open, &open.shown) else {
                return false;
            };
            self.documents = documents;
        }
        for change in &open.changes {
            if let Change::Enqueue { k } = change {
                self.put(*k);
            }
        }
        for row in &open.ends {
            self.jobs.remove(row);
        }
        if let Some(owned) = open.owned {
            self.kept.insert(session, owned);
        }
        true
    }
}

struct Pair {
    driver: Driver,
    model: Model,
}

/// The engine ended in a step: it is done or not.
struct Ended(Rows);

/// `plans`: whether conditions are worked out on a reader.
fn open(disk: Arc<dyn Disk>, plans: Plans) -> Result<Driver, Error> {
    let options = Options {
        plans,
        ..options(disk)
    };
    let mut driver = Driver::open(options, Now::default())?;
    for line in [
        "create search posts (body text, n int)",
        "create queue jobs (k int)",
    ] {
        driver.run(command(line))?;
    }
    Ok(driver)
}

fn within(command: Command) -> Command {
    Command::Within(Box::new(command))
}

fn take_one() -> Command {
    Command::QueueNext(QueueNext {
        sources: vec![WaitSource::all("jobs")],
        group: None,
        rows: 1,
        timeout_us: 0,
        hold: Hold::Session,
        done: Vec::new(),
    })
}

impl Pair {
    fn ask(
        &mut self,
        session: u64,
        asked: Command,
        after: &Model,
    ) -> Result<Result<Reply, Error>, Ended> {
        match self.driver.run_behind(session, asked, |_| {}) {
            Err(Error::Poisoned { .. }) => Err(Ended(after.rows())),
            answer => Ok(answer),
        }
    }

    fn play(&mut self, step: &Step) -> Result<(), Ended> {
        let mut after = self.model.clone();
        after.next_value += 1;
        let n = after.next_value;
        match step {
            Step::Put => {
                after.put(n);
                let asked = command(&format!("insert jobs (k) values ({n})"));
                self.ask(9, asked, &after)?.unwrap();
            }
            Step::Post { id } => {
                let taken = id.is_some_and(|id| after.documents.contains_key(&id));
                if let (Some(id), false) = (id, taken) {
                    after.documents.insert(*id, n);
                }
                let mut perhaps = after.clone();
                if id.is_none() {
                    perhaps.documents.insert(u64::MAX, n); // the id is not known without an answer
                }
                match (id, self.ask(9, insert(*id, n, false), &perhaps)?) {
                    (_, Err(Error::DuplicateId { .. })) => assert!(taken),
                    (None, Ok(Reply::Done { last_id, .. })) => {
                        assert_eq!(after.documents.insert(last_id, n), None);
                    }
                    (Some(_), Ok(_)) => assert!(!taken),
                    other => panic!("{other:?}"),
                }
            }
            Step::Insert {
                session,
                id,
                replace,
            } => self.insert(*session, *id, *replace, &mut after)?,
            Step::Choose { session, choice } => {
                let before = after.seen(*session);
                let open = after.begin(*session);
                let asked = within(choice.command());
                match self.ask(*session, asked, &self.model.clone())? {
                    Ok(Reply::Done { affected, .. }) => {
                        let mut seen = before.clone();
                        let told = choice.apply(&mut seen);
                        assert_eq!(affected, told.0, "{choice:?}");
                        for (id, _) in &told.1 {
                            let is_stored = matches!(open.own.get(id), Some(Own::Stored(_)))
                                || !before.contains_key(id);
                            let own = match seen.get(id) {
                                None => Own::Gone,
                                Some(n) if is_stored => Own::Stored(*n),
                                Some(n) => Own::Changed(*n),
                            };
                            open.own.insert(*id, own);
                        }
                        let choice = choice.clone();
                        open.changes.push(Change::Choice { choice, told });
                    }
                    other => panic!("{other:?}"),
                }
            }
            Step::Change { choice } => {
                let (told, _) = choice.apply(&mut after.documents);
                match self.ask(9, choice.command(), &after)? {
                    Ok(Reply::Done { affected, .. }) => assert_eq!(affected, told, "{choice:?}"),
                    other => panic!("{other:?}"),
                }
            }
            Step::Look { session, id } => self.look(*session, *id, &mut after)?,
            Step::Enqueue { session } => {
                after.begin(*session).changes.push(Change::Enqueue { k: n });
                let asked = within(command(&format!("insert jobs (k) values ({n})")));
                self.ask(*session, asked, &self.model.clone())?.unwrap();
            }
            Step::Take { session } => self.take(*session, &mut after)?,
            Step::End { session } => {
                after.end(*session);
                self.ask(*session, within(Command::QueueEnd), &self.model.clone())?
                    .unwrap();
            }
            Step::Commit { session } => {
                let is_stored = after.commit(*session);
                let answer = self.ask(*session, Command::Commit, &after)?;
                assert_eq!(answer.is_ok(), is_stored, "{answer:?}");
            }
            Step::Rollback { session } => {
                after.open.remove(session);
                self.ask(*session, Command::Rollback, &after)?.unwrap();
            }
            Step::Close { session } => {
                after.open.remove(session);
                after.kept.remove(session);
                self.ask(*session, Command::SessionClosed, &after)?.unwrap();
            }
            Step::Clash { session, id } => {
                let (session, id) = (*session, Some(*id));
                for step in [
                    Step::Enqueue { session },
                    Step::Insert {
                        session,
                        id,
                        replace: false,
                    },
                    Step::Post { id },
                    Step::Commit { session },
                ] {
                    self.play(&step)?;
                }
                return Ok(());
            }
            Step::Stale { session, id } => {
                let (session, by) = (*session, 1);
                let upsert = Choice::Upsert { id: *id, by };
                for step in [
                    Step::Change {
                        choice: upsert.clone(),
                    },
                    Step::Choose {
                        session,
                        choice: upsert.clone(),
                    },
                    Step::Look {
                        session,
                        id: Some(*id),
                    },
                    Step::Change { choice: upsert },
                    Step::Commit { session },
                ] {
                    self.play(&step)?;
                }
                return Ok(());
            }
            Step::Fold => drop(self.ask(9, Command::Checkpoint, &after)?),
            Step::Kill => {
                after.open.clear();
                after.kept.clear();
                let again = self.driver.options.clone();
                let Ok(driver) = Driver::open(options(Arc::new(MemoryDisk::new())), Now::default())
                else {
                    panic!("a new directory")
                };
                drop(std::mem::replace(&mut self.driver, driver));
                match Driver::open(again, Now::default()) {
                    Ok(driver) => self.driver = driver,
                    Err(_) => return Err(Ended(after.rows())),
                }
            }
        }
        self.model = after;
        Ok(())
    }

    fn insert(
        &mut self,
        session: u64,
        id: Option<u64>,
        replace: bool,
        after: &mut Model,
    ) -> Result<(), Ended> {
        let n = after.next_value;
        let seen = after.seen(session);
        let open = after.begin(session);
        let answer = self.ask(session, within(insert(id, n, replace)), &self.model.clone())?;
        let id = match (&answer, id) {
            (Ok(Reply::Done { last_id, .. }), None) => *last_id,
            (_, id) => id.unwrap_or_default(),
        };
        match answer {
            Ok(_) => {
                assert!(replace || !seen.contains_key(&id), "{id} was there");
                open.changes.push(Change::Insert { id, n, replace });
                open.own.insert(id, Own::Stored(n));
            }
            Err(Error::DuplicateId { .. }) => assert!(!replace && seen.contains_key(&id)),
            other => panic!("{other:?}"),
        }
        Ok(())
    }

    fn take(&mut self, session: u64, after: &mut Model) -> Result<(), Ended> {
        after.end(session);
        let row = after.first_free();
        let open = after.begin(session);
        open.taken.extend(row);
        open.owned = row;
        match self.ask(session, within(take_one()), &self.model.clone())? {
            Ok(Reply::Taken(taken)) => {
                let rows: Vec<u64> = taken.rows.iter().map(|row| row.row.0).collect();
                assert_eq!(rows, Vec::from_iter(row));
            }
            other => panic!("{other:?}"),
        }
        Ok(())
    }

    /// The directory has what is committed, and a reader sees the free rows of the queue.
    fn check(&mut self, image: &MemoryDisk) {
        assert_eq!(held(image), self.model.rows());
        let read = command("read k from jobs");
        let Ok(Reply::Rows(answer)) = self.driver.ask(9, read).take().unwrap() else {
            panic!("no rows")
        };
        let rows = answer.rows.map(|row| row.unwrap());
        let free: Vec<i128> = rows.map(|row| number(&row[0])).collect();
        assert_eq!(free, self.model.free_jobs());
    }

    /// A session sees its own changes and no other's.
    fn look(&mut self, session: u64, id: Option<u64>, after: &mut Model) -> Result<(), Ended> {
        let seen = after.seen(session);
        let open = after.begin(session);
        let asked = within(Command::Look {
            tables: vec!["posts".to_owned()],
            ids: id.map(|id| vec![id]),
        });
        match self.ask(session, asked, &self.model.clone())? {
            Ok(Reply::Done { .. }) => assert!(!open.touches_posts()),
            Ok(Reply::Seen(tables)) => {
                let select = all_posts();
                let found = tables.select(&select, &SearchOptions::default(), &Control::default());
                let rows = found.unwrap().rows.map(|row| row.unwrap());
                let found: BTreeMap<u64, i128> = rows
                    .map(|row| (number(&row[0]) as u64, number(&row[1])))
                    .collect();
                assert_eq!(found, seen);
                let chosen = open.chosen(id).into_iter();
                let shown = chosen.map(|id| (id, seen.get(&id).copied())).collect();
                open.shown.push((open.changes.len(), shown));
            }
            other => panic!("{other:?}"),
        }
        Ok(())
    }
}

fn insert(id: Option<u64>, n: i128, replace: bool) -> Command {
    let verb = if replace { "replace" } else { "insert" };
    match id {
        Some(id) => command(&format!(
            "{verb} posts (id, body, n) values ({id}, 'cat', {n})"
        )),
        None => command(&format!("{verb} posts (body, n) values ('cat', {n})")),
    }
}

fn all_posts() -> Select {
    match parse("select id, n from posts limit 1000") {
        Statement::Select(select) => select,
        _ => panic!("no select"),
    }
}

fn number(value: &Value) -> i128 {
    match value {
        Value::Int(number) => *number,
        other => panic!("{other:?}"),
    }
}

/// What a directory holds, by its files alone.
fn held(image: &MemoryDisk) -> Rows {
    let (mut documents, mut jobs) = Rows::default();
    let disk: Arc<dyn Disk> = Arc::new(image.clone());
    let faults = inspect::dump(&disk, None, &mut |line| {
        if let Dumped::Row {
            number: row,
            values,
            ..
        } = line
        {
            match row {
                Some(row) => jobs.insert(row, number(&values[0])),
                None => documents.insert(number(&values[0]) as u64, number(&values[2])),
            };
        }
    });
    assert_eq!(faults.unwrap(), Vec::new());
    (documents, jobs)
}

fn memory() -> Driver {
    open(Arc::new(MemoryDisk::new()), Plans::Long).unwrap()
}

fn keep(driver: &mut Driver, session: u64, line: &str) -> Result<Reply, Error> {
    let asked = within(command(line));
    driver.ask(session, asked).take().expect("an answer")
}

fn lease(groups: Option<&str>) -> Command {
    let Command::QueueNext(mut asked) = take_one() else {
        panic!("a wait")
    };
    asked.group = groups.map(str::to_owned);
    asked.sources = vec![WaitSource::all("grouped")];
    asked.hold = Hold::Lease {
        visible_again_us: Some(10_000_000),
    };
    Command::QueueNext(asked)
}

fn receipt(taken: Reply, group: &str) -> Receipt {
    let Reply::Taken(taken) = taken else {
        panic!("no rows")
    };
    Receipt {
        table: "grouped".to_owned(),
        issuer: taken.issuer,
        group: Some(group.to_owned()),
        row: taken.rows[0].row,
        delivery: taken.rows[0].delivery,
    }
}

#[test]
fn a_lease_that_is_over_at_commit_refuses_all_of_it_and_one_that_holds_ends_for_its_group() {
    let mut driver = memory();
    driver
        .run(command("create queue grouped (k int) groups a, b"))
        .unwrap();
    driver
        .run(command("insert grouped (k) values (7)"))
        .unwrap();
    for (wait_us, is_stored) in [(11_000_000, false), (1_000_000, true)] {
        let taken = driver.run(lease(Some("a"))).unwrap();
        let receipts = vec![receipt(taken, "a")];
        keep(
            &mut driver,
            1,
            "insert posts (id, body, n) values (1, 'cat', 1)",
        )
        .unwrap();
        let done = within(Command::QueueDone { receipts });
        let Ok(Reply::Done { affected: 1, .. }) = driver.ask(1, done.clone()).take().unwrap()
        else {
            panic!("not kept")
        };
        let Ok(Reply::Done { affected: 0, .. }) = driver.ask(1, done).take().unwrap() else {
            panic!("ended twice")
        };
        driver.tick(wait_us);
        let answer = driver.run(Command::Commit);
        match is_stored {
            true => assert!(answer.is_ok(), "{answer:?}"),
            false => assert!(matches!(answer, Err(Error::Conflict { .. })), "{answer:?}"),
        }
    }
    let mut driver = driver.reopen().unwrap();
    let Ok(Reply::Taken(of_a)) = driver.run(lease(Some("a"))) else {
        panic!("no answer")
    };
    assert!(of_a.rows.is_empty(), "group a has ended the row");
    receipt(driver.run(lease(Some("b"))).unwrap(), "b");
}

#[test]
fn a_transaction_that_lasts_too_long_is_rolled_back_and_says_so_until_it_is_ended() {
    let mut driver = memory();
    driver.run(command("insert jobs (k) values (1)")).unwrap();
    keep(
        &mut driver,
        1,
        "insert posts (id, body, n) values (1, 'cat', 1)",
    )
    .unwrap();
    driver.ask(1, within(take_one()));
    driver.tick(limits::TRANSACTION_US_MAX);
    let free = driver.ask(2, take_one()).take().unwrap().unwrap();
    assert!(
        matches!(free, Reply::Taken(taken) if taken.rows.len() == 1),
        "the row came back"
    );
    let is_limit = |answer: Result<Reply, Error>| matches!(answer, Err(Error::Limit { .. }));
    assert!(is_limit(keep(
        &mut driver,
        1,
        "insert posts (id, body, n) values (2, 'cat', 1)"
    )));
    assert!(is_limit(driver.run(Command::Commit)));
    keep(
        &mut driver,
        1,
        "insert posts (id, body, n) values (1, 'cat', 1)",
    )
    .unwrap();
    driver.run(Command::Commit).unwrap();
}

#[test]
fn a_read_only_engine_reads_within_a_transaction_and_ends_it() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    drop(open(Arc::clone(&disk), Plans::Long).unwrap());
    let options = Options {
        read_only: true,
        ..options(disk)
    };
    let mut driver = Driver::open(options, Now::default()).unwrap();
    let refused = keep(
        &mut driver,
        1,
        "insert posts (id, body, n) values (1, 'cat', 1)",
    );
    assert_eq!(refused.unwrap_err(), Error::ReadOnly);
    keep(&mut driver, 1, "read k from jobs").unwrap();
    let tables = vec!["posts".to_owned()];
    let ids = None;
    driver.run(within(Command::Look { tables, ids })).unwrap();
    driver.run(Command::Commit).unwrap();
    driver.run(Command::Rollback).unwrap();
}

#[test]
fn a_statement_sees_any_number_of_others_of_its_transaction() {
    let mut driver = memory();
    let inserted = 2 * limits::WAITING_STATEMENTS_MAX as u64 + 1;
    for id in 1..=inserted {
        let line = format!("insert posts (id, body, n) values ({id}, 'cat', 1)");
        keep(&mut driver, 1, &line).unwrap();
    }
    let affected = |answer| match answer {
        Ok(Reply::Done { affected, .. }) => affected,
        other => panic!("{other:?}"),
    };
    for n in 1..2 * limits::REPLAYED_STATEMENTS_MAX {
        let line = format!("update posts set n = n + 1 where id = 7 and n = {n}");
        assert_eq!(affected(keep(&mut driver, 1, &line)), 1);
    }
    assert_eq!(
        affected(keep(&mut driver, 1, "delete posts where n = 1")),
        inserted - 1
    );
    driver.run(Command::Commit).unwrap();
    let answer = driver.run(command("delete posts where n = 2000"));
    assert_eq!(affected(answer), 1);
}

/// The id that an INSERT was assigned.
fn assigned(answer: Result<Reply, Error>) -> u64 {
    match answer {
        Ok(Reply::Done { last_id, .. }) => last_id,
        other => panic!("{other:?}"),
    }
}

/// Ways in which a transaction ends and stores nothing.
#[derive(Clone, Copy, Debug)]
enum Unstored {
    RolledBack,
    TooLarge,
    TooLong,
}

#[test]
fn an_id_that_a_client_gave_is_free_again_when_its_transaction_stores_nothing() {
    let ends = [Unstored::RolledBack, Unstored::TooLarge, Unstored::TooLong];
    for (end, is_pq) in ends.into_iter().flat_map(|end| [(end, false), (end, true)]) {
        let mut driver = memory();
        driver.run(command("create pq saved (body text)")).unwrap();
        let (given, free) = match is_pq {
            true => ("saved (id, query) values (", "saved (query) values ('cat')"),
            false => (
                "posts (id, body, n) values (",
                "posts (body, n) values ('cat', 1)",
            ),
        };
        let rest = if is_pq { ", 'cat')" } else { ", 'cat', 1)" };
        let (give, free) = (
            |id: u64| format!("insert {given}{id}{rest}"),
            format!("insert {free}"),
        );
        keep(&mut driver, 2, &give(500)).unwrap();
        driver.tick(limits::TRANSACTION_US_MAX / 2);
        keep(&mut driver, 2, &give(400)).unwrap();
        let highest = match (is_pq, end) {
            (false, Unstored::RolledBack) => Choice::Ignore { id: u64::MAX, n: 1 }.command(),
            _ => command(&give(u64::MAX)),
        };
        driver
            .ask(1, within(highest))
            .take()
            .expect("an answer")
            .unwrap();
        let none_left = keep(&mut driver, 3, &free);
        assert!(
            matches!(none_left, Err(Error::OutOfRange { .. })),
            "{none_left:?}"
        );
        match end {
            Unstored::RolledBack => drop(driver.run(Command::Rollback).unwrap()),
            Unstored::TooLarge => {
                let text = "x".repeat(1 << 20);
                let line = format!("insert posts (id, body, n) values (1, '{text}', 1)");
                let line = |id: u64| line.replace("(1,", &format!("({id},"));
                (1..64)
                    .find_map(|id| keep(&mut driver, 1, &line(id)).err())
                    .unwrap();
            }
            Unstored::TooLong => driver.tick(limits::TRANSACTION_US_MAX),
        }
        let others = if matches!(end, Unstored::TooLong) {
            1
        } else {
            501
        };
        driver.ask(3, Command::Rollback).take().unwrap().unwrap();
        let told = assigned(keep(&mut driver, 3, &free));
        assert_eq!(told, others, "{end:?}: above the ids of open transactions");
        driver.ask(3, Command::Rollback).take().unwrap().unwrap();
        driver.ask(2, Command::Rollback).take().unwrap().unwrap();
        let stored = assigned(driver.run(command(&free)));
        assert_eq!(
            stored,
            others + 1,
            "{end:?}: an assigned id is not assigned again"
        );
        driver.run(command("checkpoint")).unwrap();
        let mut driver = driver.reopen().unwrap();
        assert_eq!(assigned(driver.run(command(&free))), others + 2);
    }
}

#[test]
fn a_transaction_of_too_many_bytes_is_rolled_back_and_the_memory_of_it_is_free_again() {
    let mut driver = memory();
    let text = "x".repeat(1 << 20);
    let line = format!("insert posts (body, n) values ('{text}', 1)");
    for _ in 0..2 {
        let refused = (0..64).find_map(|_| keep(&mut driver, 1, &line).err());
        // An eighth of the memory is less than 64 MiB.
        let limit = Error::Limit {
            what: "bytes of a transaction",
            max: driver.memory() / 8,
        };
        assert_eq!(refused, Some(limit));
        let again = keep(
            &mut driver,
            1,
            "insert posts (id, body, n) values (1, 'cat', 1)",
        );
        assert!(matches!(again, Err(Error::Limit { .. })));
        driver.run(Command::Rollback).unwrap();
    }
    keep(&mut driver, 1, &line).unwrap();
    driver.run(Command::Commit).unwrap();
}

/// The values, which tell rows apart, of documents and of the queue.
fn values((documents, jobs): &Rows) -> (BTreeSet<i128>, BTreeSet<i128>) {
    let values = |rows: &BTreeMap<u64, i128>| rows.values().copied().collect();
    (values(documents), values(jobs))
}

/// Conditions are decided by the engine's thread; or each by a reader, and looked at again on the engine's thread or not.
fn plans() -> impl Strategy<Value = Plans> {
    let all = prop_oneof![Just(0), Just(1_000_000)];
    prop_oneof![
        Just(Plans::Long),
        all.prop_map(|units| Plans::All { units })
    ]
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn transactions_do_what_their_model_does_and_a_crash_between_any_two_steps_keeps_whole_ones(
        steps in proptest::collection::vec(step(), 1..50),
        plans in plans(),
        cut in mixed_cut(),
    ) {
        let disk = FaultDisk::new();
        let driver = open(Arc::new(disk.clone()), plans).unwrap();
        let mut pair = Pair { driver, model: Model::default() };
        for (number, step) in steps.iter().enumerate() {
            prop_assert!(pair.play(step).is_ok(), "{:?}", step);
            pair.check(&disk.crash(everything_lost));
            prop_assert_eq!(held(&cut.nth_image(&disk, number)), pair.model.rows());
        }
    }

    #[test]
    fn power_lost_in_any_call_leaves_every_transaction_whole_or_not_at_all(
        steps in proptest::collection::vec(step(), 1..40),
        plans in plans(),
        places in places(10),
        cut in mixed_cut(),
    ) {
        let run = |disk: &FaultDisk| {
            let Ok(driver) = open(Arc::new(disk.clone()), plans) else {
                return vec![Rows::default()];
            };
            let mut pair = Pair { driver, model: Model::default() };
            for step in &steps {
                if let Err(Ended(after)) = pair.play(step) {
                    return vec![pair.model.rows(), after];
                }
            }
            vec![pair.model.rows()]
        };
        let disk = FaultDisk::new();
        open(Arc::new(disk.clone()), plans).unwrap();
        let first = disk.change_count();
        let disk = FaultDisk::new();
        run(&disk);
        let calls = disk.change_count().saturating_sub(first).max(1);
        for (number, place) in places.iter().enumerate() {
            let call = first + place.index(calls as usize) as u64;
            let disk = FaultDisk::new();
            disk.power_off_after(call);
            let may_be = run(&disk);
            let found = held(&cut.nth_image(&disk, number));
            let may_be: Vec<_> = may_be.iter().map(values).collect();
            prop_assert!(may_be.contains(&values(&found)), "call {}: {:?} is none of {:?}", call, found, may_be);
        }
    }
}
