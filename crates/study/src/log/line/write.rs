//! One [`Entry`] to one line, in each form.
//!
//! | line | bound |
//! |---|---|
//! | statement or query | the given bytes, at least 0; a longer one is cut before the character that would pass it |
//!
//! A cut statement is told by its whole length: `cut=` or the key `cut`. One entry is one line: line ends inside texts are written
//! as blanks, as searchd does. In a statement those inside quotes become the escapes `\n` and `\r`, and a comment up to the end of
//! its line is left out, so that the statement means the same when it is sent again. JSON has escapes for all. A line is appended
//! whole, with its line end.

use super::super::digits::{padded, write_number};
use super::super::entry::Entry;
use super::counters::write_counters;
use super::statement::{comment_end, quote_end};

/// Appends a plain line. Ranker, connection, client, statement and error have no place in it, and searchd writes no line for a
/// query that failed; times are cut to milliseconds.
pub fn write_plain(entry: &Entry<'_>, text_bytes_max: usize, out: &mut Vec<u8>) {
    out.push(b'[');
    entry.time.write_ctime(out);
    out.extend_from_slice(b"] ");
    let real_us = entry.real_us.unwrap_or(0);
    write_seconds("", real_us, out);
    write_seconds(" sec ", entry.wall_us.unwrap_or(real_us), out);
    out.extend_from_slice(b" sec");
    if let Some(multiplier) = entry.multiplier.filter(|multiplier| *multiplier > 1) {
        write_number(" x", multiplier, out);
    }
    out.extend_from_slice(b" [");
    out.extend_from_slice(entry.mode.map_or("ext2", |mode| mode.code()).as_bytes());
    write_number("/", entry.filters.unwrap_or(0), out);
    out.push(b'/');
    out.extend_from_slice(entry.sort.map_or("ext", |sort| sort.code()).as_bytes());
    write_number(" ", entry.found.unwrap_or(0), out);
    let (offset, limit) = entry.window.unwrap_or((0, 20));
    write_number(" (", offset, out);
    write_number(",", limit, out);
    out.push(b')');
    if let Some(group_by) = &entry.group_by {
        out.extend_from_slice(b" @");
        write_flat(group_by, out);
    }
    out.extend_from_slice(b"] [");
    write_flat(&entry.tables, out);
    out.push(b']');
    let query = entry.query.as_deref().unwrap_or_default();
    let (shown, cut) = cut_text(query, text_bytes_max);
    write_between(b" [", b"]", |out| write_counters(entry, cut, out), out);
    if let Some(comment) = &entry.comment {
        out.extend_from_slice(b" [");
        write_flat(comment, out);
        out.push(b']');
    }
    if !shown.is_empty() {
        let like_brackets = entry.comment.is_none() && matches!(shown[0], b'[' | b'{');
        out.extend_from_slice(if like_brackets { b"  " } else { b" " });
        write_flat(shown, out);
    }
    out.push(b'\n');
}

/// Appends a sphinxql line: the facts in a comment, then the client's statement.
pub fn write_sphinxql(entry: &Entry<'_>, text_bytes_max: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(b"/* ");
    entry.time.write_ctime(out);
    if let Some(connection) = entry.connection {
        write_number(" conn ", connection, out);
    }
    if let Some(client) = &entry.client {
        out.extend_from_slice(b" (");
        write_flat(client, out);
        out.push(b')');
    }
    if let Some(real_us) = entry.real_us {
        write_seconds(" real ", real_us, out);
    }
    if let Some(wall_us) = entry.wall_us {
        write_seconds(" wall ", wall_us, out);
    }
    if let Some(multiplier) = entry.multiplier.filter(|multiplier| *multiplier > 1) {
        write_number(" x", multiplier, out);
    }
    if let Some(found) = entry.found {
        write_number(" found ", found, out);
    }
    out.extend_from_slice(b" */ ");
    let statement = entry.statement.as_deref().unwrap_or_default();
    let (shown, cut) = cut_text(statement, text_bytes_max);
    let is_request = shown.first() == Some(&b'{');
    if is_request {
        out.extend_from_slice(b" /*");
        write_flat(shown, out);
        out.extend_from_slice(b" */");
    } else {
        write_on_one_line(shown, out);
        out.push(b';');
    }
    write_between(b" /* ", b" */", |out| write_counters(entry, cut, out), out);
    if let Some(error) = &entry.error {
        out.extend_from_slice(b" /* error=");
        let start = out.len();
        write_flat(error, out);
        // A message that quotes the end of a comment must not end ours.
        while let Some(place) = memchr::memmem::find(&out[start..], b"*/") {
            out.insert(start + place + 1, b' ');
        }
        out.extend_from_slice(b" */");
    }
    out.push(b'\n');
}

