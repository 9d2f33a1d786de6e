//! Sphinxql records: a comment with the facts, then the statement.
//!
//! ```text
//! /* Sun Apr 28 12:38:02.808 2024 conn 2 (127.0.0.1:53228) real 0.000 wall 0.000 x3 found 0 */ SELECT …; /* ios=1 kb=9.7 … */
//! /* … found 0 */ SELECT …; /* error=unknown local index 'absent' in search request */
//! /* … conn 24 */ SELEC nonsense # error=sphinxql: syntax error
//! /* … found 0 */  /*{"index":"test"}*/ /*{ "query": { … } } */
//! /* … real 0.000 */ UPDATE test SET title='Updated' WHERE id=1;
//! ```
//!
//! Sphinx leaves the client out. Statements that the server did not understand have no times.

use std::borrow::Cow;

use serde_json::Value;

use super::super::entry::Entry;
use super::super::time::LogTime;
use super::counters::read_counters;
use super::cursor::Cursor;
use super::request::JsonRequest;
use super::statement::{comment_end, scan};

/// Mark of an error behind a statement without a semicolon.
const ERROR_MARK: &[u8] = b" # error=";

pub(super) fn parse<'a>(record: &'a [u8], entry: &mut Entry<'a>) -> Option<()> {
    let (time, rest) = LogTime::read_ctime(record.strip_prefix(b"/* ")?)?;
    let mut at = Cursor { rest };
    entry.time = time;
    facts(&mut at, entry)?;
    let rest = at.rest.trim_ascii();
    if rest.is_empty() {
        // A line that was cut behind its facts.
        return None;
    }
    if holds_requests(rest) {
        requests(rest, entry);
    } else {
        statement(rest, entry);
    }
    Some(())
}

/// Whether nothing but comments stands behind the facts: JSON requests, or Manticore's mark `/* DONE */`. A statement of a client
/// may begin with a comment as well.
fn holds_requests(rest: &[u8]) -> bool {
    let mut rest = rest;
    while let Some(inside) = rest.strip_prefix(b"/*") {
        if inside.trim_ascii_start().starts_with(b"{") {
            // The JSON may hold the mark that ends a comment.
            return true;
        }
        let end = comment_end(rest, 0);
        rest = rest[end..].trim_ascii_start();
        if matches!(rest, b"" | b";") {
            return true;
        }
    }
    false
}

/// ` conn 2 (client) real 0.000 wall 0.000 x3 found 0 */`; each fact may be absent.
fn facts<'a>(at: &mut Cursor<'a>, entry: &mut Entry<'a>) -> Option<()> {
    if at.skip(b" conn ").is_some() {
        entry.connection = Some(at.number()?);
    }
    if at.skip(b" (").is_some() {
        entry.client = Some(Cow::Borrowed(at.take_until(b')')?));
    }
    if at.skip(b" real ").is_some() {
        entry.real_us = Some(at.fraction(6)?);
    }
    if at.skip(b" wall ").is_some() {
        entry.wall_us = Some(at.fraction(6)?);
    }
    if at.skip(b" x").is_some() {
        entry.multiplier = Some(at.number()?);
    }
    if at.skip(b" found ").is_some() {
        entry.found = Some(at.number()?);
    }
    // Manticore leaves the blank out where a statement failed before it had a connection.
    at.skip(b" */").or_else(|| at.skip(b"*/"))
}

fn statement<'a>(rest: &'a [u8], entry: &mut Entry<'a>) {
    let scan = scan(rest);
    entry.tables = Cow::Borrowed(scan.tables);
    entry.query = scan.query;
    // Without a semicolon the record has the mark of an error, or the writer cut the statement inside quotes, or the line is a
    // half one.
    let marked = || memchr::memmem::rfind(rest, ERROR_MARK);
    let cut = || memchr::memmem::rfind(rest, b"; /* ").filter(|_| rest.ends_with(b"*/"));
    let (end, tail) = match scan.end.or_else(cut) {
        Some(end) => (end, &rest[end + 1..]),
        None => match marked() {
            Some(end) => (end, &rest[end..]),
            None => {
                entry.cut_bytes = Some(rest.len() as u64);
                (rest.len(), &rest[rest.len()..])
            }
        },
    };
    entry.statement = Some(Cow::Borrowed(&rest[..end]));
    comments(tail, entry);
}

/// What follows a statement: comments with counters or an error, or the mark of an error.
fn comments<'a>(tail: &'a [u8], entry: &mut Entry<'a>) {
    if let Some(error) = tail
        .trim_ascii_start()
        .strip_prefix(ERROR_MARK.trim_ascii_start())
    {
        entry.error = Some(Cow::Borrowed(error.trim_ascii()));
        return;
    }
    let mut rest = tail.trim_ascii();
    while let Some(inside) = rest.strip_prefix(b"/*") {
        let end = memchr::memmem::find(inside, b"*/").unwrap_or(inside.len());
        let text = inside[..end].trim_ascii();
        match text.strip_prefix(b"error=") {
            Some(error) => entry.error = Some(Cow::Borrowed(error)),
            None => read_counters(text, entry),
        }
        rest = inside.get(end + 2..).unwrap_or_default().trim_ascii_start();
    }
}

/// JSON requests in comments: the last one is the statement; the one before may name only the table.
fn requests<'a>(rest: &'a [u8], entry: &mut Entry<'a>) {
    let mut rest = rest;
    while let Some(inside) = rest.strip_prefix(b"/*") {
        let inside = inside.trim_ascii_start();
        let mut values = serde_json::Deserializer::from_slice(inside).into_iter::<Value>();
        let body = values.next().and_then(Result::ok).filter(Value::is_object);
        // The JSON itself may hold the mark that ends a comment.
        let length = if body.is_some() {
            values.byte_offset()
        } else {
            0
        };
        let Some(close) = memchr::memmem::find(&inside[length..], b"*/") else {
            return;
        };
        let text = inside[..length + close].trim_ascii();
        if let Some(body) = body {
            let request = JsonRequest::of_body(&body);
            if let Some(tables) = request.tables {
                entry.tables = Cow::Owned(tables);
            }
            entry.query = request.query.map(Cow::Owned);
            entry.statement = Some(Cow::Borrowed(text));
        } else if entry.statement.is_none() {
            entry.statement = Some(Cow::Borrowed(text));
        } else {
            return comments(rest, entry);
        }
        rest = inside[length + close + 2..].trim_ascii_start();
        rest = rest.strip_prefix(b";").unwrap_or(rest).trim_ascii_start();
    }
}
