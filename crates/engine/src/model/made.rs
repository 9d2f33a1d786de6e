//! Rows of an INSERT that its session has converted and analysed. The engine's thread takes them as they are, so that nobody waits
//! while it does that work.
//!
//! # Example
//! `INSERT INTO news(title) VALUES (…), …` with 2,000 rows of 500 bytes:
//!
//! | where | what |
//! |---|---|
//! | session, in a turn | [`crate::Snapshot::make_rows`]: 2,000 rows in the table's columns, and the words of their texts |
//! | mailbox | the command with the values as they were sent, and the rows made of them |
//! | engine's thread | is the table's definition still that of the snapshot? Then ids are assigned and the rows are stored |
//! | the same, after an ALTER | the rows made are dropped, and the thread converts and analyses the values itself |
//!
//! # Invariants
//! - Rows are made by [`Making`](crate::decide::insert::Making), there as on the engine's thread: both ways give the same rows, words and errors.
//! - The first rows may be made and the others not, since one is refused or there is no room. The engine's thread makes those, and
//!   refuses the values with the error that fits its order of checks.

use std::ops::Deref;
use std::sync::Arc;

use language::analysis::Words;
use language::pattern::names_regex;
use language::tree::Query;
use percolate::Matchers;
use relation::expression::Prepared;
use relation::request::{Insert, Known};
use relation::row::counted_bytes_of;
use relation::value::Value;

use crate::command::{Command, Definition, Kind, LoadStep, Write};
use crate::limits::{MADE_BYTES_MIN, MADE_ROWS_MIN};
use crate::record::{QueryRow, Record};

/// Memory of a row beside its bytes: its place in the lists, and what allocations take of their own.
const ROW_BYTES: usize = size_of::<MadeRow>() + size_of::<Words>() + 64;

/// Units of parsing a standing query of some words.
const QUERY_UNITS: u64 = 2_000;

/// Units of compiling a regular expression, for each byte that it takes: one of `a`, `b` and `ab` a hundred times each took 0.27 ms.
const REGEX_UNITS_A_BYTE: u64 = 8;

/// What a row takes in the tail, in bytes, beside what its values take: its place by its id, and its length.
const BYTES_A_ROW: usize = 176;

/// What each column of a row takes in the tail, in bytes, given or not.
const BYTES_A_COLUMN: usize = 8;

/// What a row takes in the tail for each byte of the command: its columns, and the postings of short words.
const BYTES_A_BYTE: usize = 7;

/// What the words of a row take for each byte of the command: copies of short words, and where each of them is.
const WORD_BYTES_A_BYTE: usize = 4;

/// Bytes of rows with JSON that the engine's thread makes: some milliseconds.
const JSON_BYTES_MAX: usize = 128 << 10;

/// The rows of an INSERT or of a step of a load, ready to be stored. See the module.
#[derive(Clone)]
pub struct MadeRows {
    /// The definition under which they were made. While they live, no other definition has its address.
    definition: Arc<Definition>,
    pub(crate) made: Made,
    bytes: Wanted,
}

/// What is made of the first rows, by the kind of their table.
#[derive(Clone)]
pub(crate) enum Made {
    /// Of a search table.
    Documents(MadeDocuments),
    /// Of a table of standing queries.
    Queries(Vec<MadeQuery>),
}

/// The first rows of a search table.
#[derive(Clone)]
pub(crate) struct MadeDocuments {
    pub(crate) rows: Vec<MadeRow>,
    /// The words of each of them. The session holds them, too, see [`MadeRows::words`].
    pub(crate) words: Arc<Vec<Words>>,
}

/// The words of documents, in the order of their rows.
pub(crate) enum RowWords {
    /// Made by the engine's thread, which uses the buffers again.
    Own(Vec<Words>),
    /// Made by a session.
    Made(Arc<Vec<Words>>),
}

impl Default for RowWords {
    fn default() -> RowWords {
        RowWords::Own(Vec::new())
    }
}

impl Deref for RowWords {
    type Target = [Words];

    fn deref(&self) -> &[Words] {
        match self {
            RowWords::Own(words) => words,
            RowWords::Made(words) => words,
        }
    }
}

/// Holds the words of rows that were made, see [`MadeRows::words`].
pub struct MadeWords {
    _words: Option<Arc<Vec<Words>>>,
}

/// A row in the columns of its table.
#[derive(Clone)]
pub(crate) struct MadeRow {
    /// The id that the client gave; `None`: one is to be assigned.
    pub(crate) id: Option<u64>,
    /// All columns, encoded.
    pub(crate) row: Arc<[u8]>,
    /// What the row counts as, see [`counted_bytes_of`].
    pub(crate) counted_bytes: u64,
}

