//! The part of a summary that needs no order of lines: counts, distributions and short lists.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::super::entry::{Entry, Form};
use super::super::frame::{Framed, Records};
use super::super::histogram::{BINS, Histogram, bin_of, upper_edge_us};
use super::super::limits::{ERRORS_MAX, EXAMPLES_MAX, GROUPS_MAX};
use super::super::line;
use super::super::names::{IndexNames, OTHER_INDEXES, canonical};
use super::super::normalise::fold_entry;
use super::super::place::Place;
use super::super::queries::{Batch, cut};
use super::super::time::LogTime;
use super::minutes::Minutes;
use super::slowest::{SlowQuery, Slowest};

/// Classes of queries by number of words, as the study of Sphinx has them: name, least and most words.
pub const WORD_CLASSES: [(&str, u32, u32); 8] = [
    ("none", 0, 0),
    ("1", 1, 1),
    ("2", 2, 2),
    ("3", 3, 3),
    ("4", 4, 4),
    ("5", 5, 5),
    ("6-50", 6, 50),
    ("above 50", 51, u32::MAX),
];

/// The number of a class of [`WORD_CLASSES`].
pub fn word_class(words: u32) -> usize {
    match words {
        0..=5 => words as usize,
        6..=50 => 6,
        51.. => 7,
    }
}

/// The entries that count. Bounds of time are milliseconds by the clock of the log, `from` included and `to` not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// First time.
    pub from_ms: Option<i64>,
    /// First time that no longer counts.
    pub to_ms: Option<i64>,
    /// Names of tables, of which the entry must have one; empty for all.
    pub indexes: Vec<String>,
    /// Names of servers; empty for all.
    pub servers: Vec<String>,
}

impl Filter {
    /// Whether an entry of `server` counts.
    pub fn passes(&self, server: &str, entry: &Entry<'_>) -> bool {
        (self.servers.is_empty() || self.servers.iter().any(|wanted| wanted == server))
            && self.passes_time(entry)
            && (self.indexes.is_empty() || self.passes_index(&canonical(&entry.tables)))
    }

    fn passes_time(&self, entry: &Entry<'_>) -> bool {
        let ms = entry.time.local_ms;
        self.from_ms.is_none_or(|from| ms >= from) && self.to_ms.is_none_or(|to| ms < to)
    }

    /// Whether a canonical list of indexes, or one of them, is wanted.
    fn passes_index(&self, list: &str) -> bool {
        let wanted = |name: &str| self.indexes.iter().any(|wanted| wanted == name);
        list.split(',').any(wanted) || wanted(list)
    }
}

/// Counts of lines and entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines read.
    pub lines: u64,
    /// Searches that were answered: what the distributions are of.
    pub queries: u64,
    /// Those of `queries` that found no row.
    pub nothing: u64,
    /// Those of `queries` whose time is no whole number of milliseconds.
    pub finer: u64,
    /// Statements that failed.
    pub failed: u64,
    /// Other statements, such as UPDATE.
    pub others: u64,
    /// Entries that the filter left out.
    pub outside: u64,
    /// Lines of unknown form.
    pub unknown: u64,
    /// Lines by which a server says that it lost others.
    pub losses: u64,
    /// Lines that those say were lost.
    pub lost: u64,
    /// Lines above the bound of a record.
    pub too_long: u64,
    /// Empty lines.
    pub blank: u64,
    /// Further lines of statements over several lines.
    pub continued: u64,
    /// Entries whose statement is cut.
    pub cut: u64,
    /// Entries of plain lines.
    pub plain: u64,
    /// Entries of sphinxql lines.
    pub sphinxql: u64,
    /// Entries of JSON lines.
    pub json: u64,
    /// Earliest and latest time of a query.
    pub span: Option<(LogTime, LogTime)>,
}

/// What was answered from one index on one server, or a sum of such groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Times of the queries.
    pub times: Histogram,
    /// Queries that found no row.
    pub nothing: u64,
    /// Bytes of the table, the most that a line told.
    pub table_bytes: Option<u64>,
}

/// How often a statement failed with one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCount {
    /// Statements that failed with the message.
    pub count: u64,
    /// The first of them.
    pub first: Place,
}

