//! Seine's own lines: one JSON object a line. The keys and units stand in the table of [`Entry`].

mod flat;

use std::borrow::Cow;
use std::fmt::Formatter;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

use super::super::entry::{Entry, MatchMode, SortMode};
use super::super::time::LogTime;

/// The keys of a line. A key of another name is passed over, so that an older reader reads a newer log.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    time: Text<'a>,
    real: Option<f64>,
    wall: Option<f64>,
    queued: Option<f64>,
    multiplier: Option<u64>,
    found: Option<u64>,
    returned: Option<u64>,
    mode: Option<Text<'a>>,
    filters: Option<u64>,
    sort: Option<Text<'a>>,
    offset: Option<u64>,
    limit: Option<u64>,
    group_by: Option<Text<'a>>,
    table: Option<Text<'a>>,
    tables: Option<Vec<String>>,
    query: Option<Text<'a>>,
    statement: Option<Text<'a>>,
    cut: Option<u64>,
    ranker: Option<Text<'a>>,
    threads: Option<u64>,
    connection: Option<u64>,
    client: Option<Text<'a>>,
    error: Option<Text<'a>>,
    comment: Option<Text<'a>>,
    bytes: Option<u64>,
    parts: Option<u64>,
    reads: Option<u64>,
    read_bytes: Option<u64>,
    read_time: Option<f64>,
    cpu: Option<f64>,
    faults: Option<u64>,
}

pub(super) fn parse<'a>(line: &'a [u8], entry: &mut Entry<'a>) -> Option<()> {
    flat::read(line, entry).or_else(|| parse_any(line, entry))
}

/// As [`parse`], by a parser of JSON: it takes every line, and is the oracle of the tests.
fn parse_any<'a>(line: &'a [u8], entry: &mut Entry<'a>) -> Option<()> {
    let line: Line<'a> = serde_json::from_slice(line).ok()?;
    let (time, rest) = LogTime::read_rfc3339(line.time.0.as_bytes())?;
    rest.is_empty().then_some(())?;
    let mode = line
        .mode
        .as_ref()
        .and_then(|mode| MatchMode::of_code(mode.0.as_bytes()));
    let sort = line
        .sort
        .as_ref()
        .and_then(|sort| SortMode::of_code(sort.0.as_bytes()));
    let tables = match (line.table, line.tables) {
        (Some(table), _) => bytes(table),
        (None, Some(tables)) => Cow::Owned(tables.join(",").into_bytes()),
        (None, None) => Cow::default(),
    };
    *entry = Entry {
        time,
        real_us: microseconds(line.real)?,
        wall_us: microseconds(line.wall)?,
        queued_us: microseconds(line.queued)?,
        multiplier: line.multiplier,
        found: line.found,
        returned: line.returned,
        mode,
        filters: line.filters,
        sort,
        window: line.limit.map(|limit| (line.offset.unwrap_or(0), limit)),
        group_by: line.group_by.map(bytes),
        tables,
        query: line.query.map(bytes),
        statement: line.statement.map(bytes),
        cut_bytes: line.cut,
        ranker: line.ranker.map(bytes),
        threads: line.threads,
        connection: line.connection,
        client: line.client.map(bytes),
        error: line.error.map(bytes),
        comment: line.comment.map(bytes),
        table_bytes: line.bytes,
        table_parts: line.parts,
        reads: line.reads,
        read_bytes: line.read_bytes,
        read_us: microseconds(line.read_time)?,
        cpu_us: microseconds(line.cpu)?,
        faults: line.faults,
    };
    Some(())
}

/// A text that borrows from the line where it has no escapes. Serde's own `Option<Cow<str>>` always copies.
struct Text<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrowing;

        impl<'de> Visitor<'de> for Borrowing {
            type Value = Text<'de>;

            fn expecting(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a text")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(Borrowing)
    }
}

fn bytes(text: Text<'_>) -> Cow<'_, [u8]> {
    match text.0 {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

/// Seconds in microseconds; outer `None` for a time that no clock can have measured.
fn microseconds(seconds: Option<f64>) -> Option<Option<u64>> {
    /// 30 years. Below it every microsecond has a double of its own.
    const SECONDS_MAX: f64 = 1e9;
    match seconds {
        None => Some(None),
        Some(seconds) => (0.0..SECONDS_MAX)
            .contains(&seconds)
            .then(|| Some((seconds * 1e6).round() as u64)),
    }
}

#[cfg(test)]
mod tests;
