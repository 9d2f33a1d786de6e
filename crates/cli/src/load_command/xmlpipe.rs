//! Sphinx's xmlpipe2: `<sphinx:document id="1"><title>…</title></sphinx:document>`, one behind the other.
//!
//! What stands around the documents (the declaration, the schema, kill lists, comments) is passed over: the table's columns
//! count. UTF-8 only; the five named entities and those by number; CDATA; no elements within a field.

use super::records::Found;
use super::row::{Cell, Row, Unreadable};

const OPEN: &str = "<sphinx:document";
const CLOSE: &str = "</sphinx:document>";
const CDATA: &str = "<![CDATA[";

/// Where the first document ends in bytes that begin outside of one.
pub(super) fn document_end(bytes: &[u8]) -> Found {
    let mut at = 0;
    let mut began = None;
    while let Some(found) = find(bytes, at, b"<") {
        let rest = &bytes[found..];
        // What may only be the beginning of one of these is looked at again when there is more.
        let may_be = |what: &str| rest.len() < what.len() && what.as_bytes().starts_with(rest);
        if ["<!--", CDATA, CLOSE, OPEN].into_iter().any(may_be) {
            break;
        }
        let end = if rest.starts_with(b"<!--") {
            find(bytes, found, b"-->").map(|end| end + 3)
        } else if rest.starts_with(CDATA.as_bytes()) {
            find(bytes, found, b"]]>").map(|end| end + 3)
        } else {
            find(bytes, found, b">").map(|end| end + 1)
        };
        let Some(end) = end else {
            return more(began, found);
        };
        if began.is_none() && is_open(rest) {
            if found > 0 {
                return Found::Nothing(found);
            }
            began = Some(found);
            if bytes.get(end - 2) == Some(&b'/') {
                return Found::End(end, end);
            }
        } else if began.is_some() && rest.starts_with(CLOSE.as_bytes()) {
            return Found::End(end, end);
        }
        at = end;
    }
    let rest = find(bytes, at, b"<").unwrap_or(bytes.len());
    more(began, rest)
}

/// What is outside of a document and whole is not needed any more.
fn more(began: Option<usize>, until: usize) -> Found {
    match (began, until) {
        (None, 1..) => Found::Nothing(until),
        _ => Found::More,
    }
}

/// Whether a document begins here.
pub(super) fn is_open(rest: &[u8]) -> bool {
    let behind = rest.strip_prefix(OPEN.as_bytes());
    behind.is_some_and(|rest| {
        matches!(
            rest.first(),
            Some(b' ' | b'\t' | b'\n' | b'\r' | b'>' | b'/')
        )
    })
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let first = what.first()?;
    let mut at = 0;
    loop {
        at += rest.get(at..)?.iter().position(|byte| byte == first)?;
        if rest.get(at..)?.starts_with(what) {
            return Some(from + at);
        }
        at += 1;
    }
}

/// Reads one document.
pub(super) fn read(document: &[u8], row: &mut Row) -> Result<(), Unreadable> {
    let text = std::str::from_utf8(document)
        .map_err(|error| Unreadable(format!("not UTF-8 at byte {}", error.valid_up_to())))?;
    let head = text
        .find('>')
        .ok_or_else(|| wrong("no end of the document's tag"))?;
    let (tag, mut rest) = text.split_at(head + 1);
    id(tag, row)?;
    if tag.ends_with("/>") {
        return Ok(());
    }
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.split_once("-->").map_or("", |(_, rest)| rest);
            continue;
        }
        if rest == CLOSE {
            return Ok(());
        }
        let Some(element) = rest.strip_prefix('<') else {
            return Err(wrong("text between the fields"));
        };
        let end = element.find('>').ok_or_else(|| wrong("no end of a tag"))?;
        let (tag, behind) = element.split_at(end);
        let name = tag.trim_end_matches('/');
        let name = name.split_ascii_whitespace().next().unwrap_or_default();
        row.name(name);
        rest = behind.get(1..).unwrap_or_default();
        let text = match tag.ends_with('/') {
            true => String::new(),
            false => field(name, &mut rest)?,
        };
        row.cell(Cell::Text(text));
    }
}

fn wrong(what: impl Into<String>) -> Unreadable {
    Unreadable(what.into())
}

/// The document's id, the one attribute that is read.
fn id(tag: &str, row: &mut Row) -> Result<(), Unreadable> {
    let value = tag.split_once("id=").map(|(_, value)| value);
    let value = value.and_then(|value| {
        let quote = value
            .chars()
            .next()
            .filter(|letter| matches!(letter, '"' | '\''))?;
        value.get(1..)?.split_once(quote).map(|(value, _)| value)
    });
    let number = value.and_then(|value| value.trim().parse::<u64>().ok());
    let number = number.ok_or_else(|| wrong("the document has no id= that is a number"))?;
    row.name("id");
    row.cell(Cell::Int(number.into()));
    Ok(())
}

/// The text of a field up to its closing tag, which is taken.
fn field(name: &str, rest: &mut &str) -> Result<String, Unreadable> {
    let mut out = String::new();
    loop {
        let at = rest.find(['<', '&']);
        let at = at.ok_or_else(|| wrong(format!("<{name}> is not closed")))?;
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        if let Some(entity) = found.strip_prefix('&') {
            let (written, behind) = entity.split_once(';').unwrap_or((entity, ""));
            out.push(letter(written)?);
            *rest = behind;
        } else if let Some(raw) = found.strip_prefix(CDATA) {
            let (raw, behind) = raw
                .split_once("]]>")
                .ok_or_else(|| wrong("CDATA is not closed"))?;
            out.push_str(raw);
            *rest = behind;
        } else if let Some(comment) = found.strip_prefix("<!--") {
            *rest = comment.split_once("-->").map_or("", |(_, rest)| rest);
        } else if let Some(close) = found.strip_prefix("</") {
            let (closed, behind) = close.split_once('>').unwrap_or((close, ""));
            if closed.trim_end() != name {
                return Err(wrong(format!("<{name}> is closed by </{closed}>")));
            }
            *rest = behind;
            return Ok(out);
        } else {
            return Err(wrong(format!(
                "an element within <{name}>: put it into CDATA"
            )));
        }
    }
}

/// The letter that an entity stands for.
fn letter(entity: &str) -> Result<char, Unreadable> {
    let number = match (entity.strip_prefix("#x"), entity.strip_prefix('#')) {
        (Some(digits), _) => u32::from_str_radix(digits, 16).ok(),
        (None, Some(digits)) => digits.parse().ok(),
        (None, None) => None,
    };
    let named = match entity {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => number.and_then(char::from_u32),
    };
    let shown = || entity.chars().take(20).collect::<String>();
    named.ok_or_else(|| wrong(format!("unknown entity &{};", shown())))
}