/// A line of unknown form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Name of the server.
    pub server: String,
    /// The beginning of the line.
    pub text: String,
}

/// Page faults and reads of the queries in a bin of times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BandCost {
    /// Queries whose line tells its page faults.
    pub faults_told: u64,
    /// Queries whose line tells its bytes read.
    pub reads_told: u64,
    /// Major page faults.
    pub faults: u64,
    /// Bytes read.
    pub read_bytes: u64,
}

/// Everything of a summary but the counts of queries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    filter: Filter,
    counts: Counts,
    servers: Vec<String>,
    /// Number of the server whose lines are counted now, and whether the filter lets it through.
    server: u32,
    server_counts: bool,
    indexes: IndexNames,
    /// By number of the index: whether the filter lets it through.
    index_counts: Vec<bool>,
    groups: Vec<(u32, u32, Group)>,
    by_names: FxHashMap<(u32, u32), u32>,
    by_words: Vec<Histogram>,
    minutes: Minutes,
    slowest: Slowest,
    errors: BTreeMap<String, ErrorCount>,
    other_errors: u64,
    examples: BTreeMap<Place, Example>,
    /// By bin of the histogram; empty until a line tells faults or reads.
    costs: Vec<BandCost>,
}

impl Tally {
    pub(crate) fn new(filter: Filter) -> Tally {
        Tally {
            filter,
            by_words: vec![Histogram::default(); WORD_CLASSES.len()],
            ..Tally::default()
        }
    }

    /// The lines that follow are of this server.
    pub(crate) fn set_server(&mut self, name: &str) {
        self.server = self.number_of_server(name);
        let servers = &self.filter.servers;
        self.server_counts = servers.is_empty() || servers.iter().any(|wanted| wanted == name);
    }

    fn number_of_server(&mut self, name: &str) -> u32 {
        let known = self.servers.iter().position(|server| server == name);
        known.unwrap_or_else(|| {
            self.servers.push(name.to_owned());
            self.servers.len() - 1
        }) as u32
    }

    /// Counts the records of `block`, which begins at `first`.
    pub(crate) fn add_block(&mut self, first: Place, block: &[u8], batch: &mut Batch) {
        let mut entry = Entry::default();
        for record in Records::new(block) {
            let place = Place {
                line: first.line + record.lines_before,
                ..first
            };
            self.counts.lines += record.lines;
            self.counts.continued += record.lines - 1;
            match record.framed {
                Framed::TooLong => self.counts.too_long += 1,
                Framed::Text(text) => match line::parse_into(text, &mut entry) {
                    Some(form) => self.add_entry(place, form, &entry, batch),
                    None if text.trim_ascii().is_empty() => self.counts.blank += 1,
                    None => match line::parse_lost(text) {
                        Some(lost) => self.counts.add_lost(lost),
                        None => self.add_unknown(place, text),
                    },
                },
            }
        }
    }

    #[cold]
    fn add_unknown(&mut self, place: Place, text: &[u8]) {
        self.counts.unknown += 1;
        let last = self.examples.last_key_value().map(|(last, _)| *last);
        if self.examples.len() >= EXAMPLES_MAX && last.is_some_and(|last| place > last) {
            return;
        }
        let example = Example {
            server: self.servers[self.server as usize].clone(),
            text: String::from_utf8_lossy(cut(text)).into_owned(),
        };
        self.examples.insert(place, example);
        if self.examples.len() > EXAMPLES_MAX {
            self.examples.pop_last();
        }
    }

    /// Counts an entry; its line is counted already, or there is none.
    #[inline]
    pub(crate) fn add_entry(
        &mut self,
        place: Place,
        form: Form,
        entry: &Entry<'_>,
        batch: &mut Batch,
    ) {
        let index = self.indexes.number_of_text(&entry.tables);
        if !self.passes(entry, index) {
            self.counts.outside += 1;
            return;
        }
        match form {
            Form::Plain => self.counts.plain += 1,
            Form::Sphinxql => self.counts.sphinxql += 1,
            Form::Json => self.counts.json += 1,
        }
        self.counts.cut += u64::from(entry.cut_bytes.is_some());
        if let Some(error) = entry.error.as_deref() {
            return self.add_error(place, error);
        }
        match (entry.real_us, entry.found) {
            (Some(real_us), Some(found)) => {
                self.add_query(place, entry, index, (real_us, found), batch)
            }
            _ => self.counts.others += 1,
        }
    }