/// Memory that is asked for before it is taken, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Of encoded rows, which the engine's tails will hold, or of standing queries.
    pub rows: usize,
    /// Of the words of their texts, until the statement is answered.
    pub words: usize,
}

impl Wanted {
    /// Rows and words together, for where no tail holds the rows.
    #[must_use]
    pub fn all(self) -> usize {
        self.rows + self.words
    }
}

/// A standing query that was compiled before the engine stores it.
#[derive(Clone)]
pub(crate) struct MadeQuery {
    query: String,
    filters: String,
    compiled: Compiled,
}

impl MadeQuery {
    pub(crate) fn new(row: &QueryRow, compiled: Compiled) -> MadeQuery {
        MadeQuery {
            query: row.query.clone(),
            filters: row.filters.clone(),
            compiled,
        }
    }

    /// Memory that its regular expressions take at most, in bytes.
    pub(crate) fn regex_bytes(&self) -> usize {
        self.compiled.regex_bytes()
    }
}

/// Standing queries made for the rows of a statement, of which some may be left out: those whose ids an INSERT IGNORE knows.
pub(crate) struct MadeQueries(std::vec::IntoIter<MadeQuery>);

impl MadeQueries {
    /// None were made.
    pub(crate) fn none() -> MadeQueries {
        MadeQueries(Vec::new().into_iter())
    }

    /// What was made of a row. Rows come in their order, so what was made of rows before it is not needed any more.
    pub(crate) fn next_of(&mut self, row: &QueryRow) -> Option<Compiled> {
        let is_own = |made: &MadeQuery| made.query == row.query && made.filters == row.filters;
        self.0.find(is_own).map(|made| made.compiled)
    }
}

/// A standing query after parsing.
#[derive(Clone)]
pub(crate) struct Compiled {
    pub(crate) parsed: Query,
    pub(crate) filter: Option<Arc<Prepared>>,
    /// Its regular expressions, where they are compiled already.
    pub(crate) matchers: Matchers,
    /// Its filter was accepted by an earlier build, and this one refuses it: `filter` accepts nothing.
    pub(crate) is_refused: bool,
}

impl Compiled {
    /// Units of the work of compiling it; a unit is about a nanosecond.
    pub(crate) fn units(&self) -> u64 {
        QUERY_UNITS + REGEX_UNITS_A_BYTE * self.regex_bytes() as u64
    }

    /// Memory that its regular expressions and those of its filter take at most, in bytes.
    pub(crate) fn regex_bytes(&self) -> usize {
        let filter = self.filter.as_ref();
        self.matchers.memory() + filter.map_or(0, |filter| filter.regex_bytes())
    }
}

/// The rows of one INSERT, or of a step of a load, as a command brings them.
#[derive(Clone, Copy)]
pub struct InsertedRows<'c> {
    /// The table into which they go.
    pub table: &'c str,
    /// `None`: all, behind the id.
    pub(crate) columns: Option<&'c [String]>,
    pub(crate) rows: &'c [Vec<Value>],
    /// In a transaction: COMMIT makes documents again, but for those that take long, which the transaction keeps.
    is_within: bool,
    /// INSERT IGNORE, which leaves rows out.
    is_ignoring: bool,
}

impl MadeRows {
    /// No document yet, of a statement with `rows` rows.
    pub(crate) fn documents(definition: &Arc<Definition>, rows: usize) -> MadeRows {
        MadeRows {
            definition: Arc::clone(definition),
            made: Made::Documents(MadeDocuments {
                rows: Vec::with_capacity(rows),
                words: Arc::new(Vec::with_capacity(rows)),
            }),
            bytes: Wanted {
                rows: 0,
                words: rows * ROW_BYTES,
            },
        }
    }

    /// Standing queries that were compiled in `bytes` of memory.
    pub(crate) fn queries(
        definition: &Arc<Definition>,
        compiled: Vec<MadeQuery>,
        bytes: usize,
    ) -> MadeRows {
        MadeRows {
            definition: Arc::clone(definition),
            made: Made::Queries(compiled),
            bytes: Wanted {
                rows: bytes,
                words: 0,
            },
        }
    }