/// Appends a JSON line. Bytes that are no UTF-8 become replacement characters.
pub fn write_json(entry: &Entry<'_>, text_bytes_max: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"time\":\"");
    entry.time.write_rfc3339(out);
    out.push(b'"');
    let statement = entry.statement.as_deref();
    let cut = statement.and_then(|statement| cut_text(statement, text_bytes_max).1);
    write_key_seconds("real", entry.real_us, out);
    write_key_seconds("wall", entry.wall_us, out);
    write_key_seconds("queued", entry.queued_us, out);
    let multiplier = entry.multiplier.filter(|multiplier| *multiplier != 1);
    write_key_number("multiplier", multiplier, out);
    write_key_number("found", entry.found, out);
    write_key_number("returned", entry.returned, out);
    write_key_text("mode", entry.mode.map(|mode| mode.code().as_bytes()), out);
    write_key_number("filters", entry.filters, out);
    write_key_text("sort", entry.sort.map(|sort| sort.code().as_bytes()), out);
    write_key_number("offset", entry.window.map(|(offset, _)| offset), out);
    write_key_number("limit", entry.window.map(|(_, limit)| limit), out);
    write_key_text("group_by", entry.group_by.as_deref(), out);
    write_tables(&entry.tables, out);
    write_key_text(
        "query",
        entry
            .query
            .as_deref()
            .map(|query| cut_text(query, text_bytes_max).0),
        out,
    );
    write_key_text(
        "statement",
        statement.map(|statement| cut_text(statement, text_bytes_max).0),
        out,
    );
    write_key_number("cut", cut.or(entry.cut_bytes), out);
    write_key_text("ranker", entry.ranker.as_deref(), out);
    write_key_number("threads", entry.threads, out);
    write_key_number("connection", entry.connection, out);
    write_key_text("client", entry.client.as_deref(), out);
    write_key_text("error", entry.error.as_deref(), out);
    write_key_text("comment", entry.comment.as_deref(), out);
    write_key_number("bytes", entry.table_bytes, out);
    write_key_number("parts", entry.table_parts, out);
    write_key_number("reads", entry.reads, out);
    write_key_number("read_bytes", entry.read_bytes, out);
    write_key_seconds("read_time", entry.read_us, out);
    write_key_seconds("cpu", entry.cpu_us, out);
    write_key_number("faults", entry.faults, out);
    out.extend_from_slice(b"}\n");
}

/// Appends what `write` does, without its first byte, a blank, between `before` and `after`; nothing if it writes nothing.
fn write_between(before: &[u8], after: &[u8], write: impl FnOnce(&mut Vec<u8>), out: &mut Vec<u8>) {
    let start = out.len();
    // The blank is the last byte of `before`.
    out.extend_from_slice(&before[..before.len() - 1]);
    let inner = out.len();
    write(out);
    if out.len() == inner {
        return out.truncate(start);
    }
    out[inner] = before[before.len() - 1];
    out.extend_from_slice(after);
}

/// The beginning of `text` of at most `bytes_max` bytes, and the length of the whole if that is more. A character of UTF-8 is
/// not cut apart.
fn cut_text(text: &[u8], bytes_max: usize) -> (&[u8], Option<u64>) {
    if text.len() <= bytes_max {
        return (text, None);
    }
    let continues = |at: usize| text[at] & 0xc0 == 0x80;
    let mut end = bytes_max;
    while end > 0 && bytes_max - end < 3 && continues(end) {
        end -= 1;
    }
    (&text[..end], Some(text.len() as u64))
}

