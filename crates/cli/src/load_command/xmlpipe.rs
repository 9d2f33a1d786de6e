//! Sphinx's xmlpipe2: `<sphinx:document id="1"><title>…</title></sphinx:document>`, one behind the other.
//!
//! The reader skips everything around the documents: the declaration, the schema, kill lists, comments. The table defines the
//! columns. Limits: UTF-8 only; the five named entities and numeric ones; CDATA; no elements within a field.

use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};

use super::records::RecordEnd;
use super::row::{Cell, Row, Unreadable};

const OPEN: &str = "<sphinx:document";
const CLOSE: &str = "</sphinx:document>";
const CDATA: &str = "<![CDATA[";

/// End of the first document in bytes that begin outside of a document.
pub(super) fn document_end(bytes: &[u8]) -> RecordEnd {
    let mut at = 0;
    let mut began = None;
    while let Some(found) = find(bytes, at, b"<") {
        let rest = &bytes[found..];
        // The bytes may end within one of these marks: then look again when more have arrived.
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
                return RecordEnd::Nothing(found);
            }
            began = Some(found);
            if bytes.get(end - 2) == Some(&b'/') {
                return RecordEnd::End(end, end);
            }
        } else if began.is_some() && rest.starts_with(CLOSE.as_bytes()) {
            return RecordEnd::End(end, end);
        }
        at = end;
    }
    let rest = find(bytes, at, b"<").unwrap_or(bytes.len());
    more(began, rest)
}

/// Asks for more bytes. Those before the document that has begun, or before `until`, are not needed again.
fn more(began: Option<usize>, until: usize) -> RecordEnd {
    match (began, until) {
        (None, 1..) => RecordEnd::Nothing(until),
        _ => RecordEnd::More,
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

/// Parses a document.
pub(super) fn read(document: &[u8], row: &mut Row) -> Result<(), Unreadable> {
    let text = std::str::from_utf8(document)
        .map_err(|error| Unreadable(format!("not UTF-8 at byte {}", error.valid_up_to())))?;
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut has_id = false;
    loop {
        match reader.read_event().map_err(wrong)? {
            Event::Start(tag) if !has_id => {
                row.name("id");
                row.cell(Cell::Int(id(&tag)?.into()));
                has_id = true;
            }
            Event::Start(tag) => {
                let name = tag.name();
                row.name(name.as_ref());
                row.cell(Cell::Text(field(name.as_ref(), &mut reader)?));
            }
            Event::End(_) => return Ok(()),
            Event::Comment(_) => {}
            Event::Text(blank) if blank.trim().is_empty() => {}
            Event::Eof => return Err(wrong("the document is not closed")),
            _ => return Err(wrong("text between the fields")),
        }
    }
}

fn wrong(what: impl ToString) -> Unreadable {
    Unreadable(what.to_string())
}

/// The document's id, the only attribute that counts.
fn id(tag: &BytesStart<'_>) -> Result<u64, Unreadable> {
    let id = tag.try_get_attribute("id").map_err(wrong)?;
    id.and_then(|id| id.value.trim().parse().ok())
        .ok_or_else(|| wrong("the document has no id= that is a number"))
}

/// The text of a field; takes its closing tag.
fn field(name: &str, reader: &mut Reader<&[u8]>) -> Result<String, Unreadable> {
    let mut out = String::new();
    loop {
        match reader.read_event().map_err(wrong)? {
            Event::Text(text) => out.push_str(&text),
            Event::CData(text) => out.push_str(&text),
            Event::GeneralRef(entity) => match resolve_xml_entity(&entity) {
                Some(text) => out.push_str(text),
                None => {
                    let letter = entity.resolve_char_ref().map_err(wrong)?;
                    out.push(letter.ok_or_else(|| {
                        let shown: String = entity.chars().take(20).collect();
                        wrong(format!("unknown entity &{shown};"))
                    })?);
                }
            },
            Event::Comment(_) => {}
            Event::End(_) => return Ok(out),
            Event::Eof => return Err(wrong(format!("<{name}> is not closed"))),
            _ => {
                return Err(wrong(format!(
                    "an element within <{name}>: put it into CDATA"
                )));
            }
        }
    }
}