    fn passes(&mut self, entry: &Entry<'_>, index: u32) -> bool {
        self.server_counts
            && self.filter.passes_time(entry)
            && (self.filter.indexes.is_empty() || self.index_passes(index))
    }

    fn index_passes(&mut self, index: u32) -> bool {
        while self.index_counts.len() <= index as usize {
            let name = self.indexes.name(self.index_counts.len() as u32);
            let passes = self.filter.passes_index(name);
            self.index_counts.push(passes);
        }
        self.index_counts[index as usize]
    }

    #[inline]
    fn add_query(
        &mut self,
        place: Place,
        entry: &Entry<'_>,
        index: u32,
        answer: (u64, u64),
        batch: &mut Batch,
    ) {
        let (real_us, found) = answer;
        let nothing = found == 0;
        self.counts.queries += 1;
        self.counts.nothing += u64::from(nothing);
        self.counts.finer += u64::from(!real_us.is_multiple_of(1_000));
        let (earliest, latest) = self.counts.span.get_or_insert((entry.time, entry.time));
        *earliest = entry.time.min(*earliest);
        *latest = entry.time.max(*latest);
        let group = self.group(self.server, index);
        group.times.add(real_us);
        group.nothing += u64::from(nothing);
        if entry.table_bytes.is_some() {
            group.table_bytes = group.table_bytes.max(entry.table_bytes);
        }
        let words = batch.push(real_us, nothing, |form| fold_entry(entry, form));
        self.by_words[word_class(words)].add(real_us);
        self.minutes.add(entry.time.minute(), real_us);
        if entry.faults.is_some() || entry.read_bytes.is_some() {
            self.add_cost(entry, real_us);
        }
        if self.slowest.takes(real_us, place) {
            let text = entry
                .statement
                .as_deref()
                .or(entry.query.as_deref())
                .unwrap_or_default();
            self.slowest.push(SlowQuery {
                real_us,
                time: entry.time,
                server: self.servers[self.server as usize].clone(),
                index: self.indexes.name(index).to_owned(),
                text: String::from_utf8_lossy(cut(text)).into_owned(),
                place,
            });
        }
    }

    #[inline]
    fn group(&mut self, server: u32, index: u32) -> &mut Group {
        let number = match self.by_names.get(&(server, index)) {
            Some(number) => *number,
            None => self.new_group(server, index),
        };
        &mut self.groups[number as usize].2
    }

    #[cold]
    fn new_group(&mut self, server: u32, index: u32) -> u32 {
        let index = match self.groups.len() < GROUPS_MAX {
            true => index,
            false => self.indexes.number_of(OTHER_INDEXES),
        };
        if let Some(number) = self.by_names.get(&(server, index)) {
            return *number;
        }
        let number = self.groups.len() as u32;
        self.groups.push((server, index, Group::default()));
        self.by_names.insert((server, index), number);
        number
    }

    fn add_cost(&mut self, entry: &Entry<'_>, real_us: u64) {
        self.costs.resize(BINS, BandCost::default());
        self.costs[bin_of(real_us)].merge(&BandCost {
            faults_told: u64::from(entry.faults.is_some()),
            reads_told: u64::from(entry.read_bytes.is_some()),
            faults: entry.faults.unwrap_or(0),
            read_bytes: entry.read_bytes.unwrap_or(0),
        });
    }

    #[cold]
    fn add_error(&mut self, place: Place, error: &[u8]) {
        self.counts.failed += 1;
        let one = ErrorCount {
            count: 1,
            first: place,
        };
        self.merge_error(String::from_utf8_lossy(cut(error)).into_owned(), one);
    }

    fn merge_error(&mut self, message: String, other: ErrorCount) {
        if let Some(known) = self.errors.get_mut(&message) {
            known.count += other.count;
            known.first = known.first.min(other.first);
        } else if self.errors.len() < ERRORS_MAX {
            self.errors.insert(message, other);
        } else {
            self.other_errors += other.count;
        }
    }

