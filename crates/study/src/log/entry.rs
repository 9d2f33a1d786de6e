//! One entry of a query log, whatever its form.

use std::borrow::Cow;

use super::time::LogTime;

/// The three families of forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// `[Fri Jun 29 21:17:58.609 2007] 0.004 sec 0.004 sec [all/0/rel 35254 (0,20)] [lj] test`.
    Plain,
    /// `/* Sun Apr 28 12:38:02.808 2024 conn 2 (127.0.0.1:53228) real 0.000 wall 0.000 found 0 */ SELECT …;`.
    Sphinxql,
    /// `{"time":"2024-04-28T12:38:02.808Z","real":0.000153,"found":0,…}`.
    Json,
}

impl Form {
    /// Every form.
    pub const ALL: [Form; 3] = [Form::Plain, Form::Sphinxql, Form::Json];
}

/// Match modes of Sphinx's API. SphinxQL and HTTP log `ext2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchMode {
    /// Every word.
    All,
    /// At least one word.
    Any,
    /// The words in order, without gaps.
    Phrase,
    /// Boolean operators only.
    Boolean,
    /// The first extended syntax.
    Extended,
    /// No words: all rows.
    Fullscan,
    /// The extended syntax.
    Extended2,
}

/// Sort modes of Sphinx's API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortMode {
    /// By weight.
    Relevance,
    /// By an attribute, highest first.
    AttributeDescending,
    /// By an attribute, lowest first.
    AttributeAscending,
    /// By age in steps, then by weight.
    TimeSegments,
    /// By a list of columns.
    Extended,
    /// By an expression.
    Expression,
}

impl MatchMode {
    /// Every mode.
    pub const ALL: [MatchMode; 7] = [
        MatchMode::All,
        MatchMode::Any,
        MatchMode::Phrase,
        MatchMode::Boolean,
        MatchMode::Extended,
        MatchMode::Fullscan,
        MatchMode::Extended2,
    ];

    /// The code of plain lines, such as `ext2`.
    pub fn code(self) -> &'static str {
        match self {
            MatchMode::All => "all",
            MatchMode::Any => "any",
            MatchMode::Phrase => "phr",
            MatchMode::Boolean => "bool",
            MatchMode::Extended => "ext",
            MatchMode::Fullscan => "scan",
            MatchMode::Extended2 => "ext2",
        }
    }

    /// The mode of a code.
    pub(crate) fn of_code(code: &[u8]) -> Option<MatchMode> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.code().as_bytes() == code)
    }
}

impl SortMode {
    /// Every mode.
    pub const ALL: [SortMode; 6] = [
        SortMode::Relevance,
        SortMode::AttributeDescending,
        SortMode::AttributeAscending,
        SortMode::TimeSegments,
        SortMode::Extended,
        SortMode::Expression,
    ];

    /// The code of plain lines, such as `attr-`.
    pub fn code(self) -> &'static str {
        match self {
            SortMode::Relevance => "rel",
            SortMode::AttributeDescending => "attr-",
            SortMode::AttributeAscending => "attr+",
            SortMode::TimeSegments => "tsegs",
            SortMode::Extended => "ext",
            SortMode::Expression => "expr",
        }
    }

    /// The mode of a code.
    pub(crate) fn of_code(code: &[u8]) -> Option<SortMode> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.code().as_bytes() == code)
    }
}

