//! A table under test, with the journal and the manifest that the engine would keep for it, beside its oracle.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use disk::Disk;
use index::{
    Answer, Control, Files, Filters, MergeJob, MergeRequest, Merged, PlannedChange, Pool,
    ReadColumn, Reshape, Reshaped, SealJob, Sealed, Snapshot, Table, TableShape,
};
use language::tree::{Node, Query};
use proptest::prelude::*;
use relation::bind::BoundSelect;
use relation::expression::{self, Expression};
use relation::lexer::Lexer;
use relation::options::Options;
use relation::request::{Item, OrderBy, Output, Select};
use relation::value::Value;

use crate::model::{Given, Model, shape, words_of};

/// The directory of every table under test.
pub(crate) const DIR: &str = "tables/posts";

/// How much of its work a long test does: `SEINE_TEST_TIMES`, which is 1 at a desk and 4 in CI.
pub(crate) fn times() -> u32 {
    let times = std::env::var("SEINE_TEST_TIMES");
    times.map_or(1, |times| times.parse().expect("a number"))
}

/// A quarter of `count` random cases, [`times`] as many.
pub(crate) fn cases(count: u32) -> ProptestConfig {
    ProptestConfig::with_cases((count * times()).div_ceil(4))
}

/// What the journal keeps of one change; its position is its place, from 1.
#[derive(Clone)]
pub(crate) enum Record {
    Insert(u64, Vec<Value>),
    Delete(u64),
    Change(u64, Vec<(u16, Value)>),
    Alter(Arc<Reshape>),
}

pub(crate) struct Subject {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) table: Table,
    pub(crate) model: Model,
    pub(crate) manifest: Files,
    /// The shape that the manifest's catalog has.
    pub(crate) manifest_shape: TableShape,
    pub(crate) journal: Vec<Record>,
    pub(crate) job: Option<SealJob>,
    pub(crate) sealed: Option<Sealed>,
    pub(crate) merge: Option<MergeJob>,
    pub(crate) merged: Option<Merged>,
}

impl Subject {
    pub(crate) fn new(disk: Arc<dyn Disk>) -> Subject {
        Subject::with_shards(disk, 1)
    }

    pub(crate) fn with_shards(disk: Arc<dyn Disk>, shards: u16) -> Subject {
        Subject::with_shape(disk, TableShape { shards, ..shape() })
    }

    pub(crate) fn with_shape(disk: Arc<dyn Disk>, shape: TableShape) -> Subject {
        let table = Table::create(Arc::clone(&disk), DIR, shape.clone()).expect("an empty table");
        let manifest = table.files();
        let model = Model::new(shape.clone());
        Subject {
            disk,
            table,
            model,
            manifest,
            manifest_shape: shape,
            journal: Vec::new(),
            job: None,
            sealed: None,
            merge: None,
            merged: None,
        }
    }

    /// INSERT; nothing if the id is taken.
    pub(crate) fn insert(&mut self, id: u64, row: Vec<Value>) {
        assert_eq!(
            self.table.contains(id).expect("contains"),
            self.model.contains(id)
        );
        if !self.model.contains(id) {
            self.table
                .insert(
                    id,
                    relation::row::encode(&row),
                    &words_of(&self.model.shape, &row),
                )
                .expect("insert");
            self.model.insert(id, row.clone());
            self.journal.push(Record::Insert(id, row));
        }
    }

    pub(crate) fn delete(&mut self, id: u64) {
        assert_eq!(
            self.table.delete(id).expect("delete"),
            self.model.delete(id)
        );
        self.journal.push(Record::Delete(id));
    }

    /// UPDATE of one row; nothing if there is none.
    pub(crate) fn change(&mut self, id: u64, values: Vec<(u16, Value)>) {
        assert_eq!(
            self.table.change(id, values.clone()).expect("change"),
            self.model.change(id, &values)
        );
        self.journal.push(Record::Change(id, values));
    }

