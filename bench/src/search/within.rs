//! A table in this process: only the index, without protocol, journal and engine.

use std::{fmt, fs, path::Path, str::FromStr, sync::Arc};

use disk::{Disk, RealDisk};
use index::{Control, Files, MergeRequest, Pool, Snapshot, Table, TableShape};
use language::analysis::{Analyzer, Words};
use relation::expression::Expression;
use relation::options::Options;
use relation::request::{Item, Output, Select};
use relation::schema::{Column, ColumnType};
use relation::value::Value;

use super::{
    answer_sum::{AnswerSum, RowSum},
    corpus::{Corpus, analyzer},
    definition::Test,
    drive::Caller,
};
use crate::error::{Error, Result};

/// Rows of a segment before merges, about the number that the server seals. The 1.9 M records of the study then have eight segments
/// beside writers, which is the most that merges leave.
const SEGMENT_ROWS: u64 = 65_536;

/// File beside a complete table's directory, with the list of the table's files.
const COMPLETE: &str = "complete";

/// Default count of shards, as in the server.
const SHARDS_AUTOMATIC: u16 = 1;

const FIELD: &str = "body";

/// The table, and the threads that search it.
pub(super) struct Within {
    snapshot: Arc<Snapshot>,
    knows_sentences: bool,
    pub(super) segments: u64,
    pool: Arc<Pool>,
}

fn shape(shards: u16, knows_sentences: bool) -> TableShape {
    let body = Column {
        name: FIELD.to_owned(),
        kind: ColumnType::Text,
        nullable: false,
        default: None,
        keyed: false,
    };
    TableShape {
        columns: vec![body],
        analyzer: analyzer(knows_sentences),
        shards,
    }
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Query(error.to_string())
}

/// Time without seals after which no merge is due any more, in microseconds.
const QUIET_US: u64 = 120_000_000;

/// Layout of a table's segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// As sealed: a segment for each 65,536 rows.
    Sealed,
    /// After the merges that a server makes while rows arrive.
    Busy,
    /// After the merges of a quiet minute as well.
    Merged,
    /// One segment for each part, as OPTIMIZE TABLE leaves it.
    One,
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Layout::Sealed => "sealed",
            Layout::Busy => "busy",
            Layout::Merged => "merged",
            Layout::One => "one",
        })
    }
}

impl FromStr for Layout {
    type Err = ();

    /// Parses `sealed`, `busy`, `merged` or `one`.
    fn from_str(text: &str) -> std::result::Result<Layout, ()> {
        let all = [Layout::Sealed, Layout::Busy, Layout::Merged, Layout::One];
        all.into_iter()
            .find(|layout| layout.to_string() == text)
            .ok_or(())
    }
}

impl Within {
    /// Opens the table of this corpus in `folder`. The first call makes it, which takes a minute for a gigabyte.
    /// `knows_sentences`: it has the ends of sentences.
    pub(super) fn open(
        corpus: &Corpus,
        folder: &Path,
        shards: Option<u32>,
        layout: Layout,
        knows_sentences: bool,
    ) -> Result<Within> {
        let shards = match shards {
            Some(shards) => {
                u16::try_from(shards).map_err(|_| Error::BadOption("so many parts are too many"))?
            }
            None => SHARDS_AUTOMATIC,
        };
        let shape = shape(shards, knows_sentences);
        let disk: Arc<dyn Disk> = Arc::new(RealDisk::open(folder)?);
        let directory = format!("table-{shards}-{layout}");
        let complete = folder.join(format!("{directory}-{COMPLETE}"));
        let mut table = match fs::read(&complete) {
            Ok(bytes) => {
                let files = Files::decode(&mut &bytes[..], true);
                let files =
                    files.ok_or_else(|| failed("the list of the table's files is damaged"))?;
                Table::open(disk, &directory, shape, &files).map_err(failed)?
            }
            Err(_) => {
                let table = fill(disk, &directory, corpus, shape, layout)?;
                let mut bytes = Vec::new();
                table.files().encode(&mut bytes);
                fs::write(&complete, bytes)?;
                table
            }
        };
        let (snapshot, segments) = (table.snapshot(), table.status().segments);
        Error::unless_equal(
            "records in the table",
            corpus.records() as u64,
            snapshot.count(),
        )?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Within {
            snapshot,
            knows_sentences,
            segments,
            pool: Arc::new(Pool::new(threads)?),
        })
    }

    /// A caller that runs the queries of a test. `threads` bounds the threads of a query; `None`: every idle thread.
    pub(super) fn caller(
        &self,
        test: &Test,
        texts: &[String],
        threads: Option<u32>,
    ) -> Box<dyn Caller + '_> {
        let value = |what, name: &str| Item::Value {
            what,
            name: name.to_owned(),
        };
        let mut options = vec![("ranker".to_owned(), test.ranker.clone())];
        options.extend(threads.map(|threads| ("threads".to_owned(), threads.to_string())));
        let id = Output::Expression(Expression::Column("id".to_owned()));
        let select = |text: &String| Select {
            table: String::new(),
            items: vec![value(id.clone(), "id"), value(Output::Weight, "weight()")],
            matching: Some(text.clone()),
            filter: None,
            order: Vec::new(),
            limit: Some(test.matching.rows()),
            offset: 0,
            options: options.clone(),
        };
        Box::new(Asking {
            within: self,
            analyzer: analyzer(self.knows_sentences),
            selects: texts.iter().map(select).collect(),
            threads: threads.map(|threads| threads as usize),
        })
    }
}

