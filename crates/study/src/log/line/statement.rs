//! A light scan of an SQL statement: its end, its tables and its full-text query.
//!
//! It knows quotes, comments and three words: FROM, MATCH and CALL. That is what a log line needs, and it reads statements of any
//! dialect, also those that our own parser refuses.

use std::borrow::Cow;

/// The parts of a statement.
#[derive(Debug, Default)]
pub(super) struct Scan<'a> {
    /// The list behind the first FROM, or the first argument of CALL; empty without one.
    pub(super) tables: &'a [u8],
    /// The literal of the first MATCH.
    pub(super) query: Option<Cow<'a, [u8]>>,
    /// Place of the semicolon that ends the statement; `None` if there is none outside quotes.
    pub(super) end: Option<usize>,
}

/// Scans `text`, which begins with a statement. The semicolon of the last statement ends the scan: behind it only blanks and
/// comments follow.
pub(super) fn scan(text: &[u8]) -> Scan<'_> {
    let mut found = Scan::default();
    let is_call = text
        .get(..5)
        .is_some_and(|word| word.eq_ignore_ascii_case(b"call "));
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        at = match byte {
            b'\'' | b'"' | b'`' => {
                let end = quote_end(text, at);
                if is_call && found.tables.is_empty() {
                    found.tables = inside(text, at, end);
                }
                end
            }
            b'/' if text[at..].starts_with(b"/*") => comment_end(text, at),
            b';' if ends_here(&text[at + 1..]) => {
                found.end = Some(at);
                return found;
            }
            b'f' | b'F' if found.tables.is_empty() && !is_call && is_word(text, at, b"from") => {
                let (tables, end) = table_list(text, at + 4);
                found.tables = tables;
                end
            }
            b'm' | b'M' if found.query.is_none() && is_word(text, at, b"match") => {
                match_literal(text, at + 5, &mut found)
            }
            _ => at + 1,
        };
    }
    found
}

/// Whether only blanks, a comment or the mark of an error follow.
fn ends_here(rest: &[u8]) -> bool {
    let rest = rest.trim_ascii_start();
    rest.is_empty() || rest.starts_with(b"/*") || rest.starts_with(b"# ")
}

/// Whether the lower-case `word` stands at `at`, in any case and not as a part of a longer name.
fn is_word(text: &[u8], at: usize, word: &[u8]) -> bool {
    let end = at + word.len();
    let joins = |place: Option<&u8>| {
        place.is_some_and(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'@' | 0x80..)
        })
    };
    text.get(at..end)
        .is_some_and(|found| found.eq_ignore_ascii_case(word))
        && !joins(text.get(end))
        && !joins(at.checked_sub(1).and_then(|before| text.get(before)))
}

/// The place behind the quote that begins at `start`. A doubled quote is inside. A quote without an end reaches to the end of the
/// text.
pub(super) fn quote_end(text: &[u8], start: usize) -> usize {
    let quote = text[start];
    let mut at = start + 1;
    while let Some(place) = memchr::memchr2(quote, b'\\', text.get(at..).unwrap_or_default()) {
        at += place;
        if text[at] == quote && text.get(at + 1) != Some(&quote) {
            return at + 1;
        }
        at += 2;
    }
    text.len()
}

/// The text between the quotes at `start` and before `end`.
fn inside(text: &[u8], start: usize, end: usize) -> &[u8] {
    let last = if end > start + 1 && text[end - 1] == text[start] {
        end - 1
    } else {
        end
    };
    &text[start + 1..last]
}

/// The place behind the comment that begins at `start`.
pub(super) fn comment_end(text: &[u8], start: usize) -> usize {
    memchr::memmem::find(&text[start + 2..], b"*/")
        .map_or(text.len(), |place| start + 2 + place + 2)
}

/// The names behind FROM, and the place behind them. A parenthesis begins a subquery with a FROM of its own.
fn table_list(text: &[u8], from: usize) -> (&[u8], usize) {
    let is_name = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'.' | b':' | b'*' | b'`' | b'-' | 0x80..)
    };
    let mut at = from;
    let mut end = from;
    loop {
        at += blanks(text, at);
        let length = text[at..].iter().take_while(|byte| is_name(byte)).count();
        if length == 0 {
            break;
        }
        at += length;
        end = at;
        at += blanks(text, at);
        if text.get(at) != Some(&b',') {
            break;
        }
        at += 1;
    }
    (text[from..end].trim_ascii(), end.max(from))
}

fn blanks(text: &[u8], at: usize) -> usize {
    text[at..]
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count()
}

/// Reads `('…')` behind MATCH and returns the place behind the literal.
fn match_literal<'a>(text: &'a [u8], after: usize, found: &mut Scan<'a>) -> usize {
    let mut at = after + blanks(text, after);
    if text.get(at) != Some(&b'(') {
        return at;
    }
    at += 1 + blanks(text, at + 1);
    if !matches!(text.get(at), Some(b'\'' | b'"')) {
        return at;
    }
    let quote = text[at];
    let end = quote_end(text, at);
    let literal = inside(text, at, end);
    let query = unescaped(literal.trim_ascii(), quote);
    if !query.is_empty() {
        found.query = Some(query);
    }
    end
}

/// The bytes that a literal between two `quote`s stands for: a backslash quotes the next byte, a doubled quote is one, and `\n`,
/// `\r`, `\t` are blanks.
fn unescaped(literal: &[u8], quote: u8) -> Cow<'_, [u8]> {
    if memchr::memchr2(b'\\', quote, literal).is_none() {
        return Cow::Borrowed(literal);
    }
    let mut plain = Vec::with_capacity(literal.len());
    let mut bytes = literal.iter();
    while let Some(byte) = bytes.next() {
        if *byte == b'\\' {
            match bytes.next() {
                Some(b'n' | b'r' | b't') => plain.push(b' '),
                Some(quoted) => plain.push(*quoted),
                None => plain.push(b'\\'),
            }
        } else {
            plain.push(*byte);
            if *byte == quote {
                bytes.next();
            }
        }
    }
    Cow::Owned(plain)
}