    /// `UPDATE posts SET n = 3 - n WHERE n = …`, worked out over a snapshot.
    pub(crate) fn plan(&mut self, n: i64) -> PlannedChange {
        let snapshot = self.table.snapshot();
        let select = filtered(&format!("n = {n}"));
        let bound = snapshot
            .bind(&select, &Options::default())
            .expect("a bound SELECT");
        let mut set = |_, read: &ReadColumn<'_>, out: &mut Vec<(u16, Value)>| {
            assert_eq!(read(1)?, Value::Int(n.into()));
            out.push((1, Value::Int(3 - i128::from(n))));
            Ok::<(), index::Error>(())
        };
        let planned = snapshot.plan_change(&bound, None, &Control::default(), &mut set);
        planned.expect("a plan")
    }

    /// Takes in a plan. Rows that moved since stay as they are.
    pub(crate) fn take_planned(&mut self, plan: PlannedChange, n: i64) {
        let moved = self.table.moved_since(&plan);
        self.table.take_planned(&plan).expect("healthy rows");
        let old = self.model.value_of(1, &Value::Int(n.into()));
        let new = vec![(1, Value::Int(3 - i128::from(n)))];
        for id in plan.ids().filter(|id| !moved.contains(id)) {
            assert!(old.contains(&id), "row {id} is still as the plan saw it");
            self.model.change(id, &new);
            self.journal.push(Record::Change(id, new.clone()));
        }
    }

    pub(crate) fn replace(&mut self, id: u64, row: Vec<Value>) {
        self.delete(id);
        self.insert(id, row);
    }

    /// A unit that replaces and deletes rows and is taken back.
    pub(crate) fn refuse(&mut self, rows: Vec<(u64, Vec<Value>)>, gone: &[u64]) {
        let mark = self.table.mark();
        let (before, saved) = (self.table.shard_status(), self.table.is_saved());
        for (id, row) in &rows {
            self.table.delete(*id).expect("delete");
            let words = words_of(&self.model.shape, row);
            self.table
                .insert(*id, relation::row::encode(row), &words)
                .expect("insert");
            drop(self.table.snapshot()); // as a DELETE with a condition makes one
        }
        for id in gone {
            let values = [(1, Value::Int(77)), (4, Value::Str("refused".to_owned()))];
            self.table.change(*id, values).expect("change");
            drop(self.table.snapshot());
        }
        for id in gone.iter().step_by(2) {
            self.table.delete(*id).expect("delete");
        }
        let touched = rows.iter().map(|(id, _)| *id).chain(gone.iter().copied());
        self.table.rewind(mark, touched);
        assert_eq!(
            self.table.shard_status(),
            before,
            "every row is where it was"
        );
        assert_eq!(self.table.is_saved(), saved);
    }

    /// Whether an ALTER is in the journal above the manifest.
    fn altered_since(&self) -> bool {
        let later = &self.journal[self.manifest.position as usize..];
        later
            .iter()
            .any(|record| matches!(record, Record::Alter(_)))
    }

    /// ALTER TABLE, with the results of jobs. `named`: a manifest names the new files.
    pub(crate) fn alter(
        &mut self,
        reshape: &Arc<Reshape>,
        made: BTreeMap<String, Reshaped>,
        named: bool,
    ) {
        self.drop_job();
        let position = self.journal.len() as u64 + 1;
        let altered = self.table.altered(reshape, made, position);
        let files = self.table.install_altered(altered.expect("rows that fit"));
        self.model.alter(reshape);
        self.journal.push(Record::Alter(Arc::clone(reshape)));
        assert!(self.table.is_saved());
        if named {
            self.name(files);
        }
    }

    /// Starts a seal, if there is something to do.
    pub(crate) fn freeze(&mut self) {
        let saved = self.table.is_saved();
        let job = self.table.freeze(self.journal.len() as u64);
        assert!(!(saved && job.is_some()), "nothing to save, and yet a job");
        self.job = job.or(self.job.take());
    }

    /// Writes the files, while the table goes on.
    pub(crate) fn run_job(&mut self) {
        if let Some(job) = self.job.take() {
            self.sealed = Some(job.run().expect("a healthy disk"));
        }
    }

    /// Takes over what was written, and makes it the manifest's.
    pub(crate) fn install(&mut self) {
        if let Some(sealed) = self.sealed.take() {
            let files = self.table.install(sealed).expect("install");
            self.name(files);
        }
    }

    /// A manifest that names these files is durable.
    fn name(&mut self, files: Files) {
        self.manifest = files;
        self.manifest_shape = self.model.shape.clone();
        let mut bytes = Vec::new();
        self.manifest.encode(&mut bytes);
        assert_eq!(
            Files::decode(&mut &bytes[..], true).as_ref(),
            Some(&self.manifest)
        );
        self.table.remove_unused().expect("a healthy disk");
    }

    /// Starts a merge, if one is due; with `wholly`, of all segments.
    pub(crate) fn start_merge(&mut self, wholly: bool) {
        if wholly {
            self.table.optimize();
        }
        let job = self.table.merge_job(MergeRequest::default());
        self.merge = job.or(self.merge.take());
    }

    /// Writes the merged segment, while the table goes on.
    pub(crate) fn run_merge(&mut self) {
        if let Some(job) = self.merge.take() {
            self.merged = Some(job.run().expect("a healthy disk"));
        }
    }

    /// Takes over what was merged, unless a seal runs.
    pub(crate) fn install_merged(&mut self) {
        if self.table.takes_merged()
            && let Some(merged) = self.merged.take()
        {
            let files = self.table.install_merged(merged).expect("install");
            self.name(files);
        }
    }

    /// Until every shard has one segment at most, without rows that were deleted before the last seal.
    pub(crate) fn optimize(&mut self) {
        self.run_merge();
        self.install_merged();
        self.start_merge(true);
        while self.merge.is_some() {
            self.run_merge();
            self.install_merged();
            self.start_merge(false);
        }
        assert!(!self.table.is_optimizing());
    }

    /// The merge fails, or its process dies.
    pub(crate) fn drop_merge(&mut self) {
        if self.merge.take().is_some() || self.merged.take().is_some() {
            self.table.abandon_merge();
        }
    }

    pub(crate) fn seal(&mut self) {
        self.run_job();
        self.install();
        self.freeze();
        self.run_job();
        self.install();
    }

    /// The job fails, or its process dies.
    pub(crate) fn drop_job(&mut self) {
        if self.job.take().is_some() || self.sealed.take().is_some() {
            self.table.thaw();
        }
    }

    /// Starts again from the files of the manifest and the journal above them.
    pub(crate) fn reopen(&mut self) {
        let disk = Arc::clone(&self.disk);
        self.reopen_on(disk);
    }

    pub(crate) fn reopen_on(&mut self, disk: Arc<dyn Disk>) {
        (self.job, self.sealed) = (None, None);
        (self.merge, self.merged) = (None, None);
        self.disk = disk;
        let mut shape = match self.altered_since() {
            true => self.manifest_shape.clone(),
            false => self.model.shape.clone(),
        };
        self.table =
            Table::open(Arc::clone(&self.disk), DIR, shape.clone(), &self.manifest).expect("open");
        assert_eq!(self.table.files(), self.manifest);
        for (at, record) in (0..)
            .zip(&self.journal)
            .skip(self.manifest.position as usize)
        {
            match record {
                Record::Alter(reshape) => {
                    let altered = self.table.altered(reshape, BTreeMap::new(), at + 1);
                    self.table.install_altered(altered.expect("rows that fit"));
                    shape = reshape.shape.clone();
                }
                Record::Insert(id, row) => {
                    assert!(!self.table.contains(*id).expect("contains"));
                    self.table
                        .insert(*id, relation::row::encode(row), &words_of(&shape, row))
                        .expect("insert");
                }
                Record::Delete(id) => {
                    self.table.delete(*id).expect("delete");
                }
                Record::Change(id, values) => {
                    self.table.change(*id, values.clone()).expect("change");
                }
            }
        }
    }

    #[track_caller]
    pub(crate) fn check(&mut self, select: &Select, root: Option<&Node>) {
        let snapshot = self.table.snapshot();
        check(&snapshot, &self.model, select, root);
    }

    /// The counts that do not depend on a query.
    #[track_caller]
    pub(crate) fn check_counts(&mut self) {
        let snapshot = self.table.snapshot();
        assert_eq!(snapshot.count(), self.model.len());
        assert_eq!(snapshot.words(), self.model.words());
        assert_eq!(self.table.status().rows_live, self.model.len());
    }
}

