//! Queries that differ only in blanks, case and literals count as one query: their normal form.
//!
//! | entry | written | normal form |
//! |---|---|---|
//! | words | `  Black   CAT "one two"~5` | `black cat "one two"~5` |
//! | SQL | `SELECT id FROM t WHERE MATCH('Black cat') AND a IN (1, 2) LIMIT 5` | `SELECT id FROM t WHERE MATCH('black cat') AND a IN (?) LIMIT ?` |
//! | JSON request | `{"table": "posts", "query": {"match": {"*": "Cat"}}}` | `posts: cat` |
//!
//! Words are kept, numbers among them too: they are the query. Only ASCII letters are folded, since a log does not say its
//! encoding. What an entry does not have, such as the filters of a plain line, cannot tell its queries apart.

use super::entry::Entry;

/// Appends the normal form of an entry's query and returns the number of its words.
pub(crate) fn fold_entry(entry: &Entry<'_>, form: &mut Vec<u8>) -> u32 {
    let query = entry.query.as_deref().unwrap_or_default();
    let Some(statement) = entry.statement.as_deref() else {
        return fold_words(query, form);
    };
    if statement.first() == Some(&b'{') {
        form.extend_from_slice(&entry.tables);
        form.extend_from_slice(b": ");
        return fold_words(query, form);
    }
    let start = form.len();
    let words = fold_words(query, form);
    form.truncate(start);
    fold_statement(statement, form);
    words
}

/// Lower case of ASCII, with a blank for every kind of space.
const FOLDED: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let at = byte as u8;
        table[byte] = if at.is_ascii_whitespace() {
            b' '
        } else {
            at.to_ascii_lowercase()
        };
        byte += 1;
    }
    table
};

/// Bytes of words: ASCII letters and digits, the underline, and each byte of a character outside ASCII.
const IN_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let at = byte as u8;
        table[byte] = at.is_ascii_alphanumeric() || at == b'_' || at >= 0x80;
        byte += 1;
    }
    table
};

/// Appends `query` with its blanks and case folded, and returns its number of words: runs of [`IN_WORD`] bytes, as Sphinx's
/// default `charset_table` splits them. The name of a field behind `@` and the number behind `~` or `/` are no words.
pub(crate) fn fold_words(query: &[u8], form: &mut Vec<u8>) -> u32 {
    let mut words = 0;
    let mut in_word = false;
    let mut blank = false;
    let mut before = b' ';
    let start = form.len();
    for byte in query {
        let folded = FOLDED[usize::from(*byte)];
        if folded == b' ' {
            blank = form.len() > start;
            in_word = false;
            before = b' ';
            continue;
        }
        if blank {
            form.push(b' ');
            blank = false;
        }
        let word = IN_WORD[usize::from(folded)];
        if word && !in_word {
            let is_number_of_operator = matches!(before, b'~' | b'/') && folded.is_ascii_digit();
            words += u32::from(before != b'@' && !is_number_of_operator);
        }
        in_word = word;
        before = folded;
        form.push(folded);
    }
    words
}

/// Appends `statement` without comments and with `?` for its literals and numbers, one `?` for a list of them. The words of MATCH
/// are kept.
fn fold_statement(statement: &[u8], form: &mut Vec<u8>) {
    let mut at = 0;
    let start = form.len();
    while let Some(byte) = statement.get(at) {
        let names =
            form.len() > start && form.last().is_some_and(|last| IN_WORD[usize::from(*last)]);
        match byte {
            b'\'' | b'"' => {
                let (inside, end) = literal(statement, at);
                if form.len() >= 6 && form[form.len() - 6..].eq_ignore_ascii_case(b"match(") {
                    form.push(b'\'');
                    fold_words(inside, form);
                    form.push(b'\'');
                } else {
                    push_literal(form);
                }
                at = end;
            }
            b'0'..=b'9' if !names => {
                let part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'.';
                at += statement[at..].iter().take_while(|byte| part(byte)).count();
                push_literal(form);
            }
            b'/' if statement[at..].starts_with(b"/*") => {
                let inside = &statement[at + 2..];
                at += memchr::memmem::find(inside, b"*/")
                    .map_or(inside.len() + 2, |length| length + 4);
            }
            _ if byte.is_ascii_whitespace() => {
                if form.len() > start && form.last() != Some(&b' ') {
                    form.push(b' ');
                }
                at += 1;
            }
            _ => {
                form.push(*byte);
                at += 1;
            }
        }
    }
}

/// Appends `?`, unless the form ends with a list of literals that this one continues.
fn push_literal(form: &mut Vec<u8>) {
    let list = form.trim_ascii_end();
    if let Some(before) = list.strip_suffix(b",") {
        let before = before.trim_ascii_end();
        if before.ends_with(b"?") {
            form.truncate(before.len());
            return;
        }
    }
    form.push(b'?');
}

/// The text of a literal that begins at `start`, and the place behind it. A doubled quote is inside. A literal without an end reaches to the end of the text.
fn literal(text: &[u8], start: usize) -> (&[u8], usize) {
    let mut at = start + 1;
    while let Some(place) = memchr::memchr2(text[start], b'\\', text.get(at..).unwrap_or_default())
    {
        at += place;
        if text[at] == text[start] && text.get(at + 1) != Some(&text[start]) {
            return (&text[start + 1..at], at + 1);
        }
        at += 2;
    }
    (&text[start + 1..], text.len())
}

#[cfg(test)]
mod tests;