    /// Adds what `other` counted. Its names have numbers of their own.
    pub(crate) fn merge(&mut self, other: Tally) {
        self.counts.merge(&other.counts);
        for (server, index, group) in &other.groups {
            let server = self.number_of_server(&other.servers[*server as usize]);
            let index = self.indexes.number_of(other.indexes.name(*index));
            self.group(server, index).merge(group);
        }
        for (own, theirs) in self.by_words.iter_mut().zip(&other.by_words) {
            own.merge(theirs);
        }
        self.minutes.merge(other.minutes);
        self.slowest.merge(other.slowest);
        other
            .errors
            .into_iter()
            .for_each(|(message, count)| self.merge_error(message, count));
        self.other_errors += other.other_errors;
        self.examples.extend(other.examples);
        while self.examples.len() > EXAMPLES_MAX {
            self.examples.pop_last();
        }
        self.costs
            .resize(self.costs.len().max(other.costs.len()), BandCost::default());
        for (own, theirs) in self.costs.iter_mut().zip(&other.costs) {
            own.merge(theirs);
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// Server, index and what was answered, in no order.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (&str, &str, &Group)> {
        let groups = self.groups.iter();
        groups.map(|(server, index, group)| {
            (
                self.servers[*server as usize].as_str(),
                self.indexes.name(*index),
                group,
            )
        })
    }

    pub(crate) fn by_words(&self) -> &[Histogram] {
        &self.by_words
    }

    pub(crate) fn minutes(&self) -> &Minutes {
        &self.minutes
    }

    pub(crate) fn slowest(&self) -> Vec<SlowQuery> {
        self.slowest.sorted()
    }

    pub(crate) fn errors(&self) -> &BTreeMap<String, ErrorCount> {
        &self.errors
    }

    pub(crate) fn other_errors(&self) -> u64 {
        self.other_errors
    }

    pub(crate) fn examples(&self) -> &BTreeMap<Place, Example> {
        &self.examples
    }

    pub(crate) fn costs(&self) -> Vec<(u64, BandCost)> {
        let costs = self.costs.iter().enumerate();
        costs
            .filter(|(_, cost)| cost.faults_told + cost.reads_told > 0)
            .map(|(bin, cost)| (upper_edge_us(bin), *cost))
            .collect()
    }
}

impl Group {
    /// Adds what `other` counted.
    pub fn merge(&mut self, other: &Group) {
        self.times.merge(&other.times);
        self.nothing += other.nothing;
        self.table_bytes = self.table_bytes.max(other.table_bytes);
    }
}

impl BandCost {
    /// Adds other sums.
    pub fn merge(&mut self, other: &BandCost) {
        self.faults_told += other.faults_told;
        self.reads_told += other.reads_told;
        self.faults += other.faults;
        self.read_bytes += other.read_bytes;
    }
}

impl Counts {
    /// Whether each time is a whole number of milliseconds, as plain and sphinxql lines write them.
    pub fn has_whole_ms(&self) -> bool {
        self.finer == 0
    }

    #[cold]
    fn add_lost(&mut self, lines: u64) {
        self.losses += 1;
        self.lost = self.lost.saturating_add(lines);
    }

    fn merge(&mut self, other: &Counts) {
        let Counts {
            lines,
            queries,
            nothing,
            finer,
            failed,
            others,
            outside,
            unknown,
            losses,
            lost,
            too_long,
            blank,
            continued,
            cut,
            plain,
            sphinxql,
            json,
            span,
        } = other;
        self.lines += lines;
        self.queries += queries;
        self.nothing += nothing;
        self.finer += finer;
        self.failed += failed;
        self.others += others;
        self.outside += outside;
        self.unknown += unknown;
        self.losses += losses;
        self.lost = self.lost.saturating_add(*lost);
        self.too_long += too_long;
        self.blank += blank;
        self.continued += continued;
        self.cut += cut;
        self.plain += plain;
        self.sphinxql += sphinxql;
        self.json += json;
        self.span = match (self.span, span) {
            (Some(own), Some(theirs)) => Some((own.0.min(theirs.0), own.1.max(theirs.1))),
            (own, theirs) => own.or(*theirs),
        };
    }
}