    /// What a transaction keeps of a statement for its COMMIT, which does not do this work again: documents with long JSON, and
    /// standing queries with regular expressions.
    pub(crate) fn to_keep(
        definition: &Arc<Definition>,
        decided: &Record,
        compiled: Vec<Compiled>,
    ) -> Option<MadeRows> {
        if let Record::Many(members) = decided {
            let first = members.first()?; // the hits follow
            return MadeRows::to_keep(definition, first, compiled);
        }
        if let Record::Queries { queries, .. } = decided {
            let bytes = compiled.iter().map(Compiled::regex_bytes).sum();
            let of_rows = queries.iter().zip(compiled);
            let of_rows = || {
                of_rows
                    .map(|(row, read)| MadeQuery::new(row, read))
                    .collect()
            };
            return (bytes > 0).then(|| MadeRows::queries(definition, of_rows(), bytes));
        }
        let Record::Documents(documents) = decided else {
            return None;
        };
        if !definition.has_json() {
            return None;
        }
        let rows = documents.documents.iter().map(|document| MadeRow {
            id: Some(document.id),
            row: Arc::clone(&document.row),
            counted_bytes: counted_bytes_of(&document.row),
        });
        let rows: Vec<MadeRow> = rows.collect();
        let bytes = rows.iter().map(|made| made.row.len()).sum::<usize>();
        (bytes > JSON_BYTES_MAX).then(|| {
            let mut made = MadeRows::documents(definition, 0);
            made.made = Made::Documents(MadeDocuments {
                rows,
                words: Arc::default(),
            });
            made.bytes.rows = bytes;
            made
        })
    }

    /// Adds a row, with the id that the client gave, and its words.
    pub(crate) fn push(&mut self, id: Option<u64>, row: Arc<[u8]>, words: Words) {
        self.bytes.rows += row.len();
        self.bytes.words += words.memory();
        let counted_bytes = counted_bytes_of(&row);
        let row = MadeRow {
            id,
            row,
            counted_bytes,
        };
        if let Made::Documents(documents) = &mut self.made {
            documents.rows.push(row);
            Arc::make_mut(&mut documents.words).push(words);
        }
    }

    /// The documents, if they are of a table of this very definition.
    pub(crate) fn documents_of(self, definition: &Arc<Definition>) -> Option<MadeDocuments> {
        match self.made {
            Made::Documents(rows) => Arc::ptr_eq(&self.definition, definition).then_some(rows),
            Made::Queries(_) => None,
        }
    }

    /// The standing queries, if they are of a table of this very definition.
    pub(crate) fn queries_of(self, definition: &Arc<Definition>) -> Option<MadeQueries> {
        match self.made {
            Made::Queries(queries) => {
                Arc::ptr_eq(&self.definition, definition).then(|| MadeQueries(queries.into_iter()))
            }
            Made::Documents(_) => None,
        }
    }

    /// Holds the words of the rows, beside the engine. Who lets go of them last frees their memory: of a large INSERT that takes as
    /// long as to store a fifth of its rows, so the session does it, in a turn, once it has the answer.
    #[must_use]
    pub fn words(&self) -> MadeWords {
        let words = match &self.made {
            Made::Documents(documents) => Some(Arc::clone(&documents.words)),
            Made::Queries(_) => None,
        };
        MadeWords { _words: words }
    }

    /// Whether they are standing queries, which are found by their texts: of a statement that leaves rows out, too.
    pub(crate) fn are_queries(&self) -> bool {
        matches!(self.made, Made::Queries(_))
    }

    /// Drops what was made of rows that are left out. `is_kept`: of each row of the statement. Standing queries are found by their
    /// texts, so those that are left out do no harm.
    pub(crate) fn keep(&mut self, is_kept: &[bool]) {
        let Made::Documents(documents) = &mut self.made else {
            return;
        };
        if is_kept.iter().all(|is_kept| *is_kept) {
            return;
        }
        let mut is_kept = is_kept.iter();
        documents.rows.retain(|_| is_kept.next() == Some(&true));
        // The session holds them as they are. The engine's thread makes those of the rows that are left.
        documents.words = Arc::default();
    }

    /// How many they are.
    #[must_use]
    pub fn count(&self) -> usize {
        match &self.made {
            Made::Documents(documents) => documents.rows.len(),
            Made::Queries(queries) => queries.len(),
        }
    }

    /// Memory that they take.
    #[must_use]
    pub fn bytes(&self) -> Wanted {
        self.bytes
    }
}

impl std::ops::Add for Wanted {
    type Output = Wanted;

    fn add(self, more: Wanted) -> Wanted {
        Wanted {
            rows: self.rows.saturating_add(more.rows),
            words: self.words.saturating_add(more.words),
        }
    }
}

