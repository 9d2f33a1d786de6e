//! Every class of loops of reads whose length a stranger chooses, and a walk over them: each looks at its switch all along.
//!
//! For each class a statement spends its time there. It is run to its end while another thread asks it, again and again, to look at
//! its switch. Between two looks, and behind the last, no large share of the processor time of the whole run may lie: there a loop
//! would not look. Then it is stopped at its first look and at one in its midst, and must end soon. Times are ratios of the processor
//! time of one thread, never times on a clock.
//!
//! To add a class: a variant of [`Class`], which the compiler asks for in [`Class::work`]. A file that counts units and is in no class
//! fails `each_file_that_counts_units_is_in_a_class`.
#![expect(
    clippy::expect_used,
    reason = "what a test needs and does not get is its failure"
)]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use disk::MemoryDisk;
use engine::{
    Background, Command, Control, Definition, Engine, Envelope, Error, Interrupt, JoinControl,
    Kind, Memory, Now, Options, Plans, PqDocument, PqRequest, PqScratch, Reason, Reply, Searched,
    SessionId, Snapshot, TableSource, Write,
};
use relation::bind::{BoundJoin, JoinColumn, JoinScope, JoinStep};
use relation::options;
use relation::request::{Insert, JoinedSelect, Select};
use relation::rows::{Answered, Block, BlockGroups, Join, PartRows};
use relation::schema::ColumnType;
use relation::source::Asked;
use relation::value::Value;
use rustix::time::{ClockId, clock_gettime};
use wire::sql::Statement;

/// A class of loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Expressions,
    Patterns,
    RegularExpressions,
    Json,
    Lists,
    InSets,
    InWholeNumbers,
    Conditions,
    NamedRows,
    Words,
    Wildcards,
    Places,
    SortedRows,
    SortedTexts,
    AllRows,
    Groups,
    WideGroups,
    MergedGroups,
    Joins,
    Pairs,
    JoinedGroups,
    PqWords,
    PqMatching,
    PqFilters,
    Highlights,
    Backfill,
    PlannedRows,
    QueueRows,
    JsonPaths,
    MadeDocuments,
    MadeQueries,
}

/// What spends its time in a class of loops.
enum Work {
    /// A SELECT of one table or a join.
    Select(String),
    /// CALL PQ of the table `pq` with one text.
    CallPq(String),
    /// The words of a MATCH in a text of `t`.
    Highlight(String),
    /// The groups of two threads, which are merged.
    Merge,
    /// The hits of standing query 1 of `pq`.
    Backfill,
    /// A DELETE or UPDATE that a reader plans.
    Planned(String),
    /// The rows of a large INSERT.
    Made(Insert),
}

impl Work {
    /// The statement of a SELECT. Parsing looks at no switch, and is none of the loops.
    fn parsed(&self) -> Option<Statement> {
        match self {
            Work::Select(text) => Some(parse(text).expect("a statement")),
            _ => None,
        }
    }
}

const ALL: [Class; 31] = {
    use Class as C;
    [
        C::Expressions,
        C::Patterns,
        C::RegularExpressions,
        C::Json,
        C::Lists,
        C::InSets,
        C::InWholeNumbers,
        C::Conditions,
        C::NamedRows,
        C::Words,
        C::Wildcards,
        C::Places,
        C::SortedRows,
        C::SortedTexts,
        C::AllRows,
        C::Groups,
        C::WideGroups,
        C::MergedGroups,
        C::Joins,
        C::Pairs,
        C::JoinedGroups,
        C::PqWords,
        C::PqMatching,
        C::PqFilters,
        C::Highlights,
        C::Backfill,
        C::PlannedRows,
        C::QueueRows,
        C::JsonPaths,
        C::MadeDocuments,
        C::MadeQueries,
    ]
};

/// Rows of the tables `t`, `u` and `jobs`.
const ROWS: u64 = 20_000;