/// A snapshot answers as the oracle does, to the byte.
#[track_caller]
pub(crate) fn check(snapshot: &Arc<Snapshot>, model: &Model, select: &Select, root: Option<&Node>) {
    let query = root.map(|root| Query {
        root: root.clone(),
        warnings: Vec::new(),
    });
    let given = answer(snapshot, select, query.as_ref()).expect("an answer");
    assert_eq!(
        given,
        model.search(select, query.as_ref()),
        "{select:?} {root:?}"
    );
}

/// Idle threads of the pool help with every search, however small.
fn control() -> Control {
    static POOL: LazyLock<Arc<Pool>> = LazyLock::new(|| Arc::new(Pool::new(3).expect("threads")));
    Control {
        pool: Some(Arc::clone(&POOL)),
        helped_from: 0,
        ..Control::default()
    }
}

/// A cache of conditions for all tables of all tests, with room for a few conditions.
fn kept() -> Arc<Filters> {
    static KEPT: LazyLock<Arc<Filters>> = LazyLock::new(|| Arc::new(Filters::new(100_000)));
    Arc::clone(&KEPT)
}

/// An answer, which must be the same where its rows are read one by one. With a condition it asks three times more, with the cache of conditions: the answer must stay the same.
pub(crate) fn answer(
    snapshot: &Arc<Snapshot>,
    select: &Select,
    query: Option<&Query>,
) -> index::Result<Given> {
    let given = answer_by(snapshot, select, query, &control());
    let streamed = asked(snapshot, select, query, &control(), Snapshot::stream);
    let streamed = streamed.and_then(given_of);
    assert_eq!(
        streamed.as_ref().ok(),
        given.as_ref().ok(),
        "streamed: {select:?}"
    );
    if select.filter.is_some() {
        for _ in 0..3 {
            let filters = Some(kept());
            let control = Control {
                filters,
                ..control()
            };
            let again = answer_by(snapshot, select, query, &control);
            assert_eq!(again.as_ref().ok(), given.as_ref().ok(), "{select:?}");
        }
    }
    given
}

