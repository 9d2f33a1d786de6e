//! Plain lines, of Sphinx 0.9.8 to today's Manticore.
//!
//! ```text
//! [date] real sec [wall sec] [xN] [mode/filters/sort found (offset,limit)[ @group]] [tables] [counters] [comment] query
//! [Fri Jun 29 21:17:58.609 2007] 0.004 sec [all/0/rel 35254 (0,20)] [lj] test
//! [Sat Nov 28 17:50:03.278 2026] 0.000 sec 0.000 sec [ext2/0/rel 2490 (0,20)] [lj] [ios=1 kb=9.7 ioms=0.0] [front page] test
//! ```
//!
//! searchd separates the query from the brackets by one blank. A query that begins with a bracket cannot be told from a comment
//! before a query; it is read as searchd's grammar says, as a comment. Our writer puts a second blank before such a query.

use std::borrow::Cow;

use super::super::entry::{Entry, MatchMode, SortMode};
use super::super::time::LogTime;
use super::counters::{is_counters, read_counters};
use super::cursor::Cursor;
use super::request::JsonRequest;

pub(super) fn parse<'a>(line: &'a [u8], entry: &mut Entry<'a>) -> Option<()> {
    let (time, rest) = LogTime::read_ctime(line.get(1..)?)?;
    let mut at = Cursor { rest };
    entry.time = time;
    at.skip(b"] ")?;
    entry.real_us = Some(seconds(&mut at)?);
    entry.wall_us = seconds(&mut at);
    if at.skip(b"x").is_some() {
        entry.multiplier = Some(at.number()?);
        at.skip(b" ")?;
    }
    search(&mut at, entry)?;
    at.skip(b" [")?;
    entry.tables = Cow::Borrowed(at.take_until(b']')?);
    let bracketed = at.rest.starts_with(b" [") || at.rest.starts_with(b" {");
    if bracketed {
        brackets(&mut at, entry);
    }
    let query = at.rest.trim_ascii();
    if !query.is_empty() {
        // A separator must stand between the brackets and the query.
        at.skip(b" ")?;
        entry.query = match JsonRequest::read(query) {
            Some(request) => request.query.map(Cow::Owned),
            None => Some(Cow::Borrowed(query)),
        };
    }
    Some(())
}

/// `0.004 sec ` in microseconds.
fn seconds(at: &mut Cursor<'_>) -> Option<u64> {
    let mut after = *at;
    let us = after.fraction(6)?;
    after.skip(b" sec ")?;
    *at = after;
    Some(us)
}

/// `[all/0/rel 35254 (0,20) @group]`.
fn search<'a>(at: &mut Cursor<'a>, entry: &mut Entry<'a>) -> Option<()> {
    at.skip(b"[")?;
    let mode = at.take_until(b'/')?;
    entry.mode = Some(MatchMode::of_code(mode)?);
    entry.filters = Some(at.number()?);
    at.skip(b"/")?;
    let sort = at.take_until(b' ')?;
    entry.sort = Some(SortMode::of_code(sort)?);
    entry.found = Some(at.number()?);
    at.skip(b" (")?;
    let offset = at.number()?;
    at.skip(b",")?;
    entry.window = Some((offset, at.number()?));
    at.skip(b")")?;
    if at.skip(b" @").is_some() {
        entry.group_by = Some(Cow::Borrowed(at.take_until(b']')?));
        return Some(());
    }
    at.skip(b"]")
}

/// ` [counters]` or ` {counters}`, then ` [comment]`. Braces that hold no counters belong to the query: a JSON request.
fn brackets<'a>(at: &mut Cursor<'a>, entry: &mut Entry<'a>) {
    let mut after = Cursor {
        rest: &at.rest[1..],
    };
    let end = if after.rest.first() == Some(&b'[') {
        b']'
    } else {
        b'}'
    };
    if after.rest.get(1..).is_some_and(is_counters) {
        after.rest = &after.rest[1..];
        if let Some(text) = after.take_until(end) {
            read_counters(text, entry);
            *at = after;
        }
    }
    let mut after = *at;
    if after.skip(b" [").is_some()
        && let Some(comment) = after.take_until(b']')
    {
        entry.comment = Some(Cow::Borrowed(comment));
        *at = after;
    }
}