/// Fills a new table, seals every row of it, and merges.
fn fill(
    disk: Arc<dyn Disk>,
    directory: &str,
    corpus: &Corpus,
    shape: TableShape,
    layout: Layout,
) -> Result<Table> {
    // Remove the leftovers of an interrupted run.
    let _ = disk.remove_dir(directory);
    let analyzer = shape.analyzer.clone();
    let mut table = Table::create(disk, directory, shape).map_err(failed)?;
    let mut words = Words::new();
    for (position, (id, text)) in (1..).zip(corpus.iter()) {
        words.clear();
        words.push_field(&analyzer, 0, text);
        let row = [Value::Str(text.to_owned())];
        table
            .insert(id, relation::row::encode(&row), &words)
            .map_err(failed)?;
        if position % SEGMENT_ROWS == 0 {
            seal(&mut table, position, layout)?;
        }
    }
    seal(&mut table, corpus.records() as u64, layout)?;
    match layout {
        Layout::Sealed | Layout::Busy => {}
        Layout::Merged => merge(&mut table, QUIET_US)?,
        Layout::One => {
            table.optimize();
            merge(&mut table, 0)?;
        }
    }
    Ok(table)
}

fn seal(table: &mut Table, position: u64, layout: Layout) -> Result<()> {
    if let Some(job) = table.freeze(position) {
        let sealed = job.run().map_err(failed)?;
        table.install(sealed).map_err(failed)?;
        table.remove_unused().map_err(failed)?;
    }
    drop(table.take_discarded());
    match layout {
        Layout::Busy | Layout::Merged => merge(table, 0),
        Layout::Sealed | Layout::One => Ok(()),
    }
}

/// Makes every merge that is due `quiet_us` after the last seal.
fn merge(table: &mut Table, quiet_us: u64) -> Result<()> {
    let request = MergeRequest {
        quiet_us,
        ..MergeRequest::default()
    };
    while let Some(job) = table.merge_job(request) {
        let merged = job.run().map_err(failed)?;
        table.install_merged(merged).map_err(failed)?;
        table.remove_unused().map_err(failed)?;
        drop(table.take_discarded());
    }
    Ok(())
}

struct Asking<'a> {
    within: &'a Within,
    analyzer: Analyzer,
    selects: Vec<Select>,
    threads: Option<usize>,
}

impl Caller for Asking<'_> {
    /// Parses the query each time, as a server does.
    fn ask(&mut self, number: usize) -> Result<AnswerSum> {
        let select = &self.selects[number];
        let text = select.matching.as_deref().unwrap_or_default();
        let query = language::parse(text, &[FIELD], &self.analyzer).map_err(failed)?;
        let control = Control {
            pool: Some(Arc::clone(&self.within.pool)),
            threads: self.threads,
            ..Control::default()
        };
        let snapshot = &self.within.snapshot;
        let options = Options::parse(&select.options).map_err(failed)?;
        let bound = snapshot.bind(select, &options).map_err(failed)?;
        let answer = snapshot.search(&bound, Some(&query), &control);
        let answer = answer.map_err(failed)?;
        let mut sum = RowSum::new();
        for row in answer.rows {
            let row = row.map_err(failed)?;
            let [Value::Int(id), Value::Int(weight)] = row[..] else {
                return Err(failed("an id and a weight were awaited"));
            };
            sum.add(id as u64, weight as i64);
        }
        Ok(AnswerSum {
            total: Some(answer.total_found),
            rows: Some(sum.value()),
        })
    }
}