/// Appends a text with its line ends as blanks.
fn write_flat(text: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(text);
    for byte in &mut out[start..] {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}

/// Appends a statement without line ends, with the same meaning.
fn write_on_one_line(statement: &[u8], out: &mut Vec<u8>) {
    if memchr::memchr2(b'\n', b'\r', statement).is_none() {
        return out.extend_from_slice(statement);
    }
    let mut at = 0;
    while let Some(byte) = statement.get(at) {
        let rest = &statement[at..];
        let length = match byte {
            b'\'' | b'"' | b'`' => {
                let end = quote_end(statement, at);
                write_quoted(&statement[at..end], out);
                end - at
            }
            b'/' if rest.starts_with(b"/*") => {
                let end = comment_end(statement, at);
                write_flat(&statement[at..end], out);
                end - at
            }
            b'#' | b'-' if *byte == b'#' || begins_line_comment(rest) => {
                match memchr::memchr(b'\n', rest) {
                    Some(length) => length,
                    None => {
                        out.extend_from_slice(rest);
                        rest.len()
                    }
                }
            }
            _ => {
                write_flat(&rest[..1], out);
                1
            }
        };
        at += length;
    }
}

/// Whether `-- ` begins here, as MySQL has it.
fn begins_line_comment(rest: &[u8]) -> bool {
    rest.starts_with(b"--")
        && rest
            .get(2)
            .is_none_or(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control())
}

/// Appends a literal with its line ends as escapes. A backslash before a line end stands for the line end alone.
fn write_quoted(literal: &[u8], out: &mut Vec<u8>) {
    let mut escaped = false;
    for byte in literal {
        match byte {
            b'\n' | b'\r' => {
                let letter = if *byte == b'\n' { b'n' } else { b'r' };
                if !escaped {
                    out.push(b'\\');
                }
                out.push(letter);
            }
            _ => out.push(*byte),
        }
        escaped = *byte == b'\\' && !escaped;
    }
}

/// Microseconds as seconds with three decimals.
#[inline]
fn write_seconds(before: &str, us: u64, out: &mut Vec<u8>) {
    write_number(before, us / 1_000_000, out);
    out.push(b'.');
    out.extend_from_slice(&padded::<3>(us / 1_000));
}

fn write_key(key: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b"\":");
}

fn write_key_number(key: &str, number: Option<u64>, out: &mut Vec<u8>) {
    if let Some(number) = number {
        write_key(key, out);
        write_number("", number, out);
    }
}

fn write_key_seconds(key: &str, us: Option<u64>, out: &mut Vec<u8>) {
    if let Some(us) = us {
        write_key(key, out);
        write_number("", us / 1_000_000, out);
        out.push(b'.');
        out.extend_from_slice(&padded::<6>(us));
    }
}

fn write_key_text(key: &str, text: Option<&[u8]>, out: &mut Vec<u8>) {
    if let Some(text) = text {
        write_key(key, out);
        write_text(text, out);
    }
}

/// `"table":"posts"`, or `"tables":["posts","news"]` for a list; nothing without a table.
fn write_tables(tables: &[u8], out: &mut Vec<u8>) {
    if tables.is_empty() {
        return;
    }
    if memchr::memchr(b',', tables).is_none() {
        return write_key_text("table", Some(tables), out);
    }
    write_key("tables", out);
    for (index, name) in tables.split(|byte| *byte == b',').enumerate() {
        out.push(if index == 0 { b'[' } else { b',' });
        write_text(name.trim_ascii(), out);
    }
    out.push(b']');
}

fn write_text(text: &[u8], out: &mut Vec<u8>) {
    // Writing a text into memory cannot fail.
    let _ = serde_json::to_writer(out, &String::from_utf8_lossy(text));
}