/// Rows of the table `few`.
const FEW_ROWS: u64 = 20;

/// Rows of the table `wide`, each with a text of 2 MiB.
const WIDE_ROWS: u64 = 12;

/// Standing queries of `pq`.
const QUERIES: u64 = 2_000;

impl Class {
    /// Where its loops are, below `crates`, and a statement that spends its time there.
    fn work(self) -> (&'static [&'static str], Work) {
        let select = |text: &str| Work::Select(format!("SELECT {text}"));
        match self {
            Class::Expressions => (
                &[
                    "relation/src/expression/evaluate.rs",
                    "relation/src/expression/node.rs",
                    "relation/src/expression/mixed.rs",
                    "relation/src/expression/call.rs",
                    "relation/src/expression/call/text.rs",
                    "relation/src/expression/call/place.rs",
                    "index/src/search/exec/filter.rs",
                ],
                select("COUNT(*) FROM t WHERE levenshtein(left(s,30), reverse(left(s,30))) > 1000"),
            ),
            Class::Patterns => (
                &["language/src/pattern/like.rs", "language/src/meter.rs"],
                select("COUNT(*) FROM t WHERE s LIKE '%e%o%e%nowhere%'"),
            ),
            Class::RegularExpressions => (
                &[
                    "language/src/pattern/within.rs",
                    "relation/src/expression/parse/calls.rs",
                ],
                select("COUNT(*) FROM t WHERE regex(s, 'e[a-z ]{20}9')"),
            ),
            Class::Json => (
                &["relation/src/json/read.rs"],
                select("COUNT(*) FROM t WHERE to_string(j) = 'x' or j.b = 7"),
            ),
            Class::Lists => (
                &["relation/src/expression/call/list.rs"],
                select("COUNT(*) FROM t WHERE any(x > 1000000 FOR x IN j.list)"),
            ),
            Class::InSets => {
                let texts: Vec<String> = (0..100_000).map(|n| format!("'none {n}'")).collect();
                let texts = texts.join(",");
                (
                    &[
                        "relation/src/expression/set.rs",
                        "relation/src/expression/row_set.rs",
                    ],
                    select(&format!("COUNT(*) FROM few WHERE title IN ({texts})")),
                )
            }
            Class::InWholeNumbers => {
                let numbers: Vec<String> = (0..300_000).map(|n| (7 * n).to_string()).collect();
                let numbers = numbers.join(",");
                (
                    &["relation/src/expression/set.rs"],
                    select(&format!("COUNT(*) FROM few WHERE n + 1 IN ({numbers})")),
                )
            }
            Class::Conditions => (
                &["index/src/search/exec/job.rs"],
                select("id FROM t WHERE concat(title, 'x') <> 'y' LIMIT 20000"),
            ),
            Class::NamedRows => {
                let ids: Vec<String> = (1..=ROWS).map(|id| id.to_string()).collect();
                let ids = ids.join(",");
                (
                    &["index/src/search/candidates.rs"],
                    select(&format!("id, s FROM t WHERE id IN ({ids}) LIMIT 20000")),
                )
            }
            Class::Words => (
                &[
                    "index/src/search/exec/range.rs",
                    "index/src/search/exec/rank.rs",
                    "index/src/search/exec/eval.rs",
                    "index/src/search/exec/bounds.rs",
                    "index/src/search/exec/placed_word.rs",
                    "index/src/search/exec/placed_two.rs",
                ],
                select("id, weight() FROM t WHERE MATCH('some | words | letters') LIMIT 15000"),
            ),
            Class::Wildcards => (
                &["index/src/search/statistics.rs"],
                select("id FROM t WHERE MATCH('row1*') LIMIT 20"),
            ),
            Class::Places => (
                &[
                    "index/src/search/exec/near.rs",
                    "index/src/search/exec/places.rs",
                ],
                select("id FROM t WHERE MATCH('\"some words\" NEAR/9 letters') LIMIT 20"),
            ),
            Class::SortedRows => (
                &["relation/src/rows/sort.rs"],
                select("id FROM t ORDER BY n * 7919 % 20011 DESC LIMIT 19000"),
            ),
            Class::SortedTexts => (
                &["relation/src/rows/sort.rs"],
                select("id FROM t ORDER BY concat(s, title) DESC LIMIT 19000"),
            ),
            Class::AllRows => (
                &["index/src/search/fetch.rs", "index/src/search/walk.rs"],
                select("id, s, title, n, concat(s, title) FROM t LIMIT 20000"),
            ),
            Class::Groups => (
                &[
                    "index/src/search/collect/filed.rs",
                    "index/src/search/group.rs",
                    "relation/src/rows/groups.rs",
                ],
                select("title, COUNT(*), MAX(s) FROM t GROUP BY title"),
            ),
            Class::WideGroups => (
                &[
                    "index/src/part.rs",
                    "relation/src/rows/digest.rs",
                    "relation/src/rows/groups/expanded.rs",
                ],
                select("COUNT(*), COUNT(DISTINCT s) FROM wide GROUP BY s"),
            ),
            Class::MergedGroups => (
                &[
                    "relation/src/rows/groups/blocks.rs",
                    "relation/src/rows/groups/index.rs",
                    "relation/src/rows/groups/states/concat.rs",
                    "relation/src/rows/groups/states/count.rs",
                    "relation/src/rows/groups/states/extreme.rs",
                    "relation/src/rows/groups/states/squares.rs",
                    "relation/src/rows/groups/states/sum.rs",
                ],
                Work::Merge,
            ),
            Class::Joins => (
                &["relation/src/rows/join.rs"],
                select("t.id, u.n FROM t JOIN u ON t.n = u.n"),
            ),
            Class::Pairs => (
                &["relation/src/rows/join.rs"],
                select("COUNT(*) FROM t JOIN few ON t.n < few.n"),
            ),
            Class::JoinedGroups => (
                &["relation/src/rows/groups.rs"],
                select(
                    "t.title, COUNT(*) FROM t JOIN u ON t.n = u.n GROUP BY t.title ORDER BY COUNT(*) DESC",
                ),
            ),
            Class::PqWords => (
                &[
                    "language/src/analysis/words.rs",
                    "language/src/analysis/units.rs",
                ],
                Work::CallPq("#many wörds of no query. ".repeat(40_000)),
            ),
            Class::PqMatching => (
                &[
                    "percolate/src/meter.rs",
                    "percolate/src/check.rs",
                    "percolate/src/check/spans.rs",
                    "percolate/src/check/places.rs",
                    "percolate/src/check/spans/order.rs",
                    "percolate/src/check/spans/proximity.rs",
                    "percolate/src/check/spans/terms.rs",
                    "percolate/src/scratch/marks.rs",
                    "engine/src/snapshot/call_pq.rs",
                ],
                Work::CallPq("a ".repeat(1_000)),
            ),
            Class::PqFilters => (
                &["percolate/src/filter.rs"],
                Work::CallPq("filtered letters ".repeat(400)),
            ),
            Class::Highlights => (
                &["language/src/highlight.rs"],
                Work::Highlight("some wörds and letters ".repeat(30_000)),
            ),
            Class::Backfill => (&["index/src/search/exec/eval.rs"], Work::Backfill),
            Class::PlannedRows => (
                &[
                    "engine/src/decide/delete.rs",
                    "engine/src/decide/update.rs",
                    "index/src/planned.rs",
                ],
                Work::Planned(
                    "UPDATE t SET n = levenshtein(left(s,20), reverse(left(s,20)))".to_owned(),
                ),
            ),
            Class::QueueRows => (
                &["engine/src/decide/delete.rs", "engine/src/decide/read.rs"],
                Work::Planned(
                    "DELETE FROM jobs WHERE levenshtein(left(s,20), reverse(left(s,20))) > 99"
                        .to_owned(),
                ),
            ),
            Class::JsonPaths => (
                &["relation/src/json/edit.rs"],
                Work::Planned("UPDATE t SET j.b = j.b + 1, j.c = 'x'".to_owned()),
            ),
            Class::MadeDocuments => (
                &["relation/src/json/write.rs"],
                Work::Made(many("t", &["j"], |row| {
                    let item = format!(r#"{{"b": {row}, "a": ["x", 1.5]}}"#);
                    format!(r#"{{"list": [{}]}}"#, vec![item; 200].join(","))
                })),
            ),
            Class::MadeQueries => (
                // The engine's thread compiles what a session had no memory for, for 20 ms.
                &["engine/src/decide/insert.rs"],
                Work::Made(many("pq", &["query"], |row| {
                    format!("REGEX(/(a|b|ab){{1,30}}(c|d){{1,30}}{row}/)")
                })),
            ),
        }
    }

    /// Most percent of the processor time of a run that may lie between two looks, or behind the look that stops it. Three classes
    /// have pieces that are most of a run here: a page of 65,536 rows is weighed at once, all words of a wildcard are read on a page
    /// at once, and the matcher reads the words of a slice of documents at once.
    fn share_max(self) -> u64 {
        let in_pieces = [Class::Words, Class::Wildcards, Class::PqWords];
        match in_pieces.contains(&self) {
            true => 97,
            false => 50,
        }
    }
}

/// An INSERT of one text in each of 400 rows.
fn many(table: &str, columns: &[&str], text: impl Fn(u64) -> String) -> Insert {
    Insert {
        table: table.to_owned(),
        columns: Some(columns.iter().map(|name| (*name).to_owned()).collect()),
        rows: (0..400).map(|row| vec![Value::Str(text(row))]).collect(),
        replace: false,
    }
}

/// Files that count units for the loops of others: the meters themselves, and the engine's own writer, which no statement reads
/// through.
const METERS: [&str; 3] = [
    "index/src/interrupt.rs",
    "index/src/control.rs",
    "engine/src/engine/turn.rs",
];

struct Bench {
    engine: Mutex<Engine>,
    handle: engine::Handle,
    _mailbox: engine::Mailbox,
}

impl Bench {
    fn new() -> Bench {
        let options = Options {
            background: Background::Inline,
            plans: Plans::All { units: u64::MAX },
            ..Options::new(Arc::new(MemoryDisk::new()))
        };
        let (engine, _) = Engine::open(options, Now::default()).expect("an engine");
        let (handle, mailbox) = engine.mailbox();
        let bench = Bench {
            engine: Mutex::new(engine),
            handle,
            _mailbox: mailbox,
        };
        bench.fill();
        bench
    }

    /// Sends a command; its answer.
    fn send(&self, command: Command) -> Result<Reply, Error> {
        let answer = Arc::new(Mutex::new(None));
        let told = Arc::clone(&answer);
        let envelope = Envelope {
            session: SessionId(1),
            command,
            made: Vec::new(),
            interrupt: None,
            reply: Box::new(move |outcome| *told.lock().expect("one thread") = Some(outcome)),
        };
        let mut engine = self.engine.lock().expect("one thread");
        engine.step(vec![envelope], Now::default())?;
        let mut answer = answer.lock().expect("one thread");
        answer.take().expect("an answer at once")
    }

    fn insert(&self, table: &str, rows: Vec<Vec<Value>>) {
        let insert = Insert {
            table: table.to_owned(),
            columns: None,
            rows,
            replace: false,
        };
        self.send(Command::Write(Write::Insert(insert)))
            .expect("rows");
    }

    fn fill(&self) {
        let (search, queue) = (
            Kind::Search(Default::default()),
            Kind::Queue(Default::default()),
        );
        self.create("t (s text, title string, n bigint, j json)", &search);
        self.create("u (n bigint, title string)", &search);
        self.create("few (n bigint, title string)", &search);
        self.create("wide (s string)", &search);
        self.create("hits (query_id bigint, doc_id bigint) type='queue'", &queue);
        self.create("jobs (s text) type='queue'", &queue);
        let text = |text: String| Value::Str(text);
        let number = |number: u64| Value::Int(number.into());
        let s = |row: u64| {
            text(format!(
                "some words of row{row} {}",
                "and letters ".repeat(12)
            ))
        };
        let list: Vec<String> = (0..40).map(|number| number.to_string()).collect();
        let j = text(format!(r#"{{"list": [{}], "b": 3}}"#, list.join(",")));
        for first in (1..=ROWS).step_by(1_000) {
            let rows = || first..first + 1_000;
            let title = |row: u64| text(format!("title {}", row * 7 % 5_000));
            let row = |row: u64| vec![number(row), s(row), title(row), number(row), j.clone()];
            self.insert("t", rows().map(row).collect());
            let row = |row: u64| vec![number(row), number(row * 3 % ROWS), title(row)];
            self.insert("u", rows().map(row).collect());
            self.insert("jobs", rows().map(|row| vec![s(row)]).collect());
        }
        let row = |row: u64| vec![number(row), number(row), text(format!("title {row}"))];
        self.insert("few", (1..=FEW_ROWS).map(row).collect());
        let row = |row: u64| vec![number(row), text(format!("{row} {}", "é".repeat(1 << 20)))];
        self.insert("wide", (1..=WIDE_ROWS).map(row).collect());
        let listening = Kind::Percolate {
            on: vec!["t".to_owned()],
            into: Some("hits".to_owned()),
            syntax: Default::default(),
            on_update: false,
        };
        self.create(
            "pq (s text, title string, n bigint, j json) type='pq'",
            &listening,
        );
        let query = |id: u64| match id {
            1 => (text("some NEAR/30 letters".to_owned()), text(String::new())),
            id if id % 2 == 0 => {
                let query = format!("a NEAR/{} a NEAR/{} a", 1 + id % 100, 1 + id / 100);
                (text(query), text(String::new()))
            }
            id => {
                let filter = format!("regex(s, 'e[a-z ]{{20}}{id}')");
                (text("filtered".to_owned()), text(filter))
            }
        };
        let rows = (1..=QUERIES).map(|id| {
            let (query, filter) = query(id);
            vec![number(id), query, text(String::new()), filter]
        });
        self.insert("pq", rows.collect());
    }

    fn create(&self, table: &str, kind: &Kind) {
        let Ok(Statement::CreateTable(create)) = parse(&format!("CREATE TABLE {table}")) else {
            panic!("{table}");
        };
        let definition = Definition {
            name: create.name,
            kind: kind.clone(),
            columns: create.columns,
            analysis: Default::default(),
            sync: None,
            keep: None,
        };
        let command = Command::CreateTable {
            definition: Box::new(definition),
            if_not_exists: false,
        };
        self.send(command).expect("a table");
    }

    /// Does what a class spends its time with.
    /// `parsed`: what [`Work::parsed`] gives.
    fn run(
        &self,
        work: &Work,
        parsed: Option<Statement>,
        interrupt: &Arc<Interrupt>,
    ) -> Result<(), Error> {
        let (snapshot, memory) = (self.handle.snapshot(), Memory::new(u64::MAX));
        let control = Control {
            interrupt: Arc::clone(interrupt),
            memory: Arc::new(memory),
            ..Control::default()
        };
        match work {
            Work::Select(_) => match parsed {
                Some(Statement::Select(select)) => {
                    let options = options::Options::parse(&select.options).expect("options");
                    let answer = snapshot.select(&select, &options, &control)?;
                    if answer.partial.is_some() {
                        return Err(Error::OutOfTime);
                    }
                    answer.rows.into_iter().try_for_each(|row| row.map(drop))
                }
                Some(Statement::Joined(select)) => joined(&snapshot, &select, &control),
                other => panic!("{other:?}"),
            },
            Work::CallPq(text) => {
                let documents = [PqDocument::Text(text.clone())];
                let request = PqRequest {
                    interrupt: Some(interrupt),
                    ..PqRequest::new("pq", &documents)
                };
                let answer = snapshot.call_pq(&request, &mut PqScratch::default());
                answer.map(drop)
            }
            Work::Highlight(text) => {
                let marker =
                    snapshot.marker("t", "some | letters", &options::Options::default())?;
                let _ = marker.marks(0, text, &**interrupt);
                engine::goes_on(interrupt)
            }
            Work::Merge => merged(interrupt),
            Work::Backfill => {
                let pieces = snapshot.backfill("pq", 1, None, Now::default(), interrupt);
                pieces.map(drop)
            }
            Work::Made(insert) => {
                let command = Command::Write(Write::Insert(insert.clone()));
                let made = snapshot.make_rows(&command, &|_| true, interrupt)?;
                assert!(made.iter().any(Option::is_some), "rows that can be made");
                Ok(())
            }
            Work::Planned(text) => {
                let command = match parse(text) {
                    Ok(Statement::Update(update)) => {
                        Command::Write(Write::Update(Box::new(update)))
                    }
                    Ok(Statement::Delete(delete)) => {
                        Command::Write(Write::Delete(Box::new(delete)))
                    }
                    other => panic!("{other:?}"),
                };
                match self.send(command)? {
                    Reply::Plan(planning) => planning.run(&control).map(drop),
                    other => panic!("{other:?}"),
                }
            }
        }
    }
}

fn parse(text: &str) -> Result<Statement, wire::sql::SyntaxError> {
    wire::sql::parse(text.as_bytes())
}

/// What a step asks its table.
fn asks<'a>(select: &'a Select, options: &'a options::Options, step: &'a JoinStep) -> Asked<'a> {
    Asked {
        select,
        options,
        needed: &step.needed,
    }
}

/// A SELECT with groups or of several tables, as `statement/join.rs` does it.
fn joined(snapshot: &Snapshot, select: &JoinedSelect, control: &Control) -> Result<(), Error> {
    let options = options::Options::default();
    let sources = select.tables.iter().map(|of| snapshot.source(&of.table));
    let sources: Vec<Arc<TableSource>> = sources.collect::<Result<_, _>>()?;
    let scopes = select.tables.iter().zip(&sources);
    let scopes = scopes.map(|(of, source)| source.shape().scope(&of.name, source.count(), false));
    let scopes: Vec<JoinScope<'_>> = scopes.collect();
    let bound = BoundJoin::new(select, &scopes).expect("a join");
    let bounds = Arc::new(JoinControl {
        memory: Arc::clone(&control.memory),
        interrupt: Arc::clone(&control.interrupt),
    });
    let mut join = Join::new(&bound, bounds);
    let rows_of = |step: &JoinStep| Select {
        filter: step.own.clone(),
        ..Select::new(&*select.tables[step.table].table, Vec::new())
    };
    let joined = match (&bound.groups, &bound.steps[..]) {
        (Some(groups), [step]) => {
            let asked = [Arc::clone(groups)];
            let select = rows_of(step);
            let mut made = sources[0].group(&asks(&select, &options, step), &asked, control)?;
            let made = made.pop().flatten().expect("groups in blocks");
            join.step(step, made.rows)?;
            join.answer_blocks(&bound, made.made)?
        }
        (_, steps) => {
            for step in steps {
                let select = rows_of(step);
                let rows = sources[step.table].locate(&asks(&select, &options, step), control)?;
                join.step(step, rows)?;
            }
            join.answer(&bound)?
        }
    };
    match joined.rows {
        Answered::Ready(_) => Ok(()),
        Answered::Reading(mut rows) => rows.try_for_each(|row| row.map(drop)),
    }
}

/// The groups of two threads by 150,000 numbers each, half of which both have.
fn merged(interrupt: &Arc<Interrupt>) -> Result<(), Error> {
    const BLOCKS: u32 = 150;
    const BLOCK_ROWS: u16 = 1_000;
    let text = "SELECT n, COUNT(*), COUNT(DISTINCT n), MAX(n) FROM numbers GROUP BY n";
    let Ok(Statement::Joined(select)) = parse(text) else {
        panic!("{text}");
    };
    let scope = JoinScope {
        name: "numbers",
        starred: 1,
        columns: vec![JoinColumn {
            name: "n".to_owned(),
            kind: ColumnType::Bigint,
        }],
        has_id: false,
        rows: 0,
        is_searched: false,
        is_standing: false,
    };
    let bound = BoundJoin::new(&select, &[scope]).expect("groups");
    let groups = bound.groups.expect("groups");
    let of_thread = |first: i64| {
        let mut made = BlockGroups::new(&groups);
        let lows: Vec<u16> = (0..BLOCK_ROWS).collect();
        for block in 0..BLOCKS {
            let base = block * u32::from(BLOCK_ROWS);
            let number = |low: &u16| (first + i64::from(base) + i64::from(*low)) * 7_919;
            let numbers = Block::Whole(lows.iter().map(number).collect());
            let part: PartRows<'_, Error> = PartRows {
                lows: &lows,
                weights: &[],
                base,
                part: 0,
                is_sorted: true,
                id_of: &|row| Ok(u64::from(row)),
            };
            let inputs: Vec<&Block> = made.inputs().iter().map(|_| &numbers).collect();
            made.add(&part, &inputs, &**interrupt, &mut |_| Ok(()))?;
            engine::goes_on(interrupt)?;
        }
        Ok::<_, Error>(made)
    };
    let half = i64::from(BLOCKS / 2) * i64::from(BLOCK_ROWS);
    let threads = vec![of_thread(0)?, of_thread(half)?];
    let pay = |_| engine::goes_on(interrupt);
    let spread = |pieces: usize, work: &(dyn Fn(usize) -> Result<(), Error> + Sync)| {
        (0..pieces).try_for_each(work)
    };
    let made = BlockGroups::merge(threads, &**interrupt, &pay, &spread)?;
    engine::goes_on(interrupt)?;
    let made = made.expect("groups that can be merged");
    assert_eq!(made.rows.len() as i64, 3 * half);
    Ok(())
}

