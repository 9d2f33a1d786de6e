//! A plain line as the SELECT that it means.
//!
//! ```text
//! [any/2/attr- 35254 (20,10) @lang] [lj] running-shoes (new)
//! SELECT id, weight(), count(*), lang FROM lj WHERE MATCH('running | shoes | new') GROUP BY lang ORDER BY lang DESC
//!     LIMIT 20, 10 OPTION ranker=matchany
//! ```
//!
//! | mode | words | ranker |
//! |---|---|---|
//! | `all`, `phr` | operators are escaped; `phr` is put in quotes | `proximity` |
//! | `any` | operators part words; an OR of them | `matchany` |
//! | `bool` | operators but `& \| - ! ( )` are escaped | `none` |
//! | `ext`, `ext2` | as they are | the server's |
//! | `scan` | none, and no weight | the server's |
//!
//! The rankers are those that Sphinx's API takes for these modes. The order of groups is the API's default, by the key downwards.
//! What a line does not tell is left out and counted: values of filters, names of columns to sort by.

use super::super::entry::{Entry, MatchMode, SortMode};
use super::{Call, Request, Skipped};

/// Rows that a server keeps unless a statement asks for more.
const MATCHES_MAX: u64 = 1_000;

/// Characters that mean something to the extended syntax.
const OPERATORS: &[u8] = b"\\()|-!@~\"&/^$=<?%#";

/// Those of [`OPERATORS`] that mean the same in the boolean syntax.
const BOOLEAN_OPERATORS: &[u8] = b"()|-!&";

/// Words that mean something to the extended syntax, in capitals.
const OPERATOR_WORDS: [&str; 9] = [
    "AND",
    "OR",
    "NOT",
    "MAYBE",
    "NEAR",
    "NOTNEAR",
    "SENTENCE",
    "PARAGRAPH",
    "REGEX",
];

/// The SELECT of a line.
///
/// # Errors
/// [`Skipped::NoTable`], or [`Skipped::Refused`] where the line names no search at all.
pub(super) fn request(entry: &Entry<'_>) -> Result<Request, Skipped> {
    let mode = entry.mode.ok_or(Skipped::Refused)?;
    let (query, ranker) = query(mode, entry.query.as_deref().unwrap_or_default());
    // Without words, Sphinx weighs each row 1, and Seine none.
    let weight = if query.is_empty() { "" } else { ", weight()" };
    let mut columns = format!("id{weight}");
    let group = match entry.group_by.as_deref() {
        Some(group) => {
            let group = name(group).ok_or(Skipped::Refused)?;
            columns += &format!(", count(*), {group}");
            format!(" GROUP BY {group} ORDER BY {group} DESC")
        }
        None => String::new(),
    };
    let tables = tables(&entry.tables).ok_or(Skipped::NoTable)?;
    let mut text = format!("SELECT {columns} FROM {tables}").into_bytes();
    if !query.is_empty() {
        text.extend_from_slice(b" WHERE MATCH('");
        for byte in query {
            if matches!(byte, b'\\' | b'\'') {
                text.push(b'\\');
            }
            text.push(byte);
        }
        text.extend_from_slice(b"')");
    }
    text.extend_from_slice(group.as_bytes());
    let (offset, limit) = entry.window.unwrap_or((0, 20));
    text.extend_from_slice(format!(" LIMIT {offset}, {limit}").as_bytes());
    let most = offset.saturating_add(limit);
    let max_matches = (most > MATCHES_MAX).then(|| format!("max_matches={most}"));
    let ranker = ranker.map(|ranker| format!("ranker={ranker}"));
    let options: Vec<String> = ranker.into_iter().chain(max_matches).collect();
    if !options.is_empty() {
        text.extend_from_slice(format!(" OPTION {}", options.join(", ")).as_bytes());
    }
    Ok(Request {
        call: Call::Statement(text),
        lacks_filters: entry.filters.is_some_and(|filters| filters > 0),
        lacks_order: match entry.sort {
            None | Some(SortMode::Relevance) => false,
            Some(
                SortMode::AttributeDescending
                | SortMode::AttributeAscending
                | SortMode::TimeSegments
                | SortMode::Extended
                | SortMode::Expression,
            ) => true,
        },
    })
}

/// The words in the extended syntax, and the ranker.
fn query(mode: MatchMode, words: &[u8]) -> (Vec<u8>, Option<&'static str>) {
    if words.is_empty() {
        return (Vec::new(), None);
    }
    match mode {
        MatchMode::All => (escaped(words, OPERATORS), Some("proximity")),
        MatchMode::Any => {
            let parts = words.split(|byte| byte.is_ascii_whitespace() || OPERATORS.contains(byte));
            let parts = parts.filter(|part| !part.is_empty());
            let parts: Vec<Vec<u8>> = parts.map(|part| escaped(part, OPERATORS)).collect();
            match parts.is_empty() {
                // No word: as with MATCH_ANY, no row, instead of all of them.
                true => (b" ".to_vec(), Some("matchany")),
                false => (parts.join(&b" | "[..]), Some("matchany")),
            }
        }
        MatchMode::Phrase => {
            let inside = escaped(words, OPERATORS);
            ([b"\"", &inside[..], b"\""].concat(), Some("proximity"))
        }
        MatchMode::Boolean => {
            let others: Vec<u8> = OPERATORS
                .iter()
                .filter(|operator| !BOOLEAN_OPERATORS.contains(operator))
                .copied()
                .collect();
            (escaped(words, &others), Some("none"))
        }
        MatchMode::Extended | MatchMode::Extended2 => (words.to_vec(), None),
        MatchMode::Fullscan => (Vec::new(), None),
    }
}

/// The words with a backslash before each of `operators`, and without words that are operators: folded, they are the same words.
fn escaped(words: &[u8], operators: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(words.len());
    for word in words.split_inclusive(|byte| !byte.is_ascii_alphanumeric() && *byte < 0x80) {
        let (name, end) = match word.split_last() {
            Some((last, name)) if !last.is_ascii_alphanumeric() && *last < 0x80 => {
                (name, Some(*last))
            }
            Some(_) | None => (word, None),
        };
        let is_operator = OPERATOR_WORDS.iter().any(|known| known.as_bytes() == name)
            || name.starts_with(b"ZONE");
        match is_operator {
            true => text.extend(name.iter().map(u8::to_ascii_lowercase)),
            false => text.extend_from_slice(name),
        }
        if let Some(end) = end {
            if operators.contains(&end) {
                text.push(b'\\');
            }
            text.push(end);
        }
    }
    text
}

/// The only table of a list.
pub(super) fn single_table(list: &[u8]) -> Option<String> {
    let list = tables(list)?;
    (!list.contains(',')).then_some(list)
}

/// A list of tables for FROM; `None` without one, or with a name that a statement cannot have.
fn tables(list: &[u8]) -> Option<String> {
    let parts = list.split(|byte| matches!(byte, b',' | b';' | b' ' | b'`'));
    let parts = parts.filter(|part| !part.is_empty()).map(name);
    let names: Vec<&str> = parts.collect::<Option<_>>()?;
    (!names.is_empty()).then(|| names.join(", "))
}

fn name(text: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(text).ok()?;
    let is_name =
        |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | ':' | '@');
    (!text.is_empty() && text.chars().all(is_name)).then_some(text)
}