/// Whether a value may be a query or a filter with a regular expression.
fn names_pattern(value: &Value) -> bool {
    matches!(value, Value::Str(text) if names_regex(text.as_bytes()))
}

impl Write {
    /// Its INSERT, if rows can be made of it beforehand, and whether ids that are known leave out rows.
    pub(crate) fn to_make(&self) -> Option<(&Insert, bool)> {
        match self {
            Write::Insert(insert) => Some((insert, false)),
            Write::Upsert { insert, known } => match known {
                Known::Ignore => Some((insert, true)),
                Known::Keep | Known::Update(_) => None,
            },
            Write::Delete(_) | Write::Update(_) | Write::Planned(_) | Write::Backfill(_) => None,
        }
    }
}

impl Command {
    /// The INSERTs in the command, in their order: of each of them rows can be made beforehand, see [`crate::Snapshot::make_rows`].
    #[must_use]
    pub fn inserts(&self) -> Vec<InsertedRows<'_>> {
        let mut found = Vec::new();
        self.gather_inserts(false, &mut found);
        found
    }

    fn gather_inserts<'c>(&'c self, is_within: bool, found: &mut Vec<InsertedRows<'c>>) {
        let is_within = is_within || matches!(self, Command::Within(_));
        let (writes, inner) = self.parts();
        for (insert, is_ignoring) in writes.iter().filter_map(Write::to_make) {
            found.push(InsertedRows {
                table: &insert.table,
                columns: insert.columns.as_deref(),
                rows: &insert.rows,
                is_within,
                is_ignoring,
            });
        }
        if let Command::Load {
            table,
            step: LoadStep::Put { columns, rows, .. },
            ..
        } = self
        {
            found.push(InsertedRows {
                table,
                columns: Some(columns),
                rows,
                is_within,
                is_ignoring: false,
            });
        }
        for member in inner {
            member.gather_inserts(is_within, found);
        }
    }

    /// Whether the command inserts so much that its rows are worth making beforehand, see [`crate::Snapshot::make_rows`].
    #[must_use]
    pub fn inserts_much(&self) -> bool {
        let inserts = self.inserts();
        let alone = || inserts.iter().filter(|insert| !insert.is_within);
        alone().map(|insert| insert.rows.len()).sum::<usize>() >= MADE_ROWS_MIN
            || alone().map(InsertedRows::bytes).sum::<usize>() >= MADE_BYTES_MIN
    }
}

impl InsertedRows<'_> {
    /// Number of the rows.
    #[must_use]
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// Approximate memory of the values and their command, in bytes.
    fn bytes(&self) -> usize {
        size_of::<Command>() + self.rows.iter().flatten().map(Value::memory).sum::<usize>()
    }

    /// An estimate from above of what the rows take, before any of them is looked at. A test measures it.
    #[must_use]
    pub fn wanted(&self, definition: &Definition) -> Wanted {
        let (rows, bytes) = (self.count(), self.bytes());
        let of_columns = definition.columns.len().saturating_mul(BYTES_A_COLUMN);
        let of_rows = rows.saturating_mul(BYTES_A_ROW + of_columns);
        Wanted {
            rows: of_rows.saturating_add(bytes.saturating_mul(BYTES_A_BYTE)),
            words: (rows * ROW_BYTES).saturating_add(bytes.saturating_mul(WORD_BYTES_A_BYTE)),
        }
    }

    /// Whether rows are made of it beforehand, for a table of this definition.
    #[must_use]
    pub fn is_made(&self, definition: &Definition) -> bool {
        match definition.kind {
            // Of an INSERT IGNORE in a transaction COMMIT may leave out other rows.
            Kind::Search(_) if self.is_within => {
                !self.is_ignoring && self.is_long_behind(definition, 0)
            }
            Kind::Search(_) => true,
            Kind::Percolate { .. } => true,
            Kind::Queue(_) | Kind::Distributed { .. } => false,
        }
    }

    /// Whether the rows behind the first `made` take the engine's thread so long to make that it would rather refuse them, see
    /// [`crate::limits::MADE_UNITS_MAX`]: JSON, or regular expressions.
    #[must_use]
    pub fn is_long_behind(&self, definition: &Definition, made: usize) -> bool {
        let rows = self.rows.get(made..);
        let mut values = rows.unwrap_or_default().iter().flatten();
        match &definition.kind {
            Kind::Search(_) => {
                definition.has_json() && values.map(Value::memory).sum::<usize>() > JSON_BYTES_MAX
            }
            Kind::Percolate { .. } => values.any(names_pattern),
            Kind::Queue(_) | Kind::Distributed { .. } => false,
        }
    }
}