/// Nanoseconds of processor time that this thread has taken.
fn processor_ns() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The looks of a statement at its switch, on one thread. Another thread asks it to give way again and again.
#[derive(Default)]
struct Looks {
    /// Processor time of the last look, the longest between two looks, and of the look that stopped the statement.
    last_ns: AtomicU64,
    longest_ns: AtomicU64,
    stopped_ns: AtomicU64,
    count: AtomicU64,
}

impl Looks {
    /// Notes a look. Gives its number, from 1.
    fn note(&self) -> u64 {
        let now = processor_ns();
        let gap = now - self.last_ns.swap(now, Ordering::Relaxed);
        self.longest_ns.fetch_max(gap, Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// A run of a class's work.
struct Ran {
    ended: Result<(), Error>,
    took_ns: u64,
    longest_ns: u64,
    looks: u64,
    /// Processor time after the look that stopped it.
    late_ns: u64,
}

/// Runs work, and stops it at the look of that number; 0: at none.
fn run(bench: &Bench, work: &Work, stop_at: u64) -> Ran {
    let (interrupt, looks) = (Arc::new(Interrupt::default()), Arc::new(Looks::default()));
    let (noted, stopped) = (Arc::clone(&looks), Arc::downgrade(&interrupt));
    interrupt.has_turn(Arc::new(move || {
        if noted.note() == stop_at
            && let Some(interrupt) = stopped.upgrade()
        {
            noted.stopped_ns.store(processor_ns(), Ordering::Relaxed);
            interrupt.stop(Reason::Killed);
        }
    }));
    let (is_over, parsed) = (AtomicBool::new(false), work.parsed());
    std::thread::scope(|scope| {
        let asker = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                interrupt.ask_to_give_way();
                std::thread::park_timeout(ASKED_EVERY);
            }
        });
        let began = processor_ns();
        looks.last_ns.store(began, Ordering::Relaxed);
        let ended = bench.run(work, parsed, &interrupt);
        let end = processor_ns();
        let count = looks.count.load(Ordering::Relaxed);
        looks.note();
        is_over.store(true, Ordering::Relaxed);
        asker.thread().unpark();
        Ran {
            ended,
            took_ns: end - began,
            longest_ns: looks.longest_ns.load(Ordering::Relaxed),
            looks: count,
            late_ns: end.saturating_sub(looks.stopped_ns.load(Ordering::Relaxed)),
        }
    })
}