/// Binds a SELECT and answers it.
pub(crate) fn search(
    snapshot: &Arc<Snapshot>,
    select: &Select,
    query: Option<&Query>,
    control: &Control,
) -> index::Result<Answer> {
    asked(snapshot, select, query, control, Snapshot::search)
}

/// [`Snapshot::search`] or [`Snapshot::stream`].
type Way = fn(&Arc<Snapshot>, &BoundSelect<'_>, Option<&Query>, &Control) -> index::Result<Answer>;

fn asked(
    snapshot: &Arc<Snapshot>,
    select: &Select,
    query: Option<&Query>,
    control: &Control,
    way: Way,
) -> index::Result<Answer> {
    let options = Options::parse(&select.options).expect("options");
    let select = Select {
        matching: query.map(|_| String::new()),
        ..select.clone()
    };
    let bound = snapshot
        .bind(&select, &options)
        .expect("a SELECT of this table");
    way(snapshot, &bound, query, control)
}

pub(crate) fn answer_by(
    snapshot: &Arc<Snapshot>,
    select: &Select,
    query: Option<&Query>,
    control: &Control,
) -> index::Result<Given> {
    given_of(search(snapshot, select, query, control)?)
}

fn given_of(answer: Answer) -> index::Result<Given> {
    let expected = answer.rows.len();
    let rows = answer.rows.collect::<index::Result<Vec<_>>>()?;
    assert_eq!(rows.len(), expected);
    let (columns, total_found, keywords) = (answer.columns, answer.total_found, answer.keywords);
    Ok(Given {
        columns,
        rows,
        total_found,
        keywords,
    })
}

/// `body, n, title, f, s`.
pub(crate) fn row(body: &str, n: i64, title: &str, f: f32, s: &str) -> Vec<Value> {
    vec![
        Value::Str(body.to_owned()),
        Value::Int(n.into()),
        Value::Str(title.to_owned()),
        Value::Float(f.into()),
        Value::Str(s.to_owned()),
    ]
}

/// SELECT *, weight().
pub(crate) fn select_all() -> Select {
    Select::new(
        "posts",
        vec![
            Item::Star,
            Item::Value {
                what: Output::Weight,
                name: "weight()".to_owned(),
            },
        ],
    )
}

pub(crate) fn select_count() -> Select {
    let count = Item::Value {
        what: Output::Count,
        name: "count(*)".to_owned(),
    };
    Select {
        items: vec![count],
        ..select_all()
    }
}

pub(crate) fn expression(text: &str) -> Expression {
    expression::parse(&mut Lexer::new(text.as_bytes())).expect("an expression")
}

pub(crate) fn filtered(text: &str) -> Select {
    Select {
        filter: Some(expression(text)),
        ..select_all()
    }
}

pub(crate) fn order(key: &str, descending: bool) -> OrderBy {
    let key = match key {
        "weight()" => Output::Weight,
        text => Output::Expression(expression(text)),
    };
    OrderBy { key, descending }
}

/// The tree of a query text over `body` and `title`.
pub(crate) fn tree(text: &str) -> Node {
    let query = language::parse(
        text,
        &["body", "title"],
        &language::analysis::Analyzer::default(),
    );
    query.expect("a query").root
}

/// Inverts a bit of a file.
pub(crate) fn flip(disk: &dyn Disk, path: &str, offset: u64) {
    let file = disk.open(path).expect("a file");
    let mut byte = [0];
    file.read_at(offset, &mut byte).expect("a byte");
    file.write_at(offset, &[byte[0] ^ 0x10]).expect("a byte");
}
