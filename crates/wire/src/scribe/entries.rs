//! The messages of a call of `Log`, where they lie in the frame.
//!
//! A list of structs, `LogEntry { 1: string category, 2: string message }`. One entry, as all clients send it:
//!
//! ```text
//! 0c 00 00 00 01                     items are structs; one
//!   0b 00 01   00 00 00 03 'web'     category
//!   0b 00 02   00 00 00 05 'GET /'   message
//!   00                               end of the entry
//! ```
//!
//! Invariant of [`Entries`]: `items` holds `count` whole entries and nothing else.

use super::bytes::{DecodeError, Fault, Kind, Reader, STOP, put_field, put_string};
use super::walk::skip;

/// The head of the field `category`, as bytes.
const CATEGORY: [u8; 3] = [Kind::String as u8, 0, 1];
/// The head of the field `message`, as bytes.
const MESSAGE: [u8; 3] = [Kind::String as u8, 0, 2];

/// Category and message.
type Pair<'a> = (&'a [u8], &'a [u8]);

/// Messages of a call, checked from the first to the last byte. They borrow the frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entries<'a> {
    items: &'a [u8],
    count: usize,
    text_bytes: usize,
    are_lines: bool,
}

impl<'a> Entries<'a> {
    /// Count of messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no message: a probe, by which Scribe's network store asks whether the server is alive.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes of all categories and messages together.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        self.text_bytes
    }

    /// The sender says that each message is a line, of which a last line feed is the end.
    #[must_use]
    pub fn are_lines(&self) -> bool {
        self.are_lines
    }

    /// The same messages as lines.
    pub(super) fn as_lines(self, are_lines: bool) -> Entries<'a> {
        Entries { are_lines, ..self }
    }

    /// The messages in the order of the call.
    #[must_use]
    pub fn iter(&self) -> EntriesIter<'a> {
        EntriesIter {
            reader: Reader::new(self.items),
            left: self.count,
        }
    }

    /// Reads the list behind the head of its field.
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Entries<'a>, DecodeError> {
        let before = *reader;
        let kind = reader.u8("type of the messages")?;
        let count = reader.count(1, "count of messages")?;
        // An empty list may name any type.
        if count > 0 && kind != Kind::Struct as u8 {
            let what = "list of messages";
            return Err(before.fail(Fault::Type { what, found: kind }));
        }
        let all = reader.rest();
        let mut text_bytes = 0;
        for _ in 0..count {
            let (category, message) = entry(reader)?;
            text_bytes += category.len() + message.len();
        }
        let length = all.len() - reader.rest().len();
        Ok(Entries {
            items: all.get(..length).unwrap_or_default(),
            count,
            text_bytes,
            are_lines: false,
        })
    }
}

impl<'a> IntoIterator for Entries<'a> {
    type Item = (&'a [u8], &'a [u8]);
    type IntoIter = EntriesIter<'a>;

    fn into_iter(self) -> EntriesIter<'a> {
        self.iter()
    }
}

/// The messages of a call: category and message.
#[derive(Clone, Debug)]
pub struct EntriesIter<'a> {
    reader: Reader<'a>,
    left: usize,
}

impl<'a> Iterator for EntriesIter<'a> {
    type Item = (&'a [u8], &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        // `Entries::read` has read the same bytes without an error.
        entry(&mut self.reader).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for EntriesIter<'_> {}

/// Reads category and message. A missing field is empty.
#[inline]
fn entry<'a>(reader: &mut Reader<'a>) -> Result<Pair<'a>, DecodeError> {
    if let Some((found, rest)) = usual(reader.rest()) {
        reader.go_on_at(rest);
        return Ok(found);
    }
    unusual(reader)
}

/// An entry as all known clients send it: both fields, in order, and no other.
#[inline]
fn usual(bytes: &[u8]) -> Option<(Pair<'_>, &[u8])> {
    let (category, rest) = string(bytes.strip_prefix(&CATEGORY)?)?;
    let (message, rest) = string(rest.strip_prefix(&MESSAGE)?)?;
    let rest = rest.strip_prefix(&[STOP])?;
    Some(((category, message), rest))
}

#[inline]
fn string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(usize::try_from(i32::from_be_bytes(*length)).ok()?)
}

#[cold]
fn unusual<'a>(reader: &mut Reader<'a>) -> Result<Pair<'a>, DecodeError> {
    let (mut category, mut message) = (None, None);
    while let Some(field) = reader.field()? {
        match field.id {
            1 => {
                field.expect_once(&category, Kind::String, "category")?;
                category = Some(reader.string("category")?);
            }
            2 => {
                field.expect_once(&message, Kind::String, "message")?;
                message = Some(reader.string("message")?);
            }
            _ => skip(reader, field.kind)?,
        }
    }
    Ok((category.unwrap_or_default(), message.unwrap_or_default()))
}

/// The field of `Log` that Seine's own clients send beside the messages, a bool: each of them is a line. Scribe and its clients do
/// not know it, and Thrift's code skips a field that it does not know.
pub(super) const ARE_LINES: i16 = i16::from_be_bytes(*b"Se");

/// Appends that field.
pub(super) fn put_are_lines(out: &mut Vec<u8>) {
    put_field(out, Kind::Bool, ARE_LINES);
    out.push(1);
}

/// Appends the field `messages` of the arguments.
pub(super) fn put_entries<'m>(
    out: &mut Vec<u8>,
    entries: impl IntoIterator<Item = (&'m [u8], &'m [u8])>,
) {
    put_field(out, Kind::List, 1);
    out.push(Kind::Struct as u8);
    let count_at = out.len();
    out.extend_from_slice(&[0; 4]);
    let mut count: u32 = 0;
    for (category, message) in entries {
        out.extend_from_slice(&CATEGORY);
        put_string(out, category);
        out.extend_from_slice(&MESSAGE);
        put_string(out, message);
        out.push(STOP);
        count += 1;
    }
    if let Some(place) = out.get_mut(count_at..count_at + 4) {
        place.copy_from_slice(&count.to_be_bytes());
    }
}
