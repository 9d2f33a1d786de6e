//! Lines as the study of Sphinx found them: 15 servers, 180 indexes, five million queries.
//!
//! | of the lines | |
//! |---|---|
//! | 60 % | at most 10 ms, most often 1 ms |
//! | 20 % | above 10 ms, at most 100 ms, most often 35 ms |
//! | 19 % | above 100 ms, at most 500 ms, most often 220 ms |
//! | 1 % | above 500 ms, at most 30 s |
//!
//! The time depends on the number of words: queries of 1 to 4 words are the fastest, those of 6 to 50 the slowest, longer ones are
//! faster again. Slow answers come more often from the large indexes. Each class of words has its own queries; their frequencies
//! follow Zipf's law with exponent 1. The lines depend on nothing but the seed, the server and the form.

mod law;
mod text;

use std::borrow::Cow;

use super::digits::{padded, write_number};
use super::entry::{Entry, MatchMode, SortMode};
use super::line::{write_json, write_plain, write_sphinxql};
use super::summary::word_class;
use super::time::LogTime;
use law::{Law, Random};
use text::{write_query, write_statement};

/// Servers of the study.
pub const SERVERS: u32 = 15;
/// Indexes of the study.
pub const INDEXES: u32 = 180;
/// Different queries of the study.
pub const QUERIES: u64 = 5_000_000;

/// The forms in which lines are generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeneratedForm {
    /// Plain lines with one time, of Sphinx 0.9.8.
    OneTime,
    /// Plain lines with two times.
    Plain,
    /// Sphinxql lines.
    Sphinxql,
    /// JSON lines, with bytes of tables, page faults and bytes read.
    Json,
}

/// Which lines are generated.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// Another seed gives other lines of the same distributions.
    pub seed: u64,
    /// The form of each line.
    pub form: GeneratedForm,
    /// The time of the first line, milliseconds from 1970 by the clock of the log.
    pub start_ms: i64,
    /// Mean distance of two lines of one server in milliseconds, at least 1. By night they come more slowly.
    pub gap_ms: u32,
    /// Different queries, at least 1,000.
    pub queries: u64,
}

impl Default for Workload {
    /// The study's workload from Friday, 2007-06-29 00:00, at 20 queries a second and server.
    fn default() -> Workload {
        Workload {
            seed: 1,
            form: GeneratedForm::OneTime,
            start_ms: 1_183_075_200_000,
            gap_ms: 50,
            queries: QUERIES,
        }
    }
}

/// The log of one server, line by line.
#[derive(Clone, Debug)]
pub struct LogGenerator {
    workload: Workload,
    law: Law,
    random: Random,
    local_ms: i64,
    /// `[Fri Jun 29 21:17:58.` and ` 2007] ` of the second `date_s`.
    date: Vec<u8>,
    date_s: i64,
    query: Vec<u8>,
    statement: Vec<u8>,
}

/// The numbers of one line.
struct Facts {
    real_ms: u64,
    index: u32,
    read_bytes: u64,
    found: u64,
    code: u64,
}

/// The name of a server, such as `search07`.
pub fn server_name(server: u32) -> String {
    format!("search{:02}", server + 1)
}

/// Names and bytes of the indexes: a third has 1 to 3 MB, a third 3 to 30 MB, a third more.
pub fn index_sizes() -> Vec<(String, u64)> {
    (0..INDEXES)
        .map(|index| (format!("i{index:03}"), index_bytes(index)))
        .collect()
}

/// Bytes of an index: evenly spread over its third, on a log scale.
fn index_bytes(index: u32) -> u64 {
    let third = INDEXES / 3;
    let part = f64::from(index % third) / f64::from(third);
    let (least, most): (f64, f64) = match index / third {
        0 => (1e6, 3e6),
        1 => (3.01e6, 30e6),
        _ => (30.1e6, 1e9),
    };
    (least * (most / least).powf(part)) as u64
}

impl LogGenerator {
    /// The log of `server`, 0 to 14.
    pub fn new(workload: Workload, server: u32) -> LogGenerator {
        LogGenerator {
            law: Law::new(workload.queries),
            random: Random::new(workload.seed, server),
            local_ms: workload.start_ms,
            date: Vec::new(),
            date_s: i64::MIN,
            query: Vec::new(),
            statement: Vec::new(),
            workload,
        }
    }