/// How often the switch is asked to give way.
const ASKED_EVERY: Duration = Duration::from_micros(200);

/// What is wrong with a class; `None`: nothing.
fn fault(bench: &Bench, class: Class) -> Option<String> {
    let (_, work) = class.work();
    let whole = run(bench, &work, 0);
    if let Err(error) = whole.ended {
        return Some(format!("{class:?} failed: {error}"));
    }
    let share = |ns: u64| ns * 100 / whole.took_ns;
    let longest = share(whole.longest_ns);
    if longest > class.share_max() {
        return Some(format!("{class:?}: {longest}% of its time without a look"));
    }
    for stop_at in [1, whole.looks / 8] {
        let stopped = run(bench, &work, stop_at.max(1));
        if stopped.looks < stop_at {
            continue; // this run was asked less often
        }
        if !matches!(stopped.ended, Err(Error::Interrupted)) {
            return Some(format!("{class:?} was not stopped: {:?}", stopped.ended));
        }
        if share(stopped.late_ns) > class.share_max() {
            let late = share(stopped.late_ns);
            return Some(format!("{class:?} went on for {late}% of its time"));
        }
    }
    None
}

#[test]
fn each_class_of_loops_looks_at_its_switch_all_along_and_ends_soon_after() {
    let bench = Bench::new();
    // A look comes late, too, where the machine took the asker's processor for a while: a fault of the code is in each of three runs.
    let in_each_run = |class| {
        let faults = (0..3).map_while(|_| fault(&bench, class));
        let faults: Vec<String> = faults.collect();
        (faults.len() == 3).then_some(faults)
    };
    let faults: Vec<Vec<String>> = ALL.into_iter().filter_map(in_each_run).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

/// The source files of a crate.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the project") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        match path.is_dir() {
            true if name != "tests" => sources(&path, found),
            false if name.ends_with(".rs") && name != "tests.rs" => found.push(path),
            _ => {}
        }
    }
}

#[test]
fn each_file_that_counts_units_is_in_a_class() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("crates");
    let mut files = Vec::new();
    for name in [
        "language",
        "relation",
        "percolate",
        "index",
        "engine",
        "queue",
    ] {
        sources(&crates.join(name).join("src"), &mut files);
    }
    let counts = |text: &str| {
        let calls = [".spend(", "work.begin(", "work.copy("];
        calls.iter().any(|call| text.contains(call))
    };
    let listed: Vec<&str> = ALL
        .into_iter()
        .flat_map(|class| class.work().0)
        .copied()
        .chain(METERS)
        .collect();
    for file in &files {
        let text = std::fs::read_to_string(file).expect("a source file");
        let name = file
            .strip_prefix(crates)
            .expect("a file of a crate")
            .to_string_lossy()
            .into_owned();
        if counts(&text) {
            assert!(
                listed.contains(&&*name),
                "{name} counts units and is in no class"
            );
        }
    }
    for name in listed {
        assert!(crates.join(name).exists(), "{name} is gone");
    }
}
