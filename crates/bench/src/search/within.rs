//! A table in this process: the index alone, without protocol, journal or engine.

use std::{fs, path::Path, sync::Arc};

use disk::{Disk, RealDisk};
use index::{Control, Files, Pool, Snapshot, Table, TableShape};
use query::{
    analysis::{Analyzer, Words},
    expression::Expression,
    request::{Item, Output, Select},
    schema::{Column, ColumnType},
    value::Value,
};

use super::{
    ROWS_SHOWN,
    corpus::Corpus,
    definition::Test,
    drive::Caller,
    found::{Found, Sum},
};
use crate::error::{Error, Result};

/// Rows of a segment before merges, as the server seals them.
const SEGMENT_ROWS: u64 = 65_536;

/// The table's directory in the folder given, and the list of its files once it is complete.
const DIRECTORY: &str = "table";
const COMPLETE: &str = "complete";

const FIELD: &str = "body";

/// The table, and the threads that search it.
pub(super) struct Within {
    snapshot: Arc<Snapshot>,
    pool: Arc<Pool>,
}

fn shape() -> TableShape {
    let body = Column {
        name: FIELD.to_owned(),
        kind: ColumnType::Text,
        nullable: false,
        default: None,
    };
    TableShape {
        columns: vec![body],
        analyzer: Analyzer::default(),
    }
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Query(error.to_string())
}

impl Within {
    /// The table of this corpus in `folder`: made once, found again afterwards. Takes a minute for a gigabyte.
    pub(super) fn open(corpus: &Corpus, folder: &Path) -> Result<Within> {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk::open(folder)?);
        let complete = folder.join(COMPLETE);
        let mut table = match fs::read(&complete) {
            Ok(bytes) => {
                let files = Files::decode(&mut &bytes[..]);
                let files =
                    files.ok_or_else(|| failed("the list of the table's files is damaged"))?;
                Table::open(disk, DIRECTORY, shape(), &files).map_err(failed)?
            }
            Err(_) => {
                let table = fill(disk, corpus)?;
                let mut bytes = Vec::new();
                table.files().encode(&mut bytes);
                fs::write(&complete, bytes)?;
                table
            }
        };
        let snapshot = table.snapshot();
        Error::unless_equal(
            "records in the table",
            corpus.records() as u64,
            snapshot.count(),
        )?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Within {
            snapshot,
            pool: Arc::new(Pool::new(threads)?),
        })
    }

    /// Someone who asks the queries of a test. `threads`: most of them for a query; `None` as many as are idle.
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
            limit: Some(ROWS_SHOWN),
            offset: 0,
            options: options.clone(),
        };
        Box::new(Asking {
            within: self,
            analyzer: Analyzer::default(),
            selects: texts.iter().map(select).collect(),
            threads: threads.map(|threads| threads as usize),
        })
    }
}

/// Fills a new table and seals every row of it.
fn fill(disk: Arc<dyn Disk>, corpus: &Corpus) -> Result<Table> {
    // What an interrupted run left is of no use.
    let _ = disk.remove_dir(DIRECTORY);
    let mut table = Table::create(disk, DIRECTORY, shape()).map_err(failed)?;
    let analyzer = Analyzer::default();
    let mut words = Words::new();
    for (position, (id, text)) in (1..).zip(corpus.iter()) {
        words.clear();
        words.push_field(&analyzer, 0, text);
        let row = [Value::Str(text.to_owned())];
        table.insert(id, &row, &words).map_err(failed)?;
        if position % SEGMENT_ROWS == 0 {
            seal(&mut table, position)?;
        }
    }
    seal(&mut table, corpus.records() as u64)?;
    Ok(table)
}

fn seal(table: &mut Table, position: u64) -> Result<()> {
    if let Some(job) = table.freeze(position) {
        let sealed = job.run().map_err(failed)?;
        table.install(sealed).map_err(failed)?;
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
    /// Parsing is part of it, as it is of a server's work.
    fn ask(&mut self, number: usize) -> Result<Found> {
        let select = &self.selects[number];
        let text = select.matching.as_deref().unwrap_or_default();
        let query = query::parse(text, &[FIELD], &self.analyzer).map_err(failed)?;
        let control = Control {
            pool: Some(Arc::clone(&self.within.pool)),
            threads: self.threads,
            ..Control::default()
        };
        let answer = self
            .within
            .snapshot
            .search(select, Some(&query), &control)
            .map_err(failed)?;
        let mut sum = Sum::new();
        for row in answer.rows {
            let row = row.map_err(failed)?;
            let [Value::Int(id), Value::Int(weight)] = row[..] else {
                return Err(failed("an id and a weight were awaited"));
            };
            sum.add(id as u64, weight as i64);
        }
        Ok(Found {
            total: Some(answer.total_found),
            rows: Some(sum.value()),
        })
    }
}