    /// Appends the next line.
    pub fn write_line(&mut self, out: &mut Vec<u8>) {
        self.local_ms += self
            .law
            .gap_ms(self.workload.gap_ms, self.local_ms, &mut self.random);
        let class = self.law.class(&mut self.random);
        let rank = self.law.rank(class, &mut self.random);
        self.query.clear();
        let code = write_query(class, rank, &mut self.query);
        let (band, real_ms) = self.law.time(class, &mut self.random);
        let facts = Facts {
            real_ms,
            index: self.law.index(band, &mut self.random),
            read_bytes: self.law.read_bytes(band, &mut self.random),
            found: found(class, code),
            code,
        };
        match self.workload.form {
            GeneratedForm::OneTime => self.write_one_time(&facts, out),
            GeneratedForm::Plain | GeneratedForm::Sphinxql | GeneratedForm::Json => {
                self.write_entry(&facts, out)
            }
        }
    }

    fn write_one_time(&mut self, facts: &Facts, out: &mut Vec<u8>) {
        let second = self.local_ms.div_euclid(1_000);
        if second != self.date_s {
            self.date.clear();
            self.date.push(b'[');
            let time = LogTime {
                local_ms: second * 1_000,
                offset_minutes: None,
            };
            time.write_ctime(&mut self.date);
            self.date.extend_from_slice(b"] ");
            self.date_s = second;
        }
        // `[Fri Jun 29 21:17:58.` has 21 bytes; three digits and ` 2007] ` follow.
        let start = out.len();
        out.extend_from_slice(&self.date);
        out[start + 21..start + 24]
            .copy_from_slice(&padded::<3>(self.local_ms.rem_euclid(1_000) as u64));
        write_number("", facts.real_ms / 1_000, out);
        out.extend_from_slice(b".000 sec [");
        let end = out.len() - 6;
        out[end - 3..end].copy_from_slice(&padded::<3>(facts.real_ms % 1_000));
        out.extend_from_slice(mode(facts.code).code().as_bytes());
        out.extend_from_slice(match facts.code >> 8 & 3 {
            0 => b"/1/",
            _ => b"/0/",
        });
        out.extend_from_slice(sort(facts.code).code().as_bytes());
        out.push(b' ');
        write_number("", facts.found, out);
        out.extend_from_slice(b" (0,20)] [i000] ");
        let end = out.len() - 2;
        out[end - 3..end].copy_from_slice(&padded::<3>(u64::from(facts.index)));
        out.extend_from_slice(&self.query);
        out.push(b'\n');
    }

    fn write_entry(&mut self, facts: &Facts, out: &mut Vec<u8>) {
        let tables = format!("i{:03}", facts.index);
        self.statement.clear();
        write_statement(&tables, &self.query, &mut self.statement);
        let json = self.workload.form == GeneratedForm::Json;
        let read_bytes = facts.read_bytes;
        let entry = Entry {
            time: LogTime {
                local_ms: self.local_ms,
                offset_minutes: None,
            },
            real_us: Some(facts.real_ms * 1_000),
            wall_us: Some(facts.real_ms * 1_000),
            found: Some(facts.found),
            mode: Some(mode(facts.code)),
            sort: Some(sort(facts.code)),
            filters: Some(u64::from(facts.code >> 8 & 3 == 0)),
            window: Some((0, 20)),
            tables: Cow::Borrowed(tables.as_bytes()),
            query: Some(Cow::Borrowed(&*self.query)).filter(|query| !query.is_empty()),
            statement: Some(Cow::Borrowed(&*self.statement)),
            connection: Some(facts.code >> 40 & 0xff),
            table_bytes: json.then(|| index_bytes(facts.index)),
            faults: json.then_some(read_bytes / 4_096),
            read_bytes: json.then_some(read_bytes),
            ..Entry::default()
        };
        let text_bytes_max = super::limits::STATEMENT_BYTES_MAX;
        match self.workload.form {
            GeneratedForm::OneTime | GeneratedForm::Plain => {
                write_plain(&entry, text_bytes_max, out)
            }
            GeneratedForm::Sphinxql => write_sphinxql(&entry, text_bytes_max, out),
            GeneratedForm::Json => write_json(&entry, text_bytes_max, out),
        }
    }
}

/// Rows found: none by one query in 16, and by one of more than five words in four; else 1 to 1,000,000. A query without words
/// finds all rows.
fn found(class: usize, code: u64) -> u64 {
    let empty_of_256 = if class >= word_class(6) { 64 } else { 16 };
    if class > 0 && code & 0xff < empty_of_256 {
        return 0;
    }
    let bits = (code >> 16) % 20;
    (1 << bits) + (code >> 32 & ((1 << bits) - 1))
}

fn mode(code: u64) -> MatchMode {
    match code >> 10 & 7 {
        0..=3 => MatchMode::Any,
        4 | 5 => MatchMode::All,
        6 => MatchMode::Extended2,
        _ => MatchMode::Phrase,
    }
}

fn sort(code: u64) -> SortMode {
    match code >> 13 & 7 {
        0..=4 => SortMode::Relevance,
        5 => SortMode::AttributeDescending,
        _ => SortMode::Extended,
    }
}

#[cfg(test)]
mod tests;
