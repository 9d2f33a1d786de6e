//! The lines that the writer makes, in one pass without a parser of JSON: it takes a fifth of the time.
//!
//! Example: `{"time":"2024-04-28T12:38:02.808Z","real":0.000153,"found":0,"table":"posts","statement":"SELECT …"}`.
//!
//! A line with anything else, such as an escape, a blank between two keys, an unknown key, a key twice, or a list, is left to the
//! parser. So what this file takes is JSON, and it means what the parser would say.

use super::super::super::entry::{Entry, MatchMode, SortMode};
use super::super::super::time::LogTime;
use super::super::cursor::Cursor;

/// The decimals of a time in seconds, which the writer always writes.
const DECIMALS: usize = 6;

/// Reads a line into an entry without fields. `None`: the line is none that the writer makes, and the entry has some of the fields.
pub(super) fn read<'a>(line: &'a [u8], entry: &mut Entry<'a>) -> Option<()> {
    // The parser refuses texts that are no UTF-8 and control characters in them.
    std::str::from_utf8(line).ok()?;
    let is_plain = line.iter().fold(true, |all, byte| all & (*byte >= b' '));
    is_plain.then_some(())?;
    let mut values = Values {
        at: Cursor { rest: line },
        known: 0,
    };
    let (mut offset, mut limit) = (None, None);
    let mut before: &[u8] = b"{\"";
    loop {
        values.at.skip(before)?;
        before = b",\"";
        let key = values.at.take_until(b'"')?;
        values.at.skip(b":")?;
        match key {
            b"time" => {
                let (time, rest) = LogTime::read_rfc3339(values.text(0)?)?;
                rest.is_empty().then_some(())?;
                entry.time = time;
            }
            b"real" => entry.real_us = Some(values.seconds(1)?),
            b"wall" => entry.wall_us = Some(values.seconds(2)?),
            b"queued" => entry.queued_us = Some(values.seconds(3)?),
            b"multiplier" => entry.multiplier = Some(values.whole(4)?),
            b"found" => entry.found = Some(values.whole(5)?),
            b"returned" => entry.returned = Some(values.whole(6)?),
            b"mode" => entry.mode = Some(MatchMode::of_code(values.text(7)?)?),
            b"filters" => entry.filters = Some(values.whole(8)?),
            b"sort" => entry.sort = Some(SortMode::of_code(values.text(9)?)?),
            b"offset" => offset = Some(values.whole(10)?),
            b"limit" => limit = Some(values.whole(11)?),
            b"group_by" => entry.group_by = Some(values.text(12)?.into()),
            b"table" => entry.tables = values.text(13)?.into(),
            b"query" => entry.query = Some(values.text(14)?.into()),
            b"statement" => entry.statement = Some(values.text(15)?.into()),
            b"cut" => entry.cut_bytes = Some(values.whole(16)?),
            b"ranker" => entry.ranker = Some(values.text(17)?.into()),
            b"threads" => entry.threads = Some(values.whole(18)?),
            b"connection" => entry.connection = Some(values.whole(19)?),
            b"client" => entry.client = Some(values.text(20)?.into()),
            b"error" => entry.error = Some(values.text(21)?.into()),
            b"comment" => entry.comment = Some(values.text(22)?.into()),
            b"bytes" => entry.table_bytes = Some(values.whole(23)?),
            b"parts" => entry.table_parts = Some(values.whole(24)?),
            b"reads" => entry.reads = Some(values.whole(25)?),
            b"read_bytes" => entry.read_bytes = Some(values.whole(26)?),
            b"read_time" => entry.read_us = Some(values.seconds(27)?),
            b"cpu" => entry.cpu_us = Some(values.seconds(28)?),
            b"faults" => entry.faults = Some(values.whole(29)?),
            _ => return None,
        }
        if values.at.rest == b"}" {
            break;
        }
    }
    let has_time = values.known & 1 == 1;
    entry.window = limit.map(|limit| (offset.unwrap_or(0), limit));
    has_time.then_some(())
}

/// The values of a line.
struct Values<'a> {
    at: Cursor<'a>,
    /// The numbers of the keys that had one, as bits.
    known: u32,
}

impl<'a> Values<'a> {
    /// Notes the key with this number; `None`: it had a value already.
    fn first(&mut self, key: u32) -> Option<()> {
        let bit = 1 << key;
        let is_first = self.known & bit == 0;
        self.known |= bit;
        is_first.then_some(())
    }

    /// A text without escapes.
    fn text(&mut self, key: u32) -> Option<&'a [u8]> {
        self.first(key)?;
        self.at.skip(b"\"")?;
        let end = memchr::memchr2(b'"', b'\\', self.at.rest)?;
        let (text, rest) = self.at.rest.split_at(end);
        (rest[0] == b'"').then_some(())?;
        self.at.rest = &rest[1..];
        Some(text)
    }

    /// A whole number, without a leading zero.
    fn whole(&mut self, key: u32) -> Option<u64> {
        self.first(key)?;
        let begin = self.at.rest;
        let number = self.at.number()?;
        let is_whole = begin[0] != b'0' || begin.len() - self.at.rest.len() == 1;
        (is_whole && self.ends()).then_some(number)
    }

    /// Seconds with six decimals, in microseconds.
    fn seconds(&mut self, key: u32) -> Option<u64> {
        /// 30 years, as for the parser.
        const SECONDS_MAX: u64 = 1_000_000_000;
        self.first(key)?;
        let begin = self.at.rest;
        let seconds = self.at.number()?;
        let is_whole = begin[0] != b'0' || begin.len() - self.at.rest.len() == 1;
        self.at.skip(b".")?;
        let decimals = self.at.rest;
        let us = self.at.number()?;
        let has_all = decimals.len() - self.at.rest.len() == DECIMALS;
        (is_whole && has_all && self.ends() && seconds < SECONDS_MAX)
            .then(|| seconds * 1_000_000 + us)
    }

    /// Whether a number ends here.
    fn ends(&self) -> bool {
        matches!(self.at.rest.first(), Some(b',' | b'}'))
    }
}