/// One entry. A field is `None` where the line does not have it. Texts are the bytes of the log, in its own encoding.
///
/// The fields beside the forms that hold them:
///
/// | field | plain | sphinxql | key of a JSON line, unit there |
/// |---|---|---|---|
/// | `time` | `[…]`, no zone | after `/*`, no zone | `time`, RFC 3339 with milliseconds |
/// | `real_us` | first time, ms | `real`, ms | `real`, seconds with 6 decimals |
/// | `wall_us` | second time, ms | `wall`, ms | `wall`, seconds with 6 decimals |
/// | `queued_us` | `queued=` µs | `queued=` µs | `queued`, seconds with 6 decimals |
/// | `multiplier` | `x3` | `x3` | `multiplier`, left out if 1 |
/// | `found` | in brackets | `found` | `found` |
/// | `returned` | `returned=` | `returned=` | `returned` |
/// | `mode`, `sort` | in brackets | – | `mode`, `sort`: the codes of plain |
/// | `filters`, `window` | in brackets | – | `filters`; `offset`, `limit` |
/// | `group_by` | `@name` | – | `group_by` |
/// | `tables` | second brackets | from the statement | `table`, or `tables` (a list) if several |
/// | `query` | the end | from the statement | `query` |
/// | `statement` | – | the end | `statement` |
/// | `cut_bytes` | `cut=` | `cut=` | `cut`: bytes of the whole statement, of which the line has the first |
/// | `ranker` | – | – | `ranker` |
/// | `threads` | `threads=` | `threads=` | `threads` |
/// | `connection`, `client` | – | `conn 2 (…)` | `connection`, `client` |
/// | `error` | – | `/* error=… */` | `error` |
/// | `comment` | `[…]` before the query | – | `comment` |
/// | `table_bytes`, `table_parts` | `bytes=`, `parts=` | `bytes=`, `parts=` | `bytes`, `parts` |
/// | `reads`, `read_us` | `ios=`, `ioms=` | `ios=`, `ioms=` | `reads`, `read_time` (seconds) |
/// | `read_bytes` | `kb=`, tenths of KiB | `kb=` | `read_bytes` |
/// | `cpu_us` | `cpums=`, tenths of ms | `cpums=` | `cpu`, seconds |
/// | `faults` | `faults=` | `faults=` | `faults` |
///
/// The names with `=` stand in one pair of brackets after the tables of a plain line, and in a comment after the statement of a
/// sphinxql line. `ios`, `kb`, `ioms` and `cpums` are searchd's own; the others are Seine's and come behind them.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Entry<'a> {
    /// When the line was written.
    pub time: LogTime,
    /// Microseconds from request to answer: the response time of the study.
    pub real_us: Option<u64>,
    /// Microseconds of the search itself; for several tables the sum.
    pub wall_us: Option<u64>,
    /// Microseconds of `real_us` that the request waited for a thread.
    pub queued_us: Option<u64>,
    /// Queries of a batch that shared this search; 1 for a query of its own.
    pub multiplier: Option<u64>,
    /// Rows that matched. Only searches have it.
    pub found: Option<u64>,
    /// Rows sent.
    pub returned: Option<u64>,
    /// Match mode.
    pub mode: Option<MatchMode>,
    /// Number of conditions on attributes.
    pub filters: Option<u64>,
    /// Sort mode.
    pub sort: Option<SortMode>,
    /// Offset and limit of the rows.
    pub window: Option<(u64, u64)>,
    /// Attribute of GROUP BY.
    pub group_by: Option<Cow<'a, [u8]>>,
    /// Names of tables as written, separated by commas or spaces; empty if unknown.
    pub tables: Cow<'a, [u8]>,
    /// The full-text query without the blanks at its ends; `None` without one.
    pub query: Option<Cow<'a, [u8]>>,
    /// The client's statement, or the body of its JSON request, without the last semicolon.
    pub statement: Option<Cow<'a, [u8]>>,
    /// Bytes of the whole statement, of which `statement` is the beginning. A half line, which does not say how much is lost, has
    /// the bytes of `statement` here.
    pub cut_bytes: Option<u64>,
    /// Name of the ranker, with its expression where it has one.
    pub ranker: Option<Cow<'a, [u8]>>,
    /// Threads that searched.
    pub threads: Option<u64>,
    /// Number of the connection.
    pub connection: Option<u64>,
    /// Address of the client.
    pub client: Option<Cow<'a, [u8]>>,
    /// Message of a query that failed.
    pub error: Option<Cow<'a, [u8]>>,
    /// `OPTION comment=`.
    pub comment: Option<Cow<'a, [u8]>>,
    /// Bytes of the table on disk.
    pub table_bytes: Option<u64>,
    /// Parts of the table that were searched.
    pub table_parts: Option<u64>,
    /// Reads from files.
    pub reads: Option<u64>,
    /// Bytes read from files.
    pub read_bytes: Option<u64>,
    /// Microseconds of those reads.
    pub read_us: Option<u64>,
    /// Microseconds of processor time.
    pub cpu_us: Option<u64>,
    /// Major page faults.
    pub faults: Option<u64>,
}

impl Entry<'_> {
    /// Whether this is a search that was answered: its time belongs to the distributions.
    pub fn is_answered_search(&self) -> bool {
        self.found.is_some() && self.error.is_none() && self.real_us.is_some()
    }
}
